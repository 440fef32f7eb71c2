"""Simulated tables against a real daemon process: every message legal, every cent on record."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from jackpotd.child import DaemonProcess
from jackpotd.record.rows import read_answer, read_event
from jackpotd.simulate.choice import tables_of
from jackpotd.simulate.games import GAMES
from jackpotd.simulate.guests import Habits
from jackpotd.simulate.news import Back, Failed, Held, Lost, News, Pending, PlaysOn
from jackpotd.simulate.shift import FloorPlan, Plan, Shift
from jackpotd.simulate.stacked import parse_stacked
from jackpotd.simulate.tally import Tally
from meters.events import Event, Hit
from meters.outcomes import Accepted, Answer, Awarded, Confirmed, Denied, Voided
from tests.live_property import LiveProperty, live_property

SEED = 20
EVERYBODY_BETS = Habits(seated=100, wagering=100, folding=0, doubling=0, misdealing=0)


@pytest.fixture
def riverside(tmp_path: Path) -> LiveProperty:
    """The sample property; nothing runs yet."""
    return live_property(tmp_path)


def plan_of(
    riverside: LiveProperty,
    tables: str | None = None,
    *rigs: str,
    rounds: int | None = 10,
    deny_percent: int = 0,
    concentrator: bool = False,
    habits: Habits | None = None,
    floorperson: bool = True,
    seed: int = SEED,
) -> Plan:
    floor = FloorPlan(
        key=riverside.floor_key,
        after_seconds=lambda _: 0,
        before_seconds=0,
        deny_percent=deny_percent,
    )
    return Plan(
        tables=tables_of(riverside.config, tables),
        key=riverside.tables_key,
        rounds=rounds,
        rate=0,
        seed=seed,
        stacked=tuple(map(parse_stacked, rigs)),
        concentrator=concentrator,
        floor=floor if floorperson else None,
        habits=habits or Habits(),
    )


def play(riverside: LiveProperty, plan: Plan) -> tuple[Tally, list[News]]:
    """Play a plan to its end against the daemon that runs."""
    told: list[News] = []
    with Shift(riverside.config, plan, tell=told.append) as shift:
        for _ in shift.looks():
            pass
    assert shift.failures == []
    return shift.tally, told


def on_record(riverside: LiveProperty) -> Iterator[tuple[Event, Answer]]:
    return ((read_event(row), read_answer(row)) for row in riverside.rows())


def hits_on_record(riverside: LiveProperty) -> list[tuple[Hit, Awarded]]:
    return [
        (event, answer)
        for event, answer in on_record(riverside)
        if isinstance(event, Hit) and isinstance(answer, Awarded)
    ]


def assert_adds_up(riverside: LiveProperty, tally: Tally) -> None:
    """Compare what was counted with the record, to the cent."""
    sums: Counter[str] = Counter()
    hands: Counter[str] = Counter()
    outstanding: dict[int, int] = {}
    for event, answer in on_record(riverside):
        match answer:
            case Accepted():
                sums["wagers"] += answer.amount_minor
            case Voided():
                sums["returned"] += answer.amount_minor
                sums["misdeals"] += 1
            case Awarded():
                envy_minor = sum(each.amount_minor for each in answer.envy)
                sums["awards"] += answer.amount_minor
                sums["envy"] += envy_minor
                outstanding[answer.hit] = answer.amount_minor + envy_minor
                assert isinstance(event, Hit)
                hands[event.hand] += 1
            case Confirmed():
                sums["confirmed"] += 1
            case Denied():
                sums["denied"] += 1
                sums["taken back"] += outstanding[answer.hit]
    counted = Counter(
        {
            "wagers": tally.wagers_minor,
            "returned": tally.returned_minor,
            "misdeals": tally.misdeals,
            "awards": tally.awards_minor,
            "envy": tally.envy_minor,
            "confirmed": tally.confirmed,
            "denied": tally.denied,
            "taken back": tally.denied_minor,
        }
    )
    assert +counted == +sums
    assert tally.hands == hands


def ledger(riverside: LiveProperty, command: str) -> int:
    """Run a command of the ledger and return its exit code."""
    return subprocess.run(
        [sys.executable, "-m", "jackpotd", "ledger", command, str(riverside.config.path)],
        stdout=subprocess.DEVNULL,
        check=False,
    ).returncode


@pytest.mark.parametrize("concentrator", [False, True], ids=["own connections", "concentrator"])
def test_the_summary_adds_up_with_the_record_and_nothing_illegal_was_sent(
    riverside: LiveProperty, concentrator: bool
) -> None:
    rigs = ("royal flush@FCP-01:2", "four aces@FCP-02:1@5", "five aces@PGP-07:3")
    plan = plan_of(riverside, None, *rigs, rounds=40, deny_percent=30, concentrator=concentrator)
    with riverside.daemon():
        tally, _ = play(riverside, plan)
    assert_adds_up(riverside, tally)
    assert tally.rounds == 40 * 7
    assert set(tally.refusals) <= {"table-held"}
    assert all((tally.confirmed, tally.denied, tally.misdeals, tally.envy_minor))
    assert ledger(riverside, "reconcile") == 0
    assert ledger(riverside, "verify") == 0


def test_two_royals_in_one_round_get_the_meter_and_the_reseeded_meter(
    riverside: LiveProperty,
) -> None:
    plan = plan_of(
        riverside,
        "CSP-05",
        "royal flush@CSP-05:2",
        "royal flush@CSP-05:5",
        rounds=4,
        habits=EVERYBODY_BETS,
    )
    with riverside.daemon():
        _, told = play(riverside, plan)
    first, second = (each.award for each in told if isinstance(each, Pending))
    # The dealer settles from the right, where the highest seat is.
    assert (first["seat"], second["seat"]) == (5, 2)
    wagers_minor = 3 * 7 * 5_00
    assert first["amount"] == 50_000_00 + wagers_minor // 10
    assert second["amount"] == 50_000_00
    assert [envy["seat"] for envy in first["envy"]] == [1, 2, 3, 4, 6, 7]
    assert {envy["amount"] for envy in first["envy"]} == {5_000_00}
    assert any(isinstance(each, Held) for each in told)
    assert any(isinstance(each, PlaysOn) for each in told)


@pytest.mark.parametrize("table", ["CSP-05", "DJW-06"])
def test_hits_of_a_round_are_sent_in_the_dealers_order(riverside: LiveProperty, table: str) -> None:
    seats = (1, 2, 3, 4, 6)
    rigs = [f"three of a kind@{table}:{seat}@1" for seat in seats]
    plan = plan_of(riverside, table, *rigs, rounds=1, habits=EVERYBODY_BETS)
    with riverside.daemon():
        play(riverside, plan)
    sent = [event.seat for event, _ in hits_on_record(riverside) if event.seat in seats]
    game = GAMES[riverside.config.tables[table].game]
    assert sent == list(game.settling_order(seats))


def test_a_table_with_two_progressives_locks_and_settles_both(riverside: LiveProperty) -> None:
    plan = plan_of(riverside, "FCP-01", "four aces@FCP-01:3@1", rounds=1, habits=EVERYBODY_BETS)
    with riverside.daemon():
        play(riverside, plan)
    accepted = [answer for _, answer in on_record(riverside) if isinstance(answer, Accepted)]
    assert {answer.progressive for answer in accepted} == {"riverside-royal", "four-aces"}
    hits = [
        (answer.progressive, event.hand, event.cards)
        for event, answer in hits_on_record(riverside)
        if event.seat == 3
    ]
    (five, five_hand, five_cards), (four, four_hand, four_cards) = hits
    assert (five, five_hand) == ("riverside-royal", "four of a kind")
    assert (four, four_hand) == ("four-aces", "four aces")
    assert five_cards == four_cards
    assert {"As", "Ah", "Ad", "Ac"} <= set(five_cards)


def test_folded_hands_win_only_where_folded_hands_qualify(riverside: LiveProperty) -> None:
    everybody_folds = Habits(seated=100, wagering=100, folding=100, doubling=0, misdealing=0)
    plan = plan_of(riverside, "CSP-05,DJW-06", rounds=100, habits=everybody_folds)
    with riverside.daemon():
        play(riverside, plan)
    paid = [event for event, answer in hits_on_record(riverside) if answer.amount_minor]
    assert all(event.folded for event, _ in hits_on_record(riverside))
    assert {event.table for event in paid} == {"DJW-06"}


def test_the_same_seed_deals_the_same_hits(tmp_path: Path) -> None:
    dealt = []
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        riverside = live_property(tmp_path / folder)
        with riverside.daemon():
            play(riverside, plan_of(riverside, "FCP-01,PGP-07", rounds=20, seed=seed))
        found = [
            (hit.table, hit.round, hit.seat, hit.cards) for hit, _ in hits_on_record(riverside)
        ]
        dealt.append(sorted(found))
    assert dealt[0] == dealt[1] != dealt[2]


def test_a_shift_goes_on_where_the_one_before_it_ended(riverside: LiveProperty) -> None:
    rig = "royal flush@CSP-05:1@3"
    with riverside.daemon():
        before, told = play(
            riverside, plan_of(riverside, "CSP-05", rig, rounds=3, floorperson=False)
        )
        assert any(isinstance(each, Pending) for each in told)
        assert before.confirmed == 0
        # The next shift's table is held from the start, and its floorperson knows of the hit.
        after, _ = play(riverside, plan_of(riverside, "CSP-05", rounds=3, seed=SEED + 1))
        assert after.confirmed
    accepted = [answer for _, answer in on_record(riverside) if isinstance(answer, Accepted)]
    assert len(accepted) > 3
    assert ledger(riverside, "reconcile") == 0


def play_until(shift: Shift, daemon: DaemonProcess, rounds: int) -> None:
    for _ in shift.looks():
        daemon.check()
        if shift.tally.rounds >= rounds:
            return


def test_a_killed_daemon_comes_back_and_nothing_is_lost_or_booked_twice(
    riverside: LiveProperty,
) -> None:
    told: list[News] = []
    plan = plan_of(riverside, "4", "royal flush@FCP-01:2", rounds=None, deny_percent=10)
    with ExitStack() as stack:
        daemon = stack.enter_context(riverside.daemon())
        shift = stack.enter_context(Shift(riverside.config, plan, tell=told.append))
        for _ in range(4):
            play_until(shift, daemon, shift.tally.rounds + 100)
            daemon.kill()
            daemon = stack.enter_context(riverside.daemon())
        play_until(shift, daemon, shift.tally.rounds + 100)
        shift.end()
    assert shift.failures == []
    assert shift.losses >= 4
    assert sum(isinstance(each, Lost) for each in told) == shift.losses
    assert any(isinstance(each, Back) for each in told)
    assert_adds_up(riverside, shift.tally)
    assert ledger(riverside, "reconcile") == 0
    assert ledger(riverside, "verify") == 0


def test_a_table_that_another_connection_took_over_is_out_and_the_others_play_on(
    riverside: LiveProperty,
) -> None:
    told: list[News] = []
    plan = plan_of(riverside, "CSP-05,DJW-06", rounds=None)
    with riverside.daemon() as daemon, Shift(riverside.config, plan, tell=told.append) as shift:
        play_until(shift, daemon, 20)
        play(riverside, plan_of(riverside, "CSP-05", rounds=1))
        while not shift.failures:
            play_until(shift, daemon, shift.tally.rounds + 1)
        play_until(shift, daemon, shift.tally.rounds + 20)
    (failed,) = [each for each in told if isinstance(each, Failed)]
    assert failed.name == "CSP-05"
    assert "not-allowed" in str(failed.error)
