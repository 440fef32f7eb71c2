"""Rules 2.3 to 3.2: one level's two balances, its generation and its cap."""

from __future__ import annotations

import pytest

from meters.level import Level
from meters.money import MAX_UNITS
from tests.builders import DOLLAR, UNITS, Pit, in_units, level, live, one_level, paytable


def opened(
    *, increment_ppm: int = 100_000, reserve_ppm: int = 0, cap_minor: int | None = None
) -> Level:
    """Return a level that opened with $1,000."""
    terms = one_level(increment_ppm=increment_ppm, reserve_ppm=reserve_ppm, cap_minor=cap_minor)
    found = Level(terms=terms)
    found.open()
    return found


def test_2_3_a_level_has_a_primary_a_reserve_and_a_first_generation() -> None:
    each = Level(terms=one_level())
    assert (each.primary_units, each.reserve_units, each.generation) == (0, 0, 1)


def test_2_4_opening_puts_the_seed_into_primary_alone() -> None:
    each = opened()
    assert (each.primary_units, each.reserve_units) == (in_units(1_000), 0)


def test_2_4_opening_a_progressive_opens_each_of_its_levels_for_the_house() -> None:
    levels = {"mega": level("$1,000 for 1"), "minor": level("$250 for 1"), "none": level("$0")}
    pit = Pit(live(paytable(levels=levels, pays={"royal flush": "100% of mega"})))
    assert pit.floor.progressives["royal"].shown() == {
        "mega": 5_000 * DOLLAR,
        "minor": 1_250 * DOLLAR,
        "none": 0,
    }
    assert pit.books == {
        "Liabilities:Progressive:royal:mega:Primary": -in_units(5_000),
        "Liabilities:Progressive:royal:minor:Primary": -in_units(1_250),
        "Expenses:Progressive:royal:Seed": in_units(6_250),
    }


@pytest.mark.parametrize(
    ("primary_units", "shown_minor"),
    [(0, 0), (UNITS - 1, 0), (UNITS, 1), (12_345 * UNITS + 999_999, 12_345)],
)
def test_1_4_a_meter_is_shown_in_whole_minor_units_rounded_down(
    primary_units: int, shown_minor: int
) -> None:
    each = Level(terms=one_level(), primary_units=primary_units, reserve_units=77 * UNITS)
    assert each.shown_minor == shown_minor


@pytest.mark.parametrize(
    ("wagers_minor", "increment_ppm", "reserve_ppm", "shares_units"),
    [
        (500, 100_000, 0, (50 * UNITS, 0)),
        (500, 530_000, 150_000, (265 * UNITS, 75 * UNITS)),
        (1, 1, 1, (1, 1)),
        (7, 123_457, 0, (864_199, 0)),
        (500, 0, 80_000, (0, 40 * UNITS)),
        (500, 0, 0, (0, 0)),
    ],
)
def test_3_1_and_1_3_a_wager_adds_wager_times_rate_exactly(
    wagers_minor: int, increment_ppm: int, reserve_ppm: int, shares_units: tuple[int, int]
) -> None:
    each = opened(increment_ppm=increment_ppm, reserve_ppm=reserve_ppm)
    assert each.shares(wagers_minor) == shares_units


@pytest.mark.parametrize(
    ("above_minor", "shares_units"),
    [
        (-100, (50 * UNITS, 25 * UNITS)),
        (-50, (50 * UNITS, 25 * UNITS)),
        (-49, (49 * UNITS, 26 * UNITS)),
        (-1, (1 * UNITS, 74 * UNITS)),
        (0, (0, 75 * UNITS)),
        (1, (0, 75 * UNITS)),
    ],
)
def test_3_2_what_the_cap_has_no_room_for_goes_to_the_reserve(
    above_minor: int, shares_units: tuple[int, int]
) -> None:
    each = opened(increment_ppm=100_000, reserve_ppm=50_000, cap_minor=2_000 * DOLLAR)
    each.primary_units = (2_000 * DOLLAR + above_minor) * UNITS
    assert each.shares(500) == shares_units


def test_3_2_nothing_is_dropped_by_the_unit_at_the_cap() -> None:
    each = opened(increment_ppm=123_457, cap_minor=1_000 * DOLLAR)
    each.primary_units -= 3
    assert each.shares(7) == (3, 864_199 - 3)


@pytest.mark.parametrize(
    ("primary_units", "reserve_units", "added_units", "has_room"),
    [
        (MAX_UNITS - 10, 0, 10, True),
        (MAX_UNITS - 10, 0, 11, False),
        (MAX_UNITS - 10, 5, 5, True),
        (0, MAX_UNITS, 1, False),
    ],
)
def test_1_5_a_level_has_room_up_to_the_largest_amount(
    primary_units: int, reserve_units: int, added_units: int, has_room: bool
) -> None:
    each = Level(terms=one_level(), primary_units=primary_units, reserve_units=reserve_units)
    assert each.has_room(added_units) is has_room
