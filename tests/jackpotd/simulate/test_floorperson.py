"""The simulated floorperson: each hit in its time, confirmed or denied."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from jackpotd.client import Client
from jackpotd.simulate.connection import Connection
from jackpotd.simulate.floorperson import LOOK_SECONDS, REASON, Floorperson
from jackpotd.simulate.news import News, Settled
from jackpotd.simulate.tally import Tally
from tests.jackpotd.simulate.impatience import Impatient
from tests.scripted_peer import WELCOME, Script, ScriptedPeer


def confirmed(hit: int) -> dict[str, Any]:
    return {"type": "confirmed", "hit": hit, "amount": 100, "envy": [], "by": "floor-1"}


def error(code: str, *, retry: bool = False) -> dict[str, Any]:
    return {"type": "error", "code": code, "message": "no", "retry": retry}


class Evening:
    """A floorperson whose clock runs one look at a time, until `looks` are over."""

    def __init__(self, looks: int, *, deny_percent: int = 0) -> None:
        self.seconds = 0.0
        self.told: list[News] = []
        self.tally = Tally()
        self.asked_at: list[float] = []
        self._looks = looks
        self._deny_percent = deny_percent
        self._stop = Impatient(self._look)

    def _look(self) -> None:
        self.seconds += LOOK_SECONDS
        if len(self._stop.waits) > self._looks:
            self._stop.set()

    def work(self, script: Script, *expected: tuple[int, float]) -> list[dict[str, Any]]:
        """Let the floorperson expect (hit, seconds) and work; return what was asked for."""
        with ScriptedPeer([WELCOME, *script]) as peer:
            connection = Connection(
                "the floorperson",
                lambda: Client("127.0.0.1", peer.port, "key", []),
                stop=self._stop,
                tell=self.told.append,
            )
            connection.open()
            self.floorperson = Floorperson(
                connection,
                clock=lambda: self.seconds,
                rng=Random(1),
                deny_percent=self._deny_percent,
                tally=self.tally,
                tell=self._told,
                stop=self._stop,
            )
            for hit, seconds in expected:
                self.floorperson.expect(hit, after_seconds=seconds)
            assert not self.floorperson.idle
            self.floorperson.work()
            connection.close()
        return peer.heard[0][1:]

    def _told(self, news: News) -> None:
        self.told.append(news)
        self.asked_at.append(self.seconds)


def test_each_hit_is_confirmed_once_its_time_has_come_the_earliest_first() -> None:
    evening = Evening(looks=100)
    asked = evening.work([confirmed(8), confirmed(7)], (7, 5), (8, 2))
    assert asked == [{"type": "confirm", "hit": 8}, {"type": "confirm", "hit": 7}]
    assert evening.asked_at == [
        pytest.approx(2, abs=LOOK_SECONDS),
        pytest.approx(5, abs=LOOK_SECONDS),
    ]
    assert evening.floorperson.idle
    assert evening.tally.confirmed == 2


def test_before_its_time_nothing_is_asked() -> None:
    evening = Evening(looks=40)
    assert evening.work([], (7, 5)) == []
    assert not evening.floorperson.idle


def test_all_of_a_hundred_are_denied_with_a_reason() -> None:
    denied = {"type": "denied", "hit": 7, "later_hits": [], "by": "floor-1", "meters": {}}
    evening = Evening(looks=5, deny_percent=100)
    asked = evening.work([denied], (7, 0))
    assert asked == [{"type": "deny", "hit": 7, "reason": REASON}]
    assert (evening.tally.confirmed, evening.tally.denied) == (0, 1)


def test_what_may_be_accepted_later_is_asked_again() -> None:
    evening = Evening(looks=20)
    asked = evening.work([error("unavailable", retry=True), confirmed(7)], (7, 0))
    assert asked == [{"type": "confirm", "hit": 7}] * 2
    assert evening.tally.confirmed == 1
    assert evening.floorperson.idle


def test_a_hit_that_somebody_else_settled_is_told_and_done_with() -> None:
    evening = Evening(looks=5)
    evening.work([error("already-denied")], (7, 0))
    assert evening.floorperson.idle
    assert [each.reply["code"] for each in evening.told if isinstance(each, Settled)] == [
        "already-denied"
    ]
