"""The terms of a live progressive: its paytable on its wager, in minor units (rules 2, 10).

The record keeps them; whoever changes one amends the progressive.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from meters.money import (
    PERCENT_PPM,
    PPM,
    Currency,
    format_minor,
    format_rate,
)
from meters.paytable import (
    EVERY_HAND,
    Amount,
    HandPay,
    LineKind,
    Paytable,
    PaytableError,
    PrintedLevel,
    PrintedLine,
    whole_minor,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A pay line on a known wager.

    `share_ppm` of the `level` for a percentage line (then `pays_minor` is 0), else `pays_minor`.
    `text` is the line in words.
    """

    text: str
    level: str | None = None
    share_ppm: int = 0
    pays_minor: int = 0

    @property
    def is_percentage(self) -> bool:
        """Whether the line pays a share of its level."""
        return self.share_ppm > 0

    @property
    def is_full(self) -> bool:
        """Whether the line pays its whole level."""
        return self.share_ppm == PPM

    @property
    def is_tenth(self) -> bool:
        """Whether the line pays a tenth of its level or more (§ 561.13d(e))."""
        return self.share_ppm >= 10 * PERCENT_PPM


@dataclass(frozen=True, slots=True, kw_only=True)
class LevelTerms:
    """A level on a known wager: amounts in minor units, rates in ppm (rules 2.2)."""

    name: str
    seed_minor: int
    reseed_minor: int
    increment_ppm: int
    reserve_ppm: int = 0
    cap_minor: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """The parameters of a live progressive: part of the record (rules 2.1, 10)."""

    name: str
    title: str
    wager_minor: int
    tables: tuple[str, ...]
    levels: tuple[LevelTerms, ...]
    pays: Mapping[str, Line]
    envy: Mapping[str, int]
    hand_pay: HandPay
    validate: tuple[str, ...]
    hold_table: bool = True
    folded_hands_qualify: bool = False

    def differences(self, other: Terms, currency: Currency) -> Iterator[str]:
        """Say each parameter in which `other` differs, in words; the title is no parameter."""
        yield from _differences(_parameters(self, currency), _parameters(other, currency))


def _parameters(terms: Terms, currency: Currency) -> dict[str, str]:
    flat = {
        "wager": format_minor(terms.wager_minor, currency),
        "tables": ", ".join(sorted(terms.tables)),
        "levels": ", ".join(level.name for level in terms.levels),
        "hand_pay": terms.hand_pay.value,
        "validate": ", ".join(sorted(terms.validate)) or "percentage",
        "hold_table": str(terms.hold_table).lower(),
        "folded_hands_qualify": str(terms.folded_hands_qualify).lower(),
    }
    for level in terms.levels:
        flat[f"levels.{level.name}.seed"] = format_minor(level.seed_minor, currency)
        flat[f"levels.{level.name}.reseed"] = format_minor(level.reseed_minor, currency)
        flat[f"levels.{level.name}.increment"] = format_rate(level.increment_ppm)
        flat[f"levels.{level.name}.reserve"] = format_rate(level.reserve_ppm)
        if level.cap_minor is not None:
            flat[f"levels.{level.name}.cap"] = format_minor(level.cap_minor, currency)
    for hand, line in terms.pays.items():
        flat[f"pays.{hand}"] = line.text
    for hand, amount_minor in terms.envy.items():
        flat[f"envy.{hand}"] = format_minor(amount_minor, currency)
    return flat


def _differences(ours: dict[str, str], theirs: dict[str, str]) -> Iterator[str]:
    for key in [*ours, *(key for key in theirs if key not in ours)]:
        mine, other = ours.get(key, "nothing"), theirs.get(key, "nothing")
        if mine != other:
            yield f"{key}: {mine} is now {other}"


def _line_on(line: PrintedLine, wager_minor: int, currency: Currency) -> Line:
    text = line.text(currency)
    if line.kind is LineKind.PERCENT:
        return Line(text=text, level=line.level, share_ppm=line.number)
    if line.kind is LineKind.FIXED:
        return Line(text=text, level=line.level, pays_minor=line.number)
    stake_ppm = PPM if line.kind is LineKind.TO_ONE else 0
    pays_minor = whole_minor(wager_minor * (line.number + stake_ppm))
    return Line(text=text, level=line.level, pays_minor=pays_minor)


class Problems:
    """Collects what is wrong with a paytable, each with the key it stands under."""

    def __init__(self) -> None:
        self.found: list[tuple[tuple[str, ...], str]] = []

    def say(self, *key: str, why: str) -> None:
        """Note one problem under a key such as ("levels", "mega", "seed")."""
        self.found.append((key, why))

    def guarded(self, *key: str, amount: Amount, wager_minor: int) -> int:
        """Return the amount on the wager; if it has none, note why and return 0."""
        try:
            return amount.for_wager(wager_minor)
        except PaytableError as error:
            self.say(*key, why=str(error))
            return 0


