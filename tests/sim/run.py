"""Runs seeds on every core: `python -m tests.sim.run --seeds 10000`, or `--seed N` for one.

A seed that finds a violation is shrunk to its smallest prefix of steps, and printed with the
command that shows it again.
"""

from __future__ import annotations

import multiprocessing
import os
import secrets
import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ProcessPoolExecutor, wait
from itertools import count, repeat

import click
from twisted.logger import globalLogBeginner

from tests.sim.simulation import STEPS, Failed, run
from tests.sim.violation import Tally

_SEEDS_TOGETHER = 10
_FRESH = 2**40
"""Fresh seeds begin somewhere below this."""


def _quietly() -> None:
    """Let nothing of the daemon's log be printed: what matters in it is a violation."""
    globalLogBeginner.beginLoggingTo([], discardBuffer=True, redirectStandardIO=False)


def run_some(first: int, steps: int) -> tuple[Tally, Failed | None]:
    """Run a few seeds; stop at the first that fails."""
    tally = Tally()
    for seed in range(first, first + _SEEDS_TOGETHER):
        try:
            ran = run(seed, steps)
        except Failed as failed:
            return tally, failed
        tally += ran.tally
        tally["seeds"] += 1
        tally["rows"] += ran.rows
        tally["steps"] += steps
    return tally, None


def failure(seed: int, steps: int) -> Failed | None:
    """Run a seed, and return how it fails."""
    try:
        run(seed, steps)
    except Failed as failed:
        return failed
    return None


def least(failed: Failed, pool: Executor) -> Failed:
    """Return the same seed's failure after the fewest steps that show one.

    Halving finds a short prefix soon; all shorter ones are tried then, as a violation may come,
    be hidden by what follows, and come again.
    """
    passes = 0
    while failed.steps - passes > 1:
        middle = (passes + failed.steps) // 2
        sooner = pool.submit(failure, failed.seed, middle).result()
        if sooner is None:
            passes = middle
        else:
            failed = sooner
    runs = pool.map(failure, repeat(failed.seed), range(failed.steps))
    return next((sooner for sooner in runs if sooner is not None), failed)


def workers() -> ProcessPoolExecutor:
    """Return as many processes as there are cores."""
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(os.cpu_count() or 1, mp_context=context, initializer=_quietly)


class Runner:
    """Hands seeds to the cores and counts; `failed` is the first failure."""

    def __init__(self, *, first: int, seeds: int | None, minutes: float | None, steps: int) -> None:
        self.tally = Tally()
        self.failed: Failed | None = None
        self._first = first
        self._seeds = seeds
        self._steps = steps
        self._started = time.monotonic()
        self._until = None if minutes is None else self._started + 60 * minutes

    def go(self) -> None:
        """Run until the seeds or the minutes are used up, or one fails."""
        cores = os.cpu_count() or 1
        with workers() as pool:
            batches = self._batches()
            running: set[Future[tuple[Tally, Failed | None]]] = set()
            while True:
                while len(running) < 2 * cores and (first := next(batches, None)) is not None:
                    running.add(pool.submit(run_some, first, self._steps))
                if not running:
                    return
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for each in done:
                    tally, failed = each.result()
                    self.tally += tally
                    self.failed = self.failed or failed
                self._tell_progress()

    def _batches(self) -> Iterator[int]:
        for place in count(0, _SEEDS_TOGETHER):
            over = self._until is not None and time.monotonic() > self._until
            enough = self._seeds is not None and place >= self._seeds
            if over or enough or self.failed is not None:
                return
            yield self._first + place

    def _tell_progress(self) -> None:
        if sys.stderr.isatty():
            click.echo(f"\r{self.summary()}", nl=False, err=True)

    def summary(self) -> str:
        """Say how far it is."""
        seconds = time.monotonic() - self._started
        crashes = sum(n for name, n in self.tally.items() if name.startswith("crash: "))
        return (
            f"{self.tally['seeds']:,} seeds, {self.tally['rows']:,} events, "
            f"{crashes:,} crashes in {seconds:.0f} s"
        )


def tell(tally: Tally) -> None:
    """Print what happened how often."""
    for name in sorted(tally):
        click.echo(f"  {name:32}{tally[name]:>14,}")


def tell_failure(failed: Failed) -> None:
    """Print a failure, and how to see it again."""
    click.echo(f"seed {failed.seed} fails at step {failed.steps}: {failed.said}")
    click.echo("looking for the smallest prefix that shows it")
    with workers() as pool:
        small = least(failed, pool)
    click.echo(f"seed {small.seed} with {small.steps} steps: {small.said}")
    click.echo("its last steps:")
    for said in small.story:
        click.echo(f"  {said}")
    click.echo(f"again: python -m tests.sim.run --seed {small.seed} --steps {small.steps}")


def _one(seed: int, steps: int) -> None:
    _quietly()
    try:
        ran = run(seed, steps)
    except Failed as failed:
        tell_failure(failed)
        sys.exit(1)
    tell(ran.tally)
    click.echo(f"seed {seed}: {ran.rows} events, the record's last hash is {ran.last_hash}")


@click.command(help=__doc__)
@click.option("--seed", type=int, help="this seed alone")
@click.option("--seeds", type=int, help="so many seeds")
@click.option("--first", type=int, help="the first of the seeds; a fresh one if left out")
@click.option("--minutes", type=float, help="begin no more seeds after so many minutes")
@click.option("--steps", type=int, default=STEPS, show_default=True, help="steps of each seed")
def main(
    seed: int | None, seeds: int | None, first: int | None, minutes: float | None, steps: int
) -> None:
    if seed is not None:
        _one(seed, steps)
        return
    if seeds is None and minutes is None:
        seeds = 10_000
    start = secrets.randbelow(_FRESH) if first is None else first
    click.echo(f"seeds from {start} on, {steps} steps each")
    runner = Runner(first=start, seeds=seeds, minutes=minutes, steps=steps)
    runner.go()
    if sys.stderr.isatty():
        click.echo(err=True)
    tell(runner.tally)
    click.echo(runner.summary())
    if runner.failed is not None:
        tell_failure(runner.failed)
        sys.exit(1)


if __name__ == "__main__":
    main()
