"""A property with real processes: its folder, its commands, its daemon."""

from __future__ import annotations

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

PATIENCE_SECONDS = 60
"""How long anything is waited for: no measure of anything, it only ends what never would."""

PORT_0 = "tcp:0:interface=127.0.0.1"

RIVERSIDE = """\
property: Riverside
currency: USD
timezone: America/New_York
store: riverside.db
tables:
  FCP-01: {game: four-card-poker, seats: 6}
  FCP-02: {game: four-card-poker, seats: 6}
  LIR-03: {game: let-it-ride, seats: 7}
  THB-04: {game: texas-holdem-bonus, seats: 6}
progressives:
  riverside-royal:
    title: Riverside Royal
    paytable: pa/641a-five-card-d
    wager: $5
    tables: [FCP-01, FCP-02, LIR-03, THB-04]
signs:
  pit-1: {title: Riverside Royal, progressives: [riverside-royal]}
"""
"""Four tables of three games on one jackpot; where they listen is added to it."""

TABLES = ("FCP-01", "FCP-02", "LIR-03", "THB-04")


def jackpotd(
    *words: str | Path, key: str = "", patience: float = PATIENCE_SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, as typed; `key` is handed over as JACKPOTD_KEY."""
    environment = {name: value for name, value in os.environ.items() if "JACKPOTD" not in name}
    if key:
        environment["JACKPOTD_KEY"] = key
    done = subprocess.run(
        [sys.executable, "-m", "jackpotd", *map(str, words)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=patience,
        check=False,
    )
    assert "Traceback" not in done.stderr, done.stderr
    return done


def until(condition: Callable[[], bool]) -> None:
    """Return as soon as a condition holds, in a tight loop: it may hold for a moment only."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        assert time.monotonic() < deadline, "this never came about"


def output_of(*words: str | Path, key: str = "") -> str:
    """Run a command that must succeed, and return what it printed."""
    done = jackpotd(*words, key=key)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@dataclass(slots=True, kw_only=True)
class Property:
    """A property in a folder of its own. `keys` are by the names of their principals."""

    config: Path
    keys: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        """Where everything of it is."""
        return self.config.parent

    @property
    def store(self) -> Path:
        """Its record."""
        return self.folder / "riverside.db"

    def write(
        self, text: str, *, tables_listen: str = PORT_0, http_listen: str = PORT_0
    ) -> Property:
        """Write the configuration anew, with where it listens."""
        listens = f"tables_listen: {tables_listen}\nhttp_listen: {http_listen}\n"
        self.config.write_text(listens + text)
        return self

    def add_key(self, name: str, role: str, *tables: str) -> str:
        """Make a key with the real command."""
        words = ["--tables", ",".join(tables)] if tables else []
        printed = output_of("key", "add", self.config, name, "--role", role, *words)
        self.keys[name] = printed.removesuffix("\n")
        assert "\n" not in self.keys[name]
        return self.keys[name]

    def copied_to(self, folder: Path) -> Property:
        """Return a copy of the property, with all that is in its folder."""
        shutil.copytree(self.folder, folder)
        return Property(config=folder / self.config.name, keys=dict(self.keys))

    @contextmanager
    def daemon(self) -> Iterator[Daemon]:
        """Give its daemon, not started; whatever happens, it is gone afterwards."""
        daemon = Daemon(self.config)
        try:
            yield daemon
        finally:
            daemon.kill()

    @contextmanager
    def running(self) -> Iterator[Daemon]:
        """Run the daemon for a while."""
        with self.daemon() as daemon:
            yield daemon.start()

    def refusal(self) -> str:
        """Start the daemon, which must refuse with exit code 1, and return what it said."""
        done = jackpotd("run", self.config)
        assert done.returncode == 1, done.stderr
        assert done.stdout == ""
        return done.stderr

    def proved(self) -> tuple[str, str]:
        """Reconcile and verify, which must find nothing wrong; return what they printed."""
        reconciled = output_of("ledger", "reconcile", self.config)
        verified = output_of("ledger", "verify", self.config)
        assert reconciled.splitlines()[-1] == "no difference"
        return reconciled, verified


def riverside(folder: Path, text: str = RIVERSIDE, **listens: str) -> Property:
    """Write a property with a concentrator's key, `pit`, and a floorperson's, `floor-1`."""
    folder.mkdir(exist_ok=True)
    house = Property(config=folder / "riverside.yaml").write(text, **listens)
    house.add_key("pit", "table", *TABLES)
    house.add_key("floor-1", "floor")
    return house


class Daemon:
    """One `jackpotd run` at a time, which can be started again after it ended.

    `ports` are those it says that it listens on: {"tables": N, "http": N}.
    """

    def __init__(self, config: Path) -> None:
        self._config = config
        self._log = config.parent / "daemon.log"
        self._process: subprocess.Popen[bytes] | None = None
        self._ready = -1
        self.ports: Mapping[str, int] = {}

    @property
    def pid(self) -> int:
        """Its process id."""
        assert self._process is not None
        return self._process.pid

    @property
    def log(self) -> str:
        """All that it ever logged."""
        return self._log.read_text()

    def launch(self) -> None:
        """Start it, and don't wait until it is ready."""
        self._ready, writing = os.pipe()
        with os.fdopen(writing, "wb"), self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    *(sys.executable, "-m", "jackpotd", "run", str(self._config)),
                    *("--ready-fd", str(writing)),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=(writing,),
            )

    def await_ready(self) -> None:
        """Wait until it listens."""
        found, _, _ = select.select([self._ready], [], [], PATIENCE_SECONDS)
        said = os.read(self._ready, 4096) if found else b""
        assert said.endswith(b"\n"), self.log
        self.ports = json.loads(said)

    def start(self) -> Daemon:
        """Start it; it listens on return."""
        self.launch()
        self.await_ready()
        return self

    def is_running(self) -> bool:
        """Tell whether the process is there."""
        return self._process is not None and self._process.poll() is None

    def kill(self) -> None:
        """End it as a power cut would, with SIGKILL. No harm if it has ended."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._forget()

    def terminate(self) -> None:
        """Ask it to end, with SIGTERM."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)

    def wait(self) -> int:
        """Wait for its end, and return its exit code."""
        assert self._process is not None
        code = self._process.wait(PATIENCE_SECONDS)
        self._forget()
        return code

    def stop(self) -> None:
        """End it in good order."""
        self.terminate()
        assert self.wait() == 0, self.log

    def peak_kib(self) -> int:
        """Return the most memory it ever had, in KiB."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        (line,) = (line for line in status.splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1])

    def _forget(self) -> None:
        self._process = None
        os.close(self._ready)
