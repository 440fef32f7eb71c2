"""Which hand some cards are, in the words that paytables use.

A *kind* is a way of making a hand from dealt cards; a progressive uses one of them. Every
classifier names the highest hand of its kind, or returns None. None looks for a card that is
there twice: that is the deck's business.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from jackpotd.simulate.cards import ACE, JOKER_RANK, Card, SimulateError
from meters.theory import FIVE_CARD, FOUR_CARD, SEVEN_CARD, THREE_CARD

ROYAL_FLUSH: Final = "royal flush"
STRAIGHT_FLUSH: Final = "straight flush"
FOUR_OF_A_KIND: Final = "four of a kind"
FULL_HOUSE: Final = "full house"
FLUSH: Final = "flush"
STRAIGHT: Final = "straight"
THREE_OF_A_KIND: Final = "three of a kind"
TWO_PAIR: Final = "two pair"
FOUR_ACES: Final = "four aces"
MINI_ROYAL: Final = "mini royal"
SEVEN_CARD_STRAIGHT_FLUSH: Final = "seven card straight flush"
FIVE_ACES: Final = "five aces"


class HandError(SimulateError, ValueError):
    """Cards that a kind doesn't take, or hand names that belong to no kind."""


class Kind(StrEnum):
    """How a hand is made. The order decides where a paytable's hands fit several kinds."""

    FIVE_CARD = "five-card"
    FOUR_CARD = "four-card"
    THREE_CARD = "three-card"
    SEVEN_CARD = "seven-card"


FREQUENCIES: Final[Mapping[Kind, tuple[int, Mapping[str, int]]]] = {
    kind: (deal.total, deal.hands)
    for kind, deal in (
        (Kind.FIVE_CARD, FIVE_CARD),
        (Kind.FOUR_CARD, FOUR_CARD),
        (Kind.THREE_CARD, THREE_CARD),
        (Kind.SEVEN_CARD, SEVEN_CARD),
    )
}
"""Kind -> (equally likely deals, hand -> how many of them it is the highest hand of).

Hands stand from highest to lowest. Five- and four-card deals are 5 cards of 52, three-card 3 of
52, seven-card 7 of 53. DJ Wild's 5 of 53 with its joker replaced are as likely as 5 of 52: the
replacement is drawn from the same shuffle.
"""

CARDS: Final[Mapping[Kind, int]] = {
    Kind.FIVE_CARD: 5,
    Kind.FOUR_CARD: 5,
    Kind.THREE_CARD: 3,
    Kind.SEVEN_CARD: 7,
}
"""How many cards each kind looks at."""


def _runs(length: int) -> tuple[frozenset[int], ...]:
    """Return the ranks of every run, from the lowest; an ace is low only before a 2."""
    bottoms = range(1, ACE - length + 2)
    return tuple(
        frozenset(rank if rank > 1 else ACE for rank in range(low, low + length)) for low in bottoms
    )


RUNS: Final[Mapping[int, tuple[frozenset[int], ...]]] = {
    length: _runs(length) for length in (3, 4, 5, 7)
}
"""Length -> the ranks of every run of that length, the one up to the ace last."""

_RUN_SETS: Final = {length: frozenset(runs) for length, runs in RUNS.items()}


def _ranks(kind: Kind, cards: Sequence[Card]) -> list[int]:
    """Return the ranks of natural cards; HandError for a wrong number of cards or a joker."""
    ranks = [card.rank for card in cards]
    if len(ranks) != CARDS[kind] or JOKER_RANK in ranks:
        raise HandError(
            f"a {kind} hand is made of {CARDS[kind]} cards without a joker, "
            f"not of {' '.join(map(str, cards)) or 'none'}"
        )
    return ranks


def _suited(cards: Sequence[Card]) -> bool:
    return len({card.suit for card in cards}) == 1


def five_card(cards: Sequence[Card]) -> str | None:
    """Name a hand of five natural cards (§ 687a.6(c), and the same ranks in the other chapters).

    A pair and less are None. Twos are twos: the wild cards of § 687a.6(b) play no part in DJ
    Wild's progressive wager, since § 687a.6(d) lists no five of a kind and no five wilds for it
    (§ 687a.6(e) does for another wager), and § 687a.11(f)(1) takes the joker out of the hand.
    Raises HandError for another number of cards or a joker.
    """
    ranks = _ranks(Kind.FIVE_CARD, cards)
    distinct = set(ranks)
    match len(distinct):
        case 5:
            return _five_ranks(distinct, suited=_suited(cards))
        case 3:
            return THREE_OF_A_KIND if _most(ranks) == 3 else TWO_PAIR
        case 2:
            return FOUR_OF_A_KIND if _most(ranks) == 4 else FULL_HOUSE
    return None


