"""How events and answers are written down, chained, folded and read back."""

from __future__ import annotations

from dataclasses import MISSING, fields, replace
from typing import Any, get_args

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jackpotd.record.rows import (
    KINDS,
    RecordError,
    Row,
    draft,
    read_answer,
    read_event,
    read_state,
    write_state,
)
from meters.events import Confirm, Deny, Event, Hit, Opened, TableSet, Void, Wager
from meters.floor import Floor
from meters.outcomes import (
    Accepted,
    Answer,
    Awarded,
    Confirmed,
    Denied,
    Envy,
    Noted,
    Returned,
    Seeding,
    Source,
    Status,
    Voided,
)
from meters.paytable import HandPay
from tests.builders import level, live, paytable

HASH = bytes(range(32))
TERMS = live(
    paytable(
        levels={
            "mega": level("$10,000", "10%", reserve="3%", cap="$500,000"),
            "minor": level("$250", "3%", reseed="$0"),
        },
        pays={"royal flush": "100% of mega", "flush": "$300 from minor", "straight": "9 to 1"},
        envy={"royal flush": "$1,000 for 1"},
        hand_pay=HandPay.TENTH,
        validate=("straight",),
    ),
    tables=("T1", "T2"),
    hold_table=False,
    folded_hands_qualify=True,
)
METERS = {"royal": {"mega": 1_000_000, "minor": 0}}
SEEDING = Seeding(house_units=7, reserve_units=-5)
AWARD = Awarded(
    hit=17,
    progressive="royal",
    amount_minor=1_234_567,
    source=Source.HAND_PAY,
    status=Status.PENDING,
    meters=METERS,
)

PAIRS: list[tuple[str, Event, Answer]] = [
    ("table", TableSet(table="T1", game="let-it-ride", seats=7), Noted()),
    ("open", Opened(terms=TERMS), Noted(meters=METERS)),
    (
        "wager",
        Wager(table="T1", seq=1, round=1, seats=(3,)),
        Accepted(progressive="royal", amount_minor=500, meters=METERS),
    ),
    (
        "wager",
        Wager(
            table="T1",
            seq=2**53 - 1,
            round=2**53 - 1,
            seats=(1, 2, 5),
            progressive="royal",
            players={1: "Ann", 4: "Ann", 5: "Zoë"},
        ),
        Accepted(progressive="royal", amount_minor=1_500, meters={}),
    ),
    ("hit", Hit(table="T1", seq=1, round=1, seat=1, hand="straight"), AWARD),
    (
        "hit",
        Hit(
            table="T1",
            seq=3,
            round=9,
            seat=6,
            hand="royal flush",
            progressive="royal",
            folded=True,
            cards=("As", "Ks"),
        ),
        replace(
            AWARD,
            line="100% of mega",
            level="mega",
            meter_minor=1_234_567,
            generation=3,
            taken_minor=1_234_567,
            seeding=SEEDING,
            envy=(Envy(seat=1, amount_minor=500_000), Envy(seat=2, amount_minor=500_000)),
        ),
    ),
    (
        "hit",
        Hit(table="T1", seq=3, round=9, seat=6, hand="royal flush"),
        replace(AWARD, amount_minor=0, line="100% of mega", level="mega", meter_minor=0),
    ),
    (
        "void",
        Void(table="T1", seq=4, round=9, reason='a card "exposed"\n'),
        Voided(
            amount_minor=500,
            wagers_minor={"royal": 500},
            returned=(
                Returned(
                    progressive="royal",
                    level="mega",
                    primary_units=0,
                    reserve_units=1,
                    lost_units=2**62,
                ),
            ),
            meters=METERS,
        ),
    ),
    (
        "void",
        Void(table="T1", seq=4, round=9, reason=""),
        Voided(amount_minor=0, wagers_minor={}, returned=(), meters={}),
    ),
    (
        "confirm",
        Confirm(hit=17, by="floor-7"),
        Confirmed(
            hit=17,
            table="T1",
            round=9,
            seat=6,
            progressive="royal",
            amount_minor=0,
            source=Source.TABLE,
            envy=(Envy(seat=1, amount_minor=500_000),),
            by="floor-7",
        ),
    ),
    (
        "deny",
        Deny(hit=17, by="floor-7", reason="misread"),
        Denied(
            hit=17,
            table="T1",
            round=9,
            seat=6,
            progressive="royal",
            level=None,
            taken_minor=0,
            house_minor=0,
            envy_minor=0,
            seeding=Seeding(house_units=0, reserve_units=0),
            later_hits=(),
            by="floor-7",
            meters=METERS,
        ),
    ),
    (
        "deny",
        Deny(hit=17, by="floor-7", reason="misread"),
        Denied(
            hit=17,
            table="T1",
            round=9,
            seat=6,
            progressive="royal",
            level="mega",
            taken_minor=5,
            house_minor=6,
            envy_minor=7,
            seeding=SEEDING,
            later_hits=(19, 20),
            by="floor-7",
            meters=METERS,
        ),
    ),
]


