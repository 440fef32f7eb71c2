"""A record in memory that can be slow and can fail, for tests on a Clock."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from twisted.internet.defer import Deferred, fail, succeed
from twisted.internet.task import Clock

from jackpotd.record.batch import Batch, HitOnRecord, Loaded, Lookup
from jackpotd.record.journal import StoreUnavailable
from jackpotd.record.rows import Row, chained, first_hash, fold
from meters.floor import Floor


class MemoryJournal:
    """Keeps rows in a list; `delay_s` is how long a write takes.

    `failing` makes writes fail; `torn` makes a failing write reach the list all the same, as a
    commit does whose answer was lost.
    """

    def __init__(self, clock: Clock, *, delay_s: float = 0.001) -> None:
        self.rows: list[Row] = []
        self.batches: list[Batch] = []
        self.delay_s = delay_s
        self.failing = False
        self.torn = False
        self._clock = clock

    def append(self, batch: Batch) -> Deferred[list[HitOnRecord | Row | None]]:
        """Write a batch after the delay."""
        done: Deferred[list[HitOnRecord | Row | None]] = Deferred()
        self._clock.callLater(self.delay_s, self._append, batch, done)
        return done

    def _append(self, batch: Batch, done: Deferred[Any]) -> None:
        if not self.failing or self.torn:
            for each in batch.drafts:
                last = self.rows[-1].hash if self.rows else first_hash("p", "USD")
                self.rows.append(Row(*each, chained(last, each)))
        if self.failing:
            done.errback(StoreUnavailable("disk full"))
            return
        self.batches.append(batch)
        done.callback([self._find(lookup) for lookup in batch.lookups])

    def _find(self, lookup: Lookup) -> HitOnRecord | Row | None:
        if lookup.seq:
            sent = (lookup.table, lookup.seq)
            return next((row for row in self.rows if (row.table, row.seq) == sent), None)
        number = f'"hit":{lookup.hit}'
        about = [row for row in self.rows if f"{number}," in row.answer]
        hit = next(row for row in about if row.kind == "hit")
        settled = next((row for row in about if row.kind in ("confirm", "deny")), None)
        return HitOnRecord(hit=lookup.hit, row=hit, settled=settled)

    def load(self) -> Loaded:
        """Fold all rows."""
        floor = Floor()
        for _ in fold(self.rows, floor, first_hash("p", "USD")):
            pass
        return Loaded(floor=floor, at_ms=self.rows[-1].at_ms if self.rows else 0)

    def restore(self) -> Deferred[Loaded]:
        """Read the rows anew, if they can be written."""
        if self.failing:
            return fail(StoreUnavailable("disk full"))
        return succeed(self.load())

    def read(self, question: Callable[[Any], Any]) -> Deferred[Any]:
        """Nothing can be asked."""
        raise NotImplementedError
