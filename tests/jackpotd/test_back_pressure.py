"""A queue that is full and a peer that doesn't read: who waits where, and that nothing is lost."""

# mypy: allow-untyped-calls
# (Twisted's reactors have few annotations.)

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.selectreactor import SelectReactor
from twisted.logger import capturedLogs

from jackpotd import commit
from jackpotd.table_link import FLUSH_SECONDS
from jackpotd.wire import MAX_LINE
from tests.e2e.talking import Message, line, wager
from tests.jackpotd.table_port import PING, TABLES, WATCH, Port, codes, hello

ROYAL = "riverside-royal"


@pytest.fixture
def port(tmp_path: Path) -> Port:
    return Port(tmp_path)


@pytest.fixture
def narrow(port: Port, monkeypatch: pytest.MonkeyPatch) -> Port:
    """A port whose queue is full at four messages."""
    monkeypatch.setattr(commit, "HIGH_WATER", 4)
    return port


def locks(table: str, first: int, last: int, progressive: str = ROYAL) -> list[Message]:
    """Return one lock a round."""
    return [wager(table, seq, seq, 1, progressive=progressive) for seq in range(first, last + 1)]


def seqs(replies: list[dict[str, Any]]) -> list[int]:
    assert {reply["type"] for reply in replies} <= {"accepted"}
    return [reply["seq"] for reply in replies]


# The queue is full


def test_a_full_queue_stops_the_reading_and_everything_is_answered_in_order(narrow: Port) -> None:
    table = narrow.welcome("fcp-01")
    table.send(*locks("FCP-01", 1, 10))
    assert narrow.queue.waiting == 4
    assert not table.reads
    narrow.run()
    assert seqs(table.told()) == list(range(1, 11))
    assert table.reads
    assert [seq for _, _, seq in narrow.events()] == list(range(1, 11))


def test_what_arrives_while_the_link_waits_keeps_its_place(narrow: Port) -> None:
    table = narrow.welcome("fcp-01")
    stream = b"".join(map(line, [*locks("FCP-01", 1, 6), PING, *locks("FCP-01", 7, 9)]))
    for start in range(0, len(stream), 100):
        table.send(stream[start : start + 100])
    assert narrow.queue.waiting == 4
    narrow.run()
    replies = table.told()
    assert codes(replies) == ["accepted"] * 6 + ["pong"] + ["accepted"] * 3
    assert seqs([*replies[:6], *replies[7:]]) == list(range(1, 10))


def test_every_connection_gets_room_in_its_turn(narrow: Port) -> None:
    first, second = narrow.welcome("fcp-01"), narrow.welcome("lir-02")
    first.send(*locks("FCP-01", 1, 9))
    second.send(*locks("LIR-02", 1, 9))
    assert (first.reads, second.reads) == (False, False)
    narrow.run()
    assert seqs(first.told()) == seqs(second.told()) == list(range(1, 10))
    assert (first.reads, second.reads) == (True, True)


def test_room_is_given_no_further_than_it_reaches(narrow: Port) -> None:
    tables = {"FCP-01": ROYAL, "LIR-02": ROYAL, "CSP-03": "old-faithful"}
    peers = [narrow.welcome("pit", name) for name in tables]
    for peer, (name, progressive) in zip(peers, tables.items(), strict=True):
        peer.send(*locks(name, 1, 9, progressive))
    assert narrow.queue.waiting == 4 + 1 + 1
    narrow.clock.advance(0)
    for _ in range(5):
        narrow.clock.advance(narrow.journal.delay_s)
        assert narrow.queue.waiting == 4
    narrow.run()
    assert [seqs(peer.told()) for peer in peers] == [list(range(1, 10))] * 3


def test_a_refusal_takes_its_turn_too(narrow: Port) -> None:
    table = narrow.welcome("fcp-01")
    table.send(*locks("FCP-01", 1, 3), *[b"{\n"] * 5, *locks("FCP-01", 4, 5), b"x" * MAX_LINE)
    assert narrow.queue.waiting == 4
    narrow.run()
    expected = ["accepted"] * 3 + ["bad-json"] * 5 + ["accepted"] * 2 + ["too-long"]
    assert codes(table.told()) == expected
    assert table.ended


def test_a_table_that_is_taken_over_while_its_messages_wait_has_the_rest_refused(
    narrow: Port,
) -> None:
    older = narrow.welcome("fcp-01")
    older.send(*locks("FCP-01", 1, 6))
    newer = narrow.connect()
    newer.send(hello("fcp-01"))
    narrow.run()
    assert codes(older.told()) == ["accepted"] * 4 + ["not-allowed"] * 2
    (welcome,) = newer.told()
    assert welcome["tables"]["FCP-01"]["next_seq"] == 5


