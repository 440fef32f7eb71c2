"""Group commit: apply an event, append it, and only then answer and publish.

While one batch is being written the next one fills. If a write fails, nothing of it is answered
but `unavailable`, the state goes back to what the record says, and the queue tries the store
again until it can be written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from twisted.internet.defer import Deferred, succeed
from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure

from jackpotd.recall import recalled
from jackpotd.record.batch import Batch, HitOnRecord, HitRow, Loaded, Lookup
from jackpotd.record.journal import Journal
from jackpotd.record.rows import Row, draft
from jackpotd.record.sqlite import snapshot_of
from meters.events import Event
from meters.floor import Floor
from meters.outcomes import Answer, Awarded, Code, Confirmed, Denied, Refused, Repeated

SNAPSHOT_ROWS = 10_000
"""Rows between two snapshots: what start-up folds at most, and a look-up reads."""

MAX_WAITING = 20_000
"""Messages waiting for the store, past which new ones are refused as overloaded."""

HIGH_WATER = 8_192
"""Messages waiting for the store, past which connections are to be read no further for now."""

MAX_BATCH = 2_048
"""Messages in one transaction, so that the first of a flood does not wait for the last."""

RETRY_SECONDS = 1.0
"""How long the queue waits before it tries an unwritable store again."""

Deliver = Callable[[Event, Answer | Refused], None]


class Committed(NamedTuple):
    """One durable row: what happened and what followed."""

    number: int
    at_ms: int
    event: Event
    answer: Answer


class Audience(Protocol):
    """Who is told of what is durable, and of how the store does."""

    def committed(self, rows: Sequence[Committed], seconds: float) -> None:
        """Rows are durable; writing them took so many seconds."""

    def store_lost(self, why: str) -> None:
        """The store can't be written."""

    def store_back(self, loaded: Loaded) -> None:
        """The store can be written again, and says this."""


@dataclass(slots=True)
class _Waiting:
    """A message that was applied: `answer` is None until a look-up brings it."""

    deliver: Callable[[Any, Any], None]
    event: Event | None = None
    answer: Answer | Refused | None = None


@dataclass(slots=True)
class _OpenBatch:
    waiting: list[_Waiting] = field(default_factory=list)
    rows: list[Committed] = field(default_factory=list)
    batch: Batch = field(default_factory=Batch)


