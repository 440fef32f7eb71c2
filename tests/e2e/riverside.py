"""A property in a process of its own, which a test can stop, kill and start again."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]


class Property:
    """The process with the site; what is committed survives it, as a record would."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self.port = 0

    def start(self) -> None:
        """Start, on the port of the last time."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.e2e.property_process", str(self.port)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def commit(self, do: str, **values: Any) -> None:
        """Tell the board what was committed."""
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps({"do": do, **values}) + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline().strip() == "done"

    def open_royal(self, sequence: int, **minor: int) -> None:
        """Show the royal with its levels, as a daemon does when it starts."""
        levels = {
            level: {"amount_minor": amount, "generation": 1} for level, amount in minor.items()
        }
        self.commit(
            "show_progressive", name="riverside-royal", title="Riverside Royal", levels=levels
        )
        self.meters(sequence)

    def meters(self, sequence: int, generations: dict[str, int] | None = None, **mi: int) -> None:
        """Commit values of the royal."""
        self.commit(
            "meters_committed",
            sequence=sequence,
            at_ms=_now_ms(),
            meters={"riverside-royal": mi},
            generations={"riverside-royal": generations or {}},
        )

    def hit(self, hit: int, **changes: Any) -> None:
        """Commit a full award of the mega."""
        award: dict[str, Any] = {
            "hit": hit,
            "progressive": "riverside-royal",
            "level": "mega",
            "line": "100% of mega",
            "table": "LIR-02",
            "round": 100,
            "seat": 5,
            "hand": "royal flush",
            "cards": ["As", "Ks", "Qs", "Js", "Ts"],
            "amount_minor": 123_456_789,
            "meter_minor": 123_456_789,
            "from_": "hand pay",
            "status": "pending",
            "envy": [[1, 500_000]],
            "at_ms": _now_ms(),
            "sequence": hit,
        }
        self.commit("hit_committed", **(award | changes))

    def resolve(self, hit: int, status: str, sequence: int) -> None:
        """Commit a confirmation or denial."""
        self.commit(
            "resolved_committed", hit=hit, status=status, at_ms=_now_ms(), sequence=sequence
        )

    def signal(self, number: signal.Signals) -> None:
        """Send the process a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    def kill(self) -> None:
        """Kill the process as a power cut would, and wait for its end."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
