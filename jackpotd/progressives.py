"""The progressives of a configuration: each one's paytable, its tables, and the terms they make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from jackpotd import catalogue
from jackpotd.errors import ConfigError
from jackpotd.fields import Fields, close_to
from jackpotd.paytables import Entry, read_paytable
from jackpotd.strict_yaml import Broken, Item, read
from jackpotd.submission import completed
from meters.money import Currency, parse_money
from meters.paytable import EVERY_HAND, Paytable, PrintedLevel
from meters.terms import Problems, Terms, terms_of

KEYS = (
    *("title", "paytable", "wager", "tables"),
    *("hold_table", "folded_hands_qualify", "terms"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progressive:
    """A progressive as configured: its terms, and the paytable that they complete.

    `paytable_name` is a name of the catalogue, a file, or the progressive's own name where the
    paytable is written out in the configuration.
    """

    terms: Terms
    paytable_name: str
    paytable: Paytable


@dataclass(frozen=True, slots=True, kw_only=True)
class Property:
    """What all progressives of a property share: table -> game ("" where that is unreadable)."""

    games: Mapping[str, str]
    currency: Currency
    validate: tuple[str, ...]
    folder: Path


def read_progressives(
    fields: Fields, item: Item | None, property_: Property
) -> dict[str, Progressive]:
    """Read every progressive; those with problems are left out."""
    named = fields.named(item, "progressives")
    found: dict[str, Progressive] = {}
    for name, each in named.items():
        before = len(fields.problems)
        progressive = _Reading(fields, name, each, property_).progressive()
        if len(fields.problems) == before:
            found[name] = progressive
    if item is not None and item.value == {}:
        fields.say(item, "a property has at least one progressive")
    return found


class _Reading:
    """Reads one progressive. `_written` is where its paytable is written out, if it is its own."""

    def __init__(self, fields: Fields, name: str, item: Item, property_: Property) -> None:
        self._fields = fields
        self._name = name
        self._item = item
        self._property = property_
        self._keys = fields.keys(item, KEYS, required=("paytable", "tables"))
        self._written: Item | None = None

    def progressive(self) -> Progressive:
        """Return the progressive; it is of no use if there was any problem."""
        fields, keys = self._fields, self._keys
        entry = self._entry(keys.get("paytable"))
        tables = self._tables(entry)
        known = entry or self._stand_in()
        paytable = completed(known, keys.get("terms"), fields, self._property.currency)
        problems = Problems()
        terms = terms_of(
            paytable,
            name=self._name,
            title=fields.text(keys.get("title")) or self._name,
            wager_minor=self._wager_minor(known.paytable, complain=entry is not None),
            tables=tables,
            currency=self._property.currency,
            validate=tuple(
                hand
                for hand in self._property.validate
                if hand in paytable.pays or hand in EVERY_HAND
            ),
            hold_table=fields.flag(keys.get("hold_table"), default=True),
            folded_hands_qualify=fields.flag(keys.get("folded_hands_qualify"), default=False),
            problems=problems,
        )
        if entry is not None:
            self._say_each(problems)
        return Progressive(terms=terms, paytable_name=known.name, paytable=paytable)

    def _entry(self, item: Item | None) -> Entry | None:
        """Return the paytable: of the catalogue, of a file, or written out here."""
        if item is None or item.value is Broken.BROKEN:
            return None
        if isinstance(item.value, dict):
            return self._own(item, self._name)
        name = self._fields.text(item, "pa/641a-five-card-d")
        if name is None:
            return None
        if name.endswith((".yaml", ".yml")):
            path = self._property.folder / name
            return self._own(read(path, self._fields.problems), name)
        return self._printed(item, name)

    def _own(self, item: Item, name: str) -> Entry | None:
        if item.value is Broken.BROKEN:
            return None
        self._written = item
        before = len(self._fields.problems)
        entry = read_paytable(self._fields, item, self._property.currency, name=name)
        return entry if len(self._fields.problems) == before else None

    def _printed(self, item: Item, name: str) -> Entry | None:
        try:
            return catalogue.entry(name, self._property.currency)
        except catalogue.UnknownPaytable as error:
            self._fields.say(
                item,
                f"{error}; jackpotd paytables lists them, and a property's own is a .yaml file "
                "beside this one, or written out here",
            )
        except ConfigError as error:
            code = self._property.currency.code
            self._fields.say(item, f"{name} is not for {code}: {error.problems[0].message}")
        return None

    def _stand_in(self) -> Entry:
        """Return a paytable that has whatever `terms` name, so that their faults are found."""
        terms = self._keys.get("terms")
        levels = terms.value.get("levels") if terms and isinstance(terms.value, dict) else None
        names = levels.value if levels and isinstance(levels.value, dict) else {}
        paytable = Paytable(title=self._name, levels=dict.fromkeys(names, PrintedLevel()))
        return Entry(name=self._name, paytable=paytable)

    def _wager_minor(self, paytable: Paytable, *, complain: bool) -> int:
        """Return the wager; one unit of the currency where it can't be read."""
        currency = self._property.currency
        item = self._keys.get("wager")
        parse = partial(parse_money, currency=currency)
        wager_minor = self._fields.parsed(item, parse, f"{currency.sign}5")
        if item is None and paytable.wager_minor is None and complain:
            message = f"this is missing: write it like {currency.sign}5"
            self._fields.say(self._item, message, "wager")
        if wager_minor is None:
            wager_minor = paytable.wager_minor
        return 10**currency.exponent if wager_minor is None else wager_minor

    def _tables(self, entry: Entry | None) -> tuple[str, ...]:
        item = self._keys.get("tables")
        tables = self._fields.words(item)
        if item is not None and item.value == []:
            self._fields.say(item, "a progressive without tables takes no wagers: name its tables")
        for each in self._fields.listed(item) if tables else []:
            table = each.value
            if not isinstance(table, str) or not self._property.games:
                continue
            if table not in self._property.games:
                hint = close_to(table, self._property.games)
                self._fields.say(each, f"there is no table {table}{hint}")
            elif entry is not None:
                fault = game_fault(entry, table, self._property)
                if fault:
                    self._fields.say(each, fault)
        return tables

    def _say_each(self, problems: Problems) -> None:
        """Note what is wrong with the terms, but for what a fault noted before has led to."""
        noted = [(each.file, each.key) for each in self._fields.problems]
        for key, why in problems.found:
            place, below = self._place(key)
            problem = place.problem(why, *below)
            if not any(
                file == problem.file and f"{known}.".startswith(f"{problem.key}.")
                for file, known in noted
            ):
                self._fields.problems.append(problem)

    def _place(self, key: tuple[str, ...]) -> tuple[Item, tuple[str, ...]]:
        """Return the item nearest to a key of the terms, and what of the key is below it."""
        if key[0] in KEYS:
            return _nearest(self._item, key)
        roots = [(self._item, ("terms", *key))]
        if self._written is not None:
            roots.append((self._written, key))
        return min((_nearest(item, keys) for item, keys in roots), key=lambda each: len(each[1]))


