"""A live progressive: its terms, its levels, and what a hit is awarded (rules 4 to 6)."""

from __future__ import annotations

from dataclasses import dataclass

from meters.level import Level
from meters.money import minor_from_units
from meters.outcomes import Awarded, Envy, Source, Status
from meters.paytable import EVERY_HAND, HandPay
from meters.terms import Line, Terms


@dataclass(slots=True, kw_only=True)
class Progressive:
    """A live progressive: its terms and its levels, in the paytable's order."""

    terms: Terms
    levels: list[Level]
    retired: bool = False

    def level(self, name: str) -> Level:
        """Return the level of that name."""
        return next(level for level in self.levels if level.terms.name == name)

    def shown(self) -> dict[str, int]:
        """Return what each level shows, in minor units."""
        return {level.terms.name: level.shown_minor for level in self.levels}

    def award(
        self, line: Line | None, hand: str, envy: tuple[Envy, ...], *, hit: int, number: int
    ) -> Awarded:
        """Award a hit: its line at the meter as it stands, and the Envy it gives (rules 4, 5).

        `line` is None where the holder is paid nothing. `number` is the event's.
        """
        terms = self.terms
        if line is None:
            return Awarded(
                hit=hit,
                progressive=terms.name,
                amount_minor=0,
                source=Source.TABLE,
                status=Status.PENDING,
                envy=envy,
                meters={terms.name: self.shown()},
            )
        level = self.level(line.level) if line.level is not None else None
        amount_minor, taken_minor, meter_minor = line.pays_minor, 0, None
        if level is not None:
            meter_minor = level.shown_minor
            if line.is_percentage:
                amount_minor = minor_from_units(level.primary_units, line.share_ppm)
            taken_minor = min(amount_minor, meter_minor)
        source = _paid_from(terms.hand_pay, line, amount_minor, level or self.levels[0])
        waits = (
            line.is_percentage
            or source is Source.HAND_PAY
            or hand in terms.envy
            or hand in terms.validate
            or terms.validate == EVERY_HAND
        )
        generation, seeding = None, None
        if level is not None:
            generation = level.generation
            level.take(taken_minor)
            if line.is_full:
                seeding = level.reseed(hit=hit, number=number)
            if waits or level.standing_hits:
                level.standing_hits.append(hit)
        return Awarded(
            hit=hit,
            progressive=terms.name,
            amount_minor=amount_minor,
            source=source,
            status=Status.PENDING if waits else Status.PAID,
            line=line.text,
            level=line.level,
            meter_minor=meter_minor,
            generation=generation,
            taken_minor=taken_minor,
            seeding=seeding,
            envy=envy,
            meters={terms.name: self.shown()},
        )


def _paid_from(hand_pay: HandPay, line: Line, amount_minor: int, level: Level) -> Source:
    """Where the award is paid from (rules 4.6); `level` stands as before the award."""
    match hand_pay:
        case HandPay.PERCENTAGE:
            by_hand = line.is_percentage
        case HandPay.FULL:
            by_hand = line.is_full
        case HandPay.TENTH if line.is_percentage:
            by_hand = line.is_tenth
        case _:
            by_hand = amount_minor * 10 >= level.shown_minor
    return Source.HAND_PAY if by_hand else Source.TABLE
