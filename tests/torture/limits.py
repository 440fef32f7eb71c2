"""What takes a running daemon's room away: file systems, file sizes, file descriptors."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.torture.house import House
from tests.torture.violation import CannotTry

SIZE = "32m"


class SmallDisk:
    """A file system of its own, which can be filled and made read-only."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._filler = folder / "filler"

    def fill(self, leave_bytes: int) -> None:
        """Leave so much room."""
        found = os.statvfs(self._folder)
        free = found.f_bavail * found.f_frsize - leave_bytes
        with self._filler.open("wb", buffering=0) as file, suppress(OSError):
            while free > 0:
                free -= file.write(bytes(min(free, 1 << 16)))

    def free(self) -> None:
        """Make room again."""
        self._filler.unlink()

    def make_read_only(self) -> bool:
        """Tell whether that worked: it can't while a file is open to be written."""
        done = subprocess.run(
            ["mount", "-o", "remount,ro", str(self._folder)], capture_output=True, check=False
        )
        return done.returncode == 0

    def make_writable(self) -> None:
        """Let it be written again."""
        subprocess.run(["mount", "-o", "remount,rw", str(self._folder)], check=True)


@contextmanager
def small_disk(house: House) -> Iterator[SmallDisk]:
    """Put a house's record on a small file system, which is gone afterwards.

    What broke is kept beside it. Raises CannotTry where nothing can be mounted.
    """
    folder = house.store.parent
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    done = subprocess.run(mount, capture_output=True, text=True, check=False)
    if done.returncode:
        raise CannotTry(f"nothing can be mounted here: {done.stderr.strip()}")
    try:
        yield SmallDisk(folder)
    except BaseException:
        house.daemon.kill()
        shutil.copytree(folder, house.folder / "kept", ignore=shutil.ignore_patterns("filler"))
        raise
    finally:
        house.daemon.kill()
        subprocess.run(["umount", str(folder)], check=True)


def unmount_below(folder: Path) -> None:
    """Unmount what is still mounted below a folder."""
    for line in Path("/proc/mounts").read_text().splitlines():
        mounted = line.split()[1]
        if Path(mounted).is_relative_to(folder):
            subprocess.run(["umount", "--lazy", mounted], check=True)


@contextmanager
def limited(pid: int, what: int, to: int) -> Iterator[None]:
    """Limit a running process: resource.RLIMIT_..."""
    before = resource.prlimit(pid, what)
    resource.prlimit(pid, what, (to, before[1]))
    try:
        yield
    finally:
        with suppress(ProcessLookupError):
            resource.prlimit(pid, what, before)


def descriptors(pid: int) -> list[str]:
    """Return what a process has open."""
    found = []
    for each in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(str(each.readlink()))
    return found
