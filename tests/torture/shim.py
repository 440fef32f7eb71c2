"""The two small libraries that are preloaded into a daemon: compiled where they are needed."""

from __future__ import annotations

import shutil
import struct
import subprocess
from pathlib import Path

from tests.torture.violation import CannotTry

FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC", "-pthread")
HOURS = 3600 * 10**9


def compiled(name: str, folder: Path) -> Path:
    """Compile a library of this folder into another one. Raises CannotTry without a compiler."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise CannotTry("cc is missing: `make compiler` installs it")
    library = folder / f"{name}.so"
    source = Path(__file__).with_name(f"{name}.c")
    subprocess.run([compiler, *FLAGS, "-o", str(library), str(source)], check=True)
    return library


class Clock:
    """The wall clock of a daemon: `environment` gives it to one, `set` moves it while it runs."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "offset"
        self._file.write_bytes(struct.pack("=q", 0))
        self.environment = {
            "LD_PRELOAD": str(compiled("clock", folder)),
            "CLOCK_FILE": str(self._file),
        }

    def set(self, offset_ns: int) -> None:
        """Let it differ from the real time by so many nanoseconds."""
        # Written in place: the daemon has the file mapped.
        with self._file.open("r+b", buffering=0) as file:
            file.write(struct.pack("=q", offset_ns))
