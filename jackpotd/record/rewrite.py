"""The write-ahead log written once more, before what it holds is believed.

A sync that failed leaves rows that can be read and are on no disk: the system forgets that they
have to be written, and the next sync succeeds without them. Whoever opens the record then would
find those rows and acknowledge them, and a power cut would take them away, with all that stands
behind them.
"""

from __future__ import annotations

import os
from pathlib import Path

_CHUNK_BYTES = 1 << 20


def rewrite_log(record: Path) -> None:
    """Write what a record's write-ahead log holds over itself, and sync it and its name.

    Raises OSError if that can't be done: then the record must not be used.
    """
    try:
        log = os.open(record.with_name(record.name + "-wal"), os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        offset = 0
        while chunk := os.pread(log, _CHUNK_BYTES, offset):
            offset += os.pwrite(log, chunk, offset)
        os.fsync(log)
    finally:
        os.close(log)
    folder = os.open(record.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
