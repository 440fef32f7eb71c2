"""The books: each event's balanced postings (rules 11).

Signs as in hledger and beancount: liabilities and income negative, assets and expenses positive.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from meters.events import Confirm, Deny, Event, Hit, Opened, Void, Wager
from meters.floor import Floor
from meters.money import units_from_minor
from meters.outcomes import (
    Accepted,
    Answer,
    Awarded,
    Confirmed,
    Denied,
    Noted,
    Seeding,
    Source,
    Status,
    Voided,
)

CAGE = "Assets:Cage"


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """One side of an entry: `amount_units` to `account`; level and generation where it has one."""

    account: str
    amount_units: int
    progressive: str
    level: str = ""
    generation: int = 0


def postings(event: Event, answer: Answer, floor: Floor) -> tuple[Posting, ...]:
    """Return the postings of an event just applied to `floor`; they sum to zero.

    Postings of nothing are left out, so an event that moves no money has none.
    """
    return tuple(each for each in _all(event, answer, floor) if each.amount_units)


def _all(event: Event, answer: Answer, floor: Floor) -> Iterator[Posting]:
    match event, answer:
        case Opened(), Noted():
            yield from _opened(event.terms.name, floor)
        case Wager(), Accepted():
            yield from _accepted(event.table, answer, floor)
        case Hit(), Awarded():
            yield from _awarded(event.table, answer)
        case Void(), Voided():
            yield from _voided(event.table, answer, floor)
        case Confirm(), Confirmed():
            yield from _confirmed(answer)
        case Deny(), Denied():
            yield from _denied(answer, floor)


def table_account(table: str) -> str:
    """Name the account of a table's chips."""
    return f"Assets:Tables:{table}"


class _Accounts:
    """Builds the postings of one progressive."""

    def __init__(self, progressive: str) -> None:
        self.progressive = progressive

    def post(self, account: str, amount_units: int) -> Posting:
        return Posting(account=account, amount_units=amount_units, progressive=self.progressive)

    def minor(self, account: str, amount_minor: int) -> Posting:
        return self.post(account, units_from_minor(amount_minor))

    def expense(self, kind: str, amount_units: int) -> Posting:
        return self.post(f"Expenses:Progressive:{self.progressive}:{kind}", amount_units)

    def wagers(self, amount_minor: int) -> Posting:
        return self.minor(f"Income:Progressive:{self.progressive}:Wagers", amount_minor)

    def awards(self, amount_minor: int) -> Posting:
        return self.minor(f"Liabilities:Progressive:{self.progressive}:Awards", amount_minor)

    def balance(self, level: str, generation: int, name: str, amount_units: int) -> Posting:
        return Posting(
            account=f"Liabilities:Progressive:{self.progressive}:{level}:{name}",
            amount_units=amount_units,
            progressive=self.progressive,
            level=level,
            generation=generation,
        )

    def seeded(self, level: str, generation: int, seeding: Seeding) -> Iterator[Posting]:
        into_units = seeding.house_units + seeding.reserve_units
        yield self.balance(level, generation, "Primary", -into_units)
        yield self.balance(level, generation, "Reserve", seeding.reserve_units)
        yield self.expense("Seed", seeding.house_units)


def _opened(name: str, floor: Floor) -> Iterator[Posting]:
    to = _Accounts(name)
    for level in floor.progressives[name].levels:
        seeding = Seeding(house_units=level.primary_units, reserve_units=0)
        yield from to.seeded(level.terms.name, level.generation, seeding)


def _accepted(table: str, answer: Accepted, floor: Floor) -> Iterator[Posting]:
    to = _Accounts(answer.progressive)
    yield to.minor(table_account(table), answer.amount_minor)
    yield to.wagers(-answer.amount_minor)
    accrued_units = 0
    shares_units = floor.tables[table].locks[answer.progressive].shares_units
    levels = floor.progressives[answer.progressive].levels
    for level, (primary_units, reserve_units) in zip(levels, shares_units, strict=True):
        accrued_units += primary_units + reserve_units
        yield to.balance(level.terms.name, level.generation, "Primary", -primary_units)
        yield to.balance(level.terms.name, level.generation, "Reserve", -reserve_units)
    yield to.expense("Contributions", accrued_units)


def _awarded(table: str, answer: Awarded) -> Iterator[Posting]:
    to = _Accounts(answer.progressive)
    envy_minor = sum(each.amount_minor for each in answer.envy)
    house_minor = answer.amount_minor - answer.taken_minor
    if answer.level is not None and answer.generation is not None:
        taken_units = units_from_minor(answer.taken_minor)
        yield to.balance(answer.level, answer.generation, "Primary", taken_units)
    yield to.expense("Awards", units_from_minor(house_minor))
    yield to.expense("Envy", units_from_minor(envy_minor))
    if answer.status is Status.PENDING:
        yield to.awards(-answer.amount_minor - envy_minor)
    else:
        yield to.minor(table_account(table), -answer.amount_minor)
    if answer.level is not None and answer.generation is not None and answer.seeding is not None:
        yield from to.seeded(answer.level, answer.generation + 1, answer.seeding)


def _confirmed(answer: Confirmed) -> Iterator[Posting]:
    to = _Accounts(answer.progressive)
    envy_minor = sum(each.amount_minor for each in answer.envy)
    yield to.awards(answer.amount_minor + envy_minor)
    table = table_account(answer.table)
    paid_from = CAGE if answer.source is Source.HAND_PAY else table
    yield to.minor(paid_from, -answer.amount_minor)
    yield to.minor(table, -envy_minor)


def _denied(answer: Denied, floor: Floor) -> Iterator[Posting]:
    to = _Accounts(answer.progressive)
    envy_minor = answer.envy_minor
    yield to.awards(answer.taken_minor + answer.house_minor + envy_minor)
    yield to.expense("Awards", -units_from_minor(answer.house_minor))
    yield to.expense("Envy", -units_from_minor(envy_minor))
    if answer.level is not None:
        generation = floor.progressives[answer.progressive].level(answer.level).generation
        taken_units = units_from_minor(answer.taken_minor)
        yield to.balance(answer.level, generation, "Primary", -taken_units)
        undone = Seeding(
            house_units=-answer.seeding.house_units, reserve_units=-answer.seeding.reserve_units
        )
        yield from to.seeded(answer.level, generation, undone)


def _voided(table: str, answer: Voided, floor: Floor) -> Iterator[Posting]:
    for progressive, wagers_minor in answer.wagers_minor.items():
        to = _Accounts(progressive)
        yield to.minor(table_account(table), -wagers_minor)
        yield to.wagers(wagers_minor)
        accrued_units = lost_units = 0
        for back in answer.returned:
            if back.progressive != progressive:
                continue
            generation = floor.progressives[progressive].level(back.level).generation
            accrued_units += back.primary_units + back.reserve_units + back.lost_units
            lost_units += back.lost_units
            yield to.balance(back.level, generation, "Primary", back.primary_units)
            yield to.balance(back.level, generation, "Reserve", back.reserve_units)
        yield to.expense("Contributions", -accrued_units)
        yield to.expense("Adjustments", lost_units)
