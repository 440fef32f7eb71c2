"""Lines out of bytes and requests out of lines (docs/protocol.md)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jackpotd.wire import (
    MAX_LINE,
    ConfirmRequest,
    DenyRequest,
    Hello,
    HitRequest,
    Lines,
    Malformed,
    Ping,
    Request,
    VoidRequest,
    WagerRequest,
    Watch,
    event_of,
    read,
)
from meters.events import Hit, Void, Wager
from meters.outcomes import Code

WAGER = {"type": "wager", "table": "T", "seq": 1, "round": 7, "seats": [1, 2, 5]}
HIT = {"type": "hit", "table": "T", "seq": 2, "round": 7, "seat": 2, "hand": "royal flush"}
VOID = {"type": "void", "table": "T", "seq": 3, "round": 8, "reason": "card exposed"}

WELL_FORMED: list[tuple[dict[str, Any], Request]] = [
    ({"type": "hello", "protocol": 1, "key": "k"}, Hello(protocol=1, key="k")),
    ({"type": "hello", "protocol": 1}, Hello(protocol=1)),
    (
        {"type": "hello", "protocol": 1, "key": "k", "tables": []},
        Hello(protocol=1, key="k", tables=[]),
    ),
    (WAGER, WagerRequest(table="T", seq=1, round=7, seats=[1, 2, 5])),
    (
        WAGER | {"progressive": "p", "players": {"1": "Ann", "3": "Ann"}},
        WagerRequest(
            table="T",
            seq=1,
            round=7,
            seats=[1, 2, 5],
            progressive="p",
            players={"1": "Ann", "3": "Ann"},
        ),
    ),
    (HIT, HitRequest(table="T", seq=2, round=7, seat=2, hand="royal flush")),
    (
        HIT | {"progressive": "p", "folded": True, "cards": ["As", "Ks"]},
        HitRequest(
            table="T",
            seq=2,
            round=7,
            seat=2,
            hand="royal flush",
            progressive="p",
            folded=True,
            cards=["As", "Ks"],
        ),
    ),
    (VOID, VoidRequest(table="T", seq=3, round=8, reason="card exposed")),
    ({"type": "confirm", "hit": 17}, ConfirmRequest(hit=17)),
    ({"type": "deny", "hit": 17, "reason": "misread"}, DenyRequest(hit=17, reason="misread")),
    ({"type": "ping"}, Ping()),
    ({"type": "watch"}, Watch()),
]
TEXTS = [json.dumps(message).encode() for message, _ in WELL_FORMED]


@pytest.mark.parametrize(("message", "request_"), WELL_FORMED)
def test_each_request_reads_as_itself(message: dict[str, Any], request_: Request) -> None:
    assert read(json.dumps(message).encode()) == request_
    assert read(json.dumps(message, separators=(",", ":")).encode()) == request_
    backwards = dict(reversed(message.items()))
    assert read(json.dumps(backwards, indent=None).encode()) == request_


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_a_line_is_whole_byte_by_byte_and_with_what_follows(text: bytes, ending: bytes) -> None:
    stream = text + ending
    assert list(Lines().receive(stream)) == [text]
    lines = Lines()
    one_by_one = [line for byte in stream for line in lines.receive(bytes([byte]))]
    assert one_by_one == [text]
    follower = b'{"type":"ping"}'
    lines = Lines()
    assert list(lines.receive(stream + follower + ending + b'{"ty')) == [text, follower]
    assert list(lines.receive(b'pe":"ping"}' + ending)) == [follower]
    for cut in range(len(stream)):
        lines = Lines()
        halves = [*lines.receive(stream[:cut]), *lines.receive(stream[cut:])]
        assert halves == [text]


def test_all_requests_in_one_packet_come_in_their_order() -> None:
    assert list(Lines().receive(b"".join(text + b"\n" for text in TEXTS))) == TEXTS


@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_a_line_of_exactly_the_limit_is_taken_and_one_byte_more_is_not(ending: bytes) -> None:
    longest = b"x" * (MAX_LINE - len(ending))
    for cut in (0, 1, MAX_LINE // 2, MAX_LINE - 2, MAX_LINE - 1):
        lines = Lines()
        stream = longest + ending
        assert [*lines.receive(stream[:cut]), *lines.receive(stream[cut:])] == [longest]
        lines = Lines()
        stream = b"x" + longest + ending
        assert [*lines.receive(stream[:cut]), *lines.receive(stream[cut:])][0] is None


def test_bytes_without_an_ending_are_too_long_as_soon_as_no_ending_can_save_them() -> None:
    lines = Lines()
    assert list(lines.receive(b"x" * (MAX_LINE - 1))) == []
    assert list(lines.receive(b"x")) == [None]
    assert list(Lines().receive(b"x" * 1_000_000)) == [None]


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"hello",
        b"[]",
        b"5",
        b'"ping"',
        b"null",
        b'{"type":"ping"}{"type":"ping"}',
        b'{"type":"ping"} x',
        b"{'type':'ping'}",
        b'{"type":"ping",}',
        b'\xef\xbb\xbf{"type":"ping"}',
        b'{"type":"ping","type":"ping"}',
        b'{"type":"ping","type" :"ping"}',
        b'{"type" :"ping", "type"\t:"ping"}',
        b'{"type":"confirm","hit":1,"hit":2}',
        b'{"type":"confirm","hit":NaN}',
        b'{"type":"confirm","hit":Infinity}',
        b'{"type":"confirm","hit":01}',
        b'{"type":"deny","hit":1,"reason":"\xff"}',
        b'{"type":"deny","hit":1,"reason":"\xc3("}',
        b'{"type":"deny","hit":1,"reason":"\\ud800"}',
        b'{"type":"deny","hit":1,"reason":"a\x01b"}',
        b'{"type":"deny","hit":1,"reason":"a:b","reason":"c"}',
        b'{"type":"unheard of","x":1,"x":2}',
        b'{"type":"unheard of","x":"\xff"}',
        b'{"type":"wager","table":"T","seq":1,"round":1,"seats":[1],"players":{"1":"a","1":"b"}}',
        b'{"type":"ping","x":' + b"[" * 30_000 + b"]" * 30_000 + b"}",
        b"[" * 65_000,
    ],
)
def test_what_is_not_one_json_object_is_bad_json(line: bytes) -> None:
    malformed = read(line)
    assert isinstance(malformed, Malformed)
    assert malformed.code is Code.BAD_JSON


@pytest.mark.parametrize("message", [{}, {"type": "bet"}, {"type": 5}, {"type": None}, {"seq": 1}])
def test_an_unknown_type_is_named_before_its_fields(message: dict[str, Any]) -> None:
    malformed = read(json.dumps(message).encode())
    assert isinstance(malformed, Malformed)
    assert malformed.code is Code.UNKNOWN_TYPE
    assert "wager" in malformed.message


def _without(message: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in message.items() if name != key}


def _any(*values: Any) -> tuple[Any, ...]:
    return values


NO_NUMBERS: list[Any] = [0, -1, 2**53, 5.0, 1e3, "5", True, None, [], {}, 10**4000]
BAD_FIELDS: list[dict[str, Any]] = [
    *(_without(WAGER, key) for key in ("table", "seq", "round", "seats")),
    *(_without(HIT, key) for key in ("table", "seq", "round", "seat", "hand")),
    *(_without(VOID, key) for key in ("table", "seq", "round", "reason")),
    *(WAGER | {key: value} for key in ("seq", "round") for value in NO_NUMBERS),
    *(HIT | {key: value} for key in ("seq", "round", "seat") for value in NO_NUMBERS),
    *(VOID | {key: value} for key in ("seq", "round") for value in NO_NUMBERS),
    *({"type": "confirm", "hit": value} for value in NO_NUMBERS),
    *({"type": "deny", "hit": value, "reason": "r"} for value in NO_NUMBERS),
    *(WAGER | {"seats": [value]} for value in NO_NUMBERS),
    *(WAGER | {"seats": value} for value in _any([], [1, 1], {"1": 1}, "12", None, 1)),
    *(WAGER | {"table": value} for value in _any(5, None, [])),
    *(WAGER | {"progressive": value} for value in _any(None, 5, [])),
    *(
        WAGER | {"players": value}
        for value in _any(
            None,
            [],
            {"0": "a"},
            {"01": "a"},
            {"-1": "a"},
            {"1.0": "a"},
            {"x": "a"},
            {"": "a"},
            {" 1": "a"},
            {"\u0661": "a"},
            {str(2**53): "a"},
            {"9" * 400: "a"},
            {"1": 5},
            {"1": None},
            {"1": ""},
        )
    ),
    *(HIT | {"hand": value} for value in _any(5, None, "", [])),
    *(HIT | {"folded": value} for value in _any(0, 1, "true", None)),
    *(HIT | {"cards": value} for value in _any(None, "As", [1], {})),
    *(VOID | {"reason": value} for value in _any(5, None, "")),
    *(message | {"extra": 1} for message in (WAGER, HIT, VOID, {"type": "ping"})),
    {"type": "confirm"},
    {"type": "confirm", "hit": 1, "by": "me"},
    {"type": "deny", "hit": 1},
    {"type": "watch", "table": "T"},
    {"type": "hello", "protocol": 1, "key": "k", "tables": "T"},
    {"type": "hello", "protocol": 1, "key": "k", "tables": [1]},
    {"type": "hello", "protocol": 1, "key": "k", "tables": None},
    {"type": "hello", "protocol": 1, "key": "k", "extra": 1},
]


@pytest.mark.parametrize("message", BAD_FIELDS)
def test_a_field_missing_unknown_or_not_of_its_kind_is_a_bad_field(message: dict[str, Any]) -> None:
    malformed = read(json.dumps(message).encode())
    assert isinstance(malformed, Malformed)
    assert malformed.code is Code.BAD_FIELD
    if message["type"] in ("wager", "hit", "void"):
        known = message.get("table"), message.get("seq")
        assert malformed.table == (known[0] if isinstance(known[0], str) else None)
        is_number = type(known[1]) is int and 0 < known[1] < 2**53
        assert malformed.seq == (known[1] if is_number else None)


@pytest.mark.parametrize("protocol", [0, 2, "1", 1.0, None, True, [1]])
def test_another_protocol_is_named_before_the_key(protocol: Any) -> None:
    said = read(json.dumps({"type": "hello", "protocol": protocol, "key": 5}).encode())
    if isinstance(said, Malformed):
        assert said.code is Code.BAD_PROTOCOL
    else:
        assert isinstance(said, Hello)
        assert said.protocol != 1


def test_a_hello_without_a_protocol_or_with_a_key_that_is_no_text() -> None:
    no_protocol = read(b'{"type":"hello","key":"k"}')
    assert isinstance(no_protocol, Malformed)
    assert no_protocol.code is Code.BAD_PROTOCOL
    no_text = read(b'{"type":"hello","protocol":1,"key":5}')
    assert isinstance(no_text, Malformed)
    assert no_text.code is Code.BAD_KEY


def test_a_number_of_ten_thousand_digits_is_a_bad_field() -> None:
    malformed = read(b'{"type":"confirm","hit":' + b"9" * 10_000 + b"}")
    assert isinstance(malformed, Malformed)
    assert malformed.code is Code.BAD_FIELD


def test_a_colon_or_an_escape_within_a_text_changes_nothing() -> None:
    assert read(b'{"type":"deny","hit":1,"reason":"seen: a \\"flush\\": no"}') == DenyRequest(
        hit=1, reason='seen: a "flush": no'
    )
    assert read(b'{"type":"deny","hit":1,"reason":"\\ud83c\\udccf \\u00e9"}') == DenyRequest(
        hit=1, reason="\N{PLAYING CARD BLACK JOKER} é"
    )
    players = {"1": "a:b", "2": "c"}
    message = WAGER | {"players": players}
    assert read(json.dumps(message).encode()) == WagerRequest(
        table="T", seq=1, round=7, seats=[1, 2, 5], players=players
    )


def test_requests_become_events() -> None:
    wager = read(json.dumps(WAGER | {"players": {"3": "Ann"}}).encode())
    assert isinstance(wager, WagerRequest)
    assert event_of(wager) == Wager(table="T", seq=1, round=7, seats=(1, 2, 5), players={3: "Ann"})
    hit = read(json.dumps(HIT | {"cards": ["As"], "folded": True}).encode())
    assert isinstance(hit, HitRequest)
    assert event_of(hit) == Hit(
        table="T", seq=2, round=7, seat=2, hand="royal flush", folded=True, cards=("As",)
    )
    void = read(json.dumps(VOID).encode())
    assert isinstance(void, VoidRequest)
    assert event_of(void) == Void(table="T", seq=3, round=8, reason="card exposed")
