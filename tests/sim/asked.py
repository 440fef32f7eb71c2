"""What a peer asks: one line, and what may be answered to it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

ANSWERS = {
    "hello": "welcome",
    "wager": "accepted",
    "hit": "award",
    "void": "voided",
    "confirm": "confirmed",
    "deny": "denied",
    "ping": "pong",
    "watch": "meters",
}
"""The answer to each kind of request that is no refusal."""

RETRY = frozenset({"table-held", "unavailable", "overloaded"})
NOT_NOW = frozenset({"unavailable", "overloaded"})
"""What anything may hear from a daemon whose store is lost, or that is stopping or full."""

_TABLES = NOT_NOW | {"not-allowed", "seq-conflict", "seq-gap", "unknown-progressive", "bad-seat"}
_FLOORS = NOT_NOW | {"unknown-hit", "already-denied", "already-paid"}
REFUSALS: Mapping[str, frozenset[str]] = {
    "hello": frozenset({"unavailable"}),
    "wager": _TABLES | {"round-closed", "table-held", "round-locked"},
    "hit": _TABLES | {"round-closed", "unknown-hand", "duplicate-hit", "no-wager"},
    "void": _TABLES | {"round-closed", "round-settled"},
    "confirm": _FLOORS,
    "deny": _FLOORS,
    "ping": frozenset(),
    "watch": frozenset(),
}
"""Why each kind may be refused, where the message itself is well-formed."""

Message = dict[str, Any]


@dataclass(slots=True, kw_only=True, eq=False)
class Asked:
    """One line that a peer sends, `text` with its ending.

    `may_hear` has the codes and types that are right; `tables` those that a hello speaks for.
    `end` is where the line ends in all that its connection sends. `came` and `answered` are the
    moments when it reached the daemon and when its reply was said, 0 before; `row` is the last row
    that was durable when it came.
    """

    text: bytes
    kind: str
    message: Message = field(default_factory=dict)
    may_hear: frozenset[str]
    tables: tuple[str, ...] = ()
    end: int = 0
    came: int = 0
    answered: int = 0
    row: int = 0

    @property
    def key(self) -> tuple[str, int] | None:
        """The table and seq of a table's request."""
        return (self.message["table"], self.message["seq"]) if "seq" in self.message else None


def asked(message: Message, *, only: frozenset[str] | None = None) -> Asked:
    """Ask something well-formed; `only` says more narrowly what may be heard, but for NOT_NOW."""
    kind = message["type"]
    may_hear = REFUSALS[kind] | {ANSWERS[kind]} if only is None else only | NOT_NOW
    return Asked(
        text=json.dumps(message).encode() + b"\n",
        kind=kind,
        message=message,
        may_hear=may_hear,
        tables=tuple(message.get("tables", ())),
    )


def garbage(text: bytes, code: str) -> Asked:
    """Ask something that is refused with this code, whatever the state is."""
    return Asked(text=text, kind="garbage", may_hear=frozenset({code}))
