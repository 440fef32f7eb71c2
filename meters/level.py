"""One level's steps: contribute, award, reseed, and what undoes them (rules 2 to 8)."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, field

from meters.money import MAX_UNITS, minor_from_units, units_from_minor
from meters.outcomes import Seeding
from meters.terms import LevelTerms


@dataclass(slots=True, kw_only=True)
class FullAward:
    """A full award of a level that may still be denied, or is denied but not yet unseeded.

    `number` is its event's number, `seeding` what of its seeding hasn't been taken back.
    """

    hit: int
    number: int
    seeding: Seeding
    denied: bool = False


@dataclass(slots=True, kw_only=True)
class Level:
    """A level's two balances in units, its generation, and its hits that may be undone.

    `fulls` has the newest last. `settled_full` is the number of the newest full award that
    stands for good. `standing_hits` has the level's hits from its oldest pending one on.
    """

    terms: LevelTerms
    primary_units: int = 0
    reserve_units: int = 0
    generation: int = 1
    fulls: list[FullAward] = field(default_factory=list)
    settled_full: int = 0
    standing_hits: list[int] = field(default_factory=list)

    @property
    def shown_minor(self) -> int:
        """What the meter shows: whole minor units, rounded down (rules 1.4)."""
        return minor_from_units(self.primary_units)

    def open(self) -> None:
        """Put in the seed, which the house funds (rules 2.4)."""
        self.primary_units = units_from_minor(self.terms.seed_minor)

    def shares(self, wagers_minor: int) -> tuple[int, int]:
        """Return what a wager adds to primary and reserve; above the cap goes to the reserve.

        Rules 3.1 and 3.2.
        """
        terms = self.terms
        primary_units = wagers_minor * terms.increment_ppm
        reserve_units = wagers_minor * terms.reserve_ppm
        if terms.cap_minor is not None:
            cap_units = units_from_minor(terms.cap_minor)
            room_units = max(0, cap_units - self.primary_units)
            above_units = max(0, primary_units - room_units)
            primary_units -= above_units
            reserve_units += above_units
        return primary_units, reserve_units

    def has_room(self, added_units: int) -> bool:
        """Tell whether the balances stay within the largest amount (rules 1.5)."""
        return self.primary_units + self.reserve_units + added_units <= MAX_UNITS

    def add(self, primary_units: int, reserve_units: int) -> None:
        """Book shares into the balances."""
        self.primary_units += primary_units
        self.reserve_units += reserve_units

    def take(self, amount_minor: int) -> None:
        """Take an award out of the meter (rules 4.3)."""
        self.primary_units -= units_from_minor(amount_minor)

    def reseed(self, *, hit: int, number: int) -> Seeding:
        """Start the next generation after a full award (rules 5).

        The reserve pays first, the house tops up to the reseed amount, a larger reserve goes in
        whole; what the cap has no room for stays in the reserve.
        """
        house_units = max(0, units_from_minor(self.terms.reseed_minor) - self.reserve_units)
        primary_units = self.primary_units + self.reserve_units + house_units
        rest_units = 0
        if self.terms.cap_minor is not None:
            rest_units = max(0, primary_units - units_from_minor(self.terms.cap_minor))
        seeding = Seeding(house_units=house_units, reserve_units=self.reserve_units - rest_units)
        self.primary_units = primary_units - rest_units
        self.reserve_units = rest_units
        self.generation += 1
        self.fulls.append(FullAward(hit=hit, number=number, seeding=seeding))
        return seeding

    def full_since(self, number: int) -> bool:
        """Tell whether a full award that stands came after event `number` (rules 8)."""
        return self.settled_full > number or any(
            full.number > number and not full.denied for full in self.fulls
        )

    def settle(self, hit: int) -> None:
        """Note that a hit stands for good: no seeding at or before it comes back any more."""
        for index, full in enumerate(self.fulls):
            if full.hit == hit:
                self.settled_full = max(self.settled_full, full.number)
                del self.fulls[: index + 1]
                return

    def give_back(self, hit: int, amount_minor: int) -> Seeding:
        """Undo a denied hit: its amount returns, and each seeding that may (rules 7.2).

        A denied full award's seeding is taken back once no full award that stands came after
        it, the newest first. What the meter can't give now is taken at a later denial, so that
        denying every hit leaves no trace. Returns what went back in all.
        """
        self.primary_units += units_from_minor(amount_minor)
        for full in self.fulls:
            full.denied = full.denied or full.hit == hit
        house_units = reserve_units = 0
        while self.fulls and self.fulls[-1].denied:
            full = self.fulls[-1]
            back = self._unseed(full.seeding)
            house_units += back.house_units
            reserve_units += back.reserve_units
            if back != full.seeding:
                full.seeding = Seeding(
                    house_units=full.seeding.house_units - back.house_units,
                    reserve_units=full.seeding.reserve_units - back.reserve_units,
                )
                break
            self.fulls.pop()
        return Seeding(house_units=house_units, reserve_units=reserve_units)

    def _unseed(self, seeding: Seeding) -> Seeding:
        # The reserve's share first. A share below zero went into the reserve, and comes back out
        # of it as far as the reserve has it.
        reserve_units = max(min(seeding.reserve_units, self.primary_units), -self.reserve_units)
        house_units = min(seeding.house_units, self.primary_units - reserve_units)
        self.primary_units -= reserve_units + house_units
        self.reserve_units += reserve_units
        return Seeding(house_units=house_units, reserve_units=reserve_units)

    def forget(self, pending: Container[int]) -> None:
        """Forget what no denial can reach: only the hits from the oldest pending one on stay.

        With none pending, what a meter couldn't give back of a seeding is the house's loss.
        """
        while self.standing_hits and self.standing_hits[0] not in pending:
            del self.standing_hits[0]
        if not self.standing_hits:
            self.fulls.clear()

    def take_back(self, primary_units: int, reserve_units: int, *, since: int) -> tuple[int, int]:
        """Take a void round's shares back out, as far as they are still there (rules 8).

        `since` is the number of the lock. Returns what came out of primary and reserve.
        """
        if self.full_since(since):
            return 0, 0
        primary_units = min(primary_units, self.primary_units)
        reserve_units = min(reserve_units, self.reserve_units)
        self.add(-primary_units, -reserve_units)
        return primary_units, reserve_units
