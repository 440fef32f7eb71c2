"""The catalogue against the regulations: every figure here was copied from their text by hand.

47 Pa.B. 3182 for §§ 639a to 647a, 49 Pa.B. 3609 for § 687a, 41 Pa.B. 1897 for § 561.13d. What
those print of a paytable stands in `PRINTED` as they print it, one column a paytable.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.resources import files

import pytest

from jackpotd import catalogue
from jackpotd.errors import ConfigError
from jackpotd.paytables import Entry
from meters.money import CURRENCIES, format_rate
from meters.paytable import EVERY_HAND, HandPay, Paytable

USD = CURRENCIES["USD"]

# §§ 641a.12(e), 643a.12(e) and 647a.12(d) print these same tables.
FIVE_CARD_LINES = """
Royal flush     | 100% of meter | 100% mega jackpot  | 100% mega jackpot  | 100% mega jackpot
Straight flush  | 10% of meter  | 100% major jackpot | 100% major jackpot | 100% major jackpot
Four-of-a-kind  | 300 for 1     | 300 for 1          | 100% minor jackpot | 100% minor jackpot
Full house      | 50 for 1      | 50 for 1           | 50 for 1           | 50 for 1
Flush           | 40 for 1      | 40 for 1           | 40 for 1           | 40 for 1
Straight        | 30 for 1      | 30 for 1           | 30 for 1           | 30 for 1
Three-of-a-kind | 9 for 1       | 9 for 1            | 10 for 1           | 9 for 1
"""
FIVE_CARD_RATES = """
Seed Meter | $10,000 for 1 | N/A           | N/A           | N/A
Seed Mega  | N/A           | $10,000 for 1 | $10,000 for 1 | $10,000 for 1
Seed Major | N/A           | $1,000 for 1  | $1,000 for 1  | $1,000 for 1
Seed Minor | N/A           | N/A           | $250 for 1    | $250 for 1
Rate Meter | 21%           | N/A           | N/A           | N/A
Rate Mega  | N/A           | 11%           | 9%            | 10%
Rate Major | N/A           | 10%           | 7%            | 8%
Rate Minor | N/A           | N/A           | 3%            | 3%
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Printed:
    """The tables of a section: the paytables they print, their lines, and seeds and rates."""

    names: tuple[str, ...]
    lines: str
    rates: str


