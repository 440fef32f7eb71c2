"""Real record files: events applied to a floor and appended, as the daemon does it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType

from jackpotd.record.batch import Batch, HitRow
from jackpotd.record.rows import draft
from jackpotd.record.sqlite import SqliteRecord, snapshot_of
from meters.events import Confirm, Deny, Event, Hit, Opened, TableSet, Void, Wager
from meters.floor import Floor
from meters.outcomes import Answer, Awarded, Confirmed, Denied, Outcome, Refused, Repeated
from meters.terms import Terms

PROPERTY = "Riverside"
CURRENCY = "USD"
SEATS = 6

_EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


def at_ms(text: str) -> int:
    """Return the milliseconds of an instant written like 2026-03-08T06:00:00.250-04:00."""
    return (datetime.fromisoformat(text) - _EPOCH) // timedelta(milliseconds=1)


def opened(
    path: Path,
    *,
    property_name: str = PROPERTY,
    currency: str = CURRENCY,
    read_only: bool = False,
) -> SqliteRecord:
    """Open the builder's record."""
    return SqliteRecord(path, property_name=property_name, currency=currency, read_only=read_only)


class RecordBuilder:
    """Writes a record: each call is an event, a millisecond after the last; seqs count themselves.

    Events are appended when `commit` is called, and when the block ends well.
    """

    def __init__(self, path: Path, *, at: str = "2026-03-01T12:00:00-05:00") -> None:
        self.path = path
        self.record = opened(path)
        loaded = self.record.load()
        self.floor: Floor = loaded.floor
        self.batch = Batch()
        self._at_ms = loaded.at_ms
        self.at(at)

    def __enter__(self) -> RecordBuilder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, _: BaseException | None, __: TracebackType | None
    ) -> None:
        try:
            if kind is None:
                self.commit()
        finally:
            self.record.close()

    def at(self, text: str) -> RecordBuilder:
        """Let the next event happen at an instant; time never falls."""
        self._at_ms = max(self._at_ms, at_ms(text))
        return self

    def commit(self, *, snapshot: bool = False) -> None:
        """Append what happened since the last time, with a snapshot of the state if wanted."""
        if snapshot:
            self.batch.snapshot = snapshot_of(self.floor)
        batch, self.batch = self.batch, Batch()
        self.record.append(batch)

    def play(self, event: Event) -> Answer:
        """Apply an event that must be accepted."""
        answer = self.attempt(event)
        assert not isinstance(answer, Refused | Repeated), answer
        return answer

    def attempt(self, event: Event) -> Outcome:
        """Apply an event; one that is refused leaves no row."""
        answer = self.floor.apply(event, self._at_ms)
        if isinstance(answer, Refused | Repeated):
            return answer
        number = self.floor.number
        self.batch.drafts.append(draft(number, self._at_ms, event, answer))
        if isinstance(answer, Awarded):
            self.batch.hits.append(
                HitRow(
                    hit=answer.hit, row=number, progressive=answer.progressive, level=answer.level
                )
            )
        elif isinstance(answer, Confirmed | Denied):
            self.batch.settled.append((number, answer.hit))
        self._at_ms += 1
        return answer

    def open(self, *progressives: Terms) -> None:
        """Set the tables and open the progressives."""
        for table in dict.fromkeys(name for terms in progressives for name in terms.tables):
            if table not in self.floor.tables:
                self.play(TableSet(table=table, game="caribbean-stud", seats=SEATS))
        for terms in progressives:
            self.play(Opened(terms=terms))

    def wager(
        self,
        table: str,
        round_: int,
        *seats: int,
        progressive: str | None = None,
        players: Mapping[int, str] | None = None,
    ) -> Answer:
        """Lock the bets of these seats."""
        return self.play(
            Wager(
                table=table,
                seq=self.seq(table),
                round=round_,
                seats=seats,
                progressive=progressive,
                players=players or {},
            )
        )

    def hit(
        self,
        table: str,
        round_: int,
        seat: int,
        hand: str,
        *,
        progressive: str | None = None,
        folded: bool = False,
        cards: tuple[str, ...] = (),
    ) -> Awarded:
        """Send a hit."""
        answer = self.play(
            Hit(
                table=table,
                seq=self.seq(table),
                round=round_,
                seat=seat,
                hand=hand,
                progressive=progressive,
                folded=folded,
                cards=cards,
            )
        )
        assert isinstance(answer, Awarded)
        return answer

    def void(self, table: str, round_: int, reason: str = "misdeal") -> Answer:
        """Void a round."""
        return self.play(Void(table=table, seq=self.seq(table), round=round_, reason=reason))

    def confirm(self, hit: int, by: str = "floor-7") -> Answer:
        """Confirm a hit."""
        return self.play(Confirm(hit=hit, by=by))

    def deny(self, hit: int, reason: str = "misread", by: str = "floor-7") -> Answer:
        """Deny a hit."""
        return self.play(Deny(hit=hit, by=by, reason=reason))

    def seq(self, table: str) -> int:
        """Return a table's next seq."""
        return self.floor.tables[table].next_seq
