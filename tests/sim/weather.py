"""How rough the world of one seed is: which faults there are, and how often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from random import Random

from jackpotd import commit

WRITE_FAULTS = ("refused", "half written", "sync failed", "answer lost")
"""How a write fails: nothing written; part of it; all of it, unsynced; all of it, durable."""

CRASHES = ("between steps", "before a write", "half written", "unsynced", "synced", "answering")
"""When the daemon ends: each stage of a write, and in the middle of its answers."""

STEPS = {
    "table": 300,
    "mischief": 60,
    "floor": 80,
    "deliver": 360,
    "read": 240,
    "time": 340,
    "display": 12,
    "drop": 10,
    "takeover": 10,
    "trouble": 12,
    "crash": 6,
    "stop": 2,
    "clock": 4,
}
"""The kinds of steps, and how often each is taken in a calm world."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """The faults of one seed.

    `steps` has each kind of step and its weight; `write_faults` and `crashes` the kinds that
    there are; `slow_in_100` is how many of a hundred jobs of the record are slow; the rest are
    the daemon's own bounds, small enough to be reached, and how much a connection's buffer takes.
    """

    steps: Sequence[str]
    weights: Sequence[int]
    write_faults: Sequence[str]
    crashes: Sequence[str]
    slow_in_100: int
    longest_time_ms: int
    snapshot_rows: int
    max_batch: int
    high_water: int
    max_waiting: int
    buffer_bytes: int

    @classmethod
    def drawn(cls, chance: Random) -> Weather:
        """Draw the weather: each fault is absent from some seeds and frequent in others."""
        weights = dict(STEPS)
        rare = ("mischief", "display", "drop", "takeover", "trouble", "crash", "stop", "clock")
        for kind in rare:
            weights[kind] *= chance.choice([0, 1, 1, 3])
        for kind in ("floor", "deliver", "read", "time"):
            weights[kind] *= chance.choice([1, 1, 2])
        high_water = chance.choice([2, 5, 20, 8_192])
        return cls(
            steps=tuple(weights),
            weights=tuple(weights.values()),
            write_faults=_some(chance, WRITE_FAULTS),
            crashes=_some(chance, CRASHES),
            slow_in_100=chance.choice([0, 5, 40]),
            longest_time_ms=chance.choice([3, 20, 400]),
            snapshot_rows=chance.choice([1, 7, 25, 10_000]),
            max_batch=chance.choice([1, 3, 2_048]),
            high_water=high_water,
            max_waiting=chance.choice([3, high_water, 20_000, 20_000, 20_000]),
            buffer_bytes=chance.choice([100, 1_000, 65_536]),
        )

    @contextmanager
    def bounds(self) -> Iterator[None]:
        """Let the commit queue have this world's bounds for a while."""
        names = ("SNAPSHOT_ROWS", "MAX_BATCH", "HIGH_WATER", "MAX_WAITING")
        ours = (self.snapshot_rows, self.max_batch, self.high_water, self.max_waiting)
        before = [getattr(commit, name) for name in names]
        try:
            for name, value in zip(names, ours, strict=True):
                setattr(commit, name, value)
            yield
        finally:
            for name, value in zip(names, before, strict=True):
                setattr(commit, name, value)


def _some(chance: Random, kinds: Sequence[str]) -> Sequence[str]:
    return chance.sample(kinds, chance.randint(1, len(kinds)))