PRINTED = (
    Printed(  # § 639a.12(d)(1) and (4)
        names=("pa/639a-a", "pa/639a-b", "pa/639a-c"),
        lines="""
Royal flush     | 100% of meter | 100% of meter | 100% of meter
Straight flush  | 5,000 for 1   | 10% of meter  | 10% of meter
Four-of-a-kind  | 500 for 1     | 500 for 1     | 200 for 1
Full house      | 100 for 1     | 100 for 1     | 50 for 1
Flush           | 50 for 1      | 50 for 1      | 40 for 1
Straight        | 10 for 1      | 10 for 1      | 30 for 1
Three-of-a-kind | 3 for 1       | 3 for 1       | 9 for 1
Two pair        | 2 for 1       | 2 for 1       | N/A
""",
        rates="""
Seed Meter    | $10,000 for 1 | $10,000 for 1 | $10,000 for 1
Rate Meter    | 53%           | 53%           | 25%
Reserve Meter | 15%           | 15%           | N/A
""",
    ),
    Printed(  # § 639a.12(d)(1) and (4)
        names=("pa/639a-d", "pa/639a-e"),
        lines="""
Royal flush     | 100% of meter | 100% of meter
Straight flush  | 10% of meter  | 10% of meter
Four-of-a-kind  | 300 for 1     | 500 for 1
Full house      | 50 for 1      | 100 for 1
Flush           | 40 for 1      | 50 for 1
Straight        | 30 for 1      | N/A
Three-of-a-kind | 9 for 1       | N/A
""",
        rates="""
Seed Meter    | $10,000 for 1 | $10,000 for 1
Rate Meter    | 21%           | 65%
Reserve Meter | N/A           | 5%
""",
    ),
    Printed(  # § 639a.12(d)(1) and (4)
        names=("pa/639a-f", "pa/639a-g", "pa/639a-h"),
        lines="""
Royal flush     | 100% mega jackpot  | 100% mega jackpot  | 100% mega jackpot
Straight flush  | 100% major jackpot | 100% major jackpot | 100% major jackpot
Four-of-a-kind  | 300 for 1          | 100% minor jackpot | 100% minor jackpot
Full house      | 50 for 1           | 50 for 1           | 50 for 1
Flush           | 40 for 1           | 40 for 1           | 40 for 1
Straight        | 30 for 1           | 30 for 1           | 30 for 1
Three-of-a-kind | 9 for 1            | 10 for 1           | 9 for 1
""",
        rates="""
Seed Mega  | $10,000 for 1 | $10,000 for 1 | $10,000 for 1
Seed Major | $1,000 for 1  | $1,000 for 1  | $1,000 for 1
Seed Minor | N/A           | $250 for 1    | $250 for 1
Rate Mega  | 11%           | 9%            | 10%
Rate Major | 10%           | 7%            | 8%
Rate Minor | N/A           | 3%            | 3%
""",
    ),
    *(
        Printed(names=names, lines=FIVE_CARD_LINES, rates=FIVE_CARD_RATES)
        for names in (
            tuple(f"pa/641a-five-card-{letter}" for letter in "abcd"),
            tuple(f"pa/643a-five-card-{letter}" for letter in "abcd"),
            tuple(f"pa/647a-{letter}" for letter in "abcd"),
        )
    ),
    Printed(  # § 641a.12(d)(1) and (3)
        names=("pa/641a-four-card-a", "pa/641a-four-card-b"),
        lines="""
Four aces       | 100% of meter | 100% of meter
Four-of-a-kind  | 300 for 1     | 300 for 1
Straight flush  | 100 for 1     | 100 for 1
Three-of-a-kind | 9 for 1       | 15 for 1
""",
        rates="""
Seed Meter    | $5,000 for 1 | $1,000 for 1
Rate Meter    | 29%          | 25%
Reserve Meter | N/A          | 5%
""",
    ),
    Printed(  # § 643a.12(d)(3); the text leaves (1) out
        names=("pa/643a-three-card-a", "pa/643a-three-card-b"),
        lines="",
        rates="""
Seed Meter | $1,000 for 1 | $1,000 for 1
Rate Meter | 14%          | 20%
""",
    ),
    *(
        Printed(  # §§ 639a.12(e)(4), 641a.12(g)(4), 643a.12(f)(4), 647a.12(e)(4)
            names=(f"pa/{chapter}-five-card-hand-bonus",),
            lines="",
            rates="""
Seed Meter    | $10,000 for 1
Reseed Meter  | $0
Rate Meter    | 13%
Reserve Meter | 8%
""",
        )
        for chapter in ("639a", "641a", "643a", "647a")
    ),
    Printed(  # § 687a.12(c)
        names=("pa/687a-1", "pa/687a-2"),
        lines="""
Royal flush     | 100% of meter | 100% of meter
Straight flush  | 10% of meter  | 10% of meter
Four-of-a-kind  | 300 to 1      | 300 to 1
Full house      | 50 to 1       | 50 to 1
Flush           | 40 to 1       | 40 to 1
Straight        | 30 to 1       | 30 to 1
Three-of-a-kind | 9 to 1        | 9 to 1
""",
        rates="""
Seed Meter | $2,000 | $10,000
Rate Meter | open   | open
""",
    ),
    Printed(  # § 561.13d(f); the text's 100% and 10% are of the meter (e)
        names=("pa/561-13d",),
        lines="""
7 card Straight Flush | 100% of meter
5 Aces                | 10% of meter
Royal Flush           | 500 for 1
Straight Flush        | 100 for 1
Four-of-a-Kind        | 75 for 1
Full House            | 4 for 1
""",
        rates="""
Seed Meter | open
Rate Meter | open
""",
    ),
)

