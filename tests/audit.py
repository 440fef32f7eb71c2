"""A floor and the plain model of the rules, given the same events and compared after each."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import msgspec

from meters.books import postings
from meters.events import Confirm, Deny, Event, Hit, Opened, TableSet, Void, Wager
from meters.floor import Floor
from meters.money import UNITS_PER_MINOR
from meters.outcomes import (
    Accepted,
    Answer,
    Awarded,
    Confirmed,
    Denied,
    Envy,
    Noted,
    Outcome,
    Refused,
    Repeated,
    Seeding,
    Voided,
)
from tests.builders import as_json
from tests.plain_books import accounts
from tests.plain_facts import PlainTerms
from tests.plain_model import PlainProperty, Said


class Audit:
    """Applies events to both and asserts what always holds (rules 11, 12)."""

    def __init__(self, seats: dict[str, int]) -> None:
        self.floor = Floor()
        self.plain = PlainProperty(seats)
        self.books: Counter[str] = Counter()
        self.moved: Counter[tuple[str, str]] = Counter()
        self.events: list[Event] = []
        for table, most in seats.items():
            self._fold(TableSet(table=table, game="caribbean-stud", seats=most))

    def open(self, opened: Opened, terms: PlainTerms) -> None:
        """Open a progressive; `terms` says the same in the plain model's words."""
        assert said(self._fold(opened)) == self.plain.open(opened.terms.name, terms)
        self.check()

    def apply(self, event: Event) -> Outcome:
        """Apply an event and compare everything."""
        outcome = self._fold(event)
        assert said(outcome) == self._said_by_the_model(event)
        self.check()
        return outcome

    def again(self, event: Event) -> None:
        """Send an accepted event again: it is known for one, and moves nothing."""
        assert isinstance(self._fold(event), Repeated)

    def check(self) -> None:
        """Assert what holds after every event."""
        self._check_balances()
        self._check_contributions()
        booked = {account: _minor(amount) for account, amount in self.books.items() if amount}
        assert booked == accounts(self.plain)
        assert msgspec.json.decode(as_json(self.floor), type=Floor) == self.floor

    def folded_again(self) -> Floor:
        """Return what the accepted events give when they are folded once more."""
        floor = Floor()
        for event in self.events:
            floor.apply(event, 0)
        return floor

    def _fold(self, event: Event) -> Outcome:
        before = as_json(self.floor)
        outcome = self.floor.apply(event, 0)
        if isinstance(outcome, Refused | Repeated):
            assert as_json(self.floor) == before
        else:
            self.events.append(event)
            self._book(event, outcome)
        return outcome

    def _book(self, event: Event, answer: Answer) -> None:
        entry = postings(event, answer, self.floor)
        assert sum(each.amount_units for each in entry) == 0
        assert all(each.amount_units for each in entry)
        for each in entry:
            self.books[each.account] += each.amount_units
            self.moved[type(event).__name__, each.account] += each.amount_units

    def _said_by_the_model(self, event: Event) -> Said:
        match event:
            case Wager():
                seats, players = list(event.seats), dict(event.players)
                return self.plain.wager(
                    event.table, event.seq, event.round, seats, event.progressive, players
                )
            case Hit():
                return self.plain.hit(
                    event.table,
                    event.seq,
                    event.round,
                    event.seat,
                    event.hand,
                    event.progressive,
                    event.folded,
                )
            case Void():
                return self.plain.void(event.table, event.seq, event.round)
            case Confirm():
                return self.plain.confirm(event.hit)
            case Deny():
                return self.plain.deny(event.hit)
        raise AssertionError(event)

    def _check_balances(self) -> None:
        """The meters are the model's, and opening + what moved = closing (rules 11)."""
        for name, progressive in self.floor.progressives.items():
            for level in progressive.levels:
                key = (name, level.terms.name)
                assert level.generation == self.plain.generation(*key)
                account = f"Liabilities:Progressive:{name}:{level.terms.name}"
                for balance, units, plain in (
                    ("Primary", level.primary_units, self.plain.primary[key]),
                    ("Reserve", level.reserve_units, self.plain.reserve[key]),
                ):
                    assert units >= 0
                    assert _minor(units) == plain
                    assert units == -self.books[f"{account}:{balance}"]

    def _check_contributions(self) -> None:
        """Contributions are wagers x rate, per level, over all time and exact (rules 11, 12)."""
        for name, progressive in self.floor.progressives.items():
            wagers_units = -self.moved["Wager", f"Income:Progressive:{name}:Wagers"]
            for level in progressive.levels:
                account = f"Liabilities:Progressive:{name}:{level.terms.name}"
                rate_ppm = level.terms.increment_ppm + level.terms.reserve_ppm
                accrued_units = -(
                    self.moved["Wager", f"{account}:Primary"]
                    + self.moved["Wager", f"{account}:Reserve"]
                )
                assert accrued_units == wagers_units // UNITS_PER_MINOR * rate_ppm


def _minor(amount_units: int) -> Fraction:
    return Fraction(amount_units, UNITS_PER_MINOR)


def _shares(seeding: Seeding) -> tuple[Fraction, Fraction]:
    return _minor(seeding.house_units), _minor(seeding.reserve_units)


def _seats(envy: tuple[Envy, ...]) -> list[tuple[int, int]]:
    return [(each.seat, each.amount_minor) for each in envy]


def said(outcome: Outcome) -> Said:
    """Put an outcome as the plain model puts it."""
    match outcome:
        case Refused():
            expected = {"expected": outcome.expected} if outcome.expected else {}
            return {"refused": outcome.code.value, **expected}
        case Repeated():
            return {"repeated": outcome.hit or (outcome.table, outcome.seq)}
        case Noted():
            return {"meters": outcome.meters}
        case Accepted():
            return {
                "progressive": outcome.progressive,
                "amount": outcome.amount_minor,
                "meters": outcome.meters,
            }
        case Awarded():
            return _said_of_award(outcome)
        case Voided():
            return _said_of_void(outcome)
        case Confirmed():
            return {
                "hit": outcome.hit,
                "amount": outcome.amount_minor,
                "from": outcome.source.value,
                "envy": _seats(outcome.envy),
            }
        case Denied():
            return {
                "hit": outcome.hit,
                "taken": outcome.taken_minor,
                "house": outcome.house_minor,
                "envy": outcome.envy_minor,
                "seeding": _shares(outcome.seeding),
                "later_hits": list(outcome.later_hits),
                "meters": outcome.meters,
            }


def _said_of_award(outcome: Awarded) -> Said:
    answer: Said = {
        "line": outcome.line is not None,
        "hit": outcome.hit,
        "progressive": outcome.progressive,
        "amount": outcome.amount_minor,
        "taken": outcome.taken_minor,
        "from": outcome.source.value,
        "status": outcome.status.value,
        "envy": _seats(outcome.envy),
        "meters": outcome.meters,
    }
    if outcome.line is not None:
        answer["level"] = outcome.level
        answer["meter"] = outcome.meter_minor
        answer["generation"] = outcome.generation
    if outcome.seeding is not None:
        answer["seeding"] = _shares(outcome.seeding)
    return answer


def _said_of_void(outcome: Voided) -> Said:
    return {
        "amounts": outcome.wagers_minor,
        "returned": [
            (
                back.progressive,
                back.level,
                _minor(back.primary_units),
                _minor(back.reserve_units),
                _minor(back.lost_units),
            )
            for back in outcome.returned
        ],
        "meters": outcome.meters,
    }
