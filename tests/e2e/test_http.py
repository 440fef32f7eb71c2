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


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Property:
    house = riverside(tmp_path_factory.mktemp("http") / "house")
    house.add_key("books", "accounting")
    house.add_key("boss", "admin")
    return house


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """A running daemon with a table that plays."""

    house: Property
    daemon: Daemon
    pit: Peer

    def get(self, path: str, **headers: str) -> Page:
        return fetch(self.daemon.ports["http"], path, **headers)

    def signed(self, name: str, path: str, *, post: object = None) -> Page:
        """Ask as a principal."""
        authorization = f"Bearer {self.house.keys[name]}"
        return fetch(self.daemon.ports["http"], path, post=post, authorization=authorization)

    def display(self, path: str = "/api/stream") -> Display:
        return Display(self.daemon.ports["http"], path)

    def royal(self) -> Any:
        return self.get("/api/meters").json()["progressives"]["riverside-royal"]

    def quads(self, table: str) -> int:
        """Play a round with four of a kind, which waits for the floor; return the hit."""
        state = self.pit_state()[table]
        seq, round_ = state["next_seq"], state["round"] + 1
        assert self.pit.ask(wager(table, seq, round_, 1, 2))["type"] == "accepted"
        award = self.pit.ask(hit(table, seq + 1, round_, 1, "four of a kind"))
        number: int = award["hit"]
        return number

    def pit_state(self) -> Any:
        with Peer(self.daemon.ports["tables"], self.house.keys["pit"]) as other:
            state = other.welcome["tables"]
        # The newer hello took the tables over.
        self.pit.ask({"type": "hello", "protocol": 1, "key": self.house.keys["pit"]})
        return state


@pytest.fixture
def site(tmp_path_factory: pytest.TempPathFactory, house: Property) -> Iterator[Site]:
    own = house.copied_to(tmp_path_factory.mktemp("site") / "house")
    with own.running() as daemon, Peer(daemon.ports["tables"], own.keys["pit"]) as pit:
        yield Site(house=own, daemon=daemon, pit=pit)
