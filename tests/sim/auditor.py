"""The independent auditor: what the durable rows say, recomputed in the plainest way.

It sees each row when it becomes durable and never before. Whatever the daemon says is compared with
what stands here at that moment; the amounts come from the plain model of the rules, which shares no
code with the fold.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections import Counter
from fractions import Fraction
from typing import Any

from jackpotd.record.rows import Row, fold
from meters.books import postings
from meters.floor import Floor
from meters.money import UNITS_PER_MINOR
from tests.audit import said
from tests.builders import as_json
from tests.plain_books import accounts
from tests.plain_model import PlainProperty, Said
from tests.sim.house import House
from tests.sim.journal import first, rows_in
from tests.sim.violation import Violation, demand

Meters = dict[str, dict[str, int]]


class Auditor:
    """What is durable. Lists by row number have what stood after that row, from 0 on.

    `answers` and `requests` have what a table is due to hear for a seq, and the content of what it
    sent; `hits` what anybody is told of a hit; `settled` the row and the reply that ended it.
    """

    def __init__(self, house: House) -> None:
        self.plain = PlainProperty(dict(house.seats))
        self.floor = Floor()
        self.rows: list[Row] = []
        self.shown: list[Meters] = [{}]
        self.generations: list[Meters] = [{}]
        self.answers: dict[tuple[str, int], Said] = {}
        self.requests: dict[tuple[str, int], Said] = {}
        self.hits: dict[int, Said] = {}
        self.settled: dict[int, tuple[int, Said]] = {}
        self.kinds: Counter[str] = Counter()
        self._house = house
        self._books: Counter[str] = Counter()
        self._tables: dict[str, list[tuple[int, Said]]] = {}
        for table in house.seats:
            self._tables[table] = [(0, self._table(table))]

    @property
    def number(self) -> int:
        """The number of the last durable row."""
        return len(self.rows)

    @property
    def last_hash(self) -> bytes:
        """The hash that the next row is chained to."""
        return self.rows[-1].hash if self.rows else first()

    def durable(self, content: bytes) -> None:
        """Take one transaction, which is durable from now on."""
        for row in rows_in(content):
            self._take(row)

    def table(self, name: str, number: int) -> Said:
        """Return how a table stood after a row, as a welcome tells it."""
        states = self._tables[name]
        return states[bisect_right(states, number, key=lambda state: state[0]) - 1][1]

    def check(self) -> None:
        """Recompute every balance and every account (rules 11, 12)."""
        for name, progressive in self.floor.progressives.items():
            for level in progressive.levels:
                key = (name, level.terms.name)
                same = (
                    self.plain.primary[key] * UNITS_PER_MINOR == level.primary_units
                    and self.plain.reserve[key] * UNITS_PER_MINOR == level.reserve_units
                    and self.plain.generation(*key) == level.generation
                )
                demand(same, f"row {self.number}: {key} is not what the auditor has: {level}")
                demand(level.primary_units >= 0, key, "is below zero")
                demand(level.reserve_units >= 0, key, "has a reserve below zero")
        booked = {
            account: Fraction(amount, UNITS_PER_MINOR)
            for account, amount in self._books.items()
            if amount
        }
        demand(booked == accounts(self.plain), f"row {self.number}: the books differ")

    def check_floor(self, floor: Floor) -> None:
        """Compare the daemon's state with what the durable rows give."""
        demand(as_json(floor) == as_json(self.floor), "the daemon's state is not the record's")

    # One row

    def _take(self, row: Row) -> None:
        event: Said = json.loads(row.event)
        for folded in fold([row], self.floor, self.last_hash):
            entry = postings(folded.event, folded.answer, self.floor)
        self.rows.append(row)
        demand(sum(each.amount_units for each in entry) == 0, row, "does not balance")
        for each in entry:
            self._books[each.account] += each.amount_units
        self.kinds[row.kind] += 1
        ours = self._by_the_model(row, event)
        if ours is not None:
            demand("refused" not in ours and "repeated" not in ours, row, "is on record:", ours)
            demand(said(folded.answer) == ours, row, "should be", ours)
            self._note(row, event, ours)
        self._keep(ours or {})
        for table in self._touched(row, event):
            self._tables[table].append((row.number, self._table(table)))

    def _touched(self, row: Row, event: Said) -> list[str]:
        if row.kind == "open":
            return list(event["terms"]["tables"])
        if row.kind in ("confirm", "deny"):
            return [self.hits[event["hit"]]["table"]]
        return [row.table] if row.table else []

    def _by_the_model(self, row: Row, event: Said) -> Said | None:
        plain, at = self.plain, (row.table, row.seq, event.get("round", 0))
        named = event.get("progressive")
        match row.kind:
            case "table":
                return None
            case "open":
                name = event["terms"]["name"]
                return plain.open(name, self._house.plain[name])
            case "wager":
                players = {int(seat): who for seat, who in event.get("players", {}).items()}
                return plain.wager(*at, list(event["seats"]), named, players)
            case "hit":
                folded = event.get("folded", False)
                return plain.hit(*at, event["seat"], event["hand"], named, folded)
            case "void":
                return plain.void(*at)
            case "confirm":
                return plain.confirm(event["hit"])
            case "deny":
                return plain.deny(event["hit"])
        raise Violation(f"{row} is of no known kind")

    def _keep(self, ours: Said) -> None:
        shown, generations = dict(self.shown[-1]), dict(self.generations[-1])
        for name, levels in ours.get("meters", {}).items():
            shown[name] = levels
            generations[name] = {level: self.plain.generation(name, level) for level in levels}
        self.shown.append(shown)
        self.generations.append(generations)

    def _table(self, table: str) -> Said:
        plain = self.plain
        round_ = plain.round(table)
        return {
            "next_seq": plain.accepted[table] + 1,
            "round": round_,
            "locked": [
                lock.progressive
                for lock in plain.locks
                if (lock.table, lock.round) == (table, round_) and not lock.voided
            ],
            "pending": [hit.number for hit in plain.pending(table=table)],
            "progressives": [name for name in plain.progressives if name in self._house.at(table)],
        }

    # What is due to be said of it

    def _note(self, row: Row, event: Said, ours: Said) -> None:
        head = {"table": row.table, "seq": row.seq, "round": event.get("round")}
        key = (row.table, row.seq)
        if row.seq:
            demand(key not in self.requests, key, "is on record twice")
            self.requests[key] = event
        meters = {"meters": ours.get("meters")}
        match row.kind:
            case "wager":
                about = {name: ours[name] for name in ("progressive", "amount")}
                self.answers[key] = {
                    "type": "accepted", **head, **about, "seats": event["seats"], **meters
                }
            case "hit":
                award = self._award(event, ours)
                demand(ours["hit"] not in self.hits, f"hit {ours['hit']} is awarded twice")
                self.hits[ours["hit"]] = {
                    "sequence": row.number, "table": row.table, "round": event["round"], **award
                }
                del award["level"]
                self.answers[key] = {"type": "award", **head, **award, **meters}
            case "void":
                amount = sum(ours["amounts"].values())
                self.answers[key] = {"type": "voided", **head, "amount": amount, **meters}
            case "confirm" | "deny":
                self._settle(row, event, ours)

    def _award(self, event: Said, ours: Said) -> Said:
        award: Said = {name: ours[name] for name in ("progressive", "hit", "amount", "status")}
        award |= {"seat": event["seat"], "hand": event["hand"], "level": None}
        award["from"] = ours["from"]
        award["envy"] = [{"seat": seat, "amount": amount} for seat, amount in ours["envy"]]
        if ours["line"]:
            line = self._house.terms[ours["progressive"]].pays[event["hand"]]
            award["line"] = line.text
            if ours["level"] is not None:
                award |= {"level": ours["level"], "meter": ours["meter"]}
        return award

    def _settle(self, row: Row, event: Said, ours: Said) -> None:
        hit = event["hit"]
        demand(hit not in self.settled, f"hit {hit} is settled twice")
        reply: Said = {"hit": hit, "by": event["by"]}
        if row.kind == "confirm":
            envy = [{"seat": seat, "amount": amount} for seat, amount in ours["envy"]]
            reply |= {"type": "confirmed", "amount": ours["amount"], "envy": envy}
        else:
            reply |= {"type": "denied"}
            reply |= {name: ours[name] for name in ("later_hits", "meters")}
        self.settled[hit] = (row.number, reply)

    def standing(self, hit: int) -> str:
        """Return "pending", "paid" or "denied"."""
        return self.plain.hits[hit - 1].standing

    def waiting(self, **where: Any) -> list[int]:
        """Return the pending hits, of a table if one is named."""
        return [hit.number for hit in self.plain.pending(**where)]
