"""Reading a paytable that is written out in YAML: a catalogue entry's or a property's own."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial

from jackpotd.fields import Fields
from jackpotd.strict_yaml import Broken, Item
from meters.money import Currency, parse_money, parse_rate
from meters.paytable import (
    EVERY_HAND,
    Amount,
    HandPay,
    Paytable,
    PrintedLevel,
    PrintedLine,
    parse_amount,
    parse_line,
)

GAMES = (
    "caribbean-stud",
    "dj-wild-stud",
    "four-card-poker",
    "let-it-ride",
    "pai-gow-poker",
    "texas-holdem-bonus",
)
"""The games whose chapters are in the catalogue."""

KEYS = (
    *("title", "source", "games", "linkable", "wager", "minimum", "levels", "pays", "envy"),
    *("hand_pay", "validate", "open", "not_printed", "note"),
)
LEVEL_KEYS = ("seed", "reseed", "increment", "reserve", "cap")
NOT_PRINTED = ("envy", "hand_pay")
"""What a catalogue entry may give without the text printing it: `not_printed` names it."""

PERCENTAGE = "percentage"
"""The `validate` that asks for nothing more (rules 4.5)."""

AMOUNT_LIKE = "$10,000 for 1 or $10,000"
LINE_LIKE = "100% of mega, 50 for 1, 9 to 1 or $500"

_HAND = re.compile(r"[a-z0-9]+( [a-z0-9]+){0,7}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A paytable, what it is called, and how far a property may depart from it.

    `regulated` marks an entry of the catalogue: what it prints must be so. `not_printed` names
    what it gives as a default only, of NOT_PRINTED.
    """

    name: str
    paytable: Paytable
    regulated: bool = False
    not_printed: tuple[str, ...] = ()


def read_level(fields: Fields, item: Item, currency: Currency) -> PrintedLevel:
    """Read a level: seed, reseed, increment, reserve, cap, as far as they are given."""
    keys = fields.keys(item, LEVEL_KEYS)
    amount = partial(parse_amount, currency=currency)
    rates_ppm = {
        name: fields.parsed(keys.get(name), parse_rate, "21%") for name in ("increment", "reserve")
    }
    amounts: dict[str, Amount | None] = {
        name: fields.parsed(keys.get(name), amount, AMOUNT_LIKE)
        for name in ("seed", "reseed", "cap")
    }
    return PrintedLevel(
        seed=amounts["seed"],
        reseed=amounts["reseed"],
        increment_ppm=rates_ppm["increment"],
        reserve_ppm=rates_ppm["reserve"] or 0,
        cap=amounts["cap"],
    )


def read_hands(fields: Fields, item: Item | None) -> dict[str, Item]:
    """Return what is given for each hand; hands are named in small words."""
    hands = fields.entries(item, "hands, each with what it pays,")
    for hand, each in hands.items():
        if not _HAND.fullmatch(hand):
            fields.say(each, "hands are named in small words, like royal flush")
    return {hand: each for hand, each in hands.items() if _HAND.fullmatch(hand)}


def read_pays(fields: Fields, item: Item | None, currency: Currency) -> dict[str, PrintedLine]:
    """Read the pay lines (rules 4.2)."""
    parse = partial(parse_line, currency=currency)
    lines = {
        hand: fields.parsed(each, parse, LINE_LIKE)
        for hand, each in read_hands(fields, item).items()
    }
    return {hand: line for hand, line in lines.items() if line is not None}


def read_envy(fields: Fields, item: Item | None, currency: Currency) -> dict[str, Amount]:
    """Read what each hand gives the others (rules 6)."""
    parse = partial(parse_amount, currency=currency)
    amounts = {
        hand: fields.parsed(each, parse, "$1,000 for 1")
        for hand, each in read_hands(fields, item).items()
    }
    return {hand: amount for hand, amount in amounts.items() if amount is not None}


def read_validate(fields: Fields, item: Item | None) -> tuple[str, ...]:
    """Read which awards a floorperson validates beside the percentages (rules 4.5).

    `percentage` gives (), `all` EVERY_HAND, a list its hands; in a list, `500 for 1` stands for
    every hand with that line.
    """
    if item is None or item.value is Broken.BROKEN:
        return ()
    if isinstance(item.value, list):
        return fields.words(item)
    word = fields.text(item)
    if word is not None and word not in (PERCENTAGE, *EVERY_HAND):
        fields.say(item, f"write {PERCENTAGE}, {EVERY_HAND[0]}, or a list of hands: [{word}]")
    return EVERY_HAND if word in EVERY_HAND else ()


def read_hand_pay(fields: Fields, item: Item | None) -> HandPay | None:
    """Read which awards aren't paid from the table inventory (rules 4.6)."""
    word = fields.choice(item, tuple(each.value for each in HandPay))
    return None if word is None else HandPay(word)


def read_paytable(
    fields: Fields, item: Item, currency: Currency, *, name: str, regulated: bool = False
) -> Entry:
    """Read a paytable written out under `item`; what is wrong goes into the problems.

    Everything may be left out but the title: whether enough is there shows when its terms are
    made.
    """
    keys = fields.keys(item, KEYS, required=("title",))
    amount = partial(parse_money, currency=currency)
    levels = {
        level: read_level(fields, each, currency)
        for level, each in fields.named(keys.get("levels"), "levels").items()
    }
    paytable = Paytable(
        title=fields.text(keys.get("title")) or name,
        source=fields.text(keys.get("source")) or "",
        games=fields.words(keys.get("games")),
        linkable=fields.flag(keys.get("linkable"), default=True),
        levels=levels,
        pays=read_pays(fields, keys.get("pays"), currency),
        envy=read_envy(fields, keys.get("envy"), currency),
        hand_pay=read_hand_pay(fields, keys.get("hand_pay")) or HandPay.PERCENTAGE,
        validate=read_validate(fields, keys.get("validate")),
        wager_minor=fields.parsed(keys.get("wager"), amount, "$1"),
        minimum_minor=fields.parsed(keys.get("minimum"), amount, "$2,000") or 0,
        open_pays=fields.text(keys.get("open")) or "",
        note=fields.text(keys.get("note")) or "",
    )
    not_printed = fields.words(keys.get("not_printed"))
    for part in not_printed:
        if part not in NOT_PRINTED:
            fields.say(keys["not_printed"], f"{part} is none of {', '.join(NOT_PRINTED)}")
    return Entry(name=name, paytable=paytable, regulated=regulated, not_printed=not_printed)
