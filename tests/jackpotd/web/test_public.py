"""What anyone may ask: values, the stream, the pages, metrics, health."""

from __future__ import annotations

import json
from html import escape
from typing import Any

import pytest

from signage.board import Board, Sign
from tests.jackpotd.web.exchange import Connection, House, parse, request, unchunked
from tests.signage.examples import USD, award, commit


@pytest.fixture
def house() -> House:
    return House()


def events(stream: bytes) -> list[tuple[str, Any]]:
    """Return the events and data of a chunked stream."""
    found = []
    for block in unchunked(stream).decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line)
        if "event" in fields:
            found.append((fields["event"], json.loads(fields["data"])))
    return found


def test_the_values_are_the_snapshot_of_the_board(house: House) -> None:
    commit(house.board, 9, mega=5_000_001)
    answer = house.ask("/api/meters")
    assert answer.status == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["etag"] == house.board.snapshot().etag
    assert answer.body == house.board.snapshot().encoded


@pytest.mark.parametrize("target", ["/api/meters", "/api/meters?sign=pit-1", "/assets/sign.css"])
def test_who_has_the_newest_already_gets_304(house: House, target: str) -> None:
    tag = house.ask(target).headers["etag"]
    for known in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        answer = house.ask(target, headers={"If-None-Match": known})
        assert (answer.status, answer.body) == (304, b"")
        assert answer.headers["cache-control"] == "no-cache"
    assert house.ask(target, headers={"If-None-Match": '"other"'}).status == 200


def test_a_new_value_has_a_new_tag(house: House) -> None:
    tag = house.ask("/api/meters").headers["etag"]
    commit(house.board, 9, mega=5_000_001)
    assert house.ask("/api/meters", headers={"If-None-Match": tag}).status == 200


def test_a_sign_may_ask_for_its_own_values(house: House) -> None:
    assert list(house.ask("/api/meters?sign=pit-1").json["progressives"]) == ["royal"]
    assert list(house.ask("/api/meters").json["progressives"]) == ["royal", "fortune"]


@pytest.mark.parametrize("target", ["/api/meters", "/api/stream"])
@pytest.mark.parametrize("sign", ["pit-9", "%ff"])
def test_an_unknown_sign_has_no_values(house: House, target: str, sign: str) -> None:
    answer = house.ask(f"{target}?sign={sign}")
    assert (answer.status, answer.json["code"]) == (404, "unknown-sign")


@pytest.mark.parametrize("target", ["/api/meters", "/api/stream"])
@pytest.mark.parametrize("check", ["leader", "caught_up"])
def test_values_that_may_be_old_are_not_shown(house: House, target: str, check: str) -> None:
    house.health.checks[check] = False
    answer = house.ask(target)
    assert (answer.status, answer.headers["retry-after"]) == (503, "2")
    assert (answer.json["code"], answer.json["retry"]) == ("unavailable", True)


def test_the_last_durable_values_are_shown_while_the_store_cannot_be_written(
    house: House,
) -> None:
    house.health.checks["store"] = False
    assert house.ask("/api/meters").status == 200


def test_the_stream_tells_values_hits_and_ticks(house: House) -> None:
    connection = Connection(house)
    connection.send(request("/api/stream"))
    house.board.hit_committed(award(17))
    house.clock.advance(1)
    house.clock.advance(4)
    head, _, stream = connection.take().partition(b"\r\n\r\n")
    answer = parse(head + b"\r\n\r\n")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert unchunked(stream).startswith(b"retry: 2000\n\n")
    assert [event for event, _ in events(stream)] == ["meters", "hit", "meters", "tick"]
    assert house.sample("jackpotd_stream_frames_total") == 4
    connection.lose()


def test_a_stream_that_is_quiet_is_not_closed(house: House) -> None:
    connection = Connection(house)
    connection.send(request("/api/stream"))
    for _ in range(100):
        house.clock.advance(5)
    assert not connection.transport.disconnecting
    connection.lose()


def test_a_display_that_does_not_read_is_paused_and_then_gets_the_newest(house: House) -> None:
    connection = Connection(house)
    connection.send(request("/api/stream?sign=pit-1"))
    house.clock.advance(1)
    connection.take()
    connection.pause()
    house.board.hit_committed(award(17))
    for sequence in range(18, 400):
        commit(house.board, sequence, mega=5_000_000 + sequence)
        house.clock.advance(1)
    assert connection.take() == b""
    connection.resume()
    house.clock.advance(0)
    told = events(connection.take())
    assert [event for event, _ in told] == ["hit", "meters"]
    assert told[-1][1]["sequence"] == 399
    connection.lose()


def test_displays_are_counted_and_a_display_that_leaves_costs_nothing(house: House) -> None:
    connections = [Connection(house), Connection(house)]
    for connection in connections:
        connection.send(request("/api/stream"))
    assert house.sample("jackpotd_displays") == 2
    for connection in connections:
        connection.lose()
    assert house.sample("jackpotd_displays") == 0
    assert house.clock.getDelayedCalls() == []


