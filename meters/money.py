"""Amounts: minor units, units and parts per million (rules 1).

- ``*_minor``: whole minor units of the currency (cents for USD). Wagers and payments.
- ``*_units``: one minor unit is 1,000,000 units. Meters.
- ``*_ppm``: parts per million; 21% is 210,000. Rates, and "N for 1" as a ratio.

A minor amount times a ppm ratio is an amount in units, exactly.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

PPM = 1_000_000
UNITS_PER_MINOR = 1_000_000
MAX_UNITS = 2**62
"""No amount may lie beyond this (rules 1.5)."""
MAX_MINOR = 4_611_686_018_427
"""The largest whole minor amount within MAX_UNITS."""

PERCENT_PPM = 10_000
"""One per cent in ppm."""


class MetersError(Exception):
    """Base of everything that meters raises."""


class MoneyError(MetersError, ValueError):
    """An amount or a rate that can't be read exactly; the message says what would be right."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Currency:
    """A currency: ISO 4217 `code`, its `exponent` (USD 2, JPY 0, KWD 3) and printed `sign`."""

    code: str
    exponent: int
    sign: str


CURRENCIES = {
    code: Currency(code=code, exponent=exponent, sign=sign)
    for code, exponent, sign in (
        ("AUD", 2, "$"),
        ("BHD", 3, "BD"),
        ("CAD", 2, "$"),
        ("CHF", 2, "CHF"),
        ("CZK", 2, "Kč"),
        ("DKK", 2, "kr"),
        ("EUR", 2, "€"),
        ("GBP", 2, "£"),
        ("HKD", 2, "$"),
        ("JPY", 0, "¥"),
        ("KRW", 0, "₩"),
        ("KWD", 3, "KD"),
        ("MOP", 2, "MOP$"),
        ("MXN", 2, "$"),
        ("NOK", 2, "kr"),
        ("NZD", 2, "$"),
        ("PHP", 2, "₱"),
        ("SEK", 2, "kr"),
        ("SGD", 2, "$"),
        ("USD", 2, "$"),
        ("ZAR", 2, "R"),
    )
}
"""The currencies a property may name."""

_DIGITS = re.compile(r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.(\d+))?", re.ASCII)
_RATE = re.compile(r"(\d{1,9})(?:\.(\d+))?\s*%", re.ASCII)


def minor_from_units(amount_units: int, share_ppm: int = PPM) -> int:
    """Return `share_ppm` of `amount_units` in whole minor units, rounded down (rules 1.4, 4.3).

    The one division of the whole program.
    """
    return amount_units * share_ppm // (UNITS_PER_MINOR * PPM)


def units_from_minor(amount_minor: int) -> int:
    """Return a minor amount in units."""
    return amount_minor * UNITS_PER_MINOR


def _scaled(text: str, places: int, what: str) -> int:
    """Read a plain decimal, thousands with commas, as an integer of 10**-places."""
    match = _DIGITS.fullmatch(text)
    if match is None:
        raise MoneyError(f"{what} is not a number; write digits, thousands with commas, no sign")
    whole, _, fraction = text.replace(",", "").partition(".")
    if len(fraction.rstrip("0")) > places:
        raise MoneyError(f"{what} is finer than {places} decimal places, which is not exact")
    return int(whole + fraction[:places].ljust(places, "0"))


def parse_money(text: str, currency: Currency) -> int:
    """Read "$10,000" or "$50,001.50" as minor units of `currency`.

    The currency's sign or its code ("USD 10,000") must stand in front. Raises MoneyError.
    """
    for prefix in (currency.sign, currency.code):
        if text.startswith(prefix) and text[len(prefix) :].lstrip(" ")[:1].isdigit():
            amount_minor = _scaled(text[len(prefix) :].lstrip(" "), currency.exponent, repr(text))
            if amount_minor > MAX_MINOR:
                raise MoneyError(f"{text!r} is beyond the largest amount, 2^62 units")
            return amount_minor
    example = format_minor(10_000 * 10**currency.exponent, currency).partition(".")[0]
    raise MoneyError(f"{text!r} is not an amount of {currency.code}; write it like {example}")


def parse_ratio(text: str) -> int:
    """Read the "5,000" of "5,000 for 1" as a ratio in ppm. Raises MoneyError."""
    ratio_ppm = _scaled(text, 6, repr(text))
    if ratio_ppm > MAX_UNITS:
        raise MoneyError(f"{text!r} is beyond the largest amount, 2^62 units")
    return ratio_ppm


def parse_rate(text: str) -> int:
    """Read "21%" as 210,000 ppm; a rate that is no whole number of ppm is refused (rules 1.2)."""
    match = _RATE.fullmatch(text)
    if match is None:
        raise MoneyError(f"{text!r} is not a rate; write it like 21%")
    whole, fraction = match[1], match[2] or ""
    if len(fraction.rstrip("0")) > 4:
        raise MoneyError(f"{text!r} is no whole number of parts per million; four decimals at most")
    return int(whole + fraction[:4].ljust(4, "0"))


def _decimal(amount: int, places: int, *, separator: str) -> str:
    """Print an integer of 10**-places as a decimal, without any division."""
    digits = str(abs(amount)).rjust(places + 1, "0")
    whole, fraction = digits[: len(digits) - places], digits[len(digits) - places :]
    grouped = f"{int(whole):{separator}}"
    return f"{'-' if amount < 0 else ''}{grouped}{'.' if places else ''}{fraction}"


def format_minor(amount_minor: int, currency: Currency) -> str:
    """Print minor units for people: "$50,001.50"; a negative amount as "-$1.00"."""
    space = " " if currency.sign[-1].isalpha() else ""
    text = _decimal(abs(amount_minor), currency.exponent, separator=",")
    return f"{'-' if amount_minor < 0 else ''}{currency.sign}{space}{text}"


def format_units(amount_units: int, currency: Currency) -> str:
    """Print units exactly, in major units for the books.

    Eight decimal places, or as many more as the currency's units need (KWD: nine).
    """
    exact = currency.exponent + 6
    return _decimal(amount_units, exact, separator="") + "0" * (8 - exact)


def format_ratio(ratio_ppm: int) -> str:
    """Print a ratio as regulations do: 5,000,000,000 ppm as "5,000"."""
    text = _decimal(ratio_ppm, 6, separator=",")
    return text.rstrip("0").rstrip(".")


def format_rate(rate_ppm: int) -> str:
    """Print a rate: 210,000 ppm as "21%"."""
    return _decimal(rate_ppm, 4, separator="").rstrip("0").rstrip(".") + "%"