SOURCES = {
    **{f"pa/639a-{letter}": "58 Pa. Code § 639a.12(d)" for letter in "abcdefgh"},
    **{f"pa/641a-five-card-{letter}": "58 Pa. Code § 641a.12(e)" for letter in "abcd"},
    **{f"pa/643a-five-card-{letter}": "58 Pa. Code § 643a.12(e)" for letter in "abcd"},
    **{f"pa/647a-{letter}": "58 Pa. Code § 647a.12(d)" for letter in "abcd"},
    **{f"pa/641a-four-card-{letter}": "58 Pa. Code § 641a.12(d)" for letter in "ab"},
    **{f"pa/643a-three-card-{letter}": "58 Pa. Code § 643a.12(d)" for letter in "ab"},
    "pa/639a-five-card-hand-bonus": "58 Pa. Code § 639a.12(e)",
    "pa/641a-five-card-hand-bonus": "58 Pa. Code § 641a.12(g)",
    "pa/643a-five-card-hand-bonus": "58 Pa. Code § 643a.12(f)",
    "pa/647a-five-card-hand-bonus": "58 Pa. Code § 647a.12(e)",
    "pa/687a-1": "58 Pa. Code § 687a.12(c)",
    "pa/687a-2": "58 Pa. Code § 687a.12(c)",
    "pa/561-13d": "58 Pa. Code § 561.13d",
}
GAMES = {
    "639a": "caribbean-stud",
    "641a": "four-card-poker",
    "643a": "let-it-ride",
    "647a": "texas-holdem-bonus",
    "687a": "dj-wild-stud",
    "561": "pai-gow-poker",
}


def column(table: str, number: int) -> Iterator[tuple[str, str]]:
    """Yield the first cell of each row with its cell in a column, unless that is N/A."""
    for row in table.strip().splitlines():
        cells = [cell.strip() for cell in row.split("|")]
        if cells[number] != "N/A":
            yield cells[0], cells[number]


def in_our_words(hand: str) -> str:
    """Name a printed hand as paytables here do."""
    words = hand.lower().replace("-", " ")
    return words.replace("7 card", "seven card").replace("5 aces", "five aces")


LINES = [
    (name, printed.lines, number)
    for printed in PRINTED
    for number, name in enumerate(printed.names, start=1)
]
RATES = [
    (name, printed.rates, number)
    for printed in PRINTED
    for number, name in enumerate(printed.names, start=1)
]


def rates_of(paytable: Paytable) -> dict[str, str]:
    """Return seeds and rates as PRINTED has them."""
    found: dict[str, str] = {}
    for name, level in paytable.levels.items():
        found[f"seed {name}"] = level.seed.text(USD) if level.seed else "open"
        if level.reseed is not None:
            # The text's plain $0, which is nothing in any currency.
            found[f"reseed {name}"] = level.reseed.text(USD).replace("$0 for 1", "$0")
        rate_ppm = level.increment_ppm
        found[f"rate {name}"] = "open" if rate_ppm is None else format_rate(rate_ppm)
        if level.reserve_ppm:
            found[f"reserve {name}"] = format_rate(level.reserve_ppm)
        assert level.cap is None, "no text prints a cap"
    return found


@pytest.mark.parametrize(("name", "lines", "number"), LINES)
def test_the_lines_are_those_that_the_text_prints_in_its_order(
    name: str, lines: str, number: int
) -> None:
    pays = catalogue.get(name).pays
    assert [(hand, line.text(USD)) for hand, line in pays.items()] == [
        (in_our_words(hand), re.sub(r"^(\d+%) (\w+) jackpot$", r"\1 of \2", line))
        for hand, line in column(lines, number)
    ]


@pytest.mark.parametrize(("name", "rates", "number"), RATES)
def test_the_seeds_and_rates_are_those_that_the_text_prints(
    name: str, rates: str, number: int
) -> None:
    expected = {what.lower(): rate for what, rate in column(rates, number)}
    assert rates_of(catalogue.get(name)) == expected


