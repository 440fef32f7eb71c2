"""Two royals in one round (§ 561.13d(h)): each is paid at the meter at its player's turn.

A $5 wager on pa/641a-five-card-d: the mega is seeded with $50,000, and three wagers bring it to
$50,001.50. The story is played once, with real processes; each test reads what was said in it.
"""

from __future__ import annotations

import csv
import json
import socket
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.running import Property, output_of, riverside
from tests.e2e.talking import Peer, fetch, hit, wager

CARDS = ["As", "Ks", "Qs", "Js", "Ts"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """What was said, in the order of the story."""

    lock: dict[str, Any]
    royals: tuple[dict[str, Any], dict[str, Any]]
    held: dict[str, Any]
    elsewhere: dict[str, Any]
    pending_api: Any
    pending_meters: str
    pending_hits: list[dict[str, Any]]
    confirmed: str
    still_held: dict[str, Any]
    denied: str
    played_on: dict[str, Any]
    settled_api: Any
    settled_meters: str
    hits: str
    none_pending: str
    ledger: list[dict[str, str]]
    proved: tuple[str, str]


def listening_somewhere() -> dict[str, str]:
    """Return where to listen: commands find the daemon by a port that is in the configuration."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        return {"tables_listen": f"tcp:{free.getsockname()[1]}:interface=127.0.0.1"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Property:
    folder = tmp_path_factory.mktemp("story")
    house = riverside(folder, **listening_somewhere())
    (folder / "floor.key").write_text(house.keys["floor-1"] + "\n")
    return house


@pytest.fixture(scope="module")
def story(house: Property) -> Iterator[Story]:
    config, floor_key = house.config, house.keys["floor-1"]
    with house.running() as daemon:
        http = daemon.ports["http"]
        with Peer(daemon.ports["tables"], house.keys["pit"]) as pit:
            lock = pit.ask(wager("FCP-01", 1, 1, 1, 2, 5))
            royals = (
                pit.ask(hit("FCP-01", 2, 1, 2, "royal flush", cards=CARDS)),
                pit.ask(hit("FCP-01", 3, 1, 5, "royal flush")),
            )
            next_lock = wager("FCP-01", 4, 2, 1, 2)
            yield Story(
                lock=lock,
                royals=royals,
                held=pit.ask(next_lock),
                elsewhere=pit.ask(wager("LIR-03", 1, 1, 1, 4)),
                pending_api=fetch(http, "/api/meters").json(),
                pending_meters=output_of("meters", config),
                pending_hits=[
                    json.loads(each)
                    for each in output_of("hits", config, "--pending", "--json").splitlines()
                ],
                confirmed=output_of("confirm", config, "1", key=floor_key),
                still_held=pit.ask(next_lock),
                denied=output_of(
                    *("deny", config, "2", "--reason", "a joker among them"),
                    *("--key-file", house.folder / "floor.key"),
                ),
                played_on=pit.ask(next_lock),
                settled_api=fetch(http, "/api/meters").json(),
                settled_meters=output_of("meters", config),
                hits=output_of("hits", config),
                none_pending=output_of("hits", config, "--pending"),
                ledger=exported(house.folder / "ledger.csv", config),
                proved=house.proved(),
            )


def exported(path: Path, config: Path) -> list[dict[str, str]]:
    output_of("ledger", "export", config, "--format", "csv", "--output", path)
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_the_lock_brings_the_mega_to_50_001_50(story: Story) -> None:
    assert story.lock["type"] == "accepted"
    assert (story.lock["seats"], story.lock["amount"]) == ([1, 2, 5], 1500)
    assert story.lock["meters"] == {
        "riverside-royal": {"mega": 5_000_150, "major": 500_120, "minor": 125_045}
    }


def test_the_first_royal_takes_the_meter_and_the_second_the_reseeded_one(story: Story) -> None:
    first, second = story.royals
    assert (first["amount"], first["meter"]) == (5_000_150, 5_000_150)
    assert (second["amount"], second["meter"]) == (5_000_000, 5_000_000)
    for royal in story.royals:
        assert royal["line"] == "100% of mega"
        assert royal["meters"]["riverside-royal"]["mega"] == 5_000_000


def test_each_royal_gives_5_000_to_every_other_wagering_seat(story: Story) -> None:
    first, second = (royal["envy"] for royal in story.royals)
    assert first == [{"seat": 1, "amount": 500_000}, {"seat": 5, "amount": 500_000}]
    assert second == [{"seat": 1, "amount": 500_000}, {"seat": 2, "amount": 500_000}]


def test_both_are_hand_pays_that_wait_for_the_floor(story: Story) -> None:
    assert [(royal["from"], royal["status"]) for royal in story.royals] == [
        ("hand pay", "pending"),
        ("hand pay", "pending"),
    ]
    assert [(each["hit"], each["amount"], each["status"]) for each in story.pending_hits] == [
        (1, 5_000_150, "pending"),
        (2, 5_000_000, "pending"),
    ]
    assert story.pending_hits[0]["cards"] == CARDS


def test_the_table_waits_until_both_are_settled_and_another_plays_on(story: Story) -> None:
    for refused in (story.held, story.still_held):
        assert (refused["type"], refused["code"]) == ("error", "table-held")
        assert refused["retry"] is True
    assert story.elsewhere["type"] == "accepted"
    assert story.elsewhere["meters"]["riverside-royal"]["mega"] == 5_000_100
    assert story.played_on["type"] == "accepted"


def test_the_displays_are_told_of_both_while_they_wait(story: Story) -> None:
    royal = story.pending_api["progressives"]["riverside-royal"]
    assert royal["levels"]["mega"] == {
        "amount": 5_000_100,
        "text": "$50,001.00",
        "generation": 3,
    }
    assert [(each["hit"], each["amount"]) for each in royal["pending"]] == [
        (1, 5_000_150),
        (2, 5_000_000),
    ]


def test_the_floor_confirms_one(story: Story) -> None:
    assert story.confirmed.splitlines() == [
        "hit 1 is confirmed by floor-1: pay $50,001.50",
        "  Envy, seat 1: pay $5,000.00",
        "  Envy, seat 5: pay $5,000.00",
    ]


def test_the_other_is_denied_and_leaves_the_meter_as_if_it_had_never_been(story: Story) -> None:
    assert story.denied == "hit 2 is denied by floor-1\n"
    # $50,000, and 10% of two wagers at the one table and of two at the other.
    assert story.played_on["meters"]["riverside-royal"]["mega"] == 5_000_200


def shown(meters: str) -> list[list[str]]:
    return [each.split() for each in meters.splitlines()[1:]]


def test_the_meters_command_and_the_displays_agree(story: Story) -> None:
    assert shown(story.pending_meters)[0] == ["riverside-royal", "mega", "$50,001.00", "3"]
    assert shown(story.settled_meters)[0] == ["riverside-royal", "mega", "$50,002.00", "3"]
    for api, command in (
        (story.pending_api, story.pending_meters),
        (story.settled_api, story.settled_meters),
    ):
        levels = api["progressives"]["riverside-royal"]["levels"]
        assert shown(command) == [
            ["riverside-royal", name, level["text"], str(level["generation"])]
            for name, level in levels.items()
        ]


def test_the_hits_command_shows_how_each_ended(story: Story) -> None:
    _, denied, paid = story.hits.splitlines()
    assert "$50,000.00" in denied
    assert denied.split()[-2:] == ["denied", "floor-1"]
    assert "$50,001.50" in paid
    assert paid.split()[-2:] == ["paid", "floor-1"]
    assert len(story.none_pending.splitlines()) == 1
    assert story.settled_api["progressives"]["riverside-royal"]["pending"] == []


def test_the_ledger_sums_to_zero_and_shows_who_was_paid_from_where(story: Story) -> None:
    assert sum(Decimal(line["amount"]) for line in story.ledger) == 0
    totals: defaultdict[str, Decimal] = defaultdict(Decimal)
    for line in story.ledger:
        totals[line["account"]] += Decimal(line["amount"])
    royal = "Progressive:riverside-royal"
    assert totals["Assets:Cage"] == Decimal("-50001.50")
    assert totals[f"Expenses:{royal}:Envy"] == 10_000
    assert totals[f"Liabilities:{royal}:Awards"] == 0
    assert totals[f"Liabilities:{royal}:mega:Primary"] == Decimal("-50002.00")
    # The seed, and the reseed of the royal that stands.
    assert totals[f"Expenses:{royal}:Seed"] == 2 * 50_000 + 5_000 + 1_250
    assert totals["Assets:Tables:FCP-01"] == 5 * 5 - 10_000
    assert totals["Assets:Tables:LIR-03"] == 2 * 5


def test_every_running_balance_is_the_sum_so_far(story: Story) -> None:
    balances: defaultdict[str, Decimal] = defaultdict(Decimal)
    for line in story.ledger:
        balances[line["account"]] += Decimal(line["amount"])
        assert Decimal(line["balance"]) == balances[line["account"]]


def test_the_books_reconcile_and_the_record_verifies(story: Story) -> None:
    reconciled, verified = story.proved
    assert reconciled.splitlines()[-1] == "no difference"
    assert "2 hits" in verified


def test_denying_the_first_royal_says_which_was_paid_from_the_wrong_meter(tmp_path: Path) -> None:
    house = riverside(tmp_path / "misread", **listening_somewhere())
    floor_key = house.keys["floor-1"]
    with house.running() as daemon, Peer(daemon.ports["tables"], house.keys["pit"]) as pit:
        pit.send(
            [
                wager("FCP-01", 1, 1, 1, 2, 5),
                hit("FCP-01", 2, 1, 2, "royal flush"),
                hit("FCP-01", 3, 1, 5, "royal flush"),
            ]
        )
        assert [pit.told()["type"] for _ in range(3)] == ["accepted", "award", "award"]
        denied = output_of("deny", house.config, "1", "--reason", "misread", key=floor_key)
        assert denied.splitlines() == [
            "hit 1 is denied by floor-1",
            "  paid since from that level, with the wrong meter: hit 2",
        ]
        again = output_of("deny", house.config, "1", "--reason", "misread", key=floor_key)
        assert again == denied
        output_of("confirm", house.config, "2", key=floor_key)
        house.proved()
