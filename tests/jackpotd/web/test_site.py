"""What every answer of the site has in common."""

from __future__ import annotations

import pytest
from twisted.logger import capturedLogs

from jackpotd.web.answers import Page
from jackpotd.web.site import HEADERS, MAX_BODY, MAX_UNREAD
from tests.jackpotd.web.exchange import Connection, House, parse, request

READS = (
    "/",
    "/sign/pit-1",
    "/assets/sign.js",
    "/assets/sign.css",
    "/api/meters",
    "/metrics",
    "/healthz",
    "/readyz",
)


@pytest.fixture
def house() -> House:
    return House()


@pytest.mark.parametrize(
    ("target", "method"),
    [
        *((target, "GET") for target in READS),
        ("/nothing", "GET"),
        ("/sign/pit-9", "GET"),
        ("/api/hits", "GET"),
        ("/api/meters", "DELETE"),
        ("*", "OPTIONS"),
    ],
)
def test_every_answer_is_hardened_and_names_no_server(
    house: House, target: str, method: str
) -> None:
    headers = house.ask(target, method=method).headers
    for name, value in HEADERS.items():
        assert headers[name.decode()] == value.decode()
    assert "server" not in headers


def test_scripts_and_styles_come_from_the_site_alone(house: House) -> None:
    policy = house.ask("/sign/pit-1").headers["content-security-policy"]
    assert policy.startswith("default-src 'self';")
    assert "unsafe" not in policy


@pytest.mark.parametrize("target", ["/", "/sign/pit-1", "/sign/pit-9"])
def test_the_pages_have_no_inline_script_or_style(house: House, target: str) -> None:
    page = house.ask(target).body.decode()
    assert "<style" not in page
    assert "style=" not in page
    assert "<script>" not in page
    assert " on" not in page.partition("<body")[2].partition(">")[0]


@pytest.mark.parametrize("target", READS)
def test_head_is_get_without_the_body(house: House, target: str) -> None:
    got, head = house.ask(target), house.ask(target, method="HEAD")
    assert head.body == b""
    assert {**head.headers, "date": ""} == {**got.headers, "date": ""}
    assert int(head.headers["content-length"]) == len(got.body) > 0


@pytest.mark.parametrize("target", READS)
@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "BREW"])
def test_a_page_for_reading_answers_405_to_anything_else(
    house: House, target: str, method: str
) -> None:
    answer = house.ask(target, method=method)
    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")
    assert answer.json["code"] == "bad-method"


@pytest.mark.parametrize(
    "target",
    [
        "/nothing",
        "/api",
        "/api/",
        "/api/nothing",
        "/assets",
        "/assets/",
        "/assets/sign.html",
        "/assets/__init__.py",
        "/assets/../site.py",
        "/assets/%2e%2e/feed.py",
        "/assets/sign.js/more",
        "/api/meters/",
        "/healthz/more",
        "/metrics/",
        "//",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_there_is_nothing_at_other_addresses(house: House, target: str, method: str) -> None:
    answer = house.ask(target, method=method)
    assert (answer.status, answer.json["code"]) == (404, "not-found")


def test_several_requests_use_one_connection(house: House) -> None:
    connection = Connection(house)
    for target in ("/healthz", "/readyz", "/api/meters"):
        connection.send(request(target))
        assert parse(connection.take()).status == 200
    connection.lose()


def test_a_connection_that_asks_nothing_is_closed(house: House) -> None:
    connection = Connection(house)
    house.clock.advance(59)
    assert not connection.transport.disconnecting
    house.clock.advance(2)
    assert connection.transport.disconnecting
    connection.lose()


@pytest.mark.parametrize("length", [MAX_BODY, MAX_BODY + 1])
def test_a_body_has_at_most_64_kib(house: House, length: int) -> None:
    answer = house.ask("/healthz", body=b"x" * length)
    assert answer.status == (200 if length == MAX_BODY else 413)
    assert answer.status == 200 or answer.json["code"] == "too-long"


def test_a_chunked_body_has_no_more(house: House) -> None:
    connection = Connection(house)
    connection.send(request("/healthz", method="POST", headers={"Transfer-Encoding": "chunked"}))
    for _ in range(5):
        connection.send(b"4000\r\n" + b"x" * 0x4000 + b"\r\n")
    connection.send(b"0\r\n\r\n")
    assert parse(connection.take()).status == 413
    connection.lose()


def test_a_body_without_an_end_is_not_kept_and_cuts_the_connection(house: House) -> None:
    connection = Connection(house)
    connection.send(request("/healthz", method="POST", headers={"Content-Length": str(10**12)}))
    held = connection.protocol._channel.requests[0].content
    for _ in range(MAX_UNREAD // 0x10000):
        connection.send(b"x" * 0x10000)
    assert not connection.transport.aborted
    assert len(held.getvalue()) <= MAX_BODY
    connection.send(b"x")
    assert connection.transport.aborted
    connection.lose()


def test_further_pages_can_be_added_at_the_root_and_under_api() -> None:
    class Hello(Page):
        methods = (b"GET",)

        def render_GET(self, request: object) -> bytes:
            return b"hello"

    house = House(more={"console": Hello(), "api/ledger": Hello()})
    assert house.ask("/console").body == house.ask("/api/ledger").body == b"hello"


def test_reads_that_succeed_are_not_logged_and_all_else_is(house: House) -> None:
    with capturedLogs() as events:
        house.ask("/api/meters")
        house.ask("/nothing")
        house.ask("/api/hits/17/confirm", method="POST", headers={"Authorization": "Bearer secret"})
    logged = [(event["code"], event["address"]) for event in events if "method" in event]
    assert logged == [(404, "/nothing"), (401, "/api/hits/17/confirm")]
    assert "secret" not in str(events)
