"""The catalogue: the paytables that the regulations print, by name ("pa/641a-five-card-d")."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from jackpotd.errors import ConfigError, JackpotdError, Problem
from jackpotd.fields import Fields, close_to
from jackpotd.paytables import Entry, read_paytable
from jackpotd.strict_yaml import parse
from meters.money import CURRENCIES, Currency
from meters.paytable import Paytable

PREFIX = "pa/"
"""What the names begin with: Pennsylvania, so far the only jurisdiction."""

_FOLDER = files("configs") / "paytables" / "pa"
_DOLLARS = CURRENCIES["USD"]


class UnknownPaytable(JackpotdError):
    """A name that isn't in the catalogue; the message has the closest one."""


@cache
def names() -> tuple[str, ...]:
    """Return every name of the catalogue, sorted."""
    found = (each.name for each in _FOLDER.iterdir() if each.name.endswith(".yaml"))
    return tuple(sorted(PREFIX + name.removesuffix(".yaml") for name in found))


@cache
def entry(name: str, currency: Currency = _DOLLARS) -> Entry:
    """Return a paytable of the catalogue, its plain amounts read in `currency`.

    Raises UnknownPaytable, or ConfigError where the entry prints plain amounts of another
    currency (§§ 561.13d(g) and 687a.12(c) print dollars).
    """
    if name not in names():
        raise UnknownPaytable(f"{name} is no paytable of the catalogue{close_to(name, names())}")
    problems: list[Problem] = []
    file = name.removeprefix(PREFIX) + ".yaml"
    item = parse((_FOLDER / file).read_bytes(), f"configs/paytables/{PREFIX}{file}", problems)
    found = read_paytable(Fields(problems), item, currency, name=name, regulated=True)
    if problems:
        raise ConfigError(problems)
    return found


def get(name: str, currency: Currency = _DOLLARS) -> Paytable:
    """Return the paytable of an entry; as entry()."""
    return entry(name, currency).paytable


def printed_alike(name: str, currency: Currency = _DOLLARS) -> tuple[Entry, ...]:
    """Return the entries, in any chapter, that print the same paytable as this one."""
    this = entry(name, currency).paytable
    alike: list[Entry] = []
    for other in names():
        try:
            found = entry(other, currency)
        except ConfigError:  # printed in dollars, so not alike in another currency
            continue
        if this.same_game(found.paytable):
            alike.append(found)
    return tuple(alike)
