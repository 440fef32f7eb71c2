"""Every command as it is typed: what it prints, and what it exits with."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from threading import Event, Thread

import click
import pytest

from jackpotd.cli import main
from tests.e2e.running import (
    PORT_0,
    RIVERSIDE,
    Property,
    jackpotd,
    output_of,
    riverside,
    until,
)
from tests.e2e.talking import Peer, fetch, hit, wager


def commands(group: click.Group, *above: str) -> Iterator[tuple[str, ...]]:
    """Yield every command, as typed."""
    yield above
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            yield from commands(command, *above, name)
        else:
            yield (*above, name)


@pytest.mark.parametrize("words", list(commands(main)), ids=" ".join)
def test_every_command_explains_itself(words: tuple[str, ...]) -> None:
    printed = output_of(*words, "--help")
    assert printed.startswith(f"Usage: {' '.join(('jackpotd', *words))} [")
    _, _, explained = printed.partition("\n\n")
    assert re.match(r"  [A-Z]", explained)


WRONG = [
    ("frobnicate",),
    ("run",),
    ("meters", "one.yaml", "two.yaml"),
    ("confirm", "one.yaml", "none"),
    ("confirm", "one.yaml", "0"),
    ("deny", "one.yaml", "1"),
    ("key", "add", "one.yaml", "somebody", "--role", "king"),
    ("ledger", "export", "one.yaml", "--day", "yesterday"),
    ("ledger", "export", "one.yaml", "--format", "xlsx"),
    ("simulate", "one.yaml", "--rounds", "0"),
    ("demo", "--rate", "-1"),
]


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_wrong_usage_exits_with_2_and_says_what_would_be_right(words: tuple[str, ...]) -> None:
    done = jackpotd(*words)
    assert done.returncode == 2
    assert done.stdout == ""
    assert "--help" in done.stderr
    assert "Error: " in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("check",),
        ("run",),
        ("meters",),
        ("ledger", "verify"),
        ("key", "add", "somebody", "--role", "floor"),
    ],
    ids=" ".join,
)
def test_a_configuration_that_is_not_there_exits_with_1(
    tmp_path: Path, words: tuple[str, ...]
) -> None:
    missing = tmp_path / "riverside.yaml"
    place = 2 if words[0] in ("key", "ledger") else 1
    done = jackpotd(*words[:place], missing, *words[place:])
    assert done.returncode == 1
    assert str(missing) in done.stderr


def test_a_fresh_property_is_checked_and_runs_as_init_says(tmp_path: Path) -> None:
    printed = output_of("init", tmp_path / "riverside")
    keys = dict(re.findall(r"^  (\S+): (\S+)$", printed, re.MULTILINE))
    checking, running = re.findall(r"jackpotd ([a-z]+ \S+riverside\.yaml)", printed)
    assert (checking.split()[0], running.split()[0]) == ("check", "run")
    house = Property(config=Path(running.split()[1]), keys=keys)
    assert "is fine" in output_of(*checking.split())
    secret = house.folder / "keys.yaml"
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert not any(key in secret.read_text() for key in keys.values())
    listens = re.compile(r"tcp:\d+:interface=127\.0\.0\.1")
    text, changed = listens.subn(PORT_0, house.config.read_text())
    assert changed == 2
    house.config.write_text(text)
    with house.running() as daemon:
        with Peer(daemon.ports["tables"], keys["pit"]) as pit:
            accepted = pit.ask(wager("CSP-05", 1, 1, 1))
            assert accepted["type"] == "accepted"
        assert fetch(daemon.ports["http"], "/sign/pit-1").status == 200
        daemon.stop()
    again = jackpotd("init", house.folder)
    assert again.returncode == 1
    assert "is there already" in again.stderr


def test_check_says_every_error_at_once_with_file_line_and_key(tmp_path: Path) -> None:
    config = tmp_path / "riverside.yaml"
    config.write_text(
        RIVERSIDE.replace("currency: USD", "currency: DOLLARS")
        .replace("seats: 7", "seats: 70")
        .replace("wager: $5", "wager: 5")
        .replace("pa/641a-five-card-d", "pa/641a-five-card-x")
        .replace("[riverside-royal]}", "[royal]}")
    )
    done = jackpotd("check", config)
    assert done.returncode == 1
    places = re.findall(r"riverside\.yaml:(\d+): ([\w.-]+)", done.stderr)
    assert places == [
        ("2", "currency"),
        ("8", "tables.LIR-03.seats"),
        ("13", "progressives.riverside-royal.paytable"),
        ("14", "progressives.riverside-royal.wager"),
        ("17", "signs.pit-1.progressives"),
    ]
    assert jackpotd("run", config).returncode == 1


def test_check_warns_of_a_return_over_100_percent(tmp_path: Path) -> None:
    house = Property(config=tmp_path / "riverside.yaml")
    house.write(
        RIVERSIDE.replace("pa/641a-five-card-d", "pa/639a-a")
        .replace("game: four-card-poker", "game: caribbean-stud")
        .replace("[FCP-01, FCP-02, LIR-03, THB-04]", "[FCP-01]")
    )
    house.add_key("floor-1", "floor")
    done = jackpotd("check", house.config)
    assert (done.returncode, "is fine" in done.stdout) == (0, True)
    assert "warning: " in done.stderr
    assert "theoretical return" in done.stderr


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Property:
    return riverside(tmp_path_factory.mktemp("house") / "house")


def test_a_new_key_works_at_a_running_daemon(tmp_path: Path, house: Property) -> None:
    house = house.copied_to(tmp_path / "house")
    with house.running() as daemon, Peer(daemon.ports["tables"], house.keys["pit"]):
        key = house.add_key("fcp", "table", "FCP-01", "FCP-02")
        with Peer(daemon.ports["tables"], key) as peer:
            assert list(peer.welcome["tables"]) == ["FCP-01", "FCP-02"]
            assert peer.ask(wager("FCP-01", 1, 1, 1))["type"] == "accepted"
            assert peer.ask(wager("LIR-03", 1, 1, 1))["code"] == "not-allowed"
        with Peer(daemon.ports["tables"], key[:-1] + "!") as stranger:
            assert stranger.welcome["code"] == "bad-key"
    again = jackpotd("key", "add", house.config, "fcp", "--role", "floor")
    assert (again.returncode, again.stdout) == (1, "")
    assert "has a principal fcp already" in again.stderr


def test_a_backup_while_tables_play_is_a_whole_record(tmp_path: Path, house: Property) -> None:
    house = house.copied_to(tmp_path / "house")
    copy = tmp_path / "copy" / "riverside.db"
    copy.parent.mkdir()
    with house.running() as daemon, Peer(daemon.ports["tables"], house.keys["pit"]) as pit:
        played, enough = Event(), Event()

        def play() -> None:
            for round_ in count(1):
                asked = [wager(table, round_, round_, 1) for table in ("FCP-01", "LIR-03")]
                lines = pit.exchange(asked)
                assert all(b'"accepted"' in line for line in lines)
                played.set()
                if enough.is_set():
                    return

        playing = Thread(target=play)
        playing.start()
        try:
            played.wait()
            printed = output_of("backup", house.config, copy)
        finally:
            enough.set()
            playing.join()
        daemon.stop()
    (last,) = re.findall(r"to row (\d+)$", printed.strip())
    restored = Property(config=copy.parent / "riverside.yaml", keys=house.keys).write(RIVERSIDE)
    _, verified = restored.proved()
    assert f": {last} rows" in verified
    _, whole = house.proved()
    (rows,) = re.findall(r": (\d+) rows", whole)
    assert 5 < int(last) < int(rows)
    replaced = jackpotd("backup", house.config, copy)
    assert replaced.returncode == 1
    assert "replaces none" in replaced.stderr


def test_sigterm_finishes_what_was_taken_and_exits_with_0(tmp_path: Path, house: Property) -> None:
    house = house.copied_to(tmp_path / "house")
    asked = [wager("FCP-01", seq, seq, 1, 2) for seq in range(1, 3001)]
    with house.running() as daemon, Peer(daemon.ports["tables"], house.keys["pit"]) as pit:
        sending = Thread(target=pit.send_one_by_one, args=(asked,))
        sending.start()
        first = pit.heard()
        daemon.terminate()
        replies = [json.loads(line) for line in (first, *pit.heard_to_the_end())]
        sending.join()
        assert daemon.wait() == 0
        daemon.start()
        with Peer(daemon.ports["tables"], house.keys["pit"], "FCP-01") as back:
            next_seq = back.welcome["tables"]["FCP-01"]["next_seq"]
    accepted = [each["seq"] for each in replies if each["type"] == "accepted"]
    refused = [each for each in replies if each["type"] != "accepted"]
    assert accepted == list(range(1, next_seq))
    assert {each["code"] for each in refused} <= {"unavailable"}
    assert all(each["retry"] for each in refused)
    house.proved()


def test_a_daemon_whose_port_is_taken_says_so(tmp_path: Path, house: Property) -> None:
    house = house.copied_to(tmp_path / "house")
    with house.running() as daemon:
        port = daemon.ports["http"]
        other = riverside(tmp_path / "other", http_listen=f"tcp:{port}:interface=127.0.0.1")
        refusal = other.refusal()
    assert f"can't listen on tcp:{port}:interface=127.0.0.1" in refusal


def test_the_floor_is_refused_in_plain_words(tmp_path: Path, free_port: int) -> None:
    house = riverside(tmp_path, tables_listen=f"tcp:{free_port}:interface=127.0.0.1")
    floor, pit = house.keys["floor-1"], house.keys["pit"]
    stopped = jackpotd("confirm", house.config, "1", key=floor)
    assert stopped.returncode == 1
    assert "is the daemon running?" in stopped.stderr
    with house.running() as daemon:
        with Peer(daemon.ports["tables"], pit) as table:
            table.ask(wager("FCP-01", 1, 1, 1))
            table.ask(hit("FCP-01", 2, 1, 1, "four of a kind"))
        rows = [
            ("7", floor, "unknown-hit"),
            ("1", pit, "not-allowed"),
            ("1", "a key that nobody has", "bad-key"),
            ("1", "", "a key is needed"),
        ]
        for number, key, said in rows:
            done = jackpotd("confirm", house.config, number, key=key)
            assert (done.returncode, done.stdout) == (1, "")
            assert said in done.stderr
        denied = output_of("deny", house.config, "1", "--reason", "misread", key=floor)
        assert denied == "hit 1 is denied by floor-1\n"
        late = jackpotd("confirm", house.config, "1", key=floor)
        assert late.returncode == 1
        assert "already-denied" in late.stderr


ENDINGS = [(".lock", 0), ("", 0), *(("-wal", size) for size in (0, 1, 10_000, 40_000, 60_000))]
"""What there is to see of a first start, one after the other."""


@pytest.mark.parametrize(("ending", "least"), ENDINGS)
def test_sigterm_ends_a_start_in_good_order_too(
    tmp_path: Path, house: Property, ending: str, least: int
) -> None:
    house = house.copied_to(tmp_path / "house")
    file = house.store.with_name(house.store.name + ending)
    with house.daemon() as daemon:
        daemon.launch()
        until(lambda: file.exists() and file.stat().st_size >= least)
        daemon.stop()
        assert "Traceback" not in daemon.log
        daemon.start()
