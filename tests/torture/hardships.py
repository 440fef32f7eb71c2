"""What doesn't kill a daemon: it is stopped, runs out of descriptors, and its clock jumps."""

from __future__ import annotations

import os
import resource
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from zoneinfo import ZoneInfo

from tests.e2e.talking import Display, fetch
from tests.torture.house import House
from tests.torture.limits import descriptors, limited
from tests.torture.load import Load
from tests.torture.peers import Link, Watcher
from tests.torture.shim import HOURS, Clock
from tests.torture.stage import Stage
from tests.torture.violation import Violation, demand

SPARE_DESCRIPTORS = 12
MOST_CONNECTIONS = 200
ANSWER_SECONDS = 10

BEFORE_SIX = datetime(2026, 11, 1, 5, 30, tzinfo=ZoneInfo("America/New_York"))
"""Half an hour before a gaming day ends, on the morning on which summer time did."""


# Stopped


def stopped(stage: Stage, times: int, seconds: float = 30) -> None:
    """Stop the daemon for a while with SIGSTOP, and let it go on."""
    with stage.house() as (house, load):
        house.start()
        stage.resume(house, load)
        with Display(house.daemon.ports["http"]) as display:
            while stage.score.times < times:
                load.play_on(stage.chance.randint(1, 600))
                os.kill(house.daemon.pid, signal.SIGSTOP)
                newcomer = Watcher(house.keys["floor-1"])
                try:
                    end = time.monotonic() + seconds
                    newcomer.connect(house.daemon.ports["tables"], [])
                    load.play_for(seconds / 10)
                    time.sleep(max(0, end - time.monotonic()))
                    os.kill(house.daemon.pid, signal.SIGCONT)
                    demand(load.play_on(600), "the daemon died when it went on")
                    _shown_something(newcomer)
                finally:
                    newcomer.hang_up()
                display.next("tick")
                demand(load.settle(), "the daemon died when it went on")
                stage.prove(house, load)
                stage.score.times += 1
        stage.close(house, load)
    stage.score.what = f"SIGSTOP for {seconds:g} s, no connection lost"


def _shown_something(watcher: Watcher) -> None:
    deadline = time.monotonic() + ANSWER_SECONDS
    while not watcher.shown:
        assert watcher.link is not None
        lost = watcher.link.ended or time.monotonic() > deadline
        demand(not lost, "who connected to a stopped daemon was never served")
        for line in watcher.link.lines():
            watcher.hear(line)
        time.sleep(0.01)


# Descriptors


def no_descriptors(stage: Stage, times: int) -> None:
    """Use up the daemon's descriptors with connections; those who had one play on."""
    opened = 0
    with stage.house() as (house, load):
        house.start()
        stage.resume(house, load)
        while stage.score.times < times:
            load.play_on(stage.chance.randint(1, 300))
            most = len(descriptors(house.daemon.pid)) + SPARE_DESCRIPTORS
            with (
                limited(house.daemon.pid, resource.RLIMIT_NOFILE, most),
                _crowd(house, load) as crowd,
            ):
                opened += crowd
                demand(load.play_on(1_500), "the daemon died without descriptors")
                demand(load.settle(), "the daemon died without descriptors")
                if stage.chance.randrange(2):
                    _store_lost_meanwhile(house, load)
            demand(load.settle(), "the daemon died when it had descriptors again")
            demand(fetch(house.daemon.ports["http"], "/readyz").status == 200, "it isn't ready")
            load.reconnect()
            demand(load.settle(), "the daemon died when everybody came back")
            stage.prove(house, load)
            stage.score.times += 1
        stage.close(house, load)
    stage.score.what = f"times without descriptors, {opened} connections opened until refused"


@contextmanager
def _crowd(house: House, load: Load) -> Iterator[int]:
    """Connect until nobody is let in any more; give how many were."""
    with ExitStack() as stack:
        for count in range(MOST_CONNECTIONS):
            link = Link(house.daemon.ports["tables"])
            stack.callback(link.close)
            link.send(b'{"type":"hello","protocol":1,"key":"%s"}\n' % load.floor.key.encode())
            if not _served(link, load):
                yield count
                return
        raise Violation(f"{MOST_CONNECTIONS} connections, and none was refused")


def _served(link: Link, load: Load) -> bool:
    """Tell whether a connection is welcomed, or closed at once, while the others play."""
    heard: list[bytes] = []

    def something() -> bool:
        heard.extend(link.lines())
        return bool(heard) or link.ended

    demand(load.play(something), "the daemon died without descriptors")
    return bool(heard)


def _store_lost_meanwhile(house: House, load: Load) -> None:
    """Lose the store for a moment: to open it again the daemon needs descriptors."""
    before = load.refused("unavailable")
    size = house.store.with_name(house.store.name + "-wal").stat().st_size
    with limited(house.daemon.pid, resource.RLIMIT_FSIZE, size):
        demand(load.play(lambda: load.refused("unavailable") > before), "the daemon died")


# The clock


def clock_jumps(stage: Stage, times: int) -> None:
    """Set the clock two hours back and three forward, over the end of a gaming day."""
    days: set[str] = set()
    while stage.score.times < times:
        with stage.house() as (house, load):
            clock = Clock(house.folder)
            house.daemon.environment = clock.environment
            start_ns = int(BEFORE_SIX.timestamp()) * 10**9 - time.time_ns()
            clock.set(start_ns)
            house.start()
            stage.resume(house, load)
            for hours in (-2, 3, 0):
                demand(load.play_on(stage.chance.randint(50, 200)), "the daemon died")
                clock.set(start_ns + hours * HOURS)
                _plays_and_shows(house, load)
                if stage.chance.randrange(2):
                    house.daemon.kill()
                    load.drain()
                    house.start()
                    load.connect()
                demand(load.settle(), "the daemon died when its clock jumped")
                search = stage.prove(house, load)
            demand(len(search.days) == 2, f"the gaming days are {search.days}")
            demand(search.days == sorted(search.days), f"a gaming day came twice: {search.days}")
            days.update(search.days)
            stage.score.times += 1
            stage.close(house, load)
    stage.score.what = f"clocks set 2 h back and 3 h forward, over the end of {min(days)}"


def _plays_and_shows(house: House, load: Load) -> None:
    shown = len(load.watcher.shown)
    demand(
        load.play_on(100) and load.play(lambda: len(load.watcher.shown) > shown, playing=False),
        "the daemon died when its clock jumped",
    )
    with Display(house.daemon.ports["http"]) as display:
        display.next("meters")
