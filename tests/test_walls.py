"""The walls of the house: who may import whom, and where money may be divided.

Each wall is a function that finds faults in one module. It is tried on the whole source, and on
rows of source that must and must not be a fault, so that no wall is blind.
"""

from __future__ import annotations

import ast
import configparser
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("configs", "jackpotd", "meters", "signage")
LONGEST_MODULE_LINES = 400

SIGNAGE_MAY_IMPORT = (
    *("signage", "meters.money", "msgspec", "twisted", "zope.interface"),
    *sys.stdlib_module_names,
)
SQL = ("sqlite3", "sqlite_utils", "psycopg", "psycopg2", "asyncpg", "twisted.enterprise")
OUTSIDE_WORLD = (
    *("asyncio", "concurrent", "http", "io", "logging", "multiprocessing", "os", "pathlib"),
    *("random", "secrets", "select", "shutil", "signal", "socket", "sqlite3", "ssl"),
    *("subprocess", "tempfile", "threading", "time", "urllib", "uuid"),
)
GLOBAL_REACTOR = (
    "prometheus_client.twisted",
    "twisted.internet.reactor",
    "twisted.internet.task.react",
    "twisted.internet.threads.deferToThread",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Module:
    """A module of the source: its dotted `name`, its `path` from the root, and what is in it."""

    name: str
    path: str
    source: str
    tree: ast.Module

    @classmethod
    def parse(cls, path: str, source: str) -> Module:
        """Build a module from its path ("meters/money.py") and its text."""
        name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return cls(name=name, path=path, source=source, tree=ast.parse(source, filename=path))

    @property
    def package(self) -> str:
        """The dotted name that relative imports start from."""
        return self.name if self.path.endswith("__init__.py") else self.name.rpartition(".")[0]


Fault = tuple[int, str]
Wall = Callable[[Module], Iterator[Fault]]


def source_modules() -> list[Module]:
    """Read every module of the source."""
    paths = [path for package in PACKAGES for path in sorted((ROOT / package).rglob("*.py"))]
    return [
        Module.parse(path.relative_to(ROOT).as_posix(), path.read_text("utf-8")) for path in paths
    ]


def imported(module: Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the dotted name of every import, at any depth of the module.

    `from a import b` gives `a.b`, as b may be a module.
    """
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            start = node.module or ""
            if node.level:
                parts = module.package.split(".")
                above = ".".join(parts[: len(parts) - node.level + 1])
                start = f"{above}.{start}".rstrip(".")
            for alias in node.names:
                yield node.lineno, f"{start}.{alias.name}"


def within(name: str, *places: str) -> bool:
    """Tell whether a dotted name is one of the places or lies in one."""
    return any(name == place or name.startswith(place + ".") for place in places)


def meters_stands_alone(module: Module) -> Iterator[Fault]:
    if within(module.name, "meters"):
        for line, name in imported(module):
            if not within(name, "meters", *sys.stdlib_module_names):
                yield line, f"meters imports {name}: only the standard library and its own"


def meters_is_pure(module: Module) -> Iterator[Fault]:
    if within(module.name, "meters"):
        for line, name in imported(module):
            if within(name, *OUTSIDE_WORLD):
                yield line, f"meters imports {name}: no clock, file, socket, chance or log"
        for node in ast.walk(module.tree):
            if isinstance(node, ast.Name) and node.id in {"open", "print", "input"}:
                yield node.lineno, f"meters calls {node.id}"


def signage_knows_only_amounts(module: Module) -> Iterator[Fault]:
    if within(module.name, "signage"):
        for line, name in imported(module):
            if not within(name, *SIGNAGE_MAY_IMPORT):
                yield line, f"signage imports {name}: of ours only meters.money and its own"


def catalogue_is_data(module: Module) -> Iterator[Fault]:
    if within(module.name, "configs"):
        for line, name in imported(module):
            yield line, f"configs imports {name}: it is data"


def sql_stays_in_the_record(module: Module) -> Iterator[Fault]:
    if not within(module.name, "jackpotd.record", "jackpotd.accounts"):
        for line, name in imported(module):
            if within(name, *SQL):
                yield line, f"imports {name}: SQL only in jackpotd/record and jackpotd/accounts"


def one_place_takes_the_reactor(module: Module) -> Iterator[Fault]:
    if module.name == "jackpotd.cli":
        return
    why = "the reactor is taken in jackpotd/cli.py and passed in elsewhere"
    for line, name in imported(module):
        if within(name, *GLOBAL_REACTOR):
            yield line, f"imports {name}: {why}"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute):
            words = ast.unparse(node)
            if words.endswith(("internet.reactor", "threads.deferToThread", "task.react")):
                yield node.lineno, f"uses {words}: {why}"


def no_float_in_meters(module: Module) -> Iterator[Fault]:
    if not within(module.name, "meters"):
        return
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, float | complex):
            yield node.lineno, f"a float: {node.value}"
        elif isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Div):
            yield node.lineno, "a true division"
        elif isinstance(node, ast.Name) and node.id in {"float", "complex"}:
            yield node.lineno, f"the name {node.id}"


def divisions(tree: ast.AST) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """Yield every division and remainder, with its operands; the % of text is none."""
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(left=ast.Constant(value=str() | bytes()) | ast.JoinedStr()):
                continue
            case ast.BinOp(left=left, op=ast.Div() | ast.FloorDiv() | ast.Mod(), right=right):
                yield node, [left, right]
            case ast.AugAssign(target=left, op=ast.Div() | ast.FloorDiv() | ast.Mod(), value=right):
                yield left, [left, right]
            case ast.Call(func=ast.Name(id="divmod"), args=operands):
                yield node, operands


def is_money(operand: ast.expr) -> bool:
    """Tell whether a name in the operand ends with a unit of money: _minor, _units, _ppm."""
    names = [
        node.id if isinstance(node, ast.Name) else node.attr
        for node in ast.walk(operand)
        if isinstance(node, ast.Name | ast.Attribute)
    ]
    units = {"minor", "units", "ppm"}
    return any(units & set(name.lower().split("_")) for name in names)


def the_one_division(module: Module) -> list[ast.expr]:
    """Return the division of meters.money.minor_from_units, alone; [] in any other module."""
    if module.name != "meters.money":
        return []
    found = [
        division
        for node in module.tree.body
        if isinstance(node, ast.FunctionDef) and node.name == "minor_from_units"
        for division, _ in divisions(node)
    ]
    return found[:1]


def money_is_divided_once(module: Module) -> Iterator[Fault]:
    in_meters = within(module.name, "meters")
    allowed = the_one_division(module)
    for division, operands in divisions(module.tree):
        if division not in allowed and (in_meters or any(map(is_money, operands))):
            yield division.lineno, "money is divided in meters.money.minor_from_units, and once"
    if module.name == "meters.money" and not allowed:
        yield 1, "minor_from_units, the one division, is not here"


def module_is_short(module: Module) -> Iterator[Fault]:
    lines = len(module.source.splitlines())
    if lines > LONGEST_MODULE_LINES:
        yield lines, f"{lines} lines; a module has at most {LONGEST_MODULE_LINES}"


WALLS: tuple[Wall, ...] = (
    meters_stands_alone,
    meters_is_pure,
    signage_knows_only_amounts,
    catalogue_is_data,
    sql_stays_in_the_record,
    one_place_takes_the_reactor,
    no_float_in_meters,
    money_is_divided_once,
    module_is_short,
)


def in_short(value: Wall | str) -> str:
    """Name a wall or a text in the test's id."""
    return value.partition("\n")[0] if isinstance(value, str) else value.__name__


def test_the_walls_are_held_over_every_package() -> None:
    assert {module.name for module in source_modules()} > set(PACKAGES)


@pytest.mark.parametrize("wall", WALLS, ids=in_short)
def test_the_source_keeps_to_every_wall(wall: Wall) -> None:
    faults = [f"{at.path}:{line}: {what}" for at in source_modules() for line, what in wall(at)]
    assert not faults, "\n".join(faults)


ONE_DIVISION = "def minor_from_units(amount_units, share_ppm):\n    return amount_units // UNITS\n"


@pytest.mark.parametrize(
    ("wall", "path", "source"),
    [
        (meters_stands_alone, "meters/level.py", "import msgspec"),
        (meters_stands_alone, "meters/level.py", "from jackpotd import wire"),
        (meters_stands_alone, "meters/level.py", "def f():\n    from signage.board import Board"),
        (meters_is_pure, "meters/floor.py", "import time"),
        (meters_is_pure, "meters/floor.py", "from random import choice"),
        (meters_is_pure, "meters/floor.py", "print('paid')"),
        (signage_knows_only_amounts, "signage/board.py", "from meters import floor"),
        (signage_knows_only_amounts, "signage/board.py", "import meters"),
        (signage_knows_only_amounts, "signage/board.py", "import jackpotd.commit"),
        (signage_knows_only_amounts, "signage/feed.py", "import prometheus_client"),
        (catalogue_is_data, "configs/__init__.py", "import yaml"),
        (sql_stays_in_the_record, "jackpotd/commit.py", "import sqlite3"),
        (sql_stays_in_the_record, "jackpotd/cli.py", "from sqlite_utils import Database"),
        (sql_stays_in_the_record, "jackpotd/recorder.py", "import psycopg.rows"),
        (one_place_takes_the_reactor, "jackpotd/wire.py", "from twisted.internet import reactor"),
        (one_place_takes_the_reactor, "jackpotd/service.py", "import twisted.internet.reactor"),
        (one_place_takes_the_reactor, "signage/feed.py", "internet.reactor.callLater(1, f)"),
        (one_place_takes_the_reactor, "jackpotd/commit.py", "threads.deferToThread(write)"),
        (no_float_in_meters, "meters/theory.py", "share = 0.5"),
        (no_float_in_meters, "meters/theory.py", "share = won / wagered"),
        (no_float_in_meters, "meters/theory.py", "share /= 2"),
        (no_float_in_meters, "meters/theory.py", "def share() -> float: ..."),
        (money_is_divided_once, "meters/level.py", "half = balance // 2"),
        (money_is_divided_once, "meters/level.py", "whole, fraction = divmod(balance, 1_000_000)"),
        (money_is_divided_once, "meters/money.py", ONE_DIVISION + "cents = total_minor % 100"),
        (money_is_divided_once, "meters/money.py", ONE_DIVISION + "    return a // b"),
        (money_is_divided_once, "meters/money.py", "def minor_from_units(amount_units): ..."),
        (money_is_divided_once, "jackpotd/metrics.py", "dollars = level.amount_minor / 100"),
        (money_is_divided_once, "signage/board.py", "shown = primary // money.UNITS_PER_MINOR"),
        (module_is_short, "jackpotd/cli.py", "pass\n" * (LONGEST_MODULE_LINES + 1)),
    ],
    ids=in_short,
)
def test_no_wall_is_blind(wall: Wall, path: str, source: str) -> None:
    assert list(wall(Module.parse(path, source))) != []


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("meters/level.py", "import re\nfrom meters.money import PPM\nfrom . import money"),
        ("meters/money.py", ONE_DIVISION),
        ("meters/paytable.py", "text = f'{line}' % amount_minor"),
        ("signage/feed.py", "import msgspec\nfrom meters import money\nfrom .board import Board"),
        ("jackpotd/cli.py", "from twisted.internet import reactor"),
        ("jackpotd/service.py", "from meters.floor import Floor\nself.reactor.callLater(1, f)"),
        ("jackpotd/record/sqlite.py", "import sqlite3"),
        ("jackpotd/web/site.py", "at_ms = at_ns // 1_000_000\nfolder = root / 'assets'"),
        ("jackpotd/wire.py", "pass\n" * LONGEST_MODULE_LINES),
    ],
    ids=in_short,
)
def test_no_wall_stops_what_is_allowed(path: str, source: str) -> None:
    module = Module.parse(path, source)
    assert [fault for wall in WALLS for fault in wall(module)] == []


