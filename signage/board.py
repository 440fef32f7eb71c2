"""What each sign shows: the newest committed values and the awards that stand.

The daemon tells the board only what is durable (rules 12); the board gives everybody one encoded
snapshot, made anew only when something changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import msgspec

from meters.money import Currency, format_minor
from signage.awards import (
    LAST_AWARDS,
    Award,
    AwardLists,
    Resolution,
    last_body,
    pending_body,
    utc_text,
)
from signage.snapshot import Sign, Snapshot, View

__all__ = ["Award", "Board", "Observer", "Resolution", "ShownLevel", "Sign", "Snapshot", "View"]

SIGN_AWARDS = 5
"""How many last awards of a level a sign shows (Florida asks for five)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLevel:
    """A level's meter in minor units and its generation (rules 2.3)."""

    amount_minor: int
    generation: int


class Observer(Protocol):
    """Who is told at once what the board takes."""

    def changed(self) -> None:
        """Something that is shown changed."""

    def hit(self, award: Award) -> None:
        """An award was committed."""

    def resolved(self, resolution: Resolution) -> None:
        """A pending award was paid or denied."""


@dataclass(slots=True, kw_only=True)
class _Level:
    amount_minor: int
    generation: int
    sequence: int


class _Progressive:
    """One progressive's values and awards, with what was encoded of them."""

    def __init__(self, title: str, currency: Currency, levels: dict[str, _Level]) -> None:
        self.title = title
        self.levels = levels
        self.awards = AwardLists()
        self._currency = currency
        self._lists: dict[int, tuple[msgspec.Raw, msgspec.Raw]] = {}

    def take(self, level: str, amount_minor: int, generation: int | None, sequence: int) -> bool:
        """Show a newer value of a level; tell whether anything shown changed."""
        shown = self.levels[level]
        if generation is None:
            generation = shown.generation
        if sequence < shown.sequence or generation < shown.generation:
            return False
        changed = (shown.amount_minor, shown.generation) != (amount_minor, generation)
        shown.amount_minor, shown.generation, shown.sequence = amount_minor, generation, sequence
        return changed

    def awards_changed(self) -> None:
        self._lists.clear()

    def encoded(self, awards_per_level: int) -> msgspec.Raw:
        """Return the progressive's part of the body; its award lists are encoded once."""
        if awards_per_level not in self._lists:
            self._lists[awards_per_level] = self._encode_lists(awards_per_level)
        pending, last = self._lists[awards_per_level]
        levels = {
            name: {
                "amount": level.amount_minor,
                "text": format_minor(level.amount_minor, self._currency),
                "generation": level.generation,
            }
            for name, level in self.levels.items()
        }
        return _raw(
            {
                "title": self.title,
                "currency": self._currency.code,
                "levels": levels,
                "pending": pending,
                "last": last,
            }
        )

    def _encode_lists(self, awards_per_level: int) -> tuple[msgspec.Raw, msgspec.Raw]:
        pending = [pending_body(award, self._currency) for award in self.awards.pending]
        last = {
            level: [
                last_body(award, self._currency)
                for award in self.awards.last(level, awards_per_level)
            ]
            for level in self.levels
        }
        return _raw(pending), _raw(last)


def _raw(body: object) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(body))


