"""The floor over HTTP: who may, and how the protocol's replies become answers."""

from __future__ import annotations

import json

import pytest
from twisted.internet.defer import Deferred, succeed
from twisted.logger import capturedLogs

from tests.jackpotd.web.exchange import Answer, Connection, House, Reply, parse, request

FLOOR = {"Authorization": "Bearer floor-key"}
DENIAL = b'{"reason": "misread"}'
ADDRESSES = [
    ("GET", "/api/hits"),
    ("POST", "/api/hits/17/confirm"),
    ("POST", "/api/hits/17/deny"),
]


@pytest.fixture
def house() -> House:
    return House()


def post(house: House, target: str, body: bytes = b"") -> Answer:
    return house.ask(target, method="POST", headers=FLOOR, body=body)


def test_the_floor_lists_the_hits(house: House) -> None:
    answer = house.ask("/api/hits", headers=FLOOR)
    assert (answer.status, answer.json) == (200, {"hits": [{"hit": 17}]})
    assert answer.headers["cache-control"] == "no-store"
    assert house.desk.asked == [("hits", False)]


@pytest.mark.parametrize(("query", "pending"), [("pending=1", True), ("pending=0", False)])
def test_the_floor_lists_those_that_wait(house: House, query: str, pending: bool) -> None:
    house.ask(f"/api/hits?{query}", headers=FLOOR)
    assert house.desk.asked == [("hits", pending)]


def test_another_word_for_pending_is_refused(house: House) -> None:
    answer = house.ask("/api/hits?pending=yes", headers=FLOOR)
    assert (answer.status, answer.json["code"]) == (400, "bad-field")
    assert house.desk.asked == []


@pytest.mark.parametrize("body", [b"", b"{}", b'{"note": "seen"}'])
def test_a_confirmation_needs_no_body(house: House, body: bytes) -> None:
    answer = post(house, "/api/hits/17/confirm", body)
    assert (answer.status, answer.json) == (200, {"type": "confirmed", "hit": 17})
    assert house.desk.asked == [("confirm", 17, "floor-7")]


def test_a_denial_is_passed_on_with_its_reason_and_who_denied(house: House) -> None:
    house.desk.reply = succeed({"type": "denied", "hit": 17, "later_hits": [19]})
    answer = post(house, "/api/hits/17/deny", b'{"reason": " misread "}')
    assert answer.json == {"type": "denied", "hit": 17, "later_hits": [19]}
    assert house.desk.asked == [("deny", 17, "floor-7", "misread")]


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "bad-json"),
        (b"{", "bad-json"),
        (b'{"reason": "\xff"}', "bad-json"),
        (b"[]", "bad-field"),
        (b"{}", "bad-field"),
        (b'{"reason": 1}', "bad-field"),
        (b'{"reason": null}', "bad-field"),
        (b'{"reason": "  "}', "bad-field"),
        (b'{"reason": "misread", "by": "me"}', "bad-field"),
        (json.dumps({"reason": "x" * 501}).encode(), "bad-field"),
    ],
)
def test_a_denial_without_a_proper_reason_is_refused(house: House, body: bytes, code: str) -> None:
    answer = post(house, "/api/hits/17/deny", body)
    assert (answer.status, answer.json["code"]) == (400, code)
    assert "reason" in answer.json["message"]
    assert house.desk.asked == []


@pytest.mark.parametrize(
    ("code", "status", "retry"),
    [
        ("unknown-hit", 404, False),
        ("already-denied", 409, False),
        ("already-paid", 409, False),
        ("not-allowed", 403, False),
        ("unavailable", 503, True),
        ("overloaded", 503, True),
        ("bad-field", 400, False),
    ],
)
@pytest.mark.parametrize("target", ["/api/hits/17/confirm", "/api/hits/17/deny"])
def test_a_refusal_keeps_its_words_and_gets_a_status(
    house: House, target: str, code: str, status: int, retry: bool
) -> None:
    refusal: Reply = {"type": "error", "code": code, "message": "why", "retry": retry}
    house.desk.reply = succeed(refusal)
    answer = post(house, target, DENIAL)
    assert (answer.status, answer.json) == (status, refusal)
    assert ("retry-after" in answer.headers) == retry