def test_there_are_only_so_many_streams(house: House) -> None:
    first, second, third = (Connection(house) for _ in range(3))
    for connection in (first, second, third):
        connection.send(request("/api/stream"))
    refused = parse(third.take())
    assert (refused.status, refused.json["code"]) == (503, "overloaded")
    first.lose()
    third.send(request("/api/stream"))
    assert third.take().startswith(b"HTTP/1.1 200")
    for connection in (second, third):
        connection.lose()


def test_head_of_the_stream_opens_none(house: House) -> None:
    answer = house.ask("/api/stream", method="HEAD")
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert house.sample("jackpotd_displays") == 0


def test_a_daemon_that_leads_no_more_ends_its_streams(house: House) -> None:
    connection = Connection(house)
    connection.send(request("/api/stream"))
    house.feed.end_all()
    assert connection.take().endswith(b"0\r\n\r\n")
    assert house.sample("jackpotd_displays") == 0
    connection.lose()


def test_the_first_page_links_to_every_sign(house: House) -> None:
    page = house.ask("/").body.decode()
    assert "Riverside" in page
    for name, sign in house.board.signs.items():
        assert f'href="/sign/{name}"' in page
        assert sign.title in page
    assert "Pai Gow Fortune, Riverside Royal" in page


def test_a_sign_has_its_title_its_language_and_a_word_without_scripts(house: House) -> None:
    answer = house.ask("/sign/pit-1")
    page = answer.body.decode()
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert '<html lang="en">' in page
    assert "<h1>Riverside Royal</h1>" in page
    assert "<noscript>" in page
    assert 'data-query="?sign=pit-1"' in page


def test_titles_and_names_are_text_and_never_markup() -> None:
    evil = '"><script>alert(1)</script>&/?#'
    signs = {evil: Sign(title=evil, progressives=(evil,))}
    house = House(board=Board(property_title=evil, currency=USD, signs=signs))
    index = house.ask("/").body.decode()
    address = index.partition('<a href="')[2].partition('"')[0]
    page = house.ask(address)
    assert page.status == 200
    for text in (index, page.body.decode()):
        assert "<script>alert" not in text
        assert escape(evil) in text
    query = page.body.decode().partition('data-query="')[2].partition('"')[0]
    assert house.ask(f"/api/meters{query}").status == 200


def test_a_sign_that_does_not_exist_says_so_to_people(house: House) -> None:
    answer = house.ask("/sign/pit-9")
    assert answer.status == 404
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert b'<a href="/">' in answer.body


@pytest.mark.parametrize(
    ("name", "content_type"),
    [
        ("sign.js", "text/javascript; charset=utf-8"),
        ("link.js", "text/javascript; charset=utf-8"),
        ("sign.css", "text/css; charset=utf-8"),
        ("icon.svg", "image/svg+xml"),
    ],
)
def test_the_files_of_the_pages_have_their_types(
    house: House, name: str, content_type: str
) -> None:
    answer = house.ask(f"/assets/{name}")
    assert (answer.status, answer.headers["content-type"]) == (200, content_type)


@pytest.mark.parametrize("target", ["/", "/sign/pit-1", "/sign/pit-9"])
def test_every_file_that_a_page_names_is_there(house: House, target: str) -> None:
    page = house.ask(target).body.decode()
    names = [part.partition('"')[0] for part in page.split('"/assets/')[1:]]
    assert names
    for name in names:
        assert house.ask(f"/assets/{name}").status == 200


@pytest.mark.parametrize(
    ("accept", "content_type"),
    [
        ("", "text/plain"),
        ("text/plain", "text/plain"),
        ("application/openmetrics-text; version=1.0.0", "application/openmetrics-text"),
    ],
)
def test_metrics_are_what_prometheus_asks_for(house: House, accept: str, content_type: str) -> None:
    answer = house.ask("/metrics", headers={"Accept": accept} if accept else None)
    assert answer.headers["content-type"].startswith(content_type + ";")
    assert b'jackpotd_build_info{version="1.2.3"} 1.0' in answer.body
    assert answer.body.endswith(b"# EOF\n") == ("openmetrics" in accept)


@pytest.mark.parametrize("works", [True, False])
def test_healthz_says_whether_the_daemon_works(house: House, works: bool) -> None:
    house.health.works = works
    answer = house.ask("/healthz")
    assert (answer.status, answer.json) == (200 if works else 503, {"alive": works})


@pytest.mark.parametrize("failing", [None, "store", "caught_up", "leader"])
def test_readyz_names_the_check_that_fails(house: House, failing: str | None) -> None:
    if failing is not None:
        house.health.checks[failing] = False
    answer = house.ask("/readyz")
    assert answer.status == (200 if failing is None else 503)
    assert answer.json["ready"] is (failing is None)
    assert [check for check, fine in answer.json["checks"].items() if not fine] == (
        [] if failing is None else [failing]
    )