def test_the_catalogue_has_these_paytables_and_no_others() -> None:
    assert set(catalogue.names()) == set(SOURCES) == {name for name, *_ in LINES}


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_each_entry_names_its_section_and_its_game(name: str) -> None:
    paytable = catalogue.get(name)
    chapter = re.split(r"[/-]", name)[1]
    assert (paytable.source, paytable.games) == (SOURCES[name], (GAMES[chapter],))
    assert paytable.title


WITH_ENVY = (
    *(f"pa/639a-{letter}" for letter in "dfgh"),  # § 639a.12(d)(6)
    *(f"pa/641a-five-card-{letter}" for letter in "abcd"),
    *(f"pa/643a-five-card-{letter}" for letter in "abcd"),
    *(f"pa/647a-{letter}" for letter in "abcd"),
)


def envy_of(entry: Entry) -> dict[str, str]:
    return {hand: amount.text(USD) for hand, amount in entry.paytable.envy.items()}


@pytest.mark.parametrize("name", WITH_ENVY)
def test_five_card_envy_is_a_default_that_the_text_at_hand_does_not_print(name: str) -> None:
    entry = catalogue.entry(name)
    assert envy_of(entry) == {"royal flush": "$1,000 for 1", "straight flush": "$300 for 1"}
    assert "envy" in entry.not_printed
    assert "not in the text at hand" in entry.paytable.note


@pytest.mark.parametrize(
    ("name", "envy"),
    [
        ("pa/687a-1", {"royal flush": "$1,000", "straight flush": "$300"}),
        ("pa/687a-2", {"royal flush": "$5,000", "straight flush": "$1,500"}),
    ],
)
def test_dj_wild_prints_its_envy_for_its_wager(name: str, envy: dict[str, str]) -> None:
    entry = catalogue.entry(name)
    assert envy_of(entry) == envy
    assert "envy" not in entry.not_printed


def test_the_others_have_no_envy_or_leave_it_open() -> None:
    without = set(SOURCES) - set(WITH_ENVY) - {"pa/687a-1", "pa/687a-2"}
    assert [name for name in without if catalogue.get(name).envy] == []
    left_open = {name for name in without if "envy" in catalogue.entry(name).not_printed}
    assert left_open == {
        "pa/641a-four-card-a",
        "pa/641a-four-card-b",
        "pa/643a-three-card-a",
        "pa/643a-three-card-b",
    }


def test_caribbean_stud_a_b_c_and_e_may_not_be_linked() -> None:
    """§ 639a.12(d)(3)."""
    apart = {name for name in SOURCES if not catalogue.get(name).linkable}
    assert apart == {"pa/639a-a", "pa/639a-b", "pa/639a-c", "pa/639a-e"}


def test_dj_wild_prints_its_wagers() -> None:
    """§ 687a.12(c)."""
    wagers_minor = {name: catalogue.get(name).wager_minor for name in SOURCES}
    assert wagers_minor.pop("pa/687a-1") == 100
    assert wagers_minor.pop("pa/687a-2") == 500
    assert set(wagers_minor.values()) == {None}


def test_pai_gow_prints_the_least_seed() -> None:
    """§ 561.13d(g)."""
    minimums_minor = {name: catalogue.get(name).minimum_minor for name in SOURCES}
    assert minimums_minor.pop("pa/561-13d") == 200_000
    assert set(minimums_minor.values()) == {0}


def test_hand_pays_are_those_of_the_sections() -> None:
    """§§ 643a.11(g)(3), 561.13d(e); elsewhere any percentage, as in § 643a.11(g)(4)."""
    others = {name: catalogue.get(name).hand_pay for name in SOURCES}
    assert others.pop("pa/643a-three-card-a") is HandPay.FULL
    assert others.pop("pa/643a-three-card-b") is HandPay.FULL
    assert others.pop("pa/561-13d") is HandPay.TENTH
    assert set(others.values()) == {HandPay.PERCENTAGE}


