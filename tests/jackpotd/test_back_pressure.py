"""A queue that is full and a peer that doesn't read: who waits where, and that nothing is lost."""

# mypy: allow-untyped-calls
# (Twisted's reactors have few annotations.)

from __future__ import annotations

from typing import Any

import pytest
from twisted.logger import capturedLogs

from jackpotd import commit
from jackpotd.wire import MAX_LINE
from tests.e2e.talking import line
from tests.jackpotd.table_port import PING, ROYAL, Port, codes, hello, locks


@pytest.fixture
def narrow(port: Port, monkeypatch: pytest.MonkeyPatch) -> Port:
    """A port whose queue is full at four messages."""
    monkeypatch.setattr(commit, "HIGH_WATER", 4)
    return port


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
    # What still comes is read and dropped: unread, it would take the error back.
    assert table.reads


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
    assert (table.ended, table.aborted) == (True, False)
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

    monkeypatch.setattr(broken.link.conversation, "_by_key", unreadable)
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
