"""Properties made by chance, each both as configured terms and as the plain model has them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random

from meters.paytable import HandPay
from meters.terms import Terms
from tests.builders import level, live, paytable
from tests.plain_facts import PlainLevel, PlainLine, PlainTerms

TABLES = ("T1", "T2", "T3")
PROGRESSIVES = ("red", "green", "blue")
SEATS = 4
HANDS = (
    "royal flush",
    "straight flush",
    "four of a kind",
    "full house",
    "flush",
    "straight",
    "three of a kind",
)
LEVELS = ("mega", "major", "minor")
RATES_PPM = (0, 1, 53_000, 100_000, 123_457, 530_000, 1_000_000)
SHARES_PPM = (1, 50_000, 99_999, 100_000, 333_333, 900_000, 1_000_000)


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """One progressive, for the code under test and for the plain model."""

    terms: Terms
    plain: PlainTerms


def a_property(chance: Random) -> dict[str, Drawn]:
    """Return one to three progressives over the tables; several may be at one table."""
    names = PROGRESSIVES[: chance.randint(1, 3)]
    return {name: a_progressive(chance, name) for name in names}


def a_progressive(chance: Random, name: str, *, all_wait: bool = False) -> Drawn:
    """Return one progressive; with `all_wait` every award does, no table, and no cap binds."""
    wager = chance.choice([1, 3, 7, 100, 500])
    levels = {
        name: _level(chance, capped=not all_wait and chance.randrange(2) == 0)
        for name in LEVELS[: chance.randint(1, 3)]
    }
    lines = {hand: _line(chance, wager, list(levels)) for hand in HANDS[len(levels) :]}
    for hand, top in zip(HANDS, levels, strict=False):
        lines[hand] = (f"100% of {top}", PlainLine(level=top, percent=Fraction(100)))
    some_hands = chance.sample(HANDS, chance.randint(0, 3))
    plain = PlainTerms(
        wager=wager,
        tables=list(TABLES if all_wait else chance.sample(TABLES, chance.randint(1, 3))),
        levels=levels,
        pays={hand: line for hand, (_, line) in lines.items()},
        envy={hand: chance.randint(1, 50) * wager for hand in some_hands},
        hand_pay=chance.choice(["percentage", "full", "tenth"]),
        validate=["all"] if all_wait else chance.choice([[], [], ["all"], some_hands]),
        hold_table=not all_wait and chance.randrange(2) == 0,
        folded_hands_qualify=chance.randrange(2) == 0,
    )
    texts = {hand: text for hand, (text, _) in lines.items()}
    return Drawn(terms=_configured(name, plain, texts), plain=plain)


def _level(chance: Random, *, capped: bool) -> PlainLevel:
    seed = chance.choice([0, 1, 20, 300, 5_000])
    reseed = chance.choice([seed, seed, 0, 1, 20, 300, 5_000])
    return PlainLevel(
        seed=seed,
        reseed=reseed,
        increment=Fraction(chance.choice(RATES_PPM), 1_000_000),
        reserve=Fraction(chance.choice(RATES_PPM), 1_000_000),
        cap=max(seed, reseed) + chance.choice([0, 0, 1, 40]) if capped else None,
    )


def _line(chance: Random, wager: int, levels: list[str]) -> tuple[str, PlainLine]:
    name = chance.choice(levels)
    payer = chance.choice([None, name])
    origin = f" from {payer}" if payer else ""
    kind = chance.choice(["percent", "percent", "for", "to", "fixed"])
    if kind == "percent":
        ppm = chance.choice(SHARES_PPM)
        return f"{_rate(ppm)} of {name}", PlainLine(level=name, percent=Fraction(ppm, 10_000))
    if kind == "fixed":
        amount = chance.randint(1, 500)
        return _money(amount) + origin, PlainLine(level=payer, amount=amount)
    times = chance.randint(1, 60)
    amount = times * wager + (wager if kind == "to" else 0)
    return f"{times} {kind} 1{origin}", PlainLine(level=payer, amount=amount)


def _configured(name: str, plain: PlainTerms, pays: dict[str, str]) -> Terms:
    printed = paytable(
        levels={
            name: level(
                seed=_money(each.seed),
                reseed=_money(each.reseed),
                increment=_rate(int(each.increment * 1_000_000)),
                reserve=_rate(int(each.reserve * 1_000_000)),
                cap="" if each.cap is None else _money(each.cap),
            )
            for name, each in plain.levels.items()
        },
        pays=pays,
        envy={hand: f"${amount // plain.wager} for 1" for hand, amount in plain.envy.items()},
        hand_pay=HandPay(plain.hand_pay),
        validate=tuple(plain.validate),
    )
    return live(
        printed,
        name=name,
        wager_minor=plain.wager,
        tables=tuple(plain.tables),
        hold_table=plain.hold_table,
        folded_hands_qualify=plain.folded_hands_qualify,
    )


def _money(amount_minor: int) -> str:
    """Write cents as a configuration has them."""
    return f"${amount_minor // 100}.{amount_minor % 100:02d}"


def _rate(rate_ppm: int) -> str:
    """Write a rate as a configuration has it."""
    return f"{rate_ppm // 10_000}.{rate_ppm % 10_000:04d}%"
