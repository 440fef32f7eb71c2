"""The reconciliation: what the tables sent, against the books, against the meters (rules 11).

Three sources that share no sums: the contributions are worked out anew from each table's wager
messages and the terms, what awards, seedings and void rounds moved is taken from the answers,
and both are compared with the postings and with the balances of the folded state.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date

from jackpotd.accounts.day import MOST_FAULTS, DayReport, LevelDay, Movement, TableDay
from jackpotd.accounts.entries import Balances, Entry, meters_units, pending_units
from meters.events import Hit, Opened, Void, Wager
from meters.floor import Floor
from meters.money import units_from_minor
from meters.outcomes import Accepted, Awarded, Denied, Seeding, Voided
from meters.terms import LevelTerms


def reconcile(entries: Iterable[Entry], floor: Floor) -> Iterator[DayReport]:
    """Yield the report of each gaming day that has entries; `floor` is what they are folded into.

    The entries are those of the whole record, from row 1.
    """
    balances, books = Balances(), _Books()
    faults: list[str] = []
    more_faults = 0
    for entry in entries:
        for fault in (*balances.post(entry, floor), *books.take(entry, floor)):
            if len(faults) < MOST_FAULTS:
                faults.append(f"row {entry.row.number}: {fault}")
            else:
                more_faults += 1
        if entry.closes_day:
            levels, tables = books.close(floor)
            yield DayReport(
                day=entry.day,
                levels=levels,
                tables=tables,
                liability_units=balances.liability_units(),
                meters_units=meters_units(floor),
                pending_units=pending_units(floor),
                faults=tuple(faults),
                more_faults=more_faults,
            )
            faults, more_faults = [], 0


def report_of(day: date, reports: Iterable[DayReport]) -> DayReport | None:
    """Return the report of one gaming day, even if nothing happened on it.

    None where the record begins later. Takes no more reports than it needs.
    """
    before: DayReport | None = None
    for report in reports:
        if report.day == day:
            return report
        if report.day > day:
            break
        before = report
    return before.idle(day) if before is not None else None


@dataclass(slots=True, kw_only=True)
class _Round:
    """What a table sent for its current round: wagers and contributions by progressive."""

    number: int
    wagers_minor: dict[str, int] = field(default_factory=dict)
    contributions_units: dict[str, int] = field(default_factory=dict)


class _Books:
    """Collects a gaming day: what should have moved, and what was booked."""

    def __init__(self) -> None:
        self._levels: dict[tuple[str, str], LevelDay] = {}
        self._tables: dict[tuple[str, str], TableDay] = {}
        self._rounds: dict[str, _Round] = {}

    def take(self, entry: Entry, floor: Floor) -> Iterator[str]:
        """Take an entry in; say where its answer doesn't fit what was sent."""
        event, answer = entry.event, entry.answer
        match event, answer:
            case Opened(), _:
                for terms in event.terms.levels:
                    primary = self._level(event.terms.name, terms.name).primary
                    primary.seeding_units += units_from_minor(terms.seed_minor)
            case Wager(), Accepted():
                self._wager(event, answer.progressive, floor)
            case Hit(), Awarded():
                self._award(answer)
            case Void(), Voided():
                yield from self._void(event.table, answer)
            case _, Denied():
                self._denial(answer)
        self._booked(entry)

    def close(self, floor: Floor) -> tuple[tuple[LevelDay, ...], tuple[TableDay, ...]]:
        """End the day as the floor stands, and begin the next."""
        for name, progressive in floor.progressives.items():
            for level in progressive.levels:
                day = self._level(name, level.terms.name)
                day.primary.closing_units = level.primary_units
                day.reserve.closing_units = level.reserve_units
        levels = tuple(self._levels.values())
        tables = tuple(table for _, table in sorted(self._tables.items()))
        self._levels = {key: level.after() for key, level in self._levels.items()}
        self._tables = {}
        return levels, tables

    def _level(self, progressive: str, level: str) -> LevelDay:
        key = (progressive, level)
        if key not in self._levels:
            self._levels[key] = LevelDay(progressive=progressive, level=level)
        return self._levels[key]

    def _table(self, table: str, progressive: str) -> TableDay:
        key = (table, progressive)
        if key not in self._tables:
            self._tables[key] = TableDay(table=table, progressive=progressive)
        return self._tables[key]

    # What should have moved

    def _wager(self, event: Wager, progressive: str, floor: Floor) -> None:
        terms = floor.progressives[progressive].terms
        wagers_minor = len(event.seats) * terms.wager_minor
        contributions_units = 0
        for level_terms in terms.levels:
            level = self._level(progressive, level_terms.name)
            primary_units, reserve_units = _shares(level_terms, wagers_minor, level.primary)
            level.primary.contributions_units += primary_units
            level.reserve.contributions_units += reserve_units
            contributions_units += primary_units + reserve_units
        table = self._table(event.table, progressive)
        table.wagers_minor += wagers_minor
        table.contributions_units += contributions_units
        current = self._rounds.get(event.table)
        if current is None or current.number != event.round:
            current = self._rounds[event.table] = _Round(number=event.round)
        current.wagers_minor[progressive] = wagers_minor
        current.contributions_units[progressive] = contributions_units

    def _award(self, answer: Awarded) -> None:
        if answer.level is None:
            return
        level = self._level(answer.progressive, answer.level)
        level.primary.awards_units -= units_from_minor(answer.taken_minor)
        if answer.seeding is not None:
            _seed(level, answer.seeding, 1)

    def _denial(self, answer: Denied) -> None:
        if answer.level is None:
            return
        level = self._level(answer.progressive, answer.level)
        level.primary.awards_units += units_from_minor(answer.taken_minor)
        _seed(level, answer.seeding, -1)

    def _void(self, table: str, answer: Voided) -> Iterator[str]:
        sent = self._rounds.pop(table, _Round(number=0))
        for progressive, wagers_minor in sent.wagers_minor.items():
            day = self._table(table, progressive)
            day.wagers_minor -= wagers_minor
            day.contributions_units -= sent.contributions_units[progressive]
        undone_units = dict.fromkeys(sent.contributions_units, 0)
        for back in answer.returned:
            level = self._level(back.progressive, back.level)
            level.primary.voids_units -= back.primary_units
            level.reserve.voids_units -= back.reserve_units
            returned_units = back.primary_units + back.reserve_units + back.lost_units
            undone_units[back.progressive] = undone_units.get(back.progressive, 0) + returned_units
        if undone_units != sent.contributions_units:
            yield (
                f"the void round contributed {sent.contributions_units} units, "
                f"but {undone_units} were taken back or borne by the house"
            )

    # What was booked

    def _booked(self, entry: Entry) -> None:
        wager = isinstance(entry.event, Wager)
        for posting in entry.postings:
            if posting.level:
                level = self._level(posting.progressive, posting.level)
                primary = posting.account.endswith(":Primary")
                movement = level.primary if primary else level.reserve
                movement.booked_units -= posting.amount_units
                if wager:
                    movement.booked_contributions_units -= posting.amount_units
            elif wager or isinstance(entry.event, Void):
                table = self._table(entry.row.table, posting.progressive)
                if posting.account.endswith(":Wagers"):
                    table.booked_wagers_units -= posting.amount_units
                elif posting.account.endswith(":Contributions"):
                    table.booked_contributions_units += posting.amount_units


def _shares(terms: LevelTerms, wagers_minor: int, primary: Movement) -> tuple[int, int]:
    """Return what wagers owe a level's primary and reserve (rules 3.1, 3.2).

    The room under the cap is that of the primary as it should stand by now.
    """
    whole_units = wagers_minor * (terms.increment_ppm + terms.reserve_ppm)
    primary_units = wagers_minor * terms.increment_ppm
    if terms.cap_minor is not None:
        room_units = units_from_minor(terms.cap_minor) - primary.expected_units
        primary_units = min(primary_units, max(0, room_units))
    return primary_units, whole_units - primary_units


def _seed(level: LevelDay, seeding: Seeding, sign: int) -> None:
    level.primary.seeding_units += sign * seeding.house_units
    level.primary.moved_units += sign * seeding.reserve_units
    level.reserve.moved_units -= sign * seeding.reserve_units
