"""The table protocol without I/O: lines out of bytes, requests out of lines.

See docs/protocol.md. Nothing here knows sockets, keys or the state of the floor; replies are
put into words by `jackpotd.replies`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from meters.events import Hit, Void, Wager
from meters.outcomes import Code

MAX_LINE = 65_536
"""Bytes in a line, its ending included."""

PROTOCOL = 1

MALFORMED = frozenset({Code.BAD_JSON, Code.UNKNOWN_TYPE, Code.BAD_FIELD})
"""The refusals that count towards closing a connection."""

Number = Annotated[int, Meta(ge=1, le=2**53 - 1)]
Words = Annotated[str, Meta(min_length=1)]


class Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A message of protocol version 1, whole and well-formed."""


class Hello(Request, tag="hello", frozen=True):
    """The opening: a key, and the tables that the connection speaks for."""

    protocol: int
    key: str | UnsetType = UNSET
    tables: list[str] | UnsetType = UNSET


class WagerRequest(Request, tag="wager", frozen=True):
    """The bets of a round are locked."""

    table: str
    seq: Number
    round: Number
    seats: Annotated[list[Number], Meta(min_length=1)]
    progressive: str | UnsetType = UNSET
    players: dict[str, Words] | UnsetType = UNSET


class HitRequest(Request, tag="hit", frozen=True):
    """A hand with a pay line, at the player's turn."""

    table: str
    seq: Number
    round: Number
    seat: Number
    hand: Words
    progressive: str | UnsetType = UNSET
    folded: bool | UnsetType = UNSET
    cards: list[str] | UnsetType = UNSET


class VoidRequest(Request, tag="void", frozen=True):
    """A misdeal."""

    table: str
    seq: Number
    round: Number
    reason: Words


class ConfirmRequest(Request, tag="confirm", frozen=True):
    """A floorperson saw the hand."""

    hit: Number


class DenyRequest(Request, tag="deny", frozen=True):
    """The hand was misread."""

    hit: Number
    reason: Words


class Ping(Request, tag="ping", frozen=True):
    """Are you there?"""


class Watch(Request, tag="watch", frozen=True):
    """Tell me the values from now on."""


