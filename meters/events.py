"""What can happen: the events that the fold takes, valid once built.

Each is one row of the record. Numbers (`seq`, `round`, `seat`, `hit`) start at 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from meters.terms import Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSet:
    """A table stands on the floor with this game and this number of seats."""

    table: str
    game: str
    seats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A progressive opens: the house puts each seed into its level (rules 2.4)."""

    terms: Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Wager:
    """The dealer locked the bets: the seats whose wager was accepted (rules 3).

    `players` maps a seat to a player where one plays several seats; it may name seats without
    a wager. `progressive` is None where the table has just one.
    """

    table: str
    seq: int
    round: int
    seats: tuple[int, ...]
    progressive: str | None = None
    players: Mapping[int, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A hand with a pay line, at the player's turn (rules 4)."""

    table: str
    seq: int
    round: int
    seat: int
    hand: str
    progressive: str | None = None
    folded: bool = False
    cards: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Void:
    """A misdeal: the round's wagers are returned (rules 8)."""

    table: str
    seq: int
    round: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirm:
    """A floorperson saw the hand: the pending award is paid (rules 7.1)."""

    hit: int
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Deny:
    """The hand was misread: the hit is undone (rules 7.2)."""

    hit: int
    by: str
    reason: str


TableEvent = Wager | Hit | Void
Event = TableSet | Opened | Wager | Hit | Void | Confirm | Deny
