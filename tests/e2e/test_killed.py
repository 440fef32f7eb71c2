"""A daemon that is killed at any moment: what it acknowledged stands, and nothing happens twice.

Three tables send bursts without waiting, the floor settles what they hit, and the daemon is killed
with SIGKILL somewhere in between. Then all of it is sent again.
"""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread

import pytest

from tests.e2e.running import Daemon, Property, output_of, until
from tests.e2e.talking import Message, Peer, hit, wager

TABLES = ("T1", "T2", "T3")
WAGER = 500
SEEDS = {"mega": 10_000, "minor": 2_500}
PPM = {"mega": 37_000, "minor": 12_345}
HOUSE = """\
property: Riverside
currency: USD
timezone: America/New_York
store: riverside.db
tables:
  T1: {game: let-it-ride, seats: 6}
  T2: {game: let-it-ride, seats: 6}
  T3: {game: let-it-ride, seats: 6}
progressives:
  royal:
    wager: $5
    tables: [T1, T2, T3]
    hold_table: false
    paytable:
      title: Fractions of a cent
      levels:
        mega: {seed: $100, increment: 3.7%}
        minor: {seed: $25, increment: 1.2345%}
      pays:
        royal flush: 100% of mega
        straight flush: 10% of mega
        four of a kind: 100% of minor
        flush: 4 for 1
      envy: {royal flush: $1 for 1}
"""
ROUNDS = 80
"""Rounds of a burst at each table."""

HANDS = {
    round_: hand
    for first, hand in enumerate(("flush", "straight flush", "four of a kind", "royal flush"))
    for round_ in range(3 + 5 * first, ROUNDS, 20)
}
"""Which rounds of a burst have a hit: seat 1 holds this."""

BURST = ROUNDS + len(HANDS)

SETTLED = {"confirm": "confirmed", "deny": "denied"}


@dataclass(slots=True)
class Floor:
    """All that was ever asked, by its sender, and each answer that came: whole lines."""

    asked: dict[str, list[Message]] = field(default_factory=lambda: {each: [] for each in TABLES})
    answers: dict[tuple[str, int], bytes] = field(default_factory=dict)
    settled: list[tuple[Message, bytes | None]] = field(default_factory=list)

    def burst(self, table: str) -> list[Message]:
        """Return the next rounds of a table."""
        seq = len(self.asked[table]) + 1
        first = 1 + max((each["round"] for each in self.asked[table]), default=0)
        messages: list[Message] = []
        for place in range(ROUNDS):
            seats = range(1, 2 + (first + place) % 4)
            messages.append(wager(table, seq + len(messages), first + place, *seats))
            if place in HANDS:
                number = seq + len(messages)
                messages.append(hit(table, number, first + place, 1, HANDS[place]))
        self.asked[table] += messages
        return messages

    def answered(self, table: str, messages: list[Message], lines: list[bytes]) -> None:
        """Take the answers to messages; one that came before must be the same, byte for byte."""
        for message, line in zip(messages, lines, strict=False):
            first = self.answers.setdefault((table, message["seq"]), line)
            assert line == first
            assert json.loads(line)["type"] in ("accepted", "award")

    def unsettled(self) -> list[Message]:
        """Return what the floor says of each award that waits: every other 10% is denied."""
        known = {message["hit"] for message, _ in self.settled}
        awards = [json.loads(line) for line in self.answers.values()]
        return [
            {"type": "deny", "hit": each["hit"], "reason": "misread"}
            if each["hand"] == "straight flush" and each["hit"] % 2
            else {"type": "confirm", "hit": each["hit"]}
            for each in awards
            if each.get("status") == "pending" and each["hit"] not in known
        ]


def house_in(folder: Path) -> Property:
    house = Property(config=folder / "riverside.yaml").write(HOUSE)
    house.add_key("pit", "table", *TABLES)
    house.add_key("floor-1", "floor")
    return house


