"""The peers of a daemon: each keeps all that it asked and every answer it got, byte for byte."""

from __future__ import annotations

import json
import socket
import time
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

from tests.torture.plays import Message, Shoe
from tests.torture.violation import Violation, demand

RETRY_SECONDS = {"table-held": 0.002, "unavailable": 0.05, "overloaded": 0.05, "seq-gap": 0.002}
"""The refusals that may come, and how long a peer waits before it asks again."""


class Link:
    """One connection of a peer that doesn't block: lines out, lines in."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.setblocking(False)
        self.ended = False
        self._out = b""
        self._in = b""

    def send(self, lines: bytes) -> None:
        """Send what can be sent now; the rest goes out with the next call."""
        self._out += lines
        try:
            while self._out:
                self._out = self._out[self.socket.send(self._out) :]
        except BlockingIOError:
            pass
        except OSError:
            self._out = b""

    def lines(self) -> list[bytes]:
        """Return the whole lines that came; `ended` afterwards tells that no more will."""
        try:
            while data := self.socket.recv(1 << 18):
                self._in += data
            self.ended = True
        except BlockingIOError:
            pass
        except OSError:
            self.ended = True
        *whole, self._in = self._in.split(b"\n")
        return [line + b"\n" for line in whole]

    def close(self) -> None:
        """Hang up."""
        self.socket.close()


class Peer:
    """Asks, remembers, asks again. What it asked as number `index` never changes.

    `asked` and `answers` are by index, from 1 on; `sent_again` counts the messages whose answer
    was known and came once more.
    """

    def __init__(self, name: str, key: str, in_flight: int) -> None:
        self.name = name
        self.asked: list[bytes] = []
        self.answers: dict[int, bytes] = {}
        self.sent_again = 0
        self.refusals: dict[str, int] = {}
        self.link: Link | None = None
        self.welcomed = False
        self.key = key
        self._in_flight_at_most = in_flight
        self._due: deque[int] = deque()
        self._in_flight: deque[int] = deque()
        self._refused = False
        self._paused_until = 0.0

    # The connection

    def connect(self, port: int, again: list[int]) -> None:
        """Connect anew and say hello; then ask `again`, and all that was never answered."""
        self.hang_up()
        self.link = Link(port)
        self._in_flight.clear()
        self._refused, self._paused_until = False, 0.0
        self._due = deque([*again, *self._unanswered()])
        self._say_hello()

    def _say_hello(self) -> None:
        assert self.link is not None
        self.welcomed = False
        hello = {"type": "hello", "protocol": 1, "key": self.key, **self.hello()}
        self.link.send(json.dumps(hello).encode() + b"\n")

    def hang_up(self) -> None:
        """Close the connection; what was not answered stays so."""
        if self.link is not None:
            self.link.close()
        self.link = None
        self.welcomed = False

    @property
    def at_rest(self) -> bool:
        """Everything asked so far is answered."""
        return self.welcomed and not (self._due or self._in_flight or self._refused)

    def _unanswered(self) -> list[int]:
        return [index for index in range(1, len(self.asked) + 1) if index not in self.answers]

    # Asking

    def ask(self, playing: bool) -> None:
        """Send what is due and fits in flight; compose new messages while `playing`."""
        if not self.welcomed:
            if self._paused_until and time.monotonic() >= self._paused_until:
                self._paused_until = 0.0
                self._say_hello()
            return
        if self._refused and not self._resumes():
            return
        lines = []
        while len(self._in_flight) < self._in_flight_at_most:
            if not self._due:
                self._compose(playing)
            if not self._due:
                break
            index = self._due.popleft()
            self._in_flight.append(index)
            lines.append(self.asked[index - 1])
        if lines and self.link is not None:
            self.link.send(b"".join(lines))

    def _resumes(self) -> bool:
        """Tell whether a refused pipeline has run dry and may start again."""
        if self._in_flight or time.monotonic() < self._paused_until:
            return False
        self._refused, self._paused_until = False, 0.0
        again = [index for index in self._due if index in self.answers]
        self._due = deque([*again, *self._unanswered()])
        return True

    def _compose(self, playing: bool) -> None:
        for message in self.compose(playing):
            self.asked.append(json.dumps(message).encode() + b"\n")
            self._due.append(len(self.asked))

    # Hearing

    def hear(self, line: bytes) -> None:
        """Take a line. Raises Violation where it breaks a promise."""
        reply = json.loads(line)
        if not self.welcomed:
            self._take_welcome(reply)
            return
        demand(bool(self._in_flight), f"{self.name} was told what it didn't ask: {line!r}")
        index = self._in_flight.popleft()
        if reply["type"] == "error":
            self._take_refusal(index, reply)
            return
        self.check(index, reply)
        first = self.answers.setdefault(index, line)
        if first is line:
            self.answered(index, reply)
            return
        demand(
            first == line,
            f"{self.name} sent {self.asked[index - 1]!r} again: the answer was {first!r}, "
            f"and now is {line!r}",
        )
        self.sent_again += 1

    def _take_welcome(self, reply: dict[str, Any]) -> None:
        if reply["type"] == "error" and reply["code"] == "unavailable":
            self._paused_until = time.monotonic() + RETRY_SECONDS["unavailable"]
            return
        demand(reply["type"] == "welcome", f"{self.name} was not welcomed: {reply}")
        self.welcomed = True
        self._paused_until = 0.0
        self.greeted(reply)

    def _take_refusal(self, index: int, reply: dict[str, Any]) -> None:
        code: str = reply["code"]
        follows = code == "seq-gap" and self._refused
        if not (follows or (code != "seq-gap" and self.may_hear(code))):
            raise Violation(f"{self.name}: {self.asked[index - 1]!r} was refused: {reply}")
        self.refusals[code] = self.refusals.get(code, 0) + 1
        if not self._refused:
            self._refused = True
            self._paused_until = time.monotonic() + RETRY_SECONDS[code]
        if index in self.answers:
            self._due.append(index)

    # What each kind of peer does its own way

    def hello(self) -> dict[str, Any]:
        """Return what its hello says besides the key."""
        return {}

    def greeted(self, welcome: dict[str, Any]) -> None:
        """Look at a welcome."""

    def may_hear(self, code: str) -> bool:
        """Tell whether a refusal is one that it must expect."""
        return code in ("unavailable", "overloaded")

    def check(self, index: int, reply: dict[str, Any]) -> None:
        """Look at an answer."""

    def answered(self, index: int, reply: dict[str, Any]) -> None:
        """Take an answer that came for the first time."""

    def compose(self, playing: bool) -> list[Message]:
        """Return new messages, if there is something to say."""
        return []


class TablePeer(Peer):
    """A table. Its index is the protocol's seq."""

    def __init__(self, key: str, shoe: Shoe, in_flight: int, awarded: Callable[..., None]) -> None:
        super().__init__(shoe.place.name, key, 1 if shoe.place.waits else in_flight)
        self.place = shoe.place
        self._shoe = shoe
        self._awarded = awarded
        self._hits_of_round: list[int] = []
        self._presses_on = False
        self.settled: dict[int, str] = {}

    def hello(self) -> dict[str, Any]:
        return {"tables": [self.name]}

    def greeted(self, welcome: dict[str, Any]) -> None:
        next_seq = welcome["tables"][self.name]["next_seq"]
        last = max(self.answers, default=0)
        demand(
            last < next_seq <= len(self.asked) + 1,
            f"{self.name} has an answer to seq {last} and sent {len(self.asked)} messages, "
            f"but the daemon says that seq {next_seq} is next",
        )

    def may_hear(self, code: str) -> bool:
        return super().may_hear(code) or (code == "table-held" and self.place.waits)

    def check(self, index: int, reply: dict[str, Any]) -> None:
        kind = {"wager": "accepted", "hit": "award", "void": "voided"}
        asked = json.loads(self.asked[index - 1])
        expected = (kind[asked["type"]], self.name, index, asked["round"])
        found = tuple(reply.get(each) for each in ("type", "table", "seq", "round"))
        demand(found == expected, f"{self.name}: {asked} was answered by {reply}")

    def answered(self, index: int, reply: dict[str, Any]) -> None:
        if reply["type"] == "award":
            self._hits_of_round.append(reply["hit"])
            self._awarded(self, reply)

    def compose(self, playing: bool) -> list[Message]:
        hits = self._hits_of_round
        ends = [self.settled.get(hit) for hit in hits]
        if not playing or (self.place.waits and self._in_flight):
            return []
        if self.place.waits and None in ends and not self._presses_on:
            return []
        messages = []
        if self.place.waits and hits and set(ends) == {"denied"}:
            # The round has no hit that stands any more, so it can still be a misdeal.
            messages.append(self._shoe.misdeal())
        self._hits_of_round, self._presses_on = [], self._shoe.presses_on()
        messages += self._shoe.next_round()
        first = len(self.asked) + 1
        return [{**message, "seq": first + place} for place, message in enumerate(messages)]


