"""What is durable goes to the board and the metrics, and nothing else does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from twisted.internet.defer import Deferred
from twisted.logger import Logger

from jackpotd.awards import ended, on_record, shown, standing
from jackpotd.commit import Committed
from jackpotd.config import Config
from jackpotd.metrics import Metrics
from jackpotd.record.batch import HitOnRecord, Loaded
from jackpotd.record.journal import Journal
from jackpotd.record.rows import read_answer
from jackpotd.record.sqlite import SqliteRecord
from meters.events import Hit, Wager
from meters.floor import Floor
from meters.outcomes import Accepted, Awarded, Confirmed, Denied, Status
from signage.awards import Award
from signage.board import Board, ShownLevel

_log = Logger()


class Publisher:
    """The commit queue's audience."""

    def __init__(self, *, config: Config, board: Board, metrics: Metrics, journal: Journal) -> None:
        self._config = config
        self._board = board
        self._metrics = metrics
        self._journal = journal
        self._pending: dict[int, int] = {}

    def show_all(self, loaded: Loaded) -> Deferred[None]:
        """Show what the record says: every progressive, its last awards and its pending ones."""
        for name in self._config.progressives:
            self.show_progressive(loaded.floor, name)
        self._moved(loaded)
        return self._give_awards(loaded.floor)

    def show_progressive(self, floor: Floor, name: str) -> None:
        """Show a progressive that the record has; its title is the configuration's."""
        live = floor.progressives.get(name)
        if live is None:
            return
        self._board.show_progressive(
            name,
            self._config.progressives[name].terms.title,
            {
                level.terms.name: ShownLevel(
                    amount_minor=level.shown_minor, generation=level.generation
                )
                for level in live.levels
            },
        )
        self._metrics.opened(name, live.shown())

    def committed(self, rows: Sequence[Committed], seconds: float) -> None:
        """Show what a durable batch changed: the newest values once, each hit by itself."""
        meters: dict[str, Mapping[str, int]] = {}
        wagers: dict[str, int] = {}
        others: list[Committed] = []
        for row in rows:
            answer = row.answer
            if isinstance(answer, Accepted) and isinstance(row.event, Wager):
                name = answer.progressive
                meters[name] = answer.meters[name]
                wagers[name] = wagers.get(name, 0) + len(row.event.seats)
                continue
            if not isinstance(answer, Confirmed):
                meters.update(answer.meters)
            others.append(row)
        last = rows[-1]
        self._board.meters_committed(
            sequence=last.number,
            at_ms=last.at_ms,
            meters=meters,
            generations=_generations(others),
        )
        for name, levels in meters.items():
            for level, amount_minor in levels.items():
                self._metrics.meter(name, level, amount_minor)
        for name, seats in wagers.items():
            self._metrics.wager(name, seats)
        for row in others:
            self._tell(row)
        self._metrics.committed(seconds, len(rows))
        self._count_pending()

    def _tell(self, row: Committed) -> None:
        event, answer = row.event, row.answer
        if isinstance(event, Hit) and isinstance(answer, Awarded):
            self._metrics.hit(answer.progressive, answer.status.value)
            if answer.status is Status.PENDING:
                self._pending[answer.hit] = row.at_ms
            self._board.hit_committed(
                shown(number=row.number, at_ms=row.at_ms, event=event, answer=answer)
            )
        elif isinstance(answer, Confirmed | Denied):
            status = "paid" if isinstance(answer, Confirmed) else "denied"
            self._metrics.hit(answer.progressive, status)
            self._pending.pop(answer.hit, None)
            self._board.resolved_committed(ended(row.number, row.at_ms, answer))

    def _count_pending(self) -> None:
        oldest = min(self._pending.values(), default=None)
        self._metrics.pending(len(self._pending), oldest)

    def store_lost(self, why: str) -> None:
        """The signs go on showing the last durable values; operators are told."""
        self._metrics.store_writable(False)

    def store_back(self, loaded: Loaded) -> None:
        """Show what the record says: a write that failed may have reached it after all."""
        self._metrics.store_writable(True)
        self._moved(loaded)
        self._give_awards(loaded.floor).addErrback(
            lambda failure: _log.failure("the awards could not be read", failure)
        )

    def _moved(self, loaded: Loaded) -> None:
        floor = loaded.floor
        self._board.meters_committed(
            sequence=floor.number,
            at_ms=loaded.at_ms,
            meters={name: each.shown() for name, each in floor.progressives.items()},
            generations={
                name: {level.terms.name: level.generation for level in each.levels}
                for name, each in floor.progressives.items()
            },
        )

    def _give_awards(self, floor: Floor) -> Deferred[None]:
        levels = [
            (name, level.terms.name)
            for name, each in floor.progressives.items()
            for level in each.levels
        ]
        waiting = {hit: each.at_ms for hit, each in floor.pending.items()}
        settled = [hit for hit in self._pending if hit not in waiting]
        self._pending = waiting
        self._count_pending()

        def read(record: SqliteRecord) -> tuple[list[Award], list[HitOnRecord]]:
            awards = {each.hit: each for each in standing(record, levels)}
            for hit in waiting:
                found = record.hit(hit)
                award = on_record(found) if found is not None else None
                if award is not None:
                    awards[hit] = award
            ends = [found for hit in settled if (found := record.hit(hit)) is not None]
            return [awards[hit] for hit in sorted(awards)], ends

        return self._journal.read(read).addCallback(self._given)

    def _given(self, found: tuple[list[Award], list[HitOnRecord]]) -> None:
        awards, ends = found
        for award in awards:
            self._board.hit_committed(award)
        for end in ends:
            if end.settled is not None:
                answer = read_answer(end.settled)
                if isinstance(answer, Confirmed | Denied):
                    self._board.resolved_committed(
                        ended(end.settled.number, end.settled.at_ms, answer)
                    )


def _generations(rows: Sequence[Committed]) -> dict[str, dict[str, int]]:
    """Return the newest generation of each level that was won in full."""
    found: dict[str, dict[str, int]] = {}
    for row in rows:
        answer = row.answer
        if isinstance(answer, Awarded) and answer.seeding and answer.level:
            found.setdefault(answer.progressive, {})[answer.level] = (answer.generation or 0) + 1
    return found
