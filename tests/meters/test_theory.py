"""The theory: the figures of the paytables that the regulations print."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import comb

import pytest

from meters.paytable import PrintedLevel
from meters.terms import Terms
from meters.theory import (
    DEALS,
    FIVE_CARD,
    FOUR_CARD,
    SEVEN_CARD,
    THREE_CARD,
    Deal,
    deal_for,
    theoretical_return,
)
from tests.builders import DOLLAR, level, live, paytable

TEN_THOUSAND, ONE_THOUSAND, QUARTER = "$10,000 for 1", "$1,000 for 1", "$250 for 1"


def lines(*pays: str) -> dict[str, str]:
    """Name the lines of a five-card paytable from the royal flush down; "" where there is none."""
    return {hand: line for hand, line in zip(FIVE_CARD.hands, pays, strict=False) if line}


def meter(increment: str, reserve: str = "0%") -> dict[str, PrintedLevel]:
    return {"meter": level(TEN_THOUSAND, increment, reserve=reserve)}


def levels(mega: str, major: str, minor: str = "") -> dict[str, PrintedLevel]:
    found = {"mega": level(TEN_THOUSAND, mega), "major": level(ONE_THOUSAND, major)}
    return found | ({"minor": level(QUARTER, minor)} if minor else {})


ALL, TENTH = "100% of meter", "10% of meter"
MEGA, MAJOR, MINOR = "100% of mega", "100% of major", "100% of minor"
LOW = ("50 for 1", "40 for 1", "30 for 1")
FOUR_CARD_HANDS = ("four aces", "four of a kind", "straight flush", "three of a kind")


def four_card(*pays: str) -> dict[str, str]:
    return dict(zip(FOUR_CARD_HANDS, pays, strict=True))


HIGH = ("500 for 1", "100 for 1", "50 for 1", "10 for 1", "3 for 1", "2 for 1")

FIGURES = [
    ("639a A", meter("53%", "15%"), lines(ALL, "5,000 for 1", *HIGH), "1.3247"),
    ("639a B", meter("53%", "15%"), lines(ALL, TENTH, *HIGH), "1.2693"),
    ("639a C", meter("25%"), lines(ALL, TENTH, "200 for 1", *LOW, "9 for 1"), ".7858"),
    ("639a D", meter("21%"), lines(ALL, TENTH, "300 for 1", *LOW, "9 for 1"), ".7698"),
    (
        "639a E",
        meter("65%", "5%"),
        lines(ALL, TENTH, "500 for 1", "100 for 1", "50 for 1"),
        "1.0916",
    ),
    (
        "639a F",
        levels("11%", "10%"),
        lines(MEGA, MAJOR, "300 for 1", *LOW, "9 for 1"),
        ".7698",
    ),
    ("639a G", levels("9%", "7%", "3%"), lines(MEGA, MAJOR, MINOR, *LOW, "10 for 1"), ".7589"),
    ("639a H", levels("10%", "8%", "3%"), lines(MEGA, MAJOR, MINOR, *LOW, "9 for 1"), ".7578"),
    (
        "four-card A",
        {"meter": level("$5,000 for 1", "29%")},
        four_card(ALL, "300 for 1", "100 for 1", "9 for 1"),
        ".7317",
    ),
    (
        "four-card B",
        {"meter": level(ONE_THOUSAND, "25%", reserve="5%")},
        four_card(ALL, "300 for 1", "100 for 1", "15 for 1"),
        ".8032",
    ),
]


@pytest.mark.parametrize("wager_minor", [1 * DOLLAR, 5 * DOLLAR])
@pytest.mark.parametrize(
    ("printed_levels", "pays", "figure"),
    [row[1:] for row in FIGURES],
    ids=[row[0] for row in FIGURES],
)
def test_what_a_paytable_returns_per_dollar(
    printed_levels: dict[str, PrintedLevel], pays: dict[str, str], figure: str, wager_minor: int
) -> None:
    terms = live(paytable(levels=printed_levels, pays=pays), wager_minor=wager_minor)
    back = theoretical_return(terms)
    assert back is not None
    assert abs(back - Fraction(figure)) <= Fraction(1, 20_000)


def returned(*, pays: dict[str, str], printed: PrintedLevel) -> Fraction:
    back = theoretical_return(live(paytable(levels={"meter": printed}, pays=pays)))
    assert back is not None
    return back


PLAIN = level("$0", "0%")
FULL_HOUSES = Fraction(3_744, 2_598_960)


@pytest.mark.parametrize(
    ("line", "printed", "back"),
    [
        ("50 for 1", PLAIN, 50 * FULL_HOUSES),
        ("50 to 1", PLAIN, 51 * FULL_HOUSES),
        ("$500", PLAIN, 100 * FULL_HOUSES),
        ("50 for 1 from meter", PLAIN, Fraction(0)),
        ("100% of meter", level("$1,000", "0%", reseed="$500"), 100 * FULL_HOUSES),
        ("10% of meter", level("$1,000", "0%", reseed="$500"), 10 * FULL_HOUSES),
        ("50 for 1", level("$0", "21%", reserve="5%"), 50 * FULL_HOUSES + Fraction(26, 100)),
    ],
)
def test_4_4_what_a_line_returns(line: str, printed: PrintedLevel, back: Fraction) -> None:
    """A line from a level costs the house no more than the level's rates."""
    assert returned(pays={"full house": line}, printed=printed) == back


