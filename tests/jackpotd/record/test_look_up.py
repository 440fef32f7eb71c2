"""Old messages and hits are found again, in few rows."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from jackpotd.record.batch import Batch, HitOnRecord, Lookup
from jackpotd.record.rows import RecordError, Row, read_answer, read_event
from jackpotd.record.sqlite import SqliteRecord
from meters.events import TableSet, Wager
from meters.outcomes import Awarded, Confirmed, Denied
from tests.jackpotd.accounts.stories import BONUS
from tests.record_builder import RecordBuilder, opened


def test_a_hit_is_found_with_what_settled_it(record: SqliteRecord) -> None:
    kinds = {3: Confirmed, 6: Denied}
    for hit, kind in kinds.items():
        found = record.find(Lookup(hit=hit))
        assert isinstance(found, HitOnRecord)
        answer = read_answer(found.row)
        assert isinstance(answer, Awarded)
        assert answer.hit == found.hit == hit
        assert found.settled is not None
        assert isinstance(read_answer(found.settled), kind)
    for hit in (1, 9):
        found = record.hit(hit)
        assert found is not None
        assert found.settled is None
    assert record.hit(10) is None


def test_hits_are_listed_newest_first(record: SqliteRecord) -> None:
    assert [each.hit for each in record.hits(newest=4)] == [9, 8, 7, 6]
    assert [each.hit for each in record.hits(newest=100)] == list(range(9, 0, -1))
    assert [each.hit for each in record.hits_of_level("royal", "mega")] == [8, 3]
    assert [each.hit for each in record.hits_of_level("bonus", "meter")] == [7, 6]
    assert list(record.hits_of_level("royal", "major")) == []


def test_a_hit_whose_row_is_missing_is_no_hit(copy: Path) -> None:
    with closing(sqlite3.connect(copy)) as conn, conn:
        conn.execute("DELETE FROM record WHERE number = 11")
    with closing(opened(copy)) as record, pytest.raises(RecordError, match="row 11 is missing"):
        record.hit(3)


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record with many snapshots: T3 plays always, T1 at times, T9 never."""
    path = tmp_path_factory.mktemp("busy") / "record.db"
    with RecordBuilder(path) as to:
        to.open(BONUS)
        to.play(TableSet(table="T9", game="g", seats=6))
        for round_ in range(1, 61):
            to.wager("T3", round_, 1)
            if round_ % 17 == 0:
                to.wager("T1", round_, 2)
            to.commit(snapshot=round_ % 3 == 0)
    return path


def test_every_old_message_is_found_by_its_table_and_seq(busy: Path) -> None:
    with closing(opened(busy, read_only=True)) as record:
        sent = [row for row in record.rows() if row.seq]
        assert len(sent) == 63
        for row in sent:
            assert record.find(Lookup(table=row.table, seq=row.seq)) == row
        for table, seq in (("T1", 4), ("T3", 61), ("T9", 1), ("T7", 1)):
            assert record.find(Lookup(table=table, seq=seq)) is None


def test_an_old_message_is_looked_for_in_few_rows(busy: Path) -> None:
    # The search is in the rows between two snapshots, however idle the table was meanwhile.
    with closing(opened(busy, read_only=True)) as record:
        searched: list[str] = []
        record._conn.set_trace_callback(searched.append)
        for row in [row for row in record.rows() if row.seq]:
            searched.clear()
            record.find(Lookup(table=row.table, seq=row.seq))
            *_, query = searched
            after, until = (int(query.split(sign)[1].split()[0]) for sign in ("> ", "<= "))
            assert after < row.number <= until
            assert until - after <= 7 or until == 2**62


def test_a_look_up_meets_the_rows_of_its_own_batch(copy: Path) -> None:
    with RecordBuilder(copy, at="2026-03-11T12:00:00-04:00") as to:
        seq = to.seq("T3")
        to.wager("T3", 4, 1)
        to.batch.lookups += [Lookup(table="T3", seq=seq), Lookup(hit=3), Lookup(hit=99)]
        batch, to.batch = to.batch, Batch()
        row, hit, nothing = to.record.append(batch)
    assert isinstance(row, Row)
    assert (row.table, row.seq, row.number) == ("T3", seq, 32)
    assert isinstance(read_event(row), Wager)
    assert isinstance(hit, HitOnRecord)
    assert nothing is None
