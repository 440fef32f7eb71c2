"""A real daemon over HTTP: what displays, monitoring and the floor ask it for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from jackpotd.metrics import METRIC_NAMES
from tests.e2e.running import Daemon, Property, riverside
from tests.e2e.talking import Display, Page, Peer, fetch, hit, wager


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A running daemon, and the connection of its tables."""

    house: Property
    daemon: Daemon
    pit: Peer

    @property
    def port(self) -> int:
        """Where its HTTP is."""
        return self.daemon.ports["http"]

    def get(self, path: str, **headers: str) -> Page:
        return fetch(self.port, path, tls=None, **headers)

    def as_(self, name: str, path: str, *, post: object = None) -> Page:
        """Ask as a principal."""
        authorization = f"Bearer {self.house.keys[name]}"
        return fetch(self.port, path, post=post, authorization=authorization)

    def play_quads(self) -> None:
        """Play the first round of a table: four of a kind is hit 1, and waits for the floor."""
        for message in (wager("FCP-01", 1, 1, 1, 2), hit("FCP-01", 2, 1, 1, "four of a kind")):
            assert self.pit.ask(message)["type"] in ("accepted", "award")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Property:
    house = riverside(tmp_path_factory.mktemp("http") / "house")
    house.add_key("books", "accounting")
    house.add_key("boss", "admin")
    return house


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory, house: Property) -> Iterator[Site]:
    own = house.copied_to(tmp_path_factory.mktemp("site") / "house")
    with own.running() as daemon, Peer(daemon.ports["tables"], own.keys["pit"]) as pit:
        yield Site(house=own, daemon=daemon, pit=pit)


def test_the_signs_are_listed_and_each_has_its_page(site: Site) -> None:
    index = site.get("/")
    assert (index.status, index.headers["content-type"]) == (200, "text/html; charset=utf-8")
    links = re.findall(r'href="(/sign/[^"]+)"', index.body.decode())
    assert links == ["/sign/pit-1"]
    sign = site.get("/sign/pit-1")
    assert sign.status == 200
    assert b"Riverside Royal" in sign.body
    for asset in re.findall(rb'(?:href|src)="(/assets/[^"]+)"', sign.body):
        assert site.get(asset.decode()).status == 200
    assert site.get("/sign/pit-9").status == 404


def test_the_meters_have_a_tag_and_are_sent_again_only_when_they_changed(site: Site) -> None:
    first = site.get("/api/meters")
    assert first.status == 200
    body = first.json()
    assert set(body) >= {"sequence", "at", "progressives"}
    royal = body["progressives"]["riverside-royal"]
    assert (royal["title"], royal["currency"]) == ("Riverside Royal", "USD")
    assert royal["levels"]["mega"] == {"amount": 5_000_000, "text": "$50,000.00", "generation": 1}
    same = site.get("/api/meters", if_none_match=first.headers["etag"])
    assert (same.status, same.body) == (304, b"")
    assert site.pit.ask(wager("FCP-01", 1, 1, 1))["type"] == "accepted"
    moved = site.get("/api/meters", if_none_match=first.headers["etag"])
    assert moved.status == 200
    assert moved.headers["etag"] != first.headers["etag"]
    assert moved.json()["sequence"] > body["sequence"]
    levels = moved.json()["progressives"]["riverside-royal"]["levels"]
    assert levels["mega"]["text"] == "$50,000.50"


def test_a_display_is_sent_values_a_hit_its_end_and_ticks(site: Site) -> None:
    with Display(site.port) as display:
        assert display.answer.getheader("content-type") == "text/event-stream; charset=utf-8"
        opening = display.next("meters")
        assert opening == site.get("/api/meters").json()
        site.play_quads()
        award = display.next("hit")
        assert (award["hit"], award["status"]) == (1, "pending")
        assert award["amount"] == 125_000 + 30
        while (shown := minor(display.next("meters"))) != 125_000:
            assert shown in (125_000, 125_030)
        assert site.as_("floor-1", "/api/hits/1/confirm", post={}).status == 200
        ended = display.next("resolved")
        assert (ended["hit"], ended["status"]) == (1, "paid")
        tick = display.next("tick")
        assert tick["sequence"] >= ended["sequence"]


def minor(body: dict[str, Any]) -> int:
    """Return the minor meter of a frame."""
    amount: int = body["progressives"]["riverside-royal"]["levels"]["minor"]["amount"]
    return amount


def test_every_frame_carries_its_sequence_and_none_goes_back(site: Site) -> None:
    with Display(site.port, "/api/stream?sign=pit-1") as display:
        frames = display.frames()
        seen = [next(frames)]
        for round_ in range(1, 6):
            assert site.pit.ask(wager("LIR-03", round_, round_, 1))["type"] == "accepted"
            seen.append(next(frames))
        last = site.get("/api/meters?sign=pit-1").json()["sequence"]
        while seen[-1][1] < last:
            seen.append(next(frames))
    sequences = [sequence for _, sequence, _ in seen]
    assert sequences == sorted(sequences)
    assert [data["sequence"] for _, _, data in seen] == sequences


