"""The site: which address is answered by which page, and what every answer carries."""

# mypy: allow-untyped-calls
# (twisted.web has few annotations.)

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO

from twisted.internet.interfaces import IReactorTime
from twisted.logger import Logger
from twisted.web.http import HTTPChannel
from twisted.web.http import Request as HTTPRequest
from twisted.web.resource import IResource
from twisted.web.server import Request, Site

from jackpotd.metrics import Metrics
from jackpotd.web.answers import Page, Refusal, json_answer
from jackpotd.web.floor import FloorDesk, Hits
from jackpotd.web.pages import Assets, Index, Signs
from jackpotd.web.public import Alive, Health, Meters, MetricsText, Ready, Stream
from signage.board import Board
from signage.feed import Feed

MAX_BODY = 64 * 1024
MAX_UNREAD = 16 * MAX_BODY
"""A body that goes on beyond this is not waited for: the connection is cut."""
MAX_DISPLAYS = 5000
IDLE_S = 60

HEADERS = {
    b"content-security-policy": (
        b"default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'; "
        b"object-src 'none'"
    ),
    b"cross-origin-opener-policy": b"same-origin",
    b"permissions-policy": b"camera=(), geolocation=(), microphone=()",
    b"referrer-policy": b"no-referrer",
    b"x-content-type-options": b"nosniff",
}
"""On every answer."""

_log = Logger()


class TooLong(Page):
    """The answer to a body over MAX_BODY."""

    def render(self, request: Request) -> bytes:
        """Answer 413."""
        return json_answer(
            request, Refusal("too-long", f"a body has at most {MAX_BODY} bytes").body
        )


class SiteRequest(Request):
    """A request with a bounded body, whose answer carries HEADERS and no server's name."""

    channel: HTTPChannel
    _received = 0

    def gotLength(self, length: int | None) -> None:
        """Keep the body in memory: it is small, or it isn't kept."""
        self.content = BytesIO()

    def handleContentChunk(self, data: bytes) -> None:
        """Take a part of the body; beyond MAX_BODY it is read and dropped."""
        self._received += len(data)
        if self._received <= MAX_BODY:
            super().handleContentChunk(data)
        elif self._received > MAX_UNREAD:
            self.channel.forceAbortClient()

    def render(self, resrc: IResource) -> None:
        """Answer, or refuse the body."""
        super().render(TooLong() if self._received > MAX_BODY else resrc)

    def write(self, data: bytes) -> None:
        """Write; before the first byte, set the headers that every answer has."""
        if not self.startedWriting:
            self.responseHeaders.removeHeader(b"server")
            for name, value in HEADERS.items():
                self.responseHeaders.setRawHeaders(name, [value])
        super().write(data)


class QuietSite(Site):
    """A site that logs what changed something or failed: displays ask far too often for more."""

    requestFactory = SiteRequest

    def log(self, request: HTTPRequest) -> None:
        """Log a finished request that wasn't a plain read."""
        if request.code >= 400 or request.method not in (b"GET", b"HEAD"):
            _log.info(
                "{code} {method} {address} from {peer}",
                code=request.code,
                method=request.method.decode("latin-1"),
                address=request.path.decode("latin-1"),
                peer=request.getClientAddress(),
            )


def make_site(
    *,
    board: Board,
    feed: Feed,
    metrics: Metrics,
    health: Health,
    desk: FloorDesk,
    reactor: IReactorTime,
    max_displays: int = MAX_DISPLAYS,
    more: Mapping[str, IResource] | None = None,
) -> Site:
    """Return the site of a property.

    `more` maps further addresses ("console", "api/ledger") to their pages. `max_displays` bounds
    the open streams, so that displays can't use up the files that the tables need.
    """
    api = Page()
    api.putChild(b"meters", Meters(board, health))
    api.putChild(b"stream", Stream(board, health, feed, metrics, max_displays))
    api.putChild(b"hits", Hits(desk, metrics))
    root = Page()
    root.putChild(b"", Index(board))
    root.putChild(b"sign", Signs(board))
    root.putChild(b"assets", Assets())
    root.putChild(b"api", api)
    root.putChild(b"metrics", MetricsText(metrics))
    root.putChild(b"healthz", Alive(health))
    root.putChild(b"readyz", Ready(health))
    for address, page in (more or {}).items():
        folder, _, name = address.rpartition("/")
        {"": root, "api": api}[folder].putChild(name.encode("ascii"), page)
    return QuietSite(root, reactor=reactor, timeout=IDLE_S, parsePOSTFormSubmission=False)
