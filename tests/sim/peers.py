"""The other ends of the daemon's connections: what they send, when it arrives, what they read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random
from typing import Any

import msgspec
from twisted.internet.error import ConnectionDone, ConnectionLost
from twisted.python.failure import Failure

from jackpotd.table_link import HELLO_SECONDS
from signage.awards import LAST_AWARDS
from signage.board import SIGN_AWARDS
from signage.stream import PREAMBLE, Display
from tests.sim.asked import Asked
from tests.sim.auditor import Auditor
from tests.sim.displays import Shown
from tests.sim.life import Life
from tests.sim.referee import Referee, Reply
from tests.sim.violation import Tally, demand
from tests.sim.wire import Wire

_PUSHED = ("hit", "resolved", "meters")


@dataclass(slots=True, kw_only=True)
class Network:
    """What all connections to one life of the daemon share.

    `speakers` has whose hello was answered last for each table, `hellos` all that came for it.
    The daemon is killed inside the write that counts `writes_left` down to 0.
    """

    life: Life
    chance: Random
    auditor: Auditor
    referee: Referee
    tally: Tally
    buffer_bytes: int
    writes_left: int = -1
    moment: int = 0
    speakers: dict[str, Connection] = field(default_factory=dict)
    hellos: dict[str, list[tuple[Connection, Asked]]] = field(default_factory=dict)

    def now(self) -> int:
        """Count a moment."""
        self.moment += 1
        return self.moment

    def written(self, data: bytes, judge: Callable[[bytes], None]) -> bytes:
        """Return what of a write of the daemon reaches the network."""
        if self.life.dead:
            return b""
        self.writes_left -= 1
        if self.writes_left == 0:
            self.life.dead = True
            return data[: self.chance.randrange(len(data))]
        judge(data)
        return data


class Peer:
    """One connection's far end: `over` once nothing more comes or goes."""

    def __init__(self, network: Network) -> None:
        self.network = network
        self.over = False
        self.shown = Shown(network.auditor, network.tally)
        self._rest = b""
        self.wire = Wire(
            buffer_bytes=network.buffer_bytes,
            said=lambda data: network.written(data, self._judge),
        )

    def read(self, most: int) -> None:
        """Read what the daemon said, up to so many bytes; close where it ended."""
        if self.over:
            return
        self._receive(self.wire.read(most))
        if self.wire.ended and not self.wire.to_peer and not self.over:
            self._end(ConnectionDone())

    def drop(self) -> None:
        """Lose the connection, and what was on its way in either direction."""
        if not self.over:
            self._end(ConnectionLost())

    def crashed(self) -> None:
        """Read what the daemon had said before it was killed, or a part of it."""
        if not self.over:
            said = self.wire.to_peer
            self._receive(bytes(said[: self.network.chance.randint(0, len(said))]))
            self.over = True

    def _receive(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._hear(line + b"\n")

    def _end(self, reason: Exception) -> None:
        self.over = True
        self._disconnect(Failure(reason))

    def _judge(self, data: bytes) -> None:
        raise NotImplementedError

    def _hear(self, line: bytes) -> None:
        """The peer has read a whole line."""

    def _disconnect(self, reason: Failure) -> None:
        raise NotImplementedError


class Connection(Peer):
    """A connection of the table protocol. `heard` is told each reply that the peer reads.

    `sent` has all that was asked, in order.
    """

    def __init__(
        self,
        network: Network,
        principal: str,
        heard: Callable[[Connection, Asked, Reply, bytes], None],
    ) -> None:
        super().__init__(network)
        self.principal = principal
        self.sent: list[Asked] = []
        self.unsent = bytearray()
        self.told_hits: list[int] = []
        self._heard = heard
        self._sent_bytes = 0
        self._arrived_bytes = 0
        self._arrived = self._judged = self._read = 0
        self._greeted = False
        self._opened_s = network.life.clock.seconds()
        self._link = network.life.factory.buildProtocol(None)
        self._link.makeConnection(self.wire)  # type: ignore[no-untyped-call]

    def ask(self, asked: Asked) -> None:
        """Send a line; it arrives when it is delivered."""
        self._sent_bytes += len(asked.text)
        asked.end = self._sent_bytes
        self.sent.append(asked)
        self.unsent += asked.text

    @property
    def deliverable(self) -> bool:
        """Whether something is on its way, and the daemon reads."""
        return bool(self.unsent) and self.wire.reading and not (self.over or self.wire.aborted)

    def unread(self) -> list[Asked]:
        """Return what was asked and whose answer was not read yet."""
        return self.sent[self._read :]

    @property
    def quiet(self) -> bool:
        """Whether every request was answered and everything was read."""
        return not (self.unsent or self.wire.to_peer or self._read < len(self.sent))

    def deliver(self, most: int) -> None:
        """Let so many bytes arrive."""
        data = bytes(self.unsent[:most])
        del self.unsent[:most]
        self._arrived_bytes += len(data)
        while self._arrived < len(self.sent):
            asked = self.sent[self._arrived]
            if asked.end > self._arrived_bytes:
                break
            self._arrive(asked)
            self._arrived += 1
        self._link.dataReceived(data)

    def _arrive(self, asked: Asked) -> None:
        network = self.network
        asked.came, asked.row = network.now(), network.auditor.number
        if asked.kind == "hello":
            for table in asked.tables:
                network.hellos.setdefault(table, []).append((self, asked))
        elif asked.key is not None and self._was_taken_over(asked.key[0]):
            network.tally["sent after a takeover"] += 1
            asked.may_hear = frozenset({"not-allowed"})

    def _was_taken_over(self, table: str) -> bool:
        speaker = self.network.speakers.get(table)
        waiting = self.sent[self._judged : self._arrived]
        comes_back = any(table in each.tables for each in waiting)
        return speaker is not None and speaker is not self and not comes_back

    # What the daemon says

    def _judge(self, data: bytes) -> None:
        demand(data.endswith(b"\n") and data.count(b"\n") == 1, data, "is no line")
        reply: dict[str, Any] = msgspec.json.decode(data)
        head = self.sent[self._judged] if self._judged < self._arrived else None
        if reply["type"] in _PUSHED:
            if reply["type"] == "meters" and head is not None and head.kind == "watch":
                self._judged += 1
            self.shown.watcher_told(reply)
            return
        if reply.get("code") == "no-hello" and (head is None or "no-hello" not in head.may_hear):
            waited_s = self.network.life.clock.seconds() - self._opened_s
            demand(not self._greeted and waited_s >= HELLO_SECONDS, data, "is said too early")
            self.network.tally["refused no-hello"] += 1
            return
        demand(head is not None, data, "is said to nobody who asked")
        assert head is not None
        demand(head.kind != "watch", data, "is said before the meters that were asked for")
        self._judged += 1
        head.answered = self.network.now()
        if reply.get("code") == "not-allowed":
            self._judge_not_allowed(head, data)
        self.network.referee.answered(head, reply, data)
        if head.kind == "hello":
            self._greeted = True
            for table in head.tables:
                self.network.speakers[table] = self

    def _judge_not_allowed(self, asked: Asked, data: bytes) -> None:
        if asked.key is None:
            return
        table, place = asked.key[0], self.sent.index(asked)
        hellos = [each for each in self.sent[:place] if each.kind == "hello"]
        if hellos and table in hellos[-1].tables:
            came = hellos[-1].came
            rivals = [
                each
                for other, each in self.network.hellos[table]
                if other is not self and (not each.answered or each.answered > came)
            ]
            demand(bool(rivals), asked.text, "hears", data, "though nobody took the table over")

    def _hear(self, line: bytes) -> None:
        reply: dict[str, Any] = msgspec.json.decode(line)
        if reply["type"] == "hit":
            self.told_hits.append(reply["hit"])
        if reply["type"] in _PUSHED:
            waits = self._read < len(self.sent) and self.sent[self._read].kind == "watch"
            self._read += waits and reply["type"] == "meters"
        elif self._read < len(self.sent):
            asked = self.sent[self._read]
            self._read += 1
            self._heard(self, asked, reply, line)

    def _disconnect(self, reason: Failure) -> None:
        self._link.connectionLost(reason)


class SignDisplay(Peer):
    """A sign's event stream; `last_awards` is how many of a level it shows."""

    def __init__(self, network: Network, sign: str | None) -> None:
        super().__init__(network)
        self.last_awards = LAST_AWARDS if sign is None else SIGN_AWARDS
        self._display = Display(
            write=self.wire.write,
            frames=network.life.frames,
            sign=sign,
            counted=lambda: None,
        )
        self.wire.registerProducer(self._display, True)
        self._display.start(network.life.feed, ended=self._ended)

    def _ended(self) -> None:
        self.wire.unregisterProducer()
        self.wire.loseConnection()

    def _judge(self, data: bytes) -> None:
        if data == PREAMBLE:
            return
        number, event, body = data.removesuffix(b"\n\n").split(b"\n")
        kind = event.removeprefix(b"event: ").decode()
        told = msgspec.json.decode(body.removeprefix(b"data: "))
        self.shown.sign_told(kind, int(number.removeprefix(b"id: ")), told)

    def _disconnect(self, reason: Failure) -> None:
        self._display.stopProducing()
