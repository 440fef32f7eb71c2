"""The property of one seed: its tables, its progressives, and who has a key."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from random import Random

from jackpotd import config
from jackpotd.config import Config, Table
from jackpotd.principals import Principal, Principals, Role
from meters.terms import Terms
from signage.board import Sign
from tests.chance import PROGRESSIVES, a_progressive
from tests.plain_facts import PlainTerms
from tests.sim.journal import CURRENCY, PROPERTY

TABLES = tuple(f"T{number}" for number in range(1, 7))
NOT_OPENED = "T9"
"""A table that the pits speak for, but that does not stand on the floor."""

PITS = ("pit-a", "pit-b")
FLOOR = ("floor-1", "floor-2")
BOOKS = "books"

_ANY = f"""\
property: {PROPERTY}
currency: {CURRENCY}
timezone: America/New_York
tables:
  T1: {{game: caribbean-stud, seats: 6}}
progressives:
  red:
    wager: $1
    tables: [T1]
    paytable:
      title: Any
      levels: {{meter: {{seed: $10, increment: 10%}}}}
      pays: {{flush: 100% of meter}}
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """A property: as configured, and as the plain model has it."""

    config: Config
    seats: Mapping[str, int]
    plain: Mapping[str, PlainTerms]

    @property
    def terms(self) -> Mapping[str, Terms]:
        """The terms of each progressive."""
        return {name: each.terms for name, each in self.config.progressives.items()}

    def at(self, table: str) -> list[str]:
        """The progressives of a table."""
        return [name for name, terms in self.plain.items() if table in terms.tables]


def a_house(chance: Random) -> House:
    """Draw a property: one to six tables, one to three progressives, several at some tables."""
    seats = {table: chance.randint(2, 6) for table in TABLES[: chance.randint(1, len(TABLES))]}
    names = PROGRESSIVES[: chance.randint(1, len(PROGRESSIVES))]
    drawn = {name: a_progressive(chance, name) for name in names}
    tables = {name: chance.sample(list(seats), chance.randint(1, len(seats))) for name in names}
    for table in seats:
        if all(table not in there for there in tables.values()):
            tables[chance.choice(names)].append(table)
    base = _base()
    (any_progressive,) = base.progressives.values()
    for name, each in drawn.items():
        each.plain.tables = tables[name]
    return House(
        config=replace(
            base,
            tables={name: Table(name=name, game="g", seats=most) for name, most in seats.items()},
            progressives={
                name: replace(
                    any_progressive, terms=replace(each.terms, tables=tuple(tables[name]))
                )
                for name, each in drawn.items()
            },
            signs={name: Sign(title=name, progressives=(name,)) for name in names},
        ),
        seats=seats,
        plain={name: each.plain for name, each in drawn.items()},
    )


@cache
def _base() -> Config:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "any.yaml")
        path.write_text(_ANY, "utf-8")
        return config.load(path)


def key(name: str) -> str:
    """Return the key of a principal."""
    return f"the key of {name}"


class Keys(Principals):
    """The principals without their file: two pits, a controller for each table, floor, books."""

    def __init__(self) -> None:
        super().__init__(Path("keys.yaml"), ())
        tables = (*TABLES, NOT_OPENED)
        rights: dict[str, tuple[Role, tuple[str, ...]]] = {
            **dict.fromkeys(PITS, (Role.TABLE, tables)),
            **{own(table): (Role.TABLE, (table,)) for table in TABLES},
            **dict.fromkeys(FLOOR, (Role.FLOOR, ())),
            BOOKS: (Role.ACCOUNTING, ()),
        }
        self._by_key = {
            key(name): Principal(name=name, role=role, tables=tables, key_sha256=name)
            for name, (role, tables) in rights.items()
        }

    def by_key(self, key: str) -> Principal | None:
        """Return whom a key belongs to."""
        return self._by_key.get(key)

    def by_name(self, name: str) -> Principal | None:
        """Return nobody: no client shows a certificate here."""
        return None


def own(table: str) -> str:
    """Return the name of the principal that speaks for one table alone."""
    return f"own-{table}"
