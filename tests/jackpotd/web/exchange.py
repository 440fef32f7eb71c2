"""A site without a network: requests go in as bytes, answers come out as bytes."""

# mypy: allow-untyped-calls
# (twisted.web and the test transport have few annotations.)

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from prometheus_client import CollectorRegistry
from twisted.internet.address import IPv4Address
from twisted.internet.defer import Deferred, succeed
from twisted.internet.error import ConnectionDone
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.python.failure import Failure
from twisted.web.resource import IResource

from jackpotd.metrics import Metrics
from jackpotd.web.site import make_site
from signage.board import Board
from signage.feed import Feed
from tests.signage.examples import property_board

CODES = ("bad-key", "not-allowed", "seq-gap")
Reply = dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An answer of the site; header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def parse(received: bytes) -> Answer:
    """Read one whole answer, chunked or not."""
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(": ")
        assert name.lower() not in headers, f"{name} is there twice"
        headers[name.lower()] = value
    if headers.get("transfer-encoding") == "chunked":
        body = unchunked(body)
    return Answer(status=int(status.split(" ")[1]), headers=headers, body=body)


def unchunked(body: bytes) -> bytes:
    """Join the chunks of a body, which may not be complete."""
    joined = b""
    while body:
        size, _, body = body.partition(b"\r\n")
        length = int(size, 16)
        joined += body[:length]
        body = body[length + 2 :]
    return joined


class Person:
    """Whom a key belongs to."""

    def __init__(self, name: str, role: str) -> None:
        self.name = name
        self.role = role


class Desk:
    """A floor desk that notes what it is asked, and answers what the test says."""

    def __init__(self) -> None:
        self.people = {
            "floor-key": Person("floor-7", "floor"),
            "table-key": Person("pit-2", "table"),
            "admin-key": Person("boss", "admin"),
        }
        self.asked: list[tuple[object, ...]] = []
        self.reply: Deferred[Reply] = succeed({"type": "confirmed", "hit": 17})
        self.list: Deferred[list[Reply]] = succeed([{"hit": 17}])

    def authenticate(self, key: str) -> Person | None:
        return self.people.get(key)

    def hits(self, pending: bool) -> Deferred[list[Reply]]:
        self.asked.append(("hits", pending))
        return self.list

    def confirm(self, hit: int, by: str) -> Deferred[Reply]:
        self.asked.append(("confirm", hit, by))
        return self.reply

    def deny(self, hit: int, by: str, reason: str) -> Deferred[Reply]:
        self.asked.append(("deny", hit, by, reason))
        return self.reply


@dataclass(slots=True)
class Checks:
    """The health that the test sets."""

    works: bool = True
    checks: dict[str, bool] = field(
        default_factory=lambda: {"store": True, "caught_up": True, "leader": True}
    )

    def alive(self) -> bool:
        return self.works

    def ready(self) -> tuple[bool, Mapping[str, bool]]:
        return all(self.checks.values()), self.checks


class Transport(StringTransport):
    """A transport that can be cut."""

    aborted = False

    def abortConnection(self) -> None:
        self.aborted = True


class Connection:
    """One client's connection."""

    def __init__(self, house: House) -> None:
        self.transport = Transport(peerAddress=IPv4Address("TCP", "127.0.0.1", 40_000))
        self.protocol = house.site.buildProtocol(self.transport.getPeer())
        self.protocol.makeConnection(self.transport)

    def send(self, data: bytes) -> None:
        self.protocol.dataReceived(data)

    def take(self) -> bytes:
        """Return what was received since the last call."""
        received: bytes = self.transport.value()
        self.transport.clear()
        return received

    def pause(self) -> None:
        """Let the client read no more: what is written stays in the transport."""
        assert self.transport.producer is not None
        self.transport.producer.pauseProducing()

    def resume(self) -> None:
        """Let the client read again."""
        assert self.transport.producer is not None
        self.transport.producer.resumeProducing()

    def lose(self) -> None:
        self.protocol.connectionLost(Failure(ConnectionDone()))


class House:
    """The site of the sample property."""

    def __init__(
        self,
        *,
        board: Board | None = None,
        more: Mapping[str, IResource] | None = None,
        displays: int = 2,
    ) -> None:
        self.clock = Clock()
        self.board = board or property_board()
        self.feed = Feed(self.clock, self.board)
        self.registry = CollectorRegistry()
        self.metrics = Metrics(
            self.registry, version="1.2.3", codes=CODES, seconds=self.clock.seconds
        )
        self.health = Checks()
        self.desk = Desk()
        self.site = make_site(
            board=self.board,
            feed=self.feed,
            metrics=self.metrics,
            health=self.health,
            desk=self.desk,
            reactor=self.clock,
            max_displays=displays,
            more=more,
        )

    def sample(self, name: str, **labels: str) -> float | None:
        """Return the value of a metric."""
        return self.registry.get_sample_value(name, labels)

    def ask(
        self,
        target: str,
        *,
        method: str = "GET",
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
    ) -> Answer:
        """Ask on a connection of its own, and return the answer."""
        connection = Connection(self)
        connection.send(request(target, method=method, headers=headers, body=body))
        answer = parse(connection.take())
        connection.lose()
        return answer


def request(
    target: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes | None = None,
) -> bytes:
    """Write a request."""
    lines = [f"{method} {target} HTTP/1.1", "Host: signs.example"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    if body is not None:
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + (body or b"")
