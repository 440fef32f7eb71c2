"""Rules 2.2, 4.2 and 4.4: what a paytable may say, as the regulation prints it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from meters.money import CURRENCIES, MAX_MINOR, MetersError, MoneyError
from meters.paytable import (
    Amount,
    LineKind,
    PaytableError,
    PrintedLine,
    parse_amount,
    parse_line,
    whole_minor,
)
from tests.builders import USD, level, paytable

LINES = [
    ("100% of mega", LineKind.PERCENT, 1_000_000, "mega"),
    ("10% of meter", LineKind.PERCENT, 100_000, "meter"),
    ("33.3333% of meter", LineKind.PERCENT, 333_333, "meter"),
    ("50 for 1", LineKind.FOR_ONE, 50_000_000, None),
    ("5,000 for 1", LineKind.FOR_ONE, 5_000_000_000, None),
    ("1.5 for 1", LineKind.FOR_ONE, 1_500_000, None),
    ("9 to 1", LineKind.TO_ONE, 9_000_000, None),
    ("$500", LineKind.FIXED, 50_000, None),
    ("$500.50", LineKind.FIXED, 50_050, None),
    ("50 for 1 from mega", LineKind.FOR_ONE, 50_000_000, "mega"),
    ("9 to 1 from mega", LineKind.TO_ONE, 9_000_000, "mega"),
    ("$500 from mega", LineKind.FIXED, 50_000, "mega"),
]


@pytest.mark.parametrize(("text", "kind", "number", "level"), LINES)
def test_4_2_a_line_is_a_share_for_one_to_one_or_a_fixed_amount(
    text: str, kind: LineKind, number: int, level: str | None
) -> None:
    line = parse_line(text, USD)
    assert line == PrintedLine(kind=kind, number=number, level=level)
    assert line.text(USD) == text


def test_4_2_spaces_between_the_words_are_free() -> None:
    assert parse_line("  100 %  of   mega ", USD) == parse_line("100% of mega", USD)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "an empty line"),
        ("   ", "an empty line"),
        ("0% of mega", "more than 0%"),
        ("100.0001% of mega", "at most 100%"),
        ("0.00001% of mega", "no whole number of parts per million"),
        ("1.2.3% of mega", "not a rate"),
        ("0 for 1", "pays nothing"),
        ("0 to 1 from mega", "pays nothing"),
        ("$0", "pays nothing"),
        ("1,00 for 1", "not a number"),
        ("100% of", "is no pay line"),
        ("100%", "is no pay line"),
        ("50 for 2", "is no pay line"),
        ("50", "is no pay line"),
        ("€500", "is no pay line"),
        ("from mega", "is no pay line"),
    ],
)
def test_4_2_any_other_line_is_refused(text: str, why: str) -> None:
    with pytest.raises(MetersError, match=why):
        parse_line(text, USD)


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("$10,000 for 1", Amount(ratio_ppm=10_000_000_000)),
        ("$ 10,000 for 1", Amount(ratio_ppm=10_000_000_000)),
        ("USD 2,000 for 1", Amount(ratio_ppm=2_000_000_000)),
        ("$0.50 for 1", Amount(ratio_ppm=500_000)),
        ("$500,000", Amount(fixed_minor=50_000_000)),
        ("$0", Amount(fixed_minor=0)),
    ],
)
def test_2_2_an_amount_is_for_one_or_the_amount_itself(text: str, amount: Amount) -> None:
    assert parse_amount(text, USD) == amount


@pytest.mark.parametrize("text", ["$10,000 for 1", "$500,000", "$0.50", "$0.5 for 1"])
def test_2_2_an_amount_prints_as_it_is_read(text: str) -> None:
    assert parse_amount(text, USD).text(USD) == text


def test_2_2_an_amount_of_another_currency_prints_with_its_sign() -> None:
    assert parse_amount("¥500", CURRENCIES["JPY"]).text(CURRENCIES["JPY"]) == "¥500"


@pytest.mark.parametrize("text", ["10,000 for 1", "€10 for 1", "10,000", "$x for 1", "$1,0 for 1"])
def test_2_2_any_other_amount_is_refused(text: str) -> None:
    with pytest.raises(MoneyError):
        parse_amount(text, USD)


@pytest.mark.parametrize(
    ("text", "wager_minor", "amount_minor"),
    [
        ("$10,000 for 1", 100, 1_000_000),
        ("$10,000 for 1", 500, 5_000_000),
        ("$0.50 for 1", 2, 1),
        ("$10,000", 500, 1_000_000),
    ],
)
def test_2_2_for_one_scales_with_the_wager_and_a_plain_amount_does_not(
    text: str, wager_minor: int, amount_minor: int
) -> None:
    assert parse_amount(text, USD).for_wager(wager_minor) == amount_minor


def test_1_1_an_amount_that_is_not_whole_on_the_wager_is_refused() -> None:
    with pytest.raises(PaytableError, match="no whole number of minor units"):
        parse_amount("$0.50 for 1", USD).for_wager(1)


def test_1_5_an_amount_beyond_the_largest_on_the_wager_is_refused() -> None:
    assert whole_minor(MAX_MINOR * 1_000_000) == MAX_MINOR
    with pytest.raises(PaytableError, match="beyond the largest amount"):
        whole_minor((MAX_MINOR + 1) * 1_000_000)


def test_two_chapters_that_print_one_paytable_are_one_game() -> None:
    first = paytable(envy={"royal flush": "$1,000 for 1"})
    assert first.same_game(replace(first, title="§ 643a.12(e)", source="elsewhere"))
    assert not first.same_game(replace(first, envy={}))
    assert not first.same_game(replace(first, levels={"meter": level("$5")}))
    assert not first.same_game(replace(first, pays={"flush": parse_line("4 for 1", USD)}))
