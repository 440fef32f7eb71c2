"""Who may ask: `Authorization: Bearer KEY` names a principal, as a table's hello does."""

# mypy: allow-untyped-calls
# (twisted.web has few annotations.)

from __future__ import annotations

from typing import ClassVar, Protocol

from twisted.logger import Logger
from twisted.web.server import Request

from jackpotd.metrics import Metrics
from jackpotd.web.answers import Page, Refusal

_log = Logger()


class Principal(Protocol):
    """Whom a key belongs to."""

    @property
    def name(self) -> str:
        """The name that is recorded."""

    @property
    def role(self) -> str:
        """One of `table`, `floor`, `accounting`, `admin`."""


class Principals(Protocol):
    """Who has a key."""

    def authenticate(self, key: str) -> Principal | None:
        """Return the principal of a key; None for a key that nobody has."""


class Guarded(Page):
    """A page for the principals with one `role`; anybody else is refused, counted and logged."""

    role: ClassVar[str]

    def __init__(self, principals: Principals, metrics: Metrics) -> None:
        super().__init__()
        self._principals = principals
        self._metrics = metrics

    def by(self, request: Request) -> str:
        """Return the name of the principal that asks. Raises Refusal, 401 or 403."""
        scheme, _, key = (request.getHeader("authorization") or "").partition(" ")
        principal = None
        if scheme.lower() == "bearer" and key.strip():
            principal = self._principals.authenticate(key.strip())
        if principal is None:
            request.setHeader(b"www-authenticate", b'Bearer realm="jackpotd"')
            raise self._refusal(request, "bad-key", "send a known key: Authorization: Bearer KEY")
        if principal.role != self.role:
            message = f"{principal.name} has the role {principal.role}; this needs {self.role}"
            raise self._refusal(request, "not-allowed", message)
        return principal.name

    def _refusal(self, request: Request, code: str, message: str) -> Refusal:
        self._metrics.refused(code)
        _log.warn(
            "{code} at {address} from {peer}: {message}",
            code=code,
            address=request.path.decode("latin-1"),
            peer=request.getClientAddress(),
            message=message,
        )
        return Refusal(code, message)
