"""What a watcher is told: the values, each hit, how it ended; newest only if it doesn't read."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from jackpotd.watch import Watcher
from signage.board import Resolution
from signage.feed import HELD_EVENTS, METERS_INTERVAL_S, TICK_INTERVAL_S
from tests.e2e.talking import Message, hit, wager
from tests.jackpotd.table_port import ROYAL, WATCH, Peer, Port, codes, confirm, deny, hello, void
from tests.signage.examples import award, commit, property_board


def watching(port: Port) -> Peer:
    """Return a watcher that has its first values."""
    watcher = port.welcome("books")
    assert watcher.ask(WATCH)["type"] == "meters"
    slot(port)
    return watcher


def slot(port: Port) -> None:
    """Let the time pass after which values are pushed again."""
    port.clock.advance(METERS_INTERVAL_S)


def lock(seq: int, *seats: int) -> Message:
    return wager("FCP-01", seq, seq, *(seats or (1,)))


def mega(told: dict[str, Any]) -> int:
    amount: int = told["meters"][ROYAL]["mega"]
    return amount


# The lines


def test_values_are_one_line() -> None:
    lines: list[bytes] = []
    board = property_board()
    commit(board, 812, mega=1_000_000)
    Watcher(lines.append).meters(board.snapshot())
    assert lines == [
        b'{"type":"meters","sequence":812,"meters":{'
        b'"royal":{"mega":1000000,"major":500000},"fortune":{"meter":0}}}\n'
    ]


def test_a_hit_is_one_line_and_has_what_there_is() -> None:
    lines: list[bytes] = []
    watcher = Watcher(lines.append)
    watcher.hit(award(17))
    watcher.hit(award(18, level=None, meter_minor=None, line="50 for 1", status="paid", envy=()))
    watcher.hit(award(19, level=None, meter_minor=None, line=None, amount_minor=0, from_="table"))
    head = b',"table":"LIR-02","round":100,"progressive":"royal","seat":5,"hand":"royal flush",'
    envy = b'"envy":[{"seat":1,"amount":100000},{"seat":2,"amount":200000}]}\n'
    assert lines == [
        b'{"type":"hit","sequence":17,"hit":17' + head + b'"amount":1234567,'
        b'"line":"100% of mega","level":"mega","meter":1234567,'
        b'"from":"hand pay","status":"pending",' + envy,
        b'{"type":"hit","sequence":18,"hit":18' + head + b'"amount":1234567,'
        b'"line":"50 for 1","from":"hand pay","status":"paid","envy":[]}\n',
        b'{"type":"hit","sequence":19,"hit":19' + head + b'"amount":0,'
        b'"from":"table","status":"pending",' + envy,
    ]


def test_an_end_is_one_line_and_a_tick_is_none() -> None:
    lines: list[bytes] = []
    watcher = Watcher(lines.append)
    watcher.tick(820, 1)
    watcher.resolved(Resolution(hit=17, status="denied", at_ms=1, sequence=820))
    assert lines == [b'{"type":"resolved","sequence":820,"hit":17,"status":"denied"}\n']


# Through a link


@pytest.mark.parametrize("who", ["pit", "fcp-01", "floor-7", "books"])
def test_anyone_may_watch_and_gets_the_values_at_once(port: Port, who: str) -> None:
    assert port.welcome(who).ask(WATCH) == {
        "type": "meters",
        "sequence": port.queue.floor.number,
        "meters": {
            ROYAL: {"mega": 1_000_000, "major": 100_000},
            "four-aces": {"meter": 50_000},
            "old-faithful": {"meter": 50_000},
        },
    }


def test_values_are_pushed_when_a_wager_is_durable_and_not_before(port: Port) -> None:
    watcher, table = watching(port), port.welcome("fcp-01")
    table.send(lock(1))
    port.clock.advance(0)
    assert watcher.told() == []
    port.run()
    port.clock.advance(0)
    (told,) = watcher.told()
    assert mega(told) == 1_000_050
    assert told["sequence"] == port.queue.floor.number


def test_a_watch_behind_a_wager_shows_what_it_did(port: Port) -> None:
    table = port.welcome("fcp-01")
    accepted, told = table.exchange(lock(1), WATCH)
    assert told["meters"][ROYAL] == accepted["meters"][ROYAL]


def test_values_are_pushed_at_most_ten_times_a_second(port: Port) -> None:
    watcher, table = watching(port), port.welcome("fcp-01")
    for seq in range(1, 201):
        table.send(lock(seq))
        port.clock.advance(0.005)
    port.run()
    slot(port)
    amounts = [mega(told) for told in watcher.told()]
    assert 2 <= len(amounts) <= 12
    assert all(before < after for before, after in pairwise(amounts))
    assert amounts[-1] == 1_000_000 + 200 * 50


def test_a_hit_and_its_end_are_pushed_at_once(port: Port) -> None:
    watcher, table, floor = watching(port), port.welcome("fcp-01"), port.welcome("floor-7")
    table.exchange(lock(1, 1, 2), hit("FCP-01", 2, 1, 2, "royal flush"))
    told, values = watcher.told()
    assert told == {
        "type": "hit",
        "sequence": port.queue.floor.number,
        "hit": 1,
        "table": "FCP-01",
        "round": 1,
        "progressive": ROYAL,
        "seat": 2,
        "hand": "royal flush",
        "amount": 1_000_100,
        "line": "100% of mega",
        "level": "mega",
        "meter": 1_000_100,
        "from": "hand pay",
        "status": "pending",
        "envy": [{"seat": 1, "amount": 100_000}],
    }
    assert mega(values) == 1_000_000
    floor.exchange(confirm(1))
    number = port.queue.floor.number
    assert watcher.told() == [{"type": "resolved", "sequence": number, "hit": 1, "status": "paid"}]


def test_a_denial_is_pushed_with_the_values_that_came_back(port: Port) -> None:
    watcher, table, floor = watching(port), port.welcome("fcp-01"), port.welcome("floor-7")
    table.exchange(lock(1), hit("FCP-01", 2, 1, 1, "royal flush"))
    slot(port)
    assert [mega(told) for told in watcher.told() if told["type"] == "meters"] == [1_000_000]
    floor.exchange(deny(1))
    slot(port)
    ended, values = watcher.told()
    assert (ended["type"], ended["hit"], ended["status"]) == ("resolved", 1, "denied")
    assert mega(values) == 1_000_050


def test_what_changes_nothing_is_not_pushed(port: Port) -> None:
    table = port.welcome("fcp-01")
    table.exchange(lock(1))
    watcher = watching(port)
    table.exchange(lock(1), lock(9), void("FCP-01", 2, 9))
    port.clock.advance(TICK_INTERVAL_S)
    assert watcher.told() == []


def test_a_second_watch_is_answered_and_pushes_come_once(port: Port) -> None:
    watcher, table = watching(port), port.welcome("fcp-01")
    assert codes(watcher.exchange(WATCH, WATCH)) == ["meters", "meters"]
    slot(port)
    table.exchange(lock(1), hit("FCP-01", 2, 1, 1, "flush"))
    slot(port)
    assert sorted(codes(watcher.told())) == ["hit", "meters"]


def test_a_watcher_goes_on_watching_after_another_hello_and_after_errors(port: Port) -> None:
    watcher, table = watching(port), port.welcome("lir-02")
    watcher.exchange(hello("floor-7"), b"{\n")
    table.exchange(wager("LIR-02", 1, 1, 1, progressive=ROYAL))
    slot(port)
    assert [mega(told) for told in watcher.told()] == [1_000_050]


def test_the_last_durable_values_stay_while_the_store_is_lost(port: Port) -> None:
    watcher, table = watching(port), port.welcome("fcp-01")
    port.journal.failing = True
    table.exchange(lock(1))
    slot(port)
    assert watcher.told() == []
    assert mega(watcher.ask(WATCH)) == 1_000_000
    port.journal.failing = False
    port.clock.advance(1)
    table.exchange(lock(1))
    slot(port)
    assert [mega(told) for told in watcher.told()] == [1_000_050]


def test_a_write_that_was_lost_but_reached_the_record_is_shown_when_the_store_is_back(
    port: Port,
) -> None:
    watcher, table = watching(port), port.welcome("fcp-01")
    port.journal.failing = port.journal.torn = True
    assert codes(table.exchange(lock(1))) == ["unavailable"]
    port.journal.failing = False
    port.clock.advance(1)
    slot(port)
    assert [mega(told) for told in watcher.told()] == [1_000_050]
    assert table.ask(lock(1))["type"] == "accepted"


# A watcher that doesn't read


def test_a_watcher_that_does_not_read_gets_the_newest_values_only(port: Port) -> None:
    watcher, table = watching(port), port.welcome("fcp-01")
    watcher.stop_reading()
    for seq in range(1, 51):
        table.exchange(lock(seq))
        slot(port)
    assert watcher.told() == []
    watcher.read_on()
    slot(port)
    assert [mega(told) for told in watcher.told()] == [1_000_000 + 50 * 50]


def test_of_the_hits_it_did_not_read_a_watcher_gets_the_newest(port: Port) -> None:
    watcher, table = watching(port), port.welcome("fcp-01")
    watcher.stop_reading()
    count = HELD_EVENTS + 10
    for round_ in range(1, count + 1):
        seq = 2 * round_ - 1
        table.exchange(wager("FCP-01", seq, round_, 1), hit("FCP-01", seq + 1, round_, 1, "flush"))
    watcher.read_on()
    told = [each["hit"] for each in watcher.told()]
    assert told == list(range(11, count + 1))
    slot(port)
    assert codes(watcher.told()) == ["meters"]


def test_a_watch_that_is_answered_while_its_peer_does_not_read_is_followed_by_nothing(
    port: Port,
) -> None:
    """The watch waits behind a wager, and the peer stops to read before its turn."""
    table, other = port.welcome("fcp-01"), port.welcome("lir-02")
    table.send(lock(1), WATCH)
    table.stop_reading()
    port.run()
    assert codes(table.told()) == ["accepted", "meters"]
    for seq in range(1, 4):
        other.exchange(wager("LIR-02", seq, seq, 1, progressive=ROYAL))
        slot(port)
    assert table.told() == []
    table.read_on()
    slot(port)
    assert [mega(told) for told in table.told()] == [1_000_050 + 3 * 50]


def test_a_watcher_whose_first_values_fill_its_buffer_is_not_pushed_more(port: Port) -> None:
    watcher, table = port.welcome("books"), port.welcome("fcp-01")
    write = watcher.wire.write

    def full(data: bytes) -> None:
        write(data)
        watcher.stop_reading()

    watcher.wire.write = full  # type: ignore[method-assign]
    assert codes(watcher.exchange(WATCH)) == ["meters"]
    slot(port)
    table.exchange(lock(1))
    slot(port)
    assert watcher.told() == []


def test_a_watcher_that_is_gone_costs_nothing_and_leaves_no_timer(port: Port) -> None:
    watcher, table = watching(port), port.welcome("fcp-01")
    table.send(lock(1))
    watcher.send(WATCH)
    watcher.hang_up()
    port.run()
    assert watcher.told() == []
    assert port.clock.getDelayedCalls() == []
