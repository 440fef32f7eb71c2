"""The power cut at any instant, which loses what was not synced; and syncs that fail."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from pathlib import Path
from random import Random

from tests.torture.disk import Cut
from tests.torture.house import STORE, House
from tests.torture.kills import MOST_ANSWERS, killed, some_moment
from tests.torture.load import Load
from tests.torture.power import Power
from tests.torture.proof import prove_copy
from tests.torture.stage import Stage
from tests.torture.violation import demand

ROOT = Path(__file__).parents[2]
CUTS_A_HOUSE = 8
ANSWERS_TO_A_CHECKPOINT = 5_000

OPERATIONS = {"any": 60, "wal": 300, "db": 80, "dir": 4, "lock": 60}
"""How far into what it does to a file a daemon may get, before it dies there."""

PLACES_TO_DIE = {
    "any": "in any of the first steps",
    "wal": "in the write-ahead log",
    "db": "in a checkpoint",
    "dir": "at a file's name",
    "lock": "at the lock file",
}
COMMITS = 200


def power_cuts(stage: Stage, times: int) -> None:
    """Cut the power so many times."""
    lost = writes = copies = 0
    died: Counter[str] = Counter()
    while stage.score.times < times:
        with stage.house() as (house, load):
            power = Power(house.store, _beside(house, "power"))
            for _ in range(min(CUTS_A_HOUSE, times - stage.score.times)):
                died[_live_and_die(stage, house, load, power)] += 1
                power.read()
                copies += _judge_others(stage, house, load, power)
                power.cut(stage.chance)
                stage.score.times += 1
            house.daemon.environment = {}
            stage.close(house, load)
            lost, writes = lost + power.lost, writes + power.writes
    stage.score.what = f"power cuts, {lost} of {writes} changes were not synced"
    instants = ", ".join(f"{count} {instant}" for instant, count in died.most_common())
    stage.score.remarks.append(f"{instants}; {copies} other outcomes of them opened and proved")


def _beside(house: House, name: str) -> Path:
    folder = house.folder / name
    folder.mkdir()
    return folder


def _live_and_die(stage: Stage, house: House, load: Load, power: Power) -> str:
    """Let a daemon live until it is killed; tell where it was."""
    chance = stage.chance
    if chance.randrange(3) == 0:
        house.daemon.environment = power.environment()
        killed(stage, house, load, some_moment(chance))
        return "at any instant"
    file = chance.choice(list(OPERATIONS))
    house.daemon.environment = power.environment(f"{file}:{chance.randint(1, OPERATIONS[file])}")
    house.daemon.launch()
    lived = house.daemon.comes_up()
    if lived:
        load.connect()
        answers = ANSWERS_TO_A_CHECKPOINT if file == "db" else MOST_ANSWERS
        lived = load.settle() and load.play_on(answers)
    house.daemon.kill()
    load.drain()
    return "at any instant" if lived else PLACES_TO_DIE[file]


def _judge_others(stage: Stage, house: House, load: Load, power: Power) -> int:
    """Prove what other cuts at the same instant could have left, without a daemon."""
    for cut in (Cut.ALL, Cut.SINCE, Cut.SOME):
        folder = _beside(house, "copy")
        path = folder / Path(STORE).name
        power.might_leave(path, cut, stage.chance)
        prove_copy(path, house, load)
        shutil.rmtree(folder)
    stage.score.proofs += 3
    return 3


def failing_syncs(stage: Stage, times: int) -> None:
    """Let syncs fail for a while, go on with or without a restart, then cut the power."""
    refusals = restarts = 0
    while stage.score.times < times:
        with stage.house() as (house, load):
            power = Power(house.store, _beside(house, "power"))
            house.daemon.environment = power.environment()
            for _ in range(min(CUTS_A_HOUSE, times - stage.score.times)):
                house.start()
                stage.resume(house, load)
                load.play_on(stage.chance.randint(1, MOST_ANSWERS))
                before = load.refused("unavailable")
                restarts += _with_failing_syncs(stage, house, load, power)
                refusals += load.refused("unavailable") - before
                stage.prove(house, load)
                load.play_on(stage.chance.randint(1, MOST_ANSWERS))
                house.daemon.kill()
                load.drain()
                power.read()
                power.cut(stage.chance)
                stage.score.times += 1
            house.daemon.environment = {}
            stage.close(house, load)
    stage.score.what = (
        f"failing syncs, {restarts} with SIGKILL meanwhile, each followed by a power cut; "
        f"{refusals} times unavailable"
    )


def _with_failing_syncs(stage: Stage, house: House, load: Load, power: Power) -> bool:
    """Let syncs fail for a while; everybody is at rest afterwards. Tell whether it was killed."""
    before = load.refused("unavailable")
    power.fail_syncs()
    lived = load.play(lambda: load.refused("unavailable") > before)
    lived = lived and load.play_for(stage.chance.uniform(0, 1.5))
    killed_too = stage.chance.randrange(3) == 0
    if killed_too:
        house.daemon.kill()
        load.drain()
    power.mend()
    if killed_too:
        # What the system remembers, and the disk doesn't have, is what this daemon finds.
        house.start()
        load.connect()
    demand(lived and load.settle(), "the daemon died of failing syncs")
    return killed_too


def rows_after_cut(folder: Path, synchronous: str, cut: Cut) -> tuple[int, int]:
    """Commit rows with plain SQLite and cut the power: how many were committed, how many are left.

    With `synchronous` off some must be lost and with full none: so the cut is known to cut.
    """
    path = folder.resolve() / "lines.db"
    power = Power(path, folder)
    committed = 0
    with subprocess.Popen(
        [sys.executable, "-m", "tests.torture.commits", str(path), synchronous],
        cwd=ROOT,
        env={**os.environ, **power.environment()},
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            committed = int(line)
            if committed == COMMITS:
                process.kill()
    power.read()
    power.might_leave(path, cut, Random(1))
    with closing(sqlite3.connect(path)) as conn:
        tables = conn.execute("SELECT count(*) FROM sqlite_master").fetchone()
        left = conn.execute("SELECT count(*) FROM line").fetchone() if tables[0] else (0,)
    return committed, int(left[0])
