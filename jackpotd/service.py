"""The daemon: record, commit queue, table port and web, wired together and taken down again."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from datetime import UTC, datetime
from typing import Any

from prometheus_client import CollectorRegistry
from twisted.internet.defer import Deferred, inlineCallbacks, maybeDeferred
from twisted.internet.interfaces import IListeningPort
from twisted.logger import Logger

from jackpotd import __version__
from jackpotd.commit import CommitQueue
from jackpotd.config import Config
from jackpotd.desk import Desk
from jackpotd.errors import JackpotdError
from jackpotd.listen import TlsFiles, endpoint
from jackpotd.listeners import ANY_HOST
from jackpotd.loopback import LoopbackOnly
from jackpotd.metrics import Metrics
from jackpotd.opening import check_against, opening_events
from jackpotd.principals import Principals
from jackpotd.publish import Publisher
from jackpotd.record.journal import JournalThread
from jackpotd.record.sqlite import SqliteRecord
from jackpotd.table_link import Pit, TableFactory
from jackpotd.tls import ServerTls
from jackpotd.web.site import make_site
from meters.events import Event
from meters.outcomes import Answer, Code, Refused
from signage.board import Board, Sign
from signage.feed import Feed

_log = Logger()


class CannotListen(JackpotdError):
    """An address is taken or isn't this host's; the message says which."""


class Daemon:
    """One property's daemon on a reactor. `now_ms` is the wall clock in UTC milliseconds.

    `stopping` once it was asked to stop.
    """

    def __init__(self, config: Config, *, reactor: Any, now_ms: Callable[[], int]) -> None:
        self.config = config
        self._reactor = reactor
        self._now_ms = now_ms
        self.stopping = False
        self._ports: list[IListeningPort] = []
        self._tls: list[ServerTls] = []
        self._principals: Principals | None = None
        self._queue: CommitQueue | None = None
        self._pit: Pit | None = None
        self._feed: Feed | None = None
        self._journal = JournalThread(self._open_record, reactor.callFromThread)

    def _open_record(self) -> SqliteRecord:
        config = self.config
        return SqliteRecord(
            config.store, property_name=config.property, currency=config.currency.code
        )

    # What /healthz and /readyz say

    def alive(self) -> bool:
        """The process answers."""
        return True

    def ready(self) -> tuple[bool, Mapping[str, bool]]:
        """Whether tables can be served, and what that rests on."""
        writable = self._queue is not None and self._queue.writable
        said = {"leader": True, "store": writable, "caught_up": self._pit is not None}
        return all(said.values()), said

    @inlineCallbacks
    def start(self) -> Generator[Deferred[Any], Any, dict[str, int]]:
        """Open the record, compare it with the configuration, then listen.

        Fires with the ports listened on, as {"tables": N, "http": N}; 0 for a Unix socket. Fails
        with JackpotdError, and then nothing listens and nothing was changed.
        """
        config = self.config
        tables_tls, http_tls = self._read_tls(config.tables_tls), self._read_tls(config.http_tls)
        loaded = yield self._journal.open()
        check_against(config, loaded.floor)
        principals = Principals.load(config.principals, config.tables, missing_ok=True)
        self._principals = principals
        metrics = Metrics(
            CollectorRegistry(),
            version=__version__,
            codes=[code.value for code in Code],
            seconds=lambda: self._now_ms() * 0.001,
        )
        board = Board(
            property_title=config.property,
            currency=config.currency,
            signs={
                name: Sign(title=sign.title, progressives=sign.progressives)
                for name, sign in config.signs.items()
            },
        )
        publisher = Publisher(config=config, board=board, metrics=metrics, journal=self._journal)
        metrics.store_writable(True)
        yield publisher.show_all(loaded)
        queue = CommitQueue(
            loaded=loaded,
            journal=self._journal,
            clock=self._reactor,
            now_ms=self._now_ms,
            audience=publisher,
        )
        self._queue = queue
        metrics.count_queue(lambda: queue.waiting)
        yield self._open_floor(queue, publisher)
        self._feed = Feed(self._reactor, board, now_ms=self._now_ms)
        self._pit = Pit(
            property_name=config.property,
            queue=queue,
            principals=principals,
            feed=self._feed,
            metrics=metrics,
            clock=self._reactor,
        )
        site = make_site(
            board=board,
            feed=self._feed,
            metrics=metrics,
            health=self,
            desk=Desk(queue=queue, journal=self._journal, principals=principals),
            reactor=self._reactor,
        )
        factory = TableFactory(self._pit)
        tables = yield self._listen(config.tables_listen, factory, tables_tls, metrics)
        http = yield self._listen(config.http_listen, site, http_tls, metrics)
        _log.info("{name} is open at row {row}", name=config.property, row=queue.floor.number)
        return {"tables": tables, "http": http}

    @inlineCallbacks
    def _open_floor(
        self, queue: CommitQueue, publisher: Publisher
    ) -> Generator[Deferred[Any], Any, None]:
        for event in list(opening_events(self.config, queue.floor)):
            answer = yield _submitted(queue, event)
            if isinstance(answer, Refused):
                raise JackpotdError(f"the record can't be written: {answer.message}")
        for name in self.config.progressives:
            publisher.show_progressive(queue.floor, name)

    @inlineCallbacks
    def _listen(
        self, address: str, factory: Any, tls: ServerTls | None, metrics: Metrics
    ) -> Generator[Deferred[Any], Any, int]:
        if tls is None and self.config.without_tls != ANY_HOST:
            factory = LoopbackOnly(factory, lambda: metrics.refused_connection("without-tls"))
        try:
            port = yield endpoint(self._reactor, address, tls).listen(factory)
        except Exception as error:
            raise CannotListen(f"can't listen on {address}: {error}") from error
        self._ports.append(port)
        return int(getattr(port.getHost(), "port", 0))

    def _read_tls(self, files: TlsFiles | None) -> ServerTls | None:
        if files is None:
            return None
        tls = ServerTls(files, now=lambda: datetime.fromtimestamp(self._now_ms() // 1000, UTC))
        self._tls.append(tls)
        return tls

    def reload(self) -> None:
        """Read keys, certificates and principals again; what can't be used stays as it was.

        New connections get what is new, and those that stand go on.
        """
        for tls in self._tls:
            tls.reload()
        if self._principals is not None:
            self._principals.reload()

    @inlineCallbacks
    def stop(self) -> Generator[Deferred[Any], Any, None]:
        """Listen no more, finish and answer what was taken, close the record."""
        self.stopping = True
        ports, self._ports = self._ports, []
        for port in ports:
            yield maybeDeferred(port.stopListening)
        if self._queue is not None:
            yield self._queue.stop()
        if self._feed is not None:
            self._feed.end_all()
        if self._pit is not None:
            yield self._pit.hang_up()
        yield self._journal.close()


def _submitted(queue: CommitQueue, event: Event) -> Deferred[Answer | Refused]:
    answered: Deferred[Answer | Refused] = Deferred()
    queue.submit(event, lambda _, answer: answered.callback(answer))
    return answered
