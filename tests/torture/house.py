"""A property under torture: its folder, its keys, and daemons that live and die over its record."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tests.e2e.running import Daemon, Property
from tests.torture.plays import PLACES, PROPERTY
from tests.torture.violation import Violation, demand

READY_SECONDS = 60
STORE = "record/riverside.db"


class Process(Daemon):
    """A daemon that may have an environment of its own, and may die before it is ready."""

    def __init__(self, config: Path) -> None:
        super().__init__(config)
        self._folder = config.parent
        self.environment: dict[str, str] = {}

    def launch(self) -> None:
        """Start it, and don't wait until it is ready."""
        self._ready, writing = os.pipe()
        with os.fdopen(writing, "wb"), (self._folder / "daemon.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "jackpotd", "run", str(self._config)),
                    *("--ready-fd", str(writing)),
                ],
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(writing,),
            )

    def comes_up(self) -> bool:
        """Wait until it listens, or has ended: tell which. Raises Violation if it does neither."""
        found, _, _ = select.select([self._ready], [], [], READY_SECONDS)
        demand(bool(found), f"the daemon is not ready after {READY_SECONDS} s")
        if select.select([self._ready], [], [], 0)[0] and self._said_ports():
            return True
        assert self._process is not None
        self._process.wait(READY_SECONDS)
        return False

    def _said_ports(self) -> bool:
        with suppress(AssertionError):
            self.await_ready()
            return True
        return False

    def end(self) -> int:
        """Wait for its end, and return its exit code."""
        return self.wait()


class House:
    """A property whose record is in a folder of its own, which may be a file system of its own."""

    def __init__(self, folder: Path, keys: Mapping[str, str]) -> None:
        self.folder = folder
        self.keys = keys
        self.config = folder / "riverside.yaml"
        self.store = folder / STORE
        self.daemon = Process(self.config)

    @classmethod
    def build(cls, folder: Path) -> House:
        """Make a property that never ran."""
        folder.mkdir(parents=True)
        (folder / STORE).parent.mkdir()
        made = Property(config=folder / "riverside.yaml")
        made.config.write_text(PROPERTY.format(store=STORE))
        made.add_key("pit", "table", *(place.name for place in PLACES))
        made.add_key("floor-1", "floor")
        return cls(folder, made.keys)

    def another(self, folder: Path) -> House:
        """Make another that never ran, with the same keys."""
        (folder / STORE).parent.mkdir(parents=True)
        for file in self.folder.iterdir():
            if file.suffix == ".yaml":
                shutil.copy(file, folder)
        return House(folder, self.keys)

    def start(self) -> None:
        """Start the daemon, which must come up."""
        self.daemon.launch()
        self.must_come_up()

    def must_come_up(self) -> None:
        """Wait for a daemon that was launched."""
        if not self.daemon.comes_up():
            code = self.daemon.end()
            raise Violation(f"the daemon did not start (exit code {code}):\n{self.last_words()}")

    def last_words(self) -> str:
        """Return the end of the daemon's log."""
        return "\n".join(self.daemon.log.splitlines()[-15:])

    def complained(self) -> None:
        """Raise Violation if the daemon ever logged a fault of its own."""
        log = self.daemon.log
        found = log.find("Traceback")
        demand(found < 0, f"the daemon logged a fault:\n{log[found : found + 3000]}")
