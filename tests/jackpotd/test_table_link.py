"""A conversation with the table port: what is said for what, when, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from twisted.internet.defer import Deferred

from jackpotd.record.batch import Loaded
from jackpotd.table_link import HELLO_SECONDS
from tests.e2e.talking import Message, hit, line, wager
from tests.jackpotd.table_port import (
    PING,
    ROYAL,
    TABLES,
    WATCH,
    Peer,
    Port,
    codes,
    confirm,
    deny,
    hello,
    void,
)

PONG = {"type": "pong"}
SEEDED = {
    ROYAL: {"mega": 1_000_000, "major": 100_000},
    "four-aces": {"meter": 50_000},
    "old-faithful": {"meter": 50_000},
}
FRESH = {"next_seq": 1, "round": 0, "locked": [], "pending": []}


# Hello


def test_a_welcome_tells_the_property_its_meters_and_where_each_table_stands(port: Port) -> None:
    assert port.connect().ask(hello("pit", *TABLES)) == {
        "type": "welcome",
        "protocol": 1,
        "property": "Riverside",
        "tables": {
            "FCP-01": FRESH | {"progressives": [ROYAL]},
            "LIR-02": FRESH | {"progressives": [ROYAL, "four-aces"]},
            "CSP-03": FRESH | {"progressives": ["old-faithful"]},
        },
        "meters": SEEDED,
    }


@pytest.mark.parametrize(
    ("message", "tables"),
    [
        (hello("fcp-01"), ["FCP-01"]),
        (hello("pit", "LIR-02", "FCP-01"), ["LIR-02", "FCP-01"]),
        (hello("pit", "LIR-02", "LIR-02"), ["LIR-02"]),
        (hello("pit", tables=[]), []),
        (hello("floor-7"), []),
        (hello("floor-7", tables=[]), []),
        (hello("books"), []),
    ],
)
def test_a_welcome_is_for_the_tables_of_the_hello(
    port: Port, message: Message, tables: list[str]
) -> None:
    welcome = port.connect().ask(message)
    assert list(welcome["tables"]) == tables
    assert welcome["meters"] == SEEDED


def test_a_table_that_comes_back_learns_what_was_booked(port: Port) -> None:
    table = port.welcome("fcp-01")
    table.exchange(wager("FCP-01", 1, 100, 1, 2), hit("FCP-01", 2, 100, 2, "royal flush"))
    table.hang_up()
    assert port.connect().ask(hello("fcp-01"))["tables"] == {
        "FCP-01": {
            "next_seq": 3,
            "round": 100,
            "locked": [ROYAL],
            "pending": [1],
            "progressives": [ROYAL],
        }
    }


def test_another_hello_is_answered_like_the_first(port: Port) -> None:
    pit = port.welcome()
    pit.ask(wager("FCP-01", 1, 1, 1))
    again = pit.ask(hello("pit", "FCP-01"))
    assert again["tables"]["FCP-01"]["next_seq"] == 2
    assert pit.ask(wager("LIR-02", 1, 1, 1, progressive=ROYAL))["code"] == "not-allowed"
    assert list(pit.ask(hello("floor-7"))["tables"]) == []
    assert pit.ask(wager("FCP-01", 2, 2, 1))["code"] == "not-allowed"
    assert pit.ask(confirm(1))["code"] == "unknown-hit"


def test_a_welcome_behind_other_messages_tells_what_they_did_once_it_is_durable(
    port: Port,
) -> None:
    pit = port.welcome()
    pit.send(wager("FCP-01", 1, 1, 1), hello("pit", "FCP-01"), wager("FCP-01", 2, 2, 1))
    assert pit.told() == []
    port.run()
    _, welcome, last = pit.told()
    assert welcome["tables"]["FCP-01"]["next_seq"] == 2
    assert welcome["meters"][ROYAL] == {"mega": 1_000_050, "major": 100_040}
    assert last["type"] == "accepted"


def test_without_a_hello_the_connection_ends_after_ten_seconds(port: Port) -> None:
    assert HELLO_SECONDS == 10
    silent = port.connect()
    port.clock.advance(9)
    assert (silent.told(), silent.ended) == ([], False)
    port.clock.advance(1)
    assert codes(silent.told()) == ["no-hello"]
    assert silent.ended


@pytest.mark.parametrize("said", [b"hello?\n", line(hello("pit", "T9")), b'{"type":"he'])
def test_what_is_no_hello_does_not_stop_the_clock(port: Port, said: bytes) -> None:
    peer = port.connect()
    peer.exchange(said)
    port.clock.advance(HELLO_SECONDS)
    assert codes(peer.told()) == ["no-hello"]
    assert peer.ended


def test_a_hello_in_time_stops_the_clock_even_if_the_welcome_waits(port: Port) -> None:
    port.welcome("lir-02").send(wager("LIR-02", 1, 1, 1, progressive=ROYAL))
    port.journal.delay_s = 60
    peer = port.connect()
    port.clock.advance(0)
    peer.send(hello("fcp-01"))
    port.clock.advance(HELLO_SECONDS)
    assert peer.told() == []
    port.run()
    assert codes(peer.told()) == ["welcome"]
    port.clock.advance(HELLO_SECONDS)
    assert (peer.told(), peer.ended) == ([], False)


# One story with every message, however it is cut

STORY: list[tuple[str, Message, str]] = [
    ("pit", PING, "pong"),
    ("pit", wager("FCP-01", 1, 7, 1, 2, 5), "accepted"),
    ("pit", hit("FCP-01", 2, 7, 2, "royal flush", cards=["As", "Ks"]), "award"),
    ("pit", hit("FCP-01", 3, 7, 5, "flush", progressive=ROYAL), "award"),
    ("pit", hit("FCP-01", 4, 7, 1, "royal flush", folded=True), "award"),
    ("pit", wager("LIR-02", 1, 3, 1, 2, progressive=ROYAL, players={"1": "A"}), "accepted"),
    ("pit", wager("LIR-02", 2, 3, 4, progressive="four-aces"), "accepted"),
    ("pit", void("LIR-02", 3, 3), "voided"),
    ("floor-7", confirm(1), "confirmed"),
    ("floor-7", deny(3, "no royal"), "denied"),
    ("floor-7", PING, "pong"),
    ("pit", wager("FCP-01", 5, 8, 1), "accepted"),
    ("pit", WATCH, "meters"),
]


def played(port: Port, cut: Callable[[bytes], Iterable[bytes]]) -> list[bytes]:
    """Return what is said in the story, where each run of one speaker's messages is cut."""
    speakers = {name: port.welcome(name) for name in ("pit", "floor-7")}
    said: list[bytes] = []
    waiting, speaker = b"", "pit"
    for name, message, _ in [*STORY, ("", {}, "")]:
        if name != speaker:
            for piece in cut(waiting):
                speakers[speaker].send(piece)
            port.run()
            said += speakers[speaker].heard()
            waiting, speaker = b"", name
        waiting += line(message)
    return said


