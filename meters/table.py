"""A table on the floor: its current round, its locks, and which round it may play."""

from __future__ import annotations

from dataclasses import dataclass, field

from meters.events import Hit
from meters.outcomes import Code, Envy, Refused
from meters.terms import Terms


@dataclass(slots=True, kw_only=True)
class Lock:
    """One progressive's accepted wagers in a table's current round.

    `shares_units` has each level's (primary, reserve) shares as they went in; `hits` the hit of
    each seat that stands; `number` the event's number.
    """

    number: int
    seats: tuple[int, ...]
    wagers_minor: int
    shares_units: list[tuple[int, int]]
    hits: dict[int, int] = field(default_factory=dict)


@dataclass(slots=True, kw_only=True)
class Table:
    """A table: its seats, its next `seq`, and its current round."""

    name: str
    game: str
    seats: int
    next_seq: int = 1
    round: int = 0
    voided: bool = False
    locks: dict[str, Lock] = field(default_factory=dict)
    players: dict[int, str] = field(default_factory=dict)
    progressives: list[str] = field(default_factory=list)
    holding: int = 0

    def refuse_lock(self, progressive: str, round_: int, *, held: list[int]) -> Refused | None:
        """Say why this progressive can't be locked in this round; None if it can (rules 3.3, 4.7).

        `held` are the pending hits for which the table waits.
        """
        closed = self.refuse_closed(round_)
        if closed is not None:
            return closed
        if round_ > self.round:
            if held:
                hits = ", ".join(str(hit) for hit in held)
                return Refused(
                    code=Code.TABLE_HELD,
                    message=f"{self.name} waits for the floor to confirm or deny hit {hits}",
                )
            return None
        if progressive in self.locks:
            return Refused(
                code=Code.ROUND_LOCKED,
                message=f"round {round_} is locked for {progressive} already: one lock a round",
            )
        if any(lock.hits for lock in self.locks.values()):
            return Refused(
                code=Code.ROUND_LOCKED,
                message=f"round {round_} has a hit: all its locks come before the first hit",
            )
        return None

    def refuse_closed(self, round_: int) -> Refused | None:
        """Say why nothing more can happen in this round; None if something can."""
        if round_ < self.round:
            return Refused(
                code=Code.ROUND_CLOSED,
                message=f"round {round_} is over at {self.name}, which is at round {self.round}",
            )
        if round_ == self.round and self.voided:
            return Refused(
                code=Code.ROUND_CLOSED,
                message=f"round {round_} was voided at {self.name}: a later round is next",
            )
        return None

    def envy(self, lock: Lock | None, terms: Terms, event: Hit) -> tuple[Envy, ...]:
        """Every other player's wagering seat gets the hand's Envy, never one's own (rules 6)."""
        amount_minor = terms.envy.get(event.hand)
        if lock is None or amount_minor is None:
            return ()
        holder = self.players.get(event.seat)
        return tuple(
            Envy(seat=seat, amount_minor=amount_minor)
            for seat in sorted(lock.seats)
            if seat != event.seat and (holder is None or self.players.get(seat) != holder)
        )
