"""What follows from an event. Amounts in minor units, balances and shares in units.

An outcome with `meters` shows, by progressive and level, what the meters read after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

Shown = Mapping[str, Mapping[str, int]]
"""Progressive -> level -> amount shown, in minor units."""


class Code(Enum):
    """Why a request is refused, in the order in which the reasons are checked."""

    TOO_LONG = "too-long"
    BAD_JSON = "bad-json"
    NO_HELLO = "no-hello"
    BAD_PROTOCOL = "bad-protocol"
    BAD_KEY = "bad-key"
    UNKNOWN_TYPE = "unknown-type"
    BAD_FIELD = "bad-field"
    NOT_ALLOWED = "not-allowed"
    UNKNOWN_TABLE = "unknown-table"
    SEQ_CONFLICT = "seq-conflict"
    SEQ_GAP = "seq-gap"
    UNKNOWN_PROGRESSIVE = "unknown-progressive"
    RETIRED = "retired"
    BAD_SEAT = "bad-seat"
    ROUND_CLOSED = "round-closed"
    TABLE_HELD = "table-held"
    ROUND_LOCKED = "round-locked"
    UNKNOWN_HAND = "unknown-hand"
    DUPLICATE_HIT = "duplicate-hit"
    NO_WAGER = "no-wager"
    ROUND_SETTLED = "round-settled"
    UNKNOWN_HIT = "unknown-hit"
    ALREADY_DENIED = "already-denied"
    ALREADY_PAID = "already-paid"
    UNAVAILABLE = "unavailable"
    OVERLOADED = "overloaded"


RETRY = frozenset({Code.TABLE_HELD, Code.UNAVAILABLE, Code.OVERLOADED})
"""The refusals after which the same request may succeed later."""


class Source(Enum):
    """Where an award is paid from (rules 4.6)."""

    HAND_PAY = "hand pay"
    TABLE = "table"


class Status(Enum):
    """Where an award stands (rules 4.5)."""

    PENDING = "pending"
    PAID = "paid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Nothing changed; `message` says what is wrong and what would be right.

    `expected` is the seq that the table should have sent (`seq-gap`).
    """

    code: Code
    message: str
    expected: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """The event was answered before: the record holds the answer, and nothing changed.

    Either the table's `seq` is an old one, or `hit` is settled already.
    """

    table: str = ""
    seq: int = 0
    hit: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """A table was set, or a progressive opened (`meters` then shows it)."""

    meters: Shown = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """Wagers accepted: how much in all (rules 3.4)."""

    progressive: str
    amount_minor: int
    meters: Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Envy:
    """Envy for one wagering seat (rules 6)."""

    seat: int
    amount_minor: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeding:
    """What came into the next meter: from the house and from the reserve (rules 5).

    `reserve_units` is below zero where a fraction that the cap had no room for went into it.
    """

    house_units: int
    reserve_units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Awarded:
    """A hit was awarded (rules 4, 6).

    `amount_minor` is the holder's: `taken_minor` of it comes out of the `level`, the rest from
    the house. `meter_minor` is the level at the player's turn and `generation` its generation.
    A holder who is paid nothing has no `line`, `level` and `meter_minor`.
    """

    hit: int
    progressive: str
    amount_minor: int
    source: Source
    status: Status
    line: str | None = None
    level: str | None = None
    meter_minor: int | None = None
    generation: int | None = None
    taken_minor: int = 0
    seeding: Seeding | None = None
    envy: tuple[Envy, ...] = ()
    meters: Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Returned:
    """What a void round took back out of one level; `lost_units` the house bears (rules 8)."""

    progressive: str
    level: str
    primary_units: int
    reserve_units: int
    lost_units: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Voided:
    """A round's wagers returned: `wagers_minor` by progressive, `amount_minor` in all."""

    amount_minor: int
    wagers_minor: Mapping[str, int]
    returned: tuple[Returned, ...]
    meters: Shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """A pending award became payable, with its Envy (rules 7.1)."""

    hit: int
    table: str
    round: int
    seat: int
    progressive: str
    amount_minor: int
    source: Source
    envy: tuple[Envy, ...]
    by: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Denied:
    """A hit undone (rules 7.2).

    `taken_minor` went back into the `level`, `house_minor` and the Envy to the house; seedings
    of denied full awards went back as `seeding`. `later_hits` were paid from the wrong meter.
    """

    hit: int
    table: str
    round: int
    seat: int
    progressive: str
    level: str | None
    taken_minor: int
    house_minor: int
    envy_minor: int
    seeding: Seeding
    later_hits: tuple[int, ...]
    by: str
    meters: Shown


Outcome = Refused | Repeated | Noted | Accepted | Awarded | Voided | Confirmed | Denied
Answer = Noted | Accepted | Awarded | Voided | Confirmed | Denied
"""An outcome that changed something, and so has a row in the record."""