class Board:
    """The newest committed values of a property, in one `currency`, for its `signs` by name."""

    def __init__(
        self, *, property_title: str, currency: Currency, signs: Mapping[str, Sign]
    ) -> None:
        self.property_title = property_title
        self.currency = currency
        self.signs = dict(signs)
        self.sequence = 0
        self._at_ms: int | None = None
        self._revision = 0
        self._progressives: dict[str, _Progressive] = {}
        self._observers: list[Observer] = []
        self._snapshot: Snapshot | None = None

    def attach(self, observer: Observer) -> None:
        """Tell `observer` from now on what the board takes."""
        self._observers.append(observer)

    def title_of(self, progressive: str) -> str:
        """Return the title of a progressive, or its name where it isn't shown."""
        known = self._progressives.get(progressive)
        return progressive if known is None else known.title

    def show_progressive(self, name: str, title: str, levels: Mapping[str, ShownLevel]) -> None:
        """Show a progressive with its levels in the order of its paytable.

        At the start or when it opens; a second call shows new terms and keeps the awards.
        """
        shown = {
            level: _Level(
                amount_minor=value.amount_minor,
                generation=value.generation,
                sequence=self.sequence,
            )
            for level, value in levels.items()
        }
        progressive = _Progressive(title, self.currency, shown)
        if name in self._progressives:
            progressive.awards = self._progressives[name].awards
        self._progressives[name] = progressive
        self._changed()

    def retire_progressive(self, name: str) -> None:
        """Show a progressive no more (rules 9.2); what is still committed for it is ignored."""
        if self._progressives.pop(name, None) is not None:
            self._changed()

    def meters_committed(
        self,
        *,
        sequence: int,
        at_ms: int,
        meters: Mapping[str, Mapping[str, int]],
        generations: Mapping[str, Mapping[str, int]],
    ) -> None:
        """Take what one committed batch changed.

        `sequence` and `at_ms` are those of its last row; `meters` (minor units) and `generations`
        map progressive -> level -> newest value. A generation left out is unchanged. A value older
        than the one shown is ignored. Raises KeyError for a level its progressive doesn't have.
        """
        changed = False
        for name, levels in meters.items():
            progressive = self._progressives.get(name)
            if progressive is None:
                continue
            for level, amount_minor in levels.items():
                generation = generations.get(name, {}).get(level)
                changed |= progressive.take(level, amount_minor, generation, sequence)
        self._moved_to(sequence, at_ms)
        if changed:
            self._changed()

    def hit_committed(self, award: Award) -> None:
        """Take a committed award; one that is known already is ignored.

        At the start the daemon gives the awards of the record again, those that stand.
        """
        self._moved_to(award.sequence, award.at_ms)
        progressive = self._progressives.get(award.progressive)
        if progressive is not None:
            if not progressive.awards.add(award):
                return
            progressive.awards_changed()
            self._changed()
        for observer in self._observers:
            observer.hit(award)

    def resolved_committed(self, resolution: Resolution) -> None:
        """Take a committed confirmation or denial: a denied award is shown no more (rules 7)."""
        self._moved_to(resolution.sequence, resolution.at_ms)
        for progressive in self._progressives.values():
            if progressive.awards.resolve(resolution):
                progressive.awards_changed()
                self._changed()
        for observer in self._observers:
            observer.resolved(resolution)

    def snapshot(self) -> Snapshot:
        """Return what is shown now; the same object until something changes."""
        if self._snapshot is None:
            self._snapshot = self._encode()
        return self._snapshot

    def _moved_to(self, sequence: int, at_ms: int) -> None:
        if sequence >= self.sequence:
            self.sequence, self._at_ms, self._snapshot = sequence, at_ms, None

    def _changed(self) -> None:
        self._revision += 1
        self._snapshot = None
        for observer in self._observers:
            observer.changed()

    def _encode(self) -> Snapshot:
        head = {
            "sequence": self.sequence,
            "at": None if self._at_ms is None else utc_text(self._at_ms),
            "property": self.property_title,
        }
        shown = self._progressives.items()
        whole = {name: progressive.encoded(LAST_AWARDS) for name, progressive in shown}
        return Snapshot(
            sequence=self.sequence,
            revision=self._revision,
            meters={
                name: {level: value.amount_minor for level, value in progressive.levels.items()}
                for name, progressive in shown
            },
            whole=View.of({**head, "progressives": whole}),
            _head=head,
            _signs=self.signs,
            _short={name: progressive.encoded(SIGN_AWARDS) for name, progressive in shown},
        )
