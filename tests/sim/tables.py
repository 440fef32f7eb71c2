"""Table controllers: each follows the protocol for one table, whatever happens to its connection.

A controller remembers what it asked until it knows the answer: what was not answered it asks again,
with the same seq and content.
"""

from __future__ import annotations

from random import Random
from typing import Any

from tests.chance import HANDS
from tests.sim.asked import ANSWERS, Asked, Message, asked
from tests.sim.auditor import Auditor
from tests.sim.house import House
from tests.sim.peers import Connection
from tests.sim.referee import Reply
from tests.sim.violation import Tally, demand

_SURE = {kind: frozenset({ANSWERS[kind], "not-allowed"}) for kind in ("wager", "hit", "void")}
"""What a message hears that is right by all that is durable: a takeover may still come first."""


class Controller:
    """One table's. `connection` is the one that it speaks on, `fresh` once it was welcomed there.

    `greeting` is the hello whose welcome it waits for.
    `due` has what waits for an answer, by seq; `under_way` what of it was sent and may yet be
    answered; `booked` each accepted message and the bytes of its answer.
    """

    def __init__(
        self, table: str, *, house: House, auditor: Auditor, chance: Random, tally: Tally
    ) -> None:
        self.table = table
        self.connection: Connection | None = None
        self.fresh = False
        self.greeting: Asked | None = None
        self.due: dict[int, Message] = {}
        self.under_way: dict[int, Asked] = {}
        self.booked: dict[int, tuple[Message, bytes]] = {}
        self._house = house
        self._auditor = auditor
        self._chance = chance
        self._tally = tally
        self._next_seq = 1
        self._sure = False
        self._copies: list[tuple[Connection, Asked]] = []

    @property
    def connected(self) -> bool:
        """Whether its connection is there."""
        return self.connection is not None and not self.connection.over

    @property
    def waits(self) -> bool:
        """Whether something was asked and its answer isn't known."""
        return bool(self.due) or not self.fresh

    def use(self, connection: Connection) -> None:
        """Speak on a connection from now on; a hello for it is to be sent."""
        self.connection, self.fresh, self._sure = connection, False, False
        self.greeting = None
        self.under_way.clear()

    def lose(self) -> None:
        """The connection is gone, or the table was taken over."""
        self.connection, self.fresh, self._sure = None, False, False
        self.greeting = None
        self.under_way.clear()

    def doubt(self) -> None:
        """Say hello again before anything else, to learn what is booked."""
        self.fresh = self._sure = False
        self.greeting = None

    def act(self) -> None:
        """Ask again what wasn't answered, or let the table play on."""
        lost = [seq for seq in sorted(self.due) if seq not in self.under_way]
        chance = self._chance
        if lost and chance.randrange(3):
            return
        if lost and chance.randrange(6):
            for seq in lost[: chance.choice([1, len(lost)])]:
                self._send(self.due[seq])
                self._tally["resend"] += 1
        elif lost:
            self._give_up(lost)
        elif not self.under_way or chance.randrange(4) == 0:
            self._play()

    def settle(self) -> None:
        """Ask again what wasn't answered; nothing new."""
        for seq in sorted(self.due):
            if seq not in self.under_way:
                self._send(self.due[seq])
                self._tally["resend"] += 1

    def _give_up(self, lost: list[int]) -> None:
        """Forget what was not booked when the table was last welcomed."""
        for seq in lost:
            if seq >= self._next_seq:
                del self.due[seq]
                self._tally["given up"] += 1
        self._sure = False

    def _send(self, message: Message, *, only: frozenset[str] | None = None) -> None:
        assert self.connection is not None
        request = asked(message, only=only)
        self.due[message["seq"]] = message
        self.under_way[message["seq"]] = request
        self.connection.ask(request)

    def copied(self, connection: Connection, request: Asked) -> None:
        """Learn that somebody sends a message of this table again, whose answer isn't known."""
        self._copies.append((connection, request))

    def _is_sure(self) -> bool:
        """Whether nothing is under way that could be booked before the next message."""
        copies = [each for each in self._copies if each[1] in each[0].unread()]
        self._copies = copies
        return self._sure and not self.due and not copies

    # Answers

    def welcomed(self, state: dict[str, Any]) -> None:
        """Learn what was booked."""
        # A rival may have taken the table since, and had more booked than this welcome knows.
        self._next_seq = max(state["next_seq"], max(self.booked, default=0) + 1)
        self.fresh = self._sure = True
        self.greeting = None

    def heard(self, connection: Connection, request: Asked, reply: Reply, line: bytes) -> None:
        """Take the reply to a request of this table."""
        seq = request.message["seq"]
        if reply["type"] != "error":
            before = self.booked.setdefault(seq, (request.message, line))
            demand(before[1] == line, line, "is the answer, and was", before[1])
            self._next_seq = max(self._next_seq, seq + 1)
            if self.due.get(seq) == request.message:
                del self.due[seq]
                self.under_way.pop(seq, None)
            return
        if self.under_way.get(seq) is not request:
            return
        del self.under_way[seq]
        if reply["code"] == "not-allowed":
            self.lose()
        elif not reply["retry"]:
            del self.due[seq]
            if reply["code"] in ("seq-conflict", "seq-gap"):
                # Something else was booked, or not, than was thought: hello says what.
                self.doubt()
        elif reply["code"] == "table-held" and self._chance.randrange(2):
            del self.due[seq]

    # Play

    def _play(self) -> None:
        chance = self._chance
        sure = self._is_sure()
        message = chance.choice([self._lock, self._lock, self._win, self._win, self._other])()
        if message is None:
            message = self._lock() or self._wager(self._round() + 1)
            sure = sure and not self._held()
        elif chance.randrange(10) == 0:
            message, sure = self._spoiled(message), False
        self._send(message, only=_SURE[message["type"]] if sure else None)
        while chance.randrange(3) == 0:
            self._send(self._behind(message))

    def play_a_round(self) -> None:
        """Lock a new round, which has to be accepted."""
        self._send(self._wager(self._round() + 1), only=_SURE["wager"])

    def _round(self) -> int:
        return self._auditor.plain.round(self.table)

    def _held(self) -> bool:
        plain = self._auditor.plain
        waiting = plain.pending(table=self.table)
        return any(self._house.plain[hit.progressive].hold_table for hit in waiting)

    def _head(self, kind: str, round_: int) -> Message:
        seq = max(self._next_seq, max(self.due, default=0) + 1)
        return {"type": kind, "table": self.table, "seq": seq, "round": max(1, round_)}

    def _wager(self, round_: int, progressive: str | None = None) -> Message:
        chance, there = self._chance, self._house.at(self.table)
        most = self._house.seats[self.table]
        message = self._head("wager", round_)
        message["seats"] = chance.sample(range(1, most + 1), chance.randint(1, most))
        if progressive is not None or len(there) > 1 or chance.randrange(2):
            message["progressive"] = progressive or chance.choice(there)
        if chance.randrange(4) == 0:
            seats = chance.sample(range(1, most + 1), chance.randint(1, most))
            message["players"] = {str(seat): chance.choice(["Ann", "Bob"]) for seat in seats}
        return message

    def _lock(self) -> Message | None:
        """A lock that is accepted: of the round, where another progressive may be, or the next."""
        plain, round_ = self._auditor.plain, self._round()
        locks = [each for each in plain.locks if (each.table, each.round) == (self.table, round_)]
        left = [
            name
            for name in self._house.at(self.table)
            if name not in [lock.progressive for lock in locks]
        ]
        hits = [hit for hit in plain.hits if (hit.table, hit.round) == (self.table, round_)]
        stands = any(hit.stands for hit in hits)
        voided = any(lock.voided for lock in locks)
        if locks and left and not (stands or voided) and self._chance.randrange(2):
            return self._wager(round_, self._chance.choice(left))
        if self._held():
            return None
        return self._wager(round_ + self._chance.choice([1, 1, 1, 5]))

    def _win(self) -> Message | None:
        """A hit that is awarded."""
        plain, round_ = self._auditor.plain, self._round()
        stands = [(hit.table, hit.round, hit.seat) for hit in plain.hits if hit.stands]
        seats = [
            (lock.progressive, seat)
            for lock in plain.locks
            if (lock.table, lock.round) == (self.table, round_) and not lock.voided
            for seat in lock.seats
            if (self.table, round_, seat) not in stands
        ]
        if not seats:
            return None
        progressive, seat = self._chance.choice(seats)
        message = self._hit(round_, seat, progressive)
        if self._chance.randrange(3) == 0:
            message["cards"] = ["As", "Ks"]
        return message

    def _hit(self, round_: int, seat: int, progressive: str | None) -> Message:
        message = self._head("hit", round_)
        message |= {"seat": seat, "hand": self._chance.choice(HANDS)}
        if progressive is not None:
            message["progressive"] = progressive
        return message

    def _other(self) -> Message | None:
        """A void of a round without a hit that stands."""
        plain, round_ = self._auditor.plain, self._round()
        locks = [each for each in plain.locks if (each.table, each.round) == (self.table, round_)]
        hits = [hit for hit in plain.hits if (hit.table, hit.round) == (self.table, round_)]
        if not locks or locks[0].voided or any(hit.stands for hit in hits):
            return None
        return {**self._head("void", round_), "reason": "misdeal"}

    # What may be refused

    def _behind(self, message: Message) -> Message:
        """A message behind one that isn't answered yet, as if that were accepted."""
        chance, round_ = self._chance, message["round"]
        seat = chance.choice(message.get("seats", [1, 2]))
        progressive = message.get("progressive")
        kind = chance.randrange(6)
        if kind == 0:
            return self._wager(round_ + 1)
        if kind == 1:
            return {**self._head("void", round_), "reason": "misdeal"}
        hit = self._hit(round_, seat, progressive)
        if kind == 2:
            hit["folded"] = True
        return hit

    def _spoiled(self, message: Message) -> Message:
        """The message with one thing wrong, or perhaps not wrong."""
        chance = self._chance
        faults: list[Message] = [
            {"seq": message["seq"] + chance.randint(1, 3)},
            {"round": max(1, message["round"] - 1)},
            {"round": message["round"] + 2},
            {"progressive": chance.choice(["red", "green", "none"])},
        ]
        if message["type"] == "void":
            faults.pop()
        elif message["type"] == "wager":
            faults += [{"seats": [1, 99]}, {"players": {"99": "Ann"}}]
        else:
            faults += [{"seat": 99}, {"hand": "a pair"}, {"seat": 1}, {"folded": True}]
        return message | chance.choice(faults)

    def changed(self, seq: int) -> Message:
        """Return a booked message with other content."""
        message = dict(self.booked[seq][0])
        message["round"] += 1
        return message
