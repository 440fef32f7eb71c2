"""One life of the daemon: its parts wired as jackpotd.service does, on a clock of their own."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

from prometheus_client import CollectorRegistry
from twisted.internet.defer import Deferred, inlineCallbacks
from twisted.internet.task import Clock
from twisted.python.failure import Failure

from jackpotd.commit import CommitQueue
from jackpotd.metrics import Metrics
from jackpotd.opening import check_against, opening_events
from jackpotd.publish import Publisher
from jackpotd.record.journal import StoreUnavailable
from jackpotd.table_link import Pit, TableFactory
from meters.events import Event
from meters.outcomes import Answer, Code, Refused
from signage.board import Board
from signage.feed import Feed
from signage.stream import Frames
from tests.sim.disk import Disk
from tests.sim.house import House, Keys
from tests.sim.journal import PROPERTY, ClockedJournal
from tests.sim.violation import Violation

_KEYS = Keys()
_CODES = [code.value for code in Code]


class NotOpened(Exception):
    """The record could not be written while the floor was opened."""


class Life:
    """A daemon that starts at once. `dead` when it was killed: it does nothing visible then.

    `ready` when it listens, `failed` when the store let it not start, `ended` when it stopped.
    """

    def __init__(
        self,
        house: House,
        disk: Disk,
        *,
        at_s: float,
        now_ms: Callable[[], int],
        delay_s: Callable[[], float],
    ) -> None:
        self.clock = Clock()
        self.clock.rightNow = at_s
        self.ready = self.failed = self.ended = self.stopping = self.dead = False
        self._house = house
        self._now_ms = now_ms
        self.journal = ClockedJournal(disk, self.clock, delay_s)
        self._start().addErrback(self._not_started)

    @property
    def idle(self) -> bool:
        """Whether nothing waits for the record."""
        return self.ready and not (self.queue.waiting or self.journal.busy)

    @inlineCallbacks
    def _start(self) -> Generator[Deferred[Any], Any, None]:
        config = self._house.config
        loaded = yield self.journal.open()
        check_against(config, loaded.floor)
        metrics = Metrics(
            CollectorRegistry(),
            version="1",
            codes=_CODES,
            seconds=lambda: self._now_ms() * 0.001,
        )
        self.board = Board(
            property_title=PROPERTY, currency=config.currency, signs=dict(config.signs)
        )
        publisher = Publisher(
            config=config, board=self.board, metrics=metrics, journal=self.journal
        )
        yield publisher.show_all(loaded)
        self.queue = CommitQueue(
            loaded=loaded,
            journal=self.journal,
            clock=self.clock,
            now_ms=self._now_ms,
            audience=publisher,
        )
        for event in list(opening_events(config, self.queue.floor)):
            answer = yield self._submitted(event)
            if isinstance(answer, Refused):
                raise NotOpened(answer.message)
        for name in config.progressives:
            publisher.show_progressive(self.queue.floor, name)
        self.feed = Feed(self.clock, self.board, now_ms=self._now_ms)
        self.frames = Frames(self.board)
        self.pit = Pit(
            property_name=PROPERTY,
            queue=self.queue,
            principals=_KEYS,
            feed=self.feed,
            metrics=metrics,
            clock=self.clock,
        )
        self.factory = TableFactory(self.pit)
        self.ready = True

    def _submitted(self, event: Event) -> Deferred[Answer | Refused]:
        answered: Deferred[Answer | Refused] = Deferred()
        self.queue.submit(event, lambda _, answer: answered.callback(answer))
        return answered

    def _not_started(self, failure: Failure) -> None:
        self.failed = True
        if failure.check(StoreUnavailable, NotOpened) is None:
            raise Violation(f"the daemon doesn't start: {failure.getTraceback()}")

    def stop(self) -> None:
        """Stop as SIGTERM does: finish what was taken, answer it, hang up."""
        self.stopping = True
        self._stop().addErrback(self._not_stopped)

    @inlineCallbacks
    def _stop(self) -> Generator[Deferred[Any], Any, None]:
        yield self.queue.stop()
        self.feed.end_all()
        yield self.pit.hang_up()
        yield self.journal.close()
        self.ended = True

    def _not_stopped(self, failure: Failure) -> None:
        self.ended = True
        if failure.check(StoreUnavailable) is None:
            raise Violation(f"the daemon doesn't stop: {failure.getTraceback()}")
