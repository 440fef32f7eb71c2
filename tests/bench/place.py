"""A property for the bench: 300 tables on one progressive of three levels, and its daemon."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

TABLES = tuple(f"T{number:03}" for number in range(1, 301))


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where the bench's property is."""

    config: Path
    key_file: Path
    store: Path


def make_place(folder: Path) -> Place:
    """Write the configuration and a concentrator's key."""
    tables = "".join(f"  {name}: {{game: four-card-poker, seats: 6}}\n" for name in TABLES)
    config = folder / "bench.yaml"
    config.write_text(
        "property: Bench\ncurrency: USD\ntimezone: America/New_York\nstore: bench.db\n"
        "tables_listen: tcp:0:interface=127.0.0.1\nhttp_listen: tcp:0:interface=127.0.0.1\n"
        f"tables:\n{tables}progressives:\n  royal:\n    title: Royal\n"
        "    paytable: pa/641a-five-card-d\n    wager: $5\n"
        f"    tables: [{', '.join(TABLES)}]\n"
    )
    command = ["key", "add", str(config), "pit", "--role", "table", "--tables", ",".join(TABLES)]
    key = jackpotd(*command)
    key_file = folder / "pit.key"
    key_file.write_text(key)
    return Place(config=config, key_file=key_file, store=folder / "bench.db")


def jackpotd(*command: str) -> str:
    """Run a command of jackpotd and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "jackpotd", *command], check=True, capture_output=True, text=True
    )
    return done.stdout


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A process under load: its id and its ports by name."""

    pid: int
    ports: dict[str, int]

    def cpu_seconds(self) -> float:
        """Return the processor time that it has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mib(self) -> float:
        """Return the most memory that it has held."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        raise ValueError("no VmHWM")


@contextmanager
def daemon(place: Place) -> Iterator[Running]:
    """Run the daemon."""
    read_end, write_end = os.pipe()
    command = [sys.executable, "-m", "jackpotd", "run", str(place.config)]
    with subprocess.Popen(
        [*command, "--ready-fd", str(write_end)], pass_fds=[write_end], stderr=subprocess.DEVNULL
    ) as process:
        os.close(write_end)
        with os.fdopen(read_end) as ready:
            line = ready.readline()
        try:
            yield Running(pid=process.pid, ports=json.loads(line))
        finally:
            process.send_signal(signal.SIGTERM)


@contextmanager
def bare(kind: str, folder: Path) -> Iterator[Running]:
    """Run the bare echo or controller."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.bench.bare", kind, str(folder)],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        try:
            yield Running(pid=process.pid, ports={"tables": port})
        finally:
            process.kill()
