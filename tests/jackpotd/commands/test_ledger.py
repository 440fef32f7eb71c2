"""The ledger's commands, on real records: what they print, and what they exit with."""

from __future__ import annotations

import os
import pty
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from jackpotd.accounts import reconcile
from jackpotd.accounts.export import csv_ledger
from jackpotd.accounts.lines import Selection
from jackpotd.cli import main
from meters.money import CURRENCIES
from tests.jackpotd.accounts.stories import eventful, told
from tests.record_builder import RecordBuilder

ROOT = Path(__file__).parents[3]
CONFIG = """\
property: Riverside
currency: USD
timezone: America/New_York
gaming_day: "06:00"
store: riverside.db
tables:
  T1: {game: caribbean-stud, seats: 6}
progressives:
  royal: {title: Royal, paytable: pa/639a-d, wager: $5, tables: [T1]}
"""


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A record of three gaming days."""
    path = tmp_path_factory.mktemp("ledger") / "riverside.db"
    eventful(path)
    return path


@pytest.fixture
def config(tmp_path: Path, record: Path) -> Path:
    """The configuration of a property with that record."""
    shutil.copyfile(record, tmp_path / "riverside.db")
    path = tmp_path / "riverside.yaml"
    path.write_text(CONFIG)
    return path


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(main, ["ledger", *map(str, words)], catch_exceptions=False)


def ledger(record: Path, detail: str = "event", **wanted: date | str) -> str:
    """Return what the export should be."""
    selection = Selection(**wanted)  # type: ignore[arg-type]
    with told(record) as (entries, _):
        chunks = csv_ledger(entries, currency=CURRENCIES["USD"], selection=selection, detail=detail)
        return "".join(chunks)


MARCH_8 = date(2026, 3, 8)
EXPORTS: list[tuple[list[str], dict[str, date | str]]] = [
    ([], {}),
    (["--format", "csv", "--detail", "event"], {}),
    (["--detail", "day"], {"detail": "day"}),
    (["--day", "2026-03-08"], {"first": MARCH_8, "last": MARCH_8}),
    (["--from", "2026-03-08"], {"first": MARCH_8}),
    (["--to", "2026-03-08"], {"last": MARCH_8}),
    (["--from", "2026-03-08", "--to", "2026-03-08"], {"first": MARCH_8, "last": MARCH_8}),
    (["--progressive", "bonus"], {"progressive": "bonus"}),
    (
        ["--progressive", "bonus", "--day", "2026-03-08", "--detail", "day"],
        {"progressive": "bonus", "first": MARCH_8, "last": MARCH_8, "detail": "day"},
    ),
]


@pytest.mark.parametrize(("options", "wanted"), EXPORTS)
def test_export_writes_the_ledger_that_is_asked_for(
    config: Path, record: Path, options: list[str], wanted: dict[str, date | str]
) -> None:
    result = run("export", config, *options)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == ledger(record, **wanted)  # type: ignore[arg-type]


@pytest.mark.parametrize("output", ["ledger.csv", "-"])
def test_export_writes_to_a_file_or_to_standard_output(
    config: Path, record: Path, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    result = run("export", config, "--output", output)
    assert result.exit_code == 0
    text = result.stdout if output == "-" else (tmp_path / output).read_bytes().decode()
    assert text == ledger(record)


def spoil(store: Path) -> None:
    """Change a row in the middle."""
    with closing(sqlite3.connect(store)) as conn, conn:
        conn.execute("UPDATE record SET at = at + 1 WHERE number = 16")


def test_an_output_file_appears_whole_or_not_at_all(config: Path, tmp_path: Path) -> None:
    output = tmp_path / "ledger.csv"
    output.write_text("yesterday's")
    spoil(tmp_path / "riverside.db")
    result = run("export", config, "--output", output)
    assert result.exit_code == 1
    assert output.read_text() == "yesterday's"
    assert {path.name for path in tmp_path.iterdir()} >= {"ledger.csv", "riverside.yaml"}
    assert not list(tmp_path.glob(".ledger.csv.*"))


def test_an_output_file_is_replaced_and_a_link_to_it_stays(config: Path, tmp_path: Path) -> None:
    (tmp_path / "march.csv").write_text("yesterday's")
    (tmp_path / "link.csv").symlink_to("march.csv")
    assert run("export", config, "--output", tmp_path / "link.csv").exit_code == 0
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "march.csv").read_text().startswith("entry,at,")


def test_a_pipe_as_output_is_written_to_and_not_replaced(
    config: Path, record: Path, tmp_path: Path
) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        result = run("export", config, "--output", pipe)
        written, _ = reader.communicate()
    assert (result.exit_code, written.decode()) == (0, ledger(record))
    assert pipe.is_fifo()


def test_an_output_that_can_not_be_written_is_said(config: Path, tmp_path: Path) -> None:
    result = run("export", config, "--output", tmp_path / "nowhere" / "ledger.csv")
    assert result.exit_code == 1
    assert result.stderr == (
        f"jackpotd: {tmp_path / 'nowhere' / 'ledger.csv'}: No such file or directory\n"
    )


def test_a_full_device_is_said_and_left_alone(config: Path) -> None:
    result = run("export", config, "--output", "/dev/full")
    assert result.exit_code == 1
    assert result.stderr == "jackpotd: /dev/full: No space left on device\n"
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["export", "--day", "8 March"], "'8 March' does not match the format"),
        (["export", "--day", "2026-02-30"], "'2026-02-30' does not match the format"),
        (["export", "--day", "2026-03-08", "--from", "2026-03-07"], "--day stands alone"),
        (["export", "--day", "2026-03-08", "--to", "2026-03-09"], "--day stands alone"),
        (["export", "--from", "2026-03-09", "--to", "2026-03-08"], "--from lies after --to"),
        (["export", "--format", "xlsx"], "'xlsx' is not"),
        (["export", "--detail", "week"], "'week' is not one of 'event', 'day'"),
        (["export", "--progressive", "mega"], "has no progressive 'mega'; it has royal, bonus"),
        (["reconcile", "--day", "yesterday"], "'yesterday' does not match the format"),
        (["verify", "--day", "2026-03-08"], "No such option"),
    ],
)
def test_wrong_usage_exits_with_2(config: Path, words: list[str], said: str) -> None:
    command, *options = words
    result = run(command, config, *options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stdout == ""


def test_reconcile_exits_with_0_where_all_agrees(config: Path) -> None:
    result = run("reconcile", config)
    assert (result.exit_code, result.stderr) == (0, "")
    days = [line for line in result.stdout.splitlines() if line.startswith("Gaming day")]
    assert days == ["Gaming day 2026-03-07", "Gaming day 2026-03-08", "Gaming day 2026-03-10"]
    assert result.stdout.endswith("\n\nno difference\n")


def test_reconcile_shows_one_day(config: Path, tmp_path: Path) -> None:
    result = run("reconcile", config, "--day", "2026-03-08", "--output", tmp_path / "day.txt")
    assert (result.exit_code, result.stdout) == (0, "")
    written = (tmp_path / "day.txt").read_text()
    assert written.startswith("Gaming day 2026-03-08\n\nroyal mega ")
    assert written.count("Gaming day") == 1
    assert written in run("reconcile", config, "--day", "2026-03-08").stdout


def test_reconcile_shows_a_day_on_which_nothing_happened(config: Path) -> None:
    result = run("reconcile", config, "--day", "2026-03-09")
    assert result.exit_code == 0
    assert result.stdout.startswith("Gaming day 2026-03-09\n")


def test_reconcile_says_that_a_day_lies_before_the_record(config: Path) -> None:
    result = run("reconcile", config, "--day", "2026-03-01")
    assert (result.exit_code, result.stdout) == (0, "nothing is on record by then\n")


def test_reconcile_exits_with_1_where_something_differs(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The fold proves the record against the rules, so only a fault in the rules can differ: here
    # contributions are expected at a rate that the level does not have.
    monkeypatch.setattr(reconcile, "units_from_minor", lambda amount_minor: amount_minor * 999_999)
    result = run("reconcile", config)
    assert result.exit_code == 1
    found = [line for line in result.stdout.splitlines() if line.startswith("DIFFERENCE: ")]
    assert result.stderr == f"jackpotd: {len(found)} differences\n"
    assert "no difference" not in result.stdout


def test_verify_says_what_it_proved(config: Path, tmp_path: Path) -> None:
    result = run("verify", config)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (
        f"{tmp_path / 'riverside.db'}: 31 rows, 9 hits, 8 marks and 2 snapshots are right\n"
    )


@pytest.mark.parametrize("command", ["export", "reconcile", "verify"])
def test_a_bad_row_is_named_in_one_line(config: Path, tmp_path: Path, command: str) -> None:
    spoil(tmp_path / "riverside.db")
    result = run(command, config)
    assert result.exit_code == 1
    assert result.stderr == (
        f"jackpotd: {tmp_path / 'riverside.db'}: row 16: its hash does not match: "
        "it was changed or moved\n"
    )


def test_a_bad_row_is_named_once_where_the_progressives_are_read(
    config: Path, tmp_path: Path
) -> None:
    store = tmp_path / "riverside.db"
    with closing(sqlite3.connect(store)) as conn, conn:
        conn.execute("UPDATE record SET at = at + 1 WHERE number = 29")
    result = run("export", config, "--progressive", "royal")
    assert result.exit_code == 1
    assert result.stderr.startswith(f"jackpotd: {store}: row 29: its hash does not match")


def no_file(store: Path) -> None:
    store.unlink()


def no_database(store: Path) -> None:
    store.write_text("Riverside's meters, by hand\n" * 100)


def other_database(store: Path) -> None:
    store.unlink()
    with closing(sqlite3.connect(store)) as conn:
        conn.execute("CREATE TABLE meters (amount)")


def other_property(store: Path) -> None:
    with closing(sqlite3.connect(store)) as conn, conn:
        conn.execute("UPDATE head SET property = 'Lakeside'")


def newer_version(store: Path) -> None:
    with closing(sqlite3.connect(store)) as conn, conn:
        conn.execute(
            "INSERT INTO _sqlite_migrations (migration_set, name, applied_at) "
            "VALUES ('jackpotd.record', 'colours', '2030-01-01')"
        )


def half_a_file(store: Path) -> None:
    with store.open("r+b") as file:
        file.truncate(store.stat().st_size // 2)


@pytest.mark.parametrize("command", ["export", "reconcile", "verify"])
@pytest.mark.parametrize(
    ("spoil_it", "said"),
    [
        (no_file, "there is no record at "),
        (no_database, "file is not a database"),
        (other_database, "is a database, but not a jackpotd record"),
        (other_property, "is the record of Lakeside in USD, not of Riverside in USD"),
        (newer_version, "was written by a newer version (colours)"),
        (half_a_file, "malformed"),
    ],
)
def test_a_record_that_is_none_of_ours_is_said_in_one_line(
    config: Path, tmp_path: Path, command: str, spoil_it: object, said: str
) -> None:
    assert callable(spoil_it)
    spoil_it(tmp_path / "riverside.db")
    result = run(command, config)
    assert result.exit_code == 1
    assert result.stderr.startswith("jackpotd: ")
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_missing_configuration_is_said(tmp_path: Path) -> None:
    result = run("verify", tmp_path / "riverside.yaml")
    assert result.exit_code == 1
    assert str(tmp_path / "riverside.yaml") in result.stderr


def test_the_commands_read_beside_a_writer_and_leave_it_alone(config: Path, tmp_path: Path) -> None:
    store = tmp_path / "riverside.db"
    with RecordBuilder(store, at="2026-03-11T12:00:00-04:00") as to:
        to.wager("T3", 4, 1)
        to.commit()
        for command in ("export", "reconcile", "verify"):
            assert run(command, config).exit_code == 0
        to.wager("T3", 5, 1)
        to.commit()
    assert "33 rows" in run("verify", config).stdout


def on_a_terminal(*words: str | Path, stdout: Path) -> str:
    """Run a command whose standard error is a terminal, and return what that shows."""
    ours, theirs = pty.openpty()
    try:
        with stdout.open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-c", "from jackpotd.cli import main; main()", "ledger", *words],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=theirs,
            )
        os.close(theirs)
        shown = b"".join(_read(ours))
        assert process.wait() == 0
    finally:
        os.close(ours)
    return shown.decode()


def _read(terminal: int) -> Iterator[bytes]:
    # Linux answers the reader of a terminal that nobody holds open any more with an error.
    while True:
        try:
            yield os.read(terminal, 65_536)
        except OSError:
            return


@pytest.mark.parametrize("command", ["export", "reconcile", "verify"])
def test_long_work_shows_on_a_terminal_how_far_it_is(
    config: Path, tmp_path: Path, command: str
) -> None:
    shown = on_a_terminal(command, config, stdout=tmp_path / "out")
    assert "rows" in shown
    assert "100%" in shown
    assert (tmp_path / "out").read_text() == run(command, config).stdout
