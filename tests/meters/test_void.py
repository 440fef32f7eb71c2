"""Rules 8: a misdeal returns the wagers (§ 653a.13, § 687a.13)."""

from __future__ import annotations

import pytest

from meters.events import Hit, Void, Wager
from meters.outcomes import Code, Returned, Voided
from tests.builders import DOLLAR, UNITS, Pit, in_units, level, live, paytable

PAYS = {
    "royal flush": "100% of meter",
    "straight flush": "50% of meter",
    "flush": "40 for 1",
}


def pit_at(
    primary: int, reserve: int = 0, *, cap: str = "", tables: tuple[str, ...] = ("T1", "T2")
) -> Pit:
    """Return tables where $5 brings 50 cents to the meter and 25 to its reserve."""
    printed = level("$0", "10%", reseed="$100", reserve="5%", cap=cap)
    pit = Pit(live(paytable(levels={"meter": printed}, pays=PAYS), tables=tables))
    pit.put(in_units(primary), in_units(reserve))
    return pit


def returned(primary: int, reserve: int, lost: int) -> Returned:
    """Return what came back to the house out of the level, in cents."""
    return Returned(
        progressive="royal",
        level="meter",
        primary_units=primary * UNITS,
        reserve_units=reserve * UNITS,
        lost_units=lost * UNITS,
    )


def test_8_the_wagers_are_returned_and_the_contributions_come_back_out() -> None:
    pit = pit_at(1_000, 10)
    pit.wager("T1", 1, 1, 2)
    assert pit.void("T1", 1) == Voided(
        amount_minor=10 * DOLLAR,
        wagers_minor={"royal": 10 * DOLLAR},
        returned=(returned(100, 50, 0),),
        meters={"royal": {"meter": 1_000 * DOLLAR}},
    )
    assert pit.balances() == (in_units(1_000), in_units(10))


def test_8_they_come_out_where_they_went_in_at_the_cap_too() -> None:
    pit = pit_at(1_000, cap="$1,000.20")
    pit.wager("T1", 1, 1)
    assert pit.balances() == (in_units(1_000, cents=20), 55 * UNITS)
    assert pit.void("T1", 1).returned == (returned(20, 55, 0),)
    assert pit.balances() == (in_units(1_000), 0)


def test_8_of_every_progressive_that_was_locked() -> None:
    four = live(paytable(), name="four-card", wager_minor=1 * DOLLAR)
    five = live(paytable(), name="five-card", wager_minor=5 * DOLLAR)
    pit = Pit(four, five)
    pit.wager("T1", 1, 1, 2, progressive="four-card")
    pit.wager("T1", 1, 1, progressive="five-card")
    voided = pit.void("T1", 1)
    assert voided.wagers_minor == {"four-card": 2 * DOLLAR, "five-card": 5 * DOLLAR}
    assert voided.amount_minor == 7 * DOLLAR
    for name in ("four-card", "five-card"):
        assert voided.meters[name] == {"meter": 10_000 * DOLLAR}


def test_8_what_others_contributed_stays() -> None:
    pit = pit_at(1_000)
    pit.wager("T1", 1, 1)
    pit.wager("T2", 1, 1)
    pit.void("T1", 1)
    assert pit.balances() == (in_units(1_000, cents=50), 25 * UNITS)


def test_8_after_a_full_award_that_stands_the_house_bears_it() -> None:
    """The contribution was won, and its reserve share seeds the next meter."""
    pit = pit_at(1_000)
    pit.wager("T2", 1, 1)
    pit.wager("T1", 1, 1)
    pit.hit("T2", 1, 1, "royal flush")
    before = pit.balances()
    assert pit.void("T1", 1).returned == (returned(0, 0, 75),)
    assert pit.balances() == before


def test_8_a_full_award_that_was_confirmed_still_stands() -> None:
    pit = pit_at(1_000)
    pit.wager("T1", 1, 1)
    pit.wager("T2", 1, 1)
    pit.confirm(pit.hit("T2", 1, 1, "royal flush").hit)
    assert pit.void("T1", 1).returned == (returned(0, 0, 75),)


def test_8_a_full_award_that_was_denied_does_not() -> None:
    pit = pit_at(1_000)
    pit.wager("T1", 1, 1)
    pit.wager("T2", 1, 1)
    pit.deny(pit.hit("T2", 1, 1, "royal flush").hit)
    assert pit.void("T1", 1).returned == (returned(50, 25, 0),)
    assert pit.balances() == (in_units(1_000, cents=50), 25 * UNITS)


def test_8_not_even_while_its_seeding_is_still_owed() -> None:
    """50 cents were won, and half of the reseed; the denial takes back the other half."""
    pit = pit_at(0)
    pit.wager("T1", 1, 1)
    pit.wager("T2", 1, 1, 2)
    first = pit.hit("T2", 1, 1, "royal flush").hit
    pit.hit("T2", 1, 2, "straight flush")
    pit.deny(first)
    assert pit.balances() == (0, 75 * UNITS)
    pit.put(10 * UNITS, 75 * UNITS)
    assert pit.void("T1", 1).returned == (returned(10, 25, 40),)


@pytest.mark.parametrize("settle", ["", "confirm", "deny"])
def test_8_a_full_award_before_the_lock_does_not_matter(settle: str) -> None:
    pit = pit_at(1_000)
    pit.wager("T2", 1, 1)
    hit = pit.hit("T2", 1, 1, "royal flush").hit
    pit.wager("T1", 1, 1)
    if settle:
        getattr(pit, settle)(hit)
    assert pit.void("T1", 1).returned == (returned(50, 25, 0),)


