"""Rules 4: a percent of the meter at the player's turn, and the lines of fixed amounts."""

from __future__ import annotations

import pytest

from meters.outcomes import Awarded, Source, Status
from meters.paytable import HandPay, PrintedLevel
from tests.builders import DOLLAR, UNITS, Pit, in_units, level, live, paytable

HAND_PAY, TABLE = Source.HAND_PAY, Source.TABLE
PENDING, PAID = Status.PENDING, Status.PAID


def at_a_turn(
    line: str,
    *,
    meter_minor: int = 10_000 * DOLLAR,
    fraction_units: int = 0,
    hand_pay: HandPay = HandPay.PERCENTAGE,
    validate: tuple[str, ...] = (),
    property_validates: tuple[str, ...] = (),
    envy: dict[str, str] | None = None,
    levels: dict[str, PrintedLevel] | None = None,
) -> tuple[Pit, Awarded]:
    """Return what a flush with this line is awarded while the meter stands at this amount."""
    printed = paytable(
        levels=levels or {"meter": level("$10,000", "0%")},
        pays={"flush": line, "straight": "4 for 1"},
        hand_pay=hand_pay,
        validate=validate,
        envy=envy,
    )
    pit = Pit(live(printed, validate=property_validates))
    pit.wager("T1", 1, 1)
    pit.put(meter_minor * UNITS + fraction_units)
    return pit, pit.hit("T1", 1, 1, "flush")


def test_4_1_a_hit_is_paid_from_the_meter_as_it_stands_at_the_players_turn() -> None:
    """Whatever it showed at the wager or the deal (§ 561.13d(h), § 639a.12(d)(5))."""
    pit = Pit(live(paytable(levels={"meter": level("$1,000", "10%")}), tables=("T1", "T2")))
    pit.wager("T1", 1, 1)
    assert pit.level().shown_minor == 1_000_50
    pit.wager("T2", 1, 1, 2)
    award = pit.hit("T1", 1, 1, "royal flush")
    assert (award.meter_minor, award.amount_minor) == (1_001_50, 1_001_50)


def test_4_1_hits_are_taken_in_the_order_in_which_they_arrive() -> None:
    pit = Pit(live(paytable(levels={"meter": level("$1,000", "0%")})))
    pit.wager("T1", 1, 1, 2, 3)
    amounts = [pit.hit("T1", 1, seat, "straight flush").amount_minor for seat in (3, 1, 2)]
    assert amounts == [100_00, 90_00, 81_00]


def test_4_3_the_second_of_two_full_hits_takes_the_reseeded_meter() -> None:
    pit = Pit(live(paytable(levels={"meter": level("$1,000", "0%", reseed="$50")})))
    pit.wager("T1", 1, 1, 2)
    first = pit.hit("T1", 1, 2, "royal flush")
    second = pit.hit("T1", 1, 1, "royal flush")
    assert (first.amount_minor, first.generation) == (1_000 * DOLLAR, 1)
    assert (second.amount_minor, second.generation) == (50 * DOLLAR, 2)
    assert pit.level().generation == 3


def test_4_2_hits_are_numbered_in_the_property() -> None:
    other = live(paytable(), name="imperial", tables=("T2",))
    pit = Pit(live(paytable()), other)
    pit.wager("T1", 1, 1)
    pit.wager("T2", 1, 1)
    hits = [pit.hit("T1", 1, 1, "flush").hit, pit.hit("T2", 1, 1, "royal flush").hit]
    assert hits == [1, 2]


LINES = [
    ("10% of meter", 1_000 * DOLLAR, 1_000 * DOLLAR),
    ("2.5% of meter", 250 * DOLLAR, 250 * DOLLAR),
    ("50 for 1", 250 * DOLLAR, 0),
    ("9 to 1", 50 * DOLLAR, 0),
    ("$500", 500 * DOLLAR, 0),
    ("50 for 1 from meter", 250 * DOLLAR, 250 * DOLLAR),
    ("9 to 1 from meter", 50 * DOLLAR, 50 * DOLLAR),
    ("$500 from meter", 500 * DOLLAR, 500 * DOLLAR),
    ("$10,000 from meter", 10_000 * DOLLAR, 10_000 * DOLLAR),
    ("$10,000.01 from meter", 10_000_01, 10_000 * DOLLAR),
    ("$25,000 from meter", 25_000 * DOLLAR, 10_000 * DOLLAR),
]


