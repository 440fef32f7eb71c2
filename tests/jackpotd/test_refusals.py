"""Every refusal, as a peer of the table port hears it: its code, what it tells, and what stays.

The house in play: FCP-01 has hit 1, which waits, in round 5. LIR-02 carries two progressives; in
its round 3, hit 2 was paid at once and hit 3 denied. CSP-03's progressive is retired.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from jackpotd import commit
from jackpotd.wire import MAX_LINE
from meters.outcomes import Code
from tests.e2e.talking import Message, hit, wager
from tests.jackpotd.table_port import (
    NOT_OPENED,
    PING,
    ROYAL,
    WATCH,
    Port,
    codes,
    confirm,
    deny,
    hello,
    void,
)

IN_PLAY: list[Message] = [
    wager("FCP-01", 1, 5, 1, 2),
    hit("FCP-01", 2, 5, 1, "royal flush"),
    wager("LIR-02", 1, 3, 1, 2, progressive=ROYAL),
    hit("LIR-02", 2, 3, 1, "flush", progressive=ROYAL),
    hit("LIR-02", 3, 3, 2, "straight flush", progressive=ROYAL),
    wager("CSP-03", 1, 7, 1),
]


@pytest.fixture
def port(tmp_path: Path) -> Port:
    """The house in play, in the place of the fresh one."""
    port = Port(tmp_path)
    types = [reply["type"] for reply in port.welcome().exchange(*IN_PLAY)]
    assert types == ["accepted", "award", "accepted", "award", "award", "accepted"]
    assert port.welcome("floor-7").ask(deny(3))["type"] == "denied"
    port.queue.floor.progressives["old-faithful"].retired = True
    return port


LOCK = wager("FCP-01", 3, 6, 1)
TURN = hit("FCP-01", 3, 5, 2, "flush")
AT_LIR = wager("LIR-02", 4, 4, 1, progressive=ROYAL)
AT_CSP = wager("CSP-03", 2, 8, 1)
LONG = b"x" * MAX_LINE
SECRET = {"type": "hello", "protocol": 1, "key": "stolen"}

Row = tuple[str | None, Message | bytes, Code, dict[str, Any]]
"""Who says what (None: a connection without a hello), the code, and what more the refusal tells."""

ROWS: list[Row] = [
    (None, LONG, Code.TOO_LONG, {}),
    ("pit", LONG, Code.TOO_LONG, {}),
    (None, b"hello\n", Code.BAD_JSON, {}),
    ("pit", b'{"type":"ping","type":"ping"}\n', Code.BAD_JSON, {}),
    (None, PING, Code.NO_HELLO, {}),
    (None, {"type": "bet"}, Code.NO_HELLO, {}),
    (None, LOCK, Code.NO_HELLO, {"table": "FCP-01", "seq": 3}),
    (None, {**SECRET, "protocol": 2}, Code.BAD_PROTOCOL, {}),
    ("pit", {**SECRET, "protocol": "1"}, Code.BAD_PROTOCOL, {}),
    (None, SECRET, Code.BAD_KEY, {}),
    (None, {"type": "hello", "protocol": 1}, Code.BAD_KEY, {}),
    ("pit", SECRET, Code.BAD_KEY, {}),
    ("pit", {"type": "bet"}, Code.UNKNOWN_TYPE, {}),
    ("pit", {**LOCK, "type": "bet"}, Code.UNKNOWN_TYPE, {"table": "FCP-01", "seq": 3}),
    (None, hello("pit", extra=1), Code.BAD_FIELD, {}),
    ("pit", {**LOCK, "seats": []}, Code.BAD_FIELD, {"table": "FCP-01", "seq": 3}),
    ("pit", {**LOCK, "seq": 0}, Code.BAD_FIELD, {"table": "FCP-01"}),
    ("pit", {**WATCH, "table": "FCP-01"}, Code.BAD_FIELD, {"table": "FCP-01"}),
    (None, hello("fcp-01", "LIR-02"), Code.NOT_ALLOWED, {"table": "LIR-02"}),
    ("fcp-01", AT_LIR, Code.NOT_ALLOWED, {"table": "LIR-02", "seq": 4}),
    ("floor-7", LOCK, Code.NOT_ALLOWED, {"table": "FCP-01", "seq": 3}),
    ("pit", confirm(1), Code.NOT_ALLOWED, {}),
    ("books", deny(1), Code.NOT_ALLOWED, {}),
    (None, hello("pit", NOT_OPENED), Code.UNKNOWN_TABLE, {"table": NOT_OPENED}),
    ("pit", wager("FCP-01", 1, 5, 1), Code.SEQ_CONFLICT, {"table": "FCP-01", "seq": 1}),
    ("pit", void("LIR-02", 3, 3), Code.SEQ_CONFLICT, {"table": "LIR-02", "seq": 3}),
    ("pit", {**LOCK, "seq": 9}, Code.SEQ_GAP, {"table": "FCP-01", "seq": 9, "expected": 3}),
    (
        "pit",
        {**LOCK, "progressive": "four-aces"},
        Code.UNKNOWN_PROGRESSIVE,
        {"table": "FCP-01", "seq": 3},
    ),
    (
        "pit",
        wager("LIR-02", 4, 4, 1),
        Code.UNKNOWN_PROGRESSIVE,
        {"table": "LIR-02", "seq": 4},
    ),
    ("pit", AT_CSP, Code.RETIRED, {"table": "CSP-03", "seq": 2}),
    ("pit", {**AT_LIR, "seats": [1, 7]}, Code.BAD_SEAT, {"table": "LIR-02", "seq": 4}),
    ("pit", {**TURN, "seat": 7}, Code.BAD_SEAT, {"table": "FCP-01", "seq": 3}),
    ("pit", {**AT_LIR, "round": 2}, Code.ROUND_CLOSED, {"table": "LIR-02", "seq": 4}),
    ("pit", {**TURN, "round": 4}, Code.ROUND_CLOSED, {"table": "FCP-01", "seq": 3}),
    ("pit", void("FCP-01", 3, 6), Code.ROUND_CLOSED, {"table": "FCP-01", "seq": 3}),
    ("pit", LOCK, Code.TABLE_HELD, {"table": "FCP-01", "seq": 3, "retry": True}),
    ("pit", {**AT_LIR, "round": 3}, Code.ROUND_LOCKED, {"table": "LIR-02", "seq": 4}),
    (
        "pit",
        wager("LIR-02", 4, 3, 1, progressive="four-aces"),
        Code.ROUND_LOCKED,
        {"table": "LIR-02", "seq": 4},
    ),
    ("pit", {**TURN, "hand": "pair"}, Code.UNKNOWN_HAND, {"table": "FCP-01", "seq": 3}),
    ("pit", {**TURN, "seat": 1}, Code.DUPLICATE_HIT, {"table": "FCP-01", "seq": 3}),
    ("pit", {**TURN, "seat": 3}, Code.NO_WAGER, {"table": "FCP-01", "seq": 3}),
    ("pit", {**TURN, "folded": True}, Code.NO_WAGER, {"table": "FCP-01", "seq": 3}),
    ("pit", void("FCP-01", 3, 5), Code.ROUND_SETTLED, {"table": "FCP-01", "seq": 3}),
    ("floor-7", confirm(4), Code.UNKNOWN_HIT, {}),
    ("floor-7", deny(4), Code.UNKNOWN_HIT, {}),
    ("floor-7", confirm(3), Code.ALREADY_DENIED, {}),
    ("floor-7", confirm(2), Code.ALREADY_PAID, {}),
    ("floor-7", deny(2), Code.ALREADY_PAID, {}),
]
CLOSING = {Code.TOO_LONG, Code.NO_HELLO, Code.BAD_PROTOCOL, Code.BAD_KEY}
OF_THE_STORE = {Code.UNAVAILABLE, Code.OVERLOADED}
"""They have tests of their own, below."""


def test_every_code_is_heard_in_a_test() -> None:
    assert {code for _, _, code, _ in ROWS} | OF_THE_STORE == set(Code)


@pytest.mark.parametrize(("who", "message", "code", "more"), ROWS)
def test_a_refusal_tells_what_is_known_and_nothing_changes(
    port: Port, who: str | None, message: Message | bytes, code: Code, more: dict[str, Any]
) -> None:
    peer = port.connect() if who is None else port.welcome(who)
    before, rows, counted = port.state(), list(port.journal.rows), port.refusals(code.value)
    reply = peer.ask(message)
    said = reply.pop("message")
    assert reply == {"type": "error", "code": code.value, "retry": False} | more
    assert len(said) > 10
    assert (port.state(), port.journal.rows) == (before, rows)
    assert port.refusals(code.value) == (counted or 0) + 1
    assert peer.ended == (code in CLOSING)
    if not peer.ended and who is not None:
        assert peer.ask(PING) == {"type": "pong"}


# Two faults at once: the earlier one is named

TWICE_WRONG: list[tuple[str | None, Message, Code]] = [
    ("pit", {**SECRET, "protocol": 2, "extra": 1}, Code.BAD_PROTOCOL),
    (None, {**SECRET, "extra": 1}, Code.BAD_KEY),
    (None, {**SECRET, "tables": [NOT_OPENED]}, Code.BAD_KEY),
    ("pit", {**LOCK, "type": "bet", "seats": []}, Code.UNKNOWN_TYPE),
    ("pit", {**LOCK, "table": "T9", "seats": []}, Code.BAD_FIELD),
    ("pit", {**confirm(9), "by": "me"}, Code.BAD_FIELD),
    ("pit", {**LOCK, "table": "T9"}, Code.NOT_ALLOWED),
    ("pit", hello("pit", "T9", NOT_OPENED), Code.NOT_ALLOWED),
    ("lir-02", {**LOCK, "seq": 9}, Code.NOT_ALLOWED),
    ("pit", confirm(9), Code.NOT_ALLOWED),
    (
        "pit",
        wager("FCP-01", 2, 4, 9, progressive="none"),
        Code.SEQ_CONFLICT,
    ),
    ("pit", hit("FCP-01", 1, 4, 9, "pair", progressive="none"), Code.SEQ_CONFLICT),
    ("pit", wager("FCP-01", 4, 4, 9, progressive="none"), Code.SEQ_GAP),
    ("pit", hit("CSP-03", 4, 4, 9, "pair"), Code.SEQ_GAP),
    ("pit", void("FCP-01", 4, 5), Code.SEQ_GAP),
    ("pit", {**LOCK, "progressive": "old-faithful", "round": 4}, Code.UNKNOWN_PROGRESSIVE),
    ("pit", {**LOCK, "progressive": "none", "seats": [9]}, Code.UNKNOWN_PROGRESSIVE),
    ("pit", {**TURN, "progressive": "none", "seat": 9}, Code.UNKNOWN_PROGRESSIVE),
    ("pit", {**AT_CSP, "seats": [9], "round": 1}, Code.RETIRED),
    ("pit", hit("CSP-03", 2, 7, 9, "pair"), Code.RETIRED),
    ("pit", {**LOCK, "seats": [9], "round": 4}, Code.BAD_SEAT),
    ("pit", {**LOCK, "players": {"9": "Ann"}}, Code.BAD_SEAT),
    ("pit", {**TURN, "seat": 9, "round": 4, "hand": "pair"}, Code.BAD_SEAT),
    ("pit", {**LOCK, "round": 4}, Code.ROUND_CLOSED),
    ("pit", {**TURN, "seat": 1, "round": 4, "hand": "pair"}, Code.ROUND_CLOSED),
    ("pit", {**TURN, "seat": 1, "hand": "pair"}, Code.UNKNOWN_HAND),
    ("pit", {**TURN, "seat": 3, "hand": "pair"}, Code.UNKNOWN_HAND),
    ("pit", {**TURN, "seat": 1, "folded": True}, Code.DUPLICATE_HIT),
]


@pytest.mark.parametrize(("who", "message", "code"), TWICE_WRONG)
def test_of_two_faults_the_earlier_one_is_named(
    port: Port, who: str | None, message: Message, code: Code
) -> None:
    peer = port.connect() if who is None else port.welcome(who)
    before = port.state()
    assert peer.ask(message)["code"] == code.value
    assert port.state() == before


def test_both_tables_of_rows_stand_in_the_order_of_the_codes() -> None:
    for found in ([row[2] for row in ROWS], [row[2] for row in TWICE_WRONG]):
        assert found == sorted(found, key=list(Code).index)


def test_a_round_that_was_voided_is_closed(port: Port) -> None:
    pit = port.welcome()
    port.welcome("floor-7").ask(deny(1))
    assert pit.ask(void("FCP-01", 3, 5))["type"] == "voided"
    for message in (wager("FCP-01", 4, 5, 1), {**TURN, "seq": 4}, void("FCP-01", 4, 5)):
        assert pit.ask(message)["code"] == "round-closed"


def test_what_may_be_tried_again_is_taken_when_the_reason_is_gone(port: Port) -> None:
    pit = port.welcome()
    assert pit.ask(LOCK)["code"] == "table-held"
    port.welcome("floor-7").ask(confirm(1))
    assert pit.ask(LOCK)["type"] == "accepted"


# The store


def test_a_store_that_fails_is_unavailable_until_it_is_back(port: Port) -> None:
    pit = port.welcome()
    before, rows = port.state(), list(port.journal.rows)
    port.journal.failing = True
    expected = {"type": "error", "code": "unavailable", "retry": True}
    for _ in range(2):
        reply = pit.ask(AT_LIR)
        assert "ask again" in reply.pop("message")
        assert reply == expected | {"table": "LIR-02", "seq": 4}
    reply = port.connect().ask(hello("pit", "FCP-01"))
    assert reply.pop("message")
    assert reply == expected
    assert pit.ask(PING) == {"type": "pong"}
    assert not pit.ended

    port.journal.failing = False
    port.clock.advance(commit.RETRY_SECONDS)
    port.queue.floor.progressives["old-faithful"].retired = True
    assert (port.state(), port.journal.rows) == (before, rows)
    assert pit.ask(AT_LIR)["type"] == "accepted"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (b"{\n", "bad-json"),
        ({"type": "bet"}, "unknown-type"),
        ({**LOCK, "seats": []}, "bad-field"),
        ({**LOCK, "table": "T9"}, "not-allowed"),
        ({**LOCK, "seq": 99}, "unavailable"),
    ],
)
def test_while_the_store_is_lost_only_what_needs_no_floor_is_checked(
    port: Port, message: Message | bytes, code: str
) -> None:
    pit = port.welcome()
    port.journal.failing = True
    pit.ask(AT_LIR)
    assert pit.ask(message)["code"] == code


def test_a_daemon_that_stops_answers_what_it_took_and_refuses_the_rest(port: Port) -> None:
    pit, floor = port.welcome(), port.welcome("floor-7")
    pit.send(AT_LIR)
    stopped: list[None] = []
    port.queue.stop().addCallback(stopped.append)
    pit.send({**AT_LIR, "seq": 5, "round": 5})
    floor.send(confirm(1))
    port.run()
    taken, refused = pit.told()
    assert taken["type"] == "accepted"
    for reply in (refused, *floor.told()):
        assert (reply["code"], reply["retry"]) == ("unavailable", True)
        assert "stopping" in reply["message"]
    assert stopped == [None]
    assert port.events()[-1] == ("wager", "LIR-02", 4)


def test_a_wager_beyond_the_largest_amount_is_unavailable_and_the_others_go_on(port: Port) -> None:
    (level, *_) = port.queue.floor.progressives[ROYAL].levels
    level.primary_units = 2**62 - 1
    pit = port.welcome()
    before = port.state()
    reply = pit.ask(AT_LIR)
    assert (reply["code"], reply["retry"], reply["seq"]) == ("unavailable", True, 4)
    assert port.state() == before
    assert pit.ask({**AT_LIR, "progressive": "four-aces"})["type"] == "accepted"


def test_past_the_bound_a_message_is_overloaded_and_taken_later(
    port: Port, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit, "MAX_WAITING", 2)
    pit, other = port.welcome("lir-02"), port.welcome("fcp-01")
    pit.send(AT_LIR, PING)
    before = port.state()
    other.send(TURN)
    assert port.state() == before
    port.run()
    assert codes(pit.told()) == ["accepted", "pong"]
    (reply,) = other.told()
    assert (reply["code"], reply["retry"], reply["seq"]) == ("overloaded", True, 3)
    assert other.ask(TURN)["type"] == "award"
