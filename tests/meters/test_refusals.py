"""The order in which a message is checked, and that a refusal changes nothing.

Each message of the rows is wrong in every way from its row on: what is named first is said.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from meters.events import Confirm, Deny, Event, Hit, Void, Wager
from meters.outcomes import Code, Refused, Repeated
from tests.builders import Pit, live, paytable

ROYAL = live(paytable(envy={"royal flush": "$1 for 1"}), tables=("T1", "T2"))
OTHER = live(paytable(), name="other", tables=("T2", "T3"))


def pit_in_play() -> Pit:
    """T1 voided its round 4, and has hit 1, which waits, in round 5; T2 plays two progressives."""
    pit = Pit(ROYAL, OTHER, live(paytable(), name="gone", tables=("T3",)))
    pit.wager("T1", 4, 1)
    pit.void("T1", 4)
    pit.wager("T1", 5, 1, 2)
    pit.hit("T1", 5, 1, "straight flush")
    pit.floor.progressives["gone"].retired = True
    return pit


WAGER = Wager(table="T1", seq=0, round=6, seats=(1,), progressive="royal")
HIT = Hit(table="T1", seq=0, round=5, seat=2, hand="flush", progressive="royal")
VOID = Void(table="T1", seq=0, round=5, reason="misdeal")

WAGERS = [
    (Code.UNKNOWN_TABLE, Wager(table="T9", seq=9, round=4, seats=(7,), progressive="none")),
    (Code.SEQ_GAP, Wager(table="T3", seq=9, round=4, seats=(7,), progressive="none")),
    (Code.UNKNOWN_PROGRESSIVE, Wager(table="T3", seq=0, round=4, seats=(7,), progressive="none")),
    (Code.UNKNOWN_PROGRESSIVE, Wager(table="T3", seq=0, round=4, seats=(7,), progressive="royal")),
    (Code.UNKNOWN_PROGRESSIVE, Wager(table="T3", seq=0, round=4, seats=(7,))),
    (Code.RETIRED, Wager(table="T3", seq=0, round=4, seats=(7,), progressive="gone")),
    (Code.BAD_SEAT, replace(WAGER, round=4, seats=(1, 7, 2))),
    (Code.BAD_SEAT, replace(WAGER, round=4, players={7: "Ann"})),
    (Code.ROUND_CLOSED, replace(WAGER, round=4)),
    (Code.TABLE_HELD, WAGER),
    (Code.ROUND_LOCKED, replace(WAGER, round=5)),
]

HITS = [
    (
        Code.UNKNOWN_TABLE,
        Hit(table="T9", seq=9, round=4, seat=7, hand="pair", progressive="none"),
    ),
    (Code.SEQ_GAP, Hit(table="T3", seq=9, round=4, seat=7, hand="pair", progressive="none")),
    (
        Code.UNKNOWN_PROGRESSIVE,
        Hit(table="T3", seq=0, round=4, seat=7, hand="pair", progressive="none"),
    ),
    (Code.UNKNOWN_PROGRESSIVE, Hit(table="T3", seq=0, round=4, seat=7, hand="pair")),
    (Code.RETIRED, Hit(table="T3", seq=0, round=4, seat=7, hand="pair", progressive="gone")),
    (Code.BAD_SEAT, replace(HIT, round=4, seat=7, hand="pair")),
    (Code.ROUND_CLOSED, replace(HIT, round=4, seat=1, hand="pair")),
    (Code.UNKNOWN_HAND, replace(HIT, seat=1, hand="pair")),
    (Code.DUPLICATE_HIT, replace(HIT, seat=1)),
    (Code.NO_WAGER, replace(HIT, seat=3)),
    (Code.NO_WAGER, replace(HIT, folded=True)),
    (Code.NO_WAGER, replace(HIT, round=6)),
    (Code.NO_WAGER, replace(HIT, round=6, hand="royal flush")),
]

VOIDS = [
    (Code.UNKNOWN_TABLE, Void(table="T9", seq=9, round=4, reason="misdeal")),
    (Code.SEQ_GAP, Void(table="T3", seq=9, round=4, reason="misdeal")),
    (Code.ROUND_CLOSED, replace(VOID, round=4)),
    (Code.ROUND_CLOSED, replace(VOID, round=6)),
    (Code.ROUND_SETTLED, VOID),
]

SETTLING = [
    (Code.UNKNOWN_HIT, Confirm(hit=2, by="Fay")),
    (Code.UNKNOWN_HIT, Deny(hit=2, by="Fay", reason="misread")),
]

ROWS = [*WAGERS, *HITS, *VOIDS, *SETTLING]


@pytest.mark.parametrize(
    ("code", "event"), ROWS, ids=[f"{type(event).__name__} {code.value}" for code, event in ROWS]
)
def test_the_first_thing_that_is_wrong_is_said_and_nothing_changes(
    code: Code, event: Event
) -> None:
    """The pit asserts that the state is as it was, to the byte."""
    assert pit_in_play().refused(event).code is code


@pytest.mark.parametrize("rows", [WAGERS, HITS, VOIDS], ids=["wager", "hit", "void"])
def test_the_rows_stand_in_the_order_of_the_codes(rows: list[tuple[Code, Event]]) -> None:
    order = list(Code)
    found = [order.index(code) for code, _ in rows]
    assert found == sorted(found)


def test_a_refused_message_does_not_use_up_its_seq() -> None:
    pit = pit_in_play()
    before = pit.seq("T1")
    pit.refused(replace(HIT, seq=before, hand="pair"))
    pit.apply(replace(HIT, seq=before))
    assert pit.seq("T1") == before + 1


def test_a_gap_says_which_seq_is_next() -> None:
    pit = pit_in_play()
    refused = pit.refused(replace(HIT, seq=7))
    assert refused.expected == pit.seq("T1") == 5
    assert "5 is next" in refused.message


@pytest.mark.parametrize("seq", [1, 2, 3, 4])
def test_an_older_seq_is_answered_from_the_record_whatever_it_says(seq: int) -> None:
    event = Wager(table="T1", seq=seq, round=99, seats=(77,), progressive="none")
    assert pit_in_play().apply(event) == Repeated(table="T1", seq=seq)


def test_each_table_counts_its_own_messages() -> None:
    pit = pit_in_play()
    assert (pit.seq("T1"), pit.seq("T2")) == (5, 1)
    pit.wager("T2", 1, 1, progressive="other")
    assert (pit.seq("T1"), pit.seq("T2")) == (5, 2)


def test_a_table_with_one_progressive_need_not_name_it() -> None:
    pit = pit_in_play()
    pit.apply(replace(HIT, seq=5, progressive=None))
    assert pit.seq("T1") == 6


@pytest.mark.parametrize(
    ("event", "words"),
    [
        (replace(WAGER, table="T9"), "there is no table T9"),
        (Wager(table="T2", seq=0, round=1, seats=(1,)), "T2 has royal, other"),
        (replace(WAGER, progressive="other"), "other is not at T1, which has royal"),
        (replace(WAGER, seats=(7,)), "there is no seat 7 at T1: seats are 1 to 6"),
        (replace(WAGER, round=4), "round 4 is over at T1, which is at round 5"),
        (WAGER, "T1 waits for the floor to confirm or deny hit 1"),
        (replace(WAGER, round=5), "round 5 is locked for royal already"),
        (replace(HIT, hand="pair"), "royal has no line for 'pair'; its hands are: royal flush"),
        (replace(HIT, seat=1), "seat 1 has hit 1 in round 5 already"),
        (replace(HIT, seat=3), "seat 3 has no accepted wager on royal in round 5"),
        (VOID, "round 5 has hit 1, which stands"),
        (replace(VOID, round=6), "the current round is 5"),
        (Confirm(hit=9, by="Fay"), "there is no hit 9"),
    ],
)
def test_the_message_says_what_is_wrong_and_what_would_be_right(event: Event, words: str) -> None:
    assert words in pit_in_play().refused(event).message


def test_a_voided_round_is_said_to_be_voided() -> None:
    pit = Pit(ROYAL)
    pit.wager("T1", 4, 1)
    pit.void("T1", 4)
    assert "was voided at T1" in pit.refused(replace(WAGER, round=4)).message


def test_a_table_without_a_progressive_has_none_to_name() -> None:
    pit = Pit(ROYAL)
    pit.floor.tables["T2"].progressives.clear()
    refused = pit.refused(Wager(table="T2", seq=0, round=1, seats=(1,)))
    assert refused.code is Code.UNKNOWN_PROGRESSIVE
    assert "T2 has none" in refused.message


def test_a_refusal_is_a_value() -> None:
    assert pit_in_play().refused(VOID) == Refused(
        code=Code.ROUND_SETTLED,
        message="round 5 has hit 1, which stands: only a round without one can be voided",
    )