class CommitQueue:
    """Takes events one after the other and answers each when it is durable.

    `floor` is the state with what was taken, durable or not yet; `writable` whether the store can
    be written; `waiting` how many messages wait for it.
    """

    def __init__(
        self,
        *,
        loaded: Loaded,
        journal: Journal,
        clock: IReactorTime,
        now_ms: Callable[[], int],
        audience: Audience,
    ) -> None:
        self.floor: Floor = loaded.floor
        self.writable = True
        self.waiting = 0
        self._journal = journal
        self._clock = clock
        self._now_ms = now_ms
        self._audience = audience
        self._at_ms = loaded.at_ms
        self._snapshot_number = self.floor.number
        self._filling: list[_OpenBatch] = []
        self._writing: _OpenBatch | None = None
        self._due = False
        self._wanting_room: list[Callable[[], None]] = []
        self._spoiled = False
        self._stopping = False
        self._stopped: Deferred[None] | None = None

    @property
    def full(self) -> bool:
        """Whether so much waits that nothing more should be read for now."""
        return self.waiting >= HIGH_WATER

    def when_room(self, call: Callable[[], None]) -> None:
        """Call back once, when the queue is no longer full; in the order of the calls."""
        self._wanting_room.append(call)

    def submit(self, event: Event, deliver: Deliver) -> None:
        """Apply an event; `deliver` gets the answer when it is durable, or the refusal."""
        if self._stopping:
            refused = _unavailable("the daemon is stopping: ask again when it is back")
            self._queue(_Waiting(deliver, event, refused))
        elif not self.writable:
            refused = _unavailable("the record can't be written just now: ask again")
            self._queue(_Waiting(deliver, event, refused))
        elif self.waiting >= MAX_WAITING:
            message = f"{MAX_WAITING} messages wait for the store: ask again"
            self._queue(_Waiting(deliver, event, Refused(code=Code.OVERLOADED, message=message)))
        else:
            self._apply(event, deliver)

    def in_turn(self, deliver: Callable[[], None]) -> None:
        """Call back when everything submitted so far has been answered."""
        if self._writing is None and not self._filling:
            deliver()
        else:
            self._queue(_Waiting(lambda event, answer: deliver()))

    def stop(self) -> Deferred[None]:
        """Refuse new events, finish what was taken, then fire."""
        self._stopping = True
        if self._writing is None and not self._filling:
            return succeed(None)
        self._stopped = Deferred()
        return self._stopped

    def _apply(self, event: Event, deliver: Deliver) -> None:
        open_batch = self._room()
        at_ms = max(self._now_ms(), self._at_ms)
        waiting = _Waiting(deliver, event)
        self._put(open_batch, waiting)
        try:
            outcome = self.floor.apply(event, at_ms)
        except Exception:
            self._spoil("the fold failed")
            waiting.answer = _unavailable("this message could not be taken: ask again")
            return
        if isinstance(outcome, Refused):
            waiting.answer = outcome
            return
        if isinstance(outcome, Repeated):
            lookup = Lookup(table=outcome.table, seq=outcome.seq, hit=outcome.hit)
            open_batch.batch.lookups.append(lookup)
            return
        self._at_ms = at_ms
        number = self.floor.number
        waiting.answer = outcome
        open_batch.rows.append(Committed(number=number, at_ms=at_ms, event=event, answer=outcome))
        batch = open_batch.batch
        batch.drafts.append(draft(number, at_ms, event, outcome))
        if isinstance(outcome, Awarded):
            batch.hits.append(
                HitRow(
                    hit=outcome.hit,
                    row=number,
                    progressive=outcome.progressive,
                    level=outcome.level,
                )
            )
        elif isinstance(outcome, Confirmed | Denied):
            batch.settled.append((number, outcome.hit))

    def _queue(self, waiting: _Waiting) -> None:
        self._put(self._room(), waiting)

    def _put(self, open_batch: _OpenBatch, waiting: _Waiting) -> None:
        open_batch.waiting.append(waiting)
        self.waiting += 1
        if self._writing is None and not self._due:
            # In the reactor's next turn, so that all that came in this one shares the write.
            self._due = True
            self._clock.callLater(0, self._turn)

    def _room(self) -> _OpenBatch:
        if not self._filling or len(self._filling[-1].waiting) >= MAX_BATCH:
            self._seal()
            self._filling.append(_OpenBatch())
        return self._filling[-1]

    def _seal(self) -> None:
        # A snapshot is the state after a batch's last row, so it is taken while that is the state.
        due = self.floor.number - self._snapshot_number >= SNAPSHOT_ROWS and not self._spoiled
        if due and self._filling and self._filling[-1].batch.drafts:
            self._filling[-1].batch.snapshot = snapshot_of(self.floor)
            self._snapshot_number = self.floor.number

    def _turn(self) -> None:
        self._due = False
        if self._writing is not None or not self._filling:
            return
        self._write_next()
        if self._writing is None:
            # Nothing of it is for the record: only refusals and turns.
            self._deliver(self._filling.pop(0), [])

    def _write_next(self) -> None:
        # A journal never answers before append() has returned.
        if not self._filling:
            return
        if len(self._filling) == 1:
            self._seal()
        batch = self._filling[0].batch
        if not batch.drafts and not batch.lookups:
            return
        self._writing = self._filling.pop(0)
        started = self._clock.seconds()
        appended = self._journal.append(batch)
        appended.addCallbacks(
            lambda found: self._written(found, self._clock.seconds() - started), self._failed
        )
        appended.addErrback(self._broken)

    def _written(self, found: list[HitOnRecord | Row | None], seconds: float) -> None:
        assert self._writing is not None
        done, self._writing = self._writing, None
        # The next batch is written while this one is published and answered.
        self._write_next()
        if done.rows:
            try:
                self._audience.committed(done.rows, seconds)
            except Exception:
                self._spoil("what is durable could not be published")
        self._deliver(done, found)

    def _deliver(self, done: _OpenBatch, found: list[HitOnRecord | Row | None]) -> None:
        self.waiting -= len(done.waiting)
        lookups = iter(found)
        for waiting in done.waiting:
            if waiting.answer is None and waiting.event is not None:
                waiting.answer = _recalled(waiting.event, next(lookups))
            _deliver(waiting)
        self._after()

    def _after(self) -> None:
        if self._filling and self._writing is None and not self._due:
            self._due = True
            self._clock.callLater(0, self._turn)
        if not self._filling and self._writing is None:
            if self._stopped is not None:
                stopped, self._stopped = self._stopped, None
                stopped.callback(None)
            elif self._spoiled:
                self._spoiled = False
                self._restore()
        while self._wanting_room and not self.full:
            self._wanting_room.pop(0)()

    def _failed(self, failure: Failure) -> None:
        why = failure.getErrorMessage()
        _log.error("the store is lost: {why}", why=why)
        self.writable = False
        self._audience.store_lost(why)
        self._refuse_all(f"the record can't be written just now ({why}): ask again")
        self._restore()

    def _refuse_all(self, message: str) -> None:
        assert self._writing is not None
        lost = [self._writing, *self._filling]
        self._writing, self._filling, self.waiting = None, [], 0
        for open_batch in lost:
            for waiting in open_batch.waiting:
                if waiting.event is not None:
                    waiting.answer = _unavailable(message)
                _deliver(waiting)
        self._after()

    def _restore(self) -> None:
        restored = self._journal.restore()
        restored.addCallbacks(self._restored, self._still_lost)
        restored.addErrback(self._broken)

    def _restored(self, loaded: Loaded) -> None:
        self.floor, self._at_ms = loaded.floor, loaded.at_ms
        self._snapshot_number = self.floor.number
        self.writable = True
        _log.info("the store is back at row {number}", number=self.floor.number)
        self._audience.store_back(loaded)
        self._after()

    def _still_lost(self, failure: Failure) -> None:
        self._audience.store_lost(failure.getErrorMessage())
        self._clock.callLater(RETRY_SECONDS, self._restore)

    def _broken(self, failure: Failure) -> None:
        self._spoil("the commit queue failed", failure)
        self._after()

    def _spoil(self, what: str, failure: Failure | None = None) -> None:
        # A fault of our own: the state can't be trusted any more. What was taken before is still
        # written and answered; then the state is read anew from the record.
        _log.failure(what, failure)
        self.writable, self._spoiled = False, True
        self._audience.store_lost(what)


_log = Logger()


def _deliver(waiting: _Waiting) -> None:
    # One client's fault must not keep the answers of the others.
    try:
        waiting.deliver(waiting.event, waiting.answer)
    except Exception:
        _log.failure("an answer could not be delivered")


def _recalled(event: Event, found: HitOnRecord | Row | None) -> Answer | Refused:
    try:
        return recalled(event, found)
    except Exception:
        _log.failure("an old answer could not be read")
        return _unavailable("the first answer can't be read just now: ask again")


def _unavailable(message: str) -> Refused:
    return Refused(code=Code.UNAVAILABLE, message=message)
