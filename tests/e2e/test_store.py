"""A record that can't be trusted, or that differs from the configuration: the daemon refuses it.

It says what is wrong and where, exits with 1, leaves the files as they were, and above all never
begins anew with the seeds.
"""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.e2e.running import RIVERSIDE, Property, jackpotd, output_of, riverside
from tests.e2e.talking import Peer, hit, wager

ROWS = 5 + 3
"""Four tables and the progressive; a wager, a hit, another wager."""

MEGA = 5_000_000 + 100


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Property:
    """A property that played a little, and was stopped in good order."""
    house = riverside(tmp_path_factory.mktemp("store") / "house")
    with house.running() as daemon:
        with Peer(daemon.ports["tables"], house.keys["pit"]) as pit:
            assert pit.ask(wager("FCP-01", 1, 1, 1))["type"] == "accepted"
            assert pit.ask(hit("FCP-01", 2, 1, 1, "full house"))["type"] == "award"
            output_of("backup", house.config, house.folder / "early.db")
            assert pit.ask(wager("FCP-02", 1, 1, 1))["type"] == "accepted"
        daemon.stop()
    return house


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory, played: Property) -> Property:
    """The same, killed after a further round: its newest rows are in the write-ahead log only."""
    house = played.copied_to(tmp_path_factory.mktemp("killed") / "house")
    with house.running() as daemon, Peer(daemon.ports["tables"], house.keys["pit"]) as pit:
        assert pit.ask(wager("FCP-02", 2, 2, 1))["type"] == "accepted"
    return house


def test_a_second_daemon_on_the_same_record_refuses_to_start(
    tmp_path: Path, played: Property
) -> None:
    house = played.copied_to(tmp_path / "house")
    with house.running() as daemon:
        assert f"{house.store} is in use by another running daemon" in house.refusal()
        with Peer(daemon.ports["tables"], house.keys["pit"]) as pit:
            assert pit.ask(wager("FCP-02", 2, 2, 1))["type"] == "accepted"
        daemon.kill()
        daemon.start()


