"""What a disk may hold after a power cut: the log of powercut.c, played on a copy in memory.

A change that was synced stays. One that was not may be there or not, each 512-byte sector by
itself; but a sector holds its changes in their order, so it stands as after one of them. A file's
size may be any that it had since the last sync. A name made or removed counts once the directory
was synced, or may count: in the order in which it happened, as journaling file systems keep it.
A sync that failed leaves what it should have written as lost: the next one does not bring it back.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from random import Random

from tests.torture.violation import Violation

SECTOR = 512
ENDINGS = ("", "-wal", "-journal", ".lock")
DIRECTORY = len(ENDINGS)
ENTRY = struct.Struct("<cB6xQQQ")

WHYS = {
    1: "a file was opened to be emptied or appended to",
    2: "a write failed or fell short",
    3: "a file was renamed",
    4: "a file was written with writev",
    5: "a file was allocated",
    6: "a file was mapped to be written",
}


class Cut(Enum):
    """How much of what was not synced is lost."""

    ALL = "all that was not synced is lost"
    NONE = "nothing is lost, as when only the process dies"
    SINCE = "all since some moment is lost, the last write torn"
    SOME = "of each sector some newest changes are lost"


@dataclass(frozen=True, slots=True)
class _Write:
    offset: int
    data: bytes


@dataclass(frozen=True, slots=True)
class _Truncate:
    size: int


@dataclass(slots=True)
class _File:
    """A file: what is on the disk for sure, and the changes since."""

    safe: bytearray = field(default_factory=bytearray)
    pending: list[_Write | _Truncate] = field(default_factory=list)

    def sync(self) -> None:
        for change in self.pending:
            _apply(self.safe, change)
        self.pending = []

    def explains(self, content: bytes) -> bool:
        """Tell whether this is the content after all changes, or after all but the last."""
        found = bytearray(self.safe)
        before = found
        for change in self.pending:
            before = found.copy()
            _apply(found, change)
        return content in (found, before)


class Disk:
    """The files of a record on their disk, from a moment at which all of it was safe."""

    def __init__(self, record: Path) -> None:
        self._paths = [record.with_name(record.name + ending) for ending in ENDINGS]
        self._files: dict[int, _File] = {}
        self._names: dict[int, _File] = {}
        for name, path in enumerate(self._paths):
            if path.exists():
                file = _File(safe=bytearray(path.read_bytes()))
                self._files[path.stat().st_ino] = self._names[name] = file
        self._safe_names = dict(self._names)
        self._pending_names: list[tuple[int, _File | None]] = []
        self.syncs = self.writes = 0
        self._failed = False

    def play(self, log: bytes) -> None:
        """Take in what happened since. Raises Violation for what the log can't express."""
        at = 0
        while at + ENTRY.size <= len(log):
            what, name, inode, offset, length = ENTRY.unpack_from(log, at)
            at += ENTRY.size
            data = b""
            if what == b"W":
                data = log[at : at + length]
                at += length
                if len(data) < length:  # killed in the middle of writing it down
                    return
            self._take(what, name, inode, offset, data)

    def _take(self, what: bytes, name: int, inode: int, offset: int, data: bytes) -> None:
        match what:
            case b"C":
                self._files[inode] = self._names[name] = _File()
                self._pending_names.append((name, self._files[inode]))
            case b"U":
                del self._names[name]
                self._pending_names.append((name, None))
            case b"W":
                self.writes += 1
                self._files[inode].pending.append(_Write(offset, data))
            case b"T":
                self._files[inode].pending.append(_Truncate(offset))
            case b"S" if name == DIRECTORY:
                self._safe_names, self._pending_names = dict(self._names), []
            case b"S":
                self.syncs += 1
                self._files[inode].sync()
            case b"F":
                self._failed = True
                if name != DIRECTORY:
                    self._files[inode].pending = []
            case _:
                raise Violation(f"powercut.c knows no {what!r}: {WHYS.get(offset, offset)}")

    def unsynced(self) -> int:
        """Return how many changes are not safe."""
        changes = sum(len(file.pending) for file in self._names.values())
        return changes + len(self._pending_names)

    def tells_all(self) -> bool:
        """Tell whether the log explains the files as they stand.

        The last change of a file may be missing: the process may have died before it made it.
        """
        if self._failed:  # then the files have what their disk will never get
            return True
        return all(
            path.exists() == (name in self._names)
            and (name not in self._names or self._names[name].explains(path.read_bytes()))
            for name, path in enumerate(self._paths)
        )

    def after(self, cut: Cut, chance: Random) -> Mapping[str, bytes]:
        """Return what may be there after the power was cut: contents by the endings of names."""
        names = dict(self._safe_names)
        kept = {
            Cut.ALL: 0,
            Cut.NONE: len(self._pending_names),
        }.get(cut, chance.randint(0, len(self._pending_names)))
        for name, file in self._pending_names[:kept]:
            if file is None:
                names.pop(name, None)
            else:
                names[name] = file
        return {ENDINGS[name]: _content(file, cut, chance) for name, file in names.items()}


def _content(file: _File, cut: Cut, chance: Random) -> bytes:
    content = bytearray(file.safe)
    match cut:
        case Cut.ALL:
            pass
        case Cut.NONE:
            for change in file.pending:
                _apply(content, change)
        case Cut.SINCE if file.pending:
            last = chance.randrange(len(file.pending))
            for change in file.pending[:last]:
                _apply(content, change)
            _mix(content, file.pending[last : last + 1], chance)
        case _:
            _mix(content, file.pending, chance)
    return bytes(content)


def _apply(content: bytearray, change: _Write | _Truncate) -> None:
    if isinstance(change, _Truncate):
        _resize(content, change.size)
    else:
        end = change.offset + len(change.data)
        _resize(content, max(len(content), end))
        content[change.offset : end] = change.data


def _resize(content: bytearray, size: int) -> None:
    del content[size:]
    content.extend(bytes(size - len(content)))


def _mix(content: bytearray, changes: list[_Write | _Truncate], chance: Random) -> None:
    """Apply to each sector some of its changes: the first few of them."""
    sizes = [len(content)]
    of_sector: defaultdict[int, list[tuple[int, bytes]]] = defaultdict(list)
    for change in changes:
        if isinstance(change, _Truncate):
            gone = max(0, max(sizes) - change.size)
            pieces = _pieces(change.size, bytes(gone))
            sizes.append(change.size)
        else:
            pieces = _pieces(change.offset, change.data)
            sizes.append(max(sizes[-1], change.offset + len(change.data)))
        for offset, data in pieces:
            of_sector[offset - offset % SECTOR].append((offset, data))
    _resize(content, max(sizes))
    for of_this in of_sector.values():
        for offset, data in of_this[: chance.randint(0, len(of_this))]:
            content[offset : offset + len(data)] = data
    _resize(content, chance.choice(sizes))


def _pieces(offset: int, data: bytes) -> list[tuple[int, bytes]]:
    """Cut a write where sectors end."""
    pieces = []
    at = 0
    while at < len(data):
        length = min(len(data) - at, SECTOR - (offset + at) % SECTOR)
        pieces.append((offset + at, data[at : at + length]))
        at += length
    return pieces
