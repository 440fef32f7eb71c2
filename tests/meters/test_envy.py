"""Rules 6: Envy for every other player at the table."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from meters.events import Hit
from meters.outcomes import Code, Envy, Source, Status
from tests.builders import DOLLAR, Pit, level, live, paytable

ENVIED = paytable(
    levels={"meter": level("$10,000", "0%")},
    envy={"royal flush": "$1,000 for 1", "straight flush": "$300 for 1", "flush": "$10 for 1"},
)
ROYAL = live(ENVIED)


def round_of(*seats: int, players: Mapping[int, str] | None = None) -> Pit:
    """Return a table where these seats have wagered."""
    pit = Pit(ROYAL)
    pit.wager("T1", 1, *seats, players=players)
    return pit


def gets(amount_minor: int, *seats: int) -> tuple[Envy, ...]:
    return tuple(Envy(seat=seat, amount_minor=amount_minor) for seat in seats)


@pytest.mark.parametrize(
    ("seats", "players", "holder", "receivers"),
    [
        ((1, 2, 3), {}, 2, (1, 3)),
        ((3, 1, 2), {}, 2, (1, 3)),
        ((2,), {}, 2, ()),
        ((1, 3), {}, 2, (1, 3)),
        ((1, 2, 3), {1: "Ann", 2: "Ann"}, 2, (3,)),
        ((1, 2, 3), {1: "Ann", 2: "Ann", 3: "Ann"}, 2, ()),
        ((1, 2, 3), {1: "Ann", 2: "Bob"}, 2, (1, 3)),
        ((1, 2, 3), {1: "Ann"}, 2, (1, 3)),
        ((1, 2, 3), {1: "Bob", 3: "Bob"}, 2, (1, 3)),
        ((1, 3), {1: "Ann", 2: "Ann"}, 2, (3,)),
        ((1, 3), {2: "Ann"}, 2, (1, 3)),
        ((1, 3), {1: "Ann", 2: "Ann", 3: "Ann", 4: "Bob"}, 4, (1, 3)),
    ],
)
def test_6_1_every_other_player_with_a_wager_gets_it_and_never_ones_own_hand(
    seats: tuple[int, ...], players: dict[int, str], holder: int, receivers: tuple[int, ...]
) -> None:
    """The seats of one player are one player, with or without a wager of their own."""
    pit = round_of(*seats, players=players)
    award = pit.hit("T1", 1, holder, "royal flush")
    assert award.envy == gets(5_000 * DOLLAR, *receivers)


def test_6_1_a_player_of_several_seats_gets_it_for_each_of_his_wagers() -> None:
    pit = round_of(1, 2, 3, players={1: "Ann", 3: "Ann"})
    assert pit.hit("T1", 1, 2, "royal flush").envy == gets(5_000 * DOLLAR, 1, 3)


def test_6_1_it_is_paid_for_each_such_hand() -> None:
    pit = round_of(1, 2, 3)
    assert pit.hit("T1", 1, 1, "royal flush").envy == gets(5_000 * DOLLAR, 2, 3)
    assert pit.hit("T1", 1, 2, "straight flush").envy == gets(1_500 * DOLLAR, 1, 3)
    assert pit.hit("T1", 1, 3, "flush").envy == gets(50 * DOLLAR, 1, 2)


def test_6_1_only_hands_with_an_envy_line_give_it() -> None:
    pit = round_of(1, 2)
    assert pit.hit("T1", 1, 1, "full house").envy == ()


def test_6_1_only_at_the_same_table() -> None:
    pit = Pit(live(ENVIED, tables=("T1", "T2")))
    pit.wager("T1", 1, 1, 2)
    pit.wager("T2", 1, 3, 4)
    assert pit.hit("T1", 1, 1, "royal flush").envy == gets(5_000 * DOLLAR, 2)


def test_6_1_only_with_a_wager_in_that_round() -> None:
    pit = round_of(1, 2, 3)
    pit.wager("T1", 2, 1, 4)
    assert pit.hit("T1", 2, 1, "royal flush").envy == gets(5_000 * DOLLAR, 4)


def test_6_1_only_with_a_wager_on_that_progressive() -> None:
    pit = Pit(live(ENVIED, name="four-card"), live(ENVIED, name="five-card"))
    pit.wager("T1", 1, 1, 2, progressive="four-card")
    pit.wager("T1", 1, 1, 3, progressive="five-card")
    award = pit.hit("T1", 1, 1, "royal flush", progressive="five-card")
    assert award.envy == gets(5_000 * DOLLAR, 3)


def test_6_1_who_plays_a_seat_is_known_to_every_progressive_of_the_round() -> None:
    pit = Pit(live(ENVIED, name="four-card"), live(ENVIED, name="five-card"))
    pit.wager("T1", 1, 1, 2, progressive="four-card", players={1: "Ann", 2: "Ann"})
    pit.wager("T1", 1, 1, 2, 3, progressive="five-card")
    award = pit.hit("T1", 1, 1, "royal flush", progressive="five-card")
    assert award.envy == gets(5_000 * DOLLAR, 3)


def test_6_1_who_plays_a_seat_is_said_anew_each_round() -> None:
    pit = round_of(1, 2, players={1: "Ann", 2: "Ann"})
    pit.wager("T1", 2, 1, 2)
    assert pit.hit("T1", 2, 1, "royal flush").envy == gets(5_000 * DOLLAR, 2)


def test_6_2_it_scales_with_the_receivers_wager() -> None:
    """§ 639a.12(d)(6), § 687a.12(c)."""
    pit = Pit(live(ENVIED, wager_minor=1 * DOLLAR))
    pit.wager("T1", 1, 1, 2)
    assert pit.hit("T1", 1, 1, "straight flush").envy == gets(300 * DOLLAR, 2)


def test_6_3_a_holder_without_a_wager_gives_it_and_is_paid_nothing() -> None:
    pit = round_of(1, 3)
    before = pit.balances()
    award = pit.hit("T1", 1, 2, "royal flush")
    assert award.envy == gets(5_000 * DOLLAR, 1, 3)
    assert (award.amount_minor, award.taken_minor, award.seeding) == (0, 0, None)
    assert (award.line, award.level, award.meter_minor, award.generation) == (None,) * 4
    assert (award.source, award.status) == (Source.TABLE, Status.PENDING)
    assert pit.balances() == before


def test_6_3_a_folded_hand_gives_it_and_wins_nothing() -> None:
    """§ 641a.11(b)(2), § 647a.11(b)(2)."""
    pit = round_of(1, 2)
    award = pit.hit("T1", 1, 1, "royal flush", folded=True)
    assert award.envy == gets(5_000 * DOLLAR, 2)
    assert (award.amount_minor, award.line, pit.level().generation) == (0, None, 1)


def test_6_3_a_folded_hand_still_receives_it() -> None:
    """Who folded isn't asked: the wager was accepted, and that is enough."""
    pit = round_of(1, 2)
    pit.hit("T1", 1, 2, "straight flush", folded=True)
    assert pit.hit("T1", 1, 1, "royal flush").envy == gets(5_000 * DOLLAR, 2)