class FloorPeer(Peer):
    """A floorperson, who settles each award that waits: most are confirmed."""

    def __init__(self, key: str, chance: Random, in_flight: int) -> None:
        super().__init__("floor-1", key, in_flight)
        self._chance = chance
        self._waiting: list[tuple[TablePeer, int]] = []
        self._tables: dict[int, TablePeer] = {}

    def must_settle(self, table: TablePeer, hit: int) -> None:
        """Take a pending award to settle."""
        self._waiting.append((table, hit))
        self._tables[hit] = table

    def check(self, index: int, reply: dict[str, Any]) -> None:
        asked = json.loads(self.asked[index - 1])
        expected = {"confirm": "confirmed", "deny": "denied"}[asked["type"]]
        found = (reply["type"], reply["hit"], reply["by"])
        demand(found == (expected, asked["hit"], self.name), f"{asked} was answered by {reply}")

    def answered(self, index: int, reply: dict[str, Any]) -> None:
        self._tables[reply["hit"]].settled[reply["hit"]] = reply["type"]

    def compose(self, playing: bool) -> list[Message]:
        # Where a table waits for the floor, it must not wait for the play to go on.
        at_once = [each for each in self._waiting if playing or each[0].place.waits]
        self._waiting = [each for each in self._waiting if each not in at_once]
        return [self._said_of(hit) for _, hit in at_once]

    def _said_of(self, hit: int) -> Message:
        if self._chance.randrange(3):
            return {"type": "confirm", "hit": hit}
        return {"type": "deny", "hit": hit, "reason": "misread"}


class Watcher(Peer):
    """A display on the table protocol: it keeps what it was shown, by sequence."""

    def __init__(self, key: str) -> None:
        super().__init__("watcher", key, 1)
        self.shown: dict[int, dict[str, dict[str, int]]] = {}
        self.hits: dict[int, dict[str, Any]] = {}
        self._newest = 0

    def greeted(self, welcome: dict[str, Any]) -> None:
        assert self.link is not None
        self.link.send(b'{"type":"watch"}\n')
        self._newest = 0

    def hear(self, line: bytes) -> None:
        if not self.welcomed:
            super().hear(line)
            return
        told = json.loads(line)
        if told["type"] == "meters":
            demand(told["sequence"] >= self._newest, f"the watcher was told of the past: {told}")
            self._newest = told["sequence"]
            self.shown[self._newest] = told["meters"]
        elif told["type"] == "hit":
            self.hits[told["hit"]] = told
        else:
            demand(told["type"] == "resolved", f"the watcher was told {told}")
