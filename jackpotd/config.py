"""The configuration of a property: read strictly, with every error at once."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import time
from pathlib import Path
from zoneinfo import ZoneInfo

from jackpotd import listeners
from jackpotd.errors import ConfigError, Problem
from jackpotd.fields import Fields, close_to, is_name
from jackpotd.listen import TlsFiles
from jackpotd.paytables import GAMES, read_validate
from jackpotd.progressives import Progressive, Property, read_progressives
from jackpotd.strict_yaml import Item, read
from meters.money import CURRENCIES, Currency, format_rate
from meters.paytable import EVERY_HAND
from meters.theory import theoretical_return
from signage.board import Sign

MOST_SEATS = 12

REQUIRED = ("property", "currency", "timezone", "tables", "progressives")
KEYS = (
    *REQUIRED,
    *("gaming_day", "store", *listeners.KEYS, "principals", "validate", "signs"),
)
GAMING_DAY = "06:00"
TABLES_LISTEN = listeners.TABLES_LISTEN
HTTP_LISTEN = listeners.HTTP_LISTEN
PRINCIPALS = "keys.yaml"
"""What holds where the configuration doesn't say."""

_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of the floor: its game and how many seats it has, numbered from 1."""

    name: str
    game: str
    seats: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """A property as configured.

    `gaming_day` is when a gaming day starts, in local time of `timezone`; `store` and
    `principals` are whole paths; where it listens is as in `listeners.Listeners`; `validate` has
    the property's own wish (rules 4.5), () for none. `warnings` are no errors, but are to be read.
    """

    path: Path
    property: str
    currency: Currency
    timezone: ZoneInfo
    gaming_day: time
    store: Path
    tables_listen: str
    http_listen: str
    tables_tls: TlsFiles | None
    http_tls: TlsFiles | None
    without_tls: str
    principals: Path
    validate: tuple[str, ...]
    tables: Mapping[str, Table]
    progressives: Mapping[str, Progressive]
    signs: Mapping[str, Sign]
    warnings: tuple[Problem, ...]


def load(path: Path) -> Config:
    """Read a configuration. Raises ConfigError with every problem in it and in its paytables."""
    problems: list[Problem] = []
    root = read(path, problems)
    config = _Loader(path, Fields(problems), root).config()
    if problems:
        raise ConfigError(problems)
    return config


class _Loader:
    """Reads each part of one file; every part is read, whatever is wrong with the others."""

    def __init__(self, path: Path, fields: Fields, root: Item) -> None:
        self._path = path
        self._fields = fields
        self._keys = fields.keys(root, KEYS, required=REQUIRED)
        self._warnings: list[Problem] = []

    def config(self) -> Config:
        """Return the configuration; it is of no use if there was any problem."""
        fields, keys = self._fields, self._keys
        title = fields.text(keys.get("property"), "Riverside") or ""
        # Amounts are read in any case: a wrong currency hides no other error.
        currency = CURRENCIES[fields.choice(keys.get("currency"), CURRENCIES) or "USD"]
        validate = read_validate(fields, keys.get("validate"))
        games, tables = self._tables()
        folder = self._path.absolute().parent
        progressives = read_progressives(
            fields,
            keys.get("progressives"),
            Property(games=games, currency=currency, validate=validate, folder=folder),
        )
        self._check_validate(validate, progressives)
        self._check_returns(progressives)
        where = listeners.read_listeners(fields, keys, folder, self._warnings)
        return Config(
            path=self._path.absolute(),
            property=title,
            currency=currency,
            timezone=self._timezone(),
            gaming_day=self._gaming_day(),
            store=self._store(title),
            tables_listen=where.tables_listen,
            http_listen=where.http_listen,
            tables_tls=where.tables_tls,
            http_tls=where.http_tls,
            without_tls=where.without_tls,
            principals=folder / (fields.file(keys.get("principals")) or PRINCIPALS),
            validate=validate,
            tables=tables,
            progressives=progressives,
            signs=self._signs(title, progressives),
            warnings=tuple(self._warnings),
        )

    def _timezone(self) -> ZoneInfo:
        item = self._keys.get("timezone")
        name = self._fields.text(item, "America/New_York")
        if item is None or name is None:
            return ZoneInfo("UTC")
        try:
            return ZoneInfo(name)
        except (KeyError, ValueError, OSError):
            self._fields.say(item, f"{name} is no time zone; write it like America/New_York")
            return ZoneInfo("UTC")

    def _gaming_day(self) -> time:
        item = self._keys.get("gaming_day")
        text = self._fields.text(item, '"06:00"') if item is not None else GAMING_DAY
        match = _TIME.fullmatch(text) if text is not None else None
        if match is not None:
            return time(hour=int(match[1]), minute=int(match[2]))
        if item is not None and text is not None:
            self._fields.say(item, f'{text} is no time of day; write it like "{GAMING_DAY}"')
        return time()

    def _store(self, title: str) -> Path:
        item = self._keys.get("store")
        folder = self._path.absolute().parent
        text = self._fields.file(item) if item is not None else f"{_slug(title)}.db"
        if item is not None and text is not None:
            if text.startswith(("postgresql://", "postgres://")):
                message = "this version keeps its record in SQLite: name a file, like riverside.db"
                self._fields.say(item, message)
            elif "://" in text or text.endswith("/"):
                self._fields.say(item, f"{text} is no file; write it like riverside.db")
            elif not (folder / text).parent.is_dir():
                self._fields.say(item, f"the folder {(folder / text).parent} is not there: make it")
        return folder / (text or "")

    def _tables(self) -> tuple[dict[str, str], dict[str, Table]]:
        """Return every table's game, "" where it has none, and the tables without faults."""
        fields, every = self._fields, self._keys.get("tables")
        if every is not None and every.value == {}:
            fields.say(every, "a property has at least one table")
        games: dict[str, str] = {}
        tables: dict[str, Table] = {}
        for name, item in fields.named(every, "tables").items():
            keys = fields.keys(item, ("game", "seats"), required=("game", "seats"))
            game = fields.text(keys.get("game"), GAMES[0])
            seats = fields.integer(keys.get("seats"), 1, MOST_SEATS)
            if game is not None and not is_name(game):
                fields.say(keys["game"], f"{game} is no game; write it like {GAMES[0]}")
                game = None
            games[name] = game or ""
            if game is not None and seats is not None:
                tables[name] = Table(name=name, game=game, seats=seats)
            if game is not None and game not in GAMES:
                message = f"no chapter of the catalogue is about {game}{close_to(game, GAMES)}"
                self._warnings.append(keys["game"].problem(message))
        return games, tables

    def _signs(self, title: str, progressives: Mapping[str, Progressive]) -> dict[str, Sign]:
        """Return the signs; where none is configured, each progressive has one of its name."""
        fields, item = self._fields, self._keys.get("signs")
        if item is None:
            return {
                name: Sign(title=each.terms.title, progressives=(name,))
                for name, each in progressives.items()
            }
        known = fields.keys_of(self._keys.get("progressives"))
        signs: dict[str, Sign] = {}
        for name, each in fields.named(item, "signs").items():
            keys = fields.keys(each, ("title", "progressives"), required=("progressives",))
            shown = keys.get("progressives")
            names = fields.words(shown)
            if shown is not None and shown.value == []:
                fields.say(shown, "a sign shows at least one progressive")
            for progressive in names:
                if progressive not in known:
                    hint = close_to(progressive, known)
                    fields.say(keys["progressives"], f"there is no progressive {progressive}{hint}")
            sign_title = fields.text(keys.get("title")) or title
            signs[name] = Sign(title=sign_title, progressives=names)
        return signs

    def _check_validate(
        self, validate: tuple[str, ...], progressives: Mapping[str, Progressive]
    ) -> None:
        """Note hands to validate that no progressive pays; not while one of them is unreadable."""
        item = self._keys.get("validate")
        if item is None or len(progressives) < len(
            self._fields.keys_of(self._keys.get("progressives"))
        ):
            return
        paid = {hand for each in progressives.values() for hand in each.terms.pays}
        for hand in validate:
            if hand not in paid and hand not in EVERY_HAND:
                self._fields.say(item, f"no progressive pays {hand}{close_to(hand, paid)}")

    def _check_returns(self, progressives: Mapping[str, Progressive]) -> None:
        """Warn of progressives that give back more than they take (rules 4.4)."""
        for name, progressive in progressives.items():
            back = theoretical_return(progressive.terms)
            if back is not None and back > 1:
                percent = format_rate(round(back * 10_000) * 100)
                message = (
                    f"the theoretical return is {percent} of the wagers: lines that a level pays "
                    'first ("500 for 1 from meter", under terms) would lower it'
                )
                items = self._fields.entries(self._keys.get("progressives"))
                self._warnings.append(items[name].problem(message))


def _slug(title: str) -> str:
    words = re.findall(r"[a-z0-9]+", title.lower())
    return "-".join(words) or "jackpotd"
