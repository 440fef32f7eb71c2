"""The liability ledger as CSV: what it says, to the byte."""

from __future__ import annotations

import csv
import io
import tracemalloc
from collections import defaultdict
from collections.abc import Callable
from datetime import date
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from jackpotd.accounts.entries import entries
from jackpotd.accounts.export import COLUMNS, csv_ledger
from jackpotd.accounts.lines import Selection
from jackpotd.record.rows import RecordError, first_hash
from meters.floor import Floor
from meters.money import CURRENCIES
from tests.builders import level, live, paytable
from tests.jackpotd.accounts.stories import DAYS, eventful, told
from tests.record_builder import CURRENCY, PROPERTY, RecordBuilder

USD = CURRENCIES["USD"]
SMALL = live(paytable(levels={"meter": level("$10,000", "10%", reserve="3%")}))
CELLS = dict[str, str]

HERE = Path(__file__).parent
GOLDEN = (HERE / "small_ledger.csv").read_text("utf-8")
GOLDEN_BY_DAY = (HERE / "small_ledger_by_day.csv").read_text("utf-8")
"""What `story` gives: every posting, and the second day's sums."""


def text(path: Path, selection: Selection | None = None, **options: Any) -> str:
    """Export a record."""
    with told(path) as (found, _):
        return "".join(csv_ledger(found, currency=USD, selection=selection, **options))


def read(exported: str) -> list[CELLS]:
    """Read a ledger as a spreadsheet would."""
    return list(csv.DictReader(io.StringIO(exported, newline="")))


def story(path: Path) -> None:
    """Write one round: a wager, an award paid at once, a royal flush that is denied next day."""
    with RecordBuilder(path, at="2026-03-08T05:59:59.997-04:00") as to:
        to.open(SMALL)
        to.at("2026-03-08T05:59:59.999-04:00")
        to.wager("T1", 100, 1, 2)
        to.hit("T1", 100, 2, "three of a kind")
        royal = to.hit("T1", 100, 1, "royal flush")
        to.deny(royal.hit, reason='misread: "it was, in fact, a flush"')


def test_each_posting_is_a_line(tmp_path: Path) -> None:
    story(tmp_path / "record.db")
    assert text(tmp_path / "record.db") == GOLDEN


def test_a_days_detail_has_a_line_for_each_account_and_table(tmp_path: Path) -> None:
    story(tmp_path / "record.db")
    second = Selection(first=date(2026, 3, 8))
    assert text(tmp_path / "record.db", second, detail="day") == GOLDEN_BY_DAY


def test_an_empty_record_has_a_header_alone(tmp_path: Path) -> None:
    with RecordBuilder(tmp_path / "record.db"):
        pass
    for detail in ("event", "day"):
        assert text(tmp_path / "record.db", detail=detail) == ",".join(COLUMNS) + "\n"


def test_the_same_events_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one.db", "other.db"):
        eventful(tmp_path / name)
    for detail in ("event", "day"):
        one, other = (text(tmp_path / name, detail=detail) for name in ("one.db", "other.db"))
        assert one == other


@pytest.mark.parametrize("detail", ["event", "day"])
def test_amounts_are_decimals_with_eight_places_that_sum_to_zero(record: Path, detail: str) -> None:
    lines = read(text(record, detail=detail))
    for column in ("amount", "balance"):
        assert {len(line[column].partition(".")[2]) for line in lines} == {8}
    by_entry: dict[str, Decimal] = defaultdict(Decimal)
    for line in lines:
        key = line["entry"] if detail == "event" else line["gaming_day"]
        by_entry[key] += Decimal(line["amount"])
    assert len(by_entry) > 2
    assert set(by_entry.values()) == {Decimal(0)}


@pytest.mark.parametrize("detail", ["event", "day"])
def test_a_balance_is_the_one_before_and_the_amount(record: Path, detail: str) -> None:
    balances: dict[str, Decimal] = defaultdict(Decimal)
    for line in read(text(record, detail=detail)):
        balances[line["account"]] += Decimal(line["amount"])
        assert Decimal(line["balance"]) == balances[line["account"]]


