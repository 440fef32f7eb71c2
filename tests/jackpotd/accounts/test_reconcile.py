"""The identity of rules 11: what tables sent, what was booked, and what the meters hold."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from jackpotd.accounts.day import MOST_FAULTS, DayReport, Movement
from jackpotd.accounts.entries import Entry
from jackpotd.accounts.reconcile import reconcile, report_of
from jackpotd.accounts.statement import statement
from meters.events import Confirm, Deny, Hit, Void, Wager
from meters.floor import Floor
from meters.money import CURRENCIES, units_from_minor
from meters.outcomes import Awarded, Denied, Voided
from meters.terms import Terms
from tests.builders import level, live, one_level, paytable
from tests.jackpotd.accounts.stories import BONUS, ROYAL, eventful, told
from tests.record_builder import RecordBuilder

USD = CURRENCIES["USD"]
MARCH_7, MARCH_8, MARCH_9, MARCH_10 = (date(2026, 3, day) for day in (7, 8, 9, 10))
Doctor = Callable[[Entry, Floor], Entry]


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record of three gaming days over a change of the clocks."""
    path = tmp_path_factory.mktemp("reconcile") / "riverside.db"
    eventful(path)
    return path


def reports(path: Path) -> list[DayReport]:
    with told(path) as (entries, floor):
        return list(reconcile(entries, floor))


def differences(path: Path, doctor: Doctor) -> list[str]:
    """Reconcile a record whose entries are changed on their way."""
    with told(path) as (entries, floor):
        doctored = (doctor(entry, floor) for entry in entries)
        return [what for each in reconcile(doctored, floor) for what in each.differences(USD)]


def movement(report: DayReport, progressive: str, level: str, balance: str) -> Movement:
    (found,) = (
        each for each in report.levels if (each.progressive, each.level) == (progressive, level)
    )
    return found.primary if balance == "primary" else found.reserve


def units(dollars: str) -> int:
    """Return dollars, with up to eight decimals, in units."""
    whole, _, fraction = dollars.partition(".")
    return int(whole + fraction.ljust(8, "0"))


def test_every_day_with_entries_is_reported_in_order(record: Path) -> None:
    assert [report.day for report in reports(record)] == [MARCH_7, MARCH_8, MARCH_10]


def test_all_agrees(record: Path) -> None:
    assert [list(report.differences(USD)) for report in reports(record)] == [[], [], []]


# What opened and moved, in dollars, worked out by hand: opening, contributions, seeding, reserve
# moved in, awards less denied ones, void rounds, closing.
IDENTITIES = [
    # Wagers of $15, $10 and $5 at 10%; the void round's dollar was gone with the full award.
    (0, "royal", "mega", "primary", "0 3.0 19999.25 0.75 -10002.5 0 10000.5"),
    (0, "royal", "mega", "reserve", "0 0.9 0 -0.75 0 0 0.15"),
    # The cap of $250.20 leaves room for 20 cents of the $30 at 3.1234%. A full award denied, a
    # fixed line paid from the level as far as it went.
    (0, "royal", "minor", "primary", "0 0.2 250 0 -250.2 0 0"),
    (0, "royal", "minor", "reserve", "0 0.73702 0 0 0 -0.31234 0.42468"),
    (0, "bonus", "meter", "primary", "0 0.82 1000 0 0 -0.41 1000.41"),
    (0, "bonus", "meter", "reserve", "0 0.32 0 0 0 -0.16 0.16"),
    (1, "royal", "mega", "primary", "10000.5 1.0 0 0 -1000.15 0 9001.35"),
    (1, "royal", "mega", "reserve", "0.15 0.3 0 0 0 0 0.45"),
    # The reserve alone starts the next meter, and the second full award takes it. The first is
    # denied, but not its seeding, as the second stands.
    (1, "bonus", "meter", "primary", "1000.41 0.615 0 0.4 -0.4 0 1001.025"),
    (1, "bonus", "meter", "reserve", "0.16 0.24 0 -0.4 0 0 0"),
    (2, "bonus", "meter", "primary", "1001.025 0.205 0 0 0 -0.205 1001.025"),
]


