"""Cards and decks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

RANKS: Final = "23456789TJQKA"
SUITS: Final = "cdhs"
ACE: Final = 14
JOKER_RANK: Final = 0


class SimulateError(Exception):
    """Anything that keeps a simulated table from playing."""


class CardError(SimulateError, ValueError):
    """Text that names no card."""


class DealError(SimulateError, ValueError):
    """A deal that the game or its deck doesn't allow."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One card: `rank` 2 to 14 (ace) and `suit` 0 to 3, an index into SUITS; JOKER has neither.

    Suits are numbers, not letters: hashes of text change from process to process, and a deal
    must not.
    """

    rank: int
    suit: int

    def __str__(self) -> str:
        """Return it as players write it: `As`, `Td`, `Jk` for the joker."""
        if self.rank == JOKER_RANK:
            return "Jk"
        return RANKS[self.rank - 2] + SUITS[self.suit]


JOKER: Final = Card(rank=JOKER_RANK, suit=-1)

DECK: Final = tuple(
    Card(rank=rank, suit=suit) for suit in range(len(SUITS)) for rank in range(2, ACE + 1)
)
"""The 52 cards."""

DECK_WITH_JOKER: Final = (*DECK, JOKER)
"""The 53 cards of DJ Wild Stud Poker (§ 687a.3(a)) and Pai Gow Poker."""

_BY_NAME: Final = {str(card): card for card in DECK_WITH_JOKER}


def parse_cards(text: str) -> tuple[Card, ...]:
    """Read cards with spaces between them, `As Td Jk`. Raises CardError."""
    names = text.split()
    unknown = [name for name in names if name not in _BY_NAME]
    if unknown:
        raise CardError(f"no such card: {', '.join(unknown)}; cards are written As, Td, Jk (joker)")
    return tuple(_BY_NAME[name] for name in names)
