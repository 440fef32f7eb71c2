"""The games: how many cards each deals, which kinds of hand they make, and who is settled first.

Seats are numbered as the dealer deals: seat 1 is farthest to the dealer's left, and the numbers
rise clockwise to the seat farthest to the dealer's right. Burned cards, and the third community
card of Let It Ride that nobody sees (§ 643a.10(b)), stay in the deck here: a shuffled deck doesn't
notice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from itertools import islice
from random import Random
from typing import Final

from jackpotd.simulate.cards import DECK, DECK_WITH_JOKER, JOKER, Card, DealError
from jackpotd.simulate.hands import CARDS, CLASSIFIERS, FREQUENCIES, Kind
from jackpotd.simulate.rig import Stack, stack_deck


class End(Enum):
    """The end of the table, seen by the dealer, at which settling begins."""

    LEFT = "left"
    RIGHT = "right"


@dataclass(frozen=True, slots=True, kw_only=True)
class Game:
    """A game as it is dealt.

    `own` cards go to each player and `dealer` cards to the dealer; a kind of hand that looks at
    more cards than a player has takes the first ones of `community`. `replaces_joker` deals one
    more card, which takes the joker's place in a player's hand. `kinds` are those of the game's
    progressives.
    """

    name: str
    source: str
    own: int
    kinds: tuple[Kind, ...]
    deck: tuple[Card, ...] = DECK
    dealer: int = 0
    community: int = 0
    replaces_joker: bool = False
    settles_from: End = End.RIGHT

    @property
    def most_seats(self) -> int:
        """Return how many seats the deck has cards for."""
        return (len(self.deck) - self.dealer - self.community - self.replaces_joker) // self.own

    def settling_order(self, seats: Iterable[int]) -> tuple[int, ...]:
        """Return the seats in the order in which the dealer settles them, counterclockwise.

        From the right that is from the highest number down. § 687a.11(e) begins at the left and
        goes counterclockwise too: after the lowest number that leads past the dealer to the
        highest, and down from there.
        """
        falling = sorted(seats, reverse=True)
        if self.settles_from is End.LEFT:
            return tuple(falling[-1:] + falling[:-1])
        return tuple(falling)


GAMES: Final[Mapping[str, Game]] = {
    game.name: game
    for game in (
        Game(
            name="caribbean-stud",
            # Its settling order is not in the texts at hand; it is that of the chapters beside it.
            source="§§ 639a.10(b), 639a.12(d)",
            own=5,
            dealer=5,
            kinds=(Kind.FIVE_CARD,),
        ),
        Game(
            name="four-card-poker",
            source="§§ 641a.8(d), 641a.11(c), 641a.12(d)-(e)",
            own=5,
            dealer=6,
            kinds=(Kind.FIVE_CARD, Kind.FOUR_CARD),
        ),
        Game(
            name="let-it-ride",
            source="§§ 643a.10(b), 643a.11(f)-(g)",
            own=3,
            community=2,
            kinds=(Kind.FIVE_CARD, Kind.THREE_CARD),
        ),
        Game(
            name="texas-holdem-bonus",
            # Two cards and the flop. § 647a.7(d)(4) says so for the Five Card Hand Bonus, and for
            # the progressive § 647a.12(d) prints the lines and rates of the five-card games: with
            # the best five of seven cards, full houses alone would return 130%.
            source="§§ 647a.7(d)(4), 647a.9(d)-(e), 647a.12(d)",
            own=2,
            dealer=2,
            community=5,
            kinds=(Kind.FIVE_CARD,),
        ),
        Game(
            name="dj-wild-stud",
            source="§§ 687a.3(a), 687a.8(d)-(f), 687a.11(e)-(f)",
            own=5,
            dealer=5,
            deck=DECK_WITH_JOKER,
            replaces_joker=True,
            settles_from=End.LEFT,
            kinds=(Kind.FIVE_CARD,),
        ),
        Game(
            name="pai-gow-poker",
            source="§§ 561.6(h)-(i), 561.13(l), 561.13d",
            own=7,
            dealer=7,
            deck=DECK_WITH_JOKER,
            kinds=(Kind.SEVEN_CARD,),
        ),
    )
}
"""Game word -> game."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatCards:
    """What one seat was dealt, and for each kind of the game the cards that make its hand."""

    seat: int
    own: tuple[Card, ...]
    making: Mapping[Kind, tuple[Card, ...]]

    def hand(self, kind: Kind) -> str | None:
        """Name the highest hand of this kind; KeyError for a kind the game doesn't have."""
        return CLASSIFIERS[kind](self.making[kind])