@pytest.mark.parametrize(("index", "progressive", "name", "balance", "amounts"), IDENTITIES)
def test_opening_and_what_moved_give_the_closing(
    record: Path, index: int, progressive: str, name: str, balance: str, amounts: str
) -> None:
    found = movement(reports(record)[index], progressive, name, balance)
    *moved, difference_units = (amount for _, amount in found.lines())
    assert moved == [units(amount) for amount in amounts.split()]
    assert difference_units == 0


def test_each_table_is_held_to_what_it_sent_less_its_void_rounds(record: Path) -> None:
    (first, *_) = reports(record)
    sent = {
        (table.table, table.progressive): (table.wagers_minor, table.contributions_units)
        for table in first.tables
    }
    assert sent == {
        ("T1", "bonus"): (200, units("0.57")),
        ("T1", "royal"): (1_500, units("2.41851")),
        ("T2", "royal"): (500, units("0.80617")),
        ("T3", "bonus"): (0, 0),
    }
    for table in first.tables:
        for _, sent_units, booked_units in table.variances():
            assert sent_units == booked_units


def test_the_liability_is_the_meters_and_the_pending_awards_with_their_envy(record: Path) -> None:
    last = reports(record)[-1]
    assert last.pending_units == units("10000.0")
    assert last.liability_units == last.meters_units + last.pending_units