@pytest.mark.parametrize(("line", "amount_minor", "taken_minor"), LINES)
def test_4_2_and_4_4_what_a_line_pays_and_what_the_meter_pays_of_it(
    line: str, amount_minor: int, taken_minor: int
) -> None:
    pit, award = at_a_turn(line)
    assert (award.line, award.amount_minor) == (line, amount_minor)
    assert award.taken_minor == taken_minor
    assert pit.balances() == (in_units(10_000) - taken_minor * UNITS, 0)


@pytest.mark.parametrize(
    ("line", "meter_minor", "fraction_units", "amount_minor"),
    [
        ("10% of meter", 1_009, 999_999, 100),
        ("10% of meter", 1_010, 0, 101),
        ("10% of meter", 9, 999_999, 0),
        ("33.3333% of meter", 3, 0, 0),
        ("33.3333% of meter", 3, 4, 1),
        ("0.0001% of meter", 999_999, 999_999, 0),
        ("0.0001% of meter", 1_000_000, 0, 1),
    ],
)
def test_4_3_a_percentage_is_paid_in_whole_minor_units_rounded_down(
    line: str, meter_minor: int, fraction_units: int, amount_minor: int
) -> None:
    """It is the share of the whole meter, with the fraction that isn't shown."""
    pit, award = at_a_turn(line, meter_minor=meter_minor, fraction_units=fraction_units)
    assert (award.amount_minor, award.taken_minor) == (amount_minor, amount_minor)
    assert pit.balances() == ((meter_minor - amount_minor) * UNITS + fraction_units, 0)


@pytest.mark.parametrize("line", ["10% of meter", "99.9999% of meter", "$10,000 from meter"])
def test_4_3_less_than_the_whole_reseeds_nothing_even_under_the_seed(line: str) -> None:
    pit, award = at_a_turn(line)
    assert award.seeding is None
    assert pit.level().generation == 1
    assert pit.level().shown_minor < 10_000 * DOLLAR


@pytest.mark.parametrize("line", ["$1 from meter", "1 to 1 from meter"])
def test_4_4_from_an_empty_meter_the_house_pays_it_all(line: str) -> None:
    pit, award = at_a_turn(line, meter_minor=0, fraction_units=999_999)
    assert (award.taken_minor, award.meter_minor) == (0, 0)
    assert pit.balances() == (999_999, 0)


@pytest.mark.parametrize(
    ("line", "level", "meter_minor", "generation"),
    [
        ("10% of meter", "meter", 10_000 * DOLLAR, 1),
        ("$5 from meter", "meter", 10_000 * DOLLAR, 1),
        ("50 for 1", None, None, None),
    ],
)
def test_the_meter_is_told_where_the_line_has_a_level(
    line: str, level: str | None, meter_minor: int | None, generation: int | None
) -> None:
    _, award = at_a_turn(line)
    assert (award.level, award.meter_minor, award.generation) == (level, meter_minor, generation)


def test_the_answer_shows_every_level_after_the_hit() -> None:
    levels = {"meter": level("$10,000", "0%"), "minor": level("$250", "0%")}
    _, award = at_a_turn("10% of meter", levels=levels)
    assert award.meters == {"royal": {"meter": 9_000 * DOLLAR, "minor": 250 * DOLLAR}}


@pytest.mark.parametrize(
    ("line", "validate", "property_validates", "envy", "status"),
    [
        ("100% of meter", (), (), {}, PENDING),
        ("1% of meter", (), (), {}, PENDING),
        ("50 for 1", (), (), {}, PAID),
        ("9 to 1", (), (), {}, PAID),
        ("$500", (), (), {}, PAID),
        ("$500 from meter", (), (), {}, PAID),
        ("50 for 1", (), (), {"flush": "$1 for 1"}, PENDING),
        ("50 for 1", (), (), {"straight": "$1 for 1"}, PAID),
        ("50 for 1", ("all",), (), {}, PENDING),
        ("50 for 1", (), ("all",), {}, PENDING),
        ("50 for 1", ("flush",), (), {}, PENDING),
        ("50 for 1", (), ("straight", "flush"), {}, PENDING),
        ("50 for 1", ("straight",), (), {}, PAID),
    ],
)
def test_4_5_which_awards_wait_for_a_floorperson(
    line: str,
    validate: tuple[str, ...],
    property_validates: tuple[str, ...],
    envy: dict[str, str],
    status: Status,
) -> None:
    pit, award = at_a_turn(
        line, validate=validate, property_validates=property_validates, envy=envy
    )
    assert award.status is status
    assert pit.floor.pending_at("T1") == ([1] if status is PENDING else [])


