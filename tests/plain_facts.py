"""What the plain model keeps: the terms of a property, and what happened in it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

ZERO = Fraction(0)


@dataclass
class PlainLevel:
    """A level of a progressive: amounts in minor units, rates as fractions of the wager."""

    seed: int
    reseed: int
    increment: Fraction
    reserve: Fraction = ZERO
    cap: int | None = None


@dataclass
class PlainLine:
    """A pay line: `percent` of its level, or `amount` in minor units; else the house pays."""

    level: str | None = None
    percent: Fraction | None = None
    amount: int = 0


@dataclass
class PlainTerms:
    """A progressive as its Rules Submission describes it."""

    wager: int
    tables: list[str]
    levels: dict[str, PlainLevel]
    pays: dict[str, PlainLine]
    envy: dict[str, int] = field(default_factory=dict)
    hand_pay: str = "percentage"
    validate: list[str] = field(default_factory=list)
    hold_table: bool = True
    folded_hands_qualify: bool = False


@dataclass
class PlainLock:
    """One lock: when it happened, and what each level got of it, primary and reserve."""

    when: int
    table: str
    round: int
    progressive: str
    seats: list[int]
    players: dict[int, str]
    shares: dict[str, tuple[Fraction, Fraction]]
    voided: bool = False
    lost: Fraction = ZERO


@dataclass
class PlainHit:
    """One hit, for ever; `standing` is "pending", "paid" or "denied".

    `from_house` and `from_reserve` are what its reseed came from, and `owed` what of the two a
    denial has still to take back.
    """

    number: int
    when: int
    table: str
    round: int
    seat: int
    progressive: str
    standing: str
    amount: int = 0
    source: str = "table"
    level: str | None = None
    full: bool = False
    taken: int = 0
    envy: list[tuple[int, int]] = field(default_factory=list)
    from_house: Fraction = ZERO
    from_reserve: Fraction = ZERO
    owed: list[Fraction] = field(default_factory=lambda: [ZERO, ZERO])

    @property
    def stands(self) -> bool:
        """Pending or paid."""
        return self.standing != "denied"

    @property
    def envy_in_all(self) -> int:
        """What the others get together."""
        return sum(amount for _, amount in self.envy)