def wal(house: Property) -> Path:
    return house.store.with_name(house.store.name + "-wal")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """When to kill: so many answers have come at the first table, and then more is written.

    What is written last is killed before it is answered, if that can be.
    """

    answers: int
    then_written: bool = False

    def come(self, house: Property, peer: Peer) -> list[bytes]:
        """Wait for it; return the answers."""
        heard = [peer.heard() for _ in range(self.answers)]
        if self.then_written and self.answers < BURST:
            before = written(house)
            until(lambda: written(house) != before or peer.has_more())
        return heard


def written(house: Property) -> tuple[int, int]:
    """Return what changes when the record is written."""
    found = wal(house).stat()
    return found.st_size, found.st_mtime_ns


MOMENTS = [
    *(Moment(answers=count) for count in (0, 1, 2, 3, 5, 8, 13, 21, 34, 55, BURST)),
    *(Moment(answers=count, then_written=True) for count in (0, 0, 1, 4, 10, 20, 40, 60)),
]


def killed_burst(
    house: Property,
    daemon: Daemon,
    floor: Floor,
    moment: Moment,
) -> None:
    """Send a burst from every table and the floor, kill the daemon, and take what was answered."""
    port, pit_key = daemon.ports["tables"], house.keys["pit"]
    with ExitStack() as links:
        peers = {each: links.enter_context(Peer(port, pit_key, each)) for each in TABLES}
        floorperson = links.enter_context(Peer(port, house.keys["floor-1"]))
        bursts = {table: floor.burst(table) for table in TABLES}
        settling = floor.unsettled()
        senders = [Thread(target=floorperson.send_one_by_one, args=(settling,))]
        for table, peer in peers.items():
            senders.append(Thread(target=peer.send_one_by_one, args=(bursts[table],)))
        for sender in senders:
            sender.start()
        first = moment.come(house, peers["T1"])
        daemon.kill()
        for sender in senders:
            sender.join()
        for table, peer in peers.items():
            heard = first if table == "T1" else []
            floor.answered(table, bursts[table], heard + peer.heard_to_the_end())
        told = floorperson.heard_to_the_end()
        answers = [*told, *(None for _ in settling[len(told) :])]
        floor.settled += zip(settling, answers, strict=True)


def sent_again(house: Property, daemon: Daemon, floor: Floor, *, newest: int | None) -> None:
    """Send the newest messages of each table again, and all that the floor ever said."""
    for table in TABLES:
        with Peer(daemon.ports["tables"], house.keys["pit"], table) as peer:
            known = [seq for sender, seq in floor.answers if sender == table]
            next_seq = peer.welcome["tables"][table]["next_seq"]
            assert max(known, default=0) < next_seq <= len(floor.asked[table]) + 1
            messages = floor.asked[table][-newest if newest else 0 :]
            floor.answered(table, messages, peer.exchange(messages))
    with Peer(daemon.ports["tables"], house.keys["floor-1"]) as floorperson:
        asked = [message for message, _ in floor.settled]
        lines = floorperson.exchange(asked)
        for line, (message, before) in zip(lines, floor.settled, strict=True):
            assert before in (None, line)
            assert json.loads(line)["type"] == SETTLED[message["type"]]
        floor.settled = list(zip(asked, lines, strict=True))


def expected_meters(floor: Floor) -> dict[str, int]:
    """Return what the meters must show, from what the tables sent and were answered.

    There is no reserve: each full award is followed by a seed.
    """
    denied = {message["hit"] for message, _ in floor.settled if message["type"] == "deny"}
    asked = [message for messages in floor.asked.values() for message in messages]
    wagers = sum(WAGER * len(each["seats"]) for each in asked if each["type"] == "wager")
    awards = [json.loads(line) for line in floor.answers.values() if b'"award"' in line]
    standing = [each for each in awards if each["hit"] not in denied]
    meters = {}
    for level, seed in SEEDS.items():
        paid = [each for each in standing if each["line"].endswith(f"of {level}")]
        fulls = sum(each["line"].startswith("100%") for each in paid)
        whole = seed * (1 + fulls) - sum(each["amount"] for each in paid)
        meters[level] = whole + wagers * PPM[level] // 1_000_000
    return meters


