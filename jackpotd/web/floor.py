"""The floor's requests over HTTP: what is pending, confirm, deny (rules 7)."""

from __future__ import annotations

import re
from typing import Protocol

import msgspec
from twisted.internet.defer import Deferred
from twisted.web.resource import IResource
from twisted.web.server import Request

from jackpotd.metrics import Metrics
from jackpotd.web.access import Guarded, Principals
from jackpotd.web.answers import READ, Page, Refusal, answer_later

Reply = dict[str, object]
MAX_HIT = 2**53 - 1
MAX_REASON = 500

_HIT = re.compile(rb"[1-9][0-9]{0,15}")


class FloorDesk(Principals, Protocol):
    """What the floor may do. Replies are those of the table protocol, refusals among them."""

    def hits(self, pending: bool) -> Deferred[list[Reply]]:
        """List the hits; with `pending` only those that wait."""

    def confirm(self, hit: int, by: str) -> Deferred[Reply]:
        """Confirm a pending award (rules 7.1)."""

    def deny(self, hit: int, by: str, reason: str) -> Deferred[Reply]:
        """Deny a pending award (rules 7.2)."""


class Denial(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The body of a denial: what was wrong, 1 to MAX_REASON characters."""

    reason: str


class ForFloor(Guarded):
    """A page for floorpersons."""

    role = "floor"

    def __init__(self, desk: FloorDesk, metrics: Metrics) -> None:
        super().__init__(desk, metrics)
        self._desk = desk


class Hits(ForFloor):
    """/api/hits: every hit, or with ?pending=1 those that wait; N/confirm and N/deny below it."""

    methods = READ

    def getChild(self, path: bytes, request: Request) -> IResource:
        """Return the steps of one hit; 404 for what is no number of a hit."""
        page = Page()
        if _HIT.fullmatch(path) and int(path) <= MAX_HIT:
            page.putChild(b"confirm", Confirm(self._desk, self._metrics, int(path)))
            page.putChild(b"deny", Deny(self._desk, self._metrics, int(path)))
        return page

    def render_GET(self, request: Request) -> int:
        """Answer with the list."""
        self.by(request)
        wanted = request.args.get(b"pending", [b"0"])[-1]
        if wanted not in (b"0", b"1"):
            raise Refusal("bad-field", "pending is 1 or 0")
        hits = self._desk.hits(wanted == b"1")
        return answer_later(request, hits.addCallback(lambda found: {"hits": found}))


class Confirm(ForFloor):
    """/api/hits/N/confirm"""

    methods = (b"POST",)

    def __init__(self, desk: FloorDesk, metrics: Metrics, hit: int) -> None:
        super().__init__(desk, metrics)
        self._hit = hit

    def render_POST(self, request: Request) -> int:
        """Confirm; a body isn't needed, and isn't read."""
        by = self.by(request)
        return answer_later(request, self._desk.confirm(self._hit, by))


class Deny(ForFloor):
    """/api/hits/N/deny, with {"reason": "..."}"""

    methods = (b"POST",)

    def __init__(self, desk: FloorDesk, metrics: Metrics, hit: int) -> None:
        super().__init__(desk, metrics)
        self._hit = hit

    def render_POST(self, request: Request) -> int:
        """Deny."""
        by = self.by(request)
        return answer_later(request, self._desk.deny(self._hit, by, _reason(request)))


def _reason(request: Request) -> str:
    example = 'send {"reason": "misread"}'
    assert request.content is not None
    try:
        reason = msgspec.json.decode(request.content.read(), type=Denial).reason.strip()
    except msgspec.ValidationError as error:
        raise Refusal("bad-field", f"{error}; {example}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refusal("bad-json", f"the body is no JSON; {example}") from error
    if not 1 <= len(reason) <= MAX_REASON:
        raise Refusal("bad-field", f"reason has 1 to {MAX_REASON} characters; {example}")
    return reason
