"""Judges each line that the daemon says, at the moment it says it, by what is durable then."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.sim.asked import ANSWERS, NOT_NOW, RETRY, Asked
from tests.sim.auditor import Auditor
from tests.sim.house import House
from tests.sim.violation import Tally, demand

Reply = dict[str, Any]

_DEFAULTS: dict[str, object] = {"players": {}, "folded": False, "cards": [], "progressive": None}


class Referee:
    """Knows the durable record and the first bytes of each answer, over all lives of the daemon."""

    def __init__(self, house: House, auditor: Auditor, tally: Tally) -> None:
        self._house = house
        self._auditor = auditor
        self._tally = tally
        self._first: dict[object, bytes] = {}
        self._refused: dict[str, Callable[[Asked, Reply], bool]] = {
            "seq-conflict": self._conflict,
            "seq-gap": self._gap,
            "unknown-progressive": self._not_at_table,
            "bad-seat": self._bad_seat,
            "table-held": self._held,
            "round-closed": self._round_closed,
            "round-locked": self._round_locked,
            "round-settled": self._round_settled,
            "unknown-hand": self._unknown_hand,
            "duplicate-hit": self._duplicate,
            "unknown-hit": lambda asked, _: self._row_of(asked.message["hit"]) > asked.row,
            "already-denied": lambda asked, _: self._standing(asked) == "denied",
            "already-paid": lambda asked, _: self._standing(asked) == "paid",
        }

    def answered(self, asked: Asked, reply: Reply, line: bytes) -> None:
        """Judge the reply to a request."""
        heard = reply.get("code", reply["type"])
        may_hear = sorted(asked.may_hear)
        demand(heard in may_hear, asked.text, "may hear", may_hear, "and not", line)
        if reply["type"] == "error":
            self._tally[f"refused {heard}"] += 1
            self._judge_refusal(asked, reply, line)
            return
        self._tally[f"reply {heard}"] += 1
        demand(heard == ANSWERS[asked.kind], asked.text, "hears", line)
        if asked.kind == "hello":
            self._judge_welcome(asked, reply)
        elif asked.key is not None:
            self._judge_answer(asked, reply, line)
        elif asked.kind in ("confirm", "deny"):
            hit = asked.message["hit"]
            due = self._auditor.settled.get(hit, (0, {}))[1]
            demand(reply == due, line, "is said, but on record is", due)
            self._the_same(("settled", hit), line)

    # Answers

    def _judge_answer(self, asked: Asked, reply: Reply, line: bytes) -> None:
        assert asked.key is not None
        auditor, key = self._auditor, asked.key
        demand(key in auditor.answers, line, "is said, and is not durable")
        demand(reply == auditor.answers[key], line, "should be", auditor.answers[key])
        demand(_same(asked.message, auditor.requests[key]), asked.text, "is not what is on record")
        if key in self._first:
            self._tally["resend answered"] += 1
        self._the_same(key, line)

    def _the_same(self, key: object, line: bytes) -> None:
        before = self._first.setdefault(key, line)
        demand(before == line, line, "is said, and was", before)

    def _judge_welcome(self, asked: Asked, reply: Reply) -> None:
        auditor = self._auditor
        demand(tuple(reply["tables"]) == asked.tables, reply, "welcomes other tables")
        for number in range(auditor.number, asked.row - 1, -1):
            tables = {name: auditor.table(name, number) for name in asked.tables}
            if reply["tables"] == tables and reply["meters"] == auditor.shown[number]:
                return
        demand(False, reply, "was never durable; now it is row", auditor.number)

    # Refusals

    def _judge_refusal(self, asked: Asked, reply: Reply, line: bytes) -> None:
        code = reply["code"]
        demand(reply["retry"] == (code in RETRY), line)
        if asked.key is not None:
            demand((reply.get("table"), reply.get("seq")) == asked.key, line)
        judge = self._refused.get(code) if asked.kind != "garbage" else None
        demand(judge is None or judge(asked, reply), asked.text, "has no reason to hear", line)
        if code not in ("seq-conflict", "not-allowed", *NOT_NOW) and self._booked_before(asked):
            demand(False, asked.text, "was booked, and hears", line)

    def _booked_before(self, asked: Asked) -> bool:
        """Whether the very same request was durable when this one came."""
        on_record = self._auditor.requests.get(asked.key or ("", 0))
        if on_record is None or not _same(asked.message, on_record):
            return False
        rows = self._auditor.rows[: asked.row]
        return any((row.table, row.seq) == asked.key for row in rows)

    def _conflict(self, asked: Asked, reply: Reply) -> bool:
        on_record = self._auditor.requests.get(asked.key or ("", 0))
        return on_record is not None and not _same(asked.message, on_record)

    def _gap(self, asked: Asked, reply: Reply) -> bool:
        at_least = self._auditor.table(asked.message["table"], asked.row)["next_seq"]
        return bool(at_least <= reply["expected"] < asked.message["seq"])

    def _not_at_table(self, asked: Asked, reply: Reply) -> bool:
        named, there = asked.message.get("progressive"), self._house.at(asked.message["table"])
        return named not in there and (named is not None or len(there) != 1)

    def _bad_seat(self, asked: Asked, reply: Reply) -> bool:
        message = asked.message
        seats = [*message.get("seats", ()), *map(int, message.get("players", ()))]
        return bool(max([message.get("seat", 0), *seats]) > self._house.seats[message["table"]])

    def _held(self, asked: Asked, reply: Reply) -> bool:
        return any(
            self._pending_since(hit.number, asked.row)
            for hit in self._auditor.plain.hits
            if hit.table == asked.message["table"]
            and self._house.plain[hit.progressive].hold_table
        )

    def _pending_since(self, hit: int, row: int) -> bool:
        settled = self._auditor.settled.get(hit)
        if settled is None:
            return self._auditor.standing(hit) == "pending"
        return settled[0] > row

    def _round_closed(self, asked: Asked, reply: Reply) -> bool:
        table, round_ = asked.message["table"], asked.message["round"]
        plain = self._auditor.plain
        locks = [lock for lock in plain.locks if (lock.table, lock.round) == (table, round_)]
        over = round_ < plain.round(table) or any(lock.voided for lock in locks)
        # A void of a round without a lock: the lock may have come since.
        unlocked = not any(lock.when <= asked.row for lock in locks)
        return over or (asked.kind == "void" and unlocked)

    def _round_locked(self, asked: Asked, reply: Reply) -> bool:
        at = (asked.message["table"], asked.message["round"])
        plain = self._auditor.plain
        named = asked.message.get("progressive") or self._house.at(at[0])[0]
        locks = [lock for lock in plain.locks if (lock.table, lock.round) == at]
        hits = [hit for hit in plain.hits if (hit.table, hit.round) == at]
        stood = any(self._stood(hit.number, asked.row) for hit in hits)
        return stood or named in [lock.progressive for lock in locks]

    def _round_settled(self, asked: Asked, reply: Reply) -> bool:
        at = (asked.message["table"], asked.message["round"])
        hits = [hit for hit in self._auditor.plain.hits if (hit.table, hit.round) == at]
        return any(self._stood(hit.number, asked.row) for hit in hits)

    def _duplicate(self, asked: Asked, reply: Reply) -> bool:
        at = tuple(asked.message[name] for name in ("table", "round", "seat"))
        named = asked.message.get("progressive") or self._house.at(at[0])[0]
        return any(
            self._stood(hit.number, asked.row)
            for hit in self._auditor.plain.hits
            if (hit.table, hit.round, hit.seat, hit.progressive) == (*at, named)
        )

    def _stood(self, hit: int, row: int) -> bool:
        """Whether a hit stands, or did when the record was at a row."""
        return self._auditor.standing(hit) != "denied" or self._auditor.settled[hit][0] > row

    def _unknown_hand(self, asked: Asked, reply: Reply) -> bool:
        named = asked.message.get("progressive") or self._house.at(asked.message["table"])[0]
        return asked.message["hand"] not in self._house.plain[named].pays

    def _row_of(self, hit: int) -> int:
        known = self._auditor.hits.get(hit)
        return known["sequence"] if known else self._auditor.number + 1

    def _standing(self, asked: Asked) -> str:
        hit = asked.message["hit"]
        return self._auditor.standing(hit) if hit in self._auditor.hits else ""


def _same(message: Reply, on_record: Reply) -> bool:
    """Whether a request is what the record has; what stands at its default may be left out."""
    sent = {name: value for name, value in message.items() if name not in ("type", "table", "seq")}
    names = {*sent, *on_record}
    return all(
        json.dumps(sent.get(name, _DEFAULTS.get(name)), sort_keys=True)
        == json.dumps(on_record.get(name, _DEFAULTS.get(name)), sort_keys=True)
        for name in names
    )
