"""A disk in memory: one log of frames, of which a power cut leaves what was synced, and chance.

A frame is its length, its checksum and its content, so that whoever reads the log again finds a
torn one. What was written and not synced survives a killed process, and a power cut only by luck.
"""

from __future__ import annotations

import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator
from random import Random

from tests.sim.violation import Tally, demand

_HEAD = struct.Struct(">II")
_SECTOR = 64
"""Bytes that a power cut loses together; a disk's 512 would hold most of these small frames."""


class PowerCut(BaseException):
    """The daemon ends in the middle of a write. Nothing of it may catch this."""


class Disk:
    """The log. `durable` is told each frame's content once it is synced, in order.

    `next_fault` is how the next write fails, `next_crash` where in it the daemon ends, "" for
    neither; while `full`, and for `bad_probes` more attempts, nothing can be written.
    """

    def __init__(self, chance: Random, tally: Tally, durable: Callable[[bytes], None]) -> None:
        self.next_fault = ""
        self.next_crash = ""
        self.full = False
        self.bad_probes = 0
        self._chance = chance
        self._tally = tally
        self._durable = durable
        self._log = bytearray()
        self._synced = 0
        self._committed = 0
        self._forgotten = False

    def append(self, content: bytes) -> None:
        """Write a frame and sync it. Raises sqlite3.OperationalError, or PowerCut."""
        frame = _HEAD.pack(len(content), zlib.crc32(content)) + content
        fault, self.next_fault = self.next_fault, ""
        self._ends("before a write")
        if self.full:
            raise self._failed("disk full")
        if fault == "refused":
            raise self._failed(fault)
        torn = frame[: self._chance.randrange(len(frame))]
        if self.next_crash == "half written":
            self._log += torn
            self._ends("half written")
        if fault == "half written":
            self._log += torn
            raise self._failed(fault)
        self._log += frame
        self._ends("unsynced")
        if fault == "sync failed":
            # The system forgets that this has to be written: a later sync succeeds without it.
            self._forgotten = True
            raise self._failed(fault)
        self.sync()
        self._committed = len(self._log)
        self._ends("synced")
        if fault == "answer lost":
            raise self._failed(fault)

    def probe(self) -> None:
        """Write and sync something that changes nothing. Raises sqlite3.OperationalError."""
        if self.full or self.bad_probes:
            self.bad_probes = max(0, self.bad_probes - 1)
            raise self._failed("probe failed", probes=self.bad_probes)
        self.sync()

    def sync(self) -> None:
        """Make all that was written durable, but for what a failed sync has left unwritten."""
        if self._forgotten:
            return
        start, self._synced = self._synced, len(self._log)
        for content, _ in _frames(self._log, start):
            self._durable(content)

    def rewrite(self) -> None:
        """Write once more what can be read, and sync it."""
        self._forgotten = False
        self.sync()

    def open(self) -> list[bytes]:
        """Return the content of every whole frame; what is behind them was torn, and goes."""
        contents, end = [], 0
        for content, after in _frames(self._log, 0):
            contents.append(content)
            end = after
        demand(end >= self._synced, "the simulated disk lost something synced")
        del self._log[end:]
        self._committed = end
        return contents

    def close(self) -> None:
        """Close: what failed to commit may be dropped now, or be found at the next opening."""
        if self._chance.randrange(2):
            del self._log[max(self._committed, self._synced) :]

    def cut_power(self) -> None:
        """Lose what was not synced: all, the end or some sectors of it, or nothing by luck."""
        chance, start, end = self._chance, self._synced, len(self._log)
        self._forgotten = False
        if start == end:
            return
        luck = chance.choice(["all", "end", "sectors", "nothing"])
        self._tally[f"unsynced lost: {luck}"] += 1
        if luck == "all":
            del self._log[start:]
        elif luck == "end":
            del self._log[chance.randint(start, end) :]
        elif luck == "sectors":
            for sector in range(start, end, _SECTOR):
                if chance.randrange(2):
                    until = min(end, sector + _SECTOR)
                    self._log[sector:until] = bytes(until - sector)

    def heal(self) -> None:
        """Work from now on."""
        self.full, self.bad_probes, self.next_fault, self.next_crash = False, 0, "", ""

    def _ends(self, stage: str) -> None:
        if self.next_crash == stage:
            self.next_crash = ""
            raise PowerCut(stage)

    def _failed(self, kind: str, probes: int | None = None) -> sqlite3.OperationalError:
        self._tally[f"fault {kind}"] += 1
        self.bad_probes = self._chance.choice([0, 0, 1, 3]) if probes is None else probes
        return sqlite3.OperationalError(kind)


def _frames(log: bytearray, start: int) -> Iterator[tuple[bytes, int]]:
    """Yield each whole frame's content, and where the next one begins."""
    while len(log) >= start + _HEAD.size:
        length, checksum = _HEAD.unpack_from(log, start)
        start += _HEAD.size
        content = bytes(log[start : start + length])
        # A head of zeros is a lost sector and no frame: none is empty.
        if not length or len(content) < length or zlib.crc32(content) != checksum:
            return
        start += length
        yield content, start
