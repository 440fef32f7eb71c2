"""How a connection to the table port ends: by its peer, by an error, by the daemon."""

from __future__ import annotations

import pytest

from jackpotd.table_link import FLUSH_SECONDS
from jackpotd.wire import MAX_LINE
from tests.e2e.talking import hit, line, wager
from tests.jackpotd.table_port import PING, WATCH, Port, codes, hello

# Twenty malformed messages


def test_the_connection_ends_after_the_error_of_the_twentieth_malformed_message(
    port: Port,
) -> None:
    pit = port.welcome()
    replies = pit.exchange(*[b"{\n", line({"type": "bet"})] * 12)
    assert codes(replies) == ["bad-json", "unknown-type"] * 10
    assert pit.ended


def test_nineteen_malformed_messages_and_a_good_one_do_not_end_it(port: Port) -> None:
    pit = port.welcome()
    for _ in range(3):
        replies = pit.exchange(*[b"{\n"] * 19, PING)
        assert codes(replies) == ["bad-json"] * 19 + ["pong"]
    assert not pit.ended


# The end of a connection


@pytest.mark.parametrize("cut", [0, 1, 70, MAX_LINE - 1])
def test_a_line_too_long_ends_the_connection_wherever_the_packets_are_cut(
    port: Port, cut: int
) -> None:
    pit = port.welcome()
    long = b'{"type":"' + b"x" * MAX_LINE
    pit.send(long[:cut])
    assert (pit.told(), pit.ended) == ([], False)
    replies = pit.exchange(long[cut:])
    assert codes(replies) == ["too-long"]
    assert pit.ended


def test_the_end_comes_after_all_that_was_asked_before_it_and_hears_nothing_more(
    port: Port,
) -> None:
    pit = port.welcome()
    pit.send(wager("FCP-01", 1, 1, 1), PING, b"x" * MAX_LINE, wager("FCP-01", 2, 2, 1))
    pit.send(PING)
    assert not pit.ended
    port.run()
    assert codes(pit.told()) == ["accepted", "pong", "too-long"]
    assert pit.ended
    assert not pit.aborted
    pit.send(wager("FCP-01", 2, 2, 1), PING)
    port.run()
    assert pit.told() == []
    assert port.events() == [("wager", "FCP-01", 1)]


def test_a_watcher_that_ends_is_pushed_nothing_more(port: Port) -> None:
    watcher, pit = port.welcome("books"), port.welcome("fcp-01")
    watcher.exchange(WATCH)
    assert codes(watcher.exchange(b"x" * MAX_LINE)) == ["too-long"]
    (_until_cut,) = port.clock.getDelayedCalls()
    pit.exchange(wager("FCP-01", 1, 1, 1), hit("FCP-01", 2, 1, 1, "flush"))
    port.clock.advance(1)
    assert watcher.told() == []


def test_a_peer_that_never_reads_its_last_error_is_cut_off(port: Port) -> None:
    peer = port.connect()
    peer.exchange(PING)
    port.clock.advance(FLUSH_SECONDS - 1)
    assert (peer.ended, peer.aborted) == (True, False)
    port.clock.advance(1)
    assert peer.aborted


def test_a_peer_that_read_it_leaves_nothing_behind(port: Port) -> None:
    peer, greeted = port.connect(), port.welcome()
    peer.exchange(PING)
    greeted.exchange(WATCH)
    for each in (peer, greeted):
        each.hang_up()
    assert port.clock.getDelayedCalls() == []
    assert (port.pit.links, port.pit.speakers) == (set(), {})
    assert not peer.aborted
    assert port.registry.get_sample_value("jackpotd_connections") == 0


def test_what_a_peer_asked_before_it_went_happens_and_is_told_when_it_asks_again(
    port: Port,
) -> None:
    table = port.welcome("fcp-01")
    table.send(wager("FCP-01", 1, 1, 1), PING, WATCH, hello("fcp-01"), b"x" * MAX_LINE)
    table.hang_up()
    port.run()
    assert (table.told(), table.ended) == ([], False)
    assert port.events() == [("wager", "FCP-01", 1)]
    assert port.welcome("fcp-01").ask(wager("FCP-01", 1, 1, 1))["type"] == "accepted"
    assert port.events() == [("wager", "FCP-01", 1)]


# The daemon hangs up


def test_hanging_up_is_done_when_every_connection_is_gone(port: Port) -> None:
    peers = [port.welcome("fcp-01"), port.welcome("floor-7"), port.connect()]
    peers[1].exchange(WATCH)
    done: list[None] = []
    port.pit.hang_up().addCallback(done.append)
    assert all(peer.ended for peer in peers)
    for peer in peers:
        assert done == []
        peer.send(hello("pit", "FCP-01"), PING)
        assert peer.told() == []
        peer.hang_up()
    assert done == [None]


def test_hanging_up_with_nobody_there_is_done_at_once(port: Port) -> None:
    done: list[None] = []
    port.pit.hang_up().addCallback(done.append)
    assert done == [None]


def test_a_connection_that_ends_already_is_ended_once(port: Port) -> None:
    peer = port.connect()
    peer.exchange(PING)
    port.clock.advance(FLUSH_SECONDS - 1)
    port.pit.hang_up()
    port.clock.advance(1)
    assert peer.aborted
