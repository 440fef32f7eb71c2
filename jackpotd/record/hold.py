"""What stands beside a record: the lock file, which knows how far it was written, and some room.

The lock file keeps other daemons out. A record that lost its end, or was emptied, looks like an
older or a new one: only what stands beside it can tell. After a power cut the number may be behind
the record, and never ahead of it, as it is written after the row and not synced.
"""

from __future__ import annotations

import fcntl
import os
from contextlib import suppress
from pathlib import Path

from jackpotd.record.rows import RecordError

_DIGITS = 20
_ROOM_BYTES = 1 << 20


class Hold:
    """Holds a record for this process alone. Raises RecordError if another has it."""

    def __init__(self, record: Path) -> None:
        self._record = record
        self._path = record.with_name(record.name + ".lock")
        self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            raise RecordError(f"{record} is in use by another running daemon") from None

    def note(self, number: int) -> None:
        """Remember that the record goes as far as row `number`."""
        # The row is durable: a full disk must not turn its answer into a refusal.
        with suppress(OSError):
            os.pwrite(self._file, f"{number:0{_DIGITS}}".encode(), 0)

    def check(self, last: int) -> None:
        """Raise RecordError if the record, which ends at row `last`, went further once."""
        text = os.pread(self._file, _DIGITS, 0)
        written = int(text) if text.isdigit() else 0
        if last < written:
            raise RecordError(
                f"{self._record} ends at row {last}, but row {written} was written: the rest is "
                f"gone; restore a backup. To go on with this one all the same, as after a "
                f"restoration, remove {self._path}"
            )

    def close(self) -> None:
        """Let another daemon have the record."""
        os.close(self._file)


def prove_room(record: Path) -> None:
    """Raise OSError unless there is room for a large batch beside a record.

    A row may still fit where a batch doesn't: a store that is full to the brim would be lost, back
    and lost again at every wager.
    """
    room = record.with_name(record.name + ".room")
    try:
        with room.open("wb") as file:
            file.write(bytes(_ROOM_BYTES))
            file.flush()
            os.fsync(file.fileno())
    finally:
        room.unlink(missing_ok=True)