def _five_ranks(distinct: set[int], *, suited: bool) -> str | None:
    if distinct not in _RUN_SETS[5]:
        return FLUSH if suited else None
    if not suited:
        return STRAIGHT
    return ROYAL_FLUSH if distinct == RUNS[5][-1] else STRAIGHT_FLUSH


def _most(ranks: list[int]) -> int:
    return max(map(ranks.count, ranks))


def four_card(cards: Sequence[Card]) -> str | None:
    """Name the best four of five natural cards, as the lines of § 641a.12(d)(1) stand.

    Two pairs and less are None, and so are a flush and a straight, which have no line.
    Raises HandError as `five_card`.
    """
    ranks = _ranks(Kind.FOUR_CARD, cards)
    most = _most(ranks)
    if most == 4:
        return FOUR_ACES if ranks.count(ACE) == 4 else FOUR_OF_A_KIND
    if most == 3:
        return THREE_OF_A_KIND
    suits = [card.suit for card in cards]
    suit = max(suits, key=suits.count)
    if suits.count(suit) < 4:
        return None
    held = {card.rank for card in cards if card.suit == suit}
    return STRAIGHT_FLUSH if any(run <= held for run in RUNS[4]) else None


def three_card(cards: Sequence[Card]) -> str | None:
    """Name a hand of three natural cards (§ 643a.6(d)); a flush and a pair are None.

    Raises HandError as `five_card`.
    """
    distinct = set(_ranks(Kind.THREE_CARD, cards))
    if len(distinct) == 1:
        return THREE_OF_A_KIND
    if distinct not in _RUN_SETS[3]:
        return None
    if not _suited(cards):
        return STRAIGHT
    return MINI_ROYAL if distinct == RUNS[3][-1] else STRAIGHT_FLUSH


def seven_card(cards: Sequence[Card]) -> str | None:
    """Name the highest paid hand in seven cards, one of them perhaps the joker (§ 561.6(h)).

    The joker is any card in the three straight flushes (§ 561.6(i), which is wider than the
    king to 10 of § 561.6(h)(3)). For the other hands the text names no use of it but the fifth
    ace, and an ace is what it is in four of a kind and full houses too: three aces and the joker
    are four of a kind. Order as paid, § 561.13d(f). Raises HandError for other than seven cards.
    """
    if len(cards) != CARDS[Kind.SEVEN_CARD]:
        raise HandError(f"a seven-card hand is not made of {len(cards)} cards")
    natural = [card for card in cards if card.rank != JOKER_RANK]
    jokers = len(cards) - len(natural)
    counts = Counter(card.rank for card in natural)
    counts[ACE] += jokers
    # Five aces and two more cards are never five of a suit: these two can stand in either order.
    if counts[ACE] == 5:
        return FIVE_ACES
    flush = _suited_run(natural, jokers)
    if flush:
        return flush
    (_, most), (_, second) = counts.most_common(2)
    if most >= 4:
        return FOUR_OF_A_KIND
    return FULL_HOUSE if most == 3 and second >= 2 else None


def _suited_run(natural: Sequence[Card], jokers: int) -> str | None:
    """Name the best straight flush of one suit and at most `jokers` missing cards."""
    suits = [card.suit for card in natural]
    suit = max(suits, key=suits.count)
    if suits.count(suit) + jokers < 5:
        return None
    held = {card.rank for card in natural if card.suit == suit}
    if any(len(run - held) <= jokers for run in RUNS[7]):
        return SEVEN_CARD_STRAIGHT_FLUSH
    if len(RUNS[5][-1] - held) <= jokers:
        return ROYAL_FLUSH
    return STRAIGHT_FLUSH if any(len(run - held) <= jokers for run in RUNS[5]) else None


CLASSIFIERS: Final[Mapping[Kind, Callable[[Sequence[Card]], str | None]]] = {
    Kind.FIVE_CARD: five_card,
    Kind.FOUR_CARD: four_card,
    Kind.THREE_CARD: three_card,
    Kind.SEVEN_CARD: seven_card,
}


def kind_for(hand_names: Iterable[str], kinds: Iterable[Kind] = tuple(Kind)) -> Kind:
    """Return the first of `kinds` that has every hand of a paytable.

    Without `kinds`: four aces means four-card, a mini royal three-card, a seven card straight
    flush or five aces seven-card, and everything else five-card. With a game's kinds, one of
    its own. Raises HandError where none has them all, or no hand is named.
    """
    wanted = set(hand_names)
    offered = tuple(kinds)
    for kind in offered:
        if wanted and wanted <= FREQUENCIES[kind][1].keys():
            return kind
    raise HandError(
        f"no kind of hand ({', '.join(offered)}) has every one of: "
        f"{', '.join(sorted(wanted)) or 'no hand at all'}"
    )
