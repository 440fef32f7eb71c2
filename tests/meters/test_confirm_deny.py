"""Rules 7: a floorperson confirms a hit or denies it."""

from __future__ import annotations

from itertools import permutations, product

import pytest

from meters.events import Confirm, Deny, Hit
from meters.outcomes import Code, Confirmed, Denied, Repeated, Seeding, Source
from tests.builders import DOLLAR, UNITS, Pit, in_units, level, live, paytable

PAYS = {
    "royal flush": "100% of meter",
    "straight flush": "50% of meter",
    "four of a kind": "$80 from meter",
    "full house": "50 for 1",
}
NOTHING = Seeding(house_units=0, reserve_units=0)


def pit_at(
    primary: int,
    reserve: int = 0,
    *,
    reseed: str = "$100",
    increment: str = "0%",
    cap: str = "",
    validate: tuple[str, ...] = (),
) -> Pit:
    """Return a table of six wagering seats whose meter stands at these dollars."""
    printed = paytable(
        levels={"meter": level("$0", increment, reseed=reseed, cap=cap)},
        pays=PAYS,
        validate=validate,
    )
    pit = Pit(live(printed, tables=("T1", "T2"), hold_table=False))
    pit.wager("T1", 1, 1, 2, 3, 4, 5, 6)
    pit.put(in_units(primary), in_units(reserve))
    return pit


def full(pit: Pit, seat: int) -> int:
    return pit.hit("T1", 1, seat, "royal flush").hit


def half(pit: Pit, seat: int) -> int:
    return pit.hit("T1", 1, seat, "straight flush").hit


def seeded(house: int, reserve: int) -> Seeding:
    return Seeding(house_units=in_units(house), reserve_units=in_units(reserve))


def test_7_1_confirm_makes_a_pending_award_paid_and_says_who_confirmed() -> None:
    pit = pit_at(1_000)
    hit = full(pit, 2)
    assert pit.confirm(hit) == Confirmed(
        hit=hit,
        table="T1",
        round=1,
        seat=2,
        progressive="royal",
        amount_minor=1_000 * DOLLAR,
        source=Source.HAND_PAY,
        envy=(),
        by="floor-7",
    )
    assert pit.floor.pending == {}


def test_7_1_confirming_leaves_the_meter_alone() -> None:
    pit = pit_at(1_000, 30)
    hit = full(pit, 1)
    before = pit.balances()
    pit.confirm(hit)
    assert pit.balances() == before


@pytest.mark.parametrize("settle", ["confirm", "deny"])
def test_7_1_what_is_settled_is_answered_from_the_record_from_then_on(settle: str) -> None:
    """The same answer for the same request; already-paid or already-denied for the other."""
    pit = pit_at(1_000)
    hit = full(pit, 1)
    getattr(pit, settle)(hit)
    assert pit.apply(Confirm(hit=hit, by="Fay")) == Repeated(hit=hit)
    assert pit.apply(Deny(hit=hit, by="Fay", reason="misread")) == Repeated(hit=hit)


def test_7_1_what_was_paid_at_once_is_answered_from_the_record_too() -> None:
    pit = pit_at(1_000)
    hit = pit.hit("T1", 1, 1, "full house").hit
    assert pit.apply(Confirm(hit=hit, by="Fay")) == Repeated(hit=hit)


def test_7_2_deny_gives_the_meter_back_what_it_paid() -> None:
    pit = pit_at(1_000)
    hit = half(pit, 3)
    assert pit.deny(hit) == Denied(
        hit=hit,
        table="T1",
        round=1,
        seat=3,
        progressive="royal",
        level="meter",
        taken_minor=500 * DOLLAR,
        house_minor=0,
        envy_minor=0,
        seeding=NOTHING,
        later_hits=(),
        by="floor-7",
        meters={"royal": {"meter": 1_000 * DOLLAR}},
    )
    assert pit.balances() == (in_units(1_000), 0)


def test_7_2_what_the_house_paid_goes_back_to_the_house() -> None:
    pit = pit_at(50, validate=("all",))
    denied = pit.deny(pit.hit("T1", 1, 1, "four of a kind").hit)
    assert (denied.taken_minor, denied.house_minor) == (50 * DOLLAR, 30 * DOLLAR)
    assert pit.balances() == (in_units(50), 0)


