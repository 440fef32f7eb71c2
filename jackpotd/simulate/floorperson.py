"""A simulated floorperson: looks at each pending hand for a while, then confirms or denies it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from heapq import heappop, heappush
from random import Random
from threading import Event, Lock
from typing import Any

from jackpotd.simulate.connection import Connection, Stopped
from jackpotd.simulate.news import Settled, Tell
from jackpotd.simulate.tally import Tally

LOOK_SECONDS = 0.1
"""How often the floorperson looks whether something is due."""

REASON = "simulated misreading"


class Floorperson:
    """Settles the hits it is told of, each once its time has come.

    `clock` is in seconds and never set back. Of a hundred hits `deny_percent` are denied.
    """

    def __init__(
        self,
        connection: Connection,
        *,
        clock: Callable[[], float],
        rng: Random,
        deny_percent: int,
        tally: Tally,
        tell: Tell,
        stop: Event,
    ) -> None:
        self._connection = connection
        self._clock = clock
        self._rng = rng
        self._deny_percent = deny_percent
        self._tally = tally
        self._tell = tell
        self._stop = stop
        self._lock = Lock()
        self._due: list[tuple[float, int]] = []
        self._looking = 0

    def expect(self, hit: int, *, after_seconds: float) -> None:
        """Settle a pending hit after a time; called from any thread."""
        with self._lock:
            heappush(self._due, (self._clock() + after_seconds, hit))
            self._looking += 1

    @property
    def idle(self) -> bool:
        """Whether every hit it was told of is settled."""
        return not self._looking

    def work(self) -> None:
        """Settle what is due until stopped. Raises ClientError if the key is not taken."""
        try:
            while not self._stop.wait(LOOK_SECONDS):
                while (hit := self._next()) is not None:
                    self._settle(hit)
        except Stopped:
            return

    def _next(self) -> int | None:
        with self._lock:
            if self._due and self._due[0][0] <= self._clock():
                return heappop(self._due)[1]
        return None

    def _settle(self, hit: int) -> None:
        request: dict[str, Any] = {"type": "confirm", "hit": hit}
        if self._rng.randrange(100) < self._deny_percent:
            request = {"type": "deny", "hit": hit, "reason": REASON}
        reply = self._connection.ask(request)
        if _try_again(reply):
            self.expect(hit, after_seconds=LOOK_SECONDS)
        else:
            # Before the tables can know: whoever sees the shift idle finds everything counted.
            self._tally.answered(reply)
            self._tell(Settled(reply=reply))
        with self._lock:
            self._looking -= 1


def _try_again(reply: Mapping[str, Any]) -> bool:
    return reply["type"] == "error" and bool(reply["retry"])
