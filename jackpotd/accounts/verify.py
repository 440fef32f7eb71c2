"""The proof of a record: folded again from row 1, and all that stands beside the rows with it."""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from jackpotd.accounts.entries import Balances, Entry, entries, meters_units, pending_units
from jackpotd.accounts.gaming_day import GamingDays
from jackpotd.record.rows import RecordError, Row, read_state
from jackpotd.record.sqlite import SqliteRecord
from meters.floor import Floor
from meters.outcomes import Awarded, Confirmed, Denied, Status


class Verified(NamedTuple):
    """What was found right: how many rows, hits, marks and snapshots."""

    rows: int
    hits: int
    marks: int
    snapshots: int


def verify(record: SqliteRecord, rows: Iterable[Row], days: GamingDays) -> Verified:
    """Fold the whole record again and compare everything with it.

    Of each row its number, chain, time, answer, postings and balances; then the tables beside
    the rows: hits, marks, snapshots and head; then SQLite's own check of the file. `rows` are
    those of the record, from the first on. Raises RecordError, which names the first bad row.
    """
    try:
        floor, balances = Floor(), Balances()
        hits, marks, snapshots = _Hits(record), _Marks(record), _Snapshots(record)
        for entry in entries(rows, floor, record.start_hash(), days):
            for fault in balances.post(entry, floor):
                raise RecordError(f"row {entry.row.number}: {fault}")
            hits.check(entry)
            marks.check(entry, floor)
            snapshots.check(entry, floor)
        if record.count() != floor.number:
            strays = record.count() - floor.number
            raise RecordError(f"{strays} rows stand outside of rows 1 to {floor.number}")
        if balances.liability_units() != meters_units(floor) + pending_units(floor):
            raise RecordError(f"row {floor.number}: the books don't owe what the meters hold")
        verified = Verified(floor.number, hits.finish(), marks.finish(), snapshots.finish())
        for line in record.integrity():
            raise RecordError(f"SQLite's integrity check: {line}")
    except sqlite3.DatabaseError as error:
        raise RecordError(f"it can't be read: {error}") from error
    return verified


class _Hits:
    """Walks the index of hits in step with the rows."""

    def __init__(self, record: SqliteRecord) -> None:
        self._index = record.hit_index()
        self._count = 0
        self._waiting: dict[int, int | None] = {}

    def check(self, entry: Entry) -> None:
        answer, number = entry.answer, entry.row.number
        if isinstance(answer, Awarded):
            self._count += 1
            hit, row, settled, progressive, level = next(self._index, (None,) * 5)
            expected = (answer.hit, number, answer.progressive, answer.level)
            if (hit, row, progressive, level) != expected:
                raise RecordError(
                    f"row {number}: the index of hits has {(hit, row, progressive, level)} "
                    f"where {expected} should stand"
                )
            self._waiting[answer.hit] = settled
            if answer.status is Status.PAID:
                self._settle(answer.hit, None, number)
        elif isinstance(answer, Confirmed | Denied):
            self._settle(answer.hit, number, number)

    def _settle(self, hit: int, expected: int | None, number: int) -> None:
        settled = self._waiting.pop(hit)
        if settled != expected:
            raise RecordError(
                f"row {number}: the index of hits has hit {hit} settled by row {settled}, "
                f"and not by row {expected}"
            )

    def finish(self) -> int:
        for hit, settled in self._waiting.items():
            if settled is not None:
                raise RecordError(
                    f"the index of hits has hit {hit} settled by row {settled}, but it is pending"
                )
        for hit, row, *_ in self._index:
            raise RecordError(f"the index of hits has hit {hit} at row {row}, which is none")
        return self._count


class _Marks:
    """Compares the marks with each table's next seq at the rows that they name.

    At such a row there was a snapshot, so every table has a mark that spans it.
    """

    def __init__(self, record: SqliteRecord) -> None:
        self._spans = {(table, seq): (first, last) for table, seq, first, last in record.marks()}
        self._unproved = {(*key, number) for key, span in self._spans.items() for number in span}
        self._at = {number for span in self._spans.values() for number in span}
        self._at.update(number for number, *_ in record.snapshot_states())

    def check(self, entry: Entry, floor: Floor) -> None:
        number = entry.row.number
        if number not in self._at:
            return
        for table in floor.tables.values():
            key = (table.name, table.next_seq)
            first, last = self._spans.get(key, (0, 0))
            if not first <= number <= last:
                raise RecordError(
                    f"row {number}: the marks don't say that {table.name} has seq "
                    f"{table.next_seq} next after it"
                )
            self._unproved.discard((*key, number))

    def finish(self) -> int:
        for table, seq, number in sorted(self._unproved):
            raise RecordError(
                f"row {number}: a mark says that {table} has seq {seq} next after it, which is "
                "not so"
            )
        return len(self._spans)


class _Snapshots:
    """Compares the kept snapshots with the state at their rows."""

    def __init__(self, record: SqliteRecord) -> None:
        self._kept = {number: rest for number, *rest in record.snapshot_states()}
        self._count = len(self._kept)

    def check(self, entry: Entry, floor: Floor) -> None:
        number = entry.row.number
        if number not in self._kept:
            return
        row_hash, digest, state = self._kept.pop(number)
        genuine = hashlib.sha256(row_hash + state).digest() == digest
        if not genuine or row_hash != entry.row.hash or read_state(state) != floor:
            raise RecordError(f"row {number}: the snapshot after it is not the state at that row")

    def finish(self) -> int:
        for number in self._kept:
            raise RecordError(f"there is a snapshot after row {number}, which is none")
        return self._count