def test_7_2_a_line_of_the_house_touches_no_meter_at_its_denial_either() -> None:
    pit = pit_at(1_000, validate=("all",))
    denied = pit.deny(pit.hit("T1", 1, 1, "full house").hit)
    assert (denied.level, denied.taken_minor, denied.house_minor) == (None, 0, 250 * DOLLAR)
    assert (denied.seeding, denied.later_hits) == (NOTHING, ())
    assert pit.balances() == (in_units(1_000), 0)


def test_7_2_a_denied_full_award_gives_its_seeding_back_to_reserve_and_house() -> None:
    pit = pit_at(1_000, 30)
    denied = pit.deny(full(pit, 1))
    assert denied.seeding == seeded(house=70, reserve=30)
    assert pit.balances() == (in_units(1_000), in_units(30))


def test_7_2_what_was_contributed_since_stays_in_the_meter() -> None:
    pit = pit_at(1_000, 30, increment="10%")
    hit = full(pit, 1)
    pit.wager("T2", 1, 1, 2)
    pit.deny(hit)
    assert pit.balances() == (in_units(1_001), in_units(30))


def test_7_2_the_seeding_waits_while_a_later_full_award_stands() -> None:
    pit = pit_at(1_000, 30)
    first, second = full(pit, 1), full(pit, 2)
    assert pit.deny(first).seeding == NOTHING
    assert pit.balances() == (in_units(1_100), 0)
    assert pit.deny(second).seeding == seeded(house=170, reserve=30)
    assert pit.balances() == (in_units(1_000), in_units(30))


def test_7_2_a_paid_award_still_stands() -> None:
    pit = pit_at(1_000, 30)
    first, second = full(pit, 1), full(pit, 2)
    pit.confirm(second)
    assert pit.deny(first).seeding == NOTHING
    assert pit.balances() == (in_units(1_100), 0)


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("fates", list(product(["deny", "confirm"], repeat=3)))
def test_7_2_three_full_awards_denied_and_confirmed_in_any_order(
    order: tuple[int, ...], fates: tuple[str, ...]
) -> None:
    """$1,000, $100 and $100 were won, and each reseed was $100, $30 of the first a reserve's."""
    pit = pit_at(1_000, 30)
    hits = [full(pit, seat) for seat in (1, 2, 3)]
    for index in order:
        getattr(pit, fates[index])(hits[index])

    denied = [index for index in range(3) if fates[index] == "deny"]
    last_standing = max((i for i in range(3) if fates[i] == "confirm"), default=-1)
    unseeded = [index for index in denied if index > last_standing]
    reserve = 30 if 0 in unseeded else 0
    dollars = 100 + sum((1_000, 100, 100)[index] for index in denied) - 100 * len(unseeded)
    assert pit.balances() == (in_units(dollars), in_units(reserve))


def test_7_2_the_newest_seeding_goes_back_first() -> None:
    """The meter has $120: the second one's $100 of the house, then $20 of the first's reserve."""
    pit = pit_at(0, 30)
    first, second, third = full(pit, 1), full(pit, 2), half(pit, 3)
    pit.deny(first)
    pit.put(in_units(20))
    denied = pit.deny(second)
    assert denied.seeding == seeded(house=100, reserve=20)
    assert denied.later_hits == (third,)
    assert pit.balances() == (0, in_units(20))


SHORT = [
    (0, seeded(house=0, reserve=0), 0, 0),
    (10, seeded(house=0, reserve=10), 0, 10),
    (30, seeded(house=0, reserve=30), 0, 30),
    (31, seeded(house=1, reserve=30), 0, 30),
    (100, seeded(house=70, reserve=30), 0, 30),
    (101, seeded(house=70, reserve=30), 1, 30),
]


