"""A slice of the simulation: fixed seeds, and the proof that it can fail."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from jackpotd.commit import Committed
from jackpotd.publish import Publisher
from meters.level import Level
from tests.sim.simulation import Failed, run

STEPS = 1_500


def _run_some() -> None:
    for seed in range(20):
        run(seed, STEPS)


@pytest.mark.parametrize("seed", range(40))
def test_a_seed_breaks_no_promise(seed: int) -> None:
    assert run(seed, STEPS).rows > 0


def test_the_same_seed_gives_the_same_record_in_every_process() -> None:
    here = run(7, STEPS).last_hash
    for hash_seed in ("1", "2"):
        there = subprocess.run(
            [
                sys.executable,
                "-c",
                f"from tests.sim.simulation import run; print(run(7, {STEPS}).last_hash)",
            ],
            env=os.environ | {"PYTHONHASHSEED": hash_seed},
            check=True,
            capture_output=True,
            text=True,
        )
        assert there.stdout.split()[-1] == here


def test_a_cent_that_is_lost_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Level.take

    def short(self: Level, amount_minor: int) -> None:
        honest(self, amount_minor)
        self.primary_units -= amount_minor > 0

    monkeypatch.setattr(Level, "take", short)
    with pytest.raises(Failed):
        _run_some()


def test_a_sign_that_is_told_something_else_than_the_record_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    honest = Publisher.committed

    def late(self: Publisher, rows: list[Committed], seconds: float) -> None:
        honest(self, rows, seconds)
        last = rows[-1]
        meters = {
            name: {level: amount + 1 for level, amount in levels.items()}
            for name, levels in getattr(last.answer, "meters", {}).items()
        }
        self._board.meters_committed(
            sequence=last.number, at_ms=last.at_ms, meters=meters, generations={}
        )

    monkeypatch.setattr(Publisher, "committed", late)
    with pytest.raises(Failed):
        _run_some()
