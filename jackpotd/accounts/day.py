"""A gaming day in the accounts: what each level and each table should have done, and did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date

from meters.money import Currency, format_units, units_from_minor


@dataclass(slots=True, kw_only=True)
class Movement:
    """One balance of a level over a gaming day, in units (rules 11).

    `closing_units` is what the folded state says. The lines between opening and closing come
    from what the tables sent and were answered; `booked_units` is what was posted in all, and
    `booked_contributions_units` what of it was posted with wagers.
    """

    opening_units: int = 0
    contributions_units: int = 0
    seeding_units: int = 0
    moved_units: int = 0
    awards_units: int = 0
    voids_units: int = 0
    closing_units: int = 0
    booked_contributions_units: int = 0
    booked_units: int = 0

    @property
    def expected_units(self) -> int:
        """The opening and everything that moved since."""
        return (
            self.opening_units
            + self.contributions_units
            + self.seeding_units
            + self.moved_units
            + self.awards_units
            + self.voids_units
        )

    def lines(self) -> Iterator[tuple[str, int]]:
        """Yield the lines of the identity, each with its amount in units."""
        yield "opening", self.opening_units
        yield "contributions (wagers x rate)", self.contributions_units
        yield "seeding by the house", self.seeding_units
        yield "reserve moved in", self.moved_units
        yield "awards, less denied ones", self.awards_units
        yield "void rounds", self.voids_units
        yield "closing", self.closing_units
        yield "difference", self.closing_units - self.expected_units

    def differences(self, currency: Currency) -> Iterator[str]:
        """Say what doesn't agree."""
        for expected_units, found_units, what in (
            (self.expected_units, self.closing_units, "should close at {}, but the meter has {}"),
            (
                self.contributions_units,
                self.booked_contributions_units,
                "should have got contributions of {}, but {} were booked",
            ),
            (
                self.closing_units - self.opening_units,
                self.booked_units,
                "changed by {}, but {} were booked",
            ),
        ):
            if expected_units != found_units:
                expected, found = (
                    format_units(units, currency) for units in (expected_units, found_units)
                )
                yield what.format(expected, found)


@dataclass(slots=True, kw_only=True)
class LevelDay:
    """A level over a gaming day."""

    progressive: str
    level: str
    primary: Movement = field(default_factory=Movement)
    reserve: Movement = field(default_factory=Movement)

    def after(self) -> LevelDay:
        """Return the level as the next day finds it."""
        return LevelDay(
            progressive=self.progressive,
            level=self.level,
            primary=_unmoved(self.primary.closing_units),
            reserve=_unmoved(self.reserve.closing_units),
        )


def _unmoved(units: int) -> Movement:
    return Movement(opening_units=units, closing_units=units)


@dataclass(slots=True, kw_only=True)
class TableDay:
    """A table on one progressive over a gaming day, less its void rounds.

    Expected from its own messages: `wagers_minor` and `contributions_units`, of both rates and
    all levels. Booked: what was posted.
    """

    table: str
    progressive: str
    wagers_minor: int = 0
    contributions_units: int = 0
    booked_wagers_units: int = 0
    booked_contributions_units: int = 0

    def variances(self) -> Iterator[tuple[str, int, int]]:
        """Yield what was expected and what was booked, in units, each with its name."""
        yield "wagers", units_from_minor(self.wagers_minor), self.booked_wagers_units
        yield "contributions", self.contributions_units, self.booked_contributions_units


@dataclass(frozen=True, slots=True, kw_only=True)
class DayReport:
    """The reconciliation of a gaming day.

    `faults` are rows that break what always holds (rules 12), at most MOST_FAULTS of them, and
    `more_faults` says how many there are besides. The liability is that of the day's end.
    """

    day: date
    levels: tuple[LevelDay, ...]
    tables: tuple[TableDay, ...]
    liability_units: int
    meters_units: int
    pending_units: int
    faults: tuple[str, ...] = ()
    more_faults: int = 0

    def differences(self, currency: Currency) -> Iterator[str]:
        """Say everything that doesn't agree, in words; nothing where all does."""
        yield from self.faults
        if self.more_faults:
            yield f"and {self.more_faults} more faults of single rows"
        for level in self.levels:
            for name, movement in (("primary", level.primary), ("reserve", level.reserve)):
                for what in movement.differences(currency):
                    yield f"{level.progressive} {level.level} {name} {what}"
        for table in self.tables:
            for name, expected_units, booked_units in table.variances():
                if expected_units != booked_units:
                    yield (
                        f"{table.table} sent {name} of {format_units(expected_units, currency)} on "
                        f"{table.progressive}, but {format_units(booked_units, currency)} "
                        "were booked"
                    )
        held_units = self.meters_units + self.pending_units
        if held_units != self.liability_units:
            yield (
                f"the books owe {format_units(self.liability_units, currency)}, but meters and "
                f"pending awards hold {format_units(held_units, currency)}"
            )

    def idle(self, day: date) -> DayReport:
        """Return the report of a later day on which nothing happened."""
        return DayReport(
            day=day,
            levels=tuple(level.after() for level in self.levels),
            tables=(),
            liability_units=self.liability_units,
            meters_units=self.meters_units,
            pending_units=self.pending_units,
        )


MOST_FAULTS = 20
