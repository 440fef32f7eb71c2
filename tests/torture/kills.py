"""SIGKILL at any instant: under load, while it starts, while peers come back, while it stops."""

from __future__ import annotations

import time
from enum import Enum
from random import Random

from tests.torture.house import House
from tests.torture.load import Load
from tests.torture.stage import Stage

KILLS_A_HOUSE = 20
"""Then a new one: a record grows, and all of it is proved after each kill."""

MOST_ANSWERS = 1_200
START_SECONDS = 0.5
STOP_SECONDS = 0.05


class When(Enum):
    """When a daemon is killed."""

    LOAD = "under load"
    START = "while it starts"
    RESUME = "while its peers come back"
    STOP = "while it stops"


WEIGHTS = {When.LOAD: 13, When.START: 3, When.RESUME: 2, When.STOP: 2}


def some_moment(chance: Random) -> When:
    """Choose when to kill."""
    (found,) = chance.choices(list(WEIGHTS), list(WEIGHTS.values()))
    return found


def killed(stage: Stage, house: House, load: Load, when: When) -> bool:
    """Start a daemon, and kill it; tell whether that was needed, as it didn't end before."""
    chance = stage.chance
    if when is When.START:
        house.daemon.launch()
        time.sleep(chance.uniform(0, START_SECONDS))
        return _kill(house, load)
    house.start()
    if when is When.RESUME:
        enough = load.sent_again + chance.randint(0, 300)
        load.connect()
        load.play(
            lambda: load.sent_again >= enough or all(peer.at_rest for peer in load.askers),
            playing=False,
        )
        return _kill(house, load)
    stage.resume(house, load)
    load.play_on(chance.randint(1, MOST_ANSWERS))
    load.play_for(chance.uniform(0, 0.005))
    if when is When.STOP:
        house.daemon.terminate()
        time.sleep(chance.uniform(0, STOP_SECONDS))
    return _kill(house, load)


def _kill(house: House, load: Load) -> bool:
    lived = house.daemon.is_running()
    house.daemon.kill()
    load.drain()
    return lived


def kills(stage: Stage, times: int) -> None:
    """Kill so many daemons."""
    counts = dict.fromkeys(When, 0)
    while stage.score.times < times:
        with stage.house() as (house, load):
            for _ in range(min(KILLS_A_HOUSE, times - stage.score.times)):
                when = some_moment(stage.chance)
                if killed(stage, house, load, when):
                    counts[when] += 1
                    stage.score.times += 1
            stage.close(house, load)
    stage.score.what = "SIGKILL " + ", ".join(f"{n} {when.value}" for when, n in counts.items())
