"""Rules 3: the dealer locks the bets."""

from __future__ import annotations

import pytest

from meters.events import TableSet, Wager
from meters.money import MAX_MINOR, MAX_UNITS
from meters.outcomes import RETRY, Accepted, Code
from meters.terms import Terms
from tests.builders import DOLLAR, UNITS, Pit, in_units, level, live, paytable

GROWING = live(paytable(levels={"meter": level("$1,000", "21%", reserve="5%")}))

TWO_LEVELS = live(
    paytable(
        levels={"mega": level("$1,000", "11%"), "major": level("$100", "10%", reserve="3%")},
        pays={"royal flush": "100% of mega", "straight flush": "100% of major"},
    )
)

FOUR_CARD = live(paytable(), name="four-card", wager_minor=1 * DOLLAR)
FIVE_CARD = live(paytable(), name="five-card", wager_minor=5 * DOLLAR)


def test_3_1_each_accepted_seat_adds_its_increment_and_its_reserve() -> None:
    pit = Pit(GROWING)
    pit.wager("T1", 1, 1, 2, 5)
    assert pit.balances() == (in_units(1_000) + 3 * 105 * UNITS, 3 * 25 * UNITS)


def test_3_1_every_level_gets_its_own_share() -> None:
    pit = Pit(TWO_LEVELS)
    pit.wager("T1", 1, 1, 2)
    assert pit.balances("mega") == (in_units(1_001, cents=10), 0)
    assert pit.balances("major") == (in_units(101), 30 * UNITS)


def test_1_3_a_contribution_is_never_rounded_however_often_it_comes() -> None:
    printed = paytable(levels={"meter": level("$0", "12.3457%")})
    pit = Pit(live(printed, wager_minor=1))
    for round_ in range(1, 1_001):
        pit.wager("T1", round_, 1)
    assert pit.balances() == (1_000 * 123_457, 0)
    assert pit.level().shown_minor == 123


def test_3_2_a_lock_that_crosses_the_cap_is_split() -> None:
    pit = Pit(live(paytable(levels={"meter": level("$1,000", "10%", cap="$1,000.70")})))
    pit.wager("T1", 1, 1, 2)
    assert pit.balances() == (in_units(1_000, cents=70), 30 * UNITS)
    pit.wager("T1", 2, 1)
    assert pit.balances() == (in_units(1_000, cents=70), 80 * UNITS)


def test_3_2_an_award_makes_room_under_the_cap_again() -> None:
    pit = Pit(live(paytable(levels={"meter": level("$1,000", "10%", cap="$1,000")})))
    pit.wager("T1", 1, 1)
    assert pit.balances() == (in_units(1_000), 50 * UNITS)
    pit.confirm(pit.hit("T1", 1, 1, "straight flush").hit)
    pit.wager("T1", 2, 1)
    assert pit.balances() == (in_units(900, cents=50), 50 * UNITS)


def test_3_4_the_answer_says_how_much_was_accepted_and_what_the_meter_reads() -> None:
    pit = Pit(GROWING)
    assert pit.wager("T1", 100, 5, 1, 2) == Accepted(
        progressive="royal", amount_minor=1_500, meters={"royal": {"meter": 100_315}}
    )


def test_2_1_tables_that_are_linked_share_the_meter() -> None:
    pit = Pit(live(paytable(), tables=("T1", "T2")))
    pit.wager("T1", 1, 1)
    answer = pit.wager("T2", 7, 1)
    assert answer.meters == {"royal": {"meter": 1_000_100}}


def test_2_1_a_table_that_is_set_again_keeps_its_round_and_has_its_new_seats() -> None:
    pit = Pit(GROWING)
    pit.wager("T1", 3, 6)
    pit.apply(TableSet(table="T1", game="let-it-ride", seats=7))
    pit.wager("T1", 4, 7)
    table = pit.floor.tables["T1"]
    assert (table.game, table.seats, table.round, table.next_seq) == ("let-it-ride", 7, 4, 3)


def test_3_3_a_table_with_two_progressives_locks_each_once_a_round() -> None:
    pit = Pit(FOUR_CARD, FIVE_CARD)
    assert pit.wager("T1", 1, 1, 2, progressive="four-card").amount_minor == 2 * DOLLAR
    assert pit.wager("T1", 1, 2, 3, progressive="five-card").amount_minor == 10 * DOLLAR
    assert pit.level(progressive="four-card").shown_minor == 1_000_020
    assert pit.level(progressive="five-card").shown_minor == 1_000_100


def lock(progressive: str | None, round_: int = 1) -> Wager:
    return Wager(table="T1", seq=0, round=round_, seats=(1,), progressive=progressive)


def test_3_3_a_second_lock_of_a_round_is_refused() -> None:
    pit = Pit(FOUR_CARD, FIVE_CARD)
    pit.wager("T1", 1, 1, progressive="four-card")
    assert pit.refused(lock("four-card")).code is Code.ROUND_LOCKED