REQUESTS: tuple[type[Request], ...] = (
    Hello,
    WagerRequest,
    HitRequest,
    VoidRequest,
    ConfirmRequest,
    DenyRequest,
    Ping,
    Watch,
)
_TYPES = {kind.__struct_config__.tag: kind for kind in REQUESTS}
_decoder = msgspec.json.Decoder(
    Hello | WagerRequest | HitRequest | VoidRequest | ConfirmRequest | DenyRequest | Ping | Watch
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Malformed:
    """A line that is no request; `table` and `seq` where they could be read.

    `key` is a hello's: it is checked before the hello's other fields.
    """

    code: Code
    message: str
    table: str | None = None
    seq: int | None = None
    key: str | None = None


class Lines:
    """Cuts received bytes into lines of at most MAX_LINE bytes, endings included."""

    def __init__(self) -> None:
        self._rest = b""

    def receive(self, data: bytes) -> Iterator[bytes | None]:
        """Yield each whole line without its ending; None, and then no more, for one too long."""
        *lines, rest = data.split(b"\n")
        if lines:
            lines[0] = self._rest + lines[0]
        else:
            rest = self._rest + rest
        self._rest = rest
        for line in lines:
            if len(line) >= MAX_LINE:
                yield None
                return
            yield line.removesuffix(b"\r")
        if len(rest) >= MAX_LINE:
            self._rest = b""
            yield None


def read(line: bytes) -> Request | Malformed:
    """Read one line as a request, or say what is wrong with it."""
    try:
        request = _decoder.decode(line)
    except (msgspec.MsgspecError, RecursionError):
        return _explain(line)
    # msgspec takes repeated keys. Each key has one colon, so a line with no more colons than
    # keys repeats none; others (a colon within a text, or a repeated key) are read again.
    if line.count(b":") != _keys(request):
        return _explain(line)
    return _checked(request)


_OPTIONAL = {
    kind: tuple(each.name for each in msgspec.structs.fields(kind) if each.default is UNSET)
    for kind in REQUESTS
}
_LEAST_KEYS = {kind: 1 + len(kind.__struct_fields__) - len(_OPTIONAL[kind]) for kind in REQUESTS}


def _keys(request: Request) -> int:
    kind = type(request)
    given = _LEAST_KEYS[kind]
    for name in _OPTIONAL[kind]:
        if getattr(request, name) is not UNSET:
            given += 1
    if isinstance(request, WagerRequest) and request.players:
        given += len(request.players)
    return given


def _checked(request: Request) -> Request | Malformed:
    # What the types can't say.
    if isinstance(request, WagerRequest):
        if len(set(request.seats)) != len(request.seats):
            return _bad_field(request, "seats: each seat once")
        if request.players:
            for seat in request.players:
                if not _is_number(seat):
                    return _bad_field(
                        request, f'players: {seat!r} is no seat number; write it like "3"'
                    )
    return request


def _bad_field(request: WagerRequest, message: str) -> Malformed:
    return Malformed(code=Code.BAD_FIELD, message=message, table=request.table, seq=request.seq)


def _is_number(text: str) -> bool:
    return (
        text.isascii()
        and text.isdigit()
        and text[0] != "0"
        and len(text) <= 16
        and int(text) < 2**53
    )


class _Repeated(ValueError):
    pass


def _members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        # A line has room for thousands of keys: each is looked at once.
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _Repeated(f"the key {key!r} is repeated")
            seen.add(key)
    return members


def _no_constant(name: str) -> Any:
    raise _Repeated(f"{name} is no JSON")


def _bounded(digits: str) -> int:
    # Python refuses to read integers of thousands of digits; any of those is out of range here.
    return int(digits[:40])


def _explain(line: bytes) -> Request | Malformed:
    """Read a line the slow way, to say in the protocol's order what is wrong with it."""
    try:
        text = line.decode()
        message = json.loads(
            text,
            object_pairs_hook=_members,
            parse_constant=_no_constant,
            parse_int=_bounded,
        )
        # Escapes can spell half a surrogate pair, which is no character.
        json.dumps(message, ensure_ascii=False).encode()
    except UnicodeDecodeError:
        return Malformed(code=Code.BAD_JSON, message="not UTF-8")
    except UnicodeEncodeError:
        return Malformed(code=Code.BAD_JSON, message="half a surrogate pair is no character")
    except RecursionError:
        return Malformed(code=Code.BAD_JSON, message="nested too deeply")
    except ValueError as error:
        return Malformed(code=Code.BAD_JSON, message=f"not one JSON object a line: {error}")
    if not isinstance(message, dict):
        return Malformed(code=Code.BAD_JSON, message="not a JSON object")
    return _explain_object(message)


def _explain_object(message: dict[str, Any]) -> Request | Malformed:
    table, seq = message.get("table"), message.get("seq")
    known_table = table if isinstance(table, str) else None
    known_seq = seq if type(seq) is int and 0 < seq < 2**53 else None
    kind = message.get("type")
    if not isinstance(kind, str) or kind not in _TYPES:
        said = repr(kind) if "type" in message else "no type"
        return Malformed(
            code=Code.UNKNOWN_TYPE,
            message=f"{said}; the types are {', '.join(map(str, _TYPES))}",
            table=known_table,
            seq=known_seq,
        )
    if kind == "hello":
        return _explain_hello(message)
    try:
        request = msgspec.convert(message, _TYPES[kind])
    except msgspec.ValidationError as error:
        return Malformed(
            code=Code.BAD_FIELD, message=f"{kind}: {error}", table=known_table, seq=known_seq
        )
    return _checked(request)


def _explain_hello(message: dict[str, Any]) -> Request | Malformed:
    # A hello's protocol and key are checked before its other fields.
    protocol = message.get("protocol")
    if type(protocol) is not int or protocol != PROTOCOL:
        return Malformed(
            code=Code.BAD_PROTOCOL, message=f"protocol {PROTOCOL} is spoken here, as an integer"
        )
    if not isinstance(message.get("key", ""), str):
        return Malformed(code=Code.BAD_KEY, message="the key is a text")
    try:
        return msgspec.convert(message, Hello)
    except msgspec.ValidationError as error:
        return Malformed(code=Code.BAD_FIELD, message=f"hello: {error}", key=message.get("key", ""))


def event_of(request: WagerRequest | HitRequest | VoidRequest) -> Wager | Hit | Void:
    """Make the event of a table's request."""
    if isinstance(request, WagerRequest):
        return Wager(
            table=request.table,
            seq=request.seq,
            round=request.round,
            seats=tuple(request.seats),
            progressive=None if request.progressive is UNSET else request.progressive,
            players={int(seat): name for seat, name in (request.players or {}).items()},
        )
    if isinstance(request, HitRequest):
        return Hit(
            table=request.table,
            seq=request.seq,
            round=request.round,
            seat=request.seat,
            hand=request.hand,
            progressive=None if request.progressive is UNSET else request.progressive,
            folded=request.folded is True,
            cards=() if request.cards is UNSET else tuple(request.cards),
        )
    return Void(table=request.table, seq=request.seq, round=request.round, reason=request.reason)
