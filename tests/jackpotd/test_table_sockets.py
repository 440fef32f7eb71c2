"""The table port on real sockets: peers that don't read, and how connections end."""

# mypy: allow-untyped-calls
# (Twisted's reactors have few annotations.)

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest
from twisted.internet.selectreactor import SelectReactor

from jackpotd import commit
from jackpotd.table_link import FLUSH_SECONDS
from tests.e2e.talking import Message, line
from tests.jackpotd.table_port import PING, TABLES, WATCH, Port, hello, locks


class Loopback:
    """The port on a reactor of its own, which moves only when it is told to."""

    def __init__(self, port: Port) -> None:
        self.port = port
        self.reactor = SelectReactor()
        listening = self.reactor.listenTCP(0, port.factory, interface="127.0.0.1")
        _narrow(listening.socket, sending=4_096, receiving=32_768)
        self._number = listening.getHost().port
        self._sockets: list[socket.socket] = []

    def connect(self, *messages: Message) -> socket.socket:
        """Connect, and send messages."""
        peer = socket.socket()
        _narrow(peer, sending=32_768, receiving=4_096)
        peer.connect(("127.0.0.1", self._number))
        peer.setblocking(False)
        self._sockets.append(peer)
        assert self.send(peer, b"".join(map(line, messages))) == b""
        return peer

    def turn(self) -> None:
        """Let the daemon read and write what it can, and the record write."""
        self.reactor.iterate(0)
        self.port.clock.advance(self.port.journal.delay_s)

    def send(self, peer: socket.socket, said: bytes) -> bytes:
        """Send until nothing moves for some turns; return what the daemon didn't take."""
        idle = 0
        while idle < 20:
            self.turn()
            sent = 0
            with suppress(BlockingIOError):
                sent = peer.send(said) if said else 0
            said, idle = said[sent:], 0 if sent else idle + 1
        return said

    def read(self, peer: socket.socket) -> bytes:
        """Return what there is to read, which may be nothing yet."""
        self.turn()
        with suppress(BlockingIOError):
            return peer.recv(65_536)
        return b""

    def read_until(self, peer: socket.socket, ending: bytes) -> bytes:
        """Read until a line has come that ends so."""
        heard = b""
        while not heard.endswith(ending + b"\n"):
            heard += self.read(peer)
        return heard

    def read_to_the_end(self, peer: socket.socket) -> bytes:
        """Read until the daemon ends the connection."""
        heard = b""
        while True:
            self.turn()
            with suppress(BlockingIOError):
                piece = peer.recv(65_536)
                if not piece:
                    return heard
                heard += piece

    def close(self) -> None:
        """Close every socket, and what the reactor itself is made of."""
        for peer in self._sockets:
            peer.close()
        self.reactor.disconnectAll()
        for reader in tuple(self.reactor._internalReaders):
            reader.connectionLost(None)


def _narrow(each: socket.socket, *, sending: int, receiving: int) -> None:
    # So that little is on the way, and a peer that doesn't read is noticed soon.
    each.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, sending)
    each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receiving)


@pytest.fixture
def loopback(port: Port) -> Iterator[Loopback]:
    loopback = Loopback(port)
    try:
        yield loopback
    finally:
        loopback.close()


def buffered(port: Port) -> list[int]:
    """Return how many bytes each connection holds for its peer."""
    return [len(link.transport.dataBuffer) + link.transport._tempDataLen for link in port.pit.links]


@pytest.mark.parametrize("message", [PING, hello("pit", *TABLES), WATCH])
def test_a_peer_that_asks_and_never_reads_backs_up_into_its_own_socket(
    port: Port, loopback: Loopback, message: Message
) -> None:
    greedy = loopback.connect(hello("pit", *TABLES))
    flood = line(message) * (1_000_000 // len(line(message)))
    assert len(loopback.send(greedy, flood)) > 500_000
    (held,) = buffered(port)
    assert held < 100_000
    other = loopback.connect(hello("fcp-01"), PING)
    assert loopback.read_until(other, b'"pong"}').count(b"\n") == 2


def test_all_that_was_asked_without_reading_is_answered_in_order_at_last(
    port: Port, loopback: Loopback, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit, "HIGH_WATER", 16)
    count = 4_000
    table = loopback.connect(hello("fcp-01"))
    rest = loopback.send(table, b"".join(map(line, [*locks("FCP-01", 1, count), PING])))
    assert rest
    heard = b""
    while rest:
        heard += loopback.read(table)
        rest = loopback.send(table, rest)
    heard += loopback.read_until(table, b'"pong"}')
    welcome, *replies, pong = [json.loads(each) for each in heard.splitlines()]
    assert (welcome["type"], pong["type"]) == ("welcome", "pong")
    assert [reply["seq"] for reply in replies] == list(range(1, count + 1))


def test_an_error_that_ends_a_connection_is_read_whatever_came_behind_it(
    port: Port, loopback: Loopback
) -> None:
    """A socket that is closed with something unread in it would take the error back."""
    peer = loopback.connect()
    loopback.send(peer, line(PING) * 50_000)
    (error,) = loopback.read_to_the_end(peer).splitlines()
    assert json.loads(error)["code"] == "no-hello"
    assert len(port.pit.links) == 1
    peer.close()
    while port.pit.links:
        loopback.turn()
    assert port.clock.getDelayedCalls() == []


def test_a_peer_that_does_not_close_is_cut_off(port: Port, loopback: Loopback) -> None:
    peer = loopback.connect(PING)
    loopback.read_to_the_end(peer)
    port.clock.advance(FLUSH_SECONDS)
    loopback.turn()
    assert port.pit.links == set()


def test_a_connection_that_the_daemon_hangs_up_is_closed_once_all_is_read(
    port: Port, loopback: Loopback
) -> None:
    slow = loopback.connect(hello("fcp-01"))
    loopback.send(slow, line(WATCH) * 1_000)
    (held,) = buffered(port)
    assert held > 60_000
    port.pit.hang_up()
    heard = loopback.read_to_the_end(slow)
    assert len(heard) > held
    assert heard.endswith(b"}\n")
    assert port.pit.links == set()
    assert port.clock.getDelayedCalls() == []


def test_a_hung_up_peer_that_reads_nothing_is_cut_off(port: Port, loopback: Loopback) -> None:
    greedy = loopback.connect(hello("fcp-01"))
    loopback.send(greedy, line(WATCH) * 1_000)
    port.pit.hang_up()
    for _ in range(20):
        loopback.turn()
    assert len(port.pit.links) == 1
    port.clock.advance(FLUSH_SECONDS)
    loopback.turn()
    assert port.pit.links == set()
