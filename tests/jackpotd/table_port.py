"""The table port of a small property, without sockets: bytes in, bytes out, on a Clock.

The queue, the principals, the board and the feed are the daemon's own; only the record is kept in
memory and the transport is a string.
"""

# mypy: allow-untyped-calls
# (The test transport has few annotations.)

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from prometheus_client import CollectorRegistry
from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure

from jackpotd import config
from jackpotd.commit import CommitQueue
from jackpotd.metrics import Metrics
from jackpotd.opening import opening_events
from jackpotd.principals import Principals
from jackpotd.publish import Publisher
from jackpotd.record.batch import HitOnRecord, Lookup
from jackpotd.table_link import Pit, TableFactory
from meters.outcomes import Answer, Code, Noted, Refused
from signage.board import Board
from signage.feed import Feed
from tests.builders import as_json
from tests.e2e.talking import Message, line, wager
from tests.sim.memory_journal import MemoryJournal

HOUSE = """\
property: Riverside
currency: USD
timezone: America/New_York
tables:
  FCP-01: {game: four-card-poker, seats: 6}
  LIR-02: {game: let-it-ride, seats: 6}
  CSP-03: {game: caribbean-stud, seats: 6}
progressives:
  riverside-royal:
    title: Riverside Royal
    wager: $5
    tables: [FCP-01, LIR-02]
    paytable:
      title: Two meters
      levels:
        mega: {seed: $10,000, increment: 10%}
        major: {seed: $1,000, increment: 8%}
      pays:
        royal flush: 100% of mega
        straight flush: 100% of major
        flush: 50 for 1
      envy: {royal flush: $200 for 1}
"""
ONE_METER = """\
    paytable:
      title: One meter
      levels: {meter: {seed: $500, increment: 20%}}
      pays: {four aces: 100% of meter, flush: 2 for 1}
"""
MORE = f"""\
  four-aces:
    wager: $1
    tables: [LIR-02]
{ONE_METER}\
  old-faithful:
    wager: $1
    tables: [CSP-03]
{ONE_METER}"""
ROYAL = "riverside-royal"
TABLES = ("FCP-01", "LIR-02", "CSP-03")
NOT_OPENED = "OLD-09"
"""A table that the pit's key speaks for, but that does not stand on the floor."""

ROLES = {
    "pit": ("table", (*TABLES, NOT_OPENED)),
    "fcp-01": ("table", ("FCP-01",)),
    "lir-02": ("table", ("LIR-02",)),
    "floor-7": ("floor", ()),
    "books": ("accounting", ()),
}
"""Each principal's role and tables; `key` gives its key."""


def key(name: str) -> str:
    """Return the key of a principal."""
    return f"the key of {name}"


def hello(name: str = "pit", *tables: str, **more: Any) -> dict[str, Any]:
    """Return a principal's hello; without tables it speaks for all that it may."""
    message = {"type": "hello", "protocol": 1, "key": key(name), **more}
    return {**message, "tables": tables} if tables else message


def void(table: str, seq: int, round_: int, reason: str = "misdeal") -> dict[str, Any]:
    """Return the void of a round."""
    return {"type": "void", "table": table, "seq": seq, "round": round_, "reason": reason}


def locks(table: str, first: int, last: int, progressive: str = ROYAL) -> list[Message]:
    """Return one lock a round, of seat 1, with these seqs as the rounds' numbers."""
    return [wager(table, seq, seq, 1, progressive=progressive) for seq in range(first, last + 1)]


def confirm(hit: int) -> dict[str, Any]:
    """Return the confirmation of a hit."""
    return {"type": "confirm", "hit": hit}


def deny(hit: int, reason: str = "misread") -> dict[str, Any]:
    """Return the denial of a hit."""
    return {"type": "deny", "hit": hit, "reason": reason}


PING: Message = {"type": "ping"}
WATCH: Message = {"type": "watch"}


class Journal(MemoryJournal):
    """A record in memory that can be asked for its hits, by number."""

    def read(self, question: Callable[[Any], Any]) -> Deferred[Any]:
        """Answer at once."""
        return succeed(question(self))

    def hit(self, number: int) -> HitOnRecord | None:
        """Return a hit and what settled it."""
        found = self._find(Lookup(hit=number))
        assert isinstance(found, HitOnRecord)
        return found

    def hits_of_level(self, progressive: str, level: str) -> list[HitOnRecord]:
        """Return nothing: no test here reads the last awards."""
        return []