def test_the_daemon_ends_its_streams_when_it_stops(site: Site) -> None:
    with Display(site.port) as display:
        display.next("meters")
        site.daemon.terminate()
        assert [kind for kind, _, _ in display.frames()] == []
    assert site.daemon.wait() == 0


def test_it_is_alive_and_ready(site: Site) -> None:
    assert site.get("/healthz").json() == {"alive": True}
    ready = site.get("/readyz")
    checks = {"leader": True, "store": True, "caught_up": True}
    assert (ready.status, ready.json()) == (200, {"ready": True, "checks": checks})


def values(site: Site) -> dict[str, float]:
    """Return the metrics by their names and labels."""
    text = site.get("/metrics").body.decode()
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    return {name: float(value) for name, _, value in (line.rpartition(" ") for line in lines)}


def test_the_metrics_count_what_happened(site: Site) -> None:
    site.play_quads()
    assert site.pit.ask(wager("FCP-01", 3, 2, 1))["code"] == "table-held"
    found = values(site)
    for name, value in {
        'jackpotd_wagers_total{progressive="riverside-royal"}': 2,
        'jackpotd_hits_total{progressive="riverside-royal",status="pending"}': 1,
        'jackpotd_hits_total{progressive="riverside-royal",status="paid"}': 0,
        'jackpotd_refusals_total{code="table-held"}': 1,
        'jackpotd_refusals_total{code="unavailable"}': 0,
        'jackpotd_meter_minor_units{level="mega",progressive="riverside-royal"}': 5_000_100,
        "jackpotd_pending_awards": 1,
        "jackpotd_connections": 1,
        "jackpotd_displays": 0,
        "jackpotd_queue_messages": 0,
        "jackpotd_store_writable": 1,
    }.items():
        assert found[name] == value, name
    assert found["jackpotd_commit_rows_sum"] >= 2


def test_every_metric_is_there_from_the_start(site: Site) -> None:
    text = site.get("/metrics").body.decode()
    kinds = dict(re.findall(r"^# TYPE (\S+) (\S+)$", text, re.MULTILINE))
    # When a series began, the client library adds by itself.
    assert {name for name in kinds if not name.endswith("_created")} == set(METRIC_NAMES)


def test_the_floor_sees_and_settles_hits(site: Site) -> None:
    site.play_quads()
    (waiting,) = site.as_("floor-1", "/api/hits?pending=1").json()["hits"]
    assert (waiting["hit"], waiting["table"], waiting["status"]) == (1, "FCP-01", "pending")
    confirmed = site.as_("floor-1", "/api/hits/1/confirm", post={})
    assert confirmed.status == 200
    assert confirmed.json()["type"] == "confirmed"
    assert (confirmed.json()["amount"], confirmed.json()["by"]) == (125_030, "floor-1")
    again = site.as_("floor-1", "/api/hits/1/confirm", post={})
    assert again.body == confirmed.body
    late = site.as_("floor-1", "/api/hits/1/deny", post={"reason": "misread"})
    assert (late.status, late.json()["code"]) == (409, "already-paid")
    unknown = site.as_("floor-1", "/api/hits/7/confirm", post={})
    assert (unknown.status, unknown.json()["code"]) == (404, "unknown-hit")
    assert site.as_("floor-1", "/api/hits?pending=1").json() == {"hits": []}
    (paid,) = site.as_("floor-1", "/api/hits").json()["hits"]
    assert (paid["status"], paid["by"]) == ("paid", "floor-1")


def test_a_denial_says_why_and_frees_the_table(site: Site) -> None:
    site.play_quads()
    wordless = site.as_("floor-1", "/api/hits/1/deny", post={})
    assert (wordless.status, wordless.json()["code"]) == (400, "bad-field")
    denied = site.as_("floor-1", "/api/hits/1/deny", post={"reason": "misread"})
    assert denied.status == 200
    assert denied.json()["meters"]["riverside-royal"]["minor"] == 125_030
    assert site.pit.ask(wager("FCP-01", 3, 2, 1))["type"] == "accepted"


def test_nobody_else_sees_or_settles_hits_and_the_log_tells_who_tried(site: Site) -> None:
    site.play_quads()
    for path, post in (("/api/hits", None), ("/api/hits/1/confirm", {}), ("/api/hits/1/deny", {})):
        stranger = fetch(site.port, path, post=post)
        assert (stranger.status, stranger.json()["code"]) == (401, "bad-key")
        assert "Bearer" in stranger.headers["www-authenticate"]
        for name in ("pit", "books", "boss"):
            refused = site.as_(name, path, post=post)
            assert (refused.status, refused.json()["code"]) == (403, "not-allowed")
            tried = rf"not-allowed at {path} from .*127\.0\.0\.1.*: {name} has the role"
            assert re.search(tried, site.daemon.log)
    shown = site.get("/api/meters").json()["progressives"]["riverside-royal"]
    assert [each["hit"] for each in shown["pending"]] == [1]