def test_a_peer_that_goes_while_its_messages_wait_has_only_those_taken_that_were_in_the_queue(
    narrow: Port,
) -> None:
    table, other = narrow.welcome("fcp-01"), narrow.welcome("lir-02")
    table.send(*locks("FCP-01", 1, 9))
    other.send(*locks("LIR-02", 1, 2))
    table.hang_up()
    narrow.run()
    assert [seq for _, name, seq in narrow.events() if name == "FCP-01"] == [1, 2, 3, 4]
    assert seqs(other.told()) == [1, 2]
    assert narrow.queue.writable


def test_a_daemon_that_stops_while_messages_wait_ends_without_them(narrow: Port) -> None:
    table = narrow.welcome("fcp-01")
    table.send(*locks("FCP-01", 1, 9))
    gone: list[None] = []
    narrow.queue.stop().addCallback(lambda _: narrow.pit.hang_up().addCallback(gone.append))
    narrow.run()
    assert seqs(table.told()) == [1, 2, 3, 4]
    assert table.ended
    table.hang_up()
    assert gone == [None]


def test_a_store_that_is_lost_while_messages_wait_refuses_them_all_in_order(narrow: Port) -> None:
    table = narrow.welcome("fcp-01")
    table.send(*locks("FCP-01", 1, 9))
    narrow.journal.failing = True
    narrow.run()
    replies = table.told()
    assert codes(replies) == ["unavailable"] * 9
    assert [reply["seq"] for reply in replies] == list(range(1, 10))
    assert table.reads


def test_a_connection_that_fails_as_it_goes_on_is_cut_and_the_others_go_on(
    narrow: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, other = narrow.welcome("fcp-01"), narrow.welcome("lir-02")
    broken.send(*locks("FCP-01", 1, 4), hello("fcp-01"))
    other.send(*locks("LIR-02", 1, 6))

    def unreadable(key: str) -> None:
        raise RuntimeError("no keys")

    monkeypatch.setattr(broken.link.conversation, "_authenticate", unreadable)
    with capturedLogs() as logged:
        narrow.run()
    assert "a connection failed" in logged[0]["log_format"]
    assert broken.aborted
    assert seqs(other.told()) == list(range(1, 7))
    assert narrow.queue.writable


# The peer doesn't read


def test_from_a_peer_that_does_not_read_nothing_is_taken(port: Port) -> None:
    table = port.welcome("fcp-01")
    table.stop_reading()
    assert not table.reads
    table.send(*locks("FCP-01", 1, 3))
    table.send(*locks("FCP-01", 4, 5))
    port.run()
    assert len(port.events()) == 1
    table.read_on()
    port.run()
    assert seqs(table.told()) == [1, 2, 3, 4, 5]
    assert table.reads


def test_a_peer_that_stops_in_the_middle_of_its_packet_is_taken_up_there(port: Port) -> None:
    table = port.welcome("fcp-01")
    write = table.wire.write

    def full(data: bytes) -> None:
        write(data)
        table.stop_reading()

    table.wire.write = full  # type: ignore[method-assign]
    table.send(PING, PING, *locks("FCP-01", 1, 2))
    assert (codes(table.told()), port.queue.waiting) == (["pong"], 0)
    for expected in (["pong"], ["accepted", "accepted"]):
        table.read_on()
        port.run()
        assert codes(table.told()) == expected


def test_a_peer_that_reads_again_waits_for_room_all_the_same(narrow: Port) -> None:
    table = narrow.welcome("fcp-01")
    table.send(*locks("FCP-01", 1, 9))
    for _ in range(3):
        table.stop_reading()
        table.read_on()
    assert narrow.queue.waiting == 4
    assert not table.reads
    narrow.run()
    assert seqs(table.told()) == list(range(1, 10))
    assert table.reads


def test_a_peer_for_which_there_is_room_waits_until_it_reads(narrow: Port) -> None:
    table = narrow.welcome("fcp-01")
    table.send(*locks("FCP-01", 1, 9))
    table.stop_reading()
    narrow.run()
    assert len(narrow.events()) == 4
    assert not table.reads
    table.read_on()
    narrow.run()
    assert seqs(table.told()) == list(range(1, 10))


# On real sockets


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
    assert seqs(replies) == list(range(1, count + 1))


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