@pytest.mark.parametrize(("method", "target"), ADDRESSES)
@pytest.mark.parametrize(
    "authorization",
    [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic floor-key", "floor-key", "Bearer floor"],
)
def test_without_a_known_key_the_answer_is_401(
    house: House, method: str, target: str, authorization: str | None
) -> None:
    headers = {} if authorization is None else {"Authorization": authorization}
    with capturedLogs() as events:
        answer = house.ask(target, method=method, headers=headers, body=DENIAL)
    assert (answer.status, answer.json["code"]) == (401, "bad-key")
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert house.desk.asked == []
    assert house.sample("jackpotd_refusals_total", code="bad-key") == 1
    assert [event["code"] for event in events if "message" in event] == ["bad-key"]


@pytest.mark.parametrize(("method", "target"), ADDRESSES)
@pytest.mark.parametrize("key", ["table-key", "admin-key"])
def test_with_another_role_the_answer_is_403(
    house: House, method: str, target: str, key: str
) -> None:
    answer = house.ask(
        target, method=method, headers={"Authorization": f"Bearer {key}"}, body=DENIAL
    )
    assert (answer.status, answer.json["code"]) == (403, "not-allowed")
    assert house.desk.asked == []
    assert house.sample("jackpotd_refusals_total", code="not-allowed") == 1


def test_the_scheme_is_read_in_any_case(house: House) -> None:
    assert house.ask("/api/hits", headers={"Authorization": "bearer floor-key"}).status == 200


@pytest.mark.parametrize("target", ["/api/hits/17/confirm", "/api/hits/17/deny"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "PUT"])
def test_a_hit_is_confirmed_and_denied_by_post_only(house: House, target: str, method: str) -> None:
    answer = house.ask(target, method=method, headers=FLOOR)
    assert (answer.status, answer.headers["allow"]) == (405, "POST")
    assert house.desk.asked == []


@pytest.mark.parametrize(
    "target",
    [
        "/api/hits/0/confirm",
        "/api/hits/-1/confirm",
        "/api/hits/017/confirm",
        "/api/hits/1.0/confirm",
        "/api/hits/x/deny",
        f"/api/hits/{2**53}/confirm",
        "/api/hits/17",
        "/api/hits/17/",
        "/api/hits/17/pay",
        "/api/hits/17/confirm/now",
    ],
)
def test_what_is_no_hit_is_not_found(house: House, target: str) -> None:
    assert post(house, target, DENIAL).status == 404
    assert house.desk.asked == []


def test_the_largest_number_of_a_hit_is_one(house: House) -> None:
    assert post(house, f"/api/hits/{2**53 - 1}/confirm").status == 200


def test_the_answer_comes_when_the_row_is_durable(house: House) -> None:
    waiting: Deferred[Reply] = Deferred()
    house.desk.reply = waiting
    connection = Connection(house)
    connection.send(request("/api/hits/17/confirm", method="POST", headers=FLOOR))
    assert connection.take() == b""
    waiting.callback({"type": "confirmed", "hit": 17})
    assert parse(connection.take()).json == {"type": "confirmed", "hit": 17}
    connection.lose()


@pytest.mark.parametrize("fails", [False, True])
def test_a_floorperson_who_left_before_the_answer_harms_nothing(house: House, fails: bool) -> None:
    waiting: Deferred[Reply] = Deferred()
    house.desk.reply = waiting
    connection = Connection(house)
    connection.send(request("/api/hits/17/confirm", method="POST", headers=FLOOR))
    connection.lose()
    with capturedLogs() as events:
        if fails:
            waiting.errback(RuntimeError("no disk"))
        else:
            waiting.callback({"type": "confirmed", "hit": 17})
    assert connection.take() == b""
    assert len(events) == (1 if fails else 0)


def test_a_desk_that_fails_gives_500_without_details_and_is_logged(house: House) -> None:
    waiting: Deferred[Reply] = Deferred()
    waiting.errback(RuntimeError("the password is swordfish"))
    house.desk.reply = waiting
    with capturedLogs() as events:
        answer = post(house, "/api/hits/17/confirm")
    assert (answer.status, answer.json["code"]) == (500, "failed")
    assert b"swordfish" not in answer.body
    assert [event["log_failure"].type for event in events if "log_failure" in event] == [
        RuntimeError
    ]
