"""Stacking the deck, so that a demonstration doesn't wait 650,000 hands for its royal flush.

Sets of cards are bit masks over DECK_WITH_JOKER: a stacked deal looks through some ten thousand
ways to make a straight, and no order of iteration can creep into it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations, product
from random import Random
from typing import Final

from jackpotd.simulate import hands
from jackpotd.simulate.cards import ACE, DECK_WITH_JOKER, JOKER, Card, DealError
from jackpotd.simulate.hands import CARDS, CLASSIFIERS, FREQUENCIES, RUNS, Kind

# Two straight flushes that share a flop come out of one attempt in 13: 500 miss them once in 10^16.
ATTEMPTS: Final = 500
FILLINGS: Final = 20

_BIT: Final = {card: 1 << place for place, card in enumerate(DECK_WITH_JOKER)}
_SUITS: Final = range(4)
_ALL_RANKS: Final = range(2, ACE + 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stack:
    """The cards that a stacked deck puts in place: rigged seat -> its own cards, and the table."""

    own: Mapping[int, tuple[Card, ...]]
    community: tuple[Card, ...] = ()

    def cards(self) -> frozenset[Card]:
        """Return every card that has its place."""
        return frozenset(self.community).union(*self.own.values())


def stack_deck(
    wanted: Mapping[int, tuple[Kind, str]], *, deck: Sequence[Card], own: int, rng: Random
) -> Stack:
    """Choose cards so that each seat of `wanted` holds its hand, highest of its kind.

    Each player has `own` cards of his own, and kinds that look at more share the missing ones.
    Raises DealError if no such deal was found.
    """
    # The rarest hand first: where cards are shared, it leaves the others the least choice.
    order = sorted(wanted, key=lambda seat: (_ways(*wanted[seat]), seat))
    for _ in range(ATTEMPTS):
        stack = _attempt([(seat, *wanted[seat]) for seat in order], deck, own, rng)
        if stack is not None:
            return stack
    asked = ", ".join(f"seat {seat} {hand}" for seat, (_, hand) in sorted(wanted.items()))
    raise DealError(f"found no deal of one deck with {asked}")


def _ways(kind: Kind, hand: str) -> int:
    return FREQUENCIES[kind][1][hand]


def _attempt(
    wanted: Iterable[tuple[int, Kind, str]], deck: Sequence[Card], own: int, rng: Random
) -> Stack | None:
    held: dict[int, tuple[Card, ...]] = {}
    community: tuple[Card, ...] = ()
    free = list(deck)
    for seat, kind, hand in wanted:
        shared = max(0, CARDS[kind] - own)
        cards = _draw(kind, hand, community[:shared], free, rng)
        if cards is None:
            return None
        if len(cards) > own:
            community = cards[own:]
        held[seat] = cards[:own]
        free = [card for card in free if card not in cards]
    return Stack(own=held, community=community)


def _draw(
    kind: Kind, hand: str, table: tuple[Card, ...], free: Sequence[Card], rng: Random
) -> tuple[Card, ...] | None:
    """Draw from `free`, in random order, what makes the hand with all cards of `table`."""
    count = CARDS[kind] - len(table)
    on_table = _mask(table)
    reachable = on_table | _mask(free)
    makings = [
        making & ~on_table
        for making in _makings(kind, hand)
        if making & ~reachable == 0 and (making & ~on_table).bit_count() <= count
    ]
    for _ in range(FILLINGS if makings else 0):
        needed = rng.choice(makings)
        cards = [card for card in free if _BIT[card] & needed]
        others = [card for card in free if not _BIT[card] & needed]
        cards += rng.sample(others, count - len(cards))
        if CLASSIFIERS[kind]((*table, *cards)) == hand:
            rng.shuffle(cards)
            return tuple(cards)
    return None


def _mask(cards: Iterable[Card]) -> int:
    return sum(_BIT[card] for card in cards)


@cache
def _makings(kind: Kind, hand: str) -> tuple[int, ...]:
    """Return the sets of cards that make the hand, whatever is added, or a higher one.

    The joker is used for five aces only: enough ways to stack a deck, if not all.
    """
    if kind is Kind.FOUR_CARD:
        makings = _FOUR_CARD[hand]
    elif kind is Kind.THREE_CARD:
        makings = _THREE_CARD[hand]
    else:
        makings = _FIVE_OR_SEVEN[hand]
    return tuple(_mask(cards) for cards in makings())


_Sets = Iterator[tuple[Card, ...]]


def _alike(count: int, ranks: Iterable[int] = _ALL_RANKS) -> _Sets:
    """Yield `count` cards of one rank."""
    for rank in ranks:
        yield from combinations([Card(rank=rank, suit=suit) for suit in _SUITS], count)


def _of_one_suit(rank_sets: Iterable[Iterable[int]]) -> _Sets:
    for ranks, suit in product(rank_sets, _SUITS):
        yield tuple(Card(rank=rank, suit=suit) for rank in ranks)


def _of_any_suits(rank_sets: Iterable[Iterable[int]]) -> _Sets:
    for ranks in map(tuple, rank_sets):
        for suits in product(_SUITS, repeat=len(ranks)):
            pairs = zip(ranks, suits, strict=True)
            yield tuple(Card(rank=rank, suit=suit) for rank, suit in pairs)


def _full_houses() -> _Sets:
    for three, two in permutations(_ALL_RANKS, 2):
        for trips, pair in product(_alike(3, [three]), _alike(2, [two])):
            yield trips + pair


def _two_pairs() -> _Sets:
    for high, low in combinations(_ALL_RANKS, 2):
        for first, second in product(_alike(2, [high]), _alike(2, [low])):
            yield first + second


_FIVE_OR_SEVEN: Final[Mapping[str, Callable[[], _Sets]]] = {
    hands.SEVEN_CARD_STRAIGHT_FLUSH: lambda: _of_one_suit(RUNS[7]),
    hands.FIVE_ACES: lambda: ((*aces, JOKER) for aces in _alike(4, [ACE])),
    hands.ROYAL_FLUSH: lambda: _of_one_suit(RUNS[5][-1:]),
    hands.STRAIGHT_FLUSH: lambda: _of_one_suit(RUNS[5][:-1]),
    hands.FOUR_OF_A_KIND: lambda: _alike(4),
    hands.FULL_HOUSE: _full_houses,
    hands.FLUSH: lambda: _of_one_suit(combinations(_ALL_RANKS, 5)),
    hands.STRAIGHT: lambda: _of_any_suits(RUNS[5]),
    hands.THREE_OF_A_KIND: lambda: _alike(3),
    hands.TWO_PAIR: _two_pairs,
}

_FOUR_CARD: Final[Mapping[str, Callable[[], _Sets]]] = {
    hands.FOUR_ACES: lambda: _alike(4, [ACE]),
    hands.FOUR_OF_A_KIND: lambda: _alike(4, range(2, ACE)),
    hands.STRAIGHT_FLUSH: lambda: _of_one_suit(RUNS[4]),
    hands.THREE_OF_A_KIND: lambda: _alike(3),
}

_THREE_CARD: Final[Mapping[str, Callable[[], _Sets]]] = {
    hands.MINI_ROYAL: lambda: _of_one_suit(RUNS[3][-1:]),
    hands.STRAIGHT_FLUSH: lambda: _of_one_suit(RUNS[3][:-1]),
    hands.THREE_OF_A_KIND: lambda: _alike(3),
    hands.STRAIGHT: lambda: _of_any_suits(RUNS[3]),
}
