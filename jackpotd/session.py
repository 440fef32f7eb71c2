"""One connection's conversation, without I/O: who speaks, for which tables, and what is due.

`Conversation.receive` takes bytes and yields steps; whoever holds the connection carries each
out before taking the next, since a step may change what the following one means.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator
from dataclasses import dataclass

from msgspec import UNSET

from jackpotd.principals import Principal
from jackpotd.wire import (
    MALFORMED,
    PROTOCOL,
    ConfirmRequest,
    DenyRequest,
    Hello,
    HitRequest,
    Lines,
    Malformed,
    Ping,
    Request,
    VoidRequest,
    WagerRequest,
    Watch,
    event_of,
    read,
)
from meters.events import Confirm, Deny, Hit, Void, Wager
from meters.outcomes import Code, Refused

MAX_MALFORMED = 20
"""Malformed messages in a row, after which the connection is closed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """Say an error, in turn; then close the connection if `close`."""

    refused: Refused
    table: str | None = None
    seq: int | None = None
    close: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Greet:
    """Welcome the principal; from now on this connection speaks for `tables`."""

    tables: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Say pong, in turn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Show:
    """Say the meters, in turn, and push them from now on."""


Step = Refuse | Greet | Answer | Show | Wager | Hit | Void | Confirm | Deny
"""What is due for a message; an event is to be submitted, and its answer said."""

_BY_TABLE = (WagerRequest, HitRequest, VoidRequest)


class Conversation:
    """The state of one connection.

    `by_key` and `by_name` find a principal; `tables` are the tables that there are. `certificate`
    is the common name in the client's certificate, once it has shown one; "" names nobody.
    """

    def __init__(
        self,
        *,
        by_key: Callable[[str], Principal | None],
        by_name: Callable[[str], Principal | None],
        tables: Container[str],
    ) -> None:
        self.certificate: str | None = None
        self.principal: Principal | None = None
        self.speaks_for: set[str] = set()
        self.ended = False
        self._by_key = by_key
        self._by_name = by_name
        self._tables = tables
        self._lines = Lines()
        self._malformed = 0

    def receive(self, data: bytes) -> Iterator[Step]:
        """Yield what is due for each message in `data`; nothing more once the end is said."""
        if self.ended:
            return
        for line in self._lines.receive(data):
            step = self._too_long() if line is None else self._step(read(line))
            if isinstance(step, Refuse) and step.close:
                self.ended = True
            yield step
            if self.ended:
                return

    def timed_out(self) -> Refuse | None:
        """Say that no hello came in time; None if one did."""
        if self.principal is not None or self.ended:
            return None
        self.ended = True
        return _refuse(Code.NO_HELLO, "no hello came in time: it is the first message", close=True)

    def _too_long(self) -> Refuse:
        return _refuse(Code.TOO_LONG, "a line has at most 65,536 bytes with its ending", close=True)

    def _step(self, request: Request | Malformed) -> Step:
        # Nearly all are a table's, so they are looked for first.
        if isinstance(request, _BY_TABLE) and self.principal is not None:
            self._malformed = 0
            return self._table_request(request, self.principal)
        if isinstance(request, Hello):
            self._malformed = 0
            return self._hello(request)
        if isinstance(request, Malformed):
            return self._malformed_step(request)
        if self.principal is None:
            return self._no_hello(request)
        self._malformed = 0
        if isinstance(request, Ping):
            return Answer()
        if isinstance(request, Watch):
            return Show()
        assert isinstance(request, ConfirmRequest | DenyRequest)
        return self._floor_request(request, self.principal)

    def _no_hello(self, request: Request | Malformed) -> Refuse:
        return _refuse(
            Code.NO_HELLO,
            "the first message is a hello with your key",
            table=getattr(request, "table", None),
            seq=getattr(request, "seq", None),
            close=True,
        )

    def _malformed_step(self, malformed: Malformed) -> Refuse:
        code = malformed.code
        if code in (Code.UNKNOWN_TYPE, Code.BAD_FIELD) and malformed.key is None:
            if self.principal is None:
                return self._no_hello(malformed)
        elif code is Code.BAD_FIELD and isinstance(who := self._who(malformed.key), Refuse):
            return who
        self._malformed += 1
        return Refuse(
            refused=Refused(code=code, message=malformed.message),
            table=malformed.table,
            seq=malformed.seq,
            close=code not in MALFORMED or self._malformed >= MAX_MALFORMED,
        )

    def _who(self, key: str | None) -> Principal | Refuse:
        known = self._by_key(key) if key else None
        if self.certificate is None:
            return known or _refuse(Code.BAD_KEY, _BAD_KEY, close=True)
        named = self._by_name(self.certificate)
        if named is None:
            message = f"the certificate's common name is no principal: {self.certificate!r}"
            return _refuse(Code.BAD_KEY, message, close=True)
        if key and (known is None or known.name != named.name):
            message = f"the certificate is {named.name}'s and the key is not: leave the key out"
            return _refuse(Code.BAD_KEY, message, close=True)
        return named

    def _hello(self, hello: Hello) -> Step:
        if hello.protocol != PROTOCOL:
            message = f"protocol {PROTOCOL} is spoken here, not {hello.protocol}"
            return _refuse(Code.BAD_PROTOCOL, message, close=True)
        principal = self._who(None if hello.key is UNSET else hello.key)
        if isinstance(principal, Refuse):
            return principal
        tables = principal.tables if hello.tables is UNSET else tuple(dict.fromkeys(hello.tables))
        for table in tables:
            if table not in principal.tables:
                return self._not_theirs(principal, table)
        for table in tables:
            if table not in self._tables:
                return _refuse(Code.UNKNOWN_TABLE, f"there is no table {table}", table=table)
        self.principal = principal
        self.speaks_for = set(tables)
        return Greet(tables=tables)

    def _floor_request(self, request: ConfirmRequest | DenyRequest, principal: Principal) -> Step:
        if principal.role != "floor":
            message = f"{principal.name} is a {principal.role}: only the floor confirms and denies"
            return _refuse(Code.NOT_ALLOWED, message)
        if isinstance(request, ConfirmRequest):
            return Confirm(hit=request.hit, by=principal.name)
        return Deny(hit=request.hit, by=principal.name, reason=request.reason)

    def _table_request(
        self, request: WagerRequest | HitRequest | VoidRequest, principal: Principal
    ) -> Step:
        if request.table not in self.speaks_for:
            return self._not_theirs(principal, request.table, request.seq)
        return event_of(request)

    def _not_theirs(self, principal: Principal, table: str, seq: int | None = None) -> Refuse:
        if table in principal.tables:
            message = f"{table} is not this connection's: a newer hello took it, or none named it"
        elif principal.role != "table":
            message = f"{principal.name} is a {principal.role} and speaks for no table"
        else:
            message = f"{principal.name} does not speak for {table}"
        return _refuse(Code.NOT_ALLOWED, message, table=table, seq=seq)


_BAD_KEY = "no principal has this key: make one with jackpotd key add"


def _refuse(
    code: Code,
    message: str,
    *,
    table: str | None = None,
    seq: int | None = None,
    close: bool = False,
) -> Refuse:
    return Refuse(refused=Refused(code=code, message=message), table=table, seq=seq, close=close)
