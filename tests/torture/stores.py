"""A store that can't be written: a full disk, a quota, a file system that turns read-only."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from tests.e2e.talking import fetch
from tests.torture.house import House
from tests.torture.limits import SmallDisk, descriptors, limited, small_disk
from tests.torture.load import Load
from tests.torture.stage import Stage
from tests.torture.violation import demand

LEFT_BYTES = (0, 4096, 20_000, 100_000, 400_000)
"""How much room is left when a disk is filled: some batches still fit, in part or whole."""

MOST_SECONDS = 2.5
"""How long it stays so at most: longer than the daemon waits before it tries again."""


def full_disk(stage: Stage, times: int) -> None:
    """Fill the disk in the middle of a batch and free it: without a restart, and with one."""
    killed = refusals = 0
    with stage.house() as (house, load), small_disk(house) as disk:
        house.start()
        stage.resume(house, load)
        while stage.score.times < times:
            load.play_on(stage.chance.randint(1, 600))
            before = load.refused("unavailable")
            with _full(stage, house, disk):
                _until_unavailable(house, load, before)
                load.play_for(stage.chance.uniform(0, MOST_SECONDS))
                kills = stage.chance.randrange(3) == 0
                if kills:
                    house.daemon.kill()
                    load.drain()
                    _starts_or_says_why(house, load)
            if kills:
                killed += 1
                house.start()
                load.connect()
            _recovered(stage, house, load)
            refusals += load.refused("unavailable") - before
            stage.score.times += 1
        stage.close(house, load)
    stage.score.what = (
        f"full disks and quotas, {killed} with SIGKILL meanwhile; {refusals} times unavailable"
    )


@contextmanager
def _full(stage: Stage, house: House, disk: SmallDisk) -> Iterator[None]:
    if stage.chance.randrange(3) == 0:
        with _no_bigger_files(house):
            yield
        return
    disk.fill(stage.chance.choice(LEFT_BYTES))
    try:
        yield
    finally:
        disk.free()


def _no_bigger_files(house: House) -> AbstractContextManager[None]:
    """Let the write-ahead log grow no further, as a quota does."""
    size = house.store.with_name(house.store.name + "-wal").stat().st_size
    return limited(house.daemon.pid, resource.RLIMIT_FSIZE, size)


def _until_unavailable(house: House, load: Load, before: int) -> None:
    demand(
        load.play(lambda: load.refused("unavailable") > before + len(load.tables)),
        f"the daemon died of its store:\n{house.last_words()}",
    )
    demand(_status(house, "/readyz") == 503, "the daemon says that it is ready, and isn't")
    demand(_status(house, "/healthz") == 200, "the daemon says that it isn't alive, and is")


def _starts_or_says_why(house: House, load: Load) -> None:
    """Start a daemon on a store that can't be written: it serves nobody, or ends in good order."""
    house.daemon.launch()
    if not house.daemon.comes_up():
        code = house.daemon.end()
        demand(code == 1, f"exit code {code} on a store that can't be written")
        return
    load.connect()
    load.play_for(0.2)
    house.daemon.kill()
    load.drain()


def _recovered(stage: Stage, house: House, load: Load) -> None:
    demand(load.settle(), f"the daemon died of its store:\n{house.last_words()}")
    demand(_status(house, "/readyz") == 200, "the daemon doesn't say that it is ready again")
    stage.prove(house, load)


def _status(house: House, path: str) -> int:
    return fetch(house.daemon.ports["http"], path).status


def read_only(stage: Stage, times: int) -> None:
    """Make the file system read-only under a running daemon, and writable again."""
    refusals = 0
    with stage.house() as (house, load), small_disk(house) as disk:
        house.start()
        stage.resume(house, load)
        while stage.score.times < times:
            load.play_on(stage.chance.randint(1, 600))
            before = load.refused("unavailable")
            _let_go_of_the_record(house, load, before, disk)
            try:
                _until_unavailable(house, load, load.refused("unavailable"))
                load.play_for(stage.chance.uniform(0, MOST_SECONDS))
            finally:
                disk.make_writable()
            _recovered(stage, house, load)
            refusals += load.refused("unavailable") - before
            stage.score.times += 1
        load.hang_up()
        house.daemon.stop()
        demand(disk.make_read_only(), "somebody still has the record open")
        try:
            house.daemon.launch()
            demand(not house.daemon.comes_up(), "the daemon started on a read-only store")
            demand(house.daemon.end() == 1, "it ended in no good order")
        finally:
            disk.make_writable()
        stage.close(house, load)
    stage.score.what = f"read-only file systems; {refusals} times unavailable"


def _let_go_of_the_record(house: House, load: Load, before: int, disk: SmallDisk) -> None:
    """Make the file system read-only, which takes a moment at which nobody has it open to write.

    So files may grow no further, until the daemon opens its record anew; and for that it has no
    descriptors left.
    """
    pid, record = house.daemon.pid, str(house.store)
    with _no_bigger_files(house):
        load.play(lambda: load.refused("unavailable") > before)
        with limited(pid, resource.RLIMIT_NOFILE, 3):
            load.play(lambda: not any(each.startswith(record) for each in descriptors(pid)))
            demand(disk.make_read_only(), "somebody still has the record open")
