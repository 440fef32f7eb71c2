"""Replies of the table protocol: answers and refusals put into lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from meters.events import Event, Hit, Void, Wager
from meters.floor import Floor
from meters.outcomes import (
    RETRY,
    Accepted,
    Answer,
    Awarded,
    Confirmed,
    Denied,
    Envy,
    Refused,
    Shown,
    Voided,
)

LONGEST_SAID = 1_000
"""Characters of a refusal's message or table: a line of 64 KiB is not said back whole."""

_encoder = msgspec.json.Encoder()


def line(reply: Mapping[str, Any]) -> bytes:
    """Put one reply into a line, with its ending."""
    return _encoder.encode(reply) + b"\n"


def reply_to(event: Event, answer: Answer | Refused) -> dict[str, Any]:
    """Return the reply to an event, as docs/protocol.md has it."""
    match event, answer:
        case _, Refused():
            return _refusal_of(event, answer)
        case Wager(), Accepted():
            return {
                "type": "accepted",
                "table": event.table,
                "seq": event.seq,
                "round": event.round,
                "progressive": answer.progressive,
                "seats": event.seats,
                "amount": answer.amount_minor,
                "meters": answer.meters,
            }
        case Hit(), Awarded():
            return _told("award", event, _award(event, answer), answer.meters)
        case Void(), Voided():
            return _told("voided", event, {"amount": answer.amount_minor}, answer.meters)
        case _, Confirmed():
            return {
                "type": "confirmed",
                "hit": answer.hit,
                "amount": answer.amount_minor,
                "envy": envy_list(answer.envy),
                "by": answer.by,
            }
        case _, Denied():
            return {
                "type": "denied",
                "hit": answer.hit,
                "later_hits": answer.later_hits,
                "by": answer.by,
                "meters": answer.meters,
            }
        case _:
            raise TypeError(f"nobody is told of {type(event).__name__}")


def _told(
    kind: str, event: Wager | Hit | Void, about: Mapping[str, Any], meters: Shown
) -> dict[str, Any]:
    head = {"type": kind, "table": event.table, "seq": event.seq, "round": event.round}
    return {**head, **about, "meters": meters}


def _award(event: Hit, answer: Awarded) -> dict[str, Any]:
    reply: dict[str, Any] = {
        "progressive": answer.progressive,
        "seat": event.seat,
        "hand": event.hand,
        "hit": answer.hit,
        "amount": answer.amount_minor,
    }
    if answer.line is not None:
        reply["line"] = answer.line
    if answer.meter_minor is not None:
        reply["meter"] = answer.meter_minor
    return reply | {
        "from": answer.source.value,
        "status": answer.status.value,
        "envy": envy_list(answer.envy),
    }


def envy_list(envy: tuple[Envy, ...]) -> list[dict[str, int]]:
    """Put Envy into words, in seat order."""
    return [{"seat": each.seat, "amount": each.amount_minor} for each in envy]


def _refusal_of(event: Event, refused: Refused) -> dict[str, Any]:
    known: dict[str, Any] = {}
    if isinstance(event, Wager | Hit | Void):
        known = {"table": event.table, "seq": event.seq}
    return refusal(refused, **known)


def refusal(
    refused: Refused, *, table: str | None = None, seq: int | None = None
) -> dict[str, Any]:
    """Return an error reply, with `table` and `seq` where they are known."""
    reply: dict[str, Any] = {
        "type": "error",
        "code": refused.code.value,
        "message": refused.message[:LONGEST_SAID],
    }
    if table is not None and len(table) <= LONGEST_SAID:
        reply["table"] = table
    if seq is not None:
        reply["seq"] = seq
    if refused.expected is not None:
        reply["expected"] = refused.expected
    return reply | {"retry": refused.code in RETRY}


def welcome(property_name: str, floor: Floor, tables: tuple[str, ...]) -> dict[str, Any]:
    """Return the reply to a hello that speaks for `tables`."""
    return {
        "type": "welcome",
        "protocol": 1,
        "property": property_name,
        "tables": {name: _table(floor, name) for name in tables},
        "meters": {name: each.shown() for name, each in floor.progressives.items()},
    }


def _table(floor: Floor, name: str) -> dict[str, Any]:
    table = floor.tables[name]
    return {
        "next_seq": table.next_seq,
        "round": table.round,
        "locked": list(table.locks),
        "pending": floor.pending_at(name),
        "progressives": table.progressives,
    }
