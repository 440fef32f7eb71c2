"""What each account holds by its own definition (rules 11), from all that ever happened."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

from tests.plain_facts import ZERO
from tests.plain_model import PlainProperty


def accounts(house: PlainProperty) -> dict[str, Fraction]:
    """Return every account that isn't empty, in minor units, signed as the books are."""
    found: defaultdict[str, Fraction] = defaultdict(Fraction)
    for name in house.progressives:
        for account, amount in _liabilities(house, name):
            found[account] -= amount
        for account, amount in _expenses(house, name):
            found[account] += amount
        for account, amount in _assets(house, name):
            found[account] += amount
    return {account: amount for account, amount in found.items() if amount}


def _liabilities(house: PlainProperty, name: str) -> Iterator[tuple[str, Fraction]]:
    for level in house.progressives[name].levels:
        account = f"Liabilities:Progressive:{name}:{level}"
        yield f"{account}:Primary", house.primary[name, level]
        yield f"{account}:Reserve", house.reserve[name, level]
    waiting = [hit for hit in house.pending() if hit.progressive == name]
    total = sum(hit.amount + hit.envy_in_all for hit in waiting)
    yield f"Liabilities:Progressive:{name}:Awards", Fraction(total)


def _expenses(house: PlainProperty, name: str) -> Iterator[tuple[str, Fraction]]:
    terms, account = house.progressives[name], f"Progressive:{name}"
    locks = [lock for lock in house.locks if lock.progressive == name]
    hits = [hit for hit in house.hits if hit.progressive == name]
    standing = [hit for hit in hits if hit.stands]
    wagers = sum(terms.wager * len(lock.seats) for lock in locks if not lock.voided)
    rates = sum((level.increment + level.reserve for level in terms.levels.values()), ZERO)
    seeds = sum(level.seed for level in terms.levels.values())
    reseeds = sum((hit.from_house for hit in hits), ZERO)
    house_paid = sum(hit.amount - hit.taken for hit in standing)
    yield f"Income:{account}:Wagers", Fraction(-wagers)
    yield f"Expenses:{account}:Contributions", wagers * rates
    yield f"Expenses:{account}:Seed", seeds + reseeds - house.taken_back[name]
    yield f"Expenses:{account}:Awards", Fraction(house_paid)
    yield f"Expenses:{account}:Envy", Fraction(sum(hit.envy_in_all for hit in standing))
    yield f"Expenses:{account}:Adjustments", sum((lock.lost for lock in locks), ZERO)


def _assets(house: PlainProperty, name: str) -> Iterator[tuple[str, Fraction]]:
    paid = [hit for hit in house.hits if hit.progressive == name and hit.standing == "paid"]
    for hit in paid:
        place = "Assets:Cage" if hit.source == "hand pay" else f"Assets:Tables:{hit.table}"
        yield place, Fraction(-hit.amount)
        yield f"Assets:Tables:{hit.table}", Fraction(-hit.envy_in_all)
    for lock in house.locks:
        if lock.progressive == name and not lock.voided:
            amount = house.progressives[name].wager * len(lock.seats)
            yield f"Assets:Tables:{lock.table}", Fraction(amount)
