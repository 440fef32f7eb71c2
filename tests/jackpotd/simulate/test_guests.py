"""Who sits, bets, doubles and folds in a simulated round."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpotd.simulate.guests import Guests, Habits, seat_guests

PERCENT = st.integers(0, 100)
HABITS = st.builds(
    Habits, seated=PERCENT, wagering=PERCENT, folding=PERCENT, doubling=PERCENT, misdealing=PERCENT
)


@given(seats=st.integers(1, 9), habits=HABITS, seed=st.integers(0, 99), keen=st.sets(st.just(1)))
def test_guests_bet_fold_and_double_at_seats_that_are_taken(
    seats: int, habits: Habits, seed: int, keen: set[int]
) -> None:
    guests = seat_guests(seats, ["a", "b"], Random(seed), habits, keen)
    taken = set(guests.seats)
    assert taken <= set(range(1, seats + 1))
    assert all(set(wagers) <= taken for wagers in guests.wagers.values())
    assert guests.folded <= taken
    assert set(guests.players) <= taken
    assert len(guests.players) in (0, 2)
    assert len(set(guests.players.values())) <= 1
    assert guests == seat_guests(seats, ["a", "b"], Random(seed), habits, keen)


@given(habits=HABITS, seed=st.integers(0, 99))
def test_a_keen_seat_is_taken_bets_on_everything_and_never_folds(habits: Habits, seed: int) -> None:
    guests = seat_guests(6, ["a", "b"], Random(seed), habits, keen={2, 5})
    for wagers in guests.wagers.values():
        assert {2, 5} <= set(wagers)
    assert not guests.folded & {2, 5}


@pytest.mark.parametrize(
    ("habits", "seats", "wagers", "folded", "players"),
    [
        (Habits(seated=0), 0, 0, 0, 0),
        (Habits(seated=100, wagering=0, folding=0, doubling=0), 6, 0, 0, 0),
        (Habits(seated=100, wagering=100, folding=100, doubling=100), 6, 6, 6, 2),
    ],
)
def test_chances_of_none_and_all_are_kept(
    habits: Habits, seats: int, wagers: int, folded: int, players: int
) -> None:
    guests = seat_guests(6, ["a"], Random(1), habits)
    counts = (len(guests.seats), len(guests.wagers["a"]), len(guests.folded), len(guests.players))
    assert counts == (seats, wagers, folded, players)


@pytest.mark.parametrize(
    ("wagers", "players", "others"),
    [
        ((1, 2), {}, True),
        ((1,), {}, False),
        ((2,), {}, True),
        ((), {}, False),
        ((1, 2), {1: "Ann", 2: "Ann"}, False),
        ((1, 2, 3), {1: "Ann", 2: "Ann"}, True),
        ((1, 2), {2: "Ben", 3: "Ben"}, True),
        ((2,), {1: "Ann", 2: "Ann"}, False),
    ],
)
def test_another_player_is_one_with_a_wager_and_another_name(
    wagers: tuple[int, ...], players: dict[int, str], others: bool
) -> None:
    guests = Guests(seats=(1, 2, 3), wagers={"a": wagers}, players=players, folded=frozenset())
    assert guests.others(1, "a") is others
