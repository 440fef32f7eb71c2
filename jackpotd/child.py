"""The daemon as a child process: started, ready, stopped."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from types import TracebackType

import msgspec

from jackpotd.errors import JackpotdError

READY_SECONDS = 60
STOP_SECONDS = 30
LAST_LINES = 15


class DaemonDied(JackpotdError):
    """The daemon ended by itself, or never got ready; the message has its last lines."""


class DaemonProcess:
    """A daemon of its own: `python -m jackpotd run CONFIG`, with its log in a file.

    Use it with `with`: entering returns once it listens and raises DaemonDied if it doesn't,
    leaving ends it. It is in a session of its own, so that Ctrl-C reaches only its parent, which
    ends it in good order.
    """

    def __init__(self, config: Path, log: Path) -> None:
        self._config = config
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None
        self.ports: dict[str, int] = {}

    def __enter__(self) -> DaemonProcess:
        reading, writing = os.pipe()
        try:
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
                    start_new_session=True,
                )
            self.ports = self._await_ready(reading)
        except BaseException:
            self.stop()
            raise
        finally:
            os.close(reading)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """The process id."""
        assert self._process is not None
        return self._process.pid

    def check(self, *, within_seconds: float = 0) -> None:
        """Raise DaemonDied if it has ended, or does so within some seconds."""
        assert self._process is not None
        with suppress(subprocess.TimeoutExpired):
            code = self._process.wait(within_seconds)
            raise self._died(f"the daemon ended by itself ({_ending(code)})")

    def kill(self) -> None:
        """End it as a power cut would, with SIGKILL."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def stop(self) -> int:
        """End it with SIGTERM, with SIGKILL if that is no use; return its exit code."""
        process = self._process
        if process is None:
            return 0
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
        return process.wait()

    def _await_ready(self, reading: int) -> dict[str, int]:
        ready, _, _ = select.select([reading], [], [], READY_SECONDS)
        said = os.read(reading, 4096) if ready else b""
        if not said:
            why = "ended before it was ready" if ready else f"isn't ready in {READY_SECONDS} s"
            raise self._died(f"the daemon {why}")
        return msgspec.json.decode(said, type=dict[str, int])

    def _died(self, why: str) -> DaemonDied:
        lines = self._log.read_text("utf-8", "replace").splitlines()[-LAST_LINES:]
        return DaemonDied("\n".join((f"{why}; its last lines:", *(f"  {line}" for line in lines))))


def _ending(code: int) -> str:
    return f"signal {-code}" if code < 0 else f"exit code {code}"