def test_8_nor_does_one_that_was_denied_behind_one_that_stands_before_the_lock() -> None:
    pit = pit_at(1_000)
    pit.wager("T2", 1, 1, 2)
    first = pit.hit("T2", 1, 1, "royal flush").hit
    pit.hit("T2", 1, 2, "royal flush")
    pit.deny(first)
    pit.wager("T1", 1, 1)
    assert pit.void("T1", 1).returned == (returned(50, 25, 0),)


def test_8_nor_one_of_another_level() -> None:
    levels = {"mega": level("$1,000"), "major": level("$100")}
    pays = {"royal flush": "100% of mega", "straight flush": "100% of major"}
    pit = Pit(live(paytable(levels=levels, pays=pays), tables=("T1", "T2")))
    pit.wager("T1", 1, 1)
    pit.wager("T2", 1, 1)
    pit.hit("T2", 1, 1, "straight flush")
    mega, major = pit.void("T1", 1).returned
    assert (mega.primary_units, mega.lost_units) == (50 * UNITS, 0)
    assert (major.primary_units, major.lost_units) == (0, 50 * UNITS)


@pytest.mark.parametrize(
    ("primary", "reserve", "came_back"),
    [
        (50, 25, returned(50, 25, 0)),
        (49, 25, returned(49, 25, 1)),
        (50, 24, returned(50, 24, 1)),
        (0, 0, returned(0, 0, 75)),
        (0, 1_000, returned(0, 25, 50)),
        (1_000, 0, returned(50, 0, 25)),
    ],
)
def test_8_where_a_balance_is_too_small_it_gives_what_it_has(
    primary: int, reserve: int, came_back: Returned
) -> None:
    """No meter goes below zero, and one balance does not pay for the other."""
    pit = pit_at(0)
    pit.wager("T1", 1, 1)
    pit.put(primary * UNITS, reserve * UNITS)
    assert pit.void("T1", 1).returned == (came_back,)
    left = (primary * UNITS - came_back.primary_units, reserve * UNITS - came_back.reserve_units)
    assert pit.balances() == left


def test_8_percentages_that_were_won_since_can_leave_too_little() -> None:
    """$1.50 in the meter, of which 75 and then 37 cents were won."""
    pit = pit_at(0)
    pit.wager("T1", 1, 1)
    pit.wager("T2", 1, 1, 2)
    for seat in (1, 2):
        pit.hit("T2", 1, seat, "straight flush")
    assert pit.void("T1", 1).returned == (returned(38, 25, 12),)


def test_8_a_round_with_a_hit_that_stands_cannot_be_voided() -> None:
    pit = pit_at(1_000)
    pit.wager("T1", 1, 1, 2)
    pit.hit("T1", 1, 1, "flush")
    pit.hit("T1", 1, 2, "flush")
    refused = pit.refused(Void(table="T1", seq=0, round=1, reason="misdeal"))
    assert refused.code is Code.ROUND_SETTLED
    assert "has hit 1, which stands" in refused.message


def test_8_nor_with_a_hit_on_any_of_its_progressives() -> None:
    pit = Pit(live(paytable(), name="four-card"), live(paytable(), name="five-card"))
    pit.wager("T1", 1, 1, progressive="four-card")
    pit.wager("T1", 1, 1, progressive="five-card")
    pit.hit("T1", 1, 1, "flush", progressive="five-card")
    void = Void(table="T1", seq=0, round=1, reason="misdeal")
    assert pit.refused(void).code is Code.ROUND_SETTLED


def test_8_a_round_whose_only_hit_was_denied_can() -> None:
    pit = pit_at(1_000)
    pit.wager("T1", 1, 1)
    pit.deny(pit.hit("T1", 1, 1, "royal flush").hit)
    assert pit.void("T1", 1).returned == (returned(50, 25, 0),)


def test_8_the_round_is_then_closed() -> None:
    pit = pit_at(1_000)
    pit.wager("T1", 1, 1)
    pit.void("T1", 1)
    for event in (
        Wager(table="T1", seq=0, round=1, seats=(1,)),
        Hit(table="T1", seq=0, round=1, seat=1, hand="flush"),
        Void(table="T1", seq=0, round=1, reason="misdeal"),
    ):
        assert pit.refused(event).code is Code.ROUND_CLOSED


def test_8_the_next_round_is_played_as_ever() -> None:
    pit = pit_at(1_000)
    pit.wager("T1", 1, 1)
    pit.void("T1", 1)
    pit.wager("T1", 2, 1)
    assert pit.hit("T1", 2, 1, "flush").amount_minor == 200 * DOLLAR
    assert pit.balances() == (in_units(1_000, cents=50), 25 * UNITS)


def test_8_a_later_round_is_not_there_to_be_voided() -> None:
    pit = pit_at(1_000)
    void = Void(table="T1", seq=0, round=1, reason="misdeal")
    assert pit.refused(void).code is Code.ROUND_CLOSED
    pit.wager("T1", 1, 1)
    assert pit.refused(Void(table="T1", seq=0, round=2, reason="x")).code is Code.ROUND_CLOSED


def test_8_a_table_whose_older_award_waits_may_void_its_round() -> None:
    printed = paytable(levels={"meter": level("$0", "10%")}, pays=PAYS)
    pit = Pit(live(printed, hold_table=False))
    pit.wager("T1", 1, 1)
    pit.hit("T1", 1, 1, "straight flush")
    pit.wager("T1", 2, 1)
    assert pit.void("T1", 2).amount_minor == 5 * DOLLAR
