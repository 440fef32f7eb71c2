"""The power of a property: it can be cut. The record's disk then holds what a real one may."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from random import Random

from tests.torture.disk import ENDINGS, Cut, Disk
from tests.torture.shim import compiled
from tests.torture.violation import demand

CUTS = (Cut.ALL, Cut.SINCE, Cut.SOME, Cut.SOME)
"""Which cuts are made; some twice as often."""


class Power:
    """Writes down what a daemon does to a record. `environment` is what the daemon needs for it.

    `folder` is where the log and the library are; it survives the cut.
    """

    def __init__(self, record: Path, folder: Path) -> None:
        self._record = record.resolve()
        self._log = folder / "log"
        self._failing = folder / "failing"
        self._log.write_bytes(b"")
        self._disk = Disk(self._record)
        self._library = compiled("powercut", folder)
        self.lost = self.writes = self.syncs = 0

    def environment(self, dies_at: str = "") -> dict[str, str]:
        """Return a daemon's environment; it ends itself in `dies_at`, as in "wal:7", if given."""
        found = {
            "LD_PRELOAD": str(self._library),
            "POWERCUT_RECORD": str(self._record),
            "POWERCUT_LOG": str(self._log),
            "POWERCUT_FAIL": str(self._failing),
        }
        return {**found, "POWERCUT_AT": dies_at} if dies_at else found

    def fail_syncs(self) -> None:
        """Let every sync fail from now on."""
        self._failing.touch()

    def mend(self) -> None:
        """Let syncs succeed again."""
        self._failing.unlink()

    def read(self) -> None:
        """Take in the log of a daemon that is dead."""
        self._disk.play(self._log.read_bytes())
        self._log.write_bytes(b"")
        demand(self._disk.tells_all(), "the record was changed in a way that powercut.c didn't see")

    def cut(self, chance: Random) -> Cut:
        """Cut the power: the record is what is left. The log was read."""
        self.lost += self._disk.unsynced()
        self.writes += self._disk.writes
        self.syncs += self._disk.syncs
        cut = chance.choice(CUTS)
        self._put(self._record, self._disk.after(cut, chance), chance)
        self._disk = Disk(self._record)
        return cut

    def might_leave(self, path: Path, cut: Cut, chance: Random) -> None:
        """Put what another cut could have left beside it, as a record of its own."""
        self._put(path, self._disk.after(cut, chance), chance)

    def _put(self, record: Path, contents: Mapping[str, bytes], chance: Random) -> None:
        for ending in ENDINGS:
            file = record.with_name(record.name + ending)
            file.unlink(missing_ok=True)
            if ending in contents:
                file.write_bytes(contents[ending])
        # Memory that was mapped from a file: whatever a disk has of it, it counts for nothing.
        shared = record.with_name(record.name + "-shm")
        shared.unlink(missing_ok=True)
        if chance.randrange(2):
            shared.write_bytes(chance.randbytes(32_768))
