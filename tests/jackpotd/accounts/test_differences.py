"""Whatever differs between messages, books and meters is said by the reconciliation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jackpotd.accounts.day import MOST_FAULTS
from jackpotd.accounts.entries import Entry
from jackpotd.accounts.reconcile import reconcile
from jackpotd.accounts.statement import statement
from meters.events import Wager
from meters.floor import Floor
from meters.money import CURRENCIES, units_from_minor
from meters.outcomes import Awarded, Voided
from meters.terms import Terms
from tests.builders import live, one_level, paytable
from tests.jackpotd.accounts.stories import BONUS, told, units
from tests.record_builder import RecordBuilder

USD = CURRENCIES["USD"]
Doctor = Callable[[Entry, Floor], Entry]


def differences(path: Path, doctor: Doctor) -> list[str]:
    """Reconcile a record whose entries are changed on their way."""
    with told(path) as (entries, floor):
        doctored = (doctor(entry, floor) for entry in entries)
        return [what for each in reconcile(doctored, floor) for what in each.differences(USD)]


def posted(entry: Entry, *, without: str = "", change: dict[str, int] | None = None) -> Entry:
    """Return an entry without one account, or with amounts added to some."""
    return replace(
        entry,
        postings=tuple(
            replace(each, amount_units=each.amount_units + (change or {}).get(each.account, 0))
            for each in entry.postings
            if each.account != without
        ),
    )


PRIMARY = "Liabilities:Progressive:royal:mega:Primary"
RESERVE = "Liabilities:Progressive:royal:mega:Reserve"
ACCRUED = "Expenses:Progressive:royal:Contributions"


def at_row(number: int, change: Callable[[Entry, Floor], Entry]) -> Doctor:
    return lambda entry, floor: change(entry, floor) if entry.row.number == number else entry


def lose_a_contribution(entry: Entry, floor: Floor) -> Entry:
    return posted(entry, without=RESERVE, change={ACCRUED: -units("0.45")})


def post_half_an_entry(entry: Entry, floor: Floor) -> Entry:
    return posted(entry, without=ACCRUED)


def swap_primary_and_reserve(entry: Entry, floor: Floor) -> Entry:
    return posted(entry, change={PRIMARY: 5, RESERVE: -5})


def book_at_another_table(entry: Entry, floor: Floor) -> Entry:
    return replace(entry, row=entry.row._replace(table="T2"))


def lose_a_wager(entry: Entry, floor: Floor) -> Entry:
    return posted(
        entry,
        change={"Assets:Tables:T1": -500 * 10**6, "Income:Progressive:royal:Wagers": 500 * 10**6},
    )


def move_the_meter(entry: Entry, floor: Floor) -> Entry:
    floor.progressives["royal"].level("mega").primary_units += 1
    return entry


def take_too_little_back(entry: Entry, floor: Floor) -> Entry:
    assert isinstance(entry.answer, Voided)
    first, *rest = entry.answer.returned
    shorter = replace(first, lost_units=first.lost_units - 7)
    return replace(entry, answer=replace(entry.answer, returned=(shorter, *rest)))


def overstate_an_award(entry: Entry, floor: Floor) -> Entry:
    assert isinstance(entry.answer, Awarded)
    return replace(entry, answer=replace(entry.answer, taken_minor=entry.answer.taken_minor + 1))


def forget_a_pending_award(entry: Entry, floor: Floor) -> Entry:
    floor.pending.clear()
    return entry


def overdraw(entry: Entry, floor: Floor) -> Entry:
    moved_units = units("20000.0")
    return posted(entry, change={PRIMARY: moved_units, ACCRUED: -moved_units})


FAULTS = [
    (
        at_row(6, lose_a_contribution),
        [
            f"row 8: {RESERVE} is 75000000 units, but its postings 30000000",
            "royal mega reserve should have got contributions of 0.90000000, but 0.45000000 were "
            "booked",
            "royal mega reserve changed by 0.15000000, but -0.30000000 were booked",
            "T1 sent contributions of 2.41851000 on royal, but 1.96851000 were booked",
        ],
    ),
    (
        at_row(6, post_half_an_entry),
        [
            "row 6: its postings sum to -241851000 units, not to zero",
            "T1 sent contributions of 2.41851000 on royal, but 0.00000000 were booked",
        ],
    ),
    (
        at_row(6, swap_primary_and_reserve),
        [
            f"row 6: {PRIMARY} is 1000150000000 units, but its postings 1000149999995",
            "royal mega primary should have got contributions of 3.00000000, but 2.99999995 were "
            "booked",
            "royal mega reserve changed by 0.15000000, but 0.15000005 were booked",
        ],
    ),
    (
        at_row(6, book_at_another_table),
        [
            "T1 sent wagers of 15.00000000 on royal, but 0.00000000 were booked",
            "T2 sent wagers of 5.00000000 on royal, but 20.00000000 were booked",
        ],
    ),
    (
        at_row(6, lose_a_wager),
        ["T1 sent wagers of 15.00000000 on royal, but 10.00000000 were booked"],
    ),
    (
        at_row(6, move_the_meter),
        [
            "royal mega primary should close at 10000.50000000, but the meter has 10000.50000001",
            "royal mega primary changed by 10000.50000001, but 10000.50000000 were booked",
        ],
    ),
    (
        at_row(12, take_too_little_back),
        ["row 12: the void round contributed", "but {'royal': 161233993} were taken back"],
    ),
    (
        at_row(11, overstate_an_award),
        [
            "royal mega primary should close at 10000.49000000, but the meter has 10000.50000000",
        ],
    ),
    (
        at_row(30, forget_a_pending_award),
        [
            "the books owe 20005.98053000, but meters and pending awards hold 10005.98053000",
        ],
    ),
    (at_row(28, overdraw), [f"row 28: {PRIMARY} is below zero"]),
]


@pytest.mark.parametrize(("doctor", "said"), FAULTS)
def test_whatever_differs_is_said(record: Path, doctor: Doctor, said: list[str]) -> None:
    found = "\n".join(differences(record, doctor))
    for each in said:
        assert each in found


def test_a_difference_is_reported_on_its_day_and_not_again(record: Path) -> None:
    def drift(entry: Entry, floor: Floor) -> Entry:
        return move_the_meter(entry, floor) if entry.row.number == 20 else entry

    with told(record) as (entries, floor):
        doctored = (drift(entry, floor) for entry in entries)
        closings = [
            [
                what
                for what in report.differences(USD)
                if "should close at" in what or "changed by" in what
            ]
            for report in reconcile(doctored, floor)
        ]
    assert [len(found) for found in closings] == [0, 2, 0]


def test_faults_of_rows_are_counted_and_not_all_kept(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    rounds = MOST_FAULTS + 5
    with RecordBuilder(path) as to:
        to.open(BONUS)
        for round_ in range(1, rounds + 1):
            to.wager("T3", round_, 1)
    accrued = "Expenses:Progressive:bonus:Contributions"
    with told(path) as (entries, floor):
        (report,) = reconcile((posted(entry, without=accrued) for entry in entries), floor)
    assert len(report.faults) == MOST_FAULTS
    assert "and 5 more faults of single rows" in list(report.differences(USD))


def test_a_statement_says_each_difference(record: Path) -> None:
    with told(record) as (entries, floor):
        doctored = (at_row(6, lose_a_wager)(entry, floor) for entry in entries)
        first = next(reconcile(doctored, floor))
    assert (
        "DIFFERENCE: T1 sent wagers of 15.00000000 on royal, but 10.00000000 were booked"
        in statement(first, USD)
    )


def test_a_meter_that_ignores_its_cap_is_found_out(
    tmp_path: Path,
) -> None:
    terms: Terms = replace(
        live(paytable()), levels=(one_level(cap_minor=1_000 * 100 + 25, reserve_ppm=10_000),)
    )
    path = tmp_path / "record.db"
    with RecordBuilder(path) as to:
        to.open(terms)
        to.wager("T1", 1, 1)

    def uncapped(entry: Entry, floor: Floor) -> Entry:
        if not isinstance(entry.event, Wager):
            return entry
        above_units = units_from_minor(25)
        level = floor.progressives["royal"].level("meter")
        level.primary_units += above_units
        level.reserve_units -= above_units
        return posted(
            entry,
            change={
                "Liabilities:Progressive:royal:meter:Primary": -above_units,
                "Liabilities:Progressive:royal:meter:Reserve": above_units,
            },
        )

    found = differences(path, uncapped)
    assert found[0] == (
        "royal meter primary should close at 1000.25000000, but the meter has 1000.50000000"
    )