def test_a_days_lines_sum_its_events(record: Path) -> None:
    sums: dict[tuple[str, ...], Decimal] = defaultdict(Decimal)
    for line in read(text(record)):
        sums[line["gaming_day"], line["account"], line["table"]] += Decimal(line["amount"])
    by_day = read(text(record, detail="day"))
    keys = [(line["gaming_day"], line["account"], line["table"]) for line in by_day]
    assert len(set(keys)) == len(keys)
    assert sums == {key: Decimal(line["amount"]) for key, line in zip(keys, by_day, strict=True)}
    assert keys == sorted(keys)


def test_the_days_are_gaming_days_and_no_dates(record: Path) -> None:
    found = {line["at"]: line["gaming_day"] for line in read(text(record))}
    assert found["2026-03-08T07:00:00.000Z"] == "2026-03-07"
    assert found["2026-03-08T10:00:00.000Z"] == "2026-03-08"
    assert found["2026-03-11T03:30:00.000Z"] == "2026-03-10"


SELECTIONS: list[tuple[Selection, Callable[[CELLS], bool]]] = [
    (Selection(first=date(2026, 3, 8)), lambda line: line["gaming_day"] >= "2026-03-08"),
    (Selection(last=date(2026, 3, 8)), lambda line: line["gaming_day"] <= "2026-03-08"),
    (
        Selection(first=date(2026, 3, 8), last=date(2026, 3, 8)),
        lambda line: line["gaming_day"] == "2026-03-08",
    ),
    (Selection(first=date(2026, 3, 9), last=date(2026, 3, 9)), lambda line: False),
    (Selection(progressive="bonus"), lambda line: line["progressive"] == "bonus"),
    (
        Selection(first=date(2026, 3, 8), progressive="royal"),
        lambda line: line["gaming_day"] >= "2026-03-08" and line["progressive"] == "royal",
    ),
]


@pytest.mark.parametrize(("selection", "wanted"), SELECTIONS)
def test_a_selection_leaves_lines_out_and_changes_none(
    record: Path, selection: Selection, wanted: Callable[[CELLS], bool]
) -> None:
    assert read(text(record, selection)) == [line for line in read(text(record)) if wanted(line)]


def test_of_one_progressive_a_days_lines_are_its_own_and_balances_run_over_all(
    record: Path,
) -> None:
    sums: dict[tuple[str, ...], Decimal] = defaultdict(Decimal)
    for line in read(text(record, Selection(progressive="royal"))):
        sums[line["gaming_day"], line["account"], line["table"]] += Decimal(line["amount"])
    whole = {
        (line["gaming_day"], line["account"], line["table"]): line["balance"]
        for line in read(text(record, detail="day"))
    }
    by_day = read(text(record, Selection(progressive="royal"), detail="day"))
    assert {line["progressive"] for line in by_day} == {"royal"}
    for line in by_day:
        key = (line["gaming_day"], line["account"], line["table"])
        assert Decimal(line["amount"]) == sums.pop(key)
        assert line["balance"] == whole[key]
    assert not sums
    shared = next(line for line in by_day if line["account"] == "Assets:Tables:T1")
    assert (shared["amount"], shared["balance"]) == ("-10035.00000000", "-10058.00000000")


def test_a_days_line_of_a_table_that_plays_two_progressives_names_none(record: Path) -> None:
    first = Selection(last=date(2026, 3, 7))
    named = {
        line["table"]: line["progressive"]
        for line in read(text(record, first, detail="day"))
        if line["account"].startswith("Assets:Tables:")
    }
    assert named == {"T1": "", "T2": "royal", "T3": "bonus"}