def one_by_one(said: bytes) -> Iterable[bytes]:
    return (bytes([byte]) for byte in said)


def in_lines(said: bytes) -> Iterable[bytes]:
    return said.splitlines(keepends=True)


def with_returns(said: bytes) -> Iterable[bytes]:
    return [said.replace(b"\n", b"\r\n")]


def whole(said: bytes) -> Iterable[bytes]:
    return [said]


@pytest.mark.parametrize("cut", [one_by_one, in_lines, with_returns])
def test_a_story_is_answered_the_same_however_it_is_cut(
    tmp_path: Path, cut: Callable[[bytes], Iterable[bytes]]
) -> None:
    folders = tmp_path / "whole", tmp_path / "cut"
    for folder in folders:
        folder.mkdir()
    expected = played(Port(folders[0]), whole)
    assert len(expected) == len(STORY)
    assert played(Port(folders[1]), cut) == expected


def test_each_message_of_the_story_gets_its_kind_of_reply(port: Port) -> None:
    speakers = {name: port.welcome(name) for name in ("pit", "floor-7")}
    replies = [speakers[name].ask(message) for name, message, _ in STORY]
    assert [reply["type"] for reply in replies] == [kind for _, _, kind in STORY]
    _, lock, royal, flush, folded, first, _, voided, confirmed, denied, *_ = replies
    assert (lock["amount"], lock["meters"]) == (
        1500,
        {ROYAL: {"mega": 1_000_150, "major": 100_120}},
    )
    assert royal["hit"] == 1
    assert royal["amount"] == royal["meter"] == 1_000_150
    assert royal["envy"] == [{"seat": 1, "amount": 100_000}, {"seat": 5, "amount": 100_000}]
    assert (royal["from"], royal["status"], royal["line"]) == (
        "hand pay",
        "pending",
        "100% of mega",
    )
    assert (flush["amount"], flush["status"], flush["from"]) == (25_000, "paid", "table")
    assert folded["amount"] == 0
    assert not {"line", "meter"} & set(folded)
    assert first["meters"] == {ROYAL: {"mega": 1_000_100, "major": 100_200}}
    assert voided["amount"] == 1_100
    assert voided["meters"] == {
        ROYAL: {"mega": 1_000_000, "major": 100_120},
        "four-aces": {"meter": 50_000},
    }
    assert (confirmed["hit"], confirmed["amount"], confirmed["by"]) == (1, 1_000_150, "floor-7")
    assert (denied["hit"], denied["later_hits"], denied["by"]) == (3, [], "floor-7")