def test_where_the_text_prints_which_are_hand_pays_it_is_no_default() -> None:
    printed = {name for name in SOURCES if "hand_pay" not in catalogue.entry(name).not_printed}
    assert printed == {
        *(name for name in SOURCES if name.startswith("pa/643a")),  # § 643a.11(g)(3) to (5)
        "pa/561-13d",  # (e)
        "pa/641a-five-card-hand-bonus",  # § 641a.11(c)(7)(iii)
        "pa/647a-five-card-hand-bonus",  # § 647a.11(j)(3)
    }


def test_what_a_floorperson_validates_beside_the_percentages() -> None:
    """§§ 561.13d(d)(3), 641a.11(c)(7)(ii), 643a.11(g)(5)(ii), 647a.11(j)(2)."""
    validated = {name: catalogue.get(name).validate for name in SOURCES}
    assert validated.pop("pa/561-13d") == EVERY_HAND
    for chapter in ("639a", "641a", "643a", "647a"):
        assert validated.pop(f"pa/{chapter}-five-card-hand-bonus") == ("500 for 1",)
    assert set(validated.values()) == {()}


@pytest.mark.parametrize("name", sorted(SOURCES))
def test_an_entry_says_in_words_what_it_leaves_to_the_property(name: str) -> None:
    paytable = catalogue.get(name)
    incomplete = not paytable.pays or "open" in rates_of(paytable).values()
    may_have_envy = "envy" in catalogue.entry(name).not_printed and not paytable.envy
    assert bool(paytable.open_pays) == (incomplete or may_have_envy)


@pytest.mark.parametrize(
    "alike",
    [
        ("pa/639a-d", "pa/641a-five-card-a", "pa/643a-five-card-a", "pa/647a-a"),
        ("pa/639a-f", "pa/641a-five-card-b", "pa/643a-five-card-b", "pa/647a-b"),
        ("pa/639a-g", "pa/641a-five-card-c", "pa/643a-five-card-c", "pa/647a-c"),
        ("pa/639a-h", "pa/641a-five-card-d", "pa/643a-five-card-d", "pa/647a-d"),
        tuple(f"pa/{each}-five-card-hand-bonus" for each in ("639a", "641a", "643a", "647a")),
        ("pa/639a-a",),
        ("pa/639a-e",),
        ("pa/641a-four-card-a",),
        ("pa/643a-three-card-b",),
        ("pa/687a-2",),
        ("pa/561-13d",),
    ],
)
def test_one_paytable_in_several_chapters_is_found(alike: tuple[str, ...]) -> None:
    for name in alike:
        assert tuple(entry.name for entry in catalogue.printed_alike(name)) == alike


def test_a_name_that_is_not_there_brings_the_closest_one() -> None:
    with pytest.raises(catalogue.UnknownPaytable, match=r"did you mean pa/641a-five-card-d\?"):
        catalogue.entry("pa/641a-five-card-dd")


@pytest.mark.parametrize("code", ["EUR", "GBP", "JPY", "KWD"])
def test_amounts_for_1_hold_in_every_currency_and_plain_dollars_in_dollars(code: str) -> None:
    currency = CURRENCIES[code]
    assert catalogue.get("pa/639a-h", currency) == catalogue.get("pa/639a-h", USD)
    assert len(catalogue.printed_alike("pa/639a-h", currency)) == 4
    for name in ("pa/687a-1", "pa/687a-2", "pa/561-13d"):
        with pytest.raises(ConfigError, match=rf"is not an amount of {code}"):
            catalogue.entry(name, currency)


def test_every_file_of_the_folder_is_a_paytable() -> None:
    folder = files("configs") / "paytables"
    assert {each.name for each in folder.iterdir()} == {"pa"}
    names = {f"pa/{each.name}" for each in (folder / "pa").iterdir()}
    assert names == {f"{name}.yaml" for name in catalogue.names()}
