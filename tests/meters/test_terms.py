"""Rules 2.2, 4.2, 4.5 and 10: a paytable on a wager, and what is wrong with one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from meters.money import CURRENCIES, MAX_MINOR, PPM
from meters.paytable import (
    Amount,
    HandPay,
    LineKind,
    Paytable,
    PrintedLevel,
    PrintedLine,
)
from meters.terms import Line, Problems, terms_of
from tests.builders import DOLLAR, USD, level, live, one_level, paytable


def problems_of(printed: Paytable, **changes: Any) -> list[tuple[tuple[str, ...], str]]:
    """Return what is said against a paytable on a $5 wager."""
    problems = Problems()
    settings: dict[str, Any] = {
        "name": "royal",
        "title": "Royal",
        "wager_minor": 500,
        "tables": ("T1",),
        "currency": USD,
    }
    terms_of(printed, problems=problems, **(settings | changes))
    return problems.found


@pytest.mark.parametrize(
    ("wager_minor", "seed_minor"),
    [(1 * DOLLAR, 10_000 * DOLLAR), (5 * DOLLAR, 50_000 * DOLLAR)],
)
def test_2_2_a_seed_for_one_is_for_each_dollar_of_the_wager(
    wager_minor: int, seed_minor: int
) -> None:
    printed = paytable(levels={"meter": level("$10,000 for 1")})
    (terms,) = live(printed, wager_minor=wager_minor).levels
    assert terms.seed_minor == seed_minor


def test_2_2_the_reseed_defaults_to_the_seed_the_reserve_to_nothing_and_the_cap_to_none() -> None:
    (terms,) = live(paytable(levels={"meter": level("$1,000", "21%")})).levels
    assert terms == one_level(1_000 * DOLLAR, increment_ppm=210_000)


def test_2_2_a_level_has_its_own_reseed_reserve_and_cap() -> None:
    printed = level("$10,000 for 1", "13%", reseed="$0", reserve="8%", cap="$500,000")
    (terms,) = live(paytable(levels={"meter": printed})).levels
    assert terms == one_level(
        50_000 * DOLLAR,
        reseed_minor=0,
        increment_ppm=130_000,
        reserve_ppm=80_000,
        cap_minor=500_000 * DOLLAR,
    )


def test_2_2_levels_keep_the_order_of_the_paytable() -> None:
    levels = {"mega": level(), "major": level(), "minor": level()}
    terms = live(paytable(levels=levels, pays={"royal flush": "100% of mega"}))
    assert [each.name for each in terms.levels] == ["mega", "major", "minor"]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("100% of meter", Line(text="100% of meter", level="meter", share_ppm=PPM)),
        ("2.5% of meter", Line(text="2.5% of meter", level="meter", share_ppm=25_000)),
        ("50 for 1", Line(text="50 for 1", pays_minor=25_000)),
        ("1.5 for 1", Line(text="1.5 for 1", pays_minor=750)),
        ("9 to 1", Line(text="9 to 1", pays_minor=5_000)),
        ("$500", Line(text="$500", pays_minor=50_000)),
        ("$0.50", Line(text="$0.50", pays_minor=50)),
        ("50 for 1 from meter", Line(text="50 for 1 from meter", level="meter", pays_minor=25_000)),
        ("9 to 1 from meter", Line(text="9 to 1 from meter", level="meter", pays_minor=5_000)),
        ("$500 from meter", Line(text="$500 from meter", level="meter", pays_minor=50_000)),
    ],
)
def test_4_2_a_line_on_a_five_dollar_wager(text: str, line: Line) -> None:
    assert live(paytable(pays={"flush": text})).pays["flush"] == line


def test_4_2_a_line_in_a_currency_without_minor_units() -> None:
    yen = CURRENCIES["JPY"]
    printed = replace(
        paytable(levels={"meter": PrintedLevel(seed=Amount(ratio_ppm=PPM), increment_ppm=1)}),
        pays={"flush": PrintedLine(kind=LineKind.FIXED, number=500)},
    )
    problems = Problems()
    terms = terms_of(
        printed,
        name="royal",
        title="Royal",
        wager_minor=100,
        tables=("T1",),
        currency=yen,
        problems=problems,
    )
    assert problems.found == []
    assert terms.pays["flush"] == Line(text="¥500", pays_minor=500)
    assert terms.levels[0].seed_minor == 100


@pytest.mark.parametrize(
    ("share_ppm", "percentage", "full", "tenth"),
    [
        (1_000_000, True, True, True),
        (999_999, True, False, True),
        (100_000, True, False, True),
        (99_999, True, False, False),
        (0, False, False, False),
    ],
)
def test_4_6_what_a_line_counts_as(
    share_ppm: int, percentage: bool, full: bool, tenth: bool
) -> None:
    line = Line(text="", level="meter", share_ppm=share_ppm)
    assert (line.is_percentage, line.is_full, line.is_tenth) == (percentage, full, tenth)


@pytest.mark.parametrize(
    ("text", "on_one_dollar", "on_five_dollars"),
    [("$1,000 for 1", 1_000 * DOLLAR, 5_000 * DOLLAR), ("$300", 300 * DOLLAR, 300 * DOLLAR)],
)
def test_6_2_envy_scales_with_the_wager(
    text: str, on_one_dollar: int, on_five_dollars: int
) -> None:
    printed = paytable(envy={"royal flush": text})
    assert live(printed, wager_minor=DOLLAR).envy == {"royal flush": on_one_dollar}
    assert live(printed, wager_minor=5 * DOLLAR).envy == {"royal flush": on_five_dollars}


@pytest.mark.parametrize(
    ("of_the_paytable", "of_the_property", "covered"),
    [
        ((), (), ()),
        (("flush",), (), ("flush",)),
        ((), ("flush",), ("flush",)),
        (("flush", "straight"), ("flush",), ("flush", "straight")),
        (("all",), (), ("all",)),
        ((), ("all",), ("all",)),
        (("flush",), ("all",), ("all",)),
    ],
)
def test_4_5_the_paytable_or_the_property_validates(
    of_the_paytable: tuple[str, ...], of_the_property: tuple[str, ...], covered: tuple[str, ...]
) -> None:
    terms = live(paytable(validate=of_the_paytable), validate=of_the_property)
    assert terms.validate == covered


def test_what_else_the_terms_are() -> None:
    printed = paytable(hand_pay=HandPay.TENTH)
    terms = live(printed, tables=("T1", "T2"), hold_table=False, folded_hands_qualify=True)
    assert (terms.name, terms.title, terms.tables) == ("royal", "Royal", ("T1", "T2"))
    assert (terms.hand_pay, terms.hold_table) == (HandPay.TENTH, False)
    assert terms.folded_hands_qualify


def test_a_property_has_more_room_than_a_paytable() -> None:
    """A property wide `validate` may name hands that this paytable doesn't have (4.5)."""
    assert problems_of(paytable(), validate=("five aces",)) == []