def test_lines_say_who_settled_a_hit_and_why(record: Path) -> None:
    told_of = {
        (line["kind"], line["hit"]): (line["table"], line["round"], line["seat"], line["by"])
        for line in read(text(record))
    }
    assert told_of["confirm", "3"] == ("T1", "1", "1", "floor-7")
    assert told_of["confirm", "7"] == ("T3", "2", "2", "floor-8")
    assert told_of["deny", "6"] == ("T3", "2", "1", "floor-7")
    memos = {(line["kind"], line["hit"]): line["memo"] for line in read(text(record))}
    assert memos["hit", "3"] == "royal flush: 100% of mega"
    assert memos["hit", "9"] == "royal flush: Envy alone"
    assert memos["deny", "6"] == "a joker among them; paid since from this level: hit 7"
    assert memos["deny", "4"] == "misread, it was two pair"


@pytest.mark.parametrize("start", ["=", "+", "-", "@", "\t", "\r", "\n"])
def test_no_text_is_a_formula(tmp_path: Path, start: str) -> None:
    reason = f"{start}cmd|' /C calc'!A0"
    with RecordBuilder(tmp_path / "record.db") as to:
        to.open(SMALL)
        to.wager("T1", 1, 1)
        hit = to.hit("T1", 1, 1, "royal flush")
        to.deny(hit.hit, reason=reason, by=f"{start}floor")
    last = read(text(tmp_path / "record.db"))[-1]
    assert last["memo"] == "'" + reason
    assert last["by"] == f"'{start}floor"
    assert Decimal(last["amount"]) < 0


@pytest.mark.parametrize("reason", ["a,b", 'say "no"', "two\nlines", "two\r\nlines", "a\rb", "ü€"])
def test_any_reason_comes_back_as_it_was(tmp_path: Path, reason: str) -> None:
    with RecordBuilder(tmp_path / "record.db") as to:
        to.open(SMALL)
        to.wager("T1", 1, 1)
        to.void("T1", 1, reason=reason)
    assert read(text(tmp_path / "record.db"))[-1]["memo"] == reason


def test_lines_end_with_lf_alone(record: Path) -> None:
    exported = text(record)
    assert exported.endswith("\n")
    assert "\r" not in exported


@pytest.mark.parametrize(("code", "amount"), [("JPY", "100000.00000000"), ("USD", "1000.00000000")])
def test_amounts_are_in_major_units_of_the_currency(tmp_path: Path, code: str, amount: str) -> None:
    thousand = live(paytable(levels={"meter": level("$1,000", "10%")}))
    with RecordBuilder(tmp_path / "record.db") as to:
        to.open(thousand)
    with told(tmp_path / "record.db") as (found, _):
        _, line, *_ = "".join(csv_ledger(found, currency=CURRENCIES[code])).splitlines()
    assert line.split(",")[COLUMNS.index("amount")] == f"-{amount}"


def test_a_bad_row_ends_the_export(record: Path) -> None:
    with told(record) as (found, _):
        whole = [entry.row for entry in found]
    start_hash = first_hash(PROPERTY, CURRENCY)
    spoilt = [*whole[:10], whole[10]._replace(at_ms=whole[10].at_ms + 1), *whole[11:]]
    with pytest.raises(RecordError, match="row 11: its hash does not match"):
        list(csv_ledger(entries(spoilt, Floor(), start_hash, DAYS), currency=USD))


def test_a_long_ledger_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    def peak_bytes(rounds: int) -> int:
        path = tmp_path / f"{rounds}.db"
        with RecordBuilder(path) as to:
            to.open(SMALL)
            for round_ in range(1, rounds + 1):
                to.wager("T1", round_, 1)
                if round_ % 100 == 0:
                    to.commit()
        with told(path) as (found, _):
            chunks = csv_ledger(found, currency=USD)
            tracemalloc.start()
            for _chunk in chunks:
                pass
            _, peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        return peak

    assert peak_bytes(4_000) < peak_bytes(1_000) * 2


def test_the_ledger_comes_in_chunks_while_it_is_read(tmp_path: Path) -> None:
    with RecordBuilder(tmp_path / "record.db") as to:
        to.open(SMALL)
        for round_ in range(1, 500):
            to.wager("T1", round_, 1)
    with told(tmp_path / "record.db") as (found, floor):
        chunks = csv_ledger(found, currency=USD)
        assert len(list(islice(chunks, 2))) == 2
        assert floor.number < 400
