"""How every page answers: JSON, refusals in the protocol's words, entity tags, 404 and 405."""

# mypy: allow-untyped-calls
# (twisted.web has few annotations.)

from __future__ import annotations

from http import HTTPStatus
from typing import ClassVar, TypeVar

import msgspec
from twisted.internet.defer import Deferred
from twisted.logger import Logger
from twisted.python.failure import Failure
from twisted.web.resource import IResource, Resource
from twisted.web.server import NOT_DONE_YET, Request

READ = (b"GET", b"HEAD")

STATUS_OF = {
    "bad-key": HTTPStatus.UNAUTHORIZED,
    "not-allowed": HTTPStatus.FORBIDDEN,
    "not-found": HTTPStatus.NOT_FOUND,
    "unknown-hit": HTTPStatus.NOT_FOUND,
    "unknown-sign": HTTPStatus.NOT_FOUND,
    "bad-method": HTTPStatus.METHOD_NOT_ALLOWED,
    "already-denied": HTTPStatus.CONFLICT,
    "already-paid": HTTPStatus.CONFLICT,
    "too-long": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    "failed": HTTPStatus.INTERNAL_SERVER_ERROR,
    "unavailable": HTTPStatus.SERVICE_UNAVAILABLE,
    "overloaded": HTTPStatus.SERVICE_UNAVAILABLE,
}
"""The HTTP status of a refusal by its code; any other code is 400."""

RETRY_AFTER_S = b"2"

_Reply = TypeVar("_Reply")
_log = Logger()


class Refusal(Exception):
    """A page's refusal: a code of the table protocol or one of STATUS_OF, and what is wrong."""

    def __init__(self, code: str, message: str, *, retry: bool = False) -> None:
        super().__init__(message)
        self.body = {"type": "error", "code": code, "message": message, "retry": retry}


def answer(request: Request, body: bytes, content_type: str, *, cache: str = "no-store") -> bytes:
    """Set the headers of a body, and return it."""
    request.setHeader(b"content-type", content_type.encode("ascii"))
    request.setHeader(b"cache-control", cache.encode("ascii"))
    return body


def json_answer(request: Request, body: object, status: int = HTTPStatus.OK) -> bytes:
    """Answer with `body` as JSON.

    An error of the table protocol gives its own status: 404, 409, 503 and so on, see STATUS_OF.
    """
    match body:
        case {"type": "error", "code": str(code), **more}:
            status = STATUS_OF.get(code, HTTPStatus.BAD_REQUEST)
            if more.get("retry"):
                request.setHeader(b"retry-after", RETRY_AFTER_S)
    request.setResponseCode(status)
    return answer(request, msgspec.json.encode(body), "application/json")


def tagged_answer(request: Request, body: bytes, content_type: str, etag: str) -> bytes:
    """Answer with a body that may be kept, but is asked for again; 304 where it is known."""
    request.setHeader(b"etag", etag.encode("ascii"))
    known = request.getHeader("if-none-match") or ""
    tags = {tag.strip().removeprefix("W/") for tag in known.split(",")}
    if etag in tags or "*" in tags:
        request.setResponseCode(HTTPStatus.NOT_MODIFIED)
        request.setHeader(b"cache-control", b"no-cache")
        return b""
    return answer(request, body, content_type, cache="no-cache")


def answer_later(request: Request, waiting: Deferred[_Reply]) -> int:
    """Answer as JSON when the reply comes; with nothing if the client is gone by then."""
    gone = False

    def left(_: Failure) -> None:
        nonlocal gone
        gone = True

    def finish(body: object) -> None:
        if not gone:
            encoded = json_answer(request, body)
            request.setHeader(b"content-length", b"%d" % len(encoded))
            request.write(encoded)
            request.finish()

    def failed(failure: Failure) -> None:
        _log.failure("{address} failed", failure, address=request.path.decode("latin-1"))
        finish(Refusal("failed", "this failed, and the log says why").body)

    request.notifyFinish().addErrback(left)
    waiting.addCallbacks(finish, failed)
    return NOT_DONE_YET


class Page(Resource):
    """A resource that says which methods it answers, and 404 or 405 in our words.

    Without methods it is only a step on the way to its children.
    """

    methods: ClassVar[tuple[bytes, ...]] = ()

    def __init__(self) -> None:
        super().__init__()

    def getChild(self, path: bytes, request: Request) -> IResource:
        """Return what answers 404."""
        return Page()

    def render(self, request: Request) -> bytes | int:
        """Answer with render_GET or render_POST, or with the Refusal that they raise."""
        try:
            return self._render(request)
        except Refusal as refusal:
            return json_answer(request, refusal.body)

    def render_GET(self, request: Request) -> bytes | int:
        """Answer a GET. A HEAD gets the same without the body."""
        raise NotImplementedError

    def render_POST(self, request: Request) -> bytes | int:
        """Answer a POST."""
        raise NotImplementedError

    def _render(self, request: Request) -> bytes | int:
        if not self.methods:
            raise Refusal("not-found", "nothing is at this address; the signs are listed at /")
        if request.method not in self.methods:
            request.setHeader(b"allow", b", ".join(self.methods))
            methods = " and ".join(method.decode("ascii") for method in self.methods)
            raise Refusal("bad-method", f"this address answers {methods}")
        if request.method == b"POST":
            return self.render_POST(request)
        body = self.render_GET(request)
        if request.method == b"HEAD" and isinstance(body, bytes):
            request.setHeader(b"content-length", b"%d" % len(body))
            return b""
        return body