LEVEL = level("$10,000", "10%")
OPEN = PrintedLevel()

WRONG_LEVELS = [
    (OPEN, "seed", "leaves the seed to the property"),
    (OPEN, "increment", "leaves the rate to the property"),
    (replace(LEVEL, increment_ppm=PPM + 1), "increment", "at most 100%"),
    (replace(LEVEL, reserve_ppm=PPM + 1), "reserve", "at most 100%"),
    (level("$10,000", cap="$9,999"), "cap", "not below the seed or the reseed"),
    (level("$5", reseed="$10,000", cap="$9,999"), "cap", "not below the seed or the reseed"),
    (replace(LEVEL, seed=Amount(ratio_ppm=1)), "seed", "no whole number of minor units"),
    (replace(LEVEL, reseed=Amount(ratio_ppm=1)), "reseed", "no whole number of minor units"),
    (replace(LEVEL, cap=Amount(ratio_ppm=1)), "cap", "no whole number of minor units"),
    (
        replace(LEVEL, seed=Amount(ratio_ppm=PPM * MAX_MINOR)),
        "seed",
        "beyond the largest amount",
    ),
]


@pytest.mark.parametrize(("printed", "key", "why"), WRONG_LEVELS)
def test_2_2_what_is_wrong_with_a_level_is_named(printed: PrintedLevel, key: str, why: str) -> None:
    found = problems_of(paytable(levels={"meter": printed}))
    assert any(where == ("levels", "meter", key) and why in said for where, said in found)


WRONG = [
    ({"wager_minor": 0}, paytable(), ("wager",), "more than nothing"),
    (
        {},
        replace(paytable(), wager_minor=100),
        ("wager",),
        "printed for a $1.00 wager",
    ),
    (
        {"tables": ("T1", "T2")},
        replace(paytable(), linkable=False),
        ("tables",),
        "may not be linked",
    ),
    ({}, paytable(levels={}, pays={"flush": "4 for 1"}), ("levels",), "at least one level"),
    ({}, paytable(pays={}), ("pays",), "no pay lines; give them under terms"),
    (
        {},
        replace(paytable(pays={}), open_pays="all of it"),
        ("pays",),
        "no pay lines: all of it; give them under terms",
    ),
    (
        {},
        paytable(pays={"flush": "100% of mega"}),
        ("pays", "flush"),
        "there is no level mega; there are: meter",
    ),
    ({}, paytable(pays={"flush": "0.0001 for 1"}), ("pays", "flush"), "no whole number"),
    (
        {},
        paytable(pays={"flush": "4,611,686,018,427 to 1"}),
        ("pays", "flush"),
        "beyond the largest amount",
    ),
    ({}, paytable(envy={"five aces": "$1"}), ("envy", "five aces"), "has a line under pays too"),
    ({}, paytable(envy={"flush": "$0.0001 for 1"}), ("envy", "flush"), "no whole number"),
    ({}, paytable(validate=("five aces",)), ("validate", "five aces"), "no line for this hand"),
]


