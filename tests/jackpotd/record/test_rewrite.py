"""The write-ahead log written once more before it is believed; tests/torture lets syncs fail."""

from __future__ import annotations

import resource
from pathlib import Path
from random import Random

import pytest

from jackpotd.record.rewrite import rewrite_log


@pytest.mark.parametrize("size", [0, 1, 4_120, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 3 << 20])
def test_a_log_of_any_size_stays_as_it_is(tmp_path: Path, size: int) -> None:
    log = tmp_path / "riverside.db-wal"
    held = Random(size).randbytes(size)
    log.write_bytes(held)
    inode = log.stat().st_ino
    rewrite_log(tmp_path / "riverside.db")
    assert log.read_bytes() == held
    assert log.stat().st_ino == inode


def test_it_is_written_and_not_only_read(tmp_path: Path) -> None:
    log = tmp_path / "riverside.db-wal"
    log.write_bytes(b"x")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            rewrite_log(tmp_path / "riverside.db")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_where_there_is_no_log_none_is_made(tmp_path: Path) -> None:
    rewrite_log(tmp_path / "riverside.db")
    assert list(tmp_path.iterdir()) == []
