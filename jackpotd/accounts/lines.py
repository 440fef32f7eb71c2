"""The lines of the liability ledger: one for each posting, or one for each account and day."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

from jackpotd.accounts.entries import Entry
from meters.books import Posting
from meters.events import Deny, Hit, Void, Wager
from meters.outcomes import Awarded, Confirmed, Denied


class Line(NamedTuple):
    """A line of the ledger. Amounts in units, signed as in rules 11; '' or 0 where it has none.

    `entry` is the row's number, `balance_units` what the account holds after the line. Of a
    day's line, `entry` and `at_ms` are those of the last entry in it.
    """

    entry: int
    at_ms: int
    gaming_day: date
    kind: str
    progressive: str
    level: str
    generation: int
    table: str
    round: int
    seat: int
    hit: int
    account: str
    amount_units: int
    balance_units: int
    by: str
    memo: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which lines are wanted: gaming days, both included, and one progressive; None for all."""

    first: date | None = None
    last: date | None = None
    progressive: str | None = None

    def ends_before(self, day: date) -> bool:
        """Whether neither this gaming day nor a later one is wanted."""
        return self.last is not None and day > self.last

    def takes(self, day: date, posting: Posting) -> bool:
        """Whether a posting of this gaming day is wanted."""
        return (self.first is None or day >= self.first) and (
            self.progressive is None or posting.progressive == self.progressive
        )


def event_lines(entries: Iterable[Entry], selection: Selection) -> Iterator[Line]:
    """Yield a line for each posting; balances run over all postings, wanted or not."""
    balances: Counter[str] = Counter()
    for entry in entries:
        if selection.ends_before(entry.day):
            return
        told = _told(entry)
        for posting in entry.postings:
            balances[posting.account] += posting.amount_units
            if selection.takes(entry.day, posting):
                yield Line(
                    entry=entry.row.number,
                    at_ms=entry.row.at_ms,
                    gaming_day=entry.day,
                    kind=entry.row.kind,
                    progressive=posting.progressive,
                    level=posting.level,
                    generation=posting.generation,
                    table=told.table,
                    round=told.round,
                    seat=told.seat,
                    hit=told.hit,
                    account=posting.account,
                    amount_units=posting.amount_units,
                    balance_units=balances[posting.account],
                    by=told.by,
                    memo=told.memo,
                )


class _Told(NamedTuple):
    """What an entry says besides its postings."""

    table: str = ""
    round: int = 0
    seat: int = 0
    hit: int = 0
    by: str = ""
    memo: str = ""


def _told(entry: Entry) -> _Told:
    event, answer = entry.event, entry.answer
    match event, answer:
        case Wager(), _:
            return _Told(event.table, event.round)
        case Void(), _:
            return _Told(event.table, event.round, memo=event.reason)
        case Hit(), Awarded():
            memo = f"{event.hand}: {answer.line or 'Envy alone'}"
            return _Told(event.table, event.round, event.seat, answer.hit, memo=memo)
        case _, Confirmed():
            return _Told(answer.table, answer.round, answer.seat, answer.hit, answer.by)
        case Deny(), Denied():
            memo = event.reason
            if answer.later_hits:
                later = ", ".join(str(hit) for hit in answer.later_hits)
                memo += f"; paid since from this level: hit {later}"
            return _Told(answer.table, answer.round, answer.seat, answer.hit, answer.by, memo)
    return _Told()


@dataclass(slots=True, kw_only=True)
class _Sum:
    """A day's postings to one account at one table; the last entry's number and time."""

    entry: int = 0
    at_ms: int = 0
    progressive: str = ""
    level: str = ""
    wanted: bool = False
    wanted_units: int = 0
    all_units: int = 0

    def add(self, entry: Entry, posting: Posting, wanted: bool) -> None:
        self.all_units += posting.amount_units
        if not wanted:
            return
        # Accounts of tables and the cage serve several progressives: then a line names none.
        mixed = self.wanted and self.progressive != posting.progressive
        self.progressive = "" if mixed else posting.progressive
        self.level = posting.level
        self.entry, self.at_ms = entry.row.number, entry.row.at_ms
        self.wanted = True
        self.wanted_units += posting.amount_units


def day_lines(entries: Iterable[Entry], selection: Selection) -> Iterator[Line]:
    """Yield a line for each gaming day, account and table, by account within a day.

    The last line of an account in a day has the balance with which the day closed.
    """
    balances: Counter[str] = Counter()
    sums: dict[tuple[str, str], _Sum] = {}
    for entry in entries:
        if selection.ends_before(entry.day):
            return
        table = _told(entry).table
        for posting in entry.postings:
            total = sums.setdefault((posting.account, table), _Sum())
            total.add(entry, posting, selection.takes(entry.day, posting))
        if entry.closes_day:
            yield from _closed(entry.day, sums, balances)
            sums.clear()


def _closed(day: date, sums: dict[tuple[str, str], _Sum], balances: Counter[str]) -> Iterator[Line]:
    for (account, table), total in sorted(sums.items(), key=lambda item: item[0]):
        balances[account] += total.all_units
        if total.wanted:
            yield Line(
                entry=total.entry,
                at_ms=total.at_ms,
                gaming_day=day,
                kind="day",
                progressive=total.progressive,
                level=total.level,
                generation=0,
                table=table,
                round=0,
                seat=0,
                hit=0,
                account=account,
                amount_units=total.wanted_units,
                balance_units=balances[account],
                by="",
                memo="",
            )
