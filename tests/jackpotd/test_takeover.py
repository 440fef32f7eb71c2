"""One table on two connections: the newer hello takes it over, and nobody else takes anything."""

from __future__ import annotations

import pytest

from tests.e2e.talking import Message, hit, wager
from tests.jackpotd.table_port import PING, ROYAL, WATCH, Peer, Port, codes, confirm, hello


def lock(table: str, seq: int) -> Message:
    return wager(table, seq, seq, 1, progressive=ROYAL)


def speaks(peer: Peer, table: str, seq: int) -> bool:
    """Tell whether a connection speaks for a table, whose next seq this is."""
    reply = peer.ask(lock(table, seq))
    assert reply["table"] == table
    assert reply.get("code") in (None, "not-allowed")
    return bool(reply["type"] == "accepted")


def test_the_newer_hello_speaks_for_the_table_and_the_older_one_no_more(port: Port) -> None:
    older, newer = port.welcome("fcp-01"), port.welcome("fcp-01")
    assert not speaks(older, "FCP-01", 1)
    assert speaks(newer, "FCP-01", 1)
    refused = older.ask(lock("FCP-01", 2))
    assert "a newer hello took it" in refused["message"]
    assert not refused["retry"]
    assert not older.ended
    assert older.ask(PING) == {"type": "pong"}


def test_only_the_tables_of_the_newer_hello_are_taken(port: Port) -> None:
    pit, table = port.welcome("pit", "FCP-01", "LIR-02"), port.welcome("fcp-01")
    assert not speaks(pit, "FCP-01", 1)
    assert speaks(pit, "LIR-02", 1)
    assert speaks(table, "FCP-01", 1)


def test_a_concentrator_takes_over_from_every_table_it_names(port: Port) -> None:
    first, second = port.welcome("fcp-01"), port.welcome("lir-02")
    pit = port.welcome("pit", "LIR-02", "FCP-01")
    assert not speaks(first, "FCP-01", 1)
    assert not speaks(second, "LIR-02", 1)
    assert speaks(pit, "FCP-01", 1)
    assert speaks(pit, "LIR-02", 1)


def test_the_older_connection_takes_the_table_back_with_another_hello(port: Port) -> None:
    older, newer = port.welcome("fcp-01"), port.welcome("fcp-01")
    assert older.ask(hello("fcp-01"))["type"] == "welcome"
    assert speaks(older, "FCP-01", 1)
    assert not speaks(newer, "FCP-01", 2)


def test_another_hello_on_the_same_connection_loses_nothing(port: Port) -> None:
    table = port.welcome("fcp-01")
    assert table.ask(hello("fcp-01"))["type"] == "welcome"
    assert speaks(table, "FCP-01", 1)


def test_a_table_left_out_of_another_hello_is_free_and_taken_without_harm(port: Port) -> None:
    pit = port.welcome("pit", "FCP-01", "LIR-02")
    pit.ask(hello("pit", "LIR-02"))
    table = port.welcome("fcp-01")
    assert speaks(table, "FCP-01", 1)
    assert speaks(pit, "LIR-02", 1)
    pit.hang_up()
    assert speaks(table, "FCP-01", 2)


@pytest.mark.parametrize(
    "message",
    [
        hello("pit", tables=[]),
        hello("floor-7"),
        hello("books"),
        hello("fcp-01", "FCP-01", "LIR-02"),
        hello("floor-7", "FCP-01"),
        hello("pit", "FCP-01", "OLD-09"),
        hello("pit", "FCP-01", extra=1),
        hello("pit", "FCP-01", protocol=2),
    ],
)
def test_a_watcher_the_floor_and_a_refused_hello_take_nothing_over(
    port: Port, message: Message
) -> None:
    table, other = port.welcome("fcp-01"), port.connect()
    other.exchange(message, WATCH)
    assert speaks(table, "FCP-01", 1)
    other.hang_up()
    assert speaks(table, "FCP-01", 2)


def test_the_older_connection_goes_without_taking_the_table_along(port: Port) -> None:
    older, newer = port.welcome("fcp-01"), port.welcome("fcp-01")
    older.hang_up()
    assert speaks(newer, "FCP-01", 1)
    third = port.welcome("fcp-01")
    assert not speaks(newer, "FCP-01", 2)
    assert speaks(third, "FCP-01", 2)


def test_when_the_newer_one_goes_the_older_one_asks_for_the_table_again(port: Port) -> None:
    older, newer = port.welcome("fcp-01"), port.welcome("fcp-01")
    newer.hang_up()
    assert not speaks(older, "FCP-01", 1)
    older.ask(hello("fcp-01"))
    assert speaks(older, "FCP-01", 1)


def test_what_the_older_one_asked_before_is_answered_and_told_to_the_newer_one(port: Port) -> None:
    """The hello comes while the wager is being written."""
    older, newer = port.welcome("fcp-01"), port.connect()
    older.send(lock("FCP-01", 1))
    port.clock.advance(0)
    newer.send(hello("fcp-01"), lock("FCP-01", 1), hit("FCP-01", 2, 1, 1, "royal flush"))
    older.send(lock("FCP-01", 2), PING)
    port.run()
    assert codes(older.told()) == ["accepted", "not-allowed", "pong"]
    welcome, again, award = newer.told()
    assert welcome["tables"]["FCP-01"]["next_seq"] == 2
    assert (again["type"], award["type"]) == ("accepted", "award")
    assert port.events() == [("wager", "FCP-01", 1), ("hit", "FCP-01", 2)]


def test_a_takeover_leaves_what_is_pending_to_the_floor(port: Port) -> None:
    older, floor = port.welcome("fcp-01"), port.welcome("floor-7")
    older.exchange(lock("FCP-01", 1), hit("FCP-01", 2, 1, 1, "royal flush"))
    newer = port.connect()
    assert newer.ask(hello("fcp-01"))["tables"]["FCP-01"]["pending"] == [1]
    assert newer.ask(lock("FCP-01", 3))["code"] == "table-held"
    assert floor.ask(confirm(1))["type"] == "confirmed"
    assert speaks(newer, "FCP-01", 3)
