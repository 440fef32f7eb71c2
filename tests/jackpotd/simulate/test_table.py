"""One simulated table: what it sends, what it does about refusals, and which hands are due."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from jackpotd.client import Client
from jackpotd.simulate.connection import Connection
from jackpotd.simulate.guests import Guests, Habits
from jackpotd.simulate.news import Held, News, PlaysOn
from jackpotd.simulate.play import RETRY_SECONDS, SimulatedTable, is_due, layout_of
from jackpotd.simulate.stacked import PlayError
from jackpotd.simulate.tally import Tally
from meters.terms import Terms
from tests.builders import live, paytable
from tests.jackpotd.simulate.impatience import Impatient
from tests.scripted_peer import WELCOME, Script, ScriptedPeer

ROYAL = live(paytable(envy={"royal flush": "$1,000 for 1"}))
ALWAYS_MISDEALT = Habits(seated=100, wagering=100, folding=0, doubling=100, misdealing=100)


def error(code: str, *, retry: bool = False) -> dict[str, Any]:
    return {"type": "error", "code": code, "message": f"{code}!", "retry": retry}


ACCEPTED = {"type": "accepted", "amount": 3000}
VOIDED = {"type": "voided", "amount": 3000}


@dataclass(kw_only=True)
class Played:
    """What a table sent and told, how long it waited for what, and what it counted."""

    sent: list[dict[str, Any]] = field(default_factory=list)
    told: list[News] = field(default_factory=list)
    stop: Impatient = field(default_factory=Impatient)
    tally: Tally = field(default_factory=Tally)


@contextmanager
def table(played: Played, script: Script, habits: Habits) -> Iterator[SimulatedTable]:
    with ScriptedPeer([WELCOME, *script]) as peer:
        connection = Connection(
            "T1",
            lambda: Client("127.0.0.1", peer.port, "key"),
            stop=played.stop,
            tell=played.told.append,
        )
        connection.open()
        try:
            yield SimulatedTable(
                layout_of("T1", game="caribbean-stud", seats=6, progressives=[ROYAL]),
                connection,
                {"next_seq": 43, "round": 100, "pending": []},
                seed=1,
                habits=habits,
                tally=played.tally,
                tell=played.told.append,
                stop=played.stop,
            )
        finally:
            connection.close()
    played.sent += peer.heard[0][1:]


def play(script: Script, habits: Habits = ALWAYS_MISDEALT, *, rounds: int = 1) -> Played:
    played = Played()
    with table(played, script, habits) as simulated:
        simulated.play(rounds=rounds, pause_seconds=0)
    return played


def test_a_misdealt_round_is_locked_and_voided_and_the_next_one_follows() -> None:
    played = play([ACCEPTED, VOIDED] * 2, rounds=2)
    assert [(each["type"], each["seq"], each["round"]) for each in played.sent] == [
        ("wager", 43, 101),
        ("void", 44, 101),
        ("wager", 45, 102),
        ("void", 46, 102),
    ]
    assert played.sent[0]["progressive"] == "royal"
    assert played.sent[0]["seats"] == [1, 2, 3, 4, 5, 6]
    assert played.sent[1]["reason"] == "misdeal"
    assert (played.tally.rounds, played.tally.misdeals) == (2, 2)
    assert (played.tally.wagers_minor, played.tally.returned_minor) == (6000, 6000)


def test_a_player_on_two_seats_is_named_at_both() -> None:
    names = play([ACCEPTED, VOIDED]).sent[0]["players"]
    first, second = sorted(map(int, names))
    assert set(names.values()) == {f"player at {first} and {second}"}


def test_a_round_without_a_bet_sends_nothing_and_uses_no_number() -> None:
    nobody = Habits(seated=100, wagering=0)
    played = play([], nobody, rounds=5)
    assert (played.sent, played.tally.rounds) == ([], 5)


def test_a_held_table_waits_and_tries_the_same_message_until_it_plays_on() -> None:
    held = error("table-held", retry=True)
    played = play([held, held, ACCEPTED, VOIDED])
    first, second, third, void = played.sent
    assert first == second == third
    assert (void["seq"], void["type"]) == (44, "void")
    assert played.stop.waits == [RETRY_SECONDS, RETRY_SECONDS]
    assert played.told == [Held(table="T1", message="table-held!"), PlaysOn(table="T1")]
    assert played.tally.refusals == {"table-held": 1}


@pytest.mark.parametrize("code", ["unavailable", "overloaded"])
def test_what_may_be_accepted_later_is_sent_again_with_the_same_seq(code: str) -> None:
    played = play([error(code, retry=True), ACCEPTED, VOIDED])
    assert played.sent[0] == played.sent[1]
    assert [each["seq"] for each in played.sent] == [43, 43, 44]
    assert played.told == []


def test_any_other_refusal_ends_the_table_with_the_daemons_words() -> None:
    with pytest.raises(PlayError, match=r"T1: not-allowed: not-allowed!"):
        play([error("not-allowed")])


def test_a_stopped_table_waits_no_longer_and_leaves_its_round() -> None:
    played = Played()
    played.stop = Impatient(lambda: played.stop.set())
    with table(played, [error("table-held", retry=True)], ALWAYS_MISDEALT) as simulated:
        simulated.play(rounds=None, pause_seconds=0)
    assert len(played.sent) == 1
    assert played.tally.rounds == 0


def test_between_rounds_it_pauses_and_a_stop_ends_that_too() -> None:
    played = Played()
    played.stop = Impatient(lambda: played.stop.set() if len(played.stop.waits) == 3 else None)
    with table(played, [ACCEPTED, VOIDED] * 3, ALWAYS_MISDEALT) as simulated:
        simulated.play(rounds=None, pause_seconds=0.5)
    assert played.stop.waits == [0.5, 0.5, 0.5]
    assert played.tally.rounds == 3


def test_a_paytable_whose_hands_the_game_has_not_is_no_layout() -> None:
    wild = live(paytable(pays={"five aces": "100% of meter"}), name="dragon")
    with pytest.raises(PlayError, match="T1 can't deal dragon"):
        layout_of("T1", game="caribbean-stud", seats=6, progressives=[wild])


def test_no_more_seats_are_played_than_the_deck_has_cards_for() -> None:
    dragon = live(paytable(pays={"five aces": "100% of meter"}))
    layout = layout_of("T1", game="pai-gow-poker", seats=12, progressives=[dragon])
    assert layout.seats == 6


ENVY_AND_FOLDED = live(paytable(envy={"royal flush": "$1,000 for 1"}), folded_hands_qualify=True)


@pytest.mark.parametrize(
    ("hand", "seat", "wagers", "folded", "terms", "due"),
    [
        pytest.param("flush", 1, {1, 2}, set(), ROYAL, True, id="a line and a wager"),
        pytest.param("flush", 1, {2}, set(), ROYAL, False, id="no wager"),
        pytest.param("flush", 1, {1, 2}, {1}, ROYAL, False, id="folded"),
        pytest.param("flush", 1, {1}, {1}, ENVY_AND_FOLDED, True, id="folded hands qualify"),
        pytest.param("two pair", 1, {1, 2}, set(), ROYAL, False, id="no line"),
        pytest.param("royal flush", 1, {2}, set(), ROYAL, True, id="Envy without a wager"),
        pytest.param("royal flush", 1, {1, 2}, {1}, ROYAL, True, id="a folded hand gives Envy"),
        pytest.param("royal flush", 1, {1}, {1}, ROYAL, False, id="folded, and nobody else bets"),
        pytest.param("royal flush", 3, {3, 4}, {3}, ROYAL, False, id="nobody but oneself"),
        pytest.param("royal flush", 3, {3, 4}, set(), ROYAL, True, id="one's own wager wins"),
    ],
)
def test_a_hand_is_sent_when_it_wins_or_gives_another_player_envy(
    hand: str, seat: int, wagers: set[int], folded: set[int], terms: Terms, due: bool
) -> None:
    guests = Guests(
        seats=(1, 2, 3, 4),
        wagers={"royal": tuple(sorted(wagers))},
        players={3: "Ann", 4: "Ann"},
        folded=frozenset(folded),
    )
    assert is_due(terms, hand, seat, guests) is due
