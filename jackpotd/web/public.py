"""What anyone may ask: values, the event stream, metrics, and whether the daemon is well."""

# mypy: allow-untyped-calls
# (twisted.web has few annotations.)

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Protocol

from twisted.python.failure import Failure
from twisted.web.server import NOT_DONE_YET, Request

from jackpotd.metrics import Metrics
from jackpotd.web.answers import READ, Page, Refusal, answer, json_answer, tagged_answer
from signage.board import Board
from signage.feed import Feed
from signage.stream import Display, Frames

SHOWS_MONEY = ("leader", "caught_up")
"""The checks without which this daemon's values may be old, and so aren't shown."""


class Health(Protocol):
    """How the daemon is."""

    def alive(self) -> bool:
        """Tell whether it works at all."""

    def ready(self) -> tuple[bool, Mapping[str, bool]]:
        """Tell whether it takes requests, and each check: `store`, `caught_up`, `leader`."""


class Values(Page):
    """A page that shows money, of the whole property or of the sign named by `?sign=`."""

    methods = READ

    def __init__(self, board: Board, health: Health) -> None:
        super().__init__()
        self._board = board
        self._health = health

    def sign(self, request: Request) -> str | None:
        """Return the sign that the request names, or None for the whole.

        Raises Refusal where this daemon's values may be old, and for an unknown sign.
        """
        _, checks = self._health.ready()
        if not all(checks.get(check, False) for check in SHOWS_MONEY):
            message = "this daemon doesn't lead or is catching up; ask the leader"
            raise Refusal("unavailable", message, retry=True)
        name = request.args.get(b"sign", [b""])[-1].decode("utf-8", "replace")
        if name and name not in self._board.signs:
            message = "the property has no sign of this name; they are listed at /"
            raise Refusal("unknown-sign", message)
        return name or None


class Meters(Values):
    """/api/meters: everything shown, as one body."""

    def render_GET(self, request: Request) -> bytes:
        """Answer with the newest committed values, or 304."""
        view = self._board.snapshot().view(self.sign(request))
        return tagged_answer(request, view.encoded, "application/json", view.etag)


class Stream(Values):
    """/api/stream: the same as server-sent events, for as long as the display listens."""

    def __init__(
        self, board: Board, health: Health, feed: Feed, metrics: Metrics, max_displays: int
    ) -> None:
        super().__init__(board, health)
        self._feed = feed
        self._frames = Frames(board)
        self._metrics = metrics
        self._max_displays = max_displays
        self._open = 0

    def render_GET(self, request: Request) -> bytes | int:
        """Open the stream; 503 where there are too many."""
        sign = self.sign(request)
        if self._open >= self._max_displays:
            message = f"{self._max_displays} displays are connected, and that is the limit"
            raise Refusal("overloaded", message, retry=True)
        answer(request, b"", "text/event-stream; charset=utf-8")
        # A proxy that collects the answer before it passes it on would make every sign stale.
        request.setHeader(b"x-accel-buffering", b"no")
        if request.method == b"HEAD":
            return b""
        self._start(request, sign)
        return NOT_DONE_YET

    def _start(self, request: Request, sign: str | None) -> None:
        display = Display(
            write=request.write,
            frames=self._frames,
            sign=sign,
            counted=self._metrics.frame,
        )

        def gone(_: Failure | None) -> None:
            self._open -= 1
            self._metrics.display_closed()
            display.stopProducing()

        def ended() -> None:
            request.unregisterProducer()
            request.finish()

        self._open += 1
        self._metrics.display_opened()
        request.notifyFinish().addBoth(gone)
        request.registerProducer(display, True)
        display.start(self._feed, ended=ended)


class MetricsText(Page):
    """/metrics: for Prometheus."""

    methods = READ

    def __init__(self, metrics: Metrics) -> None:
        super().__init__()
        self._metrics = metrics

    def render_GET(self, request: Request) -> bytes:
        """Answer with every metric."""
        body, content_type = self._metrics.exposition(request.getHeader("accept") or "")
        request.setHeader(b"vary", b"accept")
        return answer(request, body, content_type)


class Alive(Page):
    """/healthz: whether the process should be restarted."""

    methods = READ

    def __init__(self, health: Health) -> None:
        super().__init__()
        self._health = health

    def render_GET(self, request: Request) -> bytes:
        """Answer 200, or 503."""
        alive = self._health.alive()
        status = HTTPStatus.OK if alive else HTTPStatus.SERVICE_UNAVAILABLE
        return json_answer(request, {"alive": alive}, status)


class Ready(Page):
    """/readyz: whether tables and displays should be sent here."""

    methods = READ

    def __init__(self, health: Health) -> None:
        super().__init__()
        self._health = health

    def render_GET(self, request: Request) -> bytes:
        """Answer 200, or 503 with the checks that fail."""
        ready, checks = self._health.ready()
        status = HTTPStatus.OK if ready else HTTPStatus.SERVICE_UNAVAILABLE
        return json_answer(request, {"ready": ready, "checks": dict(checks)}, status)
