"""The reconciliation in words: a statement of each gaming day, for people to read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from jackpotd.accounts.day import DayReport, LevelDay
from meters.money import Currency, format_units

_LABEL = 32
_AMOUNT = 22


def statement(report: DayReport, currency: Currency) -> Iterator[str]:
    """Yield the lines of a gaming day's statement; amounts are exact, in major units."""
    yield f"Gaming day {report.day.isoformat()}"
    yield ""
    for level in report.levels:
        yield from _level(level, currency)
        yield ""
    if report.tables:
        yield from _tables(report, currency)
        yield ""
    yield f"{'jackpot liability':{_LABEL}}{_amount(report.liability_units, currency)}"
    yield f"{'  meters':{_LABEL}}{_amount(report.meters_units, currency)}"
    yield f"{'  pending awards':{_LABEL}}{_amount(report.pending_units, currency)}"
    for difference in report.differences(currency):
        yield f"DIFFERENCE: {difference}"


def _amount(units: int, currency: Currency) -> str:
    return format_units(units, currency).rjust(_AMOUNT)


def _level(level: LevelDay, currency: Currency) -> Iterator[str]:
    title = f"{level.progressive} {level.level}"
    yield f"{title:{_LABEL}}{'primary':>{_AMOUNT}}{'reserve':>{_AMOUNT}}"
    for (label, primary_units), (_, reserve_units) in zip(
        level.primary.lines(), level.reserve.lines(), strict=True
    ):
        amounts = _amount(primary_units, currency) + _amount(reserve_units, currency)
        yield f"{'  ' + label:{_LABEL}}{amounts}"


def _tables(report: DayReport, currency: Currency) -> Iterator[str]:
    rows = [("table", "progressive", "", "sent", "booked", "variance")]
    for table in report.tables:
        for name, expected_units, booked_units in table.variances():
            amounts = (expected_units, booked_units, booked_units - expected_units)
            sent, booked, variance = (format_units(units, currency) for units in amounts)
            rows.append((table.table, table.progressive, name, sent, booked, variance))
    return _columns(rows, left=3)


def _columns(rows: Sequence[tuple[str, ...]], *, left: int) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(_aligned(row, widths, left)).rstrip()


def _aligned(row: Iterable[str], widths: list[int], left: int) -> Iterator[str]:
    for index, (cell, width) in enumerate(zip(row, widths, strict=True)):
        yield cell.ljust(width) if index < left else cell.rjust(width)
