"""The Twisted protocol of the table port: it moves bytes between a socket and a conversation."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from twisted.internet import defer, interfaces, protocol
from twisted.internet.interfaces import IAddress, IDelayedCall, IReactorTime
from twisted.logger import Logger
from twisted.python.failure import Failure
from zope.interface import implementer

from jackpotd.commit import CommitQueue
from jackpotd.metrics import Metrics
from jackpotd.principals import Principals
from jackpotd.replies import line, refusal, reply_to, welcome
from jackpotd.session import Answer, Conversation, Greet, Refuse, Show, Step
from jackpotd.tls import TlsError, common_name, words_of
from jackpotd.watch import Watcher
from meters.events import Confirm, Deny, Event, Hit, Void, Wager
from meters.outcomes import Answer as Answered
from meters.outcomes import Code, Refused
from signage.feed import Feed, Subscription

HELLO_SECONDS = 10
"""How long a connection may stay without a hello."""

FLUSH_SECONDS = 10
"""How long the peer of an ended connection may take to read what was said to it, and to close."""


@dataclass(slots=True, kw_only=True)
class Pit:
    """What all connections share: the queue, the keys, the feed, and who speaks for a table."""

    property_name: str
    queue: CommitQueue
    principals: Principals
    feed: Feed
    metrics: Metrics
    clock: IReactorTime
    speakers: dict[str, TableLink] = field(default_factory=dict)
    links: set[TableLink] = field(default_factory=set)
    empty: defer.Deferred[None] | None = None

    def take(self, link: TableLink, tables: tuple[str, ...]) -> None:
        """Let `link` speak for tables: an older connection of one loses it."""
        for table in tables:
            older = self.speakers.get(table)
            if older is not None and older is not link:
                older.conversation.speaks_for.discard(table)
            self.speakers[table] = link

    def left(self, link: TableLink) -> None:
        """Forget a connection that is gone."""
        self.links.discard(link)
        for table in [name for name, speaker in self.speakers.items() if speaker is link]:
            del self.speakers[table]
        if self.empty is not None and not self.links:
            empty, self.empty = self.empty, None
            empty.callback(None)

    def hang_up(self) -> defer.Deferred[None]:
        """Close every connection; fires when all are gone."""
        if not self.links:
            return defer.succeed(None)
        self.empty = defer.Deferred()
        for link in tuple(self.links):
            link.end()
        return self.empty


@implementer(interfaces.IPushProducer, interfaces.IHandshakeListener)
class TableLink(protocol.Protocol):
    """One connection of a table, a concentrator, a floorperson or a watcher."""

    transport: Any

    def __init__(self, pit: Pit) -> None:
        self._pit = pit
        self.conversation = Conversation(
            by_key=pit.principals.by_key,
            by_name=pit.principals.by_name,
            tables=frozenset(pit.queue.floor.tables),
        )
        self._subscription: Subscription | None = None
        self._timer: IDelayedCall | None = None
        self._steps: deque[Iterator[Step]] = deque()
        self._waits_for_room = False
        self._peer_reads = True
        self._ending = False
        self._gone = False

    def connectionMade(self) -> None:
        """Wait for a hello."""
        self._pit.links.add(self)
        self._pit.metrics.connected()
        if not interfaces.IUNIXTransport.providedBy(self.transport):
            self.transport.setTcpNoDelay(True)
            # A table whose power is cut says no goodbye: its connection would stay for good.
            self.transport.setTcpKeepAlive(True)
        self.transport.registerProducer(self, True)
        self._timer = self._pit.clock.callLater(HELLO_SECONDS, self._timed_out)

    def handshakeCompleted(self) -> None:
        """TLS begins: note whose certificate the peer has shown, if it has."""
        certificate = self.transport.getPeerCertificate()
        if certificate is not None:
            self.conversation.certificate = common_name(certificate)

    def connectionLost(self, reason: Failure = protocol.connectionDone) -> None:
        """Forget the peer; what it asked goes on."""
        if isinstance(reason.value, TlsError):
            self._pit.metrics.refused_connection("tls")
            peer, why = self.transport.getPeer(), words_of(reason.value)
            _log.warn("no TLS with {peer}: {why}", peer=peer, why=why)
        self._gone = True
        self._steps.clear()
        self._cancel_timer()
        if self._subscription is not None:
            self._subscription.close()
        self._pit.metrics.disconnected()
        self._pit.left(self)

    def dataReceived(self, data: bytes) -> None:
        """Carry out what the peer asks, one message after the other."""
        if self.conversation.ended:
            return
        self._steps.append(self.conversation.receive(data))
        if len(self._steps) == 1:
            self._carry_on()

    def _carry_on(self) -> None:
        # While the queue is full or the peer doesn't read, the peer's messages wait here, and no
        # more of them are read: its pipeline backs up into its own socket and is not refused.
        while self._steps and not self._waits_for_room:
            steps = self._steps[0]
            for step in steps:
                self._take(step)
                if self._must_wait():
                    return
            if self._steps and self._steps[0] is steps:
                self._steps.popleft()
        if not (self._steps or self._gone or self.conversation.ended):
            self.transport.resumeProducing()

    def _must_wait(self) -> bool:
        if self._pit.queue.full:
            self._waits_for_room = True
            self.transport.pauseProducing()
            self._pit.queue.when_room(self._room)
        return self._waits_for_room or not self._peer_reads

    def _room(self) -> None:
        self._waits_for_room = False
        if not self._peer_reads:
            return
        try:
            self._carry_on()
        except Exception:
            # Twisted drops a connection that fails in dataReceived; here the queue is the caller.
            _log.failure("a connection failed while it went on")
            self.transport.abortConnection()

    def pauseProducing(self) -> None:
        """The peer doesn't read: take nothing from it, and push nothing to it."""
        self._peer_reads = False
        self.transport.pauseProducing()
        if self._subscription is not None:
            self._subscription.pause()

    def resumeProducing(self) -> None:
        """The peer reads again."""
        self._peer_reads = True
        if self._subscription is not None:
            self._subscription.resume()
        self._carry_on()

    def stopProducing(self) -> None:
        """The connection is going away: there is nothing to stop."""

    def say(self, reply: bytes) -> None:
        """Write a line, unless the connection ends."""
        if not (self._gone or self._ending):
            self.transport.write(reply)

    def end(self) -> None:
        """Close once everything said is written, or after a while; nothing is said any more."""
        if not self._gone:
            self._fall_silent()
            self.transport.loseConnection()

    def _end_with_error(self) -> None:
        self._fall_silent()
        # A socket that is closed with something unread in it takes back what it has sent. So only
        # the sending ends here, and what still comes is dropped: the peer closes when it has read.
        self.transport.resumeProducing()
        if interfaces.ISSLTransport.providedBy(self.transport):
            self.transport.loseConnection()
        else:
            self.transport.loseWriteConnection()

    def _fall_silent(self) -> None:
        if self._ending:
            return
        self._ending = self.conversation.ended = True
        if self._subscription is not None:
            self._subscription.close()
        self._cancel_timer()
        self._timer = self._pit.clock.callLater(FLUSH_SECONDS, self._abort)
        self.transport.unregisterProducer()

    def _take(self, step: Step) -> None:
        queue = self._pit.queue
        match step:
            case Wager() | Hit() | Void() | Confirm() | Deny():
                queue.submit(step, self._answered)
            case Refuse():
                self._pit.metrics.refused(step.refused.code.value)
                queue.in_turn(lambda: self._refuse(step))
            case Greet(tables=tables):
                self._greet(tables)
            case Answer():
                queue.in_turn(lambda: self.say(_PONG))
            case Show():
                queue.in_turn(self._show)

    def _answered(self, event: Event, answer: Answered | Refused) -> None:
        if isinstance(answer, Refused):
            self._pit.metrics.refused(answer.code.value)
        self.say(line(reply_to(event, answer)))

    def _refuse(self, step: Refuse) -> None:
        self.say(line(refusal(step.refused, table=step.table, seq=step.seq)))
        if step.close and not (self._gone or self._ending):
            self._end_with_error()

    def _greet(self, tables: tuple[str, ...]) -> None:
        self._cancel_timer()
        self._pit.take(self, tables)
        queue, floor = self._pit.queue, self._pit.queue.floor
        # What the floor says now is durable once everything before it is.
        reply = line(welcome(self._pit.property_name, floor, tables))

        def in_turn() -> None:
            # Another floor means that the store was lost, and came back without some of this.
            if queue.writable and queue.floor is floor:
                self.say(reply)
            else:
                message = "the record can't be read just now: say hello again"
                self.say(line(refusal(Refused(code=Code.UNAVAILABLE, message=message))))

        queue.in_turn(in_turn)

    def _show(self) -> None:
        if self._gone or self._ending:
            return
        if self._subscription is not None:
            self._subscription.close()
        self._subscription = self._pit.feed.subscribe(Watcher(self.say))
        if not self._peer_reads:
            self._subscription.pause()

    def _timed_out(self) -> None:
        self._timer = None
        step = self.conversation.timed_out()
        if step is not None:
            self._take(step)

    def _abort(self) -> None:
        self._timer = None
        self.transport.abortConnection()

    def _cancel_timer(self) -> None:
        if self._timer is not None and self._timer.active():
            self._timer.cancel()
        self._timer = None


_log = Logger()
_PONG = line({"type": "pong"})


class TableFactory(protocol.Factory):
    """Makes a link for each connection."""

    noisy = False

    def __init__(self, pit: Pit) -> None:
        self._pit = pit

    def buildProtocol(self, addr: IAddress | None) -> TableLink:
        """Make the link of a new connection."""
        return TableLink(self._pit)