class Port:
    """A property that is open: its table port, and all that stands behind it."""

    def __init__(self, folder: Path, house: str = HOUSE + MORE) -> None:
        (folder / "riverside.yaml").write_text(house, "utf-8")
        self.config = config.load(folder / "riverside.yaml")
        self.clock = Clock()
        self.journal = Journal(self.clock)
        self.registry = CollectorRegistry()
        self.metrics = Metrics(
            self.registry,
            version="1",
            codes=[code.value for code in Code],
            seconds=self.clock.seconds,
        )
        self.board = Board(
            property_title=self.config.property,
            currency=self.config.currency,
            signs=self.config.signs,
        )
        publisher = Publisher(
            config=self.config, board=self.board, metrics=self.metrics, journal=self.journal
        )
        self.queue = CommitQueue(
            loaded=self.journal.load(),
            journal=self.journal,
            clock=self.clock,
            now_ms=lambda: round(self.clock.seconds() * 1000),
            audience=publisher,
        )
        self._open(publisher)
        self.opened = len(self.journal.rows)
        self.pit = Pit(
            property_name=self.config.property,
            queue=self.queue,
            principals=self._principals(folder / "keys.yaml"),
            feed=Feed(self.clock, self.board),
            metrics=self.metrics,
            clock=self.clock,
        )
        self.factory = TableFactory(self.pit)

    def _open(self, publisher: Publisher) -> None:
        answers: list[Answer | Refused] = []
        for event in opening_events(self.config, self.queue.floor):
            self.queue.submit(event, lambda _, answer: answers.append(answer))
        self.run()
        assert all(isinstance(each, Noted) for each in answers)
        for name in self.config.progressives:
            publisher.show_progressive(self.queue.floor, name)

    def _principals(self, path: Path) -> Principals:
        lines = []
        for name, (role, tables) in ROLES.items():
            entry: dict[str, object] = {"role": role}
            if tables:
                entry["tables"] = tables
            entry["key_sha256"] = hashlib.sha256(key(name).encode()).hexdigest()
            lines.append(f"{name}: {json.dumps(entry)}\n")
        path.write_text("".join(lines), "utf-8")
        return Principals.load(path, (*TABLES, NOT_OPENED))

    def connect(self) -> Peer:
        """Return a connection on which nothing was said yet."""
        return Peer(self)

    def welcome(self, name: str = "pit", *tables: str) -> Peer:
        """Return a connection whose hello was welcomed; the pit speaks for all tables, if not told.

        The welcome is heard already.
        """
        peer = self.connect()
        if name == "pit":
            tables = tables or TABLES
        welcome = peer.ask(hello(name, *tables))
        assert welcome["type"] == "welcome", welcome
        return peer

    def run(self) -> None:
        """Let the record write until nothing waits for it."""
        for _ in range(10_000):
            if not self.queue.waiting:
                return
            self.clock.advance(self.journal.delay_s)
        raise AssertionError("something waits for ever")

    def state(self) -> bytes:
        """Return the state of the floor; equal states give equal bytes."""
        return as_json(self.queue.floor)

    def events(self) -> list[tuple[str, str, int]]:
        """Return (kind, table, seq) of each row since the opening."""
        return [(row.kind, row.table, row.seq) for row in self.journal.rows[self.opened :]]

    def refusals(self, code: str) -> float | None:
        """Return how many refusals of a code the metrics have counted."""
        return self.registry.get_sample_value("jackpotd_refusals_total", {"code": code})


class Wire(StringTransport):
    """The daemon's end of a connection: what it wrote, and whether it reads.

    It is stricter than a socket: after it was closed nothing may be paused or resumed, and what is
    written after the end is kept as `late`.
    """

    late = b""
    half_closed = False

    def loseWriteConnection(self) -> None:
        """Take nothing more, and still give what comes."""
        self.half_closed = True

    def write(self, data: bytes) -> None:
        """Take what the daemon says."""
        if self.disconnecting or self.half_closed:
            self.late += data
        else:
            super().write(data)

    def setTcpNoDelay(self, enabled: bool) -> None:
        """Nothing is slow here."""

    def setTcpKeepAlive(self, enabled: bool) -> None:
        """No power is cut here."""


class Peer:
    """One connection to the table port, seen from the other side."""

    def __init__(self, port: Port) -> None:
        self._port = port
        self.wire = Wire()
        self.link = port.factory.buildProtocol(None)
        self.link.makeConnection(self.wire)

    def send(self, *messages: Message | bytes) -> None:
        """Send messages, or bytes as they are, in one packet; the record isn't waited for."""
        self.link.dataReceived(
            b"".join(each if isinstance(each, bytes) else line(each) for each in messages)
        )

    def heard(self) -> list[bytes]:
        """Return the lines that came since the last call, with their endings."""
        assert self.wire.late == b"", "said after the end"
        said: bytes = self.wire.value()
        self.wire.clear()
        lines = said.splitlines(keepends=True)
        assert all(each.endswith(b"\n") for each in lines)
        return lines

    def told(self) -> list[dict[str, Any]]:
        """Return the lines that came since the last call, read."""
        return [json.loads(each) for each in self.heard()]

    def ask(self, message: Message | bytes) -> dict[str, Any]:
        """Send a message and return its reply, which has to be the one line that comes."""
        (reply,) = self.exchange(message)
        return reply

    def exchange(self, *messages: Message | bytes) -> list[dict[str, Any]]:
        """Send messages in one packet and return what comes until nothing waits any more."""
        self.send(*messages)
        self._port.run()
        return self.told()

    @property
    def reads(self) -> bool:
        """Tell whether the daemon reads what this peer sends."""
        return bool(self.wire.producerState == "producing")

    @property
    def ended(self) -> bool:
        """Tell whether the daemon says no more; the peer sees so once it has read everything."""
        return bool(self.wire.disconnecting or self.wire.half_closed)

    @property
    def aborted(self) -> bool:
        """Tell whether the daemon cut the connection."""
        return bool(self.wire.disconnected)

    def stop_reading(self) -> None:
        """Read no more: as a transport does when its buffer is full."""
        self.link.pauseProducing()

    def read_on(self) -> None:
        """Read again: as a transport does when its buffer is empty."""
        self.link.resumeProducing()

    def hang_up(self) -> None:
        """Close the connection, or see it closed."""
        self.link.connectionLost(Failure(ConnectionDone()))


def codes(replies: list[dict[str, Any]]) -> list[str]:
    """Return each reply's code, or its type where it is no error."""
    return [each.get("code", each["type"]) for each in replies]
