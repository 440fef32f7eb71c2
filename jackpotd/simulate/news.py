"""What a simulation tells while it plays, for whoever prints it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Pending:
    """An award waits for the floor: `award` is the protocol's reply."""

    award: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A table may not lock its next round yet; `message` is the daemon's."""

    table: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaysOn:
    """A table whose award waited for the floor, or that was held, has locked its next round."""

    table: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The simulated floorperson's request was answered, with `confirmed`, `denied` or an error."""

    reply: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A connection is lost and is tried again, for as long as it takes."""

    name: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Back:
    """A lost connection is there again; the unanswered message goes out again."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """A table, or the floorperson, can't go on."""

    name: str
    error: Exception


News = Pending | Held | PlaysOn | Settled | Lost | Back | Failed
Tell = Callable[[News], None]
"""Called from the threads that play: it must not block for long, and must be safe to share."""
