"""Rows of the record: how an event and its answer are written down and read back.

A row is (number, at, table, seq, kind, event, answer, hash). `event` and `answer` are JSON that
leaves out what stands at its default and what other columns hold. `hash` is SHA-256 over the
previous row's hash followed by the JSON array of the other seven columns, so a row that was
changed, added, dropped or moved breaks the chain.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import MISSING, fields
from operator import attrgetter
from typing import Any, NamedTuple, get_args

import msgspec

from jackpotd.errors import JackpotdError
from meters.events import Confirm, Deny, Event, Hit, Opened, TableSet, Void, Wager
from meters.floor import Floor
from meters.outcomes import (
    Accepted,
    Answer,
    Awarded,
    Confirmed,
    Denied,
    Noted,
    Outcome,
    Voided,
)


class RecordError(JackpotdError):
    """The record is corrupt, foreign or locked; nothing may be built on it until it is mended."""


class Row(NamedTuple):
    """One row: `number` from 1, `at_ms` in UTC milliseconds, JSON texts, a 32-byte `hash`.

    `table` is empty and `seq` 0 where no table sent the event.
    """

    number: int
    at_ms: int
    table: str
    seq: int
    kind: str
    event: str
    answer: str
    hash: bytes


KINDS: dict[str, tuple[type[Event], type[Answer]]] = {
    "table": (TableSet, Noted),
    "open": (Opened, Noted),
    "wager": (Wager, Accepted),
    "hit": (Hit, Awarded),
    "void": (Void, Voided),
    "confirm": (Confirm, Confirmed),
    "deny": (Deny, Denied),
}
"""Each kind of row, with the event and the answer that it holds."""

_NAMES = {event: kind for kind, (event, _) in KINDS.items()}
_SENT_BY_TABLE = (Wager, Hit, Void)
_IN_COLUMNS = frozenset(("table", "seq"))


class _Form(NamedTuple):
    """How an event or an answer is written: its values, and the JSON object that takes them.

    The object leaves out what stands at its default.
    """

    values: Callable[[Any], tuple[Any, ...]]
    written: Callable[..., msgspec.Struct]


def _form(kind: type[Any], leave_out: frozenset[str]) -> _Form:
    required: list[tuple[str, Any]] = []
    optional: list[tuple[str, Any, Any]] = []
    for each in fields(kind):
        if each.name in leave_out:
            continue
        if each.default is not MISSING:
            optional.append((each.name, Any, each.default))
        elif each.default_factory is not MISSING:
            optional.append((each.name, Any, msgspec.field(default_factory=each.default_factory)))
        else:
            required.append((each.name, Any))
    written = msgspec.defstruct(kind.__name__, [*required, *optional], omit_defaults=True, gc=False)
    names = written.__struct_fields__
    # attrgetter gives a bare value for one name, and a tuple for more.
    values = attrgetter(*names) if len(names) > 1 else lambda value: (getattr(value, names[0]),)
    return _Form(values, written)


_FORMS = {
    kind: _form(kind, _IN_COLUMNS if kind in _SENT_BY_TABLE else frozenset())
    for kind in (*get_args(Event), *get_args(Answer))
}
_encoder = msgspec.json.Encoder()


def _text(value: Event | Answer) -> str:
    form = _FORMS[type(value)]
    return _encoder.encode(form.written(*form.values(value))).decode()


def chained(previous: bytes, row: tuple[int, int, str, int, str, str, str]) -> bytes:
    """Return the hash of a row: over the previous row's hash and the row's columns."""
    return hashlib.sha256(previous + _encoder.encode(row)).digest()


def first_hash(property_name: str, currency: str) -> bytes:
    """Return what the first row is chained to: the property that the record belongs to."""
    return hashlib.sha256(_encoder.encode(["jackpotd record 1", property_name, currency])).digest()


class Draft(NamedTuple):
    """A row without its hash, in the order of the columns."""

    number: int
    at_ms: int
    table: str
    seq: int
    kind: str
    event: str
    answer: str


def draft(number: int, at_ms: int, event: Event, answer: Answer) -> Draft:
    """Write an event and its answer down."""
    kind = _NAMES[type(event)]
    table, seq = "", 0
    if isinstance(event, _SENT_BY_TABLE):
        table, seq = event.table, event.seq
    return Draft(number, at_ms, table, seq, kind, _text(event), _text(answer))


def read_event(row: Row) -> Event:
    """Read the event of a row back. Raises RecordError, which names the row."""
    event_type, _ = _known(row)
    try:
        written = msgspec.json.decode(row.event, type=dict[str, Any])
        if event_type in _SENT_BY_TABLE:
            written |= {"table": row.table, "seq": row.seq}
        # JSON keys are text: only msgspec's JSON reader turns a seat back into a number.
        return msgspec.json.decode(_encoder.encode(written), type=event_type)
    except (msgspec.MsgspecError, TypeError) as error:
        raise RecordError(f"row {row.number}: its event can't be read: {error}") from error


def read_answer(row: Row) -> Answer:
    """Read the answer of a row back. Raises RecordError, which names the row."""
    _, answer_type = _known(row)
    try:
        return msgspec.json.decode(row.answer, type=answer_type)
    except msgspec.MsgspecError as error:
        raise RecordError(f"row {row.number}: its answer can't be read: {error}") from error


def _known(row: Row) -> tuple[type[Event], type[Answer]]:
    try:
        return KINDS[row.kind]
    except KeyError:
        raise RecordError(
            f"row {row.number}: unknown kind {row.kind!r}; this version knows: {', '.join(KINDS)}"
        ) from None


class Folded(NamedTuple):
    """A row that was folded in and found right."""

    row: Row
    event: Event
    answer: Answer


def fold(rows: Iterable[Row], floor: Floor, previous: bytes) -> Iterator[Folded]:
    """Fold rows into `floor`, checking number, chain, time and answer of each.

    `previous` is the hash of the row before the first. Raises RecordError at the first bad row.
    """
    at_ms = 0
    for row in rows:
        if row.number != floor.number + 1:
            raise RecordError(
                f"row {row.number} stands where row {floor.number + 1} should: "
                "a row is missing, added or moved"
            )
        if chained(previous, row[:7]) != row.hash:
            raise RecordError(f"row {row.number}: its hash does not match: it was changed or moved")
        if row.at_ms < at_ms:
            raise RecordError(f"row {row.number}: its time lies before that of the row before it")
        event = read_event(row)
        answer = _applied(row, event, floor)
        if floor.number != row.number or _text(answer) != row.answer:  # type: ignore[arg-type]
            raise RecordError(
                f"row {row.number}: its answer is not what its event gives: {row.answer}"
            )
        previous, at_ms = row.hash, row.at_ms
        yield Folded(row, event, answer)  # type: ignore[arg-type]


def _applied(row: Row, event: Event, floor: Floor) -> Outcome:
    # An event that was never accepted can name tables, levels or seats that are not there.
    try:
        return floor.apply(event, row.at_ms)
    except Exception as error:
        raise RecordError(f"row {row.number}: its event can't be folded: {error!r}") from error


def write_state(floor: Floor) -> bytes:
    """Write a floor down for a snapshot."""
    return _encoder.encode(floor)


def read_state(text: bytes) -> Floor:
    """Read a snapshot's floor. Raises RecordError."""
    try:
        return msgspec.json.decode(text, type=Floor)
    except msgspec.MsgspecError as error:
        raise RecordError(f"the snapshot can't be read: {error}") from error
