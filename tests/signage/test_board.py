"""What signs show: committed values, newest only, and the awards that stand."""

from __future__ import annotations

import json
from typing import Any

import pytest

from meters.money import CURRENCIES
from signage.board import Award, Board, Resolution, ShownLevel
from tests.signage.examples import (
    AT_MS,
    AT_TEXT,
    SIGNS,
    award,
    commit,
    property_board,
    resolution,
)


def body(board: Board, sign: str | None = None) -> Any:
    return json.loads(board.snapshot().view(sign).encoded)


def last_hits(board: Board, level: str = "mega", sign: str | None = None) -> list[int]:
    awards = body(board, sign)["progressives"]["royal"]["last"][level]
    return [each["hit"] for each in awards]


def pending_hits(board: Board) -> list[int]:
    return [each["hit"] for each in body(board)["progressives"]["royal"]["pending"]]


def test_the_body_holds_every_progressive_with_its_levels_in_the_order_of_the_paytable() -> None:
    board = property_board()
    board.meters_committed(
        sequence=812, at_ms=AT_MS, meters={"royal": {"mega": 5_000_150}}, generations={}
    )
    assert body(board) == {
        "sequence": 812,
        "at": AT_TEXT,
        "property": "Riverside",
        "progressives": {
            "royal": {
                "title": "Riverside Royal",
                "currency": "USD",
                "levels": {
                    "mega": {"amount": 5_000_150, "text": "$50,001.50", "generation": 1},
                    "major": {"amount": 500_000, "text": "$5,000.00", "generation": 1},
                },
                "pending": [],
                "last": {"mega": [], "major": []},
            },
            "fortune": {
                "title": "Pai Gow Fortune",
                "currency": "USD",
                "levels": {"meter": {"amount": 0, "text": "$0.00", "generation": 1}},
                "pending": [],
                "last": {"meter": []},
            },
        },
    }
    assert list(body(board)["progressives"]["royal"]["levels"]) == ["mega", "major"]


def test_before_anything_is_committed_the_time_is_null() -> None:
    assert body(property_board())["at"] is None


def test_amounts_are_written_in_the_currency_of_the_property() -> None:
    board = Board(property_title="Riverside", currency=CURRENCIES["JPY"], signs={})
    board.show_progressive("royal", "Royal", {"mega": ShownLevel(amount_minor=1500, generation=1)})
    assert body(board)["progressives"]["royal"]["levels"]["mega"]["text"] == "¥1,500"


def test_the_snapshot_has_the_amounts_for_other_protocols() -> None:
    board = property_board()
    commit(board, 9, mega=5_000_003)
    snapshot = board.snapshot()
    assert snapshot.sequence == 9
    assert snapshot.meters == {
        "royal": {"mega": 5_000_003, "major": 500_000},
        "fortune": {"meter": 0},
    }


def test_everybody_gets_the_same_snapshot_until_something_changes() -> None:
    board = property_board()
    first = board.snapshot()
    assert board.snapshot() is first
    commit(board, 1, mega=5_000_001)
    second = board.snapshot()
    assert second is not first
    assert second.etag != first.etag
    assert json.loads(first.encoded)["progressives"]["royal"]["levels"]["mega"]["amount"] == (
        5_000_000
    )


def test_a_restarted_daemon_gives_the_same_values_the_same_tag() -> None:
    tags = set()
    for board in (property_board(), property_board()):
        commit(board, 4, mega=5_000_001)
        tags.add(board.snapshot().etag)
    assert len(tags) == 1


@pytest.mark.parametrize(
    ("sequence", "generation", "mega"),
    [
        (11, 2, 6_000_000),
        (10, 2, 6_000_000),
        (9, 2, 5_500_000),
        (11, 1, 5_500_000),
    ],
    ids=["newer", "same sequence", "older sequence", "older generation"],
)
def test_an_older_value_never_replaces_a_newer_one(
    sequence: int, generation: int, mega: int
) -> None:
    board = property_board()
    commit(board, 10, mega=5_500_000, generations={"mega": 2})
    commit(board, sequence, mega=6_000_000, generations={"mega": generation})
    assert board.snapshot().meters["royal"]["mega"] == mega
    assert board.snapshot().sequence == max(10, sequence)


def test_a_new_generation_begins_at_its_seed() -> None:
    board = property_board()
    commit(board, 10, mega=100, generations={"mega": 2})
    level = body(board)["progressives"]["royal"]["levels"]["mega"]
    assert level == {"amount": 100, "text": "$1.00", "generation": 2}


def test_a_row_that_changes_nothing_shown_moves_the_sequence_and_no_revision() -> None:
    board = property_board()
    before = board.snapshot()
    commit(board, 77, mega=5_000_000)
    after = board.snapshot()
    assert (after.sequence, after.revision) == (77, before.revision)


def test_a_level_that_does_not_exist_is_an_error() -> None:
    board = property_board()
    with pytest.raises(KeyError):
        commit(board, 1, grand=1)


def test_a_pending_award_is_shown_with_the_amount_of_its_turn_and_not_the_reseeded_meter() -> None:
    board = property_board()
    commit(board, 17, mega=1_000_000, generations={"mega": 2})
    board.hit_committed(award(17))
    shown = body(board)["progressives"]["royal"]
    assert shown["levels"]["mega"]["amount"] == 1_000_000
    assert shown["pending"] == [
        {
            "hit": 17,
            "table": "LIR-02",
            "seat": 5,
            "hand": "royal flush",
            "amount": 1_234_567,
            "text": "$12,345.67",
            "level": "mega",
            "line": "100% of mega",
            "at": AT_TEXT,
            "status": "pending",
            "round": 100,
            "cards": ["As", "Ks", "Qs", "Js", "Ts"],
            "envy": 300_000,
            "envy_text": "$3,000.00",
        }
    ]
    assert shown["last"]["mega"] == [
        {key: shown["pending"][0][key] for key in shown["last"]["mega"][0]}
    ]


