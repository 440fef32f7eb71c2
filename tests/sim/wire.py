"""The daemon's end of a connection in memory: its buffer fills, and is read when the peer likes."""

from __future__ import annotations

from collections.abc import Callable

from twisted.internet.interfaces import IPushProducer

from tests.sim.violation import demand


class Wire:
    """A transport. `said` is told each write, and returns what of it goes out.

    It is as strict as no socket is: what the daemon writes after it has ended is a violation. As a
    socket does, it pauses its producer inside the write that fills the buffer.
    """

    def __init__(self, *, buffer_bytes: int, said: Callable[[bytes], bytes]) -> None:
        self.to_peer = bytearray()
        self.reading = True
        self.closing = False
        self.half_closed = False
        self.aborted = False
        self._buffer_bytes = buffer_bytes
        self._said = said
        self._producer: IPushProducer | None = None
        self._paused = False

    @property
    def ended(self) -> bool:
        """Whether the daemon says no more."""
        return self.closing or self.half_closed or self.aborted

    def write(self, data: bytes) -> None:
        """Take what the daemon says."""
        demand(not self.ended, "said after the end:", data)
        self.to_peer += self._said(data)
        if len(self.to_peer) > self._buffer_bytes and self._producer and not self._paused:
            self._paused = True
            self._producer.pauseProducing()

    def read(self, most: int) -> bytes:
        """Return what the peer reads now, and let the daemon say more once all is read."""
        data = bytes(self.to_peer[:most])
        del self.to_peer[:most]
        if not self.to_peer and self._paused:
            self._paused = False
            if self._producer is not None:
                self._producer.resumeProducing()
        return data

    # What a protocol asks of its transport

    def registerProducer(self, producer: IPushProducer, streaming: bool) -> None:
        """Pause and resume `producer` as the peer reads."""
        demand(streaming and self._producer is None, "a second producer")
        self._producer = producer

    def unregisterProducer(self) -> None:
        """Pause and resume nobody."""
        self._producer = None

    def pauseProducing(self) -> None:
        """Read no more."""
        self.reading = False

    def resumeProducing(self) -> None:
        """Read again, unless it closes."""
        self.reading = not (self.closing or self.aborted)

    def loseConnection(self) -> None:
        """Close when all is read."""
        self.closing, self.reading = True, False

    def loseWriteConnection(self) -> None:
        """Say no more, and still hear."""
        self.half_closed = True

    def abortConnection(self) -> None:
        """Cut the connection."""
        self.aborted, self.reading = True, False

    def setTcpNoDelay(self, enabled: bool) -> None:
        """Nothing is slow here."""

    def setTcpKeepAlive(self, enabled: bool) -> None:
        """No peer is silent here."""
