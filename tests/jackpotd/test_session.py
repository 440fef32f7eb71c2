"""One connection's conversation without I/O: who speaks, for which tables, in which order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from jackpotd.principals import Principal, Role
from jackpotd.session import (
    MAX_MALFORMED,
    Answer,
    Conversation,
    Greet,
    Refuse,
    Show,
    Step,
)
from jackpotd.wire import MAX_LINE
from meters.events import Confirm, Deny, Hit, Void, Wager
from meters.outcomes import Code
from tests.e2e.talking import Message, hit, line, wager
from tests.jackpotd.table_port import PING, WATCH, confirm, deny, void

Said = Message | bytes

ON_THE_FLOOR = ("T1", "T2")


def principal(name: str, role: Role, *tables: str) -> Principal:
    return Principal(name=name, role=role, tables=tables, key_sha256="")


PIT = principal("pit", Role.TABLE, "T1", "T2", "OLD")
FLOOR = principal("floor-7", Role.FLOOR)
BOOKS = principal("books", Role.ACCOUNTING)
KEYS = {"pit-key": PIT, "floor-key": FLOOR, "books-key": BOOKS}
NAMES = {each.name: each for each in KEYS.values()}

HELLO: Message = {"type": "hello", "protocol": 1, "key": "pit-key"}
FLOOR_HELLO: Message = {**HELLO, "key": "floor-key"}
BOTH: Message = {**HELLO, "tables": ["T1", "T2"]}
WAGER = wager("T1", 1, 7, 1, 2, 5)
HIT = hit("T1", 2, 7, 2, "royal flush")
VOID = void("T2", 3, 8, "card exposed")
CONFIRM, DENY = confirm(17), deny(17)


def conversation(certificate: str | None = None) -> Conversation:
    spoken = Conversation(by_key=KEYS.get, by_name=NAMES.get, tables=ON_THE_FLOOR)
    spoken.certificate = certificate
    return spoken


def greeted() -> Conversation:
    spoken = conversation()
    list(spoken.receive(packet(BOTH)))
    return spoken


def packet(*messages: Said) -> bytes:
    """Put messages into one packet; bytes are lines without their ending."""
    return b"".join(each + b"\n" if isinstance(each, bytes) else line(each) for each in messages)


def steps(*messages: Said, after: Iterable[Message] = ()) -> list[Step]:
    """Return what is due for messages that come `after` others."""
    spoken = conversation()
    list(spoken.receive(packet(*after)))
    return list(spoken.receive(packet(*messages)))


def code_of(step: Step) -> Code | type[Step]:
    return step.refused.code if isinstance(step, Refuse) else type(step)


Story = tuple[list[Message], list[Step]]

GREETED = Greet(tables=("T1", "T2"))
ASKED: list[tuple[Message, Step]] = [
    (WAGER, Wager(table="T1", seq=1, round=7, seats=(1, 2, 5))),
    (HIT, Hit(table="T1", seq=2, round=7, seat=2, hand="royal flush")),
    (VOID, Void(table="T2", seq=3, round=8, reason="card exposed")),
    (PING, Answer()),
    (WATCH, Show()),
    (BOTH, GREETED),
    ({**HELLO, "tables": []}, Greet(tables=())),
    ({**HELLO, "tables": ["T2", "T2"]}, Greet(tables=("T2",))),
]
SETTLED: list[tuple[Message, Step]] = [
    (CONFIRM, Confirm(hit=17, by="floor-7")),
    (DENY, Deny(hit=17, by="floor-7", reason="misread")),
    (PING, Answer()),
    (WATCH, Show()),
    (FLOOR_HELLO, Greet(tables=())),
]


def story(greeting: Message, greeted: Step, rows: list[tuple[Message, Step]]) -> Story:
    """Return a whole conversation: what is said, and what is due for it."""
    return [greeting, *(said for said, _ in rows)], [greeted, *(due for _, due in rows)]


STORIES = [story(BOTH, GREETED, ASKED), story(FLOOR_HELLO, Greet(tables=()), SETTLED)]


# What is said is the same, however it is cut


@pytest.mark.parametrize(("said", "due"), STORIES)
def test_a_conversation_in_lines_in_one_packet_and_byte_by_byte(
    said: list[Message], due: list[Step]
) -> None:
    whole = packet(*said)
    for packets in (map(packet, said), [whole], (bytes([byte]) for byte in whole)):
        spoken = conversation()
        assert [step for each in packets for step in spoken.receive(each)] == due


@pytest.mark.parametrize(("said", "due"), STORIES)
def test_a_conversation_with_half_a_message_behind_it(said: list[Message], due: list[Step]) -> None:
    spoken = conversation()
    assert list(spoken.receive(packet(*said) + b'{"type":"pi')) == due
    assert list(spoken.receive(b'ng"}\r\n')) == [Answer()]


@pytest.mark.parametrize(("message", "step"), ASKED)
def test_each_message_in_two_packets_wherever_it_is_cut(message: Message, step: Step) -> None:
    whole = packet(message)
    for cut in range(len(whole)):
        spoken = conversation()
        list(spoken.receive(packet(BOTH)))
        assert [*spoken.receive(whole[:cut]), *spoken.receive(whole[cut:])] == [step]


# Who speaks for what


def test_a_hello_that_names_no_table_speaks_for_all_of_the_principals() -> None:
    spoken = Conversation(by_key=KEYS.get, by_name=NAMES.get, tables=("T1", "T2", "OLD"))
    assert list(spoken.receive(packet(HELLO))) == [Greet(tables=("T1", "T2", "OLD"))]
    assert spoken.speaks_for == {"T1", "T2", "OLD"}


def test_a_connection_speaks_only_for_the_tables_of_its_hello() -> None:
    of_t1: Message = {**HELLO, "tables": ["T1"]}
    (step,) = steps(VOID, after=[of_t1])
    assert code_of(step) is Code.NOT_ALLOWED
    assert steps(WAGER, after=[of_t1]) == [ASKED[0][1]]


def test_another_hello_takes_the_place_of_the_first() -> None:
    spoken = conversation()
    list(spoken.receive(packet(BOTH, {**HELLO, "tables": ["T2"]})))
    assert spoken.speaks_for == {"T2"}
    list(spoken.receive(packet(FLOOR_HELLO)))
    assert (spoken.principal, spoken.speaks_for) == (FLOOR, set())


@pytest.mark.parametrize(
    "refused",
    [
        {**HELLO, "tables": ["T1", "T9"]},
        {**HELLO, "tables": ["OLD"]},
        {**HELLO, "tables": "T1"},
        {**FLOOR_HELLO, "tables": ["T1"]},
    ],
)
def test_a_refused_hello_changes_nothing(refused: Message) -> None:
    spoken = greeted()
    (step,) = spoken.receive(packet(refused))
    assert isinstance(step, Refuse)
    assert not step.close
    assert (spoken.principal, spoken.speaks_for) == (PIT, {"T1", "T2"})
    fresh = conversation()
    list(fresh.receive(packet(refused)))
    assert (fresh.principal, fresh.speaks_for) == (None, set())
    (step,) = fresh.receive(packet(PING))
    assert code_of(step) is Code.NO_HELLO


@pytest.mark.parametrize("message", [{"type": "hello", "protocol": 1}, FLOOR_HELLO])
def test_a_certificates_principal_needs_no_key(message: Message) -> None:
    spoken = conversation(certificate="floor-7")
    assert list(spoken.receive(packet(message))) == [Greet(tables=())]
    assert spoken.principal is FLOOR


@pytest.mark.parametrize("name", ["nobody", ""])
@pytest.mark.parametrize("message", [{"type": "hello", "protocol": 1}, FLOOR_HELLO, BOTH])
def test_a_certificate_that_names_nobody_is_a_bad_key(message: Message, name: str) -> None:
    (step,) = conversation(certificate=name).receive(packet(message))
    assert code_of(step) is Code.BAD_KEY
    assert isinstance(step, Refuse)
    assert step.close


@pytest.mark.parametrize("name", ["floor-7", "nobody", ""])
@pytest.mark.parametrize("message", [BOTH, {**HELLO, "key": "stolen"}, {**BOTH, "extra": 1}])
def test_a_key_that_is_not_the_certificates_is_a_bad_key(message: Message, name: str) -> None:
    (step,) = conversation(certificate=name).receive(packet(message))
    assert code_of(step) is Code.BAD_KEY


@pytest.mark.parametrize("message", [CONFIRM, DENY])
@pytest.mark.parametrize("name", ["pit-key", "books-key"])
def test_only_the_floor_confirms_and_denies(message: Message, name: str) -> None:
    (step,) = steps(message, after=[{**HELLO, "key": name, "tables": []}])
    assert code_of(step) is Code.NOT_ALLOWED


@pytest.mark.parametrize("message", [WAGER, HIT, VOID])
@pytest.mark.parametrize("name", ["floor-key", "books-key"])
def test_only_a_table_speaks_for_a_table(message: Message, name: str) -> None:
    (step,) = steps(message, after=[{**HELLO, "key": name}])
    assert code_of(step) is Code.NOT_ALLOWED


# The order of the checks: each of these is wrong twice or more


def bad(message: Message, **changes: Any) -> Message:
    return {**message, **changes}


LONG = b"x" * MAX_LINE
NO_KEY = {"type": "hello", "protocol": 1}
FIRST: list[tuple[Said, Code]] = [
    (LONG, Code.TOO_LONG),
    (b"hello", Code.BAD_JSON),
    (b'{"type":"hello","type":"hello","protocol":2}', Code.BAD_JSON),
    (b'{"type":"ping","hit":NaN}', Code.BAD_JSON),
    (b'{"type":"wager","seq":1,"seq":1}', Code.BAD_JSON),
    (PING, Code.NO_HELLO),
    (WATCH, Code.NO_HELLO),
    (CONFIRM, Code.NO_HELLO),
    (bad(WAGER, table="T9"), Code.NO_HELLO),
    ({"type": "bet"}, Code.NO_HELLO),
    ({"protocol": 2}, Code.NO_HELLO),
    (bad(WAGER, seq="1"), Code.NO_HELLO),
    (bad(HELLO, protocol=2), Code.BAD_PROTOCOL),
    (bad(HELLO, protocol="1", key="stolen"), Code.BAD_PROTOCOL),
    (bad(HELLO, protocol=2, key=5), Code.BAD_PROTOCOL),
    (bad(HELLO, protocol=2, tables="T1", extra=1), Code.BAD_PROTOCOL),
    ({"type": "hello"}, Code.BAD_PROTOCOL),
    (bad(HELLO, key="stolen"), Code.BAD_KEY),
    (bad(HELLO, key=""), Code.BAD_KEY),
    (bad(HELLO, key=5), Code.BAD_KEY),
    (bad(HELLO, key=5, extra=1), Code.BAD_KEY),
    (bad(HELLO, key=None), Code.BAD_KEY),
    (NO_KEY, Code.BAD_KEY),
    (bad(NO_KEY, extra=1), Code.BAD_KEY),
    (bad(HELLO, key="stolen", extra=1), Code.BAD_KEY),
    (bad(HELLO, key="stolen", tables=[1]), Code.BAD_KEY),
    (bad(HELLO, key="stolen", tables=["T9"]), Code.BAD_KEY),
    (bad(HELLO, extra=1, tables=["T9"]), Code.BAD_FIELD),
    (bad(HELLO, tables=["T9", 5]), Code.BAD_FIELD),
    (bad(FLOOR_HELLO, tables=["T9"]), Code.NOT_ALLOWED),
    (bad(HELLO, tables=["OLD", "T9"]), Code.NOT_ALLOWED),
    (bad(HELLO, tables=["T9", "OLD"]), Code.NOT_ALLOWED),
    (bad(HELLO, tables=["T1", "OLD"]), Code.UNKNOWN_TABLE),
]
LATER: list[tuple[Said, Code]] = [
    (LONG, Code.TOO_LONG),
    (b'{"type":"bet","type":"bet"}', Code.BAD_JSON),
    (bad(HELLO, protocol=2, key="stolen"), Code.BAD_PROTOCOL),
    (bad(HELLO, key="stolen", extra=1), Code.BAD_KEY),
    (bad(WAGER, type="bet", seq=0), Code.UNKNOWN_TYPE),
    (bad(WAGER, table="T9", seq=0), Code.BAD_FIELD),
    (bad(WAGER, table="T9", seats=[1, 1]), Code.BAD_FIELD),
    (bad(CONFIRM, hit=0), Code.BAD_FIELD),
    (bad(HELLO, extra=1, tables=["T9"]), Code.BAD_FIELD),
    (bad(WAGER, table="T9", progressive="none", seats=[99]), Code.NOT_ALLOWED),
    (CONFIRM, Code.NOT_ALLOWED),
    (bad(HELLO, tables=["OLD"]), Code.UNKNOWN_TABLE),
]
CLOSING = {Code.TOO_LONG, Code.NO_HELLO, Code.BAD_PROTOCOL, Code.BAD_KEY}


@pytest.mark.parametrize(("message", "code"), FIRST)
def test_the_earlier_fault_of_a_first_message_is_named(message: Said, code: Code) -> None:
    (step,) = steps(message)
    assert code_of(step) is code


@pytest.mark.parametrize(("message", "code"), LATER)
def test_the_earlier_fault_of_a_later_message_is_named(message: Said, code: Code) -> None:
    (step,) = steps(message, after=[BOTH])
    assert code_of(step) is code


@pytest.mark.parametrize("rows", [FIRST, LATER], ids=["first", "later"])
def test_the_rows_stand_in_the_order_of_the_codes(rows: list[tuple[Any, Code]]) -> None:
    places = [list(Code).index(code) for _, code in rows]
    assert places == sorted(places)


@pytest.mark.parametrize(("message", "code"), FIRST)
def test_four_reasons_end_a_connection_and_the_others_do_not(message: Said, code: Code) -> None:
    spoken = conversation()
    due = list(spoken.receive(packet(message, BOTH, PING)))
    if code in CLOSING:
        assert [code_of(step) for step in due] == [code]
        assert list(spoken.receive(packet(BOTH))) == []
    else:
        assert due[1:] == [GREETED, Answer()]
    assert spoken.ended == (code in CLOSING)


def test_nothing_that_stands_behind_the_end_is_heard() -> None:
    spoken = conversation()
    due = list(spoken.receive(packet(BOTH, LONG, WAGER, PING)))
    assert [code_of(step) for step in due] == [Greet, Code.TOO_LONG]
    assert list(spoken.receive(packet(WAGER))) == []
    assert spoken.timed_out() is None


def test_a_refusal_tells_table_and_seq_where_they_could_be_read() -> None:
    rows: list[tuple[Said, str | None, int | None]] = [
        (bad(WAGER, table="T9"), "T9", 1),
        (bad(WAGER, table=5, seq=12), None, 12),
        (bad(WAGER, seq=True), "T1", None),
        (bad(WAGER, type="bet"), "T1", 1),
        (bad(WAGER, seats=[2, 2]), "T1", 1),
        (b'{"table":"T1","seq":1', None, None),
        (CONFIRM, None, None),
        (bad(HELLO, tables=["T9"]), "T9", None),
    ]
    for message, table, seq in rows:
        (step,) = steps(message, after=[BOTH])
        assert isinstance(step, Refuse)
        assert (step.table, step.seq) == (table, seq), message
    early = [*steps(WAGER), *steps(bad(WAGER, seats=[]))]
    assert [(each.table, each.seq) for each in early if isinstance(each, Refuse)] == [("T1", 1)] * 2


def test_a_hello_in_time_is_not_missed_and_a_missing_one_is_said_once() -> None:
    assert greeted().timed_out() is None
    late = conversation()
    list(late.receive(packet(b"hello?", bad(HELLO, tables=["T9"]))))
    said = late.timed_out()
    assert said is not None
    assert (code_of(said), said.close) == (Code.NO_HELLO, True)
    assert late.timed_out() is None
    assert list(late.receive(packet(BOTH))) == []


# Twenty malformed messages in a row

MALFORMED: list[Said] = [b"", {"type": "bet"}, bad(WAGER, seats=[]), bad(HELLO, tables=5)]


def malformed(count: int) -> list[Said]:
    return [MALFORMED[index % len(MALFORMED)] for index in range(count)]


def test_twenty_malformed_messages_in_a_row_end_the_connection_with_the_twentieth() -> None:
    assert MAX_MALFORMED == 20
    due = steps(*malformed(25), after=[BOTH])
    assert [isinstance(step, Refuse) and step.close for step in due] == [False] * 19 + [True]


@pytest.mark.parametrize(
    "well_formed",
    [PING, WAGER, BOTH, CONFIRM, bad(WAGER, table="T9"), bad(HELLO, tables=["OLD"])],
)
def test_a_well_formed_message_begins_the_count_anew_if_refused_or_not(well_formed: Said) -> None:
    due = steps(*malformed(19), well_formed, *malformed(19), PING, after=[BOTH])
    assert len(due) == 40
    assert due[-1] == Answer()


def test_before_the_hello_lines_that_are_no_json_are_counted_too() -> None:
    due = steps(*[b"{"] * 21)
    assert [code_of(step) for step in due] == [Code.BAD_JSON] * 20
    assert [isinstance(step, Refuse) and step.close for step in due] == [False] * 19 + [True]


def test_a_step_that_waits_does_not_outlive_the_end() -> None:
    spoken = greeted()
    due = spoken.receive(packet(PING, PING, PING))
    assert next(due) == Answer()
    spoken.ended = True
    assert list(due) == []


def test_tables_that_are_taken_over_while_a_packet_is_carried_out_are_gone_for_the_rest() -> None:
    spoken = greeted()
    due = spoken.receive(packet(WAGER, HIT))
    assert next(due) == ASKED[0][1]
    spoken.speaks_for.discard("T1")
    (step,) = due
    assert code_of(step) is Code.NOT_ALLOWED


def test_a_reply_of_each_refusal_says_what_would_be_right() -> None:
    rows: list[tuple[Message, str]] = [
        (bad(HELLO, protocol=2), "protocol 1 is spoken here, not 2"),
        (bad(HELLO, key="stolen"), "no principal has this key"),
        (CONFIRM, "pit is a table: only the floor confirms and denies"),
        (bad(WAGER, table="T9"), "pit does not speak for T9"),
        (bad(WAGER, table="OLD"), "OLD is not this connection's"),
        (bad(HELLO, tables=["OLD"]), "there is no table OLD"),
    ]
    for message, words in rows:
        (step,) = steps(message, after=[BOTH])
        assert isinstance(step, Refuse)
        assert words in step.refused.message
