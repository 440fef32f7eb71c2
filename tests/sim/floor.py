"""Floorpersons: they confirm and deny in any order, twice, and what isn't there."""

from __future__ import annotations

from random import Random
from typing import Any

from tests.sim.asked import Message, asked
from tests.sim.auditor import Auditor
from tests.sim.peers import Connection


class Floorperson:
    """One with a key; `hasty` ones settle a hit whose answer the table hasn't heard yet."""

    def __init__(self, name: str, *, auditor: Auditor, chance: Random) -> None:
        self.name = name
        self.connection: Connection | None = None
        self._auditor = auditor
        self._chance = chance

    def act(self) -> None:
        """Confirm or deny a hit: mostly one that waits."""
        chance = self._chance
        waiting = self._auditor.waiting()
        if waiting and chance.randrange(8):
            hit = chance.choice(waiting)
        elif chance.randrange(4):
            return
        else:
            hit = chance.randint(1, len(self._auditor.hits) + 2)
        self._send(self._one_of(hit))

    def settle(self, hits: list[int]) -> None:
        """Settle these."""
        for hit in self._chance.sample(hits, len(hits)):
            self._send(self._one_of(hit))

    def _one_of(self, hit: int) -> Message:
        kind: dict[str, Any] = {"type": "confirm", "hit": hit}
        if self._chance.randrange(2):
            kind = {"type": "deny", "hit": hit, "reason": "misread"}
        return kind

    def _send(self, message: Message) -> None:
        assert self.connection is not None
        self.connection.ask(asked(message))