BY_PERCENTAGE, BY_FULL, BY_TENTH = HandPay.PERCENTAGE, HandPay.FULL, HandPay.TENTH


@pytest.mark.parametrize(
    ("line", "hand_pay", "source", "status"),
    [
        ("100% of meter", BY_PERCENTAGE, HAND_PAY, PENDING),
        ("1% of meter", BY_PERCENTAGE, HAND_PAY, PENDING),
        ("$9,000", BY_PERCENTAGE, TABLE, PAID),
        ("$9,000 from meter", BY_PERCENTAGE, TABLE, PAID),
        ("100% of meter", BY_FULL, HAND_PAY, PENDING),
        ("99.9999% of meter", BY_FULL, TABLE, PENDING),
        ("$10,000 from meter", BY_FULL, TABLE, PAID),
        ("100% of meter", BY_TENTH, HAND_PAY, PENDING),
        ("10% of meter", BY_TENTH, HAND_PAY, PENDING),
        ("9.9999% of meter", BY_TENTH, TABLE, PENDING),
        ("$1,000", BY_TENTH, HAND_PAY, PENDING),
        ("$999.99", BY_TENTH, TABLE, PAID),
        ("$1,000 from meter", BY_TENTH, HAND_PAY, PENDING),
        ("$999.99 from meter", BY_TENTH, TABLE, PAID),
        ("200 for 1", BY_TENTH, HAND_PAY, PENDING),
        ("199 to 1", BY_TENTH, HAND_PAY, PENDING),
        ("198 to 1", BY_TENTH, TABLE, PAID),
    ],
)
def test_4_6_where_an_award_is_paid_from(
    line: str, hand_pay: HandPay, source: Source, status: Status
) -> None:
    """§ 643a.11(g)(3), (g)(4); § 561.13d(e): at exactly a tenth it isn't the table's."""
    _, award = at_a_turn(line, hand_pay=hand_pay)
    assert (award.source, award.status) == (source, status)


def test_4_6_a_tenth_is_of_the_meter_as_it_stood_before_the_award() -> None:
    _, award = at_a_turn("$1 from meter", meter_minor=1_001, hand_pay=BY_TENTH)
    assert award.source is TABLE
    _, award = at_a_turn("$1 from meter", meter_minor=1_000, hand_pay=BY_TENTH)
    assert award.source is HAND_PAY


def test_4_6_a_tenth_is_of_the_meter_that_is_shown() -> None:
    _, award = at_a_turn("$1", meter_minor=1_000, fraction_units=999_999, hand_pay=BY_TENTH)
    assert award.source is HAND_PAY


def test_4_6_a_line_of_another_level_is_measured_by_its_own_and_the_houses_by_the_first() -> None:
    levels = {"meter": level("$10,000", "0%"), "minor": level("$100", "0%")}
    _, award = at_a_turn("$10 from minor", levels=levels, hand_pay=BY_TENTH)
    assert award.source is HAND_PAY
    _, award = at_a_turn("$10", levels=levels, hand_pay=BY_TENTH)
    assert award.source is TABLE


def test_4_6_the_tenth_of_an_empty_meter_is_nothing() -> None:
    _, award = at_a_turn("$1", meter_minor=0, hand_pay=BY_TENTH)
    assert award.source is HAND_PAY


def test_4_2_the_seat_may_hit_on_each_progressive_of_its_table() -> None:
    four = live(paytable(), name="four-card")
    five = live(paytable(), name="five-card")
    pit = Pit(four, five)
    pit.wager("T1", 1, 1, progressive="four-card")
    pit.wager("T1", 1, 1, progressive="five-card")
    pit.hit("T1", 1, 1, "flush", progressive="four-card")
    pit.hit("T1", 1, 1, "flush", progressive="five-card")
