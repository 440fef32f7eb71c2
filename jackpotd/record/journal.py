"""The one thread that writes the record, and how the reactor's thread speaks to it."""

from __future__ import annotations

import queue
import sqlite3
import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from twisted.internet.defer import Deferred
from twisted.python.failure import Failure

from jackpotd.errors import JackpotdError
from jackpotd.record.batch import Batch, HitOnRecord, Loaded
from jackpotd.record.rows import Row
from jackpotd.record.sqlite import SqliteRecord

Result = TypeVar("Result")


class StoreUnavailable(JackpotdError):
    """The store can't be written now; it may be later, and nothing was acknowledged."""


class Journal(Protocol):
    """What the commit queue needs of a record, whatever it is kept in."""

    def append(self, batch: Batch) -> Deferred[list[HitOnRecord | Row | None]]:
        """Write a batch durably, then answer its look-ups; StoreUnavailable if it can't."""

    def restore(self) -> Deferred[Loaded]:
        """Read the state anew and prove that the store can be written again."""

    def read(self, question: Callable[[SqliteRecord], Result]) -> Deferred[Result]:
        """Ask the record something between two batches."""


class JournalThread:
    """A record that lives in a thread of its own.

    `open_record` is called in that thread; `from_thread` is the reactor's callFromThread.
    """

    def __init__(
        self,
        open_record: Callable[[], SqliteRecord],
        from_thread: Callable[..., Any],
    ) -> None:
        self._open_record = open_record
        self._from_thread = from_thread
        self._record: SqliteRecord | None = None
        self._jobs: queue.SimpleQueue[tuple[Callable[[], Any], Deferred[Any]] | None] = (
            queue.SimpleQueue()
        )
        self._thread = threading.Thread(target=self._run, name="record", daemon=True)
        self._thread.start()

    def open(self) -> Deferred[Loaded]:
        """Open the record and fold it. RecordError if it is corrupt, foreign or locked."""
        return self._ask(self._load)

    def append(self, batch: Batch) -> Deferred[list[HitOnRecord | Row | None]]:
        """Write a batch durably, then answer its look-ups; StoreUnavailable if it can't."""
        return self._ask(lambda: self._opened().append(batch))

    def restore(self) -> Deferred[Loaded]:
        """Close and open the file again, prove that it can be written, and fold it."""
        return self._ask(self._reopen)

    def read(self, question: Callable[[SqliteRecord], Result]) -> Deferred[Result]:
        """Ask the record something between two batches."""
        return self._ask(lambda: question(self._opened()))

    def close(self) -> Deferred[None]:
        """Finish what was handed over, close the file and end the thread."""
        closed = self._ask(self._close)
        self._jobs.put(None)
        return closed

    def _ask(self, job: Callable[[], Any]) -> Deferred[Any]:
        done: Deferred[Any] = Deferred()
        self._jobs.put((job, done))
        return done

    def _run(self) -> None:
        while (work := self._jobs.get()) is not None:
            job, done = work
            try:
                result = job()
            except (sqlite3.Error, OSError) as error:
                unavailable = StoreUnavailable(f"the record can't be written: {error}")
                self._from_thread(done.errback, Failure(unavailable))
            except Exception:
                self._from_thread(done.errback, Failure())
            else:
                self._from_thread(done.callback, result)

    def _opened(self) -> SqliteRecord:
        if self._record is None:
            self._record = self._open_record()
        return self._record

    def _load(self) -> Loaded:
        return self._opened().load()

    def _reopen(self) -> Loaded:
        self._close()
        record = self._opened()
        record.probe()
        return record.load()

    def _close(self) -> None:
        if self._record is not None:
            self._record.close()
            self._record = None
