"""Rules 5: the next jackpot, from the reserve first and then from the house."""

from __future__ import annotations

import pytest

from meters.outcomes import Awarded, Seeding
from tests.builders import DOLLAR, UNITS, Pit, in_units, level, live, paytable

HALF = 500_000
"""Units: half a minor unit."""


def full_award(
    *,
    fraction_units: int = 0,
    reserve_units: int = 0,
    reseed: str = "$100",
    cap: str = "",
) -> tuple[Pit, Awarded]:
    """Return a full award of a meter of $1,000 and a fraction, with this reserve behind it."""
    printed = level("$0", "10%", reseed=reseed, reserve="5%", cap=cap)
    pit = Pit(live(paytable(levels={"meter": printed})))
    pit.wager("T1", 1, 1)
    pit.put(in_units(1_000) + fraction_units, reserve_units)
    return pit, pit.hit("T1", 1, 1, "royal flush")


@pytest.mark.parametrize(
    ("fraction_units", "reserve_units", "house_units", "primary_units"),
    [
        (0, 0, in_units(100), in_units(100)),
        (HALF, 0, in_units(100), in_units(100) + HALF),
        (0, in_units(40), in_units(60), in_units(100)),
        (HALF, in_units(40) + 7, in_units(60) - 7, in_units(100) + HALF),
        (0, in_units(100), 0, in_units(100)),
        (0, in_units(100) - 1, 1, in_units(100)),
        (0, in_units(250), 0, in_units(250)),
        (HALF, in_units(250) + 3, 0, in_units(250) + HALF + 3),
    ],
)
def test_5_the_reserve_pays_first_and_the_house_tops_up(
    fraction_units: int, reserve_units: int, house_units: int, primary_units: int
) -> None:
    """`house = max(0, S - R)`; `primary = f + R + house`; `reserve = 0`."""
    pit, award = full_award(fraction_units=fraction_units, reserve_units=reserve_units)
    assert award.amount_minor == 1_000 * DOLLAR
    assert award.seeding == Seeding(house_units=house_units, reserve_units=reserve_units)
    assert pit.balances() == (primary_units, 0)


def test_5_a_reseed_of_nothing_leaves_it_to_the_reserve_alone() -> None:
    """The Five Card Hand Bonus, § 639a.12(e)(4)."""
    pit, award = full_award(reserve_units=in_units(37), reseed="$0")
    assert award.seeding == Seeding(house_units=0, reserve_units=in_units(37))
    assert pit.balances() == (in_units(37), 0)


def test_5_with_no_reserve_either_the_next_meter_starts_at_the_fraction() -> None:
    pit, award = full_award(fraction_units=HALF, reseed="$0")
    assert award.seeding == Seeding(house_units=0, reserve_units=0)
    assert pit.balances() == (HALF, 0)
    assert award.meters == {"royal": {"meter": 0}}


def test_1_4_the_fraction_is_carried_into_the_next_generation() -> None:
    pit, award = full_award(fraction_units=999_999)
    assert award.taken_minor == 1_000 * DOLLAR
    assert pit.balances()[0] % UNITS == 999_999


@pytest.mark.parametrize(
    ("cap", "fraction_units", "reserve_units", "seeding_units", "primary", "reserve"),
    [
        ("$100", 0, 0, (in_units(100), 0), in_units(100), 0),
        ("$100", HALF, 0, (in_units(100), -HALF), in_units(100), HALF),
        ("$100", HALF, in_units(40), (in_units(60), in_units(40) - HALF), in_units(100), HALF),
        ("$150", 0, in_units(250), (0, in_units(150)), in_units(150), in_units(100)),
        (
            "$150",
            HALF,
            in_units(250),
            (0, in_units(150) - HALF),
            in_units(150),
            in_units(100) + HALF,
        ),
        ("$250", 0, in_units(250), (0, in_units(250)), in_units(250), 0),
    ],
)
def test_5_what_the_cap_has_no_room_for_stays_in_the_reserve(
    cap: str,
    fraction_units: int,
    reserve_units: int,
    seeding_units: tuple[int, int],
    primary: int,
    reserve: int,
) -> None:
    """Where the reseed is the cap, even the fraction goes into the reserve."""
    pit, award = full_award(cap=cap, fraction_units=fraction_units, reserve_units=reserve_units)
    assert award.seeding == Seeding(house_units=seeding_units[0], reserve_units=seeding_units[1])
    assert pit.balances() == (primary, reserve)


def test_4_3_the_generation_rises_at_once_and_other_tables_play_on() -> None:
    pit = Pit(live(paytable(levels={"meter": level("$100", "10%")}), tables=("T1", "T2")))
    pit.wager("T1", 1, 1)
    pit.hit("T1", 1, 1, "royal flush")
    assert pit.level().generation == 2
    assert pit.wager("T2", 1, 1).meters == {"royal": {"meter": 100_50}}


def test_2_3_each_level_has_its_own_generation() -> None:
    levels = {"mega": level("$1,000"), "minor": level("$10")}
    pays = {"royal flush": "100% of mega", "flush": "100% of minor"}
    pit = Pit(live(paytable(levels=levels, pays=pays)))
    pit.wager("T1", 1, 1, 2)
    pit.hit("T1", 1, 1, "flush")
    pit.hit("T1", 1, 2, "flush")
    assert (pit.level("mega").generation, pit.level("minor").generation) == (1, 3)
