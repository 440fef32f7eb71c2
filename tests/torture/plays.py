"""What is played: a floor of six tables on two progressives, and their rounds, made by chance."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import Any

Message = dict[str, Any]

SEATS = 6
PROPERTY = """\
property: Riverside
currency: USD
timezone: America/New_York
gaming_day: "06:00"
store: {store}
tables_listen: tcp:0:interface=127.0.0.1
http_listen: tcp:0:interface=127.0.0.1
tables:
  T1: {{game: let-it-ride, seats: 6}}
  T2: {{game: let-it-ride, seats: 6}}
  T3: {{game: let-it-ride, seats: 6}}
  T4: {{game: let-it-ride, seats: 6}}
  H5: {{game: let-it-ride, seats: 6}}
  H6: {{game: let-it-ride, seats: 6}}
progressives:
  royal:
    wager: $5
    tables: [T1, T2, T3, T4]
    hold_table: false
    paytable:
      title: Fractions, a reserve and a cap
      levels:
        mega: {{seed: $100, increment: 3.7%, reserve: 1.1%, cap: $140}}
        minor: {{seed: $25, increment: 1.2345%}}
      pays:
        royal flush: 100% of mega
        straight flush: 10% of mega
        four of a kind: 100% of minor
        full house: 3 for 1 from minor
        flush: 4 for 1
      envy: {{royal flush: $1 for 1}}
  second:
    wager: $1
    tables: [T1, H5, H6]
    hold_table: true
    paytable:
      title: Every award is seen by the floor
      validate: all
      levels:
        meter: {{seed: $50, increment: 21%}}
      pays:
        royal flush: 100% of meter
        straight flush: 10% of meter
        flush: 5 to 1
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A table: its name, its progressives, and whether it waits for the floor."""

    name: str
    progressives: tuple[str, ...]
    waits: bool = False


# T1 has two jackpots; but then a hit of the second would hold it, and it could not be pipelined.
PLACES = (
    Place(name="T1", progressives=("royal", "second")),
    Place(name="T2", progressives=("royal",)),
    Place(name="T3", progressives=("royal",)),
    Place(name="T4", progressives=("royal",)),
    Place(name="H5", progressives=("second",), waits=True),
    Place(name="H6", progressives=("second",), waits=True),
)

HANDS = {
    "royal": ("royal flush", "straight flush", "four of a kind", "full house", "flush"),
    "second": ("royal flush", "straight flush", "flush"),
}
HITS_IN_TEN = 3
VOIDS_IN_TEN = 1
ENVY_ONLY_IN_TEN = 1


class Shoe:
    """Deals one table's rounds, by chance alone: whoever has the same chance gets the same."""

    def __init__(self, place: Place, chance: Random) -> None:
        self.place = place
        self._chance = chance
        self._round = 0

    def next_round(self) -> list[Message]:
        """Return the messages of the next round, all of which must be accepted in this order."""
        self._round += 1
        seats = sorted(self._chance.sample(range(1, SEATS + 1), self._chance.randint(1, SEATS)))
        locks = [self._lock(progressive, seats) for progressive in self.place.progressives]
        dice = self._chance.randrange(10)
        if dice < HITS_IN_TEN:
            return locks + self._hits(seats)
        if dice < HITS_IN_TEN + VOIDS_IN_TEN:
            return [*locks, self.misdeal()]
        return locks

    def presses_on(self) -> bool:
        """Tell whether the dealer tries the next round while the floor is still on its way."""
        return self._chance.randrange(2) == 0

    def misdeal(self) -> Message:
        """Return the message that voids the round."""
        return self._message("void", reason="misdeal")

    def _message(self, kind: str, **rest: Any) -> Message:
        return {"type": kind, "table": self.place.name, "round": self._round, **rest}

    def _lock(self, progressive: str, seats: list[int]) -> Message:
        lock = self._message("wager", progressive=progressive, seats=seats)
        if self._chance.randrange(4) == 0:
            lock["players"] = {str(seat): f"player {seat % 2}" for seat in seats}
        return lock

    def _hits(self, seats: list[int]) -> list[Message]:
        holders = self._chance.sample(seats, self._chance.randint(1, min(2, len(seats))))
        progressive = self.place.progressives[0]
        hits = [self._hit(seat, self._chance.choice(HANDS[progressive])) for seat in holders]
        others = [seat for seat in range(1, SEATS + 1) if seat not in seats]
        # Somebody without a wager, whose hand gives the others Envy and pays himself nothing.
        if progressive == "royal" and others and self._chance.randrange(10) < ENVY_ONLY_IN_TEN:
            hits.append(self._hit(self._chance.choice(others), "royal flush"))
        return hits

    def _hit(self, seat: int, hand: str) -> Message:
        progressive = self.place.progressives[0]
        return self._message("hit", progressive=progressive, seat=seat, hand=hand)