# Order, resending, pipelining


def test_replies_come_in_the_order_of_the_requests(port: Port) -> None:
    pit = port.welcome()
    replies = pit.exchange(
        PING,
        wager("FCP-01", 1, 1, 1),
        {"type": "bet"},
        wager("LIR-02", 1, 1, 1, progressive=ROYAL),
        wager("FCP-01", 1, 1, 1),
        b"{\n",
        confirm(1),
        wager("FCP-01", 2, 2, 1),
        PING,
    )
    assert codes(replies) == [
        *("pong", "accepted", "unknown-type", "accepted", "accepted"),
        *("bad-json", "not-allowed", "accepted", "pong"),
    ]
    assert [reply.get("seq") for reply in replies] == [None, 1, None, 1, 1, None, None, 2, None]


def test_nothing_is_said_before_it_is_written(port: Port) -> None:
    pit, other = port.welcome("fcp-01"), port.welcome("lir-02")
    pit.send(wager("FCP-01", 1, 1, 1))
    port.clock.advance(0)
    assert port.events() == []
    other.send(PING)
    assert (pit.told(), other.told()) == ([], [])
    port.run()
    assert port.events() == [("wager", "FCP-01", 1)]
    assert (codes(pit.told()), other.told()) == (["accepted"], [PONG])


def test_a_message_that_is_sent_again_is_answered_word_for_word(port: Port) -> None:
    pit, floor = port.welcome(), port.welcome("floor-7")
    messages = [message for name, message, _ in STORY[1:8] if name == "pit"]
    pit.send(*messages)
    port.run()
    first = pit.heard()
    floor.send(confirm(1), deny(3))
    port.run()
    settled = floor.heard()
    state, rows = port.state(), list(port.journal.rows)
    pit.hang_up()
    again, other = port.welcome(), port.welcome("floor-7")
    again.send(*reversed(messages))
    other.send(deny(3, "for another reason"), confirm(1))
    port.run()
    assert again.heard() == first[::-1]
    assert other.heard() == settled[::-1]
    assert (port.state(), port.journal.rows) == (state, rows)


