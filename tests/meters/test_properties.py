"""The fold against a plain model of the rules, over drawn properties and drawn events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from meters.events import Confirm, Deny, Event, Hit, Opened, TableEvent, Void, Wager
from meters.outcomes import Accepted
from tests.audit import Audit
from tests.builders import Pit
from tests.chance import HANDS, SEATS, TABLES, Drawn, a_progressive, a_property

SEEDS = st.integers(0, 2**64)
SEAT_NUMBERS = range(1, SEATS + 1)


class Play:
    """A property where tables and floor act by chance: mostly as they may, sometimes wrong."""

    def __init__(self, drawn: dict[str, Drawn], chance: Random) -> None:
        self.drawn = drawn
        self.chance = chance
        self.audit = Audit(dict.fromkeys(TABLES, SEATS))
        for each in drawn.values():
            self.audit.open(Opened(terms=each.terms), each.plain)

    def go_on(self) -> None:
        """Let one thing happen."""
        chance = self.chance
        wager, win, deny = self.wager, self.win, self.deny
        kinds: list[Callable[[], Event]] = [
            *[wager, wager, wager, win, win, win, win, deny, deny],
            *[self.hit, self.void, self.confirm],
        ]
        event = chance.choice(kinds)()
        if isinstance(event, Wager | Hit | Void) and chance.randrange(15) == 0:
            event = self.spoiled(event)
        self.audit.apply(event)
        if chance.randrange(15) == 0:
            self.send_again()

    def send_again(self) -> None:
        sent = [each for each in self.audit.events if isinstance(each, TableEvent | Confirm | Deny)]
        if sent:
            self.audit.again(self.chance.choice(sent))

    def table(self) -> str:
        return self.chance.choice(
            [name for each in self.drawn.values() for name in each.plain.tables]
        )

    def progressive(self, table: str) -> str | None:
        there = [name for name, each in self.drawn.items() if table in each.plain.tables]
        return None if len(there) == 1 and self.chance.randrange(2) else self.chance.choice(there)

    def seq(self, table: str) -> int:
        return self.audit.floor.tables[table].next_seq

    def some_seats(self, least: int) -> list[int]:
        return self.chance.sample(SEAT_NUMBERS, self.chance.randint(least, SEATS))

    def wager(self) -> Wager:
        table = self.table()
        return Wager(
            table=table,
            seq=self.seq(table),
            round=max(1, self.audit.plain.round(table) + self.chance.choice([0, 1, 1])),
            seats=tuple(self.some_seats(1)),
            progressive=self.progressive(table),
            players={seat: self.chance.choice(["Ann", "Bob"]) for seat in self.some_seats(0)},
        )

    def win(self) -> Event:
        """A hit of a seat that wagered in the round that is played and has no hit yet."""
        plain = self.audit.plain
        hits = [(hit.table, hit.round, hit.seat) for hit in plain.hits if hit.stands]
        seats = [
            (lock, seat)
            for lock in plain.locks
            if lock.round == plain.round(lock.table) and not lock.voided
            for seat in lock.seats
            if (lock.table, lock.round, seat) not in hits
        ]
        if not seats:
            return self.wager()
        lock, seat = self.chance.choice(seats)
        return Hit(
            table=lock.table,
            seq=self.seq(lock.table),
            round=lock.round,
            seat=seat,
            hand=self.chance.choice(HANDS),
            progressive=lock.progressive,
            folded=self.chance.randrange(8) == 0,
        )

    def hit(self) -> Hit:
        table = self.table()
        return Hit(
            table=table,
            seq=self.seq(table),
            round=max(1, self.audit.plain.round(table)),
            seat=self.chance.choice(SEAT_NUMBERS),
            hand=self.chance.choice(HANDS),
            progressive=self.progressive(table),
            folded=self.chance.randrange(2) == 0,
        )

    def void(self) -> Event:
        table = self.table()
        round_ = max(1, self.audit.plain.round(table))
        return Void(table=table, seq=self.seq(table), round=round_, reason="misdeal")

    def confirm(self) -> Event:
        hit = self.waiting_hit()
        return Confirm(hit=hit, by="Fay") if hit else self.wager()

    def deny(self) -> Event:
        hit = self.waiting_hit()
        return Deny(hit=hit, by="Fay", reason="misread") if hit else self.wager()

    def waiting_hit(self) -> int:
        """One that waits, or 0; sometimes one that is settled, or that there isn't."""
        waiting = [hit.number for hit in self.audit.plain.pending()]
        if self.chance.randrange(12) == 0:
            return self.chance.randint(1, len(self.audit.plain.hits) + 1)
        return self.chance.choice(waiting) if waiting else 0

    def spoiled(self, event: TableEvent) -> TableEvent:
        """Return the message with one thing wrong."""
        chance = self.chance
        faults: list[TableEvent] = [
            replace(event, table="T9"),
            replace(event, seq=event.seq + 1),
            replace(event, seq=max(1, event.seq - 1)),
            replace(event, round=max(1, event.round - 1)),
            replace(event, round=event.round + 2),
        ]
        if isinstance(event, Wager | Hit):
            faults.append(replace(event, progressive=chance.choice([None, "red", "none"])))
        if isinstance(event, Wager):
            faults.append(replace(event, seats=(*event.seats, SEATS + 1)))
            faults.append(replace(event, players={SEATS + 1: "Ann"}))
        if isinstance(event, Hit):
            faults.append(replace(event, seat=SEATS + 1))
            faults.append(replace(event, hand="a pair"))
        return chance.choice(faults)


@settings(max_examples=200)
@given(chance=st.randoms(use_true_random=False), length=st.integers(1, 40))
def test_the_fold_and_the_plain_model_say_the_same(chance: Random, length: int) -> None:
    play = Play(a_property(chance), chance)
    for _ in range(length):
        play.go_on()


@settings(max_examples=100)
@given(seed=SEEDS)
def test_they_still_do_after_a_long_play(seed: int) -> None:
    chance = Random(seed)
    play = Play(a_property(chance), chance)
    for _ in range(150):
        play.go_on()
    assert play.audit.folded_again() == play.audit.floor


def wagers_alone(events: list[Event]) -> list[Wager]:
    """Return the wagers, each table's `seq` counted anew."""
    left, sent = [], dict.fromkeys(TABLES, 0)
    for event in events:
        if isinstance(event, Wager):
            sent[event.table] += 1
            left.append(replace(event, seq=sent[event.table]))
    return left


@settings(max_examples=200)
@given(seed=SEEDS)
def test_7_2_denying_every_hit_in_any_order_leaves_no_trace(seed: int) -> None:
    chance = Random(seed)
    drawn = a_progressive(chance, "royal", all_wait=True)
    play = Play({"royal": drawn}, chance)
    for _ in range(chance.randint(1, 40)):
        step = chance.choice([play.wager, play.win, play.win, play.win, play.deny])
        event = step()
        if not isinstance(event, Deny) or event.hit in play.audit.floor.pending:
            play.audit.apply(event)
    waiting = list(play.audit.floor.pending)
    for hit in chance.sample(waiting, len(waiting)):
        play.audit.apply(Deny(hit=hit, by="Fay", reason="misread"))

    never = Pit(drawn.terms, seats=SEATS)
    for event in wagers_alone(play.audit.events):
        assert isinstance(never.apply(event), Accepted)
    for level in drawn.plain.levels:
        standing = play.audit.floor.progressives["royal"].level(level)
        assert (standing.primary_units, standing.reserve_units) == never.balances(level)
    assert +play.audit.books == +never.books
    assert -play.audit.books == -never.books
