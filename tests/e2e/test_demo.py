"""The demonstration as it is typed: signs, a jackpot to confirm, and an end without a trace."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import socket
import stat
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROYAL_AT_ONCE = ("--rig", "royal flush@FCP-01:2@1")


@dataclass(kw_only=True)
class Shown:
    """A demonstration that runs, and what it has said."""

    process: subprocess.Popen[str]
    said: str = ""

    def until(self, pattern: str) -> re.Match[str]:
        """Read on until a line has the pattern."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.said += line
            match = re.search(pattern, line)
            if match:
                return match
        pytest.fail(f"it ended without {pattern!r}:\n{self.said}")

    def interrupt(self) -> None:
        """Press Ctrl-C."""
        self.process.send_signal(signal.SIGINT)

    def end(self) -> int:
        """Read to its end and return its exit code."""
        rest, _ = self.process.communicate()
        self.said += rest
        return self.process.returncode


@contextmanager
def demo(*words: str) -> Iterator[Shown]:
    with subprocess.Popen(
        [sys.executable, "-m", "jackpotd", "demo", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            yield Shown(process=process)
        finally:
            if process.poll() is None:
                process.terminate()


def get(address: str) -> str:
    with urllib.request.urlopen(address) as answer:
        body: bytes = answer.read()
    return body.decode()


def daemon_of(shown: Shown) -> int:
    """Return the process id of the daemon, the only child."""
    pid = shown.process.pid
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(child)


def assert_nothing_is_left(address: str, folder: str, daemon: int) -> None:
    port = int(address.rpartition(":")[2])
    with pytest.raises(ConnectionRefusedError), socket.create_connection(("127.0.0.1", port)):
        pass
    assert not Path(folder).exists()
    assert not Path(f"/proc/{daemon}").exists()


def test_with_rounds_it_shows_its_signs_pays_its_jackpot_and_ends_by_itself() -> None:
    with demo("--rounds", "20", "--rate", "5") as shown:
        folder = shown.until(r"a sample property in (\S+)")[1]
        site, sign = shown.until(r"sign +(http://127\.0\.0\.1:\d+)(/sign/\S+)").groups()
        assert "<title>" in get(site + sign)
        meters = json.loads(get(f"{site}/api/meters"))
        daemon = daemon_of(shown)
        assert shown.end() == 0
    assert set(meters["progressives"]) >= {"riverside-royal", "golden-dragon"}
    assert re.search(r"JACKPOT PENDING: hit \d+, royal flush at FCP-01 seat 2, \$50,", shown.said)
    assert re.search(r"hit \d+ is confirmed by demo-floor: \$50,", shown.said)
    assert re.search(r"rounds    80, ", shown.said)
    assert re.search(r"jackpot liability \d+\.\d{8} USD: .*pending 0\.00000000", shown.said)
    assert "reconcile: no difference" in shown.said
    assert re.search(r"verify: .* are right", shown.said)
    assert_nothing_is_left(site, folder, daemon)


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_ends_it_in_good_order(ending: signal.Signals) -> None:
    with demo(*ROYAL_AT_ONCE) as shown:
        folder = shown.until(r"a sample property in (\S+)")[1]
        site = shown.until(r"(http://127\.0\.0\.1:\d+)/sign/")[1]
        shown.until("JACKPOT PENDING")
        daemon = daemon_of(shown)
        shown.process.send_signal(ending)
        assert shown.end() == 0
    # The award that nobody confirmed is owed.
    assert re.search(r"pending [1-9]\d+\.\d{8}", shown.said)
    assert "reconcile: no difference" in shown.said
    assert_nothing_is_left(site, folder, daemon)


def test_whoever_watches_confirms_with_the_command_that_is_shown(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    with demo(*ROYAL_AT_ONCE, "--keep", str(kept), "--tables", "FCP-01,CSP-05") as shown:
        command = shown.until(r"to confirm it: (.+)")[1]
        done = subprocess.run(shlex.split(command), capture_output=True, text=True, check=True)
        assert re.match(r"hit \d+ is confirmed by floor-1: pay \$50,", done.stdout)
        shown.until("FCP-01 plays on")
        shown.interrupt()
        assert shown.end() == 0
    assert stat.S_IMODE((kept / "floor.key").stat().st_mode) == 0o600
    exported = subprocess.run(
        [sys.executable, "-m", "jackpotd", "ledger", "export", str(kept / "riverside.yaml")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert ",confirm," in exported.stdout


def test_a_daemon_that_dies_is_told_with_its_last_lines() -> None:
    with demo() as shown:
        folder = shown.until(r"a sample property in (\S+)")[1]
        site = shown.until(r"(http://127\.0\.0\.1:\d+)/sign/")[1]
        shown.until("Ctrl-C")
        daemon = daemon_of(shown)
        os.kill(daemon, signal.SIGKILL)
        assert shown.end() == 1
    assert "the daemon ended by itself (signal 9); its last lines:" in shown.said
    assert "Traceback" not in shown.said
    assert_nothing_is_left(site, folder, daemon)


def test_a_taken_port_is_said_and_nothing_is_left_behind(free_port: int) -> None:
    with (
        socket.create_server(("127.0.0.1", free_port)),
        demo("--http-port", str(free_port)) as shown,
    ):
        assert shown.end() == 1
    assert "the daemon ended before it was ready" in shown.said
    assert f"can't listen on tcp:{free_port}" in shown.said


def test_usual_ports_that_are_taken_are_no_hindrance() -> None:
    with demo() as first:
        one = first.until(r"(http://127\.0\.0\.1:\d+)/sign/")[1]
        with demo() as second:
            other = second.until(r"(http://127\.0\.0\.1:\d+)/sign/")[1]
            assert one != other
            assert "<title>" in get(f"{one}/sign/pit-1")
            assert "<title>" in get(f"{other}/sign/pit-1")
            second.until("Ctrl-C")
            second.interrupt()
            assert second.end() == 0
        first.interrupt()
        assert first.end() == 0


def test_a_folder_that_has_a_property_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "riverside.yaml").write_text("property: Mine\n")
    with demo("--keep", str(tmp_path)) as shown:
        assert shown.end() == 1
    assert "is there already" in shown.said
    assert (tmp_path / "riverside.yaml").read_text() == "property: Mine\n"