def test_6_3_a_hand_that_pays_and_gives_nothing_is_no_hit() -> None:
    pit = round_of(1)
    alone = Hit(table="T1", seq=0, round=1, seat=1, hand="royal flush", folded=True)
    assert pit.refused(alone).code is Code.NO_WAGER


def test_6_3_a_folded_holder_waits_for_confirmation_too() -> None:
    pit = round_of(1, 2)
    hit = pit.hit("T1", 1, 1, "royal flush", folded=True).hit
    assert pit.confirm(hit).envy == gets(5_000 * DOLLAR, 2)


def test_6_4_no_meter_moves_and_the_table_pays_it_at_the_confirmation() -> None:
    pit = round_of(1, 2, 3)
    hit = pit.hit("T1", 1, 1, "flush").hit
    wagers = pit.books["Assets:Tables:T1"]
    assert pit.books["Expenses:Progressive:royal:Envy"] == 100 * DOLLAR * 1_000_000
    pit.confirm(hit)
    paid_minor = (wagers - pit.books["Assets:Tables:T1"]) // 1_000_000
    assert paid_minor == 40 * 5 * DOLLAR + 100 * DOLLAR
    assert pit.balances() == (10_000 * DOLLAR * 1_000_000, 0)


def test_6_4_it_falls_away_when_the_hit_is_denied() -> None:
    pit = round_of(1, 2, 3)
    denied = pit.deny(pit.hit("T1", 1, 1, "royal flush").hit)
    assert denied.envy_minor == 10_000 * DOLLAR
    assert pit.books["Expenses:Progressive:royal:Envy"] == 0
    assert pit.books["Liabilities:Progressive:royal:Awards"] == 0


def test_6_5_folded_hands_qualify_lets_a_folded_hand_win_its_line_too() -> None:
    """§ 687a.11(b)(3)."""
    pit = Pit(live(ENVIED, folded_hands_qualify=True))
    pit.wager("T1", 1, 1, 2)
    award = pit.hit("T1", 1, 1, "royal flush", folded=True)
    assert award.amount_minor == 10_000 * DOLLAR
    assert award.envy == gets(5_000 * DOLLAR, 2)


def test_6_5_but_not_without_a_wager() -> None:
    pit = Pit(live(ENVIED, folded_hands_qualify=True))
    pit.wager("T1", 1, 1)
    assert pit.hit("T1", 1, 2, "royal flush", folded=True).amount_minor == 0