@dataclass(frozen=True, slots=True, kw_only=True)
class DealtRound:
    """One deal: the seats in the order of settling, and what lies before the dealer.

    `replacement` is the card that stands in for the joker (§ 687a.11(f)(1)), where there is one.
    """

    game: Game
    seats: tuple[SeatCards, ...]
    dealer: tuple[Card, ...]
    community: tuple[Card, ...]
    replacement: tuple[Card, ...]

    def at(self, seat: int) -> SeatCards:
        """Return a seat's cards; KeyError for a seat that was not dealt."""
        for dealt in self.seats:
            if dealt.seat == seat:
                return dealt
        raise KeyError(seat)


def deal(
    game: Game,
    seats: Iterable[int],
    rng: Random,
    rig: Mapping[int, str | tuple[Kind, str]] | None = None,
) -> DealtRound:
    """Deal one shuffled deck to the seats that play. The same `rng` state deals the same cards.

    `rig` stacks the deck: seat -> the hand it is to hold, of the first of the game's kinds that
    has it, or a pair of kind and hand ("straight flush" is two things in Four Card Poker). Where
    kinds share cards, the others fall as they may. Raises DealError for seats that aren't
    positive numbers, more than the deck has cards for, a rigged seat that doesn't play, a hand
    that the game doesn't have, and hands that one deck wouldn't give together.
    """
    playing = sorted(set(seats))
    _check_seats(game, playing, rig or {})
    stack = _stack(game, rig or {}, rng)
    rest = [card for card in game.deck if card not in stack.cards()]
    rng.shuffle(rest)
    top = iter(rest)
    # The rest of the deck goes round as § 687a.8(d)-(f) has it: stacks, dealer, table.
    own = {seat: stack.own.get(seat) or _take(top, game.own) for seat in playing}
    dealer = _take(top, game.dealer)
    community = stack.community + _take(top, game.community - len(stack.community))
    replacement = _take(top, int(game.replaces_joker))
    return DealtRound(
        game=game,
        seats=tuple(
            SeatCards(
                seat=seat,
                own=own[seat],
                making=_making(game, own[seat], community, replacement),
            )
            for seat in game.settling_order(playing)
        ),
        dealer=dealer,
        community=community,
        replacement=replacement,
    )


def _check_seats(game: Game, playing: Collection[int], rigged: Iterable[int]) -> None:
    if not playing or min(playing) < 1:
        raise DealError("a deal needs seats, numbered from 1")
    if len(playing) > game.most_seats:
        raise DealError(
            f"a deck of {len(game.deck)} cards deals {game.name} to at most {game.most_seats} "
            f"seats, not to {len(playing)}"
        )
    absent = sorted(set(rigged).difference(playing))
    if absent:
        raise DealError(f"rigged seats that don't play: {', '.join(map(str, absent))}")


def _stack(game: Game, rig: Mapping[int, str | tuple[Kind, str]], rng: Random) -> Stack:
    if not rig:
        return Stack(own={})
    # Where the joker is replaced, a rigged hand has none: the replacement can't undo it.
    deck = DECK if game.replaces_joker else game.deck
    wanted = {seat: _kind_and_hand(game, hand) for seat, hand in rig.items()}
    return stack_deck(wanted, deck=deck, own=game.own, rng=rng)


def _kind_and_hand(game: Game, wanted: str | tuple[Kind, str]) -> tuple[Kind, str]:
    kinds, hand = (game.kinds, wanted) if isinstance(wanted, str) else ((wanted[0],), wanted[1])
    for kind in kinds:
        if kind in game.kinds and hand in FREQUENCIES[kind][1]:
            return kind, hand
    has = "; ".join(f"{kind}: {', '.join(FREQUENCIES[kind][1])}" for kind in game.kinds)
    raise DealError(f"{game.name} has no {' '.join(kinds)} hand {hand!r}, only {has}")


def _take(top: Iterator[Card], count: int) -> tuple[Card, ...]:
    return tuple(islice(top, count))


def _making(
    game: Game,
    own: tuple[Card, ...],
    community: tuple[Card, ...],
    replacement: tuple[Card, ...],
) -> dict[Kind, tuple[Card, ...]]:
    if game.replaces_joker and JOKER in own:
        own = tuple(card for card in own if card != JOKER) + replacement
    return {kind: own + community[: CARDS[kind] - len(own)] for kind in game.kinds}
