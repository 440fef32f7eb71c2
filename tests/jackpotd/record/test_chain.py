"""The chain of rows: a row that was changed, added, dropped or moved breaks it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jackpotd.record.rows import (
    RecordError,
    Row,
    chained,
    draft,
    first_hash,
    fold,
    read_answer,
)
from meters.events import Event, Opened, TableSet, Wager
from meters.floor import Floor
from tests.builders import live, paytable

TERMS = live(paytable(), tables=("T1", "T2"))
OTHER_HASH = bytes(range(32))


def story() -> list[Row]:
    """Write down a table, its progressive, and two wagers."""
    floor, last, rows = Floor(), first_hash("Riverside", "USD"), []
    events: list[Event] = [
        TableSet(table="T1", game="g", seats=6),
        TableSet(table="T2", game="g", seats=6),
        Opened(terms=TERMS),
        Wager(table="T1", seq=1, round=1, seats=(1,)),
        Wager(table="T1", seq=2, round=2, seats=(1, 2)),
    ]
    for at_ms, event in enumerate(events, start=1_000):
        answer = floor.apply(event, at_ms)
        written = draft(floor.number, at_ms, event, answer)  # type: ignore[arg-type]
        last = chained(last, written)
        rows.append(Row(*written, last))
    return rows


def folded(rows: list[Row], start: bytes | None = None) -> Floor:
    floor = Floor()
    for _ in fold(rows, floor, first_hash("Riverside", "USD") if start is None else start):
        pass
    return floor


def rechained(rows: list[Row]) -> list[Row]:
    last, again = first_hash("Riverside", "USD"), []
    for row in rows:
        last = chained(last, row[:7])
        again.append(row._replace(hash=last))
    return again


def test_a_story_folds_to_its_state() -> None:
    floor = folded(story())
    assert floor.number == 5
    assert floor.tables["T1"].next_seq == 3


def test_each_row_comes_back_with_its_event_and_answer() -> None:
    found = list(fold(story(), Floor(), first_hash("Riverside", "USD")))
    assert [each.row for each in found] == story()
    assert found[3].event == Wager(table="T1", seq=1, round=1, seats=(1,))
    assert found[3].answer == read_answer(story()[3])


@pytest.mark.parametrize("other", [("Lakeside", "USD"), ("Riverside", "CAD")])
def test_a_record_is_chained_to_its_property_and_currency(other: tuple[str, str]) -> None:
    with pytest.raises(RecordError, match="row 1: its hash does not match"):
        folded(story(), first_hash(*other))


CHANGES: dict[str, Any] = {
    "at_ms": 2_000,
    "table": "T2",
    "seq": 3,
    "kind": "hit",
    "event": '{"round":1,"seats":[2]}',
    "answer": '{"meters":{}}',
    "hash": OTHER_HASH,
}


@pytest.mark.parametrize("number", [1, 4, 5])
@pytest.mark.parametrize("column", CHANGES)
def test_a_change_of_any_column_breaks_the_chain_there(column: str, number: int) -> None:
    rows = story()
    rows[number - 1] = rows[number - 1]._replace(**{column: CHANGES[column]})
    with pytest.raises(RecordError, match=f"row {number}: its hash does not match"):
        folded(rows)


ORDERS: list[tuple[Callable[[list[Row]], list[Row]], str]] = [
    (lambda rows: rows[1:], "row 2 stands where row 1 should"),
    (lambda rows: [*rows[:2], *rows[3:]], "row 4 stands where row 3 should"),
    (lambda rows: [*rows, rows[-1]], "row 5 stands where row 6 should"),
    (lambda rows: [rows[1], rows[0], *rows[2:]], "row 2 stands where row 1 should"),
    (
        lambda rows: [rows[1]._replace(number=1), rows[0]._replace(number=2), *rows[2:]],
        "row 1: its hash does not match",
    ),
]


@pytest.mark.parametrize(("order", "said"), ORDERS)
def test_rows_stand_in_their_order(order: Callable[[list[Row]], list[Row]], said: str) -> None:
    with pytest.raises(RecordError, match=said):
        folded(order(story()))


FORGED: list[tuple[int, dict[str, Any], str]] = [
    (4, {"at_ms": 5}, "row 4: its time lies before that of the row before it"),
    (4, {"kind": "bonus"}, "row 4: unknown kind 'bonus'; this version knows: table, open,"),
    (4, {"kind": "hit"}, "row 4: its event can't be read"),
    (4, {"event": "no JSON"}, "row 4: its event can't be read"),
    (4, {"event": "[]"}, "row 4: its event can't be read"),
    (4, {"event": '{"round":1,"seats":["1"]}'}, "row 4: its event can't be read"),
    (4, {"event": '{"round":1,"seats":[]}'}, "row 4: its event can't be folded"),
    (4, {"event": '{"round":1,"seats":[2,3]}'}, "row 4: its answer is not what its event gives"),
    (4, {"event": '{"round":1,"seats":[99]}'}, "row 4: its answer is not what its event gives"),
    (4, {"table": "T9"}, "row 4: its answer is not what its event gives"),
    (4, {"seq": 2}, "row 4: its answer is not what its event gives"),
    (5, {"seq": 1}, "row 5: its answer is not what its event gives"),
    (4, {"answer": "{}"}, "row 4: its answer is not what its event gives: {}"),
]


@pytest.mark.parametrize(("number", "change", "said"), FORGED)
def test_a_forged_row_is_found_though_its_hash_fits(
    number: int, change: dict[str, Any], said: str
) -> None:
    rows = story()
    rows[number - 1] = rows[number - 1]._replace(**change)
    with pytest.raises(RecordError, match=said):
        folded(rechained(rows))


@pytest.mark.parametrize("answer", ["no JSON", "[]", '{"progressive":"royal"}'])
def test_an_answer_that_is_none_is_refused(answer: str) -> None:
    row = story()[3]._replace(answer=answer)
    with pytest.raises(RecordError, match="row 4: its answer can't be read"):
        read_answer(row)
