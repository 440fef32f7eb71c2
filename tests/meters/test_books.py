"""Rules 11: each event's postings, which sum to zero (the pit asserts it of every entry)."""

from __future__ import annotations

import pytest

from meters.books import CAGE, Posting, postings, table_account
from meters.events import TableSet
from meters.floor import Floor
from meters.outcomes import Noted
from meters.paytable import HandPay
from tests.builders import DOLLAR, UNITS, Pit, in_units, level, live, paytable

PRIMARY = "Liabilities:Progressive:royal:meter:Primary"
RESERVE = "Liabilities:Progressive:royal:meter:Reserve"
AWARDS = "Liabilities:Progressive:royal:Awards"
CONTRIBUTIONS = "Expenses:Progressive:royal:Contributions"
SEED = "Expenses:Progressive:royal:Seed"
HOUSE_AWARDS = "Expenses:Progressive:royal:Awards"
ENVY = "Expenses:Progressive:royal:Envy"
ADJUSTMENTS = "Expenses:Progressive:royal:Adjustments"
WAGERS = "Income:Progressive:royal:Wagers"
TABLE = "Assets:Tables:T1"


def pit_of(*, hand_pay: HandPay = HandPay.PERCENTAGE) -> Pit:
    """Return a table where $5 brings 50 cents to the meter and 25 to its reserve."""
    printed = paytable(
        levels={"meter": level("$1,000", "10%", reserve="5%")},
        pays={
            "royal flush": "100% of meter",
            "straight flush": "10% of meter",
            "four of a kind": "$2,000 from meter",
            "full house": "9 to 1",
        },
        envy={"royal flush": "$100 for 1"},
        hand_pay=hand_pay,
    )
    return Pit(live(printed, tables=("T1", "T2")))


