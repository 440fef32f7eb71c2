"""Rules 1: amounts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from meters.money import (
    CURRENCIES,
    MAX_MINOR,
    MAX_UNITS,
    PERCENT_PPM,
    PPM,
    UNITS_PER_MINOR,
    Currency,
    MetersError,
    MoneyError,
    format_minor,
    format_rate,
    format_ratio,
    format_units,
    minor_from_units,
    parse_money,
    parse_rate,
    parse_ratio,
    units_from_minor,
)

currencies = st.sampled_from(list(CURRENCIES.values()))


@pytest.mark.parametrize(
    ("exponent", "codes"),
    [
        (0, "JPY KRW"),
        (2, "AUD CAD CHF CZK DKK EUR GBP HKD MOP MXN NOK NZD PHP SEK SGD USD ZAR"),
        (3, "BHD KWD"),
    ],
)
def test_1_1_the_currency_gives_the_exponent(exponent: int, codes: str) -> None:
    found = [code for code, currency in CURRENCIES.items() if currency.exponent == exponent]
    assert sorted(found) == codes.split()


def test_1_1_every_currency_is_found_under_its_code() -> None:
    assert all(currency.code == code for code, currency in CURRENCIES.items())


def test_1_2_a_minor_unit_is_a_million_units_and_a_rate_is_in_ppm() -> None:
    assert units_from_minor(1) == UNITS_PER_MINOR == 1_000_000
    assert parse_rate("21%") == 210_000
    assert parse_rate("1%") == PERCENT_PPM
    assert parse_rate("100%") == PPM


RATES = [
    ("21%", 210_000),
    ("0%", 0),
    ("100%", 1_000_000),
    ("0.0001%", 1),
    ("10.5%", 105_000),
    ("12.3456%", 123_456),
    ("12.34560000%", 123_456),
    ("53 %", 530_000),
    ("007%", 70_000),
]


@pytest.mark.parametrize(("text", "rate_ppm"), RATES)
def test_1_2_a_whole_number_of_ppm_is_a_rate(text: str, rate_ppm: int) -> None:
    assert parse_rate(text) == rate_ppm


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0.00001%", "no whole number of parts per million"),
        ("33.33333%", "no whole number of parts per million"),
        ("21", "not a rate"),
        ("0.21", "not a rate"),
        ("-1%", "not a rate"),
        ("1,000%", "not a rate"),
        (".5%", "not a rate"),
        ("1.%", "not a rate"),
        ("1e1%", "not a rate"),
        ("٢١%", "not a rate"),
        ("", "not a rate"),
    ],
)
def test_1_2_any_other_rate_is_refused(text: str, why: str) -> None:
    with pytest.raises(MoneyError, match=why):
        parse_rate(text)


@pytest.mark.parametrize(
    ("rate_ppm", "text"),
    [(210_000, "21%"), (0, "0%"), (1, "0.0001%"), (1_000_000, "100%"), (105_000, "10.5%")],
)
def test_1_2_a_rate_prints_as_it_is_read(rate_ppm: int, text: str) -> None:
    assert format_rate(rate_ppm) == text
    assert parse_rate(text) == rate_ppm


@pytest.mark.parametrize(
    ("amount_units", "amount_minor"),
    [
        (0, 0),
        (1, 0),
        (999_999, 0),
        (1_000_000, 1),
        (1_999_999, 1),
        (2_000_000, 2),
        (MAX_UNITS, MAX_MINOR),
    ],
)
def test_1_4_units_become_minor_units_rounded_down(amount_units: int, amount_minor: int) -> None:
    assert minor_from_units(amount_units) == amount_minor


@pytest.mark.parametrize(
    ("amount_units", "share_ppm", "amount_minor"),
    [
        (10_000_000, PPM, 10),
        (10_999_999, PPM, 10),
        (10_000_000, 100_000, 1),
        (9_999_999, 100_000, 0),
        (3_000_000, 333_333, 0),
        (3_000_004, 333_333, 1),
        (MAX_UNITS, PPM, MAX_MINOR),
    ],
)
def test_4_3_a_share_of_a_meter_is_rounded_down_once(
    amount_units: int, share_ppm: int, amount_minor: int
) -> None:
    assert minor_from_units(amount_units, share_ppm) == amount_minor


def test_1_5_the_largest_whole_amount_lies_within_the_largest() -> None:
    assert MAX_UNITS == 2**62
    assert units_from_minor(MAX_MINOR) <= MAX_UNITS < units_from_minor(MAX_MINOR + 1)


READ = [
    ("USD", "$10,000", 1_000_000),
    ("USD", "$10000", 1_000_000),
    ("USD", "$50,001.50", 5_000_150),
    ("USD", "$0.05", 5),
    ("USD", "$1.5", 150),
    ("USD", "$1.500", 150),
    ("USD", "$ 5", 500),
    ("USD", "USD 10,000", 1_000_000),
    ("USD", "USD5", 500),
    ("USD", "$46,116,860,184.27", MAX_MINOR),
    ("JPY", "¥10,000", 10_000),
    ("JPY", "¥10,000.00", 10_000),
    ("KWD", "KD 1.234", 1_234),
    ("KWD", "KWD 1.234", 1_234),
    ("MOP", "MOP$20", 2_000),
    ("CZK", "Kč 7", 700),
]


@pytest.mark.parametrize(("code", "text", "amount_minor"), READ)
def test_1_1_money_is_read_exactly(code: str, text: str, amount_minor: int) -> None:
    assert parse_money(text, CURRENCIES[code]) == amount_minor


@pytest.mark.parametrize(
    ("code", "text", "why"),
    [
        ("USD", "10,000", r"write it like \$10,000"),
        ("USD", "€10", r"write it like \$10,000"),
        ("USD", "", r"write it like \$10,000"),
        ("USD", "$", r"write it like \$10,000"),
        ("USD", "$-5", r"write it like \$10,000"),
        ("USD", "-$5", r"write it like \$10,000"),
        ("JPY", "$5", "write it like ¥10,000"),
        ("USD", "$1,00", "not a number"),
        ("USD", "$10,0000", "not a number"),
        ("USD", "$1.", "not a number"),
        ("USD", "$1e3", "not a number"),
        ("USD", "$1_000", "not a number"),
        ("USD", "$²", "not a number"),
        ("USD", "$0.001", "finer than 2 decimal places"),
        ("JPY", "¥0.5", "finer than 0 decimal places"),
        ("KWD", "KD 0.0001", "finer than 3 decimal places"),
    ],
)
def test_1_1_money_that_is_not_exact_is_refused(code: str, text: str, why: str) -> None:
    with pytest.raises(MoneyError, match=why):
        parse_money(text, CURRENCIES[code])


def test_1_5_money_beyond_the_largest_amount_is_refused() -> None:
    with pytest.raises(MoneyError, match="beyond the largest amount"):
        parse_money("$46,116,860,184.28", CURRENCIES["USD"])


def test_one_base_and_one_class_stand_behind_what_is_refused() -> None:
    assert issubclass(MoneyError, MetersError)
    assert issubclass(MoneyError, ValueError)


@pytest.mark.parametrize(
    ("code", "amount_minor", "text"),
    [
        ("USD", 5_000_150, "$50,001.50"),
        ("USD", 0, "$0.00"),
        ("USD", 5, "$0.05"),
        ("USD", -100, "-$1.00"),
        ("JPY", 10_000, "¥10,000"),
        ("KWD", 1_234, "KD 1.234"),
        ("DKK", 100, "kr 1.00"),
        ("MOP", 100, "MOP$1.00"),
    ],
)
def test_1_1_money_prints_for_people(code: str, amount_minor: int, text: str) -> None:
    assert format_minor(amount_minor, CURRENCIES[code]) == text


@given(currency=currencies, amount_minor=st.integers(0, MAX_MINOR))
def test_1_1_money_that_was_printed_is_read_back(currency: Currency, amount_minor: int) -> None:
    assert parse_money(format_minor(amount_minor, currency), currency) == amount_minor


@pytest.mark.parametrize(
    ("code", "amount_units", "text"),
    [
        ("USD", 1, "0.00000001"),
        ("USD", -1, "-0.00000001"),
        ("USD", 123_456_789_012, "1234.56789012"),
        ("USD", 0, "0.00000000"),
        ("JPY", 1, "0.00000100"),
        ("JPY", 1_500_000, "1.50000000"),
        ("KWD", 1, "0.000000001"),
        ("KWD", 1_234_000_000, "1.234000000"),
    ],
)
def test_1_2_units_print_exactly_for_the_books(code: str, amount_units: int, text: str) -> None:
    assert format_units(amount_units, CURRENCIES[code]) == text


@pytest.mark.parametrize(
    ("text", "ratio_ppm"),
    [
        ("5,000", 5_000_000_000),
        ("50", 50_000_000),
        ("1.5", 1_500_000),
        ("0.000001", 1),
        ("0", 0),
    ],
)
def test_a_ratio_is_read_and_printed_exactly(text: str, ratio_ppm: int) -> None:
    assert parse_ratio(text) == ratio_ppm
    assert format_ratio(ratio_ppm) == text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("0.0000001", "finer than 6 decimal places"),
        ("5,00", "not a number"),
        ("", "not a number"),
        ("4,611,686,018,428", "beyond the largest amount"),
    ],
)
def test_a_ratio_that_is_not_exact_is_refused(text: str, why: str) -> None:
    with pytest.raises(MoneyError, match=why):
        parse_ratio(text)