def terms_of(
    paytable: Paytable,
    *,
    name: str,
    title: str,
    wager_minor: int,
    tables: tuple[str, ...],
    currency: Currency,
    validate: tuple[str, ...] = (),
    hold_table: bool = True,
    folded_hands_qualify: bool = False,
    problems: Problems,
) -> Terms:
    """Make the terms of a progressive that plays `paytable` for `wager_minor`.

    What is missing or not legal goes into `problems`; with any, the terms are not to be used.
    `validate` is the property's and widens the paytable's (rules 4.5).
    """
    if wager_minor <= 0:
        problems.say("wager", why="a progressive wager is more than nothing")
    if paytable.wager_minor not in (None, wager_minor):
        printed = format_minor(paytable.wager_minor or 0, currency)
        problems.say("wager", why=f"{paytable.title} is printed for a {printed} wager")
    if not paytable.linkable and len(tables) > 1:
        problems.say(
            "tables", why=f"{paytable.title} may not be linked: one table ({paytable.source})"
        )
    levels = tuple(
        _level_on(level_name, level, paytable, wager_minor, currency, problems)
        for level_name, level in paytable.levels.items()
    )
    if not levels:
        problems.say("levels", why="a progressive has at least one level")
    pays: dict[str, Line] = {}
    for hand, line in paytable.pays.items():
        if line.level is not None and line.level not in paytable.levels:
            known = ", ".join(paytable.levels)
            problems.say("pays", hand, why=f"there is no level {line.level}; there are: {known}")
        try:
            pays[hand] = _line_on(line, wager_minor, currency)
        except PaytableError as error:
            problems.say("pays", hand, why=str(error))
    if not paytable.pays:
        left = f": {paytable.open_pays}" if paytable.open_pays else ""
        problems.say("pays", why=f"no pay lines{left}; give them under terms: pays")
    envy = {
        hand: problems.guarded("envy", hand, amount=amount, wager_minor=wager_minor)
        for hand, amount in paytable.envy.items()
    }
    for hand in envy:
        if hand not in paytable.pays:
            problems.say("envy", hand, why="a hand with Envy has a line under pays too")
    for hand in paytable.validate:
        if hand not in paytable.pays and hand not in EVERY_HAND:
            problems.say("validate", hand, why="there is no line for this hand under pays")
    covered = EVERY_HAND if "all" in paytable.validate + validate else paytable.validate + validate
    return Terms(
        name=name,
        title=title,
        wager_minor=wager_minor,
        tables=tables,
        levels=levels,
        pays=pays,
        envy=envy,
        hand_pay=paytable.hand_pay,
        validate=tuple(sorted(set(covered))),
        hold_table=hold_table,
        folded_hands_qualify=folded_hands_qualify,
    )


def _level_on(
    name: str,
    level: PrintedLevel,
    paytable: Paytable,
    wager_minor: int,
    currency: Currency,
    problems: Problems,
) -> LevelTerms:
    amounts_minor = {"seed": 0, "reseed": 0}
    if level.seed is None:
        least = format_minor(paytable.minimum_minor, currency)
        hint = f" (at least {least}, {paytable.source})" if paytable.minimum_minor else ""
        problems.say("levels", name, "seed", why=f"the text leaves the seed to the property{hint}")
    for key, amount in (("seed", level.seed), ("reseed", level.reseed or level.seed)):
        if amount is None:
            continue
        value = problems.guarded("levels", name, key, amount=amount, wager_minor=wager_minor)
        if value < paytable.minimum_minor:
            least = format_minor(paytable.minimum_minor, currency)
            problems.say("levels", name, key, why=f"at least {least} ({paytable.source})")
        amounts_minor[key] = value
    increment_ppm = level.increment_ppm
    if increment_ppm is None:
        problems.say("levels", name, "increment", why="the text leaves the rate to the property")
        increment_ppm = 0
    for key, rate_ppm in (("increment", increment_ppm), ("reserve", level.reserve_ppm)):
        if rate_ppm > PPM:
            problems.say("levels", name, key, why="a rate is at most 100%")
    cap_minor = None
    if level.cap is not None:
        cap_minor = problems.guarded(
            "levels", name, "cap", amount=level.cap, wager_minor=wager_minor
        )
        if cap_minor < max(amounts_minor.values()):
            problems.say("levels", name, "cap", why="a cap is not below the seed or the reseed")
    return LevelTerms(
        name=name,
        seed_minor=amounts_minor["seed"],
        reseed_minor=amounts_minor["reseed"],
        increment_ppm=increment_ppm,
        reserve_ppm=level.reserve_ppm,
        cap_minor=cap_minor,
    )
