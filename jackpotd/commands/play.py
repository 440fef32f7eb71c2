"""The commands that play: simulated tables against a running daemon, and the demonstration."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from jackpotd import config
from jackpotd.commands.keys import NoKey, read_key
from jackpotd.demo import Demo, Wishes
from jackpotd.interrupts import interruptible, until_interrupted
from jackpotd.simulate.choice import tables_of
from jackpotd.simulate.shift import FloorPlan, Plan, Shift
from jackpotd.simulate.stacked import PlayError, StackedHand, parse_stacked
from jackpotd.simulate.words import words
from jackpotd.terminal import Terminal

_Command = Callable[..., Any]


def _stacked(_: click.Context, __: click.Parameter, texts: tuple[str, ...]) -> Any:
    try:
        return tuple(parse_stacked(text) for text in texts)
    except PlayError as error:
        raise click.BadParameter(str(error)) from error


def _playing(command: _Command) -> _Command:
    """Add what both commands are told about the play."""
    for option in (
        click.option(
            "--rig",
            "stacked",
            multiple=True,
            callback=_stacked,
            metavar="HAND@TABLE:SEAT[@ROUND]",
            help="Stack the deck: that seat holds that hand, in the 3rd round if none is named.",
        ),
        click.option(
            "--rate",
            type=click.FloatRange(min=0),
            default=1.0,
            show_default=True,
            help="Rounds per second at each table; 0 is as fast as the daemon answers.",
        ),
        click.option(
            "--rounds",
            type=click.IntRange(min=1),
            help="Rounds at each table; without it, until Ctrl-C.",
        ),
    ):
        command = option(command)
    return command


@click.command()
@click.argument("config_file", metavar="CONFIG", type=click.Path(path_type=Path))
@click.option("--tables", help="Names with commas, or how many; all with a progressive if left out")
@_playing
@click.option("--seed", type=int, help="The same seed deals the same cards.")
@click.option("--concentrator", is_flag=True, help="All tables over one connection.")
@click.option("--key-file", type=click.Path(path_type=Path), help="A file with the tables' key.")
@click.option("--key", envvar="JACKPOTD_KEY", hidden=True)
@click.option("--confirm-after", type=click.FloatRange(min=0), help="Confirm awards after seconds.")
@click.option("--deny", type=click.IntRange(0, 100), default=0, help="Deny so many of 100 instead.")
@click.option("--floor-key-file", type=click.Path(path_type=Path), help="The floorperson's key.")
@click.option("--floor-key", envvar="JACKPOTD_FLOOR_KEY", hidden=True)
def simulate(
    config_file: Path,
    tables: str | None,
    rounds: int | None,
    rate: float,
    stacked: tuple[StackedHand, ...],
    seed: int | None,
    concentrator: bool,
    key_file: Path | None,
    key: str | None,
    confirm_after: float | None,
    deny: int,
    floor_key_file: Path | None,
    floor_key: str | None,
) -> None:
    """Deal real cards at simulated tables against a running daemon.

    A table with a pending award waits until the floor confirms or denies it: with
    --confirm-after a simulated floorperson does.
    """
    loaded = config.load(config_file)
    names = tables_of(loaded, tables)
    floor = None
    if confirm_after is not None:
        seconds = confirm_after
        floor = FloorPlan(
            key=_key(floor_key_file, floor_key, _no_floor_key(config_file)),
            after_seconds=lambda _: seconds,
            before_seconds=seconds,
            deny_percent=deny,
        )
    elif deny:
        raise click.UsageError("--deny is the simulated floorperson's: give --confirm-after too")
    plan = Plan(
        tables=names,
        key=_key(key_file, key, _no_table_key(config_file, names)),
        rounds=rounds,
        rate=rate,
        seed=secrets.randbelow(10**6) if seed is None else seed,
        stacked=stacked,
        concentrator=concentrator,
        floor=floor,
    )
    terminal = Terminal(err=True)
    shift = Shift(loaded, plan, tell=lambda news: terminal.say(words(news, loaded.currency)))
    with interruptible():
        with until_interrupted(), shift, until_interrupted():
            _watch(shift, plan, terminal)
        click.echo(f"tables    {', '.join(names)}; seed {plan.seed}")
        for line in shift.tally.lines(loaded.currency):
            click.echo(line)
        click.echo(f"lost      {shift.losses} connections")
    if shift.failures:
        raise shift.failures[0]


def _watch(shift: Shift, plan: Plan, terminal: Terminal) -> None:
    whole = "" if plan.rounds is None else f" of {plan.rounds * len(plan.tables):,}"
    try:
        for _ in shift.looks():
            terminal.progress(f"{shift.tally.rounds:,}{whole} rounds")
    finally:
        terminal.progress("")


def _key(file: Path | None, given: str | None, missing: str) -> str:
    """Return a key as given; nobody is asked for it, as there may be two. Raises NoKey."""
    if file is None and not given:
        raise NoKey(missing)
    return read_key(file, given)


def _no_table_key(config_file: Path, tables: tuple[str, ...]) -> str:
    return (
        f"a key is needed that speaks for {', '.join(tables)}; make one with\n"
        f"  jackpotd key add {config_file} sim --role table --tables {','.join(tables)} > sim.key\n"
        "and give it with --key-file sim.key or as JACKPOTD_KEY"
    )


def _no_floor_key(config_file: Path) -> str:
    return (
        "the simulated floorperson needs a key; make one with\n"
        f"  jackpotd key add {config_file} sim-floor --role floor > sim-floor.key\n"
        "and give it with --floor-key-file sim-floor.key or as JACKPOTD_FLOOR_KEY"
    )


@click.command()
@click.option("--tables", default="4", show_default=True, help="How many tables, or their names.")
@_playing
@click.option("--seed", type=int, default=1, show_default=True)
@click.option("--http-port", type=click.IntRange(1, 65535), help="For signs and pages.")
@click.option("--tables-port", type=click.IntRange(1, 65535), help="For the tables.")
@click.option("--keep", type=click.Path(path_type=Path), help="A new folder for it, which stays.")
def demo(keep: Path | None, **wishes: Any) -> None:
    """Show a sample property: its signs, tables that deal real cards, and a jackpot.

    With --rounds it ends by itself, and confirms its jackpots itself after a second.
    """
    with interruptible(), _folder(keep) as folder:
        Demo(folder, Wishes(**wishes), Terminal()).run()


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        yield keep.absolute()
        return
    with TemporaryDirectory(prefix="jackpotd-demo-") as folder:
        yield Path(folder)
