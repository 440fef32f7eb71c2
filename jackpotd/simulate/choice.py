"""Which tables of a property a simulation plays, and which jackpots it shows."""

from __future__ import annotations

from collections.abc import Sequence

from jackpotd.config import Config
from jackpotd.simulate.stacked import PlayError, StackedHand
from meters.terms import Terms

SHOW_SECONDS = (20, 60, 100)
"""When the showpieces come, at a table that plays without waiting."""

SHOW_SEAT = 2


def tables_of(config: Config, text: str | None) -> tuple[str, ...]:
    """Read which tables are meant: names with commas, how many, or None for all that count.

    Only tables with a progressive count. Raises PlayError.
    """
    carrying = [name for name in config.tables if terms_at(config, name)]
    if text is None:
        return tuple(carrying)
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    if len(names) == 1 and names[0] not in config.tables and names[0].isdecimal():
        return _spread(config, carrying, int(names[0]))
    for name in names:
        if name not in carrying:
            raise PlayError(
                f"{name!r} is no table with a progressive; there are: {', '.join(carrying)}"
            )
    if not names:
        raise PlayError("no tables: name them, or say how many")
    return names


def terms_at(config: Config, table: str) -> tuple[Terms, ...]:
    """Return the terms of the progressives that a table carries, as the configuration has them."""
    live = (each.terms for each in config.progressives.values())
    return tuple(terms for terms in live if table in terms.tables)


def _spread(config: Config, carrying: Sequence[str], count: int) -> tuple[str, ...]:
    """Choose tables that differ: as many progressives and games as `count` tables can have."""
    if not 1 <= count <= len(carrying):
        raise PlayError(f"{count} tables: the property has {len(carrying)} with a progressive")
    offers = {
        name: {config.tables[name].game, *(terms.name for terms in terms_at(config, name))}
        for name in carrying
    }
    chosen: list[str] = []
    seen: set[str] = set()
    while len(chosen) < count:
        left = [name for name in carrying if name not in chosen]
        best = max(left, key=lambda name: len(offers[name] - seen))
        chosen.append(best)
        seen |= offers[best]
    return tuple(name for name in carrying if name in chosen)


def showpieces(
    config: Config, tables: Sequence[str], *, rounds: int | None, rate: float
) -> tuple[StackedHand, ...]:
    """Return stacked hands that hit the full meters of the most shared progressive, one by one.

    `rate` is in rounds per second. The first is in time for `rounds`; later ones that aren't are
    left out, and so are all where no progressive pays a whole meter.
    """
    live = [each.terms for each in config.progressives.values()]
    shared = max(live, key=lambda terms: len(_played(terms, tables)))
    played = _played(shared, tables)
    full = [hand for hand, line in shared.pays.items() if line.is_full]
    found: list[StackedHand] = []
    for place, (hand, seconds) in enumerate(zip(full, SHOW_SECONDS, strict=False)):
        round_ = max(1, round(seconds * rate))
        if rounds is not None and not found:
            round_ = min(round_, max(1, rounds // 2))
        if rounds is None or round_ <= rounds:
            table = played[place % len(played)]
            seat = min(SHOW_SEAT, config.tables[table].seats)
            found.append(StackedHand(hand=hand, table=table, seat=seat, round=round_))
    return tuple(found)


def _played(terms: Terms, tables: Sequence[str]) -> list[str]:
    return [table for table in tables if table in terms.tables]
