"""The proof of a record: all that was acknowledged is in it, once, and adds up."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from jackpotd import config
from jackpotd.accounts.entries import Entry, entries
from jackpotd.accounts.export import csv_ledger
from jackpotd.accounts.gaming_day import GamingDays
from jackpotd.accounts.reconcile import reconcile
from jackpotd.accounts.verify import verify
from jackpotd.config import Config
from jackpotd.record.rows import RecordError
from jackpotd.record.sqlite import SqliteRecord
from jackpotd.replies import line, reply_to
from meters.events import Confirm, Deny, Hit, Void, Wager
from meters.floor import Floor
from tests.torture.house import House
from tests.torture.load import Load
from tests.torture.violation import Violation, demand

KINDS = ("wager", "hit", "void", "confirm", "deny")
CENT = Decimal("0.01")
Key = tuple[str, int]
"""Who asked what: a table and its seq; or "settled" and a hit."""


@dataclass(slots=True)
class Acknowledged:
    """All that was ever answered: `replies` by key, and what is known of each kind of message."""

    replies: dict[Key, bytes] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    shown: dict[int, dict[str, dict[str, int]]] = field(default_factory=dict)
    shown_hits: dict[int, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, load: Load) -> Acknowledged:
        """Collect what the peers of a load know."""
        found = cls(shown=load.watcher.shown, shown_hits=load.watcher.hits)
        for peer in load.tables:
            for seq, reply in peer.answers.items():
                found.replies[peer.name, seq] = reply
        for index, reply in load.floor.answers.items():
            asked = json.loads(load.floor.asked[index - 1])
            found.replies["settled", asked["hit"]] = reply
        for asker in load.askers:
            found.asked.update(json.loads(message)["type"] for message in asker.asked)
        return found


class Search:
    """Looks for what was acknowledged in a record that is read row by row."""

    def __init__(self, acknowledged: Acknowledged) -> None:
        self._missing = dict(acknowledged.replies)
        self._shown = dict(acknowledged.shown)
        self._hits = dict(acknowledged.shown_hits)
        self.rows: Counter[str] = Counter()
        self.days: list[str] = []

    def through(self, found: Iterable[Entry], floor: Floor) -> Iterator[Entry]:
        """Pass entries on, looking at each; `floor` is what they are folded into."""
        for entry in found:
            self._look(entry, floor)
            yield entry

    def finish(self) -> None:
        """Raise Violation if something was not found."""
        for (who, number), reply in self._missing.items():
            raise Violation(f"lost: {who} {number} was acknowledged with {reply!r}")
        for sequence in self._shown:
            raise Violation(f"a display showed sequence {sequence}, which the record doesn't have")
        for hit in self._hits:
            raise Violation(f"a display showed hit {hit}, which the record doesn't have")

    def _look(self, entry: Entry, floor: Floor) -> None:
        number, event = entry.row.number, entry.event
        self.rows[entry.row.kind] += 1
        if not self.days or self.days[-1] != entry.day.isoformat():
            self.days.append(entry.day.isoformat())
        if isinstance(event, Wager | Hit | Void | Confirm | Deny):
            key = (
                ("settled", event.hit)
                if isinstance(event, Confirm | Deny)
                else (event.table, event.seq)
            )
            reply = line(reply_to(event, entry.answer))
            acknowledged = self._missing.pop(key, reply)
            demand(
                reply == acknowledged,
                f"row {number} answers {reply!r}, but acknowledged was {acknowledged!r}",
            )
            self._look_at_hit(reply)
        shown = self._shown.pop(number, None)
        if shown is not None:
            stood = {name: each.shown() for name, each in floor.progressives.items()}
            demand(
                shown == stood,
                f"a display showed {shown} at sequence {number}, where the record has {stood}",
            )

    def _look_at_hit(self, reply: bytes) -> None:
        found = json.loads(reply)
        shown = self._hits.pop(found["hit"], None) if found["type"] == "award" else None
        if shown is not None:
            facts = ["table", "round", "seat", "hand", "amount"]
            if found["status"] == "paid":  # what waits may have been settled when it is shown
                facts.append("status")
            for fact in facts:
                demand(shown[fact] == found[fact], f"a display showed {shown} for {found}")


@contextmanager
def record_at(path: Path, loaded: Config, *, read_only: bool) -> Iterator[SqliteRecord]:
    """Open a record."""
    record = SqliteRecord(
        path,
        property_name=loaded.property,
        currency=loaded.currency.code,
        read_only=read_only,
    )
    try:
        yield record
    finally:
        record.close()


def prove(house: House, load: Load) -> Search:
    """Verify, reconcile and export the record of a house whose load is at rest.

    Raises Violation at the first thing that is not as it was acknowledged.
    """
    loaded = config.load(house.config)
    acknowledged = Acknowledged.of(load)
    with record_at(house.store, loaded, read_only=True) as record:
        search = _proved(record, loaded, acknowledged)
        for kind in KINDS:
            demand(
                search.rows[kind] == acknowledged.asked[kind],
                f"{acknowledged.asked[kind]} messages of kind {kind} were sent and answered, and "
                f"the record has {search.rows[kind]}",
            )
        floor = Floor()
        found = entries(record.rows(), floor, record.start_hash(), _days(loaded))
        _compare_export("".join(csv_ledger(found, currency=loaded.currency)), acknowledged)
    return search


def prove_copy(path: Path, house: House, load: Load) -> None:
    """Open a copy of a record as the daemon does after a power cut, and look for everything.

    Not everything that was sent needs to be in it.
    """
    loaded = config.load(house.config)
    try:
        with record_at(path, loaded, read_only=False) as record:
            record.load()
            _proved(record, loaded, Acknowledged.of(load))
    except RecordError as error:
        raise Violation(f"after the cut the record can't be opened: {error}") from error


def _proved(record: SqliteRecord, loaded: Config, acknowledged: Acknowledged) -> Search:
    days = _days(loaded)
    floor = Floor()
    search = Search(acknowledged)
    try:
        verify(record, record.rows(), days)
        found = entries(record.rows(), floor, record.start_hash(), days)
        for report in reconcile(search.through(found, floor), floor):
            for difference in report.differences(loaded.currency):
                raise Violation(f"it doesn't reconcile: {report.day}: {difference}")
    except RecordError as error:
        raise Violation(f"it doesn't verify: {error}") from error
    search.finish()
    return search


def _days(loaded: Config) -> GamingDays:
    return GamingDays(loaded.timezone, loaded.gaming_day)


def _compare_export(text: str, acknowledged: Acknowledged) -> None:
    """Compare the exported ledger with what the tables and the floor were told."""
    sums: defaultdict[tuple[str, str], Decimal] = defaultdict(Decimal)
    hits: defaultdict[int, Decimal] = defaultdict(Decimal)
    entries_of_hit: defaultdict[int, set[str]] = defaultdict(set)
    for each in csv.DictReader(io.StringIO(text)):
        amount = Decimal(each["amount"])
        sums[each["kind"], each["account"]] += amount
        if each["kind"] == "hit":
            entries_of_hit[int(each["hit"])].add(each["entry"])
            # Pending awards wait among the liabilities, others are paid from the table.
            waits = each["account"].endswith(":Awards") and amount < 0
            if waits or each["account"].startswith("Assets:"):
                hits[int(each["hit"])] -= amount
    told = _told(acknowledged)
    for progressive, (accepted, voided) in told.wagers.items():
        account = f"Income:Progressive:{progressive}:Wagers"
        _same(f"accepted wagers of {progressive}", -sums["wager", account], accepted)
        _same(f"void wagers of {progressive}", sums["void", account], voided)
    _same("hand pays", -sums["confirm", "Assets:Cage"], told.hand_pays)
    for hit, award in told.awards.items():
        _same(f"the award and Envy of hit {hit}", hits[hit], award)
    for hit, found in entries_of_hit.items():
        demand(len(found) == 1, f"hit {hit} was awarded {len(found)} times")
    demand(set(entries_of_hit) <= set(told.awards), "the ledger has hits that nobody was told of")


@dataclass(slots=True)
class _Told:
    """What the peers were told, in minor units: wagers accepted and voided, awards, hand pays."""

    wagers: dict[str, tuple[int, int]]
    awards: dict[int, int]
    hand_pays: int


def _told(acknowledged: Acknowledged) -> _Told:
    accepted: Counter[str] = Counter()
    voided: Counter[str] = Counter()
    of_round: defaultdict[tuple[str, int], Counter[str]] = defaultdict(Counter)
    awards: dict[int, dict[str, Any]] = {}
    hand_pays = 0
    replies = [json.loads(reply) for reply in acknowledged.replies.values()]
    for reply in replies:
        if reply["type"] == "accepted":
            accepted[reply["progressive"]] += reply["amount"]
            of_round[reply["table"], reply["round"]][reply["progressive"]] += reply["amount"]
        elif reply["type"] == "award":
            awards[reply["hit"]] = reply
    for reply in replies:
        if reply["type"] == "voided":
            returned = of_round[reply["table"], reply["round"]]
            demand(returned.total() == reply["amount"], f"a void returns something else: {reply}")
            voided.update(returned)
        elif reply["type"] == "confirmed" and awards[reply["hit"]]["from"] == "hand pay":
            hand_pays += reply["amount"]
    return _Told(
        wagers={each: (accepted[each], voided[each]) for each in accepted},
        awards={
            hit: award["amount"] + sum(envy["amount"] for envy in award["envy"])
            for hit, award in awards.items()
        },
        hand_pays=hand_pays,
    )


def _same(what: str, found: Decimal, told_minor: int) -> None:
    demand(found == told_minor * CENT, f"{what}: told {told_minor} cents, the ledger has {found}")