def test_3_3_a_lock_after_a_hit_that_stands_is_refused() -> None:
    pit = Pit(FOUR_CARD, FIVE_CARD)
    pit.wager("T1", 1, 1, progressive="four-card")
    pit.hit("T1", 1, 1, "flush", progressive="four-card")
    assert pit.refused(lock("five-card")).code is Code.ROUND_LOCKED


def test_3_3_a_lock_after_a_hit_that_was_denied_is_taken() -> None:
    pit = Pit(FOUR_CARD, FIVE_CARD)
    pit.wager("T1", 1, 1, progressive="four-card")
    pit.deny(pit.hit("T1", 1, 1, "royal flush", progressive="four-card").hit)
    pit.wager("T1", 1, 1, progressive="five-card")


def test_3_3_the_same_progressive_is_not_locked_again_after_a_denial() -> None:
    pit = Pit(FOUR_CARD, FIVE_CARD)
    pit.wager("T1", 1, 1, progressive="four-card")
    pit.deny(pit.hit("T1", 1, 1, "royal flush", progressive="four-card").hit)
    assert pit.refused(lock("four-card")).code is Code.ROUND_LOCKED


@pytest.mark.parametrize("round_", [2, 3, 1_000])
def test_3_3_rounds_rise_and_may_leave_numbers_out(round_: int) -> None:
    pit = Pit(GROWING)
    pit.wager("T1", 1, 1)
    pit.wager("T1", round_, 1)
    assert pit.floor.tables["T1"].round == round_


def hit_and_wait(*terms: Terms) -> Pit:
    """Return a pit where T1 has hit 1, which waits, in its round 1."""
    pit = Pit(*terms)
    pit.wager("T1", 1, 1, 2, progressive="royal")
    pit.hit("T1", 1, 1, "royal flush", progressive="royal")
    return pit


def test_4_7_the_next_lock_waits_for_a_pending_award() -> None:
    pit = hit_and_wait(GROWING)
    refused = pit.refused(lock(None, 2))
    assert refused.code is Code.TABLE_HELD
    assert refused.code in RETRY
    assert "hit 1" in refused.message


def test_4_7_until_every_pending_award_of_the_table_is_settled() -> None:
    pit = hit_and_wait(GROWING)
    pit.hit("T1", 1, 2, "straight flush")
    pit.confirm(1)
    assert pit.refused(lock(None, 2)).message.endswith("hit 2")
    pit.deny(2)
    pit.wager("T1", 2, 1)


def test_4_7_other_tables_play_on() -> None:
    pit = hit_and_wait(live(paytable(), tables=("T1", "T2")))
    pit.wager("T2", 1, 1)


def test_4_7_another_progressive_of_the_table_waits_too() -> None:
    pit = hit_and_wait(GROWING, FOUR_CARD)
    assert pit.refused(lock("four-card", 2)).code is Code.TABLE_HELD


def test_4_7_an_award_that_is_paid_at_once_holds_nothing() -> None:
    pit = Pit(GROWING)
    pit.wager("T1", 1, 1)
    pit.hit("T1", 1, 1, "flush")
    pit.wager("T1", 2, 1)


def test_4_7_hold_table_false_frees_the_table_from_that_progressives_awards() -> None:
    free = live(paytable(), name="free", hold_table=False)
    pit = Pit(free, GROWING)
    pit.wager("T1", 1, 1, 2, progressive="free")
    pit.wager("T1", 1, 1, 2, progressive="royal")
    pit.hit("T1", 1, 1, "royal flush", progressive="free")
    pit.wager("T1", 2, 1, 2, progressive="royal")
    pit.hit("T1", 2, 1, "royal flush", progressive="royal")
    assert pit.refused(lock("free", 3)).message.endswith("hit 2")
    pit.confirm(2)
    pit.wager("T1", 3, 1, progressive="free")
    assert pit.floor.pending_at("T1") == [1]


def test_1_5_a_wager_that_would_pass_the_largest_amount_is_refused() -> None:
    pit = Pit(TWO_LEVELS)
    pit.put(MAX_UNITS - 65 * UNITS, name="major")
    pit.wager("T1", 1, 1)
    refused = pit.refused(lock(None, 2))
    assert refused.code is Code.UNAVAILABLE
    assert "2^62 units" in refused.message
    assert pit.balances("major") == (MAX_UNITS - 15 * UNITS, 15 * UNITS)


def test_1_5_wagers_that_are_together_beyond_the_largest_amount_are_refused() -> None:
    printed = paytable(levels={"meter": level("$0", "0%")}, pays={"royal flush": "100% of meter"})
    pit = Pit(live(printed, wager_minor=MAX_MINOR))
    pit.wager("T1", 1, 1)
    two = Wager(table="T1", seq=0, round=2, seats=(1, 2))
    assert pit.refused(two).code is Code.UNAVAILABLE