def unreached(modules: list[Module], starts: set[str]) -> list[str]:
    """Return the modules that hold code and that no import leads to from the starting ones."""
    by_name = {module.name: module for module in modules}
    waiting, seen = sorted(starts & set(by_name)), set()
    while waiting:
        module = by_name[waiting.pop()]
        seen.add(module.name)
        for name in (module.name, *(name for _, name in imported(module))):
            parts = name.split(".")
            chain = {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
            waiting += sorted((chain & set(by_name)) - seen)
    holds_code = {module.name for module in modules if len(module.tree.body) > 1}
    return sorted(holds_code - seen)


def commands() -> set[str]:
    """Return the modules that the installed commands start in."""
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", "utf-8")
    lines = config["options.entry_points"]["console_scripts"].split("\n")
    return {line.partition("=")[2].partition(":")[0].strip() for line in lines if line}


def test_every_module_is_reached_from_a_command() -> None:
    modules = source_modules()
    starts = commands() | {at.name for at in modules if at.name.endswith("__main__")}
    assert starts <= {module.name for module in modules}
    assert unreached(modules, starts) == []


def test_a_module_nobody_imports_is_found() -> None:
    code = '"""What it is."""\nX = 1\n'
    modules = [
        Module.parse("jackpotd/__init__.py", '"""What it is."""'),
        Module.parse("jackpotd/cli.py", "def run():\n    from .web import site\n"),
        Module.parse("jackpotd/web/__init__.py", code),
        Module.parse("jackpotd/web/site.py", code + "import meters.money"),
        Module.parse("jackpotd/web/old.py", code + "from jackpotd.web import older"),
        Module.parse("jackpotd/web/older.py", code + "from jackpotd.web import old"),
        Module.parse("meters/money.py", code),
        Module.parse("signage/page/__init__.py", '"""Only data beside it."""'),
    ]
    assert unreached(modules, {"jackpotd.cli"}) == ["jackpotd.web.old", "jackpotd.web.older"]
