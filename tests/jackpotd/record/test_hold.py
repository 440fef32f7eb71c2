"""The lock file of a record: who may write, and how far the record was written."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from jackpotd.record.hold import Hold, prove_room
from jackpotd.record.rows import RecordError


@pytest.fixture
def record(tmp_path: Path) -> Path:
    return tmp_path / "riverside.db"


@pytest.fixture
def hold(record: Path) -> Iterator[Hold]:
    with closing(Hold(record)) as hold:
        yield hold


def test_one_process_has_a_record_until_it_lets_it_go(record: Path) -> None:
    with closing(Hold(record)), pytest.raises(RecordError, match="is in use by another running"):
        Hold(record)
    Hold(record).close()


def test_a_record_that_was_never_written_may_end_anywhere(hold: Hold) -> None:
    hold.check(0)
    hold.check(7)


@pytest.mark.parametrize(("written", "fine", "short"), [(7, 7, 6), (1, 1, 0), (2**62, 2**62, 9)])
def test_a_record_may_not_end_before_the_row_that_was_written(
    record: Path, written: int, fine: int, short: int
) -> None:
    with closing(Hold(record)) as hold:
        hold.note(3)
        hold.note(written)
    with closing(Hold(record)) as hold:
        hold.check(fine)
        # After a power cut the number may be behind the record.
        hold.check(fine + 1)
        with pytest.raises(RecordError, match=f"ends at row {short}, but row {written} was") as at:
            hold.check(short)
    assert f"remove {record}.lock" in str(at.value)


@pytest.mark.parametrize("left", [b"", b"00000", b"\0" * 20, b"no number at all, but"])
def test_what_a_power_cut_left_of_the_number_says_nothing(record: Path, left: bytes) -> None:
    record.with_name("riverside.db.lock").write_bytes(left)
    with closing(Hold(record)) as hold:
        hold.check(0)


@contextmanager
def files_up_to(size: int) -> Iterator[None]:
    """Let this process write no file beyond so many bytes, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_disk_that_can_not_take_the_number_is_no_reason_to_fail(hold: Hold) -> None:
    with files_up_to(0):
        hold.note(3)
    hold.check(0)
    hold.note(3)
    with pytest.raises(RecordError):
        hold.check(0)


def test_room_for_a_row_is_not_room_for_a_batch(record: Path) -> None:
    with files_up_to(10_000), pytest.raises(OSError, match="File too large"):
        prove_room(record)
    prove_room(record)
    assert list(record.parent.iterdir()) == []
