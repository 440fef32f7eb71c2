"""The ledger's commands: export, reconcile, verify."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import date, datetime
from pathlib import Path
from typing import Any

import click

from jackpotd import config
from jackpotd.accounts.day import DayReport
from jackpotd.accounts.entries import Entry, entries
from jackpotd.accounts.export import DETAILS, csv_ledger
from jackpotd.accounts.gaming_day import GamingDays
from jackpotd.accounts.lines import Selection
from jackpotd.accounts.reconcile import reconcile as reports_of
from jackpotd.accounts.reconcile import report_of
from jackpotd.accounts.statement import statement
from jackpotd.accounts.verify import verify as verified
from jackpotd.commands.output import write_out
from jackpotd.config import Config
from jackpotd.errors import JackpotdError
from jackpotd.record.rows import RecordError, Row
from jackpotd.record.sqlite import SqliteRecord
from meters.floor import Floor
from meters.money import Currency

_Command = Callable[..., Any]
_CONFIG = click.argument("config_file", metavar="CONFIG", type=click.Path(path_type=Path))


class Differs(JackpotdError):
    """The accounts don't agree; what was printed says where."""


def _date(_: click.Context, __: click.Parameter, value: datetime | None) -> date | None:
    return None if value is None else value.date()


def _day_option(name: str, variable: str, help_text: str) -> Callable[[_Command], _Command]:
    days = click.DateTime(formats=["%Y-%m-%d"])
    return click.option(name, variable, type=days, callback=_date, help=help_text)


_OUTPUT = click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="A file, which appears whole; standard output if left out.",
)


@click.group()
def ledger() -> None:
    """The liability ledger: export it, reconcile it, prove it."""


@ledger.command()
@_CONFIG
@click.option(
    "--format",
    type=click.Choice(["csv"]),
    default="csv",
    show_default=True,
    expose_value=False,
)
@_day_option("--from", "first", "The first gaming day.")
@_day_option("--to", "last", "The last gaming day.")
@_day_option("--day", "day", "One gaming day alone.")
@click.option("--progressive", help="One progressive alone; balances still run over all.")
@click.option(
    "--detail",
    type=click.Choice(list(DETAILS)),
    default="event",
    show_default=True,
    help="A line for each posting, or for each account, table and gaming day.",
)
@_OUTPUT
def export(
    config_file: Path,
    first: date | None,
    last: date | None,
    day: date | None,
    progressive: str | None,
    detail: str,
    output: Path | None,
) -> None:
    """Write the ledger, with every account's running balance."""
    if day is not None and (first is not None or last is not None):
        raise click.UsageError("--day stands alone: leave out --from and --to")
    if first is not None and last is not None and first > last:
        raise click.UsageError("--from lies after --to")
    loaded = config.load(config_file)
    selection = Selection(first=day or first, last=day or last, progressive=progressive)
    with _record_of(loaded) as record:
        if progressive is not None:
            _check_known(progressive, record)
        with _entries_of(loaded, record, Floor(), output) as found:
            chunks = csv_ledger(found, currency=loaded.currency, selection=selection, detail=detail)
            write_out(chunks, output)


@ledger.command()
@_CONFIG
@_day_option("--day", "day", "One gaming day alone.")
@_OUTPUT
def reconcile(config_file: Path, day: date | None, output: Path | None) -> None:
    """Compare what tables sent, what was booked and what the meters hold, by gaming day.

    Exits with 1 if anything differs.
    """
    loaded = config.load(config_file)
    floor = Floor()
    with _record_of(loaded) as record, _entries_of(loaded, record, floor, output) as found:
        reports = reports_of(found, floor)
        if day is not None:
            one = report_of(day, reports)
            reports = iter(() if one is None else (one,))
        statements = _Statements(reports, loaded.currency)
        write_out(statements, output)
    if statements.differences:
        raise Differs(f"{statements.differences} differences")


@ledger.command()
@_CONFIG
def verify(config_file: Path) -> None:
    """Fold the whole record again and compare every row with it; name the first bad one.

    Exits with 1 if there is any.
    """
    loaded = config.load(config_file)
    with _record_of(loaded) as record, _watched(record, shown=True) as rows:
        found = verified(record, rows, _days_of(loaded))
    click.echo(
        f"{loaded.store}: {found.rows} rows, {found.hits} hits, {found.marks} marks and "
        f"{found.snapshots} snapshots are right"
    )


class _Statements:
    """The statements of gaming days, one after the other; counts what differs while it writes."""

    def __init__(self, reports: Iterable[DayReport], currency: Currency) -> None:
        self._reports = reports
        self._currency = currency
        self.differences = 0

    def __iter__(self) -> Iterator[str]:
        days = 0
        for report in self._reports:
            days += 1
            self.differences += sum(1 for _ in report.differences(self._currency))
            yield "\n".join((*statement(report, self._currency), "", ""))
        if not days:
            yield "nothing is on record by then\n"
        elif not self.differences:
            yield "no difference\n"


def _days_of(loaded: Config) -> GamingDays:
    return GamingDays(loaded.timezone, loaded.gaming_day)


@contextmanager
def _record_of(loaded: Config) -> Iterator[SqliteRecord]:
    """Open one view of the record, beside a running daemon; errors name its file."""
    record = SqliteRecord(
        loaded.store,
        property_name=loaded.property,
        currency=loaded.currency.code,
        read_only=True,
    )
    try:
        yield record
    except RecordError as error:
        if str(record.path) in str(error):
            raise
        raise RecordError(f"{record.path}: {error}") from error
    finally:
        record.close()


@contextmanager
def _entries_of(
    loaded: Config, record: SqliteRecord, floor: Floor, output: Path | None
) -> Iterator[Iterator[Entry]]:
    # On a terminal that shows the lines themselves, a progress bar would stand among them.
    shown = output is not None or not sys.stdout.isatty()
    with _watched(record, shown=shown) as rows:
        yield entries(rows, floor, record.start_hash(), _days_of(loaded))


@contextmanager
def _watched(record: SqliteRecord, *, shown: bool) -> Iterator[Iterable[Row]]:
    """Show on a terminal how far the reading of the rows is."""
    if not shown or not sys.stderr.isatty():
        yield record.rows()
        return
    with click.progressbar(
        record.rows(),
        length=record.last_number(),
        label="rows",
        file=sys.stderr,
        update_min_steps=1_000,
    ) as rows:
        yield rows


def _check_known(progressive: str, record: SqliteRecord) -> None:
    known = record.load().floor.progressives
    if progressive not in known:
        names = ", ".join(known) or "none"
        raise click.BadParameter(
            f"the record has no progressive {progressive!r}; it has {names}",
            param_hint="'--progressive'",
        )