@pytest.mark.parametrize(("left", "seeding", "primary", "reserve"), SHORT)
def test_7_2_a_meter_that_is_short_gives_what_it_has_to_the_reserve_first(
    left: int, seeding: Seeding, primary: int, reserve: int
) -> None:
    pit = pit_at(0, 30)
    hit = full(pit, 1)
    pit.put(in_units(left))
    assert pit.deny(hit).seeding == seeding
    assert pit.balances() == (in_units(primary), in_units(reserve))


def test_7_2_denying_every_hit_leaves_no_trace_even_where_the_meter_was_short() -> None:
    """A meter of nothing is won, reseeded, and half of that is won: the second one paid it."""
    pit = pit_at(0, 30)
    first = full(pit, 1)
    second = half(pit, 2)
    assert pit.deny(first).seeding == seeded(house=20, reserve=30)
    assert pit.balances() == (0, in_units(30))
    assert pit.deny(second).seeding == seeded(house=50, reserve=0)
    assert pit.balances() == (0, in_units(30))


def test_7_2_what_is_owed_to_the_reserve_comes_back_to_it_first_at_a_later_denial_too() -> None:
    pit = pit_at(0, 60)
    first = full(pit, 1)
    second, third = half(pit, 2), half(pit, 3)
    assert pit.balances() == (in_units(25), 0)
    assert pit.deny(first).seeding == seeded(house=0, reserve=25)
    assert pit.deny(third).seeding == seeded(house=0, reserve=25)
    assert pit.deny(second).seeding == seeded(house=40, reserve=10)
    assert pit.balances() == (0, in_units(60))


def test_7_2_no_more_than_what_is_owed_is_taken_later() -> None:
    pit = pit_at(0, 30)
    first, second = full(pit, 1), half(pit, 2)
    pit.deny(first)
    pit.put(in_units(500), in_units(30))
    assert pit.deny(second).seeding == seeded(house=50, reserve=0)
    assert pit.balances() == (in_units(500), in_units(30))


def test_7_2_what_is_owed_waits_behind_a_newer_full_award() -> None:
    pit = pit_at(0)
    first, second = full(pit, 1), half(pit, 2)
    pit.deny(first)
    third = full(pit, 3)
    assert pit.deny(second).seeding == NOTHING
    assert pit.balances() == (in_units(150), 0)
    assert pit.deny(third).seeding == seeded(house=150, reserve=0)
    assert pit.balances() == (0, 0)


def test_7_2_what_is_owed_is_the_houses_loss_once_nothing_can_be_denied() -> None:
    pit = pit_at(0)
    first, second = full(pit, 1), half(pit, 2)
    assert pit.deny(first).seeding == seeded(house=50, reserve=0)
    pit.confirm(second)
    pit.put(in_units(1_000))
    assert pit.deny(half(pit, 3)).seeding == NOTHING
    assert pit.balances() == (in_units(1_000), 0)


def test_7_2_a_fraction_that_went_into_the_reserve_comes_back_out_of_it() -> None:
    pit = pit_at(1_000, reseed="$100", cap="$100")
    pit.put(in_units(1_000) + 500_000)
    hit = full(pit, 1)
    assert pit.balances() == (in_units(100), 500_000)
    pit.deny(hit)
    assert pit.balances() == (in_units(1_000) + 500_000, 0)


def test_7_2_the_generation_is_never_used_again() -> None:
    pit = pit_at(1_000)
    pit.deny(full(pit, 1))
    assert pit.level().generation == 2
    assert pit.hit("T1", 1, 2, "royal flush").generation == 2
    assert pit.level().generation == 3


def test_7_2_above_its_cap_a_meter_contributes_to_the_reserve_until_it_is_under_it() -> None:
    pit = pit_at(1_000, increment="10%", cap="$1,000")
    hit = half(pit, 1)
    pit.wager("T2", 1, 1, 2)
    assert pit.balances() == (in_units(501), 0)
    pit.deny(hit)
    assert pit.balances() == (in_units(1_001), 0)
    pit.wager("T2", 2, 1)
    assert pit.balances() == (in_units(1_001), 50 * UNITS)
    half(pit, 2)
    pit.wager("T2", 3, 1)
    assert pit.balances() == (in_units(501), 50 * UNITS)


