"""Who sits at a simulated table in one round, who plays two seats, who bets and who folds."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How guests and dealers behave: chances in per cent.

    `seated` that a seat is taken, `wagering` that a taken seat bets on a progressive, `folding`
    that its hand is folded, `doubling` that in a round one player plays two seats, `misdealing`
    that a round is void.
    """

    seated: int = 80
    wagering: int = 70
    folding: int = 20
    doubling: int = 15
    misdealing: int = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Guests:
    """One round's guests.

    `seats` were dealt cards; `wagers` has each progressive's betting seats, in order; `players`
    the seats of whoever plays more than one; `folded` the seats that gave up their hands.
    """

    seats: tuple[int, ...]
    wagers: Mapping[str, tuple[int, ...]]
    players: Mapping[int, str]
    folded: frozenset[int]

    def others(self, seat: int, progressive: str) -> bool:
        """Tell whether another player than the one at `seat` bets on the progressive."""
        holder = self.players.get(seat)
        return any(
            each != seat and (holder is None or self.players.get(each) != holder)
            for each in self.wagers[progressive]
        )


def seat_guests(
    seats: int,
    progressives: Collection[str],
    rng: Random,
    habits: Habits,
    keen: Collection[int] = (),
) -> Guests:
    """Choose the guests of a round at a table of `seats` seats.

    The seats of `keen` are taken, bet on every progressive and don't fold: stacked hands need
    them. The same `rng` state chooses the same guests.
    """

    def happens(percent: int) -> bool:
        return rng.randrange(100) < percent

    seated = [seat for seat in range(1, seats + 1) if happens(habits.seated) or seat in keen]
    wagers = {
        progressive: tuple(seat for seat in seated if happens(habits.wagering) or seat in keen)
        for progressive in progressives
    }
    folded = frozenset(seat for seat in seated if happens(habits.folding) and seat not in keen)
    players: dict[int, str] = {}
    if len(seated) > 1 and happens(habits.doubling):
        pair = rng.sample(seated, 2)
        players = dict.fromkeys(sorted(pair), f"player at {min(pair)} and {max(pair)}")
    return Guests(seats=tuple(seated), wagers=wagers, players=players, folded=folded)
