"""The theory: how often a hand is dealt, and what a progressive returns per wager."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from meters.terms import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Deal:
    """How often each hand comes among `total` equally likely deals.

    A deal counts once, for its highest hand; hands stand from highest to lowest.
    """

    total: int
    hands: Mapping[str, int]


FIVE_CARD = Deal(
    total=2_598_960,
    hands={
        "royal flush": 4,
        "straight flush": 36,
        "four of a kind": 624,
        "full house": 3_744,
        "flush": 5_108,
        "straight": 10_200,
        "three of a kind": 54_912,
        "two pair": 123_552,
    },
)
"""Five cards of 52."""

FOUR_CARD = Deal(
    total=2_598_960,
    hands={
        "four aces": 48,
        "four of a kind": 576,
        "straight flush": 2_072,
        "three of a kind": 58_656,
    },
)
"""The best four of five cards of 52 (§ 641a.12(d))."""

THREE_CARD = Deal(
    total=22_100,
    hands={"mini royal": 4, "straight flush": 44, "three of a kind": 52, "straight": 720},
)
"""Three cards of 52 (§ 643a.6(d))."""

SEVEN_CARD = Deal(
    total=154_143_080,
    hands={
        "seven card straight flush": 228,
        "five aces": 1_128,
        "royal flush": 26_092,
        "straight flush": 184_644,
        "four of a kind": 307_472,
        "full house": 4_188_528,
    },
)
"""Seven cards of 53, the joker among them (§ 561.6(h), (i))."""

DEALS = (FIVE_CARD, FOUR_CARD, THREE_CARD, SEVEN_CARD)


def deal_for(terms: Terms) -> Deal | None:
    """Return the deal that the paytable's hands name; None where it isn't counted here."""
    for deal in DEALS:
        if terms.pays and set(terms.pays) <= set(deal.hands):
            return deal
    return None


def theoretical_return(terms: Terms) -> Fraction | None:
    """Return what a progressive gives back per wager: 1 is 100%.

    Fixed lines, the rates of both balances, and each percentage of the reseed amount. Fixed
    lines funded from a level cost the house nothing more. Envy is left out: it depends on who
    else plays. None where the hands' frequencies aren't counted here.
    """
    deal = deal_for(terms)
    if deal is None:
        return None
    reseeds_minor = {level.name: level.reseed_minor for level in terms.levels}
    back = sum(
        (Fraction(level.increment_ppm + level.reserve_ppm, 1_000_000) for level in terms.levels),
        Fraction(0),
    )
    for hand, line in terms.pays.items():
        pays_minor = Fraction(0)
        if line.level is None:
            pays_minor = Fraction(line.pays_minor)
        elif line.is_percentage:
            pays_minor = Fraction(line.share_ppm * reseeds_minor[line.level], 1_000_000)
        back += pays_minor * Fraction(deal.hands[hand], deal.total * terms.wager_minor)
    return back