def test_a_paid_award_is_no_longer_pending_and_stays_among_the_last() -> None:
    board = property_board()
    board.hit_committed(award(17))
    board.resolved_committed(resolution(17, "paid"))
    assert pending_hits(board) == []
    last = body(board)["progressives"]["royal"]["last"]["mega"]
    assert [(each["hit"], each["status"], each["at"]) for each in last] == [(17, "paid", AT_TEXT)]


def test_a_denied_award_disappears() -> None:
    board = property_board()
    board.hit_committed(award(17))
    board.resolved_committed(resolution(17, "denied"))
    assert pending_hits(board) == []
    assert last_hits(board) == []


def test_the_last_awards_are_newest_first_and_25_a_level() -> None:
    board = property_board()
    for hit in range(1, 31):
        board.hit_committed(award(hit, status="paid"))
    board.hit_committed(award(31, status="paid", level="major", line="100% of major"))
    assert last_hits(board) == list(range(30, 5, -1))
    assert last_hits(board, "major") == [31]


def test_25_awards_still_stand_when_one_of_the_last_25_is_denied() -> None:
    board = property_board()
    for hit in range(1, 27):
        board.hit_committed(award(hit, status="paid"))
    board.hit_committed(award(27))
    assert last_hits(board) == list(range(27, 2, -1))
    board.resolved_committed(resolution(27, "denied"))
    assert last_hits(board) == list(range(26, 1, -1))


def test_an_award_paid_late_keeps_its_place_by_the_time_of_its_hit() -> None:
    board = property_board()
    board.hit_committed(award(1))
    board.hit_committed(award(2, status="paid"))
    board.resolved_committed(resolution(1, "paid"))
    assert last_hits(board) == [2, 1]


@pytest.mark.parametrize("status", ["pending", "paid"])
def test_an_award_that_no_meter_paid_is_not_among_the_last_of_a_level(status: str) -> None:
    board = property_board()
    board.hit_committed(award(3, level=None, line="50 for 1", meter_minor=None, status=status))
    assert last_hits(board) == last_hits(board, "major") == []
    assert pending_hits(board) == ([3] if status == "pending" else [])


@pytest.mark.parametrize("status", ["pending", "paid"])
def test_an_award_told_twice_is_shown_once(status: str) -> None:
    board = property_board()
    told = Told(board)
    for _ in range(2):
        board.hit_committed(award(17, status=status))
    assert last_hits(board) == [17]
    assert told.hits == [17]


def test_pending_awards_are_in_the_order_of_their_hits() -> None:
    board = property_board()
    for hit in (5, 3, 4):
        board.hit_committed(award(hit))
    assert pending_hits(board) == [3, 4, 5]


def test_no_player_is_ever_named() -> None:
    board = property_board()
    board.hit_committed(award(17))
    assert b"player" not in board.snapshot().encoded


def test_a_sign_gets_its_own_progressives_in_its_own_order_with_five_last_awards() -> None:
    board = property_board()
    for hit in range(1, 10):
        board.hit_committed(award(hit, status="paid"))
    assert list(body(board, "pit-1")["progressives"]) == ["royal"]
    assert list(body(board, "both")["progressives"]) == ["fortune", "royal"]
    assert last_hits(board, sign="pit-1") == [9, 8, 7, 6, 5]
    assert {key: body(board, "both")[key] for key in ("sequence", "at", "property")} == {
        "sequence": 9,
        "at": AT_TEXT,
        "property": "Riverside",
    }


def test_a_snapshot_keeps_what_its_signs_showed() -> None:
    board = property_board()
    before = board.snapshot()
    commit(board, 1, mega=9_000_000)
    view = json.loads(before.view("pit-1").encoded)
    assert view["progressives"]["royal"]["levels"]["mega"]["amount"] == 5_000_000
    assert before.view("pit-1") is before.view("pit-1")


def test_a_sign_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(KeyError):
        property_board().snapshot().view("pit-9")


def test_a_progressive_of_a_sign_that_has_not_opened_yet_is_left_out() -> None:
    board = Board(property_title="Riverside", currency=CURRENCIES["USD"], signs=SIGNS)
    assert body(board, "pit-1")["progressives"] == {}
    assert board.title_of("royal") == "royal"


def test_amended_terms_keep_the_awards() -> None:
    board = property_board()
    board.hit_committed(award(17))
    board.show_progressive("royal", "Royal II", {"mega": ShownLevel(amount_minor=1, generation=3)})
    assert body(board)["progressives"]["royal"]["title"] == board.title_of("royal") == "Royal II"
    assert pending_hits(board) == [17]


def test_a_retired_progressive_is_shown_no_more_and_its_late_rows_harm_nothing() -> None:
    board = property_board()
    board.hit_committed(award(17))
    told = Told(board)
    board.retire_progressive("royal")
    board.retire_progressive("royal")
    commit(board, 20, mega=1)
    board.hit_committed(award(21))
    board.resolved_committed(resolution(17, "denied"))
    assert list(body(board)["progressives"]) == ["fortune"]
    assert (told.changes, told.hits, told.resolutions) == (1, [21], [17])


class Told:
    """An observer that notes what it is told."""

    def __init__(self, board: Board) -> None:
        self.changes = 0
        self.hits: list[int] = []
        self.resolutions: list[int] = []
        board.attach(self)

    def changed(self) -> None:
        self.changes += 1

    def hit(self, award: Award) -> None:
        self.hits.append(award.hit)

    def resolved(self, resolution: Resolution) -> None:
        self.resolutions.append(resolution.hit)
