"""A process killed with SIGKILL leaves whole batches, and every one that was acknowledged."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from jackpotd.accounts.verify import verify
from tests.jackpotd.accounts.stories import DAYS
from tests.record_builder import opened

ROOT = Path(__file__).parents[3]
BATCH_ROWS = 5

WRITER = f"""
import sys, time
from pathlib import Path
from tests.record_builder import RecordBuilder
from tests.jackpotd.accounts.stories import BONUS

path, stop_at, whole_batches = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
to = RecordBuilder(path)
to.open(BONUS)
to.commit()
seen = 0

def say(word):
    print(word, to.record.last_number() if word == "written" else "", flush=True)

def stop(statement):
    global seen
    if batches == whole_batches and statement.startswith(stop_at):
        seen += 1
        if seen == {BATCH_ROWS} or stop_at != "INSERT INTO record":
            say("stopped")
            while True:
                time.sleep(60)

to.record._conn.set_trace_callback(stop)
for batches in range(1_000_000):
    for _ in range({BATCH_ROWS}):
        round_ = to.floor.tables["T3"].round + 1
        to.wager("T3", round_, 1)
    to.commit(snapshot=batches % 2 == 0)
    say("written")
"""


@contextmanager
def writer(path: Path, *, stop_at: str, whole_batches: int) -> Iterator[subprocess.Popen[str]]:
    """Start a process that writes batches, and stops before a statement of the one after so many.

    It says "written N" after each batch, and "stopped". It is killed in the end.
    """
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path), stop_at, str(whole_batches)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
    assert process.returncode == -signal.SIGKILL


FIRST_ROWS = 3
"""The tables and the progressive."""


@pytest.mark.parametrize(
    "stop_at",
    [
        pytest.param("BEGIN IMMEDIATE", id="before it begins"),
        pytest.param("INSERT INTO record", id="among its rows"),
        pytest.param("UPDATE head", id="before the head"),
        pytest.param("INSERT OR REPLACE INTO snapshots", id="before the snapshot"),
        pytest.param("INSERT INTO marks", id="among the marks"),
        pytest.param("COMMIT", id="before it is committed"),
    ],
)
def test_a_batch_that_was_being_written_is_gone_whole(tmp_path: Path, stop_at: str) -> None:
    path = tmp_path / "record.db"
    with writer(path, stop_at=stop_at, whole_batches=2) as process:
        assert process.stdout is not None
        said = [process.stdout.readline().split() for _ in range(3)]
    assert said == [["written", "8"], ["written", "13"], ["stopped"]]
    with closing(opened(path)) as record:
        assert record.last_number() == FIRST_ROWS + 2 * BATCH_ROWS
        assert record.load().floor.tables["T3"].next_seq == 2 * BATCH_ROWS + 1
    with closing(opened(path, read_only=True)) as record:
        assert verify(record, record.rows(), DAYS).rows == FIRST_ROWS + 2 * BATCH_ROWS


@pytest.mark.parametrize("acknowledged", [1, 7, 20])
def test_what_was_acknowledged_is_there_whenever_the_process_is_killed(
    tmp_path: Path, acknowledged: int
) -> None:
    path = tmp_path / "record.db"
    with writer(path, stop_at="never", whole_batches=0) as process:
        assert process.stdout is not None
        for _ in range(acknowledged):
            word, last = process.stdout.readline().split()
        assert word == "written"
    with closing(opened(path)) as record:
        found = record.load().floor.number
    assert found >= int(last)
    assert (found - FIRST_ROWS) % BATCH_ROWS == 0
    with closing(opened(path, read_only=True)) as record:
        assert verify(record, record.rows(), DAYS).rows == found
