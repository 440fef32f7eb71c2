"""The torture: `python -m tests.torture.run [--kills N] [--cuts N] [--seed S] [--only PART]`.

Every part says what it did, how often, and what was lost; it exits with 1 if a promise was broken,
if something could not be tried, or if the time was up. What broke is kept, and said where.
"""

from __future__ import annotations

import argparse
import secrets
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import FrameType

from jackpotd.interrupts import interruptible
from tests.torture.hardships import clock_jumps, no_descriptors, stopped
from tests.torture.house import House
from tests.torture.kills import kills
from tests.torture.limits import unmount_below
from tests.torture.powercuts import failing_syncs, power_cuts
from tests.torture.stage import Score, Stage
from tests.torture.stores import full_disk, read_only
from tests.torture.violation import CannotTry, Violation

Part = Callable[[Stage, argparse.Namespace], None]

PARTS: dict[str, Part] = {
    "full-disk": lambda stage, chosen: full_disk(stage, chosen.rounds),
    "read-only": lambda stage, chosen: read_only(stage, chosen.rounds),
    "descriptors": lambda stage, chosen: no_descriptors(stage, chosen.rounds),
    "clock": lambda stage, chosen: clock_jumps(stage, chosen.rounds),
    "stopped": lambda stage, chosen: stopped(stage, 1, chosen.stop_seconds),
    "failing-syncs": lambda stage, chosen: failing_syncs(stage, chosen.rounds),
    "power-cut": lambda stage, chosen: power_cuts(stage, chosen.cuts),
    "kill": lambda stage, chosen: kills(stage, chosen.kills),
}
"""The parts, in their order: the quick ones first, so that their faults are seen first."""


class TimeIsUp(Exception):
    """The torture ends by itself."""


def try_part(
    name: str, chosen: argparse.Namespace, folder: Path, template: House
) -> tuple[Score, str]:
    """Run a part; return its score, and what went wrong, if something did."""
    folder.mkdir()
    stage = Stage(name, folder, Random(f"{chosen.seed}/{name}"), template)
    try:
        PARTS[name](stage, chosen)
    except CannotTry as error:
        return stage.score, f"not tried: {error}"
    except Violation as error:
        return stage.score, f"BROKEN: {error}"
    except TimeIsUp:
        return stage.score, "the time was up"
    except Exception:
        return stage.score, f"FAILED: {traceback.format_exc()}"
    shutil.rmtree(folder)
    return stage.score, ""


def row(score: Score, wrong: str, seconds: float) -> str:
    """Return a part's line of the table."""
    lost = "nothing" if not wrong else wrong.partition(":")[0]
    return (
        f"{score.part:<14} {score.times:>5} {score.acknowledged:>9} {score.sent_again:>10} "
        f"{score.proofs:>7} {lost:>10} {seconds:>6.0f}  {score.what}"
    )


HEAD = (
    f"{'part':<14} {'times':>5} {'acked':>9} {'sent again':>10} {'proofs':>7} {'lost':>10} "
    f"{'s':>6}  what"
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all parts, or those chosen; return the exit code."""
    chosen = _chosen(arguments)
    folder = Path(tempfile.mkdtemp(prefix="jackpotd-torture-"))
    print(f"seed {chosen.seed}, in {folder}", flush=True)
    keep = False
    try:
        with interruptible(), _at_most(chosen.minutes):
            keep = _run(chosen, folder)
    except KeyboardInterrupt:
        print("interrupted")
        return 130
    finally:
        unmount_below(folder)
        if not keep:
            shutil.rmtree(folder)
    return int(keep)


def _run(chosen: argparse.Namespace, folder: Path) -> bool:
    """Run the parts; tell whether something went wrong."""
    template = House.build(folder / "template")
    rows, wrongs = [], []
    for name in chosen.only or PARTS:
        began = time.monotonic()
        score, wrong = try_part(name, chosen, folder / name, template)
        rows.append(row(score, wrong, time.monotonic() - began))
        print(rows[-1], *score.remarks, sep="\n  ", flush=True)
        if wrong:
            wrongs.append(name)
            print(f"{wrong}\n  again: --seed {chosen.seed} --only {name}", flush=True)
    print("", HEAD, *rows, sep="\n")
    if wrongs:
        print(f"\n{', '.join(wrongs)}: see above; the files are kept in {folder}")
    return bool(wrongs)


def _chosen(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=210, help="how many daemons are killed")
    parser.add_argument("--cuts", type=int, default=70, help="how often the power is cut")
    parser.add_argument("--rounds", type=int, default=8, help="how often all else is done")
    parser.add_argument("--stop-seconds", type=float, default=30, help="how long SIGSTOP lasts")
    parser.add_argument("--minutes", type=float, default=15, help="when it ends at the latest")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**9))
    parser.add_argument(
        "--only", action="append", choices=list(PARTS), help="a part; may be repeated"
    )
    return parser.parse_args(arguments)


@contextmanager
def _at_most(minutes: float) -> Iterator[None]:
    def time_is_up(_: int, __: FrameType | None) -> None:
        raise TimeIsUp

    before = signal.signal(signal.SIGALRM, time_is_up)
    signal.setitimer(signal.ITIMER_REAL, minutes * 60)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


if __name__ == "__main__":
    sys.exit(main())
