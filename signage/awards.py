"""Awards as signs show them, and their JSON bodies. Never a player's name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal

from meters.money import Currency, format_minor

LAST_AWARDS = 25
"""How many standing awards a level keeps readable (New York asks for 25)."""

Body = dict[str, object]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def utc_text(at_ms: int) -> str:
    """Print milliseconds since 1970 as RFC 3339 in UTC: "2026-03-01T09:30:00.250Z"."""
    moment = _EPOCH + timedelta(milliseconds=at_ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Award:
    """A committed award (rules 4, 6): what the holder of hit number `hit` is paid.

    `amount_minor` is the amount at the player's turn and never changes; `level` and `meter_minor`
    (the level at that turn) are None where no meter paid. `line` is None where the holder is paid
    nothing and his hand only gives Envy. `envy` holds (seat, amount in minor units) pairs.
    `at_ms` counts from 1970, `sequence` is the number of the record's row.
    """

    hit: int
    progressive: str
    level: str | None
    line: str | None
    table: str
    round: int
    seat: int
    hand: str
    cards: tuple[str, ...]
    amount_minor: int
    meter_minor: int | None
    from_: str
    status: Literal["pending", "paid"]
    envy: tuple[tuple[int, int], ...]
    at_ms: int
    sequence: int

    @property
    def envy_minor(self) -> int:
        """The Envy of all its receivers together."""
        return sum(amount_minor for _, amount_minor in self.envy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """A committed end of a pending award (rules 7)."""

    hit: int
    status: Literal["paid", "denied"]
    at_ms: int
    sequence: int


def last_body(award: Award, currency: Currency) -> Body:
    """Return an award as the lists of last awards show it."""
    return {
        "hit": award.hit,
        "table": award.table,
        "seat": award.seat,
        "hand": award.hand,
        "amount": award.amount_minor,
        "text": format_minor(award.amount_minor, currency),
        "level": award.level,
        "line": award.line,
        "at": utc_text(award.at_ms),
        "status": award.status,
    }


def pending_body(award: Award, currency: Currency) -> Body:
    """Return an award as the list of pending ones shows it; `envy` is the total."""
    return last_body(award, currency) | {
        "round": award.round,
        "cards": award.cards,
        "envy": award.envy_minor,
        "envy_text": format_minor(award.envy_minor, currency),
    }


def hit_body(award: Award, currency: Currency) -> Body:
    """Return an award as the event `hit` tells it."""
    return pending_body(award, currency) | {
        "progressive": award.progressive,
        "meter": award.meter_minor,
        "from": award.from_,
        "sequence": award.sequence,
    }


def resolved_body(resolution: Resolution) -> Body:
    """Return a resolution as the event `resolved` tells it."""
    return {
        "hit": resolution.hit,
        "status": resolution.status,
        "at": utc_text(resolution.at_ms),
        "sequence": resolution.sequence,
    }


def _age(award: Award) -> tuple[int, int]:
    return award.sequence, award.hit


class AwardLists:
    """The awards of one progressive that stand: pending ones, and the last of each level."""

    def __init__(self) -> None:
        self._pending: dict[int, Award] = {}
        self._paid: dict[str, list[Award]] = {}

    @property
    def pending(self) -> list[Award]:
        """The pending awards in the order in which they were hit."""
        return sorted(self._pending.values(), key=_age)

    def last(self, level: str, limit: int) -> list[Award]:
        """Return the awards that took from `level` and stand, newest first, at most `limit`."""
        waiting = [award for award in self._pending.values() if award.level == level]
        return sorted([*waiting, *self._paid.get(level, ())], key=_age, reverse=True)[:limit]

    def add(self, award: Award) -> bool:
        """Take an award; tell whether it was new."""
        paid = self._paid.get(award.level or "", ())
        if award.hit in self._pending or any(known.hit == award.hit for known in paid):
            return False
        if award.status == "pending":
            self._pending[award.hit] = award
        else:
            self._keep_paid(award)
        return True

    def resolve(self, resolution: Resolution) -> bool:
        """Pay or drop a pending award; tell whether it was one of these."""
        award = self._pending.pop(resolution.hit, None)
        if award is None:
            return False
        if resolution.status == "paid":
            self._keep_paid(replace(award, status="paid"))
        return True

    def _keep_paid(self, award: Award) -> None:
        # Pending ones are kept beside these and not among them: when one is denied, a full list
        # of 25 still stands.
        if award.level is not None:
            paid = self._paid.setdefault(award.level, [])
            paid.append(award)
            paid.sort(key=_age, reverse=True)
            del paid[LAST_AWARDS:]
