"""Start-up against the record: what is new is opened, what differs is refused (rules 10)."""

from __future__ import annotations

from collections.abc import Iterator

from jackpotd.config import Config
from jackpotd.errors import JackpotdError
from meters.events import Event, Opened, TableSet
from meters.floor import Floor
from meters.money import format_units


class StartRefused(JackpotdError):
    """The configuration and the record disagree; the message names each difference."""


def check_against(config: Config, floor: Floor) -> None:
    """Raise StartRefused if a live progressive's parameters differ, or one vanished with money."""
    found = list(_differences(config, floor))
    if found:
        raise StartRefused(
            "the configuration differs from the record:\n"
            + "\n".join(f"  {each}" for each in found)
            + "\nThe parameters of a live progressive are part of the record: put them back."
        )


def _differences(config: Config, floor: Floor) -> Iterator[str]:
    for name, live in floor.progressives.items():
        if name in config.progressives:
            configured = config.progressives[name].terms
            for each in live.terms.differences(configured, config.currency):
                yield f"progressives.{name}.{each}"
            continue
        balance_units = sum(level.primary_units + level.reserve_units for level in live.levels)
        pending = [hit for hit, each in floor.pending.items() if each.award.progressive == name]
        if balance_units or pending:
            held = format_units(balance_units, config.currency)
            awards = f" and {len(pending)} pending awards" if pending else ""
            yield f"progressives.{name}: gone, but the record holds {held}{awards} of it"


def opening_events(config: Config, floor: Floor) -> Iterator[Event]:
    """Yield what the configuration adds to the record: tables set, progressives opened."""
    for table in config.tables.values():
        known = floor.tables.get(table.name)
        if known is None or (known.game, known.seats) != (table.game, table.seats):
            yield TableSet(table=table.name, game=table.game, seats=table.seats)
    for name, progressive in config.progressives.items():
        if name not in floor.progressives:
            yield Opened(terms=progressive.terms)