def test_what_was_acknowledged_stands_and_happens_once_whenever_it_was_killed(
    tmp_path: Path,
) -> None:
    house, floor = house_in(tmp_path), Floor()
    with house.daemon() as daemon:
        daemon.start()
        for moment in MOMENTS:
            killed_burst(house, daemon, floor, moment)
            daemon.start()
            sent_again(house, daemon, floor, newest=BURST)
        sent_again(house, daemon, floor, newest=None)
        with Peer(daemon.ports["tables"], house.keys["pit"]) as peer:
            assert peer.welcome["meters"] == {"royal": expected_meters(floor)}
    house.proved()
    assert entries_of(house) == expected_entries(floor)


def entries_of(house: Property) -> Counter[str]:
    """Count the entries of each kind in the ledger."""
    lines = csv.DictReader(io.StringIO(output_of("ledger", "export", house.config)))
    return Counter(dict({(line["entry"], line["kind"]): 0 for line in lines}.keys()).values())


def expected_entries(floor: Floor) -> Counter[str]:
    """Count what was asked: each message once."""
    kinds: Counter[str] = Counter({"open": 1})
    kinds.update(each["type"] for messages in floor.asked.values() for each in messages)
    kinds.update(message["type"] for message, _ in floor.settled)
    return kinds


def open_in(daemon: Daemon, house: Property, ending: str) -> Callable[[], bool]:
    """Tell when the daemon has a file of the record open."""
    path = house.store.with_name(house.store.name + ending)
    files = Path(f"/proc/{daemon.pid}/fd")

    def is_open() -> bool:
        found = set()
        for each in files.iterdir():
            try:
                found.add(each.readlink())
            except FileNotFoundError:
                continue
        return path in found

    return is_open


@pytest.fixture(scope="module")
def empty_house(tmp_path_factory: pytest.TempPathFactory) -> Property:
    """A property whose daemon never ran."""
    return house_in(tmp_path_factory.mktemp("empty"))


STEPS: list[tuple[str, int]] = [
    (".lock", 0),
    ("", 0),
    ("-wal", 0),
    *(("-wal", size) for size in (1, 10_000, 40_000, 60_000, 70_000)),
]
"""What there is to see of a record that is being made: a file, and that it has so many bytes."""


@pytest.mark.parametrize(("ending", "least"), STEPS)
def test_a_record_that_was_being_made_is_made_by_the_next_start(
    tmp_path: Path, empty_house: Property, ending: str, least: int
) -> None:
    house = empty_house.copied_to(tmp_path / "house")
    file = house.store.with_name(house.store.name + ending)
    with house.daemon() as daemon:
        daemon.launch()
        until(lambda: file.exists() and file.stat().st_size >= least)
        daemon.kill()
        daemon.start()
        with Peer(daemon.ports["tables"], house.keys["pit"]) as peer:
            assert peer.welcome["meters"] == {"royal": SEEDS}
            assert peer.ask(wager("T1", 1, 1, 1))["type"] == "accepted"
    # Three tables and a progressive, each once, and the wager.
    assert "5 rows, 0 hits" in output_of("ledger", "verify", house.config)


def test_a_record_that_was_being_read_is_read_by_the_next_start(tmp_path: Path) -> None:
    house, floor = house_in(tmp_path), Floor()
    with house.daemon() as daemon:
        daemon.start()
        with Peer(daemon.ports["tables"], house.keys["pit"], "T1") as peer:
            messages = floor.burst("T1")
            floor.answered("T1", messages, peer.exchange(messages))
        daemon.kill()
        for ending in (".lock", "", "-wal", "-shm"):
            daemon.launch()
            until(open_in(daemon, house, ending))
            daemon.kill()
        daemon.start()
        with Peer(daemon.ports["tables"], house.keys["pit"], "T1") as peer:
            floor.answered("T1", messages, peer.exchange(messages))
            assert peer.welcome["meters"] == {"royal": expected_meters(floor)}
    house.proved()
