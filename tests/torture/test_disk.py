"""What a disk may hold after the power is cut, given what was written and synced."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from random import Random

import pytest

from tests.torture.disk import ENTRY, SECTOR, Cut, Disk
from tests.torture.violation import Violation

DB, WAL, DIRECTORY = 0, 1, 4
OLD, NEW, NEWER = b"o" * SECTOR * 2, b"n" * SECTOR * 2, b"N" * SECTOR
SEEDS = range(40)


@pytest.fixture
def disk(tmp_path: Path) -> Disk:
    """A disk with a database of two sectors; its inode is `inode`."""
    (tmp_path / "a.db").write_bytes(OLD)
    return Disk(tmp_path / "a.db")


@pytest.fixture
def inode(tmp_path: Path, disk: Disk) -> int:
    return (tmp_path / "a.db").stat().st_ino


def entry(what: str, file: int, inode: int, offset: int = 0, data: bytes = b"") -> bytes:
    return ENTRY.pack(what.encode(), file, inode, offset, len(data)) + data


def outcomes(disk: Disk, cut: Cut, ending: str = "") -> set[bytes | None]:
    """Return what may be left of a file, as far as chance goes."""
    return {disk.after(cut, Random(seed)).get(ending) for seed in SEEDS}


def test_an_entry_is_laid_out_as_the_library_writes_it() -> None:
    assert ENTRY.size == 32
    assert ENTRY.unpack(b"W\1" + bytes(6) + struct.pack("<QQQ", 5, 6, 7)) == (b"W", 1, 5, 6, 7)


def test_what_was_synced_stays(disk: Disk, inode: int) -> None:
    disk.play(entry("W", DB, inode, 0, NEW) + entry("S", DB, inode))
    assert all(outcomes(disk, cut) == {NEW} for cut in Cut)


def test_what_was_not_synced_is_lost_in_whole_or_by_sectors(disk: Disk, inode: int) -> None:
    disk.play(entry("W", DB, inode, 0, NEW))
    torn = {NEW[:SECTOR] + OLD[SECTOR:], OLD[:SECTOR] + NEW[SECTOR:]}
    assert outcomes(disk, Cut.ALL) == {OLD}
    assert outcomes(disk, Cut.NONE) == {NEW}
    assert outcomes(disk, Cut.SOME) == outcomes(disk, Cut.SINCE) == {OLD, NEW, *torn}


def test_a_sector_never_has_a_later_change_without_an_earlier_one(disk: Disk, inode: int) -> None:
    disk.play(entry("W", DB, inode, 0, NEW[:SECTOR]) + entry("W", DB, inode, 0, NEWER[:8]))
    rest = OLD[SECTOR:]
    newer = NEWER[:8] + NEW[8:SECTOR] + rest
    assert outcomes(disk, Cut.SOME) == {OLD, NEW[:SECTOR] + rest, newer}


def test_a_file_that_grew_may_have_grown_without_its_content(disk: Disk, inode: int) -> None:
    disk.play(entry("W", DB, inode, len(OLD), NEWER))
    assert outcomes(disk, Cut.SOME) == {OLD, OLD + NEWER, OLD + bytes(SECTOR)}


def test_a_file_that_was_cut_short_may_still_be_long(disk: Disk, inode: int) -> None:
    disk.play(entry("T", DB, inode, SECTOR))
    assert outcomes(disk, Cut.ALL) == {OLD}
    assert outcomes(disk, Cut.NONE) == {OLD[:SECTOR]}
    assert outcomes(disk, Cut.SOME) == {OLD, OLD[:SECTOR], OLD[:SECTOR] + bytes(SECTOR)}


def test_a_new_file_is_nothing_without_its_name(disk: Disk) -> None:
    made = entry("C", WAL, 999) + entry("W", WAL, 999, 0, NEWER) + entry("S", WAL, 999)
    disk.play(made)
    assert outcomes(disk, Cut.ALL, "-wal") == {None}
    assert outcomes(disk, Cut.SOME, "-wal") == {None, NEWER}
    disk.play(entry("S", DIRECTORY, 1))
    assert outcomes(disk, Cut.ALL, "-wal") == {NEWER}


def test_a_file_that_was_removed_may_come_back(disk: Disk) -> None:
    disk.play(entry("U", DB, 0))
    assert outcomes(disk, Cut.ALL) == {OLD}
    assert outcomes(disk, Cut.SOME) == {OLD, None}
    disk.play(entry("S", DIRECTORY, 1))
    assert outcomes(disk, Cut.ALL) == {None}


def test_what_a_sync_failed_to_write_the_next_one_does_not_bring_back(
    disk: Disk, inode: int
) -> None:
    disk.play(entry("W", DB, inode, 0, NEW) + entry("F", DB, inode) + entry("S", DB, inode))
    assert outcomes(disk, Cut.NONE) == {OLD}


def test_an_entry_that_was_cut_short_never_happened(disk: Disk, inode: int) -> None:
    disk.play(entry("W", DB, inode, 0, NEW)[:-1])
    assert outcomes(disk, Cut.NONE) == {OLD}


def test_what_the_log_can_not_express_is_no_silence(disk: Disk, inode: int) -> None:
    with pytest.raises(Violation, match="a file was mapped to be written"):
        disk.play(entry("?", DB, inode, 6))


def stories(inode: int) -> Iterator[tuple[bytes, bytes, bool]]:
    """Yield logs, contents and whether the log explains the content."""
    write = entry("W", DB, inode, 0, NEW)
    yield b"", OLD, True
    yield b"", NEW, False
    yield write, NEW, True
    yield write, OLD, True  # it died before it wrote
    yield write + entry("S", DB, inode), OLD, False
    yield write + entry("W", DB, inode, 0, NEWER), OLD, False


@pytest.mark.parametrize("number", range(6))
def test_a_change_that_the_log_has_not_is_seen(tmp_path: Path, number: int) -> None:
    path = tmp_path / "a.db"
    path.write_bytes(OLD)
    disk = Disk(path)
    log, content, explained = list(stories(path.stat().st_ino))[number]
    path.write_bytes(content)
    disk.play(log)
    assert disk.tells_all() == explained
