"""Who gets what when: values at most ten times a second, hits at once, a tick while it is quiet.

Encoding is left to the listeners: the event stream of the signs and the `watch` of the table
protocol listen to the same feed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Protocol

from twisted.internet.interfaces import IDelayedCall, IReactorTime
from twisted.logger import Logger

from signage.board import Award, Board, Resolution, Snapshot

METERS_INTERVAL_S = 0.1
"""A subscriber gets its values at least this far apart."""
TICK_INTERVAL_S = 5.0
HELD_EVENTS = 32
"""How many hits and resolutions are kept for a subscriber that doesn't read."""

_log = Logger()


class Listener(Protocol):
    """What a subscriber of the feed offers. It may pause or close its subscription in any call."""

    def meters(self, snapshot: Snapshot) -> None:
        """The newest values; what lay between them and the last ones is left out."""

    def hit(self, award: Award) -> None:
        """An award was committed."""

    def resolved(self, resolution: Resolution) -> None:
        """A pending award was paid or denied."""

    def tick(self, sequence: int, at_ms: int) -> None:
        """The daemon lives: the newest committed sequence, and its clock in ms since 1970."""


class Subscription:
    """One listener's place in the feed."""

    def __init__(self, feed: Feed, listener: Listener, ended: Callable[[], None] | None) -> None:
        self._feed = feed
        self._listener = listener
        self._ended = ended
        self._held: deque[Callable[[], None]] = deque(maxlen=HELD_EVENTS)
        self._shown_revision: int | None = None
        self.paused = False
        self.closed = False
        # Set where values were sent between two slots: the next slot would come too soon.
        self.skips_a_slot = False

    def pause(self) -> None:
        """Send nothing until resume(): keep the newest HELD_EVENTS events, and no values."""
        self.paused = True

    def resume(self) -> None:
        """Send what was kept, oldest first, then the newest values if they changed."""
        self.paused = False
        while self._held and self.open:
            self._call(self._held.popleft())
        if self.open:
            self._feed.changed()

    def close(self) -> None:
        """Leave the feed; nothing is sent any more."""
        self.closed = True
        self._held.clear()
        self._feed.forget(self)

    def end(self) -> None:
        """Close, and tell the subscriber so."""
        if not self.closed:
            self.close()
            if self._ended is not None:
                self._ended()

    @property
    def open(self) -> bool:
        """Tell whether something may be sent now."""
        return not (self.paused or self.closed)

    def lacks(self, snapshot: Snapshot) -> bool:
        """Tell whether the listener may get this snapshot now and doesn't show it yet."""
        return self.open and self._shown_revision != snapshot.revision

    def send_meters(self, snapshot: Snapshot) -> None:
        """Send values."""
        self._shown_revision = snapshot.revision
        self._call(partial(self._listener.meters, snapshot))

    def send_hit(self, award: Award) -> None:
        """Send an award, or keep it while paused."""
        self._send_or_hold(partial(self._listener.hit, award))

    def send_resolved(self, resolution: Resolution) -> None:
        """Send a resolution, or keep it while paused."""
        self._send_or_hold(partial(self._listener.resolved, resolution))

    def send_tick(self, sequence: int, at_ms: int) -> None:
        """Send a tick; a paused listener misses it."""
        if self.open:
            self._call(partial(self._listener.tick, sequence, at_ms))

    def _send_or_hold(self, send: Callable[[], None]) -> None:
        if self.paused:
            self._held.append(send)
        elif not self.closed:
            self._call(send)

    def _call(self, send: Callable[[], None]) -> None:
        try:
            send()
        except Exception:
            # One broken listener must not keep the values from the others.
            _log.failure("a listener failed; its subscription is closed")
            self.end()


class Feed:
    """Passes on what the board takes. One timer for the values and one for the ticks, shared.

    Values go out in slots, METERS_INTERVAL_S apart at least, so that everybody gets the same
    snapshot and it is encoded once. `now_ms` gives the time that ticks tell, in ms since 1970; the
    clock's own where it is left out.
    """

    def __init__(
        self, clock: IReactorTime, board: Board, *, now_ms: Callable[[], int] | None = None
    ) -> None:
        self.board = board
        self._clock = clock
        self._now_ms = now_ms or (lambda: int(clock.seconds() * 1000))
        # A dict for its order: who came first is told first.
        self._subscriptions: dict[Subscription, None] = {}
        self._slot: IDelayedCall | None = None
        self._tick: IDelayedCall | None = None
        board.attach(self)

    def subscribe(
        self, listener: Listener, *, ended: Callable[[], None] | None = None
    ) -> Subscription:
        """Send the values to `listener` at once, and from now on what happens.

        `ended` is called when the feed ends the subscription, see end_all().
        """
        subscription = Subscription(self, listener, ended)
        self._subscriptions[subscription] = None
        subscription.skips_a_slot = self._slot is not None
        self._arm_slot(METERS_INTERVAL_S)
        if self._tick is None:
            self._tick = self._clock.callLater(TICK_INTERVAL_S, self._send_tick)
        subscription.send_meters(self.board.snapshot())
        return subscription

    def forget(self, subscription: Subscription) -> None:
        """Drop a closed subscription; with the last one the timers stop."""
        self._subscriptions.pop(subscription, None)
        if not self._subscriptions:
            for timer in (self._slot, self._tick):
                if timer is not None:
                    timer.cancel()
            self._slot = self._tick = None

    def end_all(self) -> None:
        """End every subscription: this daemon stops, or leads no more and its values are old."""
        for subscription in tuple(self._subscriptions):
            subscription.end()

    def changed(self) -> None:
        """Send the newest values in the next slot."""
        # Not in this call: a batch brings meters and hits, and is never shown by halves.
        if self._subscriptions:
            self._arm_slot(0)

    def hit(self, award: Award) -> None:
        """Pass on an award at once."""
        for subscription in tuple(self._subscriptions):
            subscription.send_hit(award)

    def resolved(self, resolution: Resolution) -> None:
        """Pass on a resolution at once."""
        for subscription in tuple(self._subscriptions):
            subscription.send_resolved(resolution)

    def _arm_slot(self, delay_s: float) -> None:
        if self._slot is None:
            self._slot = self._clock.callLater(delay_s, self._send_meters)

    def _send_meters(self) -> None:
        self._slot = None
        snapshot = self.board.snapshot()
        subscriptions = tuple(self._subscriptions)
        if any(each.lacks(snapshot) or each.skips_a_slot for each in subscriptions):
            # Before anything is sent: a listener that resumes in a call must find the slot taken.
            self._arm_slot(METERS_INTERVAL_S)
        for subscription in subscriptions:
            if subscription.lacks(snapshot) and not subscription.skips_a_slot:
                subscription.send_meters(snapshot)
            subscription.skips_a_slot = False

    def _send_tick(self) -> None:
        self._tick = self._clock.callLater(TICK_INTERVAL_S, self._send_tick)
        at_ms = self._now_ms()
        for subscription in tuple(self._subscriptions):
            subscription.send_tick(self.board.sequence, at_ms)
