"""A disk that is full: tables are refused, signs go on, and nothing is lost or done twice."""

from __future__ import annotations

import resource
import subprocess
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import RIVERSIDE, Daemon, output_of, riverside, until
from tests.e2e.talking import Message, Peer, fetch, hit, wager


@dataclass(frozen=True, slots=True, kw_only=True)
class Disk:
    """The disk with the record: `fill` leaves no room on it, `free` makes some again."""

    fill: Callable[[Daemon], None]
    free: Callable[[Daemon], None]


@contextmanager
def small_file_system(folder: Path) -> Iterator[Disk]:
    """Mount a small disk, which a file fills."""
    mount = ("mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder)
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"nothing can be mounted here: {done.stderr.strip()}")
    filler = folder / "filler"
    try:
        yield Disk(fill=lambda _: grow(filler), free=lambda _: filler.unlink())
    finally:
        subprocess.run(["umount", folder], check=True)


def grow(file: Path) -> None:
    """Write to a file until there is no room."""

    def write() -> None:
        while True:
            raw.write(bytes(4096))

    with file.open("wb", buffering=0) as raw, pytest.raises(OSError, match="No space left"):
        write()


@contextmanager
def small_files(folder: Path) -> Iterator[Disk]:
    """Let the files of the daemon grow no further, as a quota does."""
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit(daemon: Daemon, size: int) -> None:
        resource.prlimit(daemon.pid, resource.RLIMIT_FSIZE, (size, most))

    def fill(daemon: Daemon) -> None:
        limit(daemon, (folder / "riverside.db-wal").stat().st_size)

    yield Disk(fill=fill, free=lambda daemon: limit(daemon, most))


def mega(daemon: Daemon) -> int:
    """Return what the displays are shown."""
    shown = fetch(daemon.ports["http"], "/api/meters").json()
    amount: int = shown["progressives"]["riverside-royal"]["levels"]["mega"]["amount"]
    return amount


def is_ready(daemon: Daemon) -> bool:
    """Tell whether it says that it is, in its checks and its metrics too."""
    port = daemon.ports["http"]
    page, metrics = fetch(port, "/readyz"), fetch(port, "/metrics").body
    ready = page.status == 200
    assert page.json() == {
        "ready": ready,
        "checks": {"leader": True, "store": ready, "caught_up": True},
    }
    assert (b"\njackpotd_store_writable 1.0\n" in metrics) == ready
    return ready


BEFORE: list[Message] = [wager("FCP-01", 1, 1, 1), hit("FCP-01", 2, 1, 1, "four of a kind")]
MEANWHILE = wager("FCP-02", 1, 1, 1, 2)
CONFIRM = {"type": "confirm", "hit": 1}
AFTER = wager("FCP-01", 3, 2, 1, 2, 3)


@pytest.mark.parametrize("disk", [small_file_system, small_files])
def test_a_full_disk_is_survived(
    tmp_path: Path, disk: Callable[[Path], AbstractContextManager[Disk]]
) -> None:
    folder = tmp_path / "disk"
    folder.mkdir()
    with disk(folder) as small:
        house = riverside(tmp_path, RIVERSIDE.replace("riverside.db", "disk/riverside.db"))
        with (
            house.running() as daemon,
            Peer(daemon.ports["tables"], house.keys["pit"]) as pit,
            Peer(daemon.ports["tables"], house.keys["floor-1"]) as floor,
        ):
            first = pit.exchange(BEFORE)
            refused_while_full(daemon, small, pit, floor)
            until(lambda: fetch(daemon.ports["http"], "/readyz").status == 200)
            assert is_ready(daemon)
            assert pit.exchange(BEFORE) == first
            played_on(pit, floor)
            assert mega(daemon) == 5_000_000 + 6 * 50
        with house.running() as daemon:
            assert mega(daemon) == 5_000_000 + 6 * 50
        house.proved()
        # Four tables and the progressive stand before what was played.
        assert "10 rows, 1 hits" in output_of("ledger", "verify", house.config)


def refused_while_full(daemon: Daemon, disk: Disk, pit: Peer, floor: Peer) -> None:
    assert is_ready(daemon)
    disk.fill(daemon)
    for peer, message in ((pit, MEANWHILE), (floor, CONFIRM), (pit, MEANWHILE)):
        reply = peer.ask(message)
        assert (reply["type"], reply["code"], reply["retry"]) == ("error", "unavailable", True)
    assert not is_ready(daemon)
    assert fetch(daemon.ports["http"], "/healthz").status == 200
    assert mega(daemon) == 5_000_050
    disk.free(daemon)


def played_on(pit: Peer, floor: Peer) -> None:
    """Send again what was refused, and go on; each counts once, however often it is sent."""
    asked: list[tuple[Peer, Message, str]] = [
        (pit, MEANWHILE, "accepted"),
        (floor, CONFIRM, "confirmed"),
        (pit, AFTER, "accepted"),
    ]
    answers: list[dict[str, Any]] = []
    for peer, message, kind in asked:
        answers.append(peer.ask(message))
        assert answers[-1]["type"] == kind
    assert [peer.ask(message) for peer, message, _ in asked] == answers
