"""The entries of the books: the record folded, row by row, with each row's postings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from itertools import chain, tee

from jackpotd.accounts.gaming_day import GamingDays
from jackpotd.record.rows import RecordError, Row, fold
from meters.books import Posting, postings
from meters.events import Event
from meters.floor import Floor
from meters.money import units_from_minor
from meters.outcomes import Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One row of the record, and what it posts (rules 11).

    `closes_day` where the next row belongs to a later gaming day, or there is none.
    """

    row: Row
    day: date
    closes_day: bool
    event: Event
    answer: Answer
    postings: tuple[Posting, ...]


def entries(
    rows: Iterable[Row], floor: Floor, start_hash: bytes, days: GamingDays
) -> Iterator[Entry]:
    """Fold rows from the first on into `floor`, and yield each as an entry.

    While an entry is at hand, `floor` stands as after its row. Raises RecordError at a bad row.
    """
    rows, following = tee(rows)
    later = chain(following, (None,))
    next(later)
    for (row, event, answer), after in zip(fold(rows, floor, start_hash), later, strict=True):
        day = _day_of(row, days)
        yield Entry(
            row=row,
            day=day,
            closes_day=after is None or _day_of(after, days) != day,
            event=event,
            answer=answer,
            postings=postings(event, answer, floor),
        )


def _day_of(row: Row, days: GamingDays) -> date:
    try:
        return days.of(row.at_ms)
    except OverflowError:
        raise RecordError(f"row {row.number}: its time is beyond the calendar") from None


class Balances:
    """The running balance of every account, in units, signed as in rules 11."""

    def __init__(self) -> None:
        self.units: Counter[str] = Counter()

    def post(self, entry: Entry, floor: Floor) -> Iterator[str]:
        """Book an entry, and say what of it breaks rules 12; `floor` stands as after it."""
        rest_units = sum(posting.amount_units for posting in entry.postings)
        if rest_units:
            yield f"its postings sum to {rest_units} units, not to zero"
        for posting in entry.postings:
            self.units[posting.account] += posting.amount_units
        for posting in dict.fromkeys(entry.postings):
            yield from self._wrong_with(posting, floor)

    def _wrong_with(self, posting: Posting, floor: Floor) -> Iterator[str]:
        if not posting.account.startswith("Liabilities:"):
            return
        held_units = -self.units[posting.account]
        if held_units < 0:
            yield f"{posting.account} is below zero: {held_units} units"
        if posting.level:
            level = floor.progressives[posting.progressive].level(posting.level)
            primary = posting.account.endswith(":Primary")
            stands_units = level.primary_units if primary else level.reserve_units
            if stands_units != held_units:
                yield f"{posting.account} is {stands_units} units, but its postings {held_units}"

    def liability_units(self) -> int:
        """Return the jackpot liability: the negated sum of all liabilities (rules 11)."""
        return -sum(
            units for account, units in self.units.items() if account.startswith("Liabilities:")
        )


def meters_units(floor: Floor) -> int:
    """Return what the meters of a floor hold: every primary and reserve."""
    return sum(
        level.primary_units + level.reserve_units
        for progressive in floor.progressives.values()
        for level in progressive.levels
    )


def pending_units(floor: Floor) -> int:
    """Return what the pending awards of a floor come to, with their Envy."""
    return units_from_minor(
        sum(
            pending.award.amount_minor + sum(envy.amount_minor for envy in pending.award.envy)
            for pending in floor.pending.values()
        )
    )