def _nearest(item: Item, keys: tuple[str, ...]) -> tuple[Item, tuple[str, ...]]:
    while keys and isinstance(item.value, dict) and keys[0] in item.value:
        item, keys = item.value[keys[0]], keys[1:]
    return item, keys


def game_fault(entry: Entry, table: str, property_: Property) -> str:
    """Say why a table's game can't be on this paytable; "" if it can.

    A game of the catalogue needs a chapter that prints the same paytable; a property's own
    paytable takes the games that it names, or any.
    """
    game = property_.games[table]
    if not game:
        return ""
    if not entry.regulated:
        games: Mapping[str, str] = dict.fromkeys(entry.paytable.games, "")
        allowed = not games or game in games
        where = f"{entry.name} is for {', '.join(games)}"
    else:
        alike = catalogue.printed_alike(entry.name, property_.currency)
        games = {game: each.paytable.source for each in alike for game in each.paytable.games}
        allowed = game in games
        printed = ", ".join(f"{name} ({source})" for name, source in games.items())
        where = f"{entry.name} is printed for {printed}"
    if allowed:
        return ""
    sources = ", ".join(_sources(game)) or "no chapter of the catalogue"
    return f"{table} plays {game} ({sources}), but {where}"


def _sources(game: str) -> list[str]:
    """Return the sections that print paytables for a game, each once."""
    paytables = [catalogue.get(name) for name in catalogue.names()]
    return list(dict.fromkeys(each.source for each in paytables if game in each.games))
