"""The feed as server-sent events: frames that are encoded once, and displays that may be slow."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

from signage.awards import hit_body, resolved_body, utc_text
from signage.board import Award, Board, Resolution, Snapshot
from signage.feed import Feed, Subscription

PREAMBLE = b"retry: 2000\n\n"
"""The first bytes of a stream: a display that lost it tries again after two seconds."""


def _frame(sequence: int, event: bytes, data: bytes) -> bytes:
    # JSON as msgspec writes it has no line ends, so one data line is enough.
    return b"id: %d\nevent: %s\ndata: %s\n\n" % (sequence, event, data)


class Frames:
    """Makes each frame once, for all displays that get it."""

    def __init__(self, board: Board) -> None:
        self._board = board
        self._snapshot: Snapshot | None = None
        self._meters: dict[str | None, bytes] = {}
        self._newest: tuple[object, bytes] = (None, b"")

    def progressives_of(self, sign: str | None) -> frozenset[str] | None:
        """Return what a sign shows; None for the whole. Raises KeyError."""
        return None if sign is None else frozenset(self._board.signs[sign].progressives)

    def meters(self, snapshot: Snapshot, sign: str | None) -> bytes:
        """Return the frame of a snapshot as the sign shows it, or the whole with None."""
        if snapshot is not self._snapshot:
            self._snapshot, self._meters = snapshot, {}
        if sign not in self._meters:
            data = snapshot.view(sign).encoded
            self._meters[sign] = _frame(snapshot.sequence, b"meters", data)
        return self._meters[sign]

    def hit(self, award: Award) -> bytes:
        """Return the frame of an award."""
        if self._newest[0] is not award:
            data = msgspec.json.encode(hit_body(award, self._board.currency))
            self._newest = award, _frame(award.sequence, b"hit", data)
        return self._newest[1]

    def resolved(self, resolution: Resolution) -> bytes:
        """Return the frame of a confirmation or denial."""
        if self._newest[0] is not resolution:
            data = msgspec.json.encode(resolved_body(resolution))
            self._newest = resolution, _frame(resolution.sequence, b"resolved", data)
        return self._newest[1]

    def tick(self, sequence: int, at_ms: int) -> bytes:
        """Return the frame of a tick."""
        tick = sequence, at_ms
        if self._newest[0] != tick:
            data = msgspec.json.encode({"sequence": sequence, "at": utc_text(at_ms)})
            self._newest = tick, _frame(sequence, b"tick", data)
        return self._newest[1]


@implementer(IPushProducer)
class Display:
    """One open stream: listens to the feed, and is paused when its display doesn't read.

    `write` takes the bytes; `sign` limits the stream to what that sign shows; `counted` is called
    once for each frame.
    """

    def __init__(
        self,
        *,
        write: Callable[[bytes], object],
        frames: Frames,
        sign: str | None,
        counted: Callable[[], None],
    ) -> None:
        self._write = write
        self._frames = frames
        self._sign = sign
        self._progressives = frames.progressives_of(sign)
        self._counted = counted
        self._subscription: Subscription | None = None
        self._paused = False

    def start(self, feed: Feed, *, ended: Callable[[], None]) -> None:
        """Write the preamble and the newest values, then what the feed brings.

        `ended` is called if the feed ends first.
        """
        self._write(PREAMBLE)
        self._subscription = feed.subscribe(self, ended=ended)
        # The first frames may have filled the transport before there was a subscription to pause.
        if self._paused:
            self._subscription.pause()

    def meters(self, snapshot: Snapshot) -> None:
        """Send the newest values."""
        self._send(self._frames.meters(snapshot, self._sign))

    def hit(self, award: Award) -> None:
        """Send an award of a progressive that this stream shows."""
        if self._progressives is None or award.progressive in self._progressives:
            self._send(self._frames.hit(award))

    def resolved(self, resolution: Resolution) -> None:
        """Send a confirmation or denial."""
        self._send(self._frames.resolved(resolution))

    def tick(self, sequence: int, at_ms: int) -> None:
        """Send a tick."""
        self._send(self._frames.tick(sequence, at_ms))

    def pauseProducing(self) -> None:
        """The display reads too slowly."""
        self._paused = True
        if self._subscription is not None:
            self._subscription.pause()

    def resumeProducing(self) -> None:
        """The display caught up."""
        self._paused = False
        if self._subscription is not None:
            self._subscription.resume()

    def stopProducing(self) -> None:
        """The display is gone."""
        if self._subscription is not None:
            self._subscription.close()

    def _send(self, frame: bytes) -> None:
        self._write(frame)
        self._counted()
