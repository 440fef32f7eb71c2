"""Where a command writes what it made: standard output, or a file that appears whole."""

from __future__ import annotations

import os
import secrets
import sys
from collections.abc import Iterable
from pathlib import Path

from jackpotd.errors import JackpotdError


class CannotWrite(JackpotdError):
    """The output file can't be written; the message says why."""


def write_out(chunks: Iterable[str], output: Path | None) -> None:
    """Write chunks of text as UTF-8 to `output`; to standard output if it is None or "-".

    A regular file is replaced in one step when all is written; if the chunks fail, it stays as it
    was. Raises CannotWrite.
    """
    if output is None or str(output) == "-":
        for chunk in chunks:
            sys.stdout.buffer.write(chunk.encode())
        sys.stdout.buffer.flush()
        return
    path = output.resolve()
    # A device or a pipe is written to: replacing it would put a file in its place.
    special = path.exists() and not path.is_file()
    draft = path if special else path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with draft.open("wb" if special else "xb") as file:
            for chunk in chunks:
                file.write(chunk.encode())
            file.flush()
            if not special:
                os.fsync(file.fileno())
        if not special:
            draft.replace(path)
    except BaseException as error:
        if not special:
            draft.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise CannotWrite(f"{output}: {error.strerror}") from error
        raise