def row_of(event: Event, answer: Answer, number: int = 1, at_ms: int = 1) -> Row:
    return Row(*draft(number, at_ms, event, answer), HASH)


def test_every_event_and_answer_has_a_kind_of_row() -> None:
    assert {event for event, _ in KINDS.values()} == set(get_args(Event))
    assert {answer for _, answer in KINDS.values()} == set(get_args(Answer))
    assert {kind for kind, *_ in PAIRS} == set(KINDS)


@pytest.mark.parametrize(("kind", "event", "answer"), PAIRS)
def test_what_was_written_down_reads_the_same(kind: str, event: Event, answer: Answer) -> None:
    row = row_of(event, answer)
    assert row.kind == kind
    assert read_event(row) == event
    assert read_answer(row) == answer


@pytest.mark.parametrize(("kind", "event", "answer"), PAIRS)
def test_the_columns_say_which_table_sent_it(kind: str, event: Event, answer: Answer) -> None:
    row = row_of(event, answer)
    if isinstance(event, Wager | Hit | Void):
        assert (row.table, row.seq) == (event.table, event.seq)
        assert not {"table", "seq"} & set(msgspec.json.decode(row.event))
    else:
        assert (row.table, row.seq) == ("", 0)


def test_what_stands_at_its_default_is_not_written() -> None:
    row = row_of(Wager(table="T1", seq=5, round=9, seats=(1, 2)), Noted())
    assert (row.event, row.answer) == ('{"round":9,"seats":[1,2]}', "{}")


def test_a_meter_of_nothing_is_not_the_same_as_no_meter() -> None:
    hit = Hit(table="T1", seq=1, round=1, seat=1, hand="royal flush")
    for meter_minor in (0, None):
        row = row_of(hit, replace(AWARD, meter_minor=meter_minor))
        answer = read_answer(row)
        assert isinstance(answer, Awarded)
        assert answer.meter_minor is meter_minor


OPTIONAL = [
    (kind, each.name)
    for kind in (*get_args(Event), *get_args(Answer))
    for each in fields(kind)
    if each.default is not MISSING or each.default_factory is not MISSING
]


@pytest.mark.parametrize(("kind", "name"), OPTIONAL)
def test_the_pairs_above_give_each_optional_field_a_value(kind: type[Any], name: str) -> None:
    values = [value for _, event, answer in PAIRS for value in (event, answer)]
    assert any(getattr(value, name) for value in values if isinstance(value, kind))


SENT_BY_TABLES = st.builds(
    Wager,
    table=st.text(max_size=8),
    seq=st.integers(1, 2**53 - 1),
    round=st.integers(1, 2**53 - 1),
    seats=st.lists(st.integers(1, 12), min_size=1, unique=True).map(tuple),
    progressive=st.none() | st.text(min_size=1),
    players=st.dictionaries(st.integers(1, 2**53 - 1), st.text(min_size=1)),
) | st.builds(
    Hit,
    table=st.text(max_size=8),
    seq=st.integers(1, 2**53 - 1),
    round=st.integers(1, 2**53 - 1),
    seat=st.integers(1, 12),
    hand=st.text(),
    progressive=st.none() | st.text(min_size=1),
    folded=st.booleans(),
    cards=st.lists(st.text()).map(tuple),
)


@given(event=SENT_BY_TABLES)
def test_any_text_and_number_reads_the_same(event: Wager | Hit) -> None:
    assert read_event(row_of(event, Noted())) == event


def test_a_state_reads_the_same() -> None:
    floor = Floor()
    for event in (
        TableSet(table="T1", game="g", seats=6),
        TableSet(table="T2", game="g", seats=6),
        Opened(terms=TERMS),
        Wager(table="T1", seq=1, round=3, seats=(1, 2), players={1: "Ann"}),
        Hit(table="T1", seq=2, round=3, seat=2, hand="royal flush", cards=("As",)),
        Wager(table="T2", seq=1, round=1, seats=(6,)),
    ):
        floor.apply(event, 1_000)
    assert floor.pending
    again = read_state(write_state(floor))
    assert again == floor
    assert write_state(again) == write_state(floor)
    for same in (floor, again):
        same.apply(Deny(hit=1, by="floor-7", reason="misread"), 2_000)
    assert again == floor


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"number":"1"}', b'{"number":1.5}'])
def test_a_state_that_is_none_is_refused(text: bytes) -> None:
    with pytest.raises(RecordError, match="the snapshot can't be read"):
        read_state(text)