def test_a_round_voided_on_the_next_day_counts_against_that_day(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    with RecordBuilder(path, at="2026-03-08T05:59:59.990-04:00") as to:
        to.open(BONUS)
        to.wager("T3", 1, 1, 2)
        to.at("2026-03-08T06:00:00-04:00")
        to.void("T3", 1)
    first, second = reports(path)
    assert [table.wagers_minor for table in (*first.tables, *second.tables)] == [200, -200]
    assert movement(second, "bonus", "meter", "primary").voids_units == -units("0.41")
    assert [*first.differences(USD), *second.differences(USD)] == []


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


@pytest.mark.parametrize("day", [MARCH_7, MARCH_8, MARCH_10])
def test_one_day_is_reported_as_among_all(record: Path, day: date) -> None:
    with told(record) as (entries, floor):
        found = report_of(day, reconcile(entries, floor))
    assert found == next(report for report in reports(record) if report.day == day)


@pytest.mark.parametrize(("day", "before"), [(MARCH_9, 1), (date(2026, 4, 1), 2)])
def test_on_a_day_without_entries_the_meters_stand(record: Path, day: date, before: int) -> None:
    with told(record) as (entries, floor):
        found = report_of(day, reconcile(entries, floor))
    earlier = reports(record)[before]
    assert found is not None
    assert (found.day, found.tables) == (day, ())
    assert found.liability_units == earlier.liability_units
    for stands, stood in zip(found.levels, earlier.levels, strict=True):
        assert stands.primary.opening_units == stands.primary.closing_units
        assert stands.primary.opening_units == stood.primary.closing_units
    assert list(found.differences(USD)) == []


def test_before_the_record_begins_there_is_no_report(record: Path) -> None:
    with told(record) as (entries, floor):
        assert report_of(date(2026, 3, 6), reconcile(entries, floor)) is None


def test_the_report_of_one_day_reads_no_further(record: Path) -> None:
    with told(record) as (entries, floor):
        report_of(MARCH_7, reconcile(entries, floor))
        assert floor.number == 19


STATEMENT = """\
Gaming day 2026-03-08

bonus meter                                    primary               reserve
  opening                                1000.00000000            0.00000000
  contributions (wagers x rate)             0.41000000            0.16000000
  seeding by the house                      0.00000000            0.00000000
  reserve moved in                          0.16000000           -0.16000000
  awards, less denied ones              -1000.41000000            0.00000000
  void rounds                               0.00000000            0.00000000
  closing                                   0.16000000            0.00000000
  difference                                0.00000000            0.00000000

table  progressive                       sent      booked    variance
T3     bonus        wagers         2.00000000  2.00000000  0.00000000
T3     bonus        contributions  0.57000000  0.57000000  0.00000000

jackpot liability                        1000.57000000
  meters                                    0.16000000
  pending awards                         1000.41000000
"""


def test_a_statement_reads_well(tmp_path: Path) -> None:
    path = tmp_path / "record.db"
    with RecordBuilder(path, at="2026-03-08T05:00:00-04:00") as to:
        to.open(BONUS)
        to.at("2026-03-08T06:00:00-04:00")
        to.wager("T3", 1, 1, 2)
        to.hit("T3", 1, 1, "four aces")
    assert "\n".join(statement(reports(path)[-1], USD)) + "\n" == STATEMENT


def test_a_statement_says_each_difference(record: Path) -> None:
    with told(record) as (entries, floor):
        doctored = (at_row(6, lose_a_wager)(entry, floor) for entry in entries)
        first = next(reconcile(doctored, floor))
    assert (
        "DIFFERENCE: T1 sent wagers of 15.00000000 on royal, but 10.00000000 were booked"
        in statement(first, USD)
    )


CAPPED = live(
    paytable(
        levels={
            "mega": level("$20", "21%", cap="$21.00", reserve="1.5%"),
            "minor": level("$2", "33.3333%", reseed="$0", reserve="7%"),
        },
        pays={
            "royal flush": "100% of mega",
            "straight flush": "100% of minor",
            "four of a kind": "37.5% of mega",
            "full house": "$3 from minor",
            "flush": "2 to 1",
        },
        envy={"royal flush": "$2 for 1", "four of a kind": "$1 for 1"},
    ),
    name="capped",
    tables=("T1", "T2", "T4"),
    hold_table=False,
)


def chance(to: RecordBuilder, dice: random.Random) -> None:
    """Let anything happen that a table or the floor may send; refusals are part of it."""
    table = dice.choice(list(to.floor.tables))
    state = to.floor.tables[table]
    progressive = dice.choice(state.progressives)
    seq = state.next_seq
    terms = to.floor.progressives[progressive].terms
    what = dice.random()
    if what < 0.4:
        seats = tuple(dice.sample(range(1, 7), dice.randint(1, 6)))
        round_ = state.round + dice.randint(0, 1)
        to.attempt(Wager(table=table, seq=seq, round=round_, seats=seats, progressive=progressive))
    elif what < 0.75:
        to.attempt(
            Hit(
                table=table,
                seq=seq,
                round=state.round,
                seat=dice.randint(1, 6),
                hand=dice.choice(list(terms.pays)),
                progressive=progressive,
                folded=dice.random() < 0.1,
            )
        )
    elif what < 0.85:
        to.attempt(Void(table=table, seq=seq, round=state.round, reason="misdeal"))
    elif to.floor.pending:
        hit = dice.choice(list(to.floor.pending))
        event = dice.choice((Confirm(hit=hit, by="a"), Deny(hit=hit, by="b", reason="c")))
        to.attempt(event)


@pytest.mark.parametrize("seed", range(12))
def test_whatever_is_played_the_accounts_agree(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    path = tmp_path / "record.db"
    with RecordBuilder(path, at="2026-03-07T06:00:00-05:00") as to:
        to.open(CAPPED, BONUS, ROYAL)
        for hour in range(72):
            to.at(f"2026-03-{7 + hour // 24:02}T{hour % 24:02}:00:00-05:00")
            for _ in range(20):
                chance(to, dice)
    found = reports(path)
    assert [report.day for report in found] == [MARCH_7, MARCH_8, MARCH_9]
    assert [what for report in found for what in report.differences(USD)] == []
    with told(path) as (entries, _):
        kinds = {type(entry.answer) for entry in entries}
    assert {Awarded, Denied, Voided} <= kinds


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
