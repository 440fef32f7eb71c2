"""The rules of the money once more, as plainly as can be: an auditor that shares no code.

It keeps everything that ever happened and looks it all through again whenever it is asked. Meters
are fractions of a minor unit; nothing is fast. Answers are plain dictionaries, `{"refused": code}`
for a refusal. The numbers in the comments are the sections of the rules.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from fractions import Fraction
from math import floor
from typing import Any

from tests.plain_facts import ZERO, PlainHit, PlainLock, PlainTerms

Said = dict[str, Any]


class PlainProperty:
    """A property: tables with their seats, and progressives by name."""

    def __init__(self, seats: dict[str, int]) -> None:
        self.seats = seats
        self.progressives: dict[str, PlainTerms] = {}
        self.primary: dict[tuple[str, str], Fraction] = {}
        self.reserve: dict[tuple[str, str], Fraction] = {}
        self.locks: list[PlainLock] = []
        self.hits: list[PlainHit] = []
        self.accepted: Counter[str] = Counter()
        self.taken_back: defaultdict[str, Fraction] = defaultdict(Fraction)
        self.now = 0

    # What there is

    def shown(self, progressive: str) -> dict[str, int]:
        """1.4: whole minor units, rounded down."""
        levels = self.progressives[progressive].levels
        return {level: floor(self.primary[progressive, level]) for level in levels}

    def generation(self, progressive: str, level: str) -> int:
        """2.3: it rises at every full award, and never falls."""
        return 1 + sum(
            hit.full for hit in self.hits if (hit.progressive, hit.level) == (progressive, level)
        )

    def pending(self, *, table: str | None = None) -> list[PlainHit]:
        """4.5: the awards that wait for a floorperson."""
        waiting = [hit for hit in self.hits if hit.standing == "pending"]
        return [hit for hit in waiting if table in (None, hit.table)]

    def round(self, table: str) -> int:
        """Which round the table is at."""
        return max((lock.round for lock in self.locks if lock.table == table), default=0)

    def _locks(self, table: str, round_: int) -> list[PlainLock]:
        return [lock for lock in self.locks if (lock.table, lock.round) == (table, round_)]

    def _closed(self, table: str, round_: int) -> bool:
        voided = any(lock.voided for lock in self._locks(table, round_))
        return round_ < self.round(table) or voided

    # 2.4

    def open(self, name: str, terms: PlainTerms) -> Said:
        self.now += 1
        self.progressives[name] = terms
        for level, each in terms.levels.items():
            self.primary[name, level], self.reserve[name, level] = Fraction(each.seed), ZERO
        return {"meters": {name: self.shown(name)}}

    # What the protocol checks of every message of a table

    def _sequence(self, table: str, seq: int) -> Said | None:
        if table not in self.seats:
            return {"refused": "unknown-table"}
        expected = self.accepted[table] + 1
        if seq < expected:
            return {"repeated": (table, seq)}
        if seq > expected:
            return {"refused": "seq-gap", "expected": expected}
        return None

    def _progressive(self, table: str, named: str | None) -> str | None:
        there = [name for name, terms in self.progressives.items() if table in terms.tables]
        if named is None:
            return there[0] if len(there) == 1 else None
        return named if named in there else None

    def _accept(self, table: str) -> None:
        self.now += 1
        self.accepted[table] += 1

    # 3

    def wager(
        self,
        table: str,
        seq: int,
        round_: int,
        seats: list[int],
        named: str | None = None,
        players: dict[int, str] | None = None,
    ) -> Said:
        if (out_of_turn := self._sequence(table, seq)) is not None:
            return out_of_turn
        name = self._progressive(table, named)
        if name is None:
            return {"refused": "unknown-progressive"}
        if any(seat > self.seats[table] for seat in [*seats, *(players or {})]):
            return {"refused": "bad-seat"}
        if self._closed(table, round_):
            return {"refused": "round-closed"}
        waits = [hit for hit in self.pending(table=table) if self._holds(hit)]
        if round_ > self.round(table) and waits:  # 4.7
            return {"refused": "table-held"}
        locked = [lock.progressive for lock in self._locks(table, round_)]
        was_hit = any((hit.table, hit.round) == (table, round_) for hit in self.hits if hit.stands)
        if name in locked or was_hit:  # 3.3
            return {"refused": "round-locked"}
        self._accept(table)
        terms = self.progressives[name]
        total = terms.wager * len(seats)
        shares = {level: self._contribute(name, level, total) for level in terms.levels}
        lock = PlainLock(self.now, table, round_, name, seats, players or {}, shares)
        self.locks.append(lock)
        return {"progressive": name, "amount": total, "meters": {name: self.shown(name)}}

    def _holds(self, hit: PlainHit) -> bool:
        return self.progressives[hit.progressive].hold_table

    def _contribute(self, name: str, level: str, total: int) -> tuple[Fraction, Fraction]:
        each, key = self.progressives[name].levels[level], (name, level)
        primary, reserve = total * each.increment, total * each.reserve
        if each.cap is not None and self.primary[key] + primary > each.cap:  # 3.2
            fits = max(ZERO, each.cap - self.primary[key])
            primary, reserve = fits, reserve + primary - fits
        self.primary[key] += primary
        self.reserve[key] += reserve
        return primary, reserve

    # 4

    def hit(
        self,
        table: str,
        seq: int,
        round_: int,
        seat: int,
        hand: str,
        named: str | None = None,
        folded: bool = False,
    ) -> Said:
        if (out_of_turn := self._sequence(table, seq)) is not None:
            return out_of_turn
        name = self._progressive(table, named)
        if name is None:
            return {"refused": "unknown-progressive"}
        if seat > self.seats[table]:
            return {"refused": "bad-seat"}
        if self._closed(table, round_):
            return {"refused": "round-closed"}
        terms = self.progressives[name]
        if hand not in terms.pays:
            return {"refused": "unknown-hand"}
        at = (table, round_, seat, name)
        if any((h.table, h.round, h.seat, h.progressive) == at for h in self.hits if h.stands):
            return {"refused": "duplicate-hit"}
        wagering = [
            each
            for lock in self._locks(table, round_)
            if lock.progressive == name
            for each in lock.seats
        ]
        envy = self._envy(table, round_, seat, hand, wagering, terms)
        wins = seat in wagering and (terms.folded_hands_qualify or not folded)  # 6.5
        if not wins and not envy:
            return {"refused": "no-wager"}
        self._accept(table)
        hit = PlainHit(len(self.hits) + 1, self.now, table, round_, seat, name, "pending")
        hit.envy = envy
        said: Said = self._award(hit, hand, terms) if wins else {"line": False}
        self.hits.append(hit)
        if said.pop("full", False):
            said["seeding"] = self._reseed(hit)
        return said | {
            "hit": hit.number,
            "progressive": name,
            "amount": hit.amount,
            "taken": hit.taken,
            "from": hit.source,
            "status": hit.standing,
            "envy": hit.envy,
            "meters": {name: self.shown(name)},
        }

    def _envy(
        self,
        table: str,
        round_: int,
        seat: int,
        hand: str,
        wagering: list[int],
        terms: PlainTerms,
    ) -> list[tuple[int, int]]:
        """6: for every other player with a wager; one player's seats are one player."""
        players: dict[int, str] = {}
        for lock in self._locks(table, round_):
            players |= lock.players
        own = [each for each in wagering if each in players and players[each] == players.get(seat)]
        others = [each for each in sorted(wagering) if each != seat and each not in own]
        return [(each, terms.envy[hand]) for each in others] if hand in terms.envy else []

    def _award(self, hit: PlainHit, hand: str, terms: PlainTerms) -> Said:
        line, name = terms.pays[hand], hit.progressive
        hit.level = line.level
        meter = self.shown(name).get(line.level or "")
        generation = None if line.level is None else self.generation(name, line.level)
        if line.percent is not None:
            hit.amount = floor(self.primary[name, line.level or ""] * line.percent / 100)  # 4.3
            hit.full = line.percent == 100
        else:
            hit.amount = line.amount
        hit.taken = 0 if meter is None else min(hit.amount, meter)  # 4.4
        measure = meter if meter is not None else next(iter(self.shown(name).values()))
        if terms.hand_pay == "full":  # 4.6
            by_hand = hit.full
        elif terms.hand_pay == "percentage":
            by_hand = line.percent is not None
        elif line.percent is not None:
            by_hand = line.percent >= 10
        else:
            by_hand = Fraction(hit.amount) >= Fraction(measure, 10)
        hit.source = "hand pay" if by_hand else "table"
        covered = "all" in terms.validate or hand in terms.validate
        if not (line.percent is not None or by_hand or hand in terms.envy or covered):  # 4.5
            hit.standing = "paid"
        if line.level is not None:
            self.primary[name, line.level] -= hit.taken
        return {
            "line": True,
            "level": line.level,
            "meter": meter,
            "generation": generation,
            "full": hit.full,
        }

    def _reseed(self, hit: PlainHit) -> tuple[Fraction, Fraction]:
        """5, of the level that the hit has just emptied."""
        assert hit.level is not None
        key = (hit.progressive, hit.level)
        terms = self.progressives[hit.progressive].levels[hit.level]
        fraction, reserve = self.primary[key], self.reserve[key]
        house = max(ZERO, terms.reseed - reserve)
        primary, rest = fraction + reserve + house, ZERO
        if terms.cap is not None and primary > terms.cap:
            primary, rest = Fraction(terms.cap), primary - terms.cap
        self.primary[key], self.reserve[key] = primary, rest
        hit.from_house, hit.from_reserve = house, reserve - rest
        hit.owed = [hit.from_reserve, hit.from_house]
        return house, reserve - rest

    # 7

    def _settling(self, number: int) -> PlainHit | Said:
        if number > len(self.hits):
            return {"refused": "unknown-hit"}
        hit = self.hits[number - 1]
        return hit if hit.standing == "pending" else {"repeated": number}

    def confirm(self, number: int) -> Said:
        hit = self._settling(number)
        if isinstance(hit, dict):
            return hit
        self.now += 1
        hit.standing = "paid"
        self._give_up(hit)
        return {"hit": number, "amount": hit.amount, "from": hit.source, "envy": hit.envy}

    def deny(self, number: int) -> Said:
        hit = self._settling(number)
        if isinstance(hit, dict):
            return hit
        self.now += 1
        hit.standing = "denied"
        back = (ZERO, ZERO)
        later = []
        if hit.level is not None:
            self.primary[hit.progressive, hit.level] += hit.taken
            back = self._take_seedings_back(hit.progressive, hit.level)
            later = [each.number for each in self._of_level(hit) if each.number > number]
        self._give_up(hit)
        return {
            "hit": number,
            "taken": hit.taken,
            "house": hit.amount - hit.taken,
            "envy": hit.envy_in_all,
            "seeding": back,
            "later_hits": later,
            "meters": {hit.progressive: self.shown(hit.progressive)},
        }

    def _of_level(self, hit: PlainHit) -> list[PlainHit]:
        """The hits of the same level that stand."""
        key = (hit.progressive, hit.level)
        return [each for each in self.hits if (each.progressive, each.level) == key and each.stands]

    def _take_seedings_back(self, name: str, level: str) -> tuple[Fraction, Fraction]:
        """7.2: house's and reserve's shares, newest first, down to a full award that stands."""
        key, back = (name, level), [ZERO, ZERO]
        fulls = [hit for hit in self.hits if (hit.progressive, hit.level) == key and hit.full]
        for full in reversed(fulls):
            if full.stands:
                break
            reserve, house = full.owed
            reserve = min(reserve, self.primary[key])
            reserve = max(reserve, -self.reserve[key])
            self.primary[key] -= reserve
            self.reserve[key] += reserve
            house = min(house, self.primary[key])
            self.primary[key] -= house
            self.taken_back[name] += house
            full.owed = [full.owed[0] - reserve, full.owed[1] - house]
            back = [back[0] + house, back[1] + reserve]
            if full.owed != [ZERO, ZERO]:
                break
        return back[0], back[1]

    def _give_up(self, hit: PlainHit) -> None:
        """What is owed stays owed only while an award of the level may still be denied."""
        if not any(each.standing == "pending" for each in self._of_level(hit)):
            for each in self.hits:
                if (each.progressive, each.level) == (hit.progressive, hit.level):
                    each.owed = [ZERO, ZERO] if not each.stands else each.owed

    # 8

    def void(self, table: str, seq: int, round_: int) -> Said:
        if (out_of_turn := self._sequence(table, seq)) is not None:
            return out_of_turn
        locks = self._locks(table, round_)
        if self._closed(table, round_) or not locks:
            return {"refused": "round-closed"}
        if any((hit.table, hit.round) == (table, round_) for hit in self.hits if hit.stands):
            return {"refused": "round-settled"}
        self._accept(table)
        returned = [back for lock in locks for back in self._return(lock)]
        names = [lock.progressive for lock in locks]
        amounts = {
            lock.progressive: self.progressives[lock.progressive].wager * len(lock.seats)
            for lock in locks
        }
        return {
            "amounts": amounts,
            "returned": returned,
            "meters": {name: self.shown(name) for name in names},
        }

    def _return(self, lock: PlainLock) -> list[tuple[str, str, Fraction, Fraction, Fraction]]:
        lock.voided = True
        returned = []
        for level, (primary, reserve) in lock.shares.items():
            key = (lock.progressive, level)
            paid_since = any(
                hit.full and hit.stands and hit.when > lock.when
                for hit in self.hits
                if (hit.progressive, hit.level) == key
            )
            out = ZERO if paid_since else min(primary, self.primary[key])
            out_of_reserve = ZERO if paid_since else min(reserve, self.reserve[key])
            self.primary[key] -= out
            self.reserve[key] -= out_of_reserve
            lost = primary + reserve - out - out_of_reserve
            lock.lost += lost
            returned.append((*key, out, out_of_reserve, lost))
        return returned