def flip(path: Path, near: bytes) -> None:
    """Change one bit in some text, where it stands last: SQLite fills a page from its end."""
    data = bytearray(path.read_bytes())
    data[data.rindex(near) + len(near) // 2] ^= 1
    path.write_bytes(data)


def flip_a_row(house: Property) -> None:
    flip(house.store, b'"seats":[1]')


def flip_the_terms(house: Property) -> None:
    flip(house.store, b'"increment_ppm":100000')


def flip_the_first_page(house: Property) -> None:
    flip(house.store, b"SQLite format 3")


def cut_in_half(house: Property) -> None:
    with house.store.open("r+b") as file:
        file.truncate(house.store.stat().st_size // 2)


def cut_to_nothing(house: Property) -> None:
    house.store.write_bytes(b"")


def remove(house: Property) -> None:
    house.store.unlink()


def put_text_in_its_place(house: Property) -> None:
    house.store.write_text("the mega stands at fifty thousand dollars\n" * 200)


def put_another_database_in_its_place(house: Property) -> None:
    house.store.unlink()
    with closing(sqlite3.connect(house.store)) as db, db:
        db.execute("CREATE TABLE meters (amount INTEGER)")


def put_an_older_backup_in_its_place(house: Property) -> None:
    (house.folder / "early.db").replace(house.store)


def drop_the_last_row(house: Property) -> None:
    with closing(sqlite3.connect(house.store)) as db, db:
        db.execute("DELETE FROM record WHERE number = (SELECT max(number) FROM record)")


CORRUPT: list[tuple[Callable[[Property], None], str]] = [
    (flip_a_row, "row 6: its hash does not match"),
    (flip_the_terms, "row 5: its hash does not match"),
    (flip_the_first_page, "file is not a database"),
    (cut_in_half, "malformed"),
    (cut_to_nothing, f"ends at row 0, but row {ROWS} was written"),
    (remove, f"ends at row 0, but row {ROWS} was written"),
    (put_text_in_its_place, "file is not a database"),
    (put_another_database_in_its_place, "is a database, but not a jackpotd record"),
    (put_an_older_backup_in_its_place, f"ends at row 7, but row {ROWS} was written"),
    (drop_the_last_row, f"the last row is row {ROWS - 1}, but the head says {ROWS}"),
]


def files_of(house: Property) -> dict[str, bytes]:
    """Return what is in the record's files."""
    return {path.name: path.read_bytes() for path in house.folder.glob("riverside.db*")}


@pytest.mark.parametrize(("spoil", "said"), CORRUPT)
def test_a_corrupt_record_is_refused_and_never_begun_anew(
    tmp_path: Path, played: Property, spoil: Callable[[Property], None], said: str
) -> None:
    house = played.copied_to(tmp_path / "house")
    spoil(house)
    before = files_of(house)
    refusal = house.refusal()
    assert str(house.store) in refusal
    assert said in refusal
    assert files_of(house) == before


def lose_the_log(house: Property) -> None:
    house.store.with_name("riverside.db-wal").unlink()


def flip_the_log(house: Property) -> None:
    flip(house.store.with_name("riverside.db-wal"), b'"seats":[1]')


def lose_all_but_the_log(house: Property) -> None:
    cut_to_nothing(house)


@pytest.mark.parametrize("spoil", [lose_the_log, flip_the_log, lose_all_but_the_log])
def test_a_lost_end_is_missed(
    tmp_path: Path, killed: Property, spoil: Callable[[Property], None]
) -> None:
    house = killed.copied_to(tmp_path / "house")
    spoil(house)
    assert f"but row {ROWS + 1} was written" in house.refusal()


def test_the_record_of_another_property_is_refused(tmp_path: Path, played: Property) -> None:
    house = played.copied_to(tmp_path / "house")
    house.write(RIVERSIDE.replace("property: Riverside", "property: Lakeside"))
    assert (
        f"{house.store} is the record of Riverside in USD, not of Lakeside in USD"
        in house.refusal()
    )


def test_a_backup_is_restored_as_the_operations_page_says(tmp_path: Path, played: Property) -> None:
    house = played.copied_to(tmp_path / "house")
    flip_the_first_page(house)
    for path in house.folder.glob("riverside.db*"):
        path.unlink()
    shutil.copy(house.folder / "early.db", house.store)
    with house.running() as daemon, Peer(daemon.ports["tables"], house.keys["pit"]) as pit:
        assert pit.welcome["tables"]["FCP-01"]["next_seq"] == 3
        assert pit.welcome["tables"]["FCP-02"]["next_seq"] == 1
        assert pit.welcome["meters"]["riverside-royal"]["mega"] == 5_000_050
    house.proved()


OWN = """\
property: Riverside
currency: USD
timezone: America/New_York
store: riverside.db
validate: {validate}
tables:
  T1: {{game: let-it-ride, seats: 6}}
  T2: {{game: let-it-ride, seats: 6}}
progressives:
  royal:
    title: {title}
    wager: {wager}
    tables: [{tables}]
    hold_table: {hold_table}
    folded_hands_qualify: {folded}
    paytable:
      title: A paytable of its own
      levels: {{{levels}}}
      pays: {{{pays}}}
      envy: {{{envy}}}
      hand_pay: {hand_pay}
"""
LIVE = {
    "validate": "percentage",
    "title": "Royal",
    "wager": "$5",
    "tables": "T1, T2",
    "hold_table": "true",
    "folded": "false",
    "levels": "mega: {seed: $1,000, increment: 10%}, minor: {seed: $100, increment: 3%}",
    "pays": "royal flush: 100% of mega, four of a kind: 10% of minor, flush: 4 for 1",
    "envy": "royal flush: $100",
    "hand_pay": "percentage",
}
MEGA_AS_IT_WAS = "mega: {seed: $1,000, increment: 10%}"
CHANGES: list[tuple[dict[str, str], list[str]]] = [
    ({"wager": "$1"}, ["wager: $5.00 is now $1.00"]),
    ({"tables": "T1"}, ["tables: T1, T2 is now T1"]),
    ({"hold_table": "false"}, ["hold_table: true is now false"]),
    ({"folded": "true"}, ["folded_hands_qualify: false is now true"]),
    ({"hand_pay": "full"}, ["hand_pay: percentage is now full"]),
    ({"validate": "[flush]"}, ["validate: percentage is now flush"]),
    (
        {"levels": "mega: {seed: $2,000, increment: 11%, reserve: 1%, cap: $5,000}"},
        [
            "levels: mega, minor is now mega",
            "levels.mega.seed: $1,000.00 is now $2,000.00",
            "levels.mega.reseed: $1,000.00 is now $2,000.00",
            "levels.mega.increment: 10% is now 11%",
            "levels.mega.reserve: 0% is now 1%",
            "levels.mega.cap: nothing is now $5,000.00",
            "levels.minor.seed: $100.00 is now nothing",
        ],
    ),
    (
        {"pays": "royal flush: 50% of mega, flush: 5 for 1, straight: 3 for 1"},
        [
            "pays.royal flush: 100% of mega is now 50% of mega",
            "pays.four of a kind: 10% of minor is now nothing",
            "pays.flush: 4 for 1 is now 5 for 1",
            "pays.straight: nothing is now 3 for 1",
        ],
    ),
    (
        {"envy": "royal flush: $200, flush: $1"},
        ["envy.royal flush: $100.00 is now $200.00", "envy.flush: nothing is now $1.00"],
    ),
]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Property:
    """A property with a paytable of its own, whose progressive is live."""
    folder = tmp_path_factory.mktemp("own")
    house = Property(config=folder / "riverside.yaml").write(config_of())
    house.add_key("pit", "table", "T1", "T2")
    with house.running() as daemon:
        daemon.stop()
    return house


def config_of(**changes: str) -> str:
    levels = changes.get("levels", LIVE["levels"])
    pays = LIVE["pays"] if "minor" in levels else "royal flush: 100% of mega, flush: 4 for 1"
    return OWN.format(**{**LIVE, "pays": pays, **changes})


@pytest.mark.parametrize(("changes", "said"), CHANGES, ids=lambda value: " ".join(value))
def test_a_changed_parameter_of_a_live_progressive_is_refused_by_name(
    own: Property, changes: dict[str, str], said: list[str]
) -> None:
    own.write(config_of(**changes))
    before = files_of(own)
    refusal = own.refusal()
    for difference in said:
        assert f"  progressives.royal.{difference}\n" in refusal
    assert "put them back" in refusal
    assert files_of(own) == before


def test_every_difference_is_said_at_once(own: Property) -> None:
    own.write(config_of(wager="$1", hold_table="false", envy="royal flush: $200"))
    assert re.findall(r"  (progressives\.[^:]+):", own.refusal()) == [
        "progressives.royal.wager",
        "progressives.royal.hold_table",
        "progressives.royal.envy.royal flush",
    ]


def test_a_new_title_is_no_parameter(own: Property) -> None:
    own.write(config_of(title="Riverside Royal"))
    with own.running() as daemon:
        daemon.stop()


SECOND = """\
  second:
    title: Second
    wager: $1
    tables: [T1, T3]
    paytable:
      title: Another
      levels: {meter: {seed: $500, increment: 20%}}
      pays: {flush: 100% of meter}
"""


def test_a_new_progressive_and_a_new_table_open_by_themselves(
    tmp_path: Path, own: Property
) -> None:
    house = own.copied_to(tmp_path / "house")
    table = "  T3: {game: let-it-ride, seats: 7}\n"
    house.write(config_of().replace("progressives:\n", table + "progressives:\n") + SECOND)
    house.add_key("pit-2", "table", "T1", "T2", "T3")
    for _ in range(2):
        with house.running() as daemon, Peer(daemon.ports["tables"], house.keys["pit-2"]) as pit:
            assert pit.welcome["meters"]["second"] == {"meter": 50_000}
            assert pit.welcome["meters"]["royal"] == {"mega": 100_000, "minor": 10_000}
            assert pit.welcome["tables"]["T1"]["progressives"] == ["royal", "second"]
            daemon.stop()
    house.proved()


def test_a_progressive_that_vanished_with_money_is_refused(tmp_path: Path, own: Property) -> None:
    house = own.copied_to(tmp_path / "house")
    house.write(config_of().replace("validate: percentage\n", "") + SECOND.replace(", T3", ""))
    with house.running() as daemon, Peer(daemon.ports["tables"], house.keys["pit"]) as pit:
        assert pit.ask(wager("T1", 1, 1, 1, progressive="second"))["type"] == "accepted"
        award = pit.ask(hit("T1", 2, 1, 1, "flush", progressive="second"))
        assert award["status"] == "pending"
    house.write(config_of())
    refusal = house.refusal()
    assert (
        "progressives.second: gone, but the record holds 500.00000000 and 1 pending awards of it"
        in refusal
    )
    hits = jackpotd("hits", house.config, "--pending", "--json")
    assert json.loads(hits.stdout)["amount"] == award["amount"]
