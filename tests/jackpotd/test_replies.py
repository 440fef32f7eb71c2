"""Replies and refusals put into lines, as docs/protocol.md has them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jackpotd.record.rows import Row, draft, read_answer, read_event
from jackpotd.replies import LONGEST_SAID, line, refusal, reply_to, welcome
from jackpotd.wire import MAX_LINE
from meters.events import Confirm, Deny, Event, Hit, Opened, TableSet, Void, Wager
from meters.outcomes import (
    RETRY,
    Accepted,
    Answer,
    Awarded,
    Code,
    Confirmed,
    Denied,
    Envy,
    Noted,
    Refused,
    Seeding,
    Source,
    Status,
    Voided,
)
from tests.builders import Pit, live, paytable

METERS = {"royal": {"mega": 1_000_150, "major": 100_120}}
ENVY = (Envy(seat=1, amount_minor=100_000), Envy(seat=5, amount_minor=100_000))

WAGER = Wager(table="T1", seq=43, round=101, seats=(5, 1, 2), progressive="royal")
ACCEPTED = Accepted(progressive="royal", amount_minor=1_500, meters=METERS)
HIT = Hit(table="T1", seq=44, round=101, seat=2, hand="royal flush", cards=("As", "Ks"))
AWARDED = Awarded(
    hit=17,
    progressive="royal",
    amount_minor=1_000_150,
    source=Source.HAND_PAY,
    status=Status.PENDING,
    line="100% of mega",
    level="mega",
    meter_minor=1_000_150,
    generation=1,
    taken_minor=1_000_150,
    seeding=Seeding(house_units=10**12, reserve_units=0),
    envy=ENVY,
    meters=METERS,
)
FIXED = Awarded(
    hit=18,
    progressive="royal",
    amount_minor=25_000,
    source=Source.TABLE,
    status=Status.PAID,
    line="50 for 1",
    meters=METERS,
)
ENVY_ONLY = replace(
    AWARDED,
    amount_minor=0,
    source=Source.TABLE,
    line=None,
    level=None,
    meter_minor=None,
    generation=None,
    taken_minor=0,
    seeding=None,
)
VOID = Void(table="T1", seq=45, round=102, reason="card exposed")
VOIDED = Voided(amount_minor=1_500, wagers_minor={"royal": 1_500}, returned=(), meters=METERS)
CONFIRM = Confirm(hit=17, by="floor-7")
CONFIRMED = Confirmed(
    hit=17,
    table="T1",
    round=101,
    seat=2,
    progressive="royal",
    amount_minor=1_000_150,
    source=Source.HAND_PAY,
    envy=ENVY,
    by="floor-7",
)
DENY = Deny(hit=18, by="floor-7", reason="misread")
DENIED = Denied(
    hit=18,
    table="T1",
    round=101,
    seat=2,
    progressive="royal",
    level="mega",
    taken_minor=1_000_150,
    house_minor=0,
    envy_minor=0,
    seeding=Seeding(house_units=0, reserve_units=0),
    later_hits=(19, 21),
    by="floor-7",
    meters=METERS,
)
TOLD_METERS = '"meters":{"royal":{"mega":1000150,"major":100120}}'
TOLD_ENVY = '"envy":[{"seat":1,"amount":100000},{"seat":5,"amount":100000}]'

REPLIES: list[tuple[Event, Answer, str]] = [
    (
        WAGER,
        ACCEPTED,
        '{"type":"accepted","table":"T1","seq":43,"round":101,"progressive":"royal",'
        '"seats":[5,1,2],"amount":1500,' + TOLD_METERS + "}",
    ),
    (
        HIT,
        AWARDED,
        '{"type":"award","table":"T1","seq":44,"round":101,"progressive":"royal","seat":2,'
        '"hand":"royal flush","hit":17,"amount":1000150,"line":"100% of mega","meter":1000150,'
        '"from":"hand pay","status":"pending",' + TOLD_ENVY + "," + TOLD_METERS + "}",
    ),
    (
        replace(HIT, hand="flush"),
        FIXED,
        '{"type":"award","table":"T1","seq":44,"round":101,"progressive":"royal","seat":2,'
        '"hand":"flush","hit":18,"amount":25000,"line":"50 for 1",'
        '"from":"table","status":"paid","envy":[],' + TOLD_METERS + "}",
    ),
    (
        replace(HIT, folded=True),
        ENVY_ONLY,
        '{"type":"award","table":"T1","seq":44,"round":101,"progressive":"royal","seat":2,'
        '"hand":"royal flush","hit":17,"amount":0,'
        '"from":"table","status":"pending",' + TOLD_ENVY + "," + TOLD_METERS + "}",
    ),
    (
        VOID,
        VOIDED,
        '{"type":"voided","table":"T1","seq":45,"round":102,"amount":1500,' + TOLD_METERS + "}",
    ),
    (
        CONFIRM,
        CONFIRMED,
        '{"type":"confirmed","hit":17,"amount":1000150,' + TOLD_ENVY + ',"by":"floor-7"}',
    ),
    (
        DENY,
        DENIED,
        '{"type":"denied","hit":18,"later_hits":[19,21],"by":"floor-7",' + TOLD_METERS + "}",
    ),
]


@pytest.mark.parametrize(("event", "answer", "said"), REPLIES)
def test_each_answer_is_one_line(event: Event, answer: Answer, said: str) -> None:
    assert line(reply_to(event, answer)) == said.encode() + b"\n"


@pytest.mark.parametrize(("event", "answer", "said"), REPLIES)
def test_what_the_record_gives_back_is_said_word_for_word(
    event: Event, answer: Answer, said: str
) -> None:
    row = Row(*draft(1, 0, event, answer), b"")
    assert line(reply_to(read_event(row), read_answer(row))) == said.encode() + b"\n"


def test_a_meter_of_nothing_is_told_and_no_meter_is_not() -> None:
    empty = replace(AWARDED, meter_minor=0, amount_minor=0)
    assert reply_to(HIT, empty)["meter"] == 0
    assert "meter" not in reply_to(HIT, ENVY_ONLY)


@pytest.mark.parametrize("event", [Opened(terms=live(paytable())), WAGER])
def test_nobody_is_told_of_what_nobody_asked(event: Event) -> None:
    with pytest.raises(TypeError, match=type(event).__name__):
        reply_to(event, Noted())


# Refusals


@pytest.mark.parametrize("code", Code)
def test_a_refusal_says_its_code_and_whether_to_try_again(code: Code) -> None:
    reply = refusal(Refused(code=code, message="words"))
    assert reply == {
        "type": "error",
        "code": code.value,
        "message": "words",
        "retry": code.value in ("table-held", "unavailable", "overloaded"),
    }
    assert reply["retry"] == (code in RETRY)


@pytest.mark.parametrize("event", [WAGER, HIT, VOID])
def test_the_refusal_of_a_tables_message_tells_its_table_and_seq(
    event: Wager | Hit | Void,
) -> None:
    reply = reply_to(event, Refused(code=Code.SEQ_GAP, message="words", expected=7))
    assert line(reply) == (
        b'{"type":"error","code":"seq-gap","message":"words","table":"T1",'
        b'"seq":%d,"expected":7,"retry":false}\n' % event.seq
    )


@pytest.mark.parametrize("event", [CONFIRM, DENY])
def test_the_refusal_of_a_floorpersons_message_has_neither(event: Confirm | Deny) -> None:
    reply = reply_to(event, Refused(code=Code.UNKNOWN_HIT, message="there is no hit 17"))
    assert list(reply) == ["type", "code", "message", "retry"]


def test_a_refusal_never_passes_the_longest_line_whatever_the_peer_sent() -> None:
    long = "\N{GREEK CAPITAL LETTER OMEGA}" * MAX_LINE
    reply = refusal(Refused(code=Code.NOT_ALLOWED, message=f"no {long}"), table=long, seq=3)
    assert reply["message"] == f"no {long}"[:LONGEST_SAID]
    assert "table" not in reply
    assert reply["seq"] == 3
    worst = "\x01" * LONGEST_SAID
    reply = refusal(Refused(code=Code.NOT_ALLOWED, message=worst), table=worst, seq=2**53 - 1)
    assert reply["table"] == worst
    assert len(line(reply)) < MAX_LINE


# Welcome


def test_a_welcome_tells_where_each_table_of_the_hello_stands() -> None:
    pit = Pit(
        live(paytable(), tables=("T1", "T2")), live(paytable(), name="other", tables=("T2", "T3"))
    )
    pit.wager("T2", 4, 1, 2, progressive="other")
    pit.wager("T2", 4, 1, 2, progressive="royal")
    for seat in (1, 2):
        pit.hit("T2", 4, seat, "straight flush", progressive="other")
    assert welcome("Riverside", pit.floor, ("T2", "T1")) == {
        "type": "welcome",
        "protocol": 1,
        "property": "Riverside",
        "tables": {
            "T2": {
                "next_seq": 5,
                "round": 4,
                "locked": ["other", "royal"],
                "pending": [1, 2],
                "progressives": ["royal", "other"],
            },
            "T1": {
                "next_seq": 1,
                "round": 0,
                "locked": [],
                "pending": [],
                "progressives": ["royal"],
            },
        },
        "meters": {
            name: {"meter": each.level("meter").shown_minor}
            for name, each in pit.floor.progressives.items()
        },
    }


def test_a_welcome_without_tables_tells_the_meters_all_the_same() -> None:
    pit = Pit(live(paytable()))
    said = welcome("Riverside", pit.floor, ())
    assert said["tables"] == {}
    assert said["meters"] == {"royal": {"meter": 1_000_000}}


def test_a_voided_round_is_locked_no_more() -> None:
    pit = Pit(live(paytable()))
    pit.wager("T1", 1, 1)
    pit.void("T1", 1)
    assert welcome("Riverside", pit.floor, ("T1",))["tables"]["T1"] == {
        "next_seq": 3,
        "round": 1,
        "locked": [],
        "pending": [],
        "progressives": ["royal"],
    }


def test_a_table_without_a_progressive_is_told_so() -> None:
    pit = Pit()
    pit.apply(TableSet(table="T9", game="let-it-ride", seats=6))
    assert welcome("Riverside", pit.floor, ("T9",))["tables"]["T9"]["progressives"] == []
