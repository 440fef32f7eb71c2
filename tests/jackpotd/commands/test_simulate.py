"""`jackpotd simulate` as it is typed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.live_property import LiveProperty, live_property

WITHOUT_KEYS = {name: value for name, value in os.environ.items() if "JACKPOTD" not in name}


@pytest.fixture(scope="module")
def riverside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveProperty]:
    """A running property."""
    found = live_property(tmp_path_factory.mktemp("riverside"))
    with found.daemon():
        yield found


def typed(riverside: LiveProperty, *words: str) -> list[str]:
    return [sys.executable, "-m", "jackpotd", "simulate", str(riverside.config.path), *words]


def with_keys(riverside: LiveProperty) -> dict[str, str]:
    keys = {"JACKPOTD_KEY": riverside.tables_key, "JACKPOTD_FLOOR_KEY": riverside.floor_key}
    return WITHOUT_KEYS | keys


def simulate(
    riverside: LiveProperty, *words: str, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        typed(riverside, *words),
        capture_output=True,
        text=True,
        env=with_keys(riverside) if env is None else env,
        check=False,
    )


def test_it_plays_its_rounds_and_prints_a_summary(riverside: LiveProperty) -> None:
    done = simulate(
        riverside,
        *("--tables", "FCP-01,CSP-05", "--rounds", "5", "--rate", "0", "--seed", "3"),
        *("--rig", "royal flush@CSP-05:1", "--confirm-after", "0"),
    )
    assert done.returncode == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "tables    FCP-01, CSP-05; seed 3"
    assert lines[1].startswith("rounds    10, ")
    assert "1 royal flush" in lines[3]
    assert lines[-1] == "lost      0 connections"
    assert "pending: hit" in done.stderr
    assert "is confirmed by floor-1: $50,0" in done.stderr


def test_a_key_may_come_from_a_file(riverside: LiveProperty, tmp_path: Path) -> None:
    for name, key in (("sim", riverside.tables_key), ("floor", riverside.floor_key)):
        (tmp_path / name).write_text(key + "\n")
    done = simulate(
        riverside,
        *("--tables", "1", "--rounds", "1", "--confirm-after", "0"),
        *("--key-file", str(tmp_path / "sim"), "--floor-key-file", str(tmp_path / "floor")),
        env=WITHOUT_KEYS,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("given", "words", "hint"),
    [
        ((), (), "key add {config} sim --role table --tables FCP-01,CSP-05 > sim.key"),
        (
            ("JACKPOTD_KEY",),
            ("--confirm-after", "1"),
            "key add {config} sim-floor --role floor > sim-floor.key",
        ),
    ],
)
def test_without_a_key_it_says_how_to_make_one(
    riverside: LiveProperty, given: tuple[str, ...], words: tuple[str, ...], hint: str
) -> None:
    env = WITHOUT_KEYS | {name: with_keys(riverside)[name] for name in given}
    done = simulate(riverside, "--tables", "FCP-01,CSP-05", *words, env=env)
    assert done.returncode == 1
    assert "jackpotd " + hint.format(config=riverside.config.path) in done.stderr


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        (("--rig", "royal flush"), 2, "HAND@TABLE:SEAT"),
        (("--deny", "5"), 2, "give --confirm-after too"),
        (("--rate", "-1"), 2, "--rate"),
        (("--tables", "FCP-99"), 1, "no table with a progressive"),
        (("--rig", "royal flush@FCP-01:9"), 1, "seats 1 to 6"),
    ],
)
def test_what_can_not_be_played_is_refused(
    riverside: LiveProperty, words: tuple[str, ...], code: int, why: str
) -> None:
    done = simulate(riverside, *words)
    assert done.returncode == code
    assert why in done.stderr
    assert "Traceback" not in done.stderr


def test_without_a_daemon_it_asks_for_one(tmp_path: Path) -> None:
    done = simulate(live_property(tmp_path))
    assert done.returncode == 1
    assert "is the daemon running?" in done.stderr


def test_a_key_of_another_role_is_refused(riverside: LiveProperty) -> None:
    done = simulate(riverside, env=with_keys(riverside) | {"JACKPOTD_KEY": riverside.floor_key})
    assert done.returncode == 1
    assert "not-allowed" in done.stderr


def test_on_a_terminal_it_shows_how_far_it_is(riverside: LiveProperty) -> None:
    terminal, its_end = os.openpty()
    with subprocess.Popen(
        typed(riverside, "--tables", "2", "--rounds", "3", "--rate", "10", "--confirm-after", "0"),
        stdout=subprocess.PIPE,
        stderr=its_end,
        env=with_keys(riverside),
    ) as process:
        os.close(its_end)
        assert process.stdout is not None
        summary = process.stdout.read()
    shown = os.read(terminal, 65_536)
    os.close(terminal)
    assert b" of 6 rounds" in shown
    # The line is wiped in the end, and is no part of the summary.
    assert shown.endswith(b"\r\x1b[K")
    assert b"of 6 rounds" not in summary


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_ends_it_with_the_summary(
    riverside: LiveProperty, ending: signal.Signals
) -> None:
    # Nobody confirms the royal: the table is in the midst of waiting.
    words = ("--tables", "CSP-05", "--rate", "0", "--rig", "royal flush@CSP-05:1@1")
    with subprocess.Popen(
        typed(riverside, *words),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=with_keys(riverside),
    ) as process:
        assert process.stderr is not None
        next(line for line in process.stderr if "waits for the floor" in line)
        process.send_signal(ending)
        said, _ = process.communicate()
    assert process.returncode == 0
    assert "rounds    " in said