def test_a_message_that_is_sent_twice_in_one_packet_happens_once(port: Port) -> None:
    pit = port.welcome()
    lock, royal = wager("FCP-01", 1, 1, 1), hit("FCP-01", 2, 1, 1, "royal flush")
    pit.send(lock, lock, royal, royal, lock)
    port.run()
    said = pit.heard()
    assert said[0] == said[1] == said[4]
    assert said[2] == said[3]
    assert port.events() == [("wager", "FCP-01", 1), ("hit", "FCP-01", 2)]


def test_what_is_pipelined_behind_a_refusal_is_refused_and_other_tables_play_on(
    port: Port,
) -> None:
    pit = port.welcome()
    behind = [hit("FCP-01", 3, 1, 1, "flush"), wager("FCP-01", 4, 2, 1)]
    replies = pit.exchange(
        wager("FCP-01", 1, 1, 1),
        hit("FCP-01", 2, 1, 1, "pair"),
        *behind,
        wager("LIR-02", 1, 1, 1, progressive=ROYAL),
    )
    assert codes(replies) == ["accepted", "unknown-hand", "seq-gap", "seq-gap", "accepted"]
    assert [reply["expected"] for reply in replies[2:4]] == [2, 2]
    mended = pit.exchange(hit("FCP-01", 2, 1, 1, "straight flush"), void("FCP-01", 3, 1))
    assert codes(mended) == ["award", "round-settled"]


def test_pushes_stand_between_the_replies(port: Port) -> None:
    pit = port.welcome()
    pit.exchange(WATCH)
    replies = pit.exchange(
        wager("FCP-01", 1, 1, 1), hit("FCP-01", 2, 1, 1, "flush"), PING, wager("FCP-01", 3, 2, 1)
    )
    kinds = [reply["type"] for reply in replies]
    assert [kind for kind in kinds if kind != "hit"] == ["accepted", "award", "pong", "accepted"]
    assert kinds.count("hit") == 1


# The store fails


def lose_store(port: Port, table: Peer) -> None:
    port.journal.failing = True
    assert table.ask(wager("FCP-01", 1, 1, 1))["code"] == "unavailable"


def test_a_lost_write_is_unavailable_for_everything_behind_it_in_order(port: Port) -> None:
    pit = port.welcome()
    pit.send(wager("FCP-01", 1, 1, 1))
    port.journal.failing = True
    replies = pit.exchange(wager("FCP-01", 2, 2, 1), PING, hello("pit", "FCP-01"), b"{\n", WATCH)
    assert codes(replies) == [
        *("unavailable", "unavailable", "pong", "unavailable", "bad-json", "meters")
    ]
    assert replies[-1]["meters"] == SEEDED
    assert port.events() == []


def test_the_store_comes_back_and_the_same_message_is_taken(port: Port) -> None:
    table = port.welcome("fcp-01")
    lose_store(port, table)
    port.journal.failing = False
    port.clock.advance(1)
    assert table.ask(hello("fcp-01"))["tables"]["FCP-01"]["next_seq"] == 1
    assert table.ask(wager("FCP-01", 1, 1, 1))["type"] == "accepted"


def test_a_welcome_that_waited_while_the_store_came_back_tells_nothing_that_was_lost(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lost wager is still in the state that the daemon had when the hello came."""
    table = port.welcome("fcp-01")
    restored: Deferred[Loaded] = Deferred()
    monkeypatch.setattr(port.journal, "restore", lambda: restored)
    lose_store(port, table)
    table.send(wager("FCP-01", 1, 1, 1), hello("fcp-01"))
    restored.callback(port.journal.load())
    port.journal.failing = False
    port.run()
    assert codes(table.told()) == ["unavailable", "unavailable"]
    assert table.ask(hello("fcp-01"))["tables"]["FCP-01"]["next_seq"] == 1


def test_a_key_that_is_added_later_is_known_at_once(port: Port) -> None:
    key = port.pit.principals.add("floor-9", role="floor")
    new: dict[str, Any] = {"type": "hello", "protocol": 1, "key": key}
    assert port.connect().ask(new)["type"] == "welcome"
