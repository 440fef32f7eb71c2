"""The load: every table, the floor and a display of a property, in one loop over their sockets."""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from tests.torture.house import House
from tests.torture.peers import FloorPeer, Peer, TablePeer, Watcher
from tests.torture.plays import PLACES, Shoe
from tests.torture.violation import Violation, demand

PATIENCE_SECONDS = 60
"""How long anything is waited for: no measure of anything, it only ends what never would."""

IN_FLIGHT = 8
OLD_ONES = 20
"""How many older messages each peer sends again after a restart, by chance."""


class Load:
    """Who plays at a property. It outlives the daemons."""

    def __init__(self, house: House, chance: Random) -> None:
        self.house = house
        self._chance = chance
        self._hits: dict[int, bytes] = {}
        pit, floor = house.keys["pit"], house.keys["floor-1"]
        self.floor = FloorPeer(floor, Random(chance.random()), IN_FLIGHT)
        self.watcher = Watcher(floor)
        self.tables = [
            TablePeer(pit, Shoe(place, Random(chance.random())), IN_FLIGHT, self._awarded)
            for place in PLACES
        ]
        self._recent = {peer.name: 0 for peer in self.askers}

    @property
    def askers(self) -> list[Peer]:
        """The peers that ask and are answered."""
        return [*self.tables, self.floor]

    @property
    def answered(self) -> int:
        """How many messages were ever acknowledged."""
        return sum(len(peer.answers) for peer in self.askers)

    @property
    def sent_again(self) -> int:
        """How many acknowledged messages were sent again and got the same bytes."""
        return sum(peer.sent_again for peer in self.askers)

    def refused(self, code: str) -> int:
        """Return how often a refusal came."""
        return sum(peer.refusals.get(code, 0) for peer in self.askers)

    def _awarded(self, table: TablePeer, reply: dict[str, Any]) -> None:
        hit = reply["hit"]
        name = f"{table.name} seq {reply['seq']}".encode()
        demand(
            self._hits.setdefault(hit, name) == name,
            f"hit {hit} was given to {name!r} and to {self._hits[hit]!r}",
        )
        if reply["status"] == "pending":
            self.floor.must_settle(table, hit)

    # The connections

    def connect(self) -> None:
        """Connect everybody; each sends again its newest messages and some older ones."""
        port = self.house.daemon.ports["tables"]
        for peer in self.askers:
            before = self._recent[peer.name]
            known = sorted(peer.answers)
            older = [index for index in known if index <= before]
            again = self._chance.sample(older, min(OLD_ONES, len(older)))
            again += [index for index in known if index > before]
            peer.connect(port, again)
        self.watcher.connect(port, [])

    def reconnect(self) -> None:
        """Connect everybody anew; nobody sends again what was answered."""
        port = self.house.daemon.ports["tables"]
        for peer in (*self.askers, self.watcher):
            peer.connect(port, [])

    def drain(self) -> None:
        """Take what a dead daemon still said, and hang up."""
        for peer in (*self.askers, self.watcher):
            if peer.link is not None:
                deadline = time.monotonic() + PATIENCE_SECONDS
                while not peer.link.ended:
                    demand(time.monotonic() < deadline, f"{peer.name}'s connection never ends")
                    self._take(peer)
                peer.hang_up()

    def hang_up(self) -> None:
        """Close every connection."""
        for peer in (*self.askers, self.watcher):
            peer.hang_up()

    # The loop

    def play(self, until: Callable[[], bool], *, playing: bool = True) -> bool:
        """Go on until a condition holds: True; or a connection is lost as the daemon died: False.

        Raises Violation where a promise is broken, a connection is lost while the daemon lives, or
        the condition never comes about.
        """
        deadline = time.monotonic() + PATIENCE_SECONDS
        with selectors.DefaultSelector() as selector:
            for peer in (*self.askers, self.watcher):
                assert peer.link is not None
                selector.register(peer.link.socket, selectors.EVENT_READ, peer)
            while not until():
                demand(time.monotonic() < deadline, f"this never came about: {self._stuck()}")
                for peer in (*self.askers, self.watcher):
                    peer.ask(playing)
                for key, _ in selector.select(0.005):
                    if not self._take(key.data):
                        return self._lost(key.data)
        return True

    def play_on(self, answers: int) -> bool:
        """Go on until so many more messages are answered; as `play`."""
        enough = self.answered + answers
        return self.play(lambda: self.answered >= enough)

    def play_for(self, seconds: float) -> bool:
        """Go on for a time; as `play`."""
        end = time.monotonic() + seconds
        return self.play(lambda: time.monotonic() >= end)

    def settle(self) -> bool:
        """Go on until everything asked is answered, and ask nothing new; as `play`."""
        at_rest = self.play(lambda: all(peer.at_rest for peer in self.askers), playing=False)
        if at_rest:
            self._recent = {peer.name: len(peer.asked) for peer in self.askers}
        return at_rest

    def _take(self, peer: Peer) -> bool:
        assert peer.link is not None
        for line in peer.link.lines():
            peer.hear(line)
        return not peer.link.ended

    def _lost(self, peer: Peer) -> bool:
        deadline = time.monotonic() + 5
        while self.house.daemon.is_running():
            if time.monotonic() > deadline:
                raise Violation(f"{peer.name} lost its connection, and the daemon lives")
            time.sleep(0.001)
        return False

    def _stuck(self) -> str:
        return ", ".join(self._waiting())

    def _waiting(self) -> Iterator[str]:
        for peer in self.askers:
            if not peer.at_rest:
                yield f"{peer.name} waits for {len(peer.asked) - len(peer.answers)} answers"
