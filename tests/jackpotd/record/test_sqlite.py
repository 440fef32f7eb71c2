"""The record in a SQLite file: durable, alone with its writer, and found changed if it was."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from jackpotd.record.batch import Batch
from jackpotd.record.rows import RecordError, draft, write_state
from jackpotd.record.sqlite import SqliteRecord
from meters.events import TableSet
from meters.floor import Floor
from meters.outcomes import Noted
from tests.jackpotd.accounts.stories import BONUS
from tests.record_builder import RecordBuilder, opened


def change(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as conn, conn:
        for statement in statements:
            conn.execute(statement)


def one_row(number: int, table: str = "T8") -> Batch:
    """Return a batch of one row that sets a table."""
    event = TableSet(table=table, game="g", seats=6)
    return Batch(drafts=[draft(number, 2**41, event, Noted())])


# Opening


def test_a_new_record_is_empty(tmp_path: Path) -> None:
    with closing(opened(tmp_path / "new.db")) as record:
        assert record.last_number() == record.count() == 0
        assert list(record.rows()) == []
        assert record.load().floor == Floor()
        assert record.load().at_ms == 0


def test_a_record_is_written_durably(record: SqliteRecord) -> None:
    conn = record._conn
    assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert conn.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_a_second_opener_is_refused_until_the_first_closes(copy: Path) -> None:
    with closing(opened(copy)), pytest.raises(RecordError, match="in use by another running"):
        opened(copy)
    opened(copy).close()


def test_a_refused_opening_leaves_the_lock_free(copy: Path) -> None:
    with pytest.raises(RecordError, match="not of Lakeside in USD"):
        opened(copy, property_name="Lakeside")
    opened(copy).close()


def test_closing_twice_does_nothing_more(copy: Path) -> None:
    record = opened(copy)
    record.close()
    record.close()


@pytest.mark.parametrize(
    ("property_name", "currency", "said"),
    [
        ("Lakeside", "USD", "is the record of Riverside in USD, not of Lakeside in USD"),
        ("Riverside", "CAD", "is the record of Riverside in USD, not of Riverside in CAD"),
    ],
)
@pytest.mark.parametrize("read_only", [True, False])
def test_a_record_of_another_property_is_refused(
    copy: Path, property_name: str, currency: str, said: str, read_only: bool
) -> None:
    with pytest.raises(RecordError, match=said):
        opened(copy, property_name=property_name, currency=currency, read_only=read_only)


def make_foreign(path: Path) -> None:
    path.unlink()
    change(path, "CREATE TABLE meters (amount INTEGER)", "INSERT INTO meters VALUES (1)")


def make_text(path: Path) -> None:
    path.write_text("mega is at ten thousand dollars\n" * 50)


def make_newer(path: Path) -> None:
    change(
        path,
        "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
        "VALUES ('jackpotd.record', 'colours', '2030-01-01')",
    )


def make_older(path: Path) -> None:
    change(path, "DELETE FROM _sqlite_migrations WHERE name = 'snapshots_and_marks'")


def cut_off(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def drop_the_end(path: Path) -> None:
    change(path, "DELETE FROM record WHERE number = 31")


def drop_the_head(path: Path) -> None:
    change(path, "DELETE FROM head")


BROKEN: list[tuple[Callable[[Path], None], str]] = [
    (make_foreign, "is a database, but not a jackpotd record"),
    (make_text, "file is not a database"),
    (make_newer, r"was written by a newer version \(colours\)"),
    (cut_off, "malformed"),
    (drop_the_end, "the last row is row 30, but the head says 31"),
    (drop_the_head, "the record has rows but no head"),
]


@pytest.mark.parametrize(("spoil", "said"), BROKEN)
@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_that_is_no_whole_record_is_refused_and_left_as_it_was(
    copy: Path, spoil: Callable[[Path], None], said: str, read_only: bool
) -> None:
    spoil(copy)
    before = copy.read_bytes()
    with pytest.raises(RecordError, match=said):
        opened(copy, read_only=read_only).load()
    assert copy.read_bytes() == before


def test_reading_makes_no_record(tmp_path: Path) -> None:
    with pytest.raises(RecordError, match=r"there is no record at .*: has the daemon ever run"):
        opened(tmp_path / "new.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_an_older_record_is_for_the_daemon_to_bring_up_to_date(copy: Path) -> None:
    make_older(copy)
    with pytest.raises(RecordError, match="is older than this version: start the daemon once"):
        opened(copy, read_only=True)


def test_a_folder_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordError):
        opened(tmp_path, read_only=True)


# Loading


def test_loading_folds_from_a_snapshot_what_folding_everything_gives(copy: Path) -> None:
    with closing(opened(copy, read_only=True)) as record:
        loaded = record.load()
        last = list(record.rows())[-1]
    change(copy, "DELETE FROM snapshots")
    with closing(opened(copy, read_only=True)) as record:
        folded = record.load()
    assert loaded == folded
    assert write_state(loaded.floor) == write_state(folded.floor)
    assert (loaded.floor.number, loaded.at_ms) == (31, last.at_ms)


def test_the_time_of_the_last_row_is_known_where_the_snapshot_has_it_all(copy: Path) -> None:
    with RecordBuilder(copy, at="2026-03-12T00:00:00-04:00") as to:
        to.wager("T3", 4, 1)
        to.commit(snapshot=True)
    with closing(opened(copy, read_only=True)) as record:
        assert record.load().at_ms == list(record.rows())[-1].at_ms


def test_loading_reads_no_row_before_the_snapshot(copy: Path) -> None:
    # What start-up does not read, verification does.
    change(copy, "UPDATE record SET at = at + 1 WHERE number = 2")
    with closing(opened(copy)) as record:
        assert record.load().floor.number == 31


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE record SET at = at + 1 WHERE number = 29", "row 29: its hash does not match"),
        ("DELETE FROM record WHERE number = 29", "row 30 stands where row 29 should"),
        ("UPDATE snapshots SET digest = zeroblob(32)", "the snapshot at row 27 was changed"),
        ("UPDATE snapshots SET hash = zeroblob(32)", "the snapshot at row 27 was changed"),
        ("DELETE FROM record WHERE number = 27", "the snapshot at row 27 was changed"),
        (
            "UPDATE snapshots SET state = CAST(replace(state, '900', '901') AS BLOB)",
            "the snapshot at row 27 was changed",
        ),
        ("UPDATE snapshots SET state = zeroblob(9)", "the snapshot can't be read"),
    ],
)
def test_a_changed_record_is_not_loaded(copy: Path, statement: str, said: str) -> None:
    change(copy, statement)
    with closing(opened(copy)) as record, pytest.raises(RecordError, match=said) as raised:
        record.load()
    assert str(copy) in str(raised.value)


def test_a_flipped_byte_in_a_snapshot_is_found(copy: Path) -> None:
    whole = bytearray(copy.read_bytes())
    whole[whole.index(b'27,"next_hit":')] ^= 1
    copy.write_bytes(whole)
    with closing(opened(copy)) as record, pytest.raises(RecordError, match="snapshot"):
        record.load()


def test_a_row_that_can_not_be_read_is_named(copy: Path) -> None:
    change(copy, "UPDATE record SET event = CAST(x'ff' AS TEXT) WHERE number = 29")
    with closing(opened(copy)) as record, pytest.raises(RecordError, match="after row 28 can't be"):
        record.load()


# Appending


def test_appended_rows_come_back(record: SqliteRecord) -> None:
    record.append(one_row(32))
    (row,) = record.rows(after=31)
    assert (row.number, row.kind) == (32, "table")
    assert record.last_number() == record.count() == 32
    assert record.load().floor.number == 32


@pytest.mark.parametrize("rows", [1, 2, 127, 128, 129, 256, 300])
def test_a_batch_of_any_size_is_written_whole_and_in_order(tmp_path: Path, rows: int) -> None:
    path = tmp_path / "record.db"
    with RecordBuilder(path) as to:
        to.open(BONUS)
        to.commit()
        for round_ in range(1, rows + 1):
            to.wager("T3", round_, 1)
        drafts = list(to.batch.drafts)
        to.commit()
    with closing(opened(path, read_only=True)) as record:
        assert [row[:7] for row in record.rows(after=3)] == drafts
        assert record.load().floor.tables["T3"].next_seq == rows + 1


def test_rows_are_read_between_two_numbers(record: SqliteRecord) -> None:
    assert [row.number for row in record.rows(after=5, until=8)] == [6, 7, 8]
    assert [row.number for row in record.rows()] == list(range(1, 32))


def test_a_batch_that_fails_leaves_nothing_and_the_next_one_is_taken(record: SqliteRecord) -> None:
    before = record.load()
    twice = Batch(drafts=one_row(32).drafts * 2)
    with pytest.raises(sqlite3.IntegrityError):
        record.append(twice)
    assert record.load() == before
    record.append(one_row(32))
    assert record.load().floor.number == 32


def test_an_empty_batch_writes_nothing(record: SqliteRecord) -> None:
    record.append(Batch())
    assert record.last_number() == 31


def test_two_snapshots_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    with RecordBuilder(path) as to:
        to.open(BONUS)
        for round_ in range(1, 6):
            to.wager("T3", round_, 1)
            to.commit(snapshot=True)
        assert [number for number, *_ in to.record.snapshot_states()] == [7, 8]


def test_a_probe_finds_whether_the_store_can_be_written(record: SqliteRecord, copy: Path) -> None:
    record.probe()
    with closing(sqlite3.connect(copy, isolation_level=None)) as other:
        record._conn.execute("PRAGMA busy_timeout = 0")
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            record.probe()
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            record.append(one_row(32))
        other.execute("ROLLBACK")
    record.probe()
    record.append(one_row(32))
    assert record.load().floor.number == 32


def test_a_probe_writes_though_nothing_changes(record: SqliteRecord, copy: Path) -> None:
    log = copy.with_name(copy.name + "-wal")
    before = log.stat().st_size
    record.probe()
    assert log.stat().st_size > before
    assert record.load().floor.number == 31


# Reading beside a writer


def test_a_reader_has_one_view_while_the_writer_goes_on(copy: Path) -> None:
    with closing(opened(copy)) as writer, closing(opened(copy, read_only=True)) as reader:
        writer.append(one_row(32))
        assert reader.last_number() == 31
        assert reader.load().floor.number == 31
        with closing(opened(copy, read_only=True)) as later:
            assert later.last_number() == 32


def test_readers_need_no_lock(copy: Path) -> None:
    with closing(opened(copy, read_only=True)), closing(opened(copy, read_only=True)):
        opened(copy).close()


def test_a_reader_can_not_write(copy: Path) -> None:
    with (
        closing(opened(copy, read_only=True)) as reader,
        pytest.raises(sqlite3.OperationalError),
    ):
        reader.append(one_row(32))


# Backup


def test_a_backup_beside_the_writer_is_a_whole_record(copy: Path, tmp_path: Path) -> None:
    with closing(opened(copy)) as writer, closing(opened(copy, read_only=True)) as reader:
        writer.append(one_row(32))
        reader.backup(tmp_path / "backup.db")
        writer.append(one_row(33, "T9"))
    with closing(opened(tmp_path / "backup.db")) as backup:
        assert backup.load().floor.number == 31
        assert backup.integrity() == []
        backup.append(one_row(32))
    assert not list(tmp_path.glob("*.part*"))


def test_a_backup_replaces_no_file(record: SqliteRecord, copy: Path, tmp_path: Path) -> None:
    make_text(tmp_path / "other.db")
    before = (tmp_path / "other.db").read_bytes()
    for taken in (copy, tmp_path / "other.db"):
        with pytest.raises(RecordError, match="exists: a backup is a new file"):
            record.backup(taken)
    assert (tmp_path / "other.db").read_bytes() == before


def test_a_backup_that_can_not_be_written_leaves_nothing(
    record: SqliteRecord, tmp_path: Path
) -> None:
    with pytest.raises(RecordError, match=r"no backup at .*nowhere"):
        record.backup(tmp_path / "nowhere" / "backup.db")
    (tmp_path / "backup.db.part").write_text("left by a backup that was killed\n" * 50)
    with pytest.raises(RecordError, match=r"no backup at .*backup.db"):
        record.backup(tmp_path / "backup.db")
    assert not (tmp_path / "backup.db.part").exists()
    record.backup(tmp_path / "backup.db")
    assert stat.S_ISREG((tmp_path / "backup.db").stat().st_mode)
