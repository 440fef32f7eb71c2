"""A property's commands: begin one, check it, its paytables, its keys, its backup."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import click

from jackpotd import catalogue, config, tls
from jackpotd.errors import ConfigError, Problem
from jackpotd.principals import ROLES, Principals
from jackpotd.record.sqlite import SqliteRecord
from jackpotd.starter import write_property
from meters.money import CURRENCIES, format_rate
from meters.paytable import Amount, LineKind, Paytable, PrintedLine

_CONFIG = click.argument("config_file", metavar="CONFIG", type=click.Path(path_type=Path))


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def init(folder: Path) -> None:
    """Begin a property in DIR: a commented configuration with fresh keys."""
    started = write_property(folder)
    click.echo(f"wrote {started.config} and {started.principals}")
    click.echo("These keys are shown once; the file keeps only their hashes:")
    for name, secret in started.keys.items():
        click.echo(f"  {name}: {secret}")
    click.echo(f"Next: jackpotd check {started.config}, then jackpotd run {started.config}")


@click.command()
@_CONFIG
def check(config_file: Path) -> None:
    """Read everything and say every error, with file, line and key."""
    loaded = config.load(config_file)
    problems: list[Problem] = []
    warnings = [*loaded.warnings]
    if not loaded.principals.exists():
        message = "there are no keys yet: jackpotd key add makes the first one"
        warnings.append(Problem(file=str(loaded.principals), line=0, key="", message=message))
    try:
        Principals.load(loaded.principals, loaded.tables, missing_ok=True)
    except ConfigError as error:
        problems += error.problems
    try:
        listeners = (loaded.tables_tls, loaded.http_tls)
        warnings += tls.check(filter(None, listeners), datetime.now(UTC))
    except ConfigError as error:
        problems += error.problems
    if problems:
        raise ConfigError(problems)
    for warning in warnings:
        click.echo(f"warning: {warning}", err=True)
    click.echo(
        f"{config_file}: {loaded.property} is fine: {len(loaded.tables)} tables, "
        f"{len(loaded.progressives)} progressives, {len(loaded.signs)} signs"
    )


@click.group(invoke_without_command=True)
@click.pass_context
def paytables(context: click.Context) -> None:
    """The catalogue of paytables, with the sections that print them."""
    if context.invoked_subcommand is not None:
        return
    names = catalogue.names()
    width = max(len(name) for name in names)
    for name in names:
        paytable = catalogue.get(name)
        click.echo(f"{name:{width}}  {paytable.source}  {paytable.title}")


@paytables.command()
@click.argument("name")
def show(name: str) -> None:
    """Show one paytable of the catalogue."""
    paytable = catalogue.get(name)
    click.echo(f"{name}: {paytable.title}\n{paytable.source}")
    click.echo(f"games: {', '.join(paytable.games)}")
    if not paytable.linkable:
        click.echo("may not be linked: one table")
    if paytable.wager_minor is not None:
        click.echo(f"printed for a wager of ${_dollars(Amount(fixed_minor=paytable.wager_minor))}")
    click.echo("levels:")
    for level, printed in paytable.levels.items():
        seed = _dollars(printed.seed) if printed.seed else "open"
        reseed = "" if printed.reseed is None else f", reseed {_dollars(printed.reseed)}"
        rate = "open" if printed.increment_ppm is None else format_rate(printed.increment_ppm)
        reserve = f", reserve {format_rate(printed.reserve_ppm)}" if printed.reserve_ppm else ""
        click.echo(f"  {level}: seed {seed}{reseed}, increment {rate}{reserve}")
    _show_hands(paytable)


def _show_hands(paytable: Paytable) -> None:
    click.echo("pays:")
    for hand, line in paytable.pays.items():
        envy = paytable.envy.get(hand)
        click.echo(f"  {hand}: {_words(line)}" + (f"; Envy {_dollars(envy)}" if envy else ""))
    if paytable.open_pays:
        click.echo(f"  open, for the property's terms: {paytable.open_pays}")
    click.echo(f"hand pay: {paytable.hand_pay.value}")
    if paytable.validate:
        click.echo(f"validate: {', '.join(paytable.validate)}")
    if paytable.note:
        click.echo(f"note: {paytable.note}")


@click.group()
def key() -> None:
    """The keys of tables, floor, accounting and administrators."""


@key.command()
@_CONFIG
@click.argument("name")
@click.option("--role", required=True, type=click.Choice(ROLES))
@click.option("--tables", default="", help="For a table's key: the tables, with commas.")
def add(config_file: Path, name: str, role: str, tables: str) -> None:
    """Make a key for NAME and print it, once. A running daemon takes it at once."""
    loaded = config.load(config_file)
    named = tuple(each.strip() for each in tables.split(",") if each.strip())
    principals = Principals.load(loaded.principals, loaded.tables, missing_ok=True)
    click.echo(principals.add(name, role=role, tables=named))


@click.command()
@_CONFIG
@click.argument("copy", metavar="FILE", type=click.Path(path_type=Path))
def backup(config_file: Path, copy: Path) -> None:
    """Write a consistent copy of the record to FILE, while tables play."""
    loaded = config.load(config_file)
    record = SqliteRecord(
        loaded.store,
        property_name=loaded.property,
        currency=loaded.currency.code,
        read_only=True,
    )
    try:
        record.backup(copy)
        last = record.last_number()
    finally:
        record.close()
    click.echo(f"{copy}: {loaded.property} to row {last}")


def _dollars(amount: Amount) -> str:
    return amount.text(CURRENCIES["USD"])


def _words(line: PrintedLine) -> str:
    return line.text(CURRENCIES["USD"])


__all__ = ["LineKind", "add", "backup", "check", "init", "key", "paytables", "show"]