@pytest.mark.parametrize(("changes", "printed", "key", "why"), WRONG)
def test_what_is_wrong_with_a_paytable_is_named(
    changes: dict[str, Any], printed: Paytable, key: tuple[str, ...], why: str
) -> None:
    found = problems_of(printed, **changes)
    assert any(where == key and why in said for where, said in found), found


def test_1_5_the_stake_that_comes_back_counts_towards_the_largest_amount() -> None:
    pays = {"flush": "4,611,686,018,426 to 1", "straight": "4,611,686,018,427 to 1"}
    ((key, why),) = problems_of(paytable(pays=pays), wager_minor=1)
    assert key == ("pays", "straight")
    assert "beyond the largest amount" in why


def test_2_2_a_rate_may_be_the_whole_wager() -> None:
    printed = paytable(levels={"meter": level("$10", "100%", reserve="100%")})
    assert problems_of(printed) == []


def test_4_7_and_6_5_tables_are_held_and_folded_hands_lose_unless_it_is_said() -> None:
    problems = Problems()
    terms = terms_of(
        paytable(),
        name="royal",
        title="Royal",
        wager_minor=500,
        tables=("T1",),
        currency=USD,
        problems=problems,
    )
    assert (terms.hold_table, terms.folded_hands_qualify) == (True, False)


def test_the_wager_that_is_printed_is_accepted() -> None:
    assert problems_of(replace(paytable(), wager_minor=500)) == []


def test_one_table_may_play_what_may_not_be_linked() -> None:
    assert problems_of(replace(paytable(), linkable=False)) == []


def test_a_cap_may_be_the_seed_itself() -> None:
    assert problems_of(paytable(levels={"meter": level("$10,000", cap="$10,000")})) == []


@pytest.mark.parametrize(
    ("seed", "reseed", "keys"),
    [
        ("$2,000", "$2,000", []),
        ("$1,999", "$2,000", ["seed"]),
        ("$2,000", "$1,999", ["reseed"]),
        ("$1,999", "", ["seed", "reseed"]),
    ],
)
def test_the_least_seed_and_reseed_that_the_text_prints(
    seed: str, reseed: str, keys: list[str]
) -> None:
    printed = replace(
        paytable(levels={"meter": level(seed, reseed=reseed)}), minimum_minor=2_000 * DOLLAR
    )
    found = problems_of(printed)
    assert [where for where, _ in found] == [("levels", "meter", key) for key in keys]
    assert all("at least $2,000.00 (§ 1)" in why for _, why in found)


def test_the_least_seed_is_said_where_the_seed_is_missing() -> None:
    printed = replace(paytable(levels={"meter": OPEN}), minimum_minor=2_000 * DOLLAR)
    assert any("(at least $2,000.00, § 1)" in why for _, why in problems_of(printed))


def test_every_problem_is_said_at_once() -> None:
    printed = paytable(levels={"meter": OPEN}, pays={"flush": "10% of mega"})
    assert len(problems_of(printed, wager_minor=-1)) == 4


ROYAL = live(paytable(levels={"meter": level("$10,000", "10%", cap="$20,000")}))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"title": "Imperial"}, []),
        ({"wager_minor": 100}, ["wager: $5.00 is now $1.00"]),
        ({"tables": ("T2", "T1")}, ["tables: T1 is now T1, T2"]),
        ({"hand_pay": HandPay.FULL}, ["hand_pay: percentage is now full"]),
        ({"validate": ("all",)}, ["validate: percentage is now all"]),
        ({"hold_table": False}, ["hold_table: true is now false"]),
        ({"folded_hands_qualify": True}, ["folded_hands_qualify: false is now true"]),
        ({"envy": {"flush": 100}}, ["envy.flush: nothing is now $1.00"]),
        (
            {"pays": {**ROYAL.pays, "flush": Line(text="4 for 1", pays_minor=2_000)}},
            ["pays.flush: 40 for 1 is now 4 for 1"],
        ),
        (
            {"levels": (replace(ROYAL.levels[0], seed_minor=1),)},
            ["levels.meter.seed: $10,000.00 is now $0.01"],
        ),
        (
            {"levels": (replace(ROYAL.levels[0], cap_minor=None),)},
            ["levels.meter.cap: $20,000.00 is now nothing"],
        ),
    ],
)
def test_10_each_difference_is_said(changes: dict[str, Any], said: list[str]) -> None:
    assert list(ROYAL.differences(replace(ROYAL, **changes), USD)) == said


def test_10_a_level_that_is_gone_and_one_that_is_new_are_said() -> None:
    renamed = replace(ROYAL.levels[0], name="mega", cap_minor=None)
    found = list(ROYAL.differences(replace(ROYAL, levels=(renamed,)), USD))
    assert "levels: meter is now mega" in found
    assert "levels.meter.seed: $10,000.00 is now nothing" in found
    assert "levels.mega.seed: nothing is now $10,000.00" in found


def test_10_equal_terms_have_no_difference() -> None:
    assert list(ROYAL.differences(replace(ROYAL), USD)) == []
