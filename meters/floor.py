"""The state of the property, and the one fold that moves its money: `Floor.apply`.

It reads like rules 3 to 8. No clock, socket, database or randomness: whoever folds the same
events gets the same state and the same answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from meters.events import Confirm, Deny, Event, Hit, Opened, TableEvent, TableSet, Void, Wager
from meters.level import Level
from meters.money import MAX_MINOR
from meters.outcomes import (
    Accepted,
    Awarded,
    Code,
    Confirmed,
    Denied,
    Noted,
    Outcome,
    Refused,
    Repeated,
    Returned,
    Seeding,
    Status,
    Voided,
)
from meters.progressive import Progressive
from meters.table import Lock, Table

_NOTHING_CHANGED = (Refused, Repeated)


@dataclass(slots=True, kw_only=True)
class Pending:
    """An award that waits for a floorperson (rules 4.5)."""

    hit: int
    table: str
    round: int
    seat: int
    hand: str
    cards: tuple[str, ...]
    at_ms: int
    award: Awarded


@dataclass(slots=True, kw_only=True)
class Floor:
    """All that the record says, folded. `number` is the last event's."""

    number: int = 0
    next_hit: int = 1
    tables: dict[str, Table] = field(default_factory=dict)
    progressives: dict[str, Progressive] = field(default_factory=dict)
    pending: dict[int, Pending] = field(default_factory=dict)

    def apply(self, event: Event, at_ms: int) -> Outcome:
        """Fold one event in. A `Refused` or `Repeated` outcome has changed nothing."""
        match event:
            case Wager() | Hit() | Void():
                outcome = self._table_event(event, at_ms)
            case Confirm():
                outcome = self._confirm(event)
            case Deny():
                outcome = self._deny(event)
            case TableSet():
                outcome = self._set_table(event)
            case _:
                outcome = self._open(event)
        if not isinstance(outcome, _NOTHING_CHANGED):
            self.number += 1
        return outcome

    def pending_at(self, table: str) -> list[int]:
        """Return the pending hits of a table, oldest first."""
        return [hit for hit, pending in self.pending.items() if pending.table == table]

    # The floor is set up (rules 2)

    def _set_table(self, event: TableSet) -> Outcome:
        table = self.tables.get(event.table)
        if table is None:
            self.tables[event.table] = Table(name=event.table, game=event.game, seats=event.seats)
        else:
            table.game, table.seats = event.game, event.seats
        return Noted()

    def _open(self, event: Opened) -> Outcome:
        terms = event.terms
        progressive = Progressive(terms=terms, levels=[Level(terms=each) for each in terms.levels])
        for level in progressive.levels:
            level.open()
        for name in terms.tables:
            self.tables[name].progressives.append(terms.name)
        self.progressives[terms.name] = progressive
        return Noted(meters={terms.name: progressive.shown()})

    # What a table sends, in the order in which the protocol checks it

    def _table_event(self, event: TableEvent, at_ms: int) -> Outcome:
        table = self.tables.get(event.table)
        if table is None:
            return Refused(code=Code.UNKNOWN_TABLE, message=f"there is no table {event.table}")
        if event.seq < table.next_seq:
            return Repeated(table=event.table, seq=event.seq)
        if event.seq > table.next_seq:
            return Refused(
                code=Code.SEQ_GAP,
                message=f"seq {event.seq} is too early: {table.next_seq} is next",
                expected=table.next_seq,
            )
        if isinstance(event, Void):
            outcome = self._void(table, event)
        else:
            outcome = self._at_progressive(table, event, at_ms)
        if not isinstance(outcome, Refused):
            table.next_seq += 1
        return outcome

    def _at_progressive(self, table: Table, event: Wager | Hit, at_ms: int) -> Outcome:
        name = event.progressive
        if name is None and len(table.progressives) == 1:
            name = table.progressives[0]
        if name is None or name not in table.progressives:
            known = ", ".join(table.progressives) or "none"
            message = f"{name} is not at {table.name}, which has {known}"
            if name is None:
                message = f"name the progressive: {table.name} has {known}"
            return Refused(code=Code.UNKNOWN_PROGRESSIVE, message=message)
        progressive = self.progressives[name]
        if progressive.retired:
            return Refused(code=Code.RETIRED, message=f"{name} is retired and takes no wagers")
        seats = (*event.seats, *event.players) if isinstance(event, Wager) else (event.seat,)
        highest = max(seats)
        if highest > table.seats:
            return Refused(
                code=Code.BAD_SEAT,
                message=f"there is no seat {highest} at {table.name}: seats are 1 to {table.seats}",
            )
        if isinstance(event, Wager):
            return self._wager(table, progressive, event)
        return self._hit(table, progressive, event, at_ms)

    # Wager (rules 3)

    def _wager(self, table: Table, progressive: Progressive, event: Wager) -> Outcome:
        terms = progressive.terms
        held = self._held_by(table) if table.holding else []
        refused = table.refuse_lock(terms.name, event.round, held=held)
        if refused is not None:
            return refused
        wagers_minor = terms.wager_minor * len(event.seats)
        shares_units = []
        for level in progressive.levels:
            shares = level.shares(wagers_minor)
            if wagers_minor > MAX_MINOR or not level.has_room(sum(shares)):
                return Refused(
                    code=Code.UNAVAILABLE,
                    message=f"an amount of {terms.name} would pass the largest one, 2^62 units: "
                    "it can't take these wagers until it has paid",
                )
            shares_units.append(shares)
        for level, shares in zip(progressive.levels, shares_units, strict=True):
            level.add(*shares)
        if event.round > table.round:
            table.round, table.voided = event.round, False
            table.locks, table.players = {}, {}
        table.players.update(event.players)
        table.locks[terms.name] = Lock(
            number=self.number + 1,
            seats=event.seats,
            wagers_minor=wagers_minor,
            shares_units=shares_units,
        )
        return Accepted(
            progressive=terms.name,
            amount_minor=wagers_minor,
            meters={terms.name: progressive.shown()},
        )

    # Hit (rules 4 to 6)

    def _hit(self, table: Table, progressive: Progressive, event: Hit, at_ms: int) -> Outcome:
        terms = progressive.terms
        closed = table.refuse_closed(event.round)
        if closed is not None:
            return closed
        line = terms.pays.get(event.hand)
        if line is None:
            return Refused(
                code=Code.UNKNOWN_HAND,
                message=f"{terms.name} has no line for {event.hand!r}; "
                f"its hands are: {', '.join(terms.pays)}",
            )
        lock = table.locks.get(terms.name) if event.round == table.round else None
        if lock is not None and event.seat in lock.hits:
            return Refused(
                code=Code.DUPLICATE_HIT,
                message=f"seat {event.seat} has hit {lock.hits[event.seat]} in round "
                f"{event.round} already: one hit a seat, round and progressive",
            )
        wins = (
            lock is not None
            and event.seat in lock.seats
            and (not event.folded or terms.folded_hands_qualify)
        )
        envy = table.envy(lock, terms, event)
        if lock is None or not (wins or envy):
            return Refused(
                code=Code.NO_WAGER,
                message=f"seat {event.seat} has no accepted wager on {terms.name} in round "
                f"{event.round} that this hand can win, and it gives nobody Envy",
            )
        award = progressive.award(
            line if wins else None,
            event.hand,
            envy,
            hit=self.next_hit,
            number=self.number + 1,
        )
        self.next_hit += 1
        lock.hits[event.seat] = award.hit
        if award.status is Status.PENDING:
            self.pending[award.hit] = Pending(
                hit=award.hit,
                table=table.name,
                round=event.round,
                seat=event.seat,
                hand=event.hand,
                cards=event.cards,
                at_ms=at_ms,
                award=award,
            )
            table.holding += terms.hold_table
        return award

    # Confirm, deny (rules 7)

    def _settling(self, hit: int) -> Pending | Refused | Repeated:
        pending = self.pending.get(hit)
        if pending is not None:
            return pending
        if hit >= self.next_hit:
            return Refused(code=Code.UNKNOWN_HIT, message=f"there is no hit {hit}")
        return Repeated(hit=hit)

    def _confirm(self, event: Confirm) -> Outcome:
        pending = self._settling(event.hit)
        if not isinstance(pending, Pending):
            return pending
        award = pending.award
        self._release(pending)
        if award.level is not None:
            level = self.progressives[award.progressive].level(award.level)
            level.settle(award.hit)
            level.forget(self.pending)
        return Confirmed(
            hit=award.hit,
            table=pending.table,
            round=pending.round,
            seat=pending.seat,
            progressive=award.progressive,
            amount_minor=award.amount_minor,
            source=award.source,
            envy=award.envy,
            by=event.by,
        )

    def _deny(self, event: Deny) -> Outcome:
        pending = self._settling(event.hit)
        if not isinstance(pending, Pending):
            return pending
        award = pending.award
        self._release(pending)
        table = self.tables[pending.table]
        if table.round == pending.round:
            del table.locks[award.progressive].hits[pending.seat]
        progressive = self.progressives[award.progressive]
        seeding = Seeding(house_units=0, reserve_units=0)
        later_hits: tuple[int, ...] = ()
        if award.level is not None:
            level = progressive.level(award.level)
            seeding = level.give_back(award.hit, award.taken_minor)
            level.standing_hits.remove(award.hit)
            later_hits = tuple(hit for hit in level.standing_hits if hit > award.hit)
            level.forget(self.pending)
        return Denied(
            hit=award.hit,
            table=pending.table,
            round=pending.round,
            seat=pending.seat,
            progressive=award.progressive,
            level=award.level,
            taken_minor=award.taken_minor,
            house_minor=award.amount_minor - award.taken_minor,
            envy_minor=sum(each.amount_minor for each in award.envy),
            seeding=seeding,
            later_hits=later_hits,
            by=event.by,
            meters={award.progressive: progressive.shown()},
        )

    def _holds(self, pending: Pending) -> bool:
        return self.progressives[pending.award.progressive].terms.hold_table

    def _held_by(self, table: Table) -> list[int]:
        return [hit for hit in self.pending_at(table.name) if self._holds(self.pending[hit])]

    def _release(self, pending: Pending) -> None:
        del self.pending[pending.hit]
        self.tables[pending.table].holding -= self._holds(pending)

    # Void round (rules 8)

    def _void(self, table: Table, event: Void) -> Outcome:
        closed = table.refuse_closed(event.round)
        if closed is not None:
            return closed
        if event.round > table.round:
            return Refused(
                code=Code.ROUND_CLOSED,
                message=f"round {event.round} has no lock at {table.name} to void; "
                f"the current round is {table.round}",
            )
        hits = [hit for lock in table.locks.values() for hit in lock.hits.values()]
        if hits:
            return Refused(
                code=Code.ROUND_SETTLED,
                message=f"round {event.round} has hit {min(hits)}, which stands: "
                "only a round without one can be voided",
            )
        wagers_minor, returned = {}, []
        for name, lock in table.locks.items():
            wagers_minor[name] = lock.wagers_minor
            levels = self.progressives[name].levels
            for level, shares in zip(levels, lock.shares_units, strict=True):
                back = level.take_back(*shares, since=lock.number)
                returned.append(
                    Returned(
                        progressive=name,
                        level=level.terms.name,
                        primary_units=back[0],
                        reserve_units=back[1],
                        lost_units=sum(shares) - sum(back),
                    )
                )
        table.voided, table.locks, table.players = True, {}, {}
        return Voided(
            amount_minor=sum(wagers_minor.values()),
            wagers_minor=wagers_minor,
            returned=tuple(returned),
            meters={name: self.progressives[name].shown() for name in wagers_minor},
        )
