"""The identity of rules 11: what tables sent, what was booked, and what the meters hold."""

from __future__ import annotations

import random
from datetime import date
from pathlib import Path

import pytest

from jackpotd.accounts.day import DayReport, Movement
from jackpotd.accounts.reconcile import reconcile, report_of
from jackpotd.accounts.statement import statement
from meters.events import Confirm, Deny, Hit, Void, Wager
from meters.money import CURRENCIES
from meters.outcomes import Awarded, Denied, Voided
from tests.builders import level, live, paytable
from tests.jackpotd.accounts.stories import BONUS, ROYAL, told, units
from tests.record_builder import RecordBuilder

USD = CURRENCIES["USD"]
MARCH_7, MARCH_8, MARCH_9, MARCH_10 = (date(2026, 3, day) for day in (7, 8, 9, 10))


def reports(path: Path) -> list[DayReport]:
    with told(path) as (entries, floor):
        return list(reconcile(entries, floor))


def movement(report: DayReport, progressive: str, level: str, balance: str) -> Movement:
    (found,) = (
        each for each in report.levels if (each.progressive, each.level) == (progressive, level)
    )
    return found.primary if balance == "primary" else found.reserve


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
