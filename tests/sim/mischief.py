"""What else comes over the wire: old messages, changed ones, garbage, and those without rights."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.sim.asked import ANSWERS, Asked, Message, asked, garbage
from tests.sim.house import NOT_OPENED, key
from tests.sim.peers import Connection
from tests.sim.tables import Controller
from tests.sim.violation import Tally

GARBAGE = (
    (b"{\n", "bad-json"),
    (b"\r\n", "bad-json"),
    (b"[]\n", "bad-json"),
    (b'"\xff"\n', "bad-json"),
    (b'{"type":"ping","type":"ping"}\n', "bad-json"),
    (b'{"type":"dance"}\n', "unknown-type"),
    (b'{"type":"ping","x":NaN}\n', "bad-json"),
    (b'{"type":"ping","x":1}\n', "bad-field"),
    (b'{"type":"confirm","hit":0}\n', "bad-field"),
    (b'{"type":"deny","hit":"1","reason":"r"}\n', "bad-field"),
    (b'{"type":"wager","table":"T1","seq":1.0,"round":1,"seats":[1]}\n', "bad-field"),
    (b'{"type":"wager","table":"T1","seq":1,"round":1,"seats":[1,1]}\n', "bad-field"),
    (b'{"type":"wager","table":"T1","seq":1,"round":1,"seats":[]}\n', "bad-field"),
)
"""Lines that are refused for what they are, and the code."""

TOO_LONG = garbage(b" " * 65_536 + b"\n", "too-long").text
ODD_HELLOS: tuple[tuple[Message, str], ...] = (
    ({"protocol": 2, "key": key("pit-a")}, "bad-protocol"),
    ({"protocol": True, "key": key("pit-a")}, "bad-protocol"),
    ({"protocol": 1, "key": "no key"}, "bad-key"),
    ({"protocol": 1}, "bad-key"),
    ({"protocol": 1, "key": key("own-T1"), "tables": ["T2"]}, "not-allowed"),
    ({"protocol": 1, "key": key("pit-a"), "tables": [NOT_OPENED]}, "unknown-table"),
    ({"protocol": 1, "key": key("pit-b")}, "unknown-table"),
    ({"protocol": 1, "key": key("floor-1"), "tables": ["T1"]}, "not-allowed"),
)
"""Hellos that are refused, and the code."""


class Mischief:
    """Sends what a well-behaved peer doesn't."""

    def __init__(self, chance: Random, tally: Tally) -> None:
        self._chance = chance
        self._tally = tally

    def act(self, connections: list[Connection], controllers: list[Controller]) -> None:
        """Send something on one of the connections, all of which said hello."""
        connection = self._chance.choice(connections)
        kinds: list[Callable[[Connection, list[Controller]], None]] = [
            *[self._old, self._old, self._old, self._changed],
            *[self._garbage, self._ask_anything, self._without_right],
        ]
        self._chance.choice(kinds)(connection, controllers)

    def _old(self, connection: Connection, controllers: list[Controller]) -> None:
        """An old message again: on the connection of its table, or on one that had it once."""
        controller = self._chance.choice(controllers)
        known = [*controller.booked] or [0]
        message = controller.booked.get(self._chance.choice(known), (None, b""))[0]
        if controller.due and self._chance.randrange(2):
            message = self._chance.choice([*controller.due.values()])
        where = self._where(connection, controller)
        if message is not None and where is not None:
            booked = message == controller.booked.get(message["seq"], (None, b""))[0]
            only = frozenset({ANSWERS[message["type"]], "not-allowed"}) if booked else None
            request = asked(message, only=only)
            where.ask(request)
            controller.copied(where, request)
            self._tally["resend of what was answered" if booked else "resend beside"] += 1

    def _changed(self, connection: Connection, controllers: list[Controller]) -> None:
        controller = self._chance.choice(controllers)
        where = self._where(connection, controller)
        if controller.booked and where is not None:
            message = controller.changed(self._chance.choice([*controller.booked]))
            where.ask(asked(message, only=frozenset({"seq-conflict", "not-allowed"})))
            self._tally["resend with other content"] += 1

    def _where(self, connection: Connection, controller: Controller) -> Connection | None:
        own = controller.connection
        return connection if own is None or own.over or self._chance.randrange(3) == 0 else own

    def _garbage(self, connection: Connection, controllers: list[Controller]) -> None:
        chance = self._chance
        if chance.randrange(30) == 0:
            connection.ask(garbage(TOO_LONG, "too-long"))
            return
        for _ in range(chance.choice([1, 1, 1, 1, 1, 21])):
            text, code = chance.choice(GARBAGE)
            connection.ask(garbage(text, code))
            self._tally["garbage"] += 1

    def _ask_anything(self, connection: Connection, controllers: list[Controller]) -> None:
        connection.ask(asked({"type": self._chance.choice(["ping", "ping", "watch"])}))

    def _without_right(self, connection: Connection, controllers: list[Controller]) -> None:
        message: Message = {"type": "confirm", "hit": 1}
        if connection.principal.startswith("floor"):
            message = {"type": "void", "table": "T1", "seq": 1, "round": 1, "reason": "r"}
        elif self._chance.randrange(2):
            message = {"type": "void", "table": "T77", "seq": 1, "round": 1, "reason": "r"}
        request = asked(message)
        request.may_hear = frozenset({"not-allowed"})
        connection.ask(request)

    def odd_start(self) -> Asked:
        """Return a first message that is refused."""
        if self._chance.randrange(4) == 0:
            return garbage(b'{"type":"ping"}\n', "no-hello")
        message, code = self._chance.choice(ODD_HELLOS)
        line = asked({"type": "hello", **message}).text
        return garbage(line, code)
