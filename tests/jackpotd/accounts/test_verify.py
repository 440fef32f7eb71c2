"""The proof of a record: whatever is changed in it is found, and the first bad row is named."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from jackpotd.accounts import entries
from jackpotd.accounts.verify import Verified, verify
from jackpotd.record.rows import RecordError
from meters.books import Posting, postings
from meters.events import Event, Wager
from meters.floor import Floor
from meters.outcomes import Answer
from tests.jackpotd.accounts.stories import BONUS, DAYS, told
from tests.jackpotd.accounts.tampering import COLUMNS, LAST, MIDDLE, TAMPERED, sql, tamper
from tests.record_builder import RecordBuilder, opened


@pytest.fixture
def copy(record: Path, tmp_path: Path) -> Path:
    """A copy of it to be changed."""
    path = tmp_path / "riverside.db"
    shutil.copyfile(record, path)
    return path


def prove(path: Path) -> Verified:
    """Open a record as the command does, and verify it."""
    with closing(opened(path, read_only=True)) as record:
        return verify(record, record.rows(), DAYS)


def test_a_genuine_record_is_proved(record: Path) -> None:
    assert prove(record) == Verified(rows=31, hits=9, marks=8, snapshots=2)


def test_an_empty_record_is_proved(tmp_path: Path) -> None:
    with RecordBuilder(tmp_path / "record.db"):
        pass
    assert prove(tmp_path / "record.db") == Verified(rows=0, hits=0, marks=0, snapshots=0)


def test_a_record_is_proved_beside_its_writer(copy: Path) -> None:
    with RecordBuilder(copy, at="2026-03-11T12:00:00-04:00") as to:
        with closing(opened(copy, read_only=True)) as record:
            to.wager("T3", 4, 1)
            to.commit(snapshot=True)
            assert verify(record, record.rows(), DAYS).rows == LAST
        assert prove(copy).rows == LAST + 1


@pytest.mark.parametrize("row", [1, MIDDLE, LAST])
@pytest.mark.parametrize("column", COLUMNS)
def test_a_change_of_any_column_of_a_row_is_found(copy: Path, column: str, row: int) -> None:
    tamper(copy, sql(f"UPDATE record SET {column} = {COLUMNS[column]} WHERE number = {row}"))
    with pytest.raises(RecordError, match=rf"\brow {row}\b"):
        prove(copy)


@pytest.mark.parametrize("what", TAMPERED)
def test_it_is_found_that(copy: Path, what: str) -> None:
    change, said = TAMPERED[what]
    tamper(copy, change)
    with pytest.raises(RecordError, match=said):
        prove(copy)


def test_it_is_found_that_sqlite_finds_the_file_damaged(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as conn:
        conn.execute("PRAGMA writable_schema = ON")
        conn.execute("DELETE FROM sqlite_master WHERE name = 'hits_of_level'")
        conn.commit()
    with pytest.raises(RecordError, match="SQLite's integrity check: "):
        prove(copy)


def test_it_is_found_that_the_file_is_cut_off(copy: Path) -> None:
    with copy.open("r+b") as file:
        file.truncate(copy.stat().st_size // 2)
    with pytest.raises(RecordError):
        prove(copy)


@pytest.mark.parametrize("spot", range(8))
def test_a_flipped_bit_of_any_table_is_found(copy: Path, record: Path, spot: int) -> None:
    # Bytes that a row holds; a page has others that mean nothing.
    needles = [
        b"three of a kind",
        b"misread, it was two pair",
        b"a joker among them",
        b'"wagers_minor"',
        b'"next_seq":',
        b"standing_hits",
        b"T3",
        b"floor-8",
    ]
    whole = bytearray(record.read_bytes())
    whole[whole.index(needles[spot])] ^= 1
    copy.write_bytes(whole)
    with pytest.raises(RecordError):
        prove(copy)


def test_a_fault_of_the_books_is_found(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(event: Event, answer: Answer, floor: Floor) -> tuple[Posting, ...]:
        posted = postings(event, answer, floor)
        return posted[:-1] if isinstance(event, Wager) else posted

    monkeypatch.setattr(entries, "postings", forgetful)
    with pytest.raises(RecordError, match="row 6: its postings sum to -241851000 units"):
        prove(copy)


@pytest.mark.parametrize(
    ("more_units", "said"),
    [
        (1, "row 13: Liabilities:Progressive:royal:Awards is below zero: -1 units"),
        (-1, "row 31: the books don't owe what the meters hold"),
    ],
)
def test_a_fault_of_the_pending_awards_is_found(
    copy: Path, monkeypatch: pytest.MonkeyPatch, more_units: int, said: str
) -> None:
    changes = {"Liabilities:Progressive:royal:Awards": more_units, "Assets:Cage": -more_units}

    def wrong(event: Event, answer: Answer, floor: Floor) -> tuple[Posting, ...]:
        posted = postings(event, answer, floor)
        if floor.number != 13:
            return posted
        return tuple(
            replace(each, amount_units=each.amount_units + changes.get(each.account, 0))
            for each in posted
        )

    monkeypatch.setattr(entries, "postings", wrong)
    with pytest.raises(RecordError, match=said):
        prove(copy)


def test_the_rows_are_those_of_the_record(record: Path) -> None:
    with told(record) as (found, _):
        assert [entry.row.number for entry in found] == list(range(1, LAST + 1))


def test_a_record_of_one_table_is_proved_over_many_snapshots(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    with RecordBuilder(path) as to:
        to.open(BONUS)
        for round_ in range(1, 30):
            to.wager("T3", round_, 1)
            to.commit(snapshot=True)
    assert prove(path).snapshots == 2
    assert prove(path).marks == 30
