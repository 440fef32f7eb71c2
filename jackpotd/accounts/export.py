"""The liability ledger as CSV: the same events give the same bytes."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator

from jackpotd.accounts.entries import Entry
from jackpotd.accounts.lines import Line, Selection, day_lines, event_lines
from meters.money import Currency, format_units
from signage.awards import utc_text

COLUMNS = (
    *("entry", "at", "gaming_day", "kind", "progressive", "level", "generation", "table"),
    *("round", "seat", "hit", "account", "amount", "balance", "by", "memo"),
)

DETAILS = {"event": event_lines, "day": day_lines}
"""How fine the ledger is: a line for each posting, or for each account, table and gaming day."""

_RUN_BY_SPREADSHEETS = ("=", "+", "-", "@", "\t", "\r", "\n")
_CHUNK_CHARACTERS = 1 << 16


def csv_ledger(
    entries: Iterable[Entry],
    *,
    currency: Currency,
    selection: Selection | None = None,
    detail: str = "event",
) -> Iterator[str]:
    """Yield the ledger as CSV, in chunks of text with LF line ends; the header comes first.

    Amounts are decimals in major units, signed as in rules 11. `detail` is one of DETAILS.
    """
    written = _CsvLines()
    chunk = [written.line(COLUMNS)]
    size = len(chunk[0])
    for line in DETAILS[detail](entries, selection or Selection()):
        text = written.line(_cells(line, currency))
        size += len(text)
        chunk.append(text)
        if size >= _CHUNK_CHARACTERS:
            yield "".join(chunk)
            chunk, size = [], 0
    yield "".join(chunk)


def _cells(line: Line, currency: Currency) -> tuple[object, ...]:
    return (
        line.entry,
        utc_text(line.at_ms),
        line.gaming_day.isoformat(),
        line.kind,
        neutral(line.progressive),
        neutral(line.level),
        line.generation or "",
        neutral(line.table),
        line.round or "",
        line.seat or "",
        line.hit or "",
        neutral(line.account),
        format_units(line.amount_units, currency),
        format_units(line.balance_units, currency),
        neutral(line.by),
        neutral(line.memo),
    )


def neutral(text: str) -> str:
    """Return a text that no spreadsheet runs as a formula."""
    return "'" + text if text.startswith(_RUN_BY_SPREADSHEETS) else text


class _CsvLines:
    """Quotes one line at a time. The csv module writes to a file, so this plays one."""

    def __init__(self) -> None:
        self._text = ""
        # Python 3.11 quotes only the line ends that it writes itself: with CR LF it quotes both.
        self._writer = csv.writer(self, lineterminator="\r\n")

    def write(self, text: str) -> None:
        self._text = text

    def line(self, cells: Iterable[object]) -> str:
        self._writer.writerow(cells)
        return self._text.removesuffix("\r\n") + "\n"