def test_envy_is_left_out() -> None:
    pays = {"full house": "50 for 1"}
    printed = paytable(levels={"meter": PLAIN}, pays=pays, envy={"full house": "$1,000 for 1"})
    assert theoretical_return(live(printed)) == 50 * FULL_HOUSES


def of_hands(*hands: str) -> Terms:
    return live(paytable(pays=dict.fromkeys(hands, "4 for 1")))


def test_the_deal_is_known_by_the_hands_of_the_paytable() -> None:
    assert deal_for(of_hands("royal flush", "two pair")) is FIVE_CARD
    assert deal_for(of_hands(*FOUR_CARD_HANDS)) is FOUR_CARD
    assert deal_for(of_hands("mini royal", "straight flush")) is THREE_CARD


def test_a_paytable_of_other_hands_has_no_theory() -> None:
    terms = of_hands("royal flush", "five card charlie")
    assert deal_for(terms) is None
    assert theoretical_return(terms) is None
    assert deal_for(replace(terms, pays={})) is None


def test_seven_cards_are_dealt_with_the_joker() -> None:
    assert SEVEN_CARD.total == comb(53, 7)


@pytest.mark.parametrize("deal", DEALS, ids=lambda deal: next(iter(deal.hands)))
def test_no_deal_has_more_hands_than_there_are(deal: Deal) -> None:
    assert sum(deal.hands.values()) < deal.total


def test_the_hands_of_five_cards_are_counted() -> None:
    straights = 10 * 4**5
    flushes = 4 * comb(13, 5)
    assert FIVE_CARD.total == comb(52, 5)
    assert list(FIVE_CARD.hands.values()) == [
        4,
        9 * 4,
        13 * 48,
        13 * comb(4, 3) * 12 * comb(4, 2),
        flushes - 40,
        straights - 40,
        13 * comb(4, 3) * comb(12, 2) * 4**2,
        comb(13, 2) * comb(4, 2) ** 2 * 44,
    ]


def test_the_best_four_of_five_cards_are_counted() -> None:
    """Eleven runs of four in each suit with any fifth card; five in a row hold two of them."""
    assert FOUR_CARD.total == comb(52, 5)
    trips_and_full_houses = 54_912 + 3_744
    runs = 4 * 11 * 48 - 4 * 10
    assert list(FOUR_CARD.hands.values()) == [48, 12 * 48, runs, trips_and_full_houses]


def test_the_hands_of_three_cards_are_counted_one_by_one() -> None:
    counted = dict.fromkeys(THREE_CARD.hands, 0)
    deck = [(rank, suit) for rank in range(2, 15) for suit in range(4)]
    hands = list(combinations(deck, 3))
    for hand in hands:
        ranks = sorted(rank for rank, _ in hand)
        flush = len({suit for _, suit in hand}) == 1
        straight = ranks == [2, 3, 14] or ranks == list(range(ranks[0], ranks[0] + 3))
        if flush and ranks == [12, 13, 14]:
            counted["mini royal"] += 1
        elif flush and straight:
            counted["straight flush"] += 1
        elif ranks[0] == ranks[2]:
            counted["three of a kind"] += 1
        elif straight:
            counted["straight"] += 1
    assert len(hands) == THREE_CARD.total
    assert counted == THREE_CARD.hands
