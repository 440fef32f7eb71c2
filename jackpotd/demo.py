"""The demonstration: a sample property, its daemon, simulated tables, and a jackpot to confirm."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jackpotd import config
from jackpotd.accounts.entries import meters_units, pending_units
from jackpotd.child import DaemonProcess
from jackpotd.client import Unreachable
from jackpotd.config import Config
from jackpotd.errors import JackpotdError
from jackpotd.interrupts import until_interrupted
from jackpotd.principals import Principals, Role
from jackpotd.record.sqlite import SqliteRecord
from jackpotd.simulate.choice import showpieces, tables_of
from jackpotd.simulate.news import Failed, News, Pending, PlaysOn, Settled
from jackpotd.simulate.shift import FloorPlan, Plan, Shift
from jackpotd.simulate.stacked import StackedHand
from jackpotd.simulate.words import award_words, words
from jackpotd.starter import CONCENTRATOR, FLOORPERSON, Started, write_property
from jackpotd.terminal import Terminal
from meters.money import format_units

HTTP_PORT = 8011
TABLES_PORT = 7011
"""The ports that are taken where they are free."""

PATIENCE_SECONDS = 90
"""How long a jackpot waits for whoever watches the demonstration."""

UNATTENDED_SECONDS = 1
SMALL_SECONDS = 3
"""How long an award waits that is no jackpot but has to be confirmed all the same."""

DYING_SECONDS = 2
DEMO_FLOOR = "demo-floor"
_JACKPOTD = (sys.executable, "-m", "jackpotd")


class DemoFailed(JackpotdError):
    """The accounts differ after a demonstration, or can't be read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What is shown. Without `rounds` it goes on until it is interrupted.

    `rate` is in rounds per second at each table; ports of None are chosen; `stacked` hands take
    the place of the usual ones.
    """

    tables: str = "4"
    rounds: int | None = None
    rate: float = 1
    seed: int = 1
    stacked: tuple[StackedHand, ...] = ()
    http_port: int | None = None
    tables_port: int | None = None


class Demo:
    """One demonstration in a folder of its own; `run` shows it from beginning to end."""

    def __init__(self, folder: Path, wishes: Wishes, terminal: Terminal) -> None:
        self._folder = folder
        self._wishes = wishes
        self._terminal = terminal
        self._started = self._write()
        self._config = config.load(self._started.config)
        self._jackpots: set[int] = set()
        self._waiting: set[str] = set()

    def run(self) -> None:
        """Show it. Raises DaemonDied, DemoFailed, or what a table failed with.

        An interrupt ends it in good order; no process is left behind.
        """
        shift = Shift(self._config, self._plan(), tell=self._hear)
        process = DaemonProcess(self._started.config, self._folder / "daemon.log")
        with process as daemon, until_interrupted():
            self._introduce(daemon.ports["http"])
            self._play(shift, daemon)
        self._close(shift)
        if shift.failures:
            raise shift.failures[0]

    def _write(self) -> Started:
        wishes = self._wishes
        tables_port, http_port = _ports(
            (wishes.tables_port, TABLES_PORT), (wishes.http_port, HTTP_PORT)
        )
        started = write_property(
            self._folder,
            tables_listen=f"tcp:{tables_port}:interface=127.0.0.1",
            http_listen=f"tcp:{http_port}:interface=127.0.0.1",
        )
        descriptor = os.open(self._key_file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(started.keys[FLOORPERSON] + "\n")
        return started

    @property
    def _key_file(self) -> Path:
        return self._folder / "floor.key"

    def _plan(self) -> Plan:
        wishes = self._wishes
        tables = tables_of(self._config, wishes.tables)
        principals = Principals.load(self._started.principals, self._config.tables)
        return Plan(
            tables=tables,
            key=self._started.keys[CONCENTRATOR],
            rounds=wishes.rounds,
            rate=wishes.rate,
            seed=wishes.seed,
            stacked=wishes.stacked
            or showpieces(self._config, tables, rounds=wishes.rounds, rate=wishes.rate),
            floor=FloorPlan(
                key=principals.add(DEMO_FLOOR, role=Role.FLOOR),
                after_seconds=self._looks_seconds,
                before_seconds=0,
            ),
        )

    def _looks_seconds(self, award: Mapping[str, Any]) -> int:
        if self._wishes.rounds is not None:
            return UNATTENDED_SECONDS
        return PATIENCE_SECONDS if _is_jackpot(award) else SMALL_SECONDS

    def _introduce(self, http_port: int) -> None:
        loaded, path = self._config, str(self._started.config)
        site = f"http://127.0.0.1:{http_port}"
        say = self._terminal.say
        say(f"{loaded.property}, a sample property in {self._folder}")
        say()
        for name, sign in loaded.signs.items():
            say(f"  sign      {site}/sign/{name}  ({sign.title})")
        say(f"  signs     {site}/")
        say(f"  meters    {_command('meters', path)}")
        say(f"  pending   {_command('hits', path, '--pending')}")
        say(f"  confirm   {self._confirming('HIT')}")
        say(f"  ledger    {_command('ledger', 'export', path, '--format', 'csv')}")
        say()
        if self._wishes.rounds is None:
            say("A jackpot will come in about 20 seconds. Ctrl-C ends the demonstration.")
            say()

    def _confirming(self, hit: str) -> str:
        path = str(self._started.config)
        return _command("confirm", path, hit, "--key-file", str(self._key_file))

    def _play(self, shift: Shift, daemon: DaemonProcess) -> None:
        try:
            with shift, until_interrupted():
                for _ in shift.looks():
                    daemon.check()
                    self._terminal.progress(f"{shift.tally.rounds:,} rounds played")
        except Unreachable:
            # Sockets close a moment before the process is seen to have ended.
            daemon.check(within_seconds=DYING_SECONDS)
            raise
        finally:
            self._terminal.progress("")

    def _hear(self, news: News) -> None:
        """Say what concerns whoever watches; small awards are settled without a word."""
        match news:
            case Pending(award=award):
                if _is_jackpot(award):
                    self._jackpots.add(award["hit"])
                    self._waiting.add(award["table"])
                    self._announce(award)
            case PlaysOn(table=table) if table in self._waiting:
                self._waiting.discard(table)
                self._terminal.say(words(news, self._config.currency))
            case Settled(reply=reply) if reply.get("hit") in self._jackpots:
                if reply["by"] == DEMO_FLOOR:
                    self._terminal.say(words(news, self._config.currency))
            case Failed():
                self._terminal.say(words(news, self._config.currency))

    def _announce(self, award: Mapping[str, Any]) -> None:
        seconds = self._looks_seconds(award)
        self._terminal.say(
            f"JACKPOT PENDING: {award_words(award, self._config.currency)}\n"
            f"  to confirm it: {self._confirming(str(award['hit']))}\n"
            f"  {award['table']} waits for that; after {seconds} s the demo's own floorperson "
            "confirms it"
        )

    def _close(self, shift: Shift) -> None:
        """Show what was played, what is owed, and that the books agree."""
        say = self._terminal.say
        say()
        for line in shift.tally.lines(self._config.currency):
            say(line)
        for line in _liability(self._config):
            say(line)
        say(f"reconcile: {self._proved('ledger', 'reconcile')}")
        say(f"verify: {self._proved('ledger', 'verify')}")

    def _proved(self, *command: str) -> str:
        done = subprocess.run(
            [*_JACKPOTD, *command, str(self._started.config)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise DemoFailed(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
        return done.stdout.strip().splitlines()[-1]


def _is_jackpot(award: Mapping[str, Any]) -> bool:
    return "meter" in award or bool(award["envy"])


def _liability(loaded: Config) -> Iterator[str]:
    record = SqliteRecord(
        loaded.store,
        property_name=loaded.property,
        currency=loaded.currency.code,
        read_only=True,
    )
    floor = record.load().floor
    record.close()
    parts = meters_units(floor), pending_units(floor)
    total, meters, pending = (format_units(each, loaded.currency) for each in (sum(parts), *parts))
    yield f"jackpot liability {total} {loaded.currency.code}: meters {meters}, pending {pending}"


def _ports(*wanted: tuple[int | None, int]) -> list[int]:
    """Return a port for each (given, usual): as given, else the usual one or any that is free."""
    ports: list[int] = []
    held: list[socket.socket] = []
    try:
        for given, usual in wanted:
            if given is None:
                held.append(_bound(usual))
                given = held[-1].getsockname()[1]
            ports.append(given)
    finally:
        for each in held:
            each.close()
    return ports


def _bound(usual: int) -> socket.socket:
    try:
        return socket.create_server(("127.0.0.1", usual))
    except OSError:
        return socket.create_server(("127.0.0.1", 0))


def _command(*words: str) -> str:
    """Return a command as it can be typed where this one was."""
    typed = sys.argv[0]
    begin = (typed,) if Path(typed).name == "jackpotd" else _JACKPOTD
    return shlex.join((*begin, *words))