def test_7_2_later_hits_of_the_level_that_stand_are_listed() -> None:
    pit = pit_at(1_000)
    hits = [half(pit, seat) for seat in (1, 2, 3, 4, 5)]
    pit.confirm(hits[3])
    pit.deny(hits[2])
    assert pit.deny(hits[1]).later_hits == (hits[3], hits[4])
    assert pit.deny(hits[0]).later_hits == (hits[3], hits[4])
    assert pit.deny(hits[4]).later_hits == ()


def test_7_2_hits_before_the_denied_one_are_not_later_hits() -> None:
    pit = pit_at(1_000)
    half(pit, 1)
    assert pit.deny(half(pit, 2)).later_hits == ()


def test_7_2_an_award_that_was_paid_at_once_from_the_level_is_a_later_hit() -> None:
    pit = pit_at(1_000)
    denied = half(pit, 1)
    paid = pit.hit("T1", 1, 2, "four of a kind").hit
    pit.hit("T1", 1, 3, "full house")
    assert pit.deny(denied).later_hits == (paid,)


def test_7_2_an_award_of_another_level_is_no_later_hit() -> None:
    levels = {"mega": level("$1,000", "0%"), "major": level("$100", "0%")}
    pays = {"royal flush": "100% of mega", "straight flush": "100% of major"}
    pit = Pit(live(paytable(levels=levels, pays=pays)))
    pit.wager("T1", 1, 1, 2, 3)
    royal = pit.hit("T1", 1, 1, "royal flush").hit
    straight = pit.hit("T1", 1, 2, "straight flush").hit
    second = pit.hit("T1", 1, 3, "royal flush").hit
    assert pit.deny(straight).later_hits == ()
    assert pit.deny(royal).later_hits == (second,)
    assert pit.balances("major") == (in_units(100), 0)


def test_7_2_a_later_hit_at_another_table_is_one() -> None:
    pit = pit_at(1_000)
    pit.wager("T2", 1, 1)
    first = half(pit, 1)
    second = pit.hit("T2", 1, 1, "straight flush").hit
    assert pit.deny(first).later_hits == (second,)


@pytest.mark.parametrize("settle", ["confirm", "deny"])
def test_7_2_only_hits_that_a_denial_can_reach_are_kept(settle: str) -> None:
    """The state does not grow with the hits of years."""
    pit = pit_at(1_000)
    kept = half(pit, 1)
    for seat in (2, 3):
        pit.confirm(half(pit, seat))
    assert len(pit.level().standing_hits) == 3
    getattr(pit, settle)(kept)
    assert pit.level().standing_hits == []
    pit.hit("T1", 1, 4, "four of a kind")
    assert pit.level().standing_hits == []


def test_7_3_after_a_denial_the_same_seat_may_hit_again_in_that_round() -> None:
    pit = pit_at(1_000)
    pit.deny(half(pit, 1))
    assert pit.hit("T1", 1, 1, "full house").hit == 2


def test_7_3_and_then_not_once_more() -> None:
    pit = pit_at(1_000)
    pit.deny(half(pit, 1))
    pit.hit("T1", 1, 1, "full house")
    again = Hit(table="T1", seq=0, round=1, seat=1, hand="full house")
    assert pit.refused(again).code is Code.DUPLICATE_HIT


def test_7_2_a_hit_of_an_older_round_is_denied_without_touching_the_new_one() -> None:
    pit = pit_at(1_000)
    first = half(pit, 1)
    pit.wager("T1", 2, 1)
    second = half_of_round_two(pit)
    pit.deny(first)
    again = Hit(table="T1", seq=0, round=2, seat=1, hand="straight flush")
    assert f"hit {second}" in pit.refused(again).message


def half_of_round_two(pit: Pit) -> int:
    return pit.hit("T1", 2, 1, "straight flush").hit


@pytest.mark.parametrize("event", [Confirm(hit=2, by="Fay"), Deny(hit=2, by="Fay", reason="no")])
def test_7_a_hit_that_there_is_not_is_refused(event: Confirm | Deny) -> None:
    pit = pit_at(1_000)
    half(pit, 1)
    assert pit.refused(event).code is Code.UNKNOWN_HIT
