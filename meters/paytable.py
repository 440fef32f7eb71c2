"""Paytables: pay lines, Envy and levels as the regulation prints them.

A `Paytable` is printed per $1 of the progressive wager ("$10,000 for 1"); `meters.terms` makes
it the terms of one progressive with its wager, in minor units.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from meters.money import (
    MAX_MINOR,
    PPM,
    UNITS_PER_MINOR,
    Currency,
    MetersError,
    MoneyError,
    format_minor,
    format_rate,
    format_ratio,
    minor_from_units,
    parse_money,
    parse_rate,
    parse_ratio,
)


class PaytableError(MetersError, ValueError):
    """A pay line or an amount that can't be read, or that is not exact on the wager."""


class LineKind(Enum):
    """How a line pays (rules 4.2)."""

    PERCENT = "percent"
    FOR_ONE = "for"
    TO_ONE = "to"
    FIXED = "fixed"


class HandPay(Enum):
    """Which awards are not paid from the table inventory (rules 4.6)."""

    PERCENTAGE = "percentage"
    FULL = "full"
    TENTH = "tenth"


EVERY_HAND = ("all",)
"""The `validate` that covers every award (rules 4.5)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A printed amount: `ratio_ppm` of the wager ("$10,000 for 1"), or `fixed_minor` itself."""

    ratio_ppm: int | None = None
    fixed_minor: int = 0

    def for_wager(self, wager_minor: int) -> int:
        """Return the amount in minor units on this wager; PaytableError if it isn't whole."""
        if self.ratio_ppm is None:
            return self.fixed_minor
        return whole_minor(wager_minor * self.ratio_ppm)

    def text(self, currency: Currency) -> str:
        """Print the amount as regulations do: "$10,000 for 1", "$500,000"."""
        if self.ratio_ppm is None:
            return _plain(self.fixed_minor, currency)
        return f"{currency.sign}{format_ratio(self.ratio_ppm)} for 1"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedLine:
    """A pay line as printed.

    `number` is ppm of the level (PERCENT), a ratio in ppm (FOR_ONE, TO_ONE) or minor units
    (FIXED). `level` is the level that pays it; None where the house does.
    """

    kind: LineKind
    number: int
    level: str | None = None

    def text(self, currency: Currency) -> str:
        """Print the line as regulations do: "100% of mega", "50 for 1", "$500 from mega"."""
        if self.kind is LineKind.PERCENT:
            return f"{format_rate(self.number)} of {self.level}"
        origin = f" from {self.level}" if self.level else ""
        if self.kind is LineKind.FIXED:
            return _plain(self.number, currency) + origin
        return f"{format_ratio(self.number)} {self.kind.value} 1{origin}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedLevel:
    """A level as printed (rules 2.2); what the text leaves open is None until `terms` give it."""

    seed: Amount | None = None
    reseed: Amount | None = None
    increment_ppm: int | None = None
    reserve_ppm: int = 0
    cap: Amount | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Paytable:
    """A paytable of a regulation, or of a property's own.

    `wager_minor` is set where the text prints the wager itself (§ 687a.12(c)); `minimum_minor`
    where it prints the least seed and reseed (§ 561.13d(g)); `open_pays` names what the text
    leaves to the Rules Submission, in words.
    """

    title: str
    source: str = ""
    games: tuple[str, ...] = ()
    linkable: bool = True
    levels: Mapping[str, PrintedLevel] = field(default_factory=dict)
    pays: Mapping[str, PrintedLine] = field(default_factory=dict)
    envy: Mapping[str, Amount] = field(default_factory=dict)
    hand_pay: HandPay = HandPay.PERCENTAGE
    validate: tuple[str, ...] = ()
    wager_minor: int | None = None
    minimum_minor: int = 0
    open_pays: str = ""
    note: str = ""

    def same_game(self, other: Paytable) -> bool:
        """Tell whether two chapters print one paytable: equal lines, levels and Envy."""
        return (self.levels, self.pays, self.envy) == (other.levels, other.pays, other.envy)


def whole_minor(amount_units: int) -> int:
    """Return units as minor units; PaytableError unless they are whole and within bounds."""
    amount_minor = minor_from_units(amount_units)
    if amount_minor * UNITS_PER_MINOR != amount_units:
        raise PaytableError("on this wager it is no whole number of minor units")
    if amount_minor > MAX_MINOR:
        raise PaytableError("on this wager it is beyond the largest amount, 2^62 units")
    return amount_minor


def _plain(amount_minor: int, currency: Currency) -> str:
    text = format_minor(amount_minor, currency)
    return text.removesuffix("." + "0" * currency.exponent)


_PERCENT = re.compile(r"([\d.]+\s*%) of (\S+)", re.ASCII)
_TIMES = re.compile(r"([\d.,]+) (for|to) 1(?: from (\S+))?", re.ASCII)
_FIXED = re.compile(r"(.+?)(?: from (\S+))?", re.ASCII)
_PER_ONE = re.compile(r"(\D*?) ?([\d.,]+) for 1", re.ASCII)


def parse_line(text: str, currency: Currency) -> PrintedLine:
    """Read a pay line (rules 4.2, 4.4). Raises PaytableError or MoneyError.

    "100% of mega", "50 for 1", "9 to 1", "$500"; with " from LEVEL" the level pays first.
    """
    words = " ".join(text.split())
    if match := _PERCENT.fullmatch(words):
        share_ppm = parse_rate(match[1])
        if not 0 < share_ppm <= PPM:
            raise PaytableError(f"{text!r}: a line pays more than 0% and at most 100% of a level")
        return PrintedLine(kind=LineKind.PERCENT, number=share_ppm, level=match[2])
    if match := _TIMES.fullmatch(words):
        kind = LineKind.FOR_ONE if match[2] == "for" else LineKind.TO_ONE
        line = PrintedLine(kind=kind, number=parse_ratio(match[1]), level=match[3])
    else:
        match = _FIXED.fullmatch(words)
        if match is None:
            raise PaytableError("an empty line; write 100% of LEVEL, 50 for 1, 9 to 1 or $500")
        try:
            number = parse_money(match[1], currency)
        except MoneyError as error:
            raise PaytableError(
                f"{text!r} is no pay line; write 100% of LEVEL, 50 for 1, 9 to 1 or $500"
            ) from error
        line = PrintedLine(kind=LineKind.FIXED, number=number, level=match[2])
    if not line.number:
        raise PaytableError(f"{text!r} pays nothing")
    return line


def parse_amount(text: str, currency: Currency) -> Amount:
    """Read "$10,000 for 1" or "$500,000". Raises MoneyError."""
    words = " ".join(text.split())
    if match := _PER_ONE.fullmatch(words):
        if match[1] not in (currency.sign, currency.code, "$"):
            raise MoneyError(f"{text!r}: write it like {currency.sign}10,000 for 1")
        return Amount(ratio_ppm=parse_ratio(match[2]))
    return Amount(fixed_minor=parse_money(words, currency))