def entry(pit: Pit) -> dict[str, int]:
    """Return the last entry, in cents; each account is posted once."""
    cents = {each.account: each.amount_units // UNITS for each in pit.entry}
    assert len(cents) == len(pit.entry)
    assert all(each.amount_units % UNITS == 0 for each in pit.entry)
    return cents


def test_11_the_seed_is_the_houses() -> None:
    assert entry(pit_of()) == {PRIMARY: -1_000_00, SEED: 1_000_00}


def test_11_a_wager_comes_in_at_the_table_and_accrues_at_both_rates() -> None:
    pit = pit_of()
    pit.wager("T1", 1, 1, 2)
    assert entry(pit) == {
        TABLE: 10_00,
        WAGERS: -10_00,
        PRIMARY: -1_00,
        RESERVE: -50,
        CONTRIBUTIONS: 1_50,
    }


def test_11_a_hit_and_its_reseed_are_one_entry() -> None:
    """A pending award waits with its Envy; primary pays it and takes in the next seeding."""
    pit = pit_of()
    pit.wager("T1", 1, 1, 2)
    pit.hit("T1", 1, 1, "royal flush")
    assert pit.entry == (
        posting(PRIMARY, in_units(1_001), "meter", 1),
        posting(ENVY, in_units(500)),
        posting(AWARDS, -in_units(1_501)),
        posting(PRIMARY, -in_units(1_000), "meter", 2),
        posting(RESERVE, 50 * UNITS, "meter", 2),
        posting(SEED, in_units(1_000) - 50 * UNITS),
    )


def posting(account: str, amount_units: int, level: str = "", generation: int = 0) -> Posting:
    return Posting(
        account=account,
        amount_units=amount_units,
        progressive="royal",
        level=level,
        generation=generation,
    )


def test_11_a_pending_award_that_the_house_pays_waits_too() -> None:
    pit = pit_of(hand_pay=HandPay.TENTH)
    pit.wager("T1", 1, 1)
    pit.hit("T1", 1, 1, "four of a kind")
    assert entry(pit) == {PRIMARY: 1_000_50, HOUSE_AWARDS: 999_50, AWARDS: -2_000_00}


def test_11_what_is_paid_at_once_leaves_the_table() -> None:
    """The stake that a "to 1" line returns is the house's, as the wager was its income."""
    pit = pit_of()
    pit.wager("T1", 1, 1)
    pit.hit("T1", 1, 1, "full house")
    assert entry(pit) == {HOUSE_AWARDS: 50_00, TABLE: -50_00}


def test_11_an_award_of_envy_alone() -> None:
    pit = pit_of()
    pit.wager("T1", 1, 2, 3)
    pit.hit("T1", 1, 1, "royal flush")
    assert entry(pit) == {ENVY: 1_000_00, AWARDS: -1_000_00}


def test_11_a_hand_pay_leaves_the_cage_and_its_envy_the_table() -> None:
    pit = pit_of()
    pit.wager("T1", 1, 1, 2)
    pit.confirm(pit.hit("T1", 1, 1, "royal flush").hit)
    assert entry(pit) == {AWARDS: 1_501_00, CAGE: -1_001_00, TABLE: -500_00}


def test_11_a_confirmed_award_that_is_no_hand_pay_leaves_the_table() -> None:
    pit = pit_of(hand_pay=HandPay.FULL)
    pit.wager("T1", 1, 1)
    pit.confirm(pit.hit("T1", 1, 1, "straight flush").hit)
    assert entry(pit) == {AWARDS: 100_05, TABLE: -100_05}


def test_11_a_denial_is_the_hit_the_other_way_round() -> None:
    pit = pit_of(hand_pay=HandPay.TENTH)
    pit.wager("T1", 1, 1)
    hit = pit.hit("T1", 1, 1, "four of a kind").hit
    pit.deny(hit)
    assert entry(pit) == {PRIMARY: -1_000_50, HOUSE_AWARDS: -999_50, AWARDS: 2_000_00}


def test_11_a_denied_full_award_takes_its_seeding_and_its_envy_with_it() -> None:
    pit = pit_of()
    pit.wager("T1", 1, 1, 2)
    before = dict(pit.books)
    pit.deny(pit.hit("T1", 1, 1, "royal flush").hit)
    assert {account: amount for account, amount in pit.books.items() if amount} == before
    assert {each.generation for each in pit.entry if each.level} == {2}


def test_11_a_void_round_is_its_wager_the_other_way_round() -> None:
    pit = pit_of()
    pit.wager("T1", 1, 1, 2)
    wagered = entry(pit)
    pit.void("T1", 1)
    assert entry(pit) == {account: -amount for account, amount in wagered.items()}


def test_11_what_a_void_round_leaves_in_the_meters_is_an_adjustment() -> None:
    pit = pit_of()
    pit.wager("T1", 1, 1, 2)
    pit.wager("T2", 1, 1)
    pit.hit("T2", 1, 1, "royal flush")
    pit.void("T1", 1)
    assert entry(pit) == {TABLE: -10_00, WAGERS: 10_00, CONTRIBUTIONS: -1_50, ADJUSTMENTS: 1_50}


def test_11_a_void_round_of_two_progressives_is_booked_to_each() -> None:
    pit = Pit(live(paytable(), name="four"), live(paytable(), name="five"))
    pit.wager("T1", 1, 1, progressive="four")
    pit.wager("T1", 1, 1, 2, progressive="five")
    pit.void("T1", 1)
    for name, dollars in (("four", 5), ("five", 10)):
        own = [each for each in pit.entry if each.progressive == name]
        assert sum(each.amount_units for each in own) == 0
        assert [e.amount_units for e in own if e.account == TABLE] == [-in_units(dollars)]


def test_11_the_jackpot_liability_is_what_the_meters_and_the_pending_awards_are() -> None:
    pit = pit_of()
    pit.wager("T1", 1, 1, 2)
    pit.hit("T1", 1, 1, "royal flush")
    pit.hit("T1", 1, 2, "straight flush")
    liability = -sum(amount for name, amount in pit.books.items() if name.startswith("Liab"))
    assert liability == sum(pit.balances()) + in_units(1_501) + in_units(100)


def test_11_an_event_that_moves_no_money_has_no_postings() -> None:
    event = TableSet(table="T1", game="caribbean-stud", seats=6)
    assert postings(event, Noted(), Floor()) == ()


def test_11_postings_of_nothing_are_left_out() -> None:
    printed = paytable(levels={"meter": level("$0", "0%", reserve="8%")})
    pit = Pit(live(printed, wager_minor=DOLLAR))
    assert pit.entry == ()
    pit.wager("T1", 1, 1)
    assert PRIMARY not in entry(pit)


def test_11_the_generation_is_told_of_each_posting_to_a_level() -> None:
    pit = pit_of()
    pit.wager("T1", 1, 1)
    assert [e.generation for e in pit.entry if e.level] == [1, 1]
    pit.confirm(pit.hit("T1", 1, 1, "royal flush").hit)
    pit.wager("T1", 2, 1)
    assert [e.generation for e in pit.entry if e.level] == [2, 2]


@pytest.mark.parametrize("table", ["T1", "FCP-01"])
def test_11_each_table_has_an_account(table: str) -> None:
    assert table_account(table) == f"Assets:Tables:{table}"
