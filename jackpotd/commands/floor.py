"""The floor's commands: what stands now, confirm and deny."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from msgspec import json

from jackpotd import config
from jackpotd.awards import described
from jackpotd.client import connect
from jackpotd.commands.keys import Identity, identity_options
from jackpotd.config import Config
from jackpotd.errors import JackpotdError
from jackpotd.record.sqlite import SqliteRecord
from meters.money import format_minor

_CONFIG = click.argument("config_file", metavar="CONFIG", type=click.Path(path_type=Path))


class RefusedByDaemon(JackpotdError):
    """The daemon refused; its message says what would be right."""


def _record(loaded: Config) -> SqliteRecord:
    return SqliteRecord(
        loaded.store,
        property_name=loaded.property,
        currency=loaded.currency.code,
        read_only=True,
    )


@click.command()
@_CONFIG
def meters(config_file: Path) -> None:
    """Show what every meter reads, as the record has it."""
    loaded = config.load(config_file)
    record = _record(loaded)
    floor = record.load().floor
    record.close()
    rows: list[tuple[str, ...]] = [("PROGRESSIVE", "LEVEL", "AMOUNT", "GENERATION")]
    for name, progressive in floor.progressives.items():
        for level in progressive.levels:
            text = format_minor(level.shown_minor, loaded.currency)
            rows.append((name, level.terms.name, text, str(level.generation)))
    _table(rows, right={2, 3})


@click.command()
@_CONFIG
@click.option("--pending", is_flag=True, help="Only the awards that wait for the floor.")
@click.option("--newest", default=50, show_default=True, help="How many of the newest hits.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def hits(config_file: Path, pending: bool, newest: int, as_json: bool) -> None:
    """Show hits, the newest first; with --pending those that wait."""
    loaded = config.load(config_file)
    record = _record(loaded)
    if pending:
        found = [record.hit(hit) for hit in record.load().floor.pending]
    else:
        found = [*record.hits(newest=newest)]
    told = [described(each) for each in found if each is not None]
    record.close()
    if as_json:
        for each in told:
            click.echo(json.encode(each).decode())
        return
    rows: list[tuple[str, ...]] = [
        ("HIT", "AT", "TABLE", "SEAT", "HAND", "AMOUNT", "FROM", "ENVY", "STATUS", "BY")
    ]
    for each in told:
        envy_minor = sum(envy["amount"] for envy in each["envy"])
        rows.append(
            (
                str(each["hit"]),
                each["at"],
                each["table"],
                str(each["seat"]),
                each["hand"],
                format_minor(each["amount"], loaded.currency),
                each["from"],
                format_minor(envy_minor, loaded.currency) if envy_minor else "",
                each["status"],
                each.get("by", ""),
            )
        )
    _table(rows, right={0, 3, 5, 7})


@click.command()
@_CONFIG
@click.argument("hit", type=click.IntRange(min=1))
@identity_options
def confirm(config_file: Path, hit: int, who: Identity) -> None:
    """Confirm a pending award: the floor saw the hand, and it is paid."""
    loaded = config.load(config_file)
    reply = _ask(loaded, who, {"type": "confirm", "hit": hit})
    amount = format_minor(reply["amount"], loaded.currency)
    click.echo(f"hit {hit} is confirmed by {reply['by']}: pay {amount}")
    for envy in reply["envy"]:
        amount = format_minor(envy["amount"], loaded.currency)
        click.echo(f"  Envy, seat {envy['seat']}: pay {amount}")


@click.command()
@_CONFIG
@click.argument("hit", type=click.IntRange(min=1))
@click.option("--reason", required=True, help="Why, in words; it stays in the record.")
@identity_options
def deny(config_file: Path, hit: int, reason: str, who: Identity) -> None:
    """Deny a pending award: the hand was misread, and the hit is undone."""
    loaded = config.load(config_file)
    reply = _ask(loaded, who, {"type": "deny", "hit": hit, "reason": reason})
    click.echo(f"hit {hit} is denied by {reply['by']}")
    if reply["later_hits"]:
        later = ", ".join(str(each) for each in reply["later_hits"])
        click.echo(f"  paid since from that level, with the wrong meter: hit {later}")


def _ask(loaded: Config, who: Identity, request: dict[str, Any]) -> dict[str, Any]:
    client = connect(loaded, who.key, tables=[], certificate=who.certificate)
    try:
        reply = client.ask(request)
    finally:
        client.close()
    if reply["type"] == "error":
        raise RefusedByDaemon(f"{reply['code']}: {reply['message']}")
    return reply


def _table(rows: Sequence[tuple[str, ...]], *, right: set[int]) -> None:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    for row in rows:
        cells = (
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        click.echo("  ".join(cells).rstrip())
