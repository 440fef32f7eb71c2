"""A record on the simulated disk, and the daemon's journal with the thread taken out.

The journal is the daemon's own: what it does at the opening, at a failed write and at the
restoring is what the real one does. Only its thread is a clock here.
"""

from __future__ import annotations

import queue
from collections import deque
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, cast

import msgspec
from twisted.internet.defer import Deferred
from twisted.internet.task import Clock

from jackpotd.record.batch import Batch, HitOnRecord, HitRow, Loaded, Lookup, Snapshot
from jackpotd.record.journal import JournalThread
from jackpotd.record.rows import Row, chained, first_hash, fold, read_state
from jackpotd.record.sqlite import SqliteRecord
from meters.floor import Floor
from tests.sim.disk import Disk
from tests.sim.violation import Violation

PROPERTY, CURRENCY = "Riverside", "USD"


class Written(msgspec.Struct, kw_only=True):
    """One transaction."""

    rows: list[Row]
    hits: list[HitRow]
    settled: list[tuple[int, int]]
    snapshot: Snapshot | None = None


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(Written)


def rows_in(content: bytes) -> list[Row]:
    """Return the rows of a frame."""
    return _decoder.decode(content).rows


class DiskRecord:
    """What the journal needs of a record, on the simulated disk; with SqliteRecord's names.

    `rows` has all rows, in order.
    """

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self.rows: list[Row] = []
        self._messages: dict[tuple[str, int], Row] = {}
        self._hits: dict[int, HitRow] = {}
        self._settled: dict[int, int] = {}
        self._snapshot: Snapshot | None = None
        for content in disk.open():
            self._take(_decoder.decode(content))
        disk.rewrite()

    def close(self) -> None:
        """Close the disk's log."""
        self._disk.close()

    def append(self, batch: Batch) -> list[HitOnRecord | Row | None]:
        """Append a batch durably; then answer its look-ups."""
        if batch.drafts:
            self._write(batch)
        return [self._find(lookup) for lookup in batch.lookups]

    def _write(self, batch: Batch) -> None:
        rows: list[Row] = []
        last = self.rows[-1] if self.rows else None
        for draft in batch.drafts:
            number, previous = (last.number, last.hash) if last else (0, first())
            if draft.number != number + 1:
                raise Violation(f"row {draft.number} is written behind row {number}")
            last = Row(*draft, chained(previous, draft))
            rows.append(last)
        written = Written(
            rows=rows, hits=batch.hits, settled=batch.settled, snapshot=batch.snapshot
        )
        self._disk.append(_encoder.encode(written))
        self._take(written)

    def _take(self, written: Written) -> None:
        self.rows += written.rows
        self._messages.update({(row.table, row.seq): row for row in written.rows if row.seq})
        self._hits.update({hit.hit: hit for hit in written.hits})
        self._settled.update({hit: row for row, hit in written.settled})
        self._snapshot = written.snapshot or self._snapshot

    def probe(self) -> None:
        """Write and sync something small."""
        self._disk.probe()

    def load(self) -> Loaded:
        """Fold from the newest snapshot on."""
        floor = Floor() if self._snapshot is None else read_state(self._snapshot.state)
        start = floor.number
        previous, at_ms = (first(), 0) if not start else self._end_of(start)
        for folded in fold(self.rows[start:], floor, previous):
            at_ms = folded.row.at_ms
        return Loaded(floor=floor, at_ms=at_ms)

    def _end_of(self, number: int) -> tuple[bytes, int]:
        row = self.rows[number - 1]
        return row.hash, row.at_ms

    def _find(self, lookup: Lookup) -> HitOnRecord | Row | None:
        if lookup.seq:
            return self._messages.get((lookup.table, lookup.seq))
        return self.hit(lookup.hit)

    def hit(self, number: int) -> HitOnRecord | None:
        """Return a hit by its number."""
        found = self._hits.get(number)
        if found is None:
            return None
        settled = self._settled.get(number)
        return HitOnRecord(
            hit=number,
            row=self.rows[found.row - 1],
            settled=None if settled is None else self.rows[settled - 1],
        )

    def hits_of_level(self, progressive: str, level: str) -> Iterator[HitOnRecord]:
        """Yield the hits that a level's meter paid, newest first."""
        for number in sorted(self._hits, reverse=True):
            hit = self._hits[number]
            found = self.hit(number)
            if (hit.progressive, hit.level) == (progressive, level) and found is not None:
                yield found


def first() -> bytes:
    """Return what the first row is chained to."""
    return first_hash(PROPERTY, CURRENCY)


class ClockedJournal(JournalThread):
    """The daemon's journal, whose jobs are done one after the other on a clock.

    `delay_s` gives how long the next job, and the way of its answer, take. What the daemon does
    meanwhile it does before the job: a job itself takes no time.
    """

    def __init__(self, disk: Disk, clock: Clock, delay_s: Callable[[], float]) -> None:
        # Not the base's: it starts the thread.
        self._open_record = lambda: cast(SqliteRecord, DiskRecord(disk))
        self._from_thread = self._answer
        self._record = None
        self._jobs = queue.SimpleQueue()
        self._clock = clock
        self._delay_s = delay_s
        self._asked: deque[tuple[Callable[[], Any], Deferred[Any]]] = deque()
        self._answers: deque[Callable[[], object]] = deque()
        self.busy = False

    def close(self) -> Deferred[None]:
        """Finish what was handed over and close."""
        return self._ask(self._close)

    def _ask(self, job: Callable[[], Any]) -> Deferred[Any]:
        done: Deferred[Any] = Deferred()
        self._asked.append((job, done))
        if not self.busy:
            self._begin()
        return done

    def _begin(self) -> None:
        self.busy = True
        self._clock.callLater(self._delay_s(), self._work)

    def _work(self) -> None:
        self._jobs.put(self._asked.popleft())
        self._jobs.put(None)
        self._run()
        self.busy = False
        if self._asked:
            self._begin()

    def _answer(self, call: Callable[..., Any], *arguments: object) -> None:
        # Answers come in the order of the jobs, however long each one's way is.
        self._answers.append(partial(call, *arguments))
        self._clock.callLater(self._delay_s(), self._next_answer)

    def _next_answer(self) -> None:
        self._answers.popleft()()
