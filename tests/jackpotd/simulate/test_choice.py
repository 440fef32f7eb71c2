"""Stacked hands as they are written, tables as they are named, and what a demonstration shows."""

from __future__ import annotations

import pytest

from jackpotd import config
from jackpotd.config import Config
from jackpotd.simulate.choice import showpieces, tables_of
from jackpotd.simulate.shift import Plan, layouts_of
from jackpotd.simulate.stacked import PlayError, StackedHand, parse_stacked
from jackpotd.starter import write_property


@pytest.fixture(scope="module")
def riverside(tmp_path_factory: pytest.TempPathFactory) -> Config:
    """The sample property."""
    return config.load(write_property(tmp_path_factory.mktemp("riverside")).config)


@pytest.mark.parametrize(
    ("text", "wish"),
    [
        ("royal flush@FCP-01:2", ("royal flush", "FCP-01", 2, 3)),
        ("royal flush@FCP-01:2@7", ("royal flush", "FCP-01", 2, 7)),
        (" four  aces @ FCP_1 :12@100", ("four aces", "FCP_1", 12, 100)),
    ],
)
def test_a_stacked_hand_names_hand_table_and_seat(
    text: str, wish: tuple[str, str, int, int]
) -> None:
    hand, table, seat, round_ = wish
    read = parse_stacked(text)
    assert read == StackedHand(hand=hand, table=table, seat=seat, round=round_)
    assert parse_stacked(str(read)) == read


@pytest.mark.parametrize(
    "text",
    [
        "",
        "royal flush",
        "royal flush@FCP-01",
        "@FCP-01:2",
        "royal flush@:2",
        "royal flush@FCP-01:two",
        "royal flush@FCP-01:0",
        "royal flush@FCP-01:2@0",
        "royal flush@FCP-01:2@",
        "royal flush@FCP-01:-2",
        "royal flush@FCP-01:2@3@4",
    ],
)
def test_what_is_no_stacked_hand_is_refused(text: str) -> None:
    with pytest.raises(PlayError):
        parse_stacked(text)


def planned(riverside: Config, *wishes: str, tables: str = "FCP-01,LIR-03,PGP-07") -> None:
    layouts_of(
        riverside,
        Plan(
            tables=tables_of(riverside, tables),
            key="",
            rounds=9,
            stacked=tuple(map(parse_stacked, wishes)),
        ),
    )


@pytest.mark.parametrize(
    "wishes",
    [
        ["royal flush@FCP-01:2", "royal flush@FCP-01:6"],
        ["four aces@FCP-01:1", "straight flush@FCP-01:2@9"],
        ["royal flush@LIR-03:7@1", "royal flush@LIR-03:7@2"],
        ["seven card straight flush@PGP-07:1"],
    ],
)
def test_hands_that_a_table_can_deal_are_stacked(riverside: Config, wishes: list[str]) -> None:
    planned(riverside, *wishes)


@pytest.mark.parametrize(
    ("wishes", "why"),
    [
        (["royal flush@CSP-05:2"], "CSP-05 is none of the tables"),
        (["royal flush@FCP-01:7"], "seats 1 to 6"),
        (["royal flush@FCP-01:2@10"], "only 9 rounds"),
        (["two pair@FCP-01:2"], "no progressive of FCP-01 has this hand; there are: royal flush"),
        (["five aces@FCP-01:2"], "no progressive"),
        (["four aces@FCP-01:1", "four aces@FCP-01:2"], "round 3: found no deal of one deck"),
        (["royal flush@LIR-03:1", "royal flush@LIR-03:2"], "found no deal of one deck"),
    ],
)
def test_hands_that_a_table_can_not_deal_are_refused_before_the_first_round(
    riverside: Config, wishes: list[str], why: str
) -> None:
    with pytest.raises(PlayError, match=why):
        planned(riverside, *wishes)


@pytest.mark.parametrize(
    ("text", "tables"),
    [
        (None, "FCP-01 FCP-02 LIR-03 THB-04 CSP-05 DJW-06 PGP-07"),
        ("LIR-03, FCP-01,LIR-03", "LIR-03 FCP-01"),
        ("1", "FCP-01"),
        ("4", "FCP-01 LIR-03 DJW-06 PGP-07"),
        ("7", "FCP-01 FCP-02 LIR-03 THB-04 CSP-05 DJW-06 PGP-07"),
    ],
)
def test_tables_are_named_or_counted_and_few_ones_differ(
    riverside: Config, text: str | None, tables: str
) -> None:
    assert " ".join(tables_of(riverside, text)) == tables


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("FCP-99", "'FCP-99' is no table with a progressive; there are: FCP-01, "),
        ("FCP-01,2", "'2' is no table"),
        ("0", "0 tables"),
        ("8", "the property has 7"),
        (",", "name them"),
    ],
)
def test_tables_that_there_are_not_are_refused(riverside: Config, text: str, why: str) -> None:
    with pytest.raises(PlayError, match=why):
        tables_of(riverside, text)


FOUR = ("FCP-01", "LIR-03", "DJW-06", "PGP-07")


@pytest.mark.parametrize(
    ("rounds", "rate", "shown"),
    [
        (
            None,
            1,
            [
                "royal flush@FCP-01:2@20",
                "straight flush@LIR-03:2@60",
                "four of a kind@FCP-01:2@100",
            ],
        ),
        (None, 0.5, ["royal flush@FCP-01:2@10", "straight flush@LIR-03:2@30"]),
        (20, 1, ["royal flush@FCP-01:2@10"]),
        (1, 1, ["royal flush@FCP-01:2@1"]),
        (90, 1, ["royal flush@FCP-01:2@20", "straight flush@LIR-03:2@60"]),
    ],
)
def test_a_demonstration_shows_every_full_meter_of_the_shared_jackpot_in_time(
    riverside: Config, rounds: int | None, rate: float, shown: list[str]
) -> None:
    found = showpieces(riverside, FOUR, rounds=rounds, rate=rate)
    assert [str(wish) for wish in found][: len(shown)] == shown
    assert rounds is None or len(found) == len(shown)


def test_every_hand_that_a_demonstration_shows_can_be_dealt(riverside: Config) -> None:
    for count in range(1, 8):
        tables = tables_of(riverside, str(count))
        stacked = showpieces(riverside, tables, rounds=None, rate=1)
        assert stacked
        layouts_of(riverside, Plan(tables=tables, key="", stacked=stacked))
