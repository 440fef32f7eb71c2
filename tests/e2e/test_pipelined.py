"""Ten thousand rounds without waiting for answers, from four tables, with hits among them."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import pytest

from tests.e2e.running import RIVERSIDE, TABLES, Property, output_of, riverside
from tests.e2e.talking import Message, Peer, hit, wager

ROUNDS = 10_000
AT_EACH = ROUNDS // len(TABLES)
SEATS = (1, 2, 4, 5)
MOST_KIB = 150 * 1024
HANDS = {10: "three of a kind", 50: "four of a kind", 500: "straight flush", 1250: "royal flush"}
"""Every so many rounds seat 2 holds this, the best if there are several."""

SEEDS = {"mega": 5_000_000, "major": 500_000, "minor": 125_000}
PERCENT = {"mega": 10, "major": 8, "minor": 3}


@dataclass(frozen=True, slots=True, kw_only=True)
class Played:
    """What was answered, and what the daemon showed and needed in the end."""

    replies: list[dict[str, Any]]
    confirmed: list[dict[str, Any]]
    meters: dict[str, int]
    peak_kib: int


def messages_of(table: str) -> list[Message]:
    """Return all that a table sends."""
    messages: list[Message] = []
    for round_ in range(1, AT_EACH + 1):
        messages.append(wager(table, len(messages) + 1, round_, *SEATS))
        hands = [hand for every, hand in HANDS.items() if round_ % every == 0]
        if hands:
            messages.append(hit(table, len(messages) + 1, round_, 2, hands[-1]))
    return messages


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Property:
    # A table that had to wait for the floor could not go on without waiting for answers.
    text = RIVERSIDE.replace("    wager: $5\n", "    wager: $5\n    hold_table: false\n")
    return riverside(tmp_path_factory.mktemp("pipelined"), text)


@pytest.fixture(scope="module")
def played(house: Property) -> Iterator[Played]:
    with house.running() as daemon, ThreadPoolExecutor(len(TABLES)) as hands:
        port = daemon.ports["tables"]

        def play(table: str) -> list[dict[str, Any]]:
            with Peer(port, house.keys["pit"], table) as peer:
                return [json.loads(line) for line in peer.exchange(messages_of(table))]

        replies = [reply for told in hands.map(play, TABLES) for reply in told]
        waiting = [reply["hit"] for reply in replies if reply.get("status") == "pending"]
        with Peer(port, house.keys["floor-1"]) as floorperson:
            asked: list[Message] = [{"type": "confirm", "hit": each} for each in waiting]
            confirmed = [json.loads(line) for line in floorperson.exchange(asked)]
            shown = floorperson.ask({"type": "watch"})
        yield Played(
            replies=replies,
            confirmed=confirmed,
            meters=shown["meters"]["riverside-royal"],
            peak_kib=daemon.peak_kib(),
        )


def test_every_message_is_accepted_in_its_turn(played: Played) -> None:
    expected = [message for table in TABLES for message in messages_of(table)]
    kinds = {"wager": "accepted", "hit": "award"}
    assert [(each["type"], each["table"], each["seq"]) for each in played.replies] == [
        (kinds[each["type"]], each["table"], each["seq"]) for each in expected
    ]
    assert sum(each["type"] == "accepted" for each in played.replies) == ROUNDS


def test_every_hit_has_a_number_of_its_own(played: Played) -> None:
    hits = [each["hit"] for each in played.replies if each["type"] == "award"]
    assert sorted(hits) == list(range(1, len(TABLES) * AT_EACH // 10 + 1))
    assert {each["type"] for each in played.confirmed} == {"confirmed"}


def test_the_meters_hold_seeds_and_contributions_less_what_was_paid(played: Played) -> None:
    wagers_minor = ROUNDS * len(SEATS) * 500
    awards = [each for each in played.replies if each["type"] == "award"]
    for level, seed_minor in SEEDS.items():
        paid = [each["amount"] for each in awards if each["line"] == f"100% of {level}"]
        contributed_minor = wagers_minor * PERCENT[level] // 100
        expected_minor = seed_minor * (1 + len(paid)) + contributed_minor - sum(paid)
        assert played.meters[level] == expected_minor
        assert paid


def test_the_books_reconcile_and_the_record_verifies(house: Property, played: Played) -> None:
    reconciled, verified = house.proved()
    assert reconciled.splitlines()[-1] == "no difference"
    # Four tables and the progressive stand before them.
    rows = 5 + len(played.replies) + len(played.confirmed)
    assert f"{rows} rows, {len(TABLES) * AT_EACH // 10} hits" in verified


def test_the_exported_postings_sum_to_zero(house: Property, played: Played) -> None:
    path = house.folder / "ledger.csv"
    output_of("ledger", "export", house.config, "--output", path)
    of_entry: defaultdict[str, Decimal] = defaultdict(Decimal)
    wagers = set()
    with path.open(newline="") as file:
        for line in csv.DictReader(file):
            of_entry[line["entry"]] += Decimal(line["amount"])
            if line["kind"] == "wager":
                wagers.add(line["entry"])
    assert set(of_entry.values()) == {Decimal(0)}
    assert len(wagers) == ROUNDS


def test_the_daemon_needed_less_than_150_mb(played: Played) -> None:
    assert played.peak_kib < MOST_KIB
