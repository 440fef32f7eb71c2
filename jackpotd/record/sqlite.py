"""The record in one SQLite file: WAL, synchronous=FULL, STRICT tables, one writing connection.

Everything here runs in the thread that opened it.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path

from sqlite_utils import Database

from jackpotd.record.batch import Batch, HitOnRecord, Loaded, Lookup, Snapshot
from jackpotd.record.hold import Hold, prove_room
from jackpotd.record.rewrite import rewrite_log
from jackpotd.record.rows import (
    RecordError,
    Row,
    chained,
    first_hash,
    fold,
    read_state,
    write_state,
)
from jackpotd.record.schema import APPLICATION_ID, STEPS, steps
from meters.floor import Floor

_COLUMNS = 'number, at, "table", seq, kind, event, answer, hash'
_ROW = "(?, ?, ?, ?, ?, ?, ?, ?)"
_APPEND = f"INSERT INTO record ({_COLUMNS}) VALUES {_ROW}"
_CHUNK = 128
_APPEND_CHUNK = f"INSERT INTO record ({_COLUMNS}) VALUES " + ", ".join([_ROW] * _CHUNK)
_KEPT_SNAPSHOTS = 2


class SqliteRecord:
    """One property's record. Raises RecordError where it is corrupt, foreign or locked."""

    def __init__(self, path: Path, *, property_name: str, currency: str, read_only: bool = False):
        """Open the record; a missing file is made new unless `read_only`."""
        self.path = path
        self._property = property_name
        self._currency = currency
        if read_only and not path.exists():
            raise RecordError(f"there is no record at {path}: has the daemon ever run?")
        self._hold = None if read_only else Hold(path)
        try:
            self._open(read_only)
        except sqlite3.DatabaseError as error:
            self.close()
            raise RecordError(f"{path}: {error}") from error
        except (RecordError, OSError):
            self.close()
            raise

    def _open(self, read_only: bool) -> None:
        if not self.path.exists() or not self.path.stat().st_size:
            # Before SQLite sees it: beside an empty file it would delete what the WAL still has.
            self._check_end(0)
        if not read_only:
            rewrite_log(self.path)
        mode = "ro" if read_only else "rwc"
        self._conn = sqlite3.connect(
            f"{self.path.absolute().as_uri()}?mode={mode}", uri=True, isolation_level=None
        )
        self._db = Database(self._conn, execute_plugins=False)
        self._conn.execute("PRAGMA busy_timeout = 5000")
        if read_only:
            # One view of the record for as long as it is read, while the daemon goes on writing.
            self._conn.execute("BEGIN")
        self._check_ours()
        if not read_only:
            self._conn.execute("PRAGMA journal_mode = WAL")
            self._conn.execute("PRAGMA synchronous = FULL")
            # In one transaction: a process that is killed meanwhile leaves no part of a record.
            with self._db.atomic():
                steps.apply(self._db)
        elif steps.pending(self._db):
            raise RecordError(f"{self.path} is older than this version: start the daemon once")
        self._check_head(read_only)

    def _check_ours(self) -> None:
        (tables,) = self._conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
        (application_id,) = self._conn.execute("PRAGMA application_id").fetchone()
        if not tables:
            self._check_end(0)
        elif application_id != APPLICATION_ID:
            raise RecordError(f"{self.path} is a database, but not a jackpotd record")
        newer = [each.name for each in steps.applied(self._db) if each.name not in STEPS]
        if newer:
            raise RecordError(f"{self.path} was written by a newer version ({', '.join(newer)})")

    def _check_head(self, read_only: bool) -> None:
        head = self._conn.execute("SELECT property, currency, number, hash FROM head").fetchone()
        last = self._conn.execute(
            "SELECT number, hash FROM record ORDER BY number DESC LIMIT 1"
        ).fetchone()
        if head is None:
            if last is not None:
                raise RecordError(f"{self.path}: the record has rows but no head")
            self._check_end(0)
            self._hash = first_hash(self._property, self._currency)
            if not read_only:
                self._first_head()
            return
        if head[:2] != (self._property, self._currency):
            raise RecordError(
                f"{self.path} is the record of {head[0]} in {head[1]}, "
                f"not of {self._property} in {self._currency}"
            )
        expected = last or (0, first_hash(self._property, self._currency))
        if head[2:] != expected:
            says = head[2] if head[2] != expected[0] else "that its hash is another"
            raise RecordError(
                f"{self.path}: the last row is row {expected[0]}, but the head says {says}: "
                "the record's end was changed; restore a backup"
            )
        self._check_end(expected[0])
        self._hash = bytes(head[3])

    def _check_end(self, last: int) -> None:
        if self._hold is not None:
            self._hold.check(last)

    def _first_head(self) -> None:
        with self._db.atomic():
            self._conn.execute(
                "INSERT INTO head (only, property, currency, number, hash) VALUES (1, ?, ?, 0, ?)",
                (self._property, self._currency, self._hash),
            )

    def close(self) -> None:
        """Close the file and let another daemon have it."""
        if hasattr(self, "_conn"):
            self._conn.close()
        if self._hold is not None:
            self._hold.close()
            self._hold = None

    # Writing

    def append(self, batch: Batch) -> list[HitOnRecord | Row | None]:
        """Append a batch durably in one transaction; then answer its look-ups.

        Raises sqlite3.Error if it can't be written: then nothing of it is to be believed.
        """
        if batch.drafts:
            self._write(batch)
        return [self.find(lookup) for lookup in batch.lookups]

    def _write(self, batch: Batch) -> None:
        last = self._hash
        rows: list[tuple[object, ...]] = []
        for draft in batch.drafts:
            last = chained(last, draft)
            rows.append((*draft, last))
        execute = self._conn.execute
        execute("BEGIN IMMEDIATE")
        try:
            self._insert(rows)
            self._conn.executemany(
                "INSERT INTO hits (hit, row, progressive, level) VALUES (?, ?, ?, ?)",
                [(hit.hit, hit.row, hit.progressive, hit.level) for hit in batch.hits],
            )
            self._conn.executemany("UPDATE hits SET settled = ? WHERE hit = ?", batch.settled)
            execute("UPDATE head SET number = ?, hash = ?", (batch.drafts[-1].number, last))
            if batch.snapshot is not None:
                self._save(batch.snapshot, last)
            execute("COMMIT")
        except BaseException:
            self._conn.rollback()
            raise
        self._hash = last
        if self._hold is not None:
            self._hold.note(batch.drafts[-1].number)

    def _insert(self, rows: list[tuple[object, ...]]) -> None:
        # Each statement lets the other threads run and then waits for its turn again: while the
        # reactor is busy, a thousand rows one by one wait a thousand times.
        whole = len(rows) - len(rows) % _CHUNK
        for start in range(0, whole, _CHUNK):
            values = list(chain.from_iterable(rows[start : start + _CHUNK]))
            self._conn.execute(_APPEND_CHUNK, values)
        self._conn.executemany(_APPEND, rows[whole:])

    def _save(self, snapshot: Snapshot, row_hash: bytes) -> None:
        digest = hashlib.sha256(row_hash + snapshot.state).digest()
        self._conn.execute(
            "INSERT OR REPLACE INTO snapshots (number, hash, digest, state) VALUES (?, ?, ?, ?)",
            (snapshot.number, row_hash, digest, snapshot.state),
        )
        self._conn.execute(
            "DELETE FROM snapshots WHERE number NOT IN "
            "(SELECT number FROM snapshots ORDER BY number DESC LIMIT ?)",
            (_KEPT_SNAPSHOTS,),
        )
        self._conn.executemany(
            'INSERT INTO marks ("table", seq, first, last) VALUES (?, ?, ?, ?) '
            "ON CONFLICT DO UPDATE SET last = excluded.last",
            [
                (table, seq, snapshot.number, snapshot.number)
                for table, seq in snapshot.next_seqs.items()
            ],
        )

    def probe(self) -> None:
        """Raise sqlite3.Error or OSError while the store can't take a large batch."""
        prove_room(self.path)
        with self._db.atomic():
            # There and back: SQLite writes nothing for a row that stays as it is.
            self._conn.execute("UPDATE head SET number = number + 1")
            self._conn.execute("UPDATE head SET number = number - 1")

    # Reading

    def load(self) -> Loaded:
        """Fold the record from its newest snapshot on, checking each row. Raises RecordError."""
        try:
            floor, row_hash = self._newest_snapshot()
            at_ms = 0
            (at_snapshot,) = self._conn.execute(
                "SELECT max(at) FROM record WHERE number = ?", (floor.number,)
            ).fetchone()
            at_ms = at_snapshot or 0
            for folded in fold(self.rows(after=floor.number), floor, row_hash):
                at_ms = folded.row.at_ms
        except (sqlite3.DatabaseError, RecordError) as error:
            raise RecordError(f"{self.path}: {error}") from error
        return Loaded(floor=floor, at_ms=at_ms)

    def _newest_snapshot(self) -> tuple[Floor, bytes]:
        found = self._conn.execute(
            "SELECT s.number, s.hash, s.digest, s.state, r.hash FROM snapshots s "
            "LEFT JOIN record r ON r.number = s.number ORDER BY s.number DESC LIMIT 1"
        ).fetchone()
        if found is None:
            return Floor(), first_hash(self._property, self._currency)
        number, row_hash, digest, state, hash_on_record = found
        floor = read_state(state)
        genuine = hashlib.sha256(row_hash + state).digest() == digest
        if not genuine or row_hash != hash_on_record or floor.number != number:
            raise RecordError(f"the snapshot at row {number} was changed; restore a backup")
        return floor, row_hash

    def rows(self, *, after: int = 0, until: int | None = None) -> Iterator[Row]:
        """Yield the rows after one number, up to another, in order. Raises RecordError."""
        number = after
        try:
            for found in self._conn.execute(
                f"SELECT {_COLUMNS} FROM record WHERE number > ? AND number <= ? ORDER BY number",
                (after, 2**62 if until is None else until),
            ):
                row = Row._make(found)
                number = row.number
                yield row
        except sqlite3.DatabaseError as error:
            raise RecordError(f"the row after row {number} can't be read: {error}") from error

    def count(self) -> int:
        """Return how many rows there are, whatever their numbers."""
        (rows,) = self._conn.execute("SELECT count(*) FROM record").fetchone()
        return int(rows)

    def last_number(self) -> int:
        """Return the number of the last row; 0 where there is none."""
        (number,) = self._conn.execute("SELECT coalesce(max(number), 0) FROM record").fetchone()
        return int(number)

    def find(self, lookup: Lookup) -> HitOnRecord | Row | None:
        """Find the row of an old message, or a hit with what settled it."""
        return self._message(lookup) if lookup.seq else self.hit(lookup.hit)

    def _message(self, lookup: Lookup) -> Row | None:
        # Between two marks around the seq there are at most the rows of one snapshot interval.
        (after,) = self._conn.execute(
            'SELECT max(last) FROM marks WHERE "table" = ? AND seq <= ?', (lookup.table, lookup.seq)
        ).fetchone()
        (until,) = self._conn.execute(
            'SELECT min(first) FROM marks WHERE "table" = ? AND seq > ?', (lookup.table, lookup.seq)
        ).fetchone()
        found = self._conn.execute(
            f"SELECT {_COLUMNS} FROM record WHERE number > ? AND number <= ? "
            'AND "table" = ? AND seq = ?',
            (after or 0, until or 2**62, lookup.table, lookup.seq),
        ).fetchone()
        return Row._make(found) if found else None

    def hit(self, hit: int) -> HitOnRecord | None:
        """Return a hit by its number."""
        found = self._conn.execute("SELECT row, settled FROM hits WHERE hit = ?", (hit,)).fetchone()
        return self._hit_on_record(hit, *found) if found else None

    def _hit_on_record(self, hit: int, row: int, settled: int | None) -> HitOnRecord:
        return HitOnRecord(
            hit=hit, row=self._row(row), settled=None if settled is None else self._row(settled)
        )

    def _row(self, number: int) -> Row:
        found = self._conn.execute(
            f"SELECT {_COLUMNS} FROM record WHERE number = ?", (number,)
        ).fetchone()
        if found is None:
            raise RecordError(f"{self.path}: row {number} is missing")
        return Row._make(found)

    def hits(self, *, newest: int) -> list[HitOnRecord]:
        """Return the newest hits, newest first."""
        found = self._conn.execute(
            "SELECT hit, row, settled FROM hits ORDER BY hit DESC LIMIT ?", (newest,)
        ).fetchall()
        return [self._hit_on_record(*each) for each in found]

    def hits_of_level(self, progressive: str, level: str) -> Iterator[HitOnRecord]:
        """Yield the hits that a level's meter paid, newest first."""
        found = self._conn.execute(
            "SELECT hit, row, settled FROM hits WHERE progressive = ? AND level = ? "
            "ORDER BY hit DESC",
            (progressive, level),
        )
        for each in found:
            yield self._hit_on_record(*each)

    def hit_index(self) -> Iterator[tuple[int, int, int | None, str, str | None]]:
        """Yield the hits table: (hit, row, settled, progressive, level), by hit."""
        return iter(
            self._conn.execute(
                "SELECT hit, row, settled, progressive, level FROM hits ORDER BY hit"
            )
        )

    def snapshot_states(self) -> list[tuple[int, bytes, bytes, bytes]]:
        """Return the kept snapshots as (number, hash, digest, state)."""
        return list(
            self._conn.execute("SELECT number, hash, digest, state FROM snapshots ORDER BY number")
        )

    def marks(self) -> Iterator[tuple[str, int, int, int]]:
        """Yield the marks: (table, next seq, first and last row after which it was so)."""
        return iter(self._conn.execute('SELECT "table", seq, first, last FROM marks'))

    def integrity(self) -> list[str]:
        """Return what SQLite's own integrity check finds wrong; empty if nothing."""
        found = [str(line) for (line,) in self._conn.execute("PRAGMA integrity_check")]
        return [] if found == ["ok"] else found

    def start_hash(self) -> bytes:
        """Return what the first row is chained to."""
        return first_hash(self._property, self._currency)

    def backup(self, path: Path) -> None:
        """Write a consistent copy of the record to a new file, beside the running daemon.

        Raises RecordError if there is a file already, or none can be written.
        """
        if path.exists():
            raise RecordError(f"{path} exists: a backup is a new file and replaces none")
        part = path.with_name(path.name + ".part")
        try:
            with closing(sqlite3.connect(part)) as copy:
                self._conn.backup(copy, pages=1000)
            part.rename(path)
        except (sqlite3.Error, OSError) as error:
            part.unlink(missing_ok=True)
            raise RecordError(f"no backup at {path}: {error}") from error


def snapshot_of(floor: Floor) -> Snapshot:
    """Write a floor down as it stands."""
    return Snapshot(
        number=floor.number,
        state=write_state(floor),
        next_seqs={table.name: table.next_seq for table in floor.tables.values()},
    )
