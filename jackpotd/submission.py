"""What a property's Rules Submission says of a paytable: the `terms` of a progressive.

They complete what the regulation leaves open, and may say what it doesn't: caps, who pays a
fixed line (rules 4.4), more validation (rules 4.5). What the regulation prints must be so. A
property's own paytable may be overridden in every part.
"""

from __future__ import annotations

from dataclasses import replace

from jackpotd.fields import Fields, close_to
from jackpotd.paytables import (
    PERCENTAGE,
    Entry,
    read_envy,
    read_hand_pay,
    read_level,
    read_pays,
    read_validate,
)
from jackpotd.strict_yaml import Item
from meters.money import Currency, MoneyError, format_rate
from meters.paytable import (
    EVERY_HAND,
    Amount,
    HandPay,
    LineKind,
    Paytable,
    PaytableError,
    PrintedLevel,
    PrintedLine,
    parse_line,
)

TERMS_KEYS = ("levels", "pays", "envy", "hand_pay", "validate")


def completed(entry: Entry, terms: Item | None, fields: Fields, currency: Currency) -> Paytable:
    """Return the entry's paytable as `terms` complete it; what may not be goes into the problems.

    What is still missing shows when the terms of the progressive are made of it.
    """
    submission = _Submission(entry, fields, currency)
    keys = fields.keys(terms, TERMS_KEYS)
    paytable = replace(
        entry.paytable,
        levels=submission.levels(keys.get("levels")),
        pays=submission.pays(keys.get("pays")),
        envy=submission.envy(keys.get("envy")),
        hand_pay=submission.hand_pay(keys.get("hand_pay")),
    )
    return replace(paytable, validate=submission.validate(keys.get("validate"), paytable))


class _Submission:
    """Reads each part of the terms against the entry they depart from."""

    def __init__(self, entry: Entry, fields: Fields, currency: Currency) -> None:
        self._entry = entry
        self._printed = entry.paytable
        self._fields = fields
        self._currency = currency

    def _must_be(self, item: Item, printed: str) -> None:
        self._fields.say(item, f"{self._printed.source} prints {printed}: leave this out")

    def levels(self, item: Item | None) -> dict[str, PrintedLevel]:
        """Return the levels; a cap may be given to any, the rest where it isn't printed."""
        levels = dict(self._printed.levels)
        for name, each in self._fields.entries(item, "levels by their names").items():
            if name not in levels:
                known = f"{close_to(name, levels)}; the paytable has {', '.join(levels)}"
                self._fields.say(each, f"there is no level {name}{known}")
                continue
            given = read_level(self._fields, each, self._currency)
            keys = self._fields.entries(each)
            if self._entry.regulated:
                self._check_level(keys, given, levels[name])
            levels[name] = _over(levels[name], given, keys)
        return levels

    def _check_level(
        self, keys: dict[str, Item], given: PrintedLevel, printed: PrintedLevel
    ) -> None:
        if printed.seed is not None:
            reseed = printed.reseed or printed.seed
            for name, amount, must in (
                ("seed", given.seed, printed.seed),
                ("reseed", given.reseed, reseed),
            ):
                if name in keys and amount not in (None, must):
                    self._must_be(keys[name], f"a {name} of {must.text(self._currency)}")
        if printed.increment_ppm is not None:
            if given.increment_ppm not in (None, printed.increment_ppm):
                rate = format_rate(printed.increment_ppm)
                self._must_be(keys["increment"], f"an increment of {rate}")
            if "reserve" in keys and given.reserve_ppm != printed.reserve_ppm:
                rate = format_rate(printed.reserve_ppm)
                text = f"a reserve of {rate}" if printed.reserve_ppm else "no reserve"
                self._must_be(keys["reserve"], text)

    def pays(self, item: Item | None) -> dict[str, PrintedLine]:
        """Return the pay lines; a printed fixed one may be paid from a level (rules 4.4)."""
        given = read_pays(self._fields, item, self._currency)
        printed = self._printed.pays
        if not self._entry.regulated or not printed:
            return {**printed, **given}
        items = self._fields.entries(item)
        for hand, line in given.items():
            if hand not in printed:
                self._must_be(items[hand], f"no line for {hand}{close_to(hand, printed)}")
            elif not _pays_the_same(line, printed[hand]):
                self._must_be(items[hand], printed[hand].text(self._currency))
        return {hand: given.get(hand, line) for hand, line in printed.items()}

    def envy(self, item: Item | None) -> dict[str, Amount]:
        """Return the Envy: what is given takes the place of all of the entry's."""
        printed = dict(self._printed.envy)
        if item is None:
            return printed
        given = read_envy(self._fields, item, self._currency)
        bound = self._entry.regulated and "envy" not in self._entry.not_printed
        if bound and given != printed:
            amounts = (f"{each.text(self._currency)} for {hand}" for hand, each in printed.items())
            self._must_be(item, f"Envy of {', '.join(amounts)}" if printed else "no Envy")
        return given

    def hand_pay(self, item: Item | None) -> HandPay:
        """Return which awards are hand pays."""
        printed = self._printed.hand_pay
        given = read_hand_pay(self._fields, item)
        if item is None or given is None:
            return printed
        bound = self._entry.regulated and "hand_pay" not in self._entry.not_printed
        if bound and given is not printed:
            self._must_be(item, f"{printed.value} hand pays")
        return given

    def validate(self, item: Item | None, paytable: Paytable) -> tuple[str, ...]:
        """Return the hands to validate: the entry's, and more if given; a property's own, anew."""
        asked = self._hands(self._printed.validate, paytable)
        given = self._hands(read_validate(self._fields, item), paytable)
        if item is None:
            return asked
        if not self._entry.regulated:
            return given
        if self._printed.validate and item.value == PERCENTAGE:
            self._must_be(item, f"validation of {', '.join(self._printed.validate)}")
        return tuple(dict.fromkeys(asked + given))

    def _hands(self, validate: tuple[str, ...], paytable: Paytable) -> tuple[str, ...]:
        """Put the hands in the place of lines such as "500 for 1"."""
        hands: list[str] = []
        for word in validate:
            line = None if word in EVERY_HAND else _line(word, self._currency)
            if line is None:
                hands.append(word)
            else:
                paid = paytable.pays.items()
                hands += [hand for hand, each in paid if _pays_the_same(each, line)]
        return tuple(hands)


def _over(printed: PrintedLevel, given: PrintedLevel, keys: dict[str, Item]) -> PrintedLevel:
    return PrintedLevel(
        seed=given.seed or printed.seed,
        reseed=given.reseed or printed.reseed,
        increment_ppm=given.increment_ppm if "increment" in keys else printed.increment_ppm,
        reserve_ppm=given.reserve_ppm if "reserve" in keys else printed.reserve_ppm,
        cap=given.cap or printed.cap,
    )


def _pays_the_same(line: PrintedLine, other: PrintedLine) -> bool:
    """Tell whether two lines pay the same; who pays a fixed one may differ (rules 4.4)."""
    same = (line.kind, line.number) == (other.kind, other.number)
    return same and (line.kind is not LineKind.PERCENT or line.level == other.level)


def _line(text: str, currency: Currency) -> PrintedLine | None:
    try:
        return parse_line(text, currency)
    except (PaytableError, MoneyError):
        return None
