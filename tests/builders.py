"""What the tests build: terms written as a configuration writes them, and a pit to play in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import msgspec

from meters.books import Posting, postings
from meters.events import Confirm, Deny, Event, Hit, Opened, TableSet, Void, Wager
from meters.floor import Floor
from meters.level import Level
from meters.money import CURRENCIES, UNITS_PER_MINOR, parse_rate
from meters.outcomes import (
    Accepted,
    Answer,
    Awarded,
    Confirmed,
    Denied,
    Noted,
    Outcome,
    Refused,
    Repeated,
    Voided,
)
from meters.paytable import HandPay, Paytable, PrintedLevel, parse_amount, parse_line
from meters.terms import LevelTerms, Problems, Terms, terms_of

USD = CURRENCIES["USD"]
DOLLAR = 100
"""Minor units in a dollar."""
UNITS = UNITS_PER_MINOR
"""Units in a minor unit."""

NO_CAP = ""
PENNSYLVANIA = {
    "royal flush": "100% of meter",
    "straight flush": "10% of meter",
    "four of a kind": "300 for 1",
    "full house": "50 for 1",
    "flush": "40 for 1",
    "straight": "30 for 1",
    "three of a kind": "9 for 1",
}
"""The lines of § 639a.12, paytable D."""


def level(
    seed: str = "$10,000",
    increment: str = "10%",
    *,
    reseed: str = "",
    reserve: str = "0%",
    cap: str = NO_CAP,
) -> PrintedLevel:
    """Return a level as a paytable file has it; the reseed defaults to the seed."""
    return PrintedLevel(
        seed=parse_amount(seed, USD),
        reseed=parse_amount(reseed, USD) if reseed else None,
        increment_ppm=parse_rate(increment),
        reserve_ppm=parse_rate(reserve),
        cap=parse_amount(cap, USD) if cap else None,
    )


def paytable(
    *,
    levels: Mapping[str, PrintedLevel] | None = None,
    pays: Mapping[str, str] | None = None,
    envy: Mapping[str, str] | None = None,
    hand_pay: HandPay = HandPay.PERCENTAGE,
    validate: tuple[str, ...] = (),
) -> Paytable:
    """Return a paytable; without more said, one level `meter` and the lines of § 639a.12 D."""
    return Paytable(
        title="Paytable",
        source="§ 1",
        levels={"meter": level()} if levels is None else levels,
        pays={
            hand: parse_line(line, USD)
            for hand, line in (PENNSYLVANIA if pays is None else pays).items()
        },
        envy={hand: parse_amount(amount, USD) for hand, amount in (envy or {}).items()},
        hand_pay=hand_pay,
        validate=validate,
    )


def live(
    printed: Paytable,
    *,
    name: str = "royal",
    wager_minor: int = 5 * DOLLAR,
    tables: tuple[str, ...] = ("T1",),
    validate: tuple[str, ...] = (),
    hold_table: bool = True,
    folded_hands_qualify: bool = False,
) -> Terms:
    """Return the terms of a progressive that plays a paytable without a problem."""
    problems = Problems()
    terms = terms_of(
        printed,
        name=name,
        title=name.title(),
        wager_minor=wager_minor,
        tables=tables,
        currency=USD,
        validate=validate,
        hold_table=hold_table,
        folded_hands_qualify=folded_hands_qualify,
        problems=problems,
    )
    assert problems.found == []
    return terms


def as_json(floor: Floor) -> bytes:
    """Return the whole state of a floor; equal states give equal bytes."""
    return msgspec.json.encode(floor)


def in_units(dollars: int, *, cents: int = 0) -> int:
    """Return dollars and cents in units."""
    return (dollars * DOLLAR + cents) * UNITS


Kind = TypeVar("Kind", bound=Outcome)


class Pit:
    """A floor with tables, played in the order of the calls, and the books that result.

    The tables' `seq` counts itself. Every answer is checked to be of the kind that is expected,
    every entry to balance, and what is refused or repeated to change nothing.
    """

    def __init__(self, *progressives: Terms, seats: int = 6) -> None:
        self.floor = Floor()
        self.books: Counter[str] = Counter()
        self.entry: tuple[Posting, ...] = ()
        for table in dict.fromkeys(name for terms in progressives for name in terms.tables):
            self._answer(TableSet(table=table, game="caribbean-stud", seats=seats), Noted)
        for terms in progressives:
            self._answer(Opened(terms=terms), Noted)

    def apply(self, event: Event) -> Outcome:
        """Apply an event as it is."""
        before = as_json(self.floor)
        outcome = self.floor.apply(event, 0)
        self.entry = ()
        if isinstance(outcome, Refused | Repeated):
            assert as_json(self.floor) == before
        else:
            self._book(event, outcome)
        return outcome

    def wager(
        self,
        table: str,
        round_: int,
        *seats: int,
        progressive: str | None = None,
        players: Mapping[int, str] | None = None,
    ) -> Accepted:
        """Lock the bets of these seats."""
        return self._answer(
            Wager(
                table=table,
                seq=self.seq(table),
                round=round_,
                seats=seats,
                progressive=progressive,
                players=players or {},
            ),
            Accepted,
        )

    def hit(
        self,
        table: str,
        round_: int,
        seat: int,
        hand: str,
        *,
        progressive: str | None = None,
        folded: bool = False,
    ) -> Awarded:
        """Send a hit."""
        return self._answer(
            Hit(
                table=table,
                seq=self.seq(table),
                round=round_,
                seat=seat,
                hand=hand,
                progressive=progressive,
                folded=folded,
            ),
            Awarded,
        )

    def void(self, table: str, round_: int) -> Voided:
        """Void a round."""
        event = Void(table=table, seq=self.seq(table), round=round_, reason="misdeal")
        return self._answer(event, Voided)

    def confirm(self, hit: int) -> Confirmed:
        """Confirm a hit."""
        return self._answer(Confirm(hit=hit, by="floor-7"), Confirmed)

    def deny(self, hit: int) -> Denied:
        """Deny a hit."""
        return self._answer(Deny(hit=hit, by="floor-7", reason="misread"), Denied)

    def refused(self, event: Event) -> Refused:
        """Apply an event that is to be refused. A table's event with `seq` 0 gets the next."""
        if isinstance(event, Wager | Hit | Void) and event.seq == 0:
            event = replace(event, seq=self.seq(event.table))
        outcome = self.apply(event)
        assert isinstance(outcome, Refused), outcome
        return outcome

    def seq(self, table: str) -> int:
        """Return the table's next `seq`."""
        return self.floor.tables[table].next_seq if table in self.floor.tables else 1

    def level(self, name: str = "meter", progressive: str = "royal") -> Level:
        """Return a level as it stands."""
        return self.floor.progressives[progressive].level(name)

    def balances(self, name: str = "meter", progressive: str = "royal") -> tuple[int, int]:
        """Return a level's primary and reserve, in units."""
        each = self.level(name, progressive)
        return each.primary_units, each.reserve_units

    def put(self, primary_units: int, reserve_units: int = 0, name: str = "meter") -> None:
        """Let a level stand at these balances, as if wagers had brought it there."""
        each = self.level(name)
        each.primary_units, each.reserve_units = primary_units, reserve_units

    def _answer(self, event: Event, kind: type[Kind]) -> Kind:
        outcome = self.apply(event)
        assert isinstance(outcome, kind), outcome
        return outcome

    def _book(self, event: Event, answer: Answer) -> None:
        self.entry = postings(event, answer, self.floor)
        assert sum(each.amount_units for each in self.entry) == 0
        for each in self.entry:
            self.books[each.account] += each.amount_units


def one_level(
    seed_minor: int = 1_000 * DOLLAR,
    *,
    reseed_minor: int | None = None,
    increment_ppm: int = 100_000,
    reserve_ppm: int = 0,
    cap_minor: int | None = None,
) -> LevelTerms:
    """Return the terms of one level in minor units and ppm; the reseed defaults to the seed."""
    return LevelTerms(
        name="meter",
        seed_minor=seed_minor,
        reseed_minor=seed_minor if reseed_minor is None else reseed_minor,
        increment_ppm=increment_ppm,
        reserve_ppm=reserve_ppm,
        cap_minor=cap_minor,
    )
