"""A table of another maker, and a display: the protocol and HTTP spoken without our own code."""

from __future__ import annotations

import http.client
import json
import select
import socket
import ssl
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from threading import Thread
from types import TracebackType
from typing import Any

from tests.e2e.running import PATIENCE_SECONDS

Message = Mapping[str, Any]


def line(message: Message) -> bytes:
    """Put a message into a line."""
    return json.dumps(message).encode() + b"\n"


class Peer:
    """One connection of the table protocol that was welcomed; `welcome` is the reply."""

    def __init__(
        self,
        port: int,
        key: str | None,
        *tables: str,
        host: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        plain = socket.create_connection((host, port), timeout=PATIENCE_SECONDS)
        self._socket = plain if tls is None else tls.wrap_socket(plain)
        self._rest = b""
        hello: dict[str, Any] = {"type": "hello", "protocol": 1}
        if key is not None:
            hello["key"] = key
        try:
            self.welcome = self.ask({**hello, "tables": tables} if tables else hello)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Peer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def ask(self, message: Message) -> dict[str, Any]:
        """Send a message and return the next line that comes."""
        self.send([message])
        return self.told()

    def send(self, messages: Iterable[Message]) -> None:
        """Send messages one behind the other."""
        self._socket.sendall(b"".join(map(line, messages)))

    def send_one_by_one(self, messages: Iterable[Message]) -> None:
        """Send each message by itself, until nobody takes them any more."""
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with suppress(ConnectionError):
            for message in messages:
                self.send([message])

    def told(self) -> dict[str, Any]:
        """Return the next line that comes."""
        found: dict[str, Any] = json.loads(self.heard())
        return found

    def heard(self) -> bytes:
        """Return the next line as it came; b"" at the end, and for half a line before it."""
        while b"\n" not in self._rest:
            try:
                data = self._socket.recv(65_536)
            except ConnectionResetError:
                data = b""
            if not data:
                return b""
            self._rest += data
        found, ending, self._rest = self._rest.partition(b"\n")
        return found + ending

    def has_more(self) -> bool:
        """Tell whether something came that was not heard yet."""
        return bool(self._rest or select.select([self._socket], [], [], 0)[0])

    def heard_to_the_end(self) -> list[bytes]:
        """Return every line that still comes before the connection ends."""
        return list(iter(self.heard, b""))

    def exchange(self, messages: Sequence[Message]) -> list[bytes]:
        """Send messages without waiting for answers, and return as many lines as they are."""
        sending = Thread(target=self.send, args=(messages,))
        sending.start()
        try:
            return [self.heard() for _ in messages]
        finally:
            sending.join()

    def close(self) -> None:
        """Hang up."""
        self._socket.close()


def wager(table: str, seq: int, round_: int, *seats: int, **more: Any) -> dict[str, Any]:
    """Return the lock of a round."""
    head = {"type": "wager", "table": table, "seq": seq, "round": round_}
    return {**head, "seats": seats, **more}


def hit(table: str, seq: int, round_: int, seat: int, hand: str, **more: Any) -> dict[str, Any]:
    """Return a hand at a seat's turn."""
    head = {"type": "hit", "table": table, "seq": seq, "round": round_}
    return {**head, "seat": seat, "hand": hand, **more}


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """An answer over HTTP; header names in small letters."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body, read."""
        return json.loads(self.body)


def fetch(
    port: int,
    path: str,
    *,
    post: object = None,
    host: str = "127.0.0.1",
    tls: ssl.SSLContext | None = None,
    **headers: str,
) -> Page:
    """Ask for a page, or post JSON to it; a header's name is written with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with closing(_opened(host, port, tls)) as link:
        body = None if post is None else json.dumps(post)
        link.request("GET" if post is None else "POST", path, body, named)
        answer = link.getresponse()
        found = {name.lower(): value for name, value in answer.getheaders()}
        return Page(status=answer.status, headers=found, body=answer.read())


def _opened(host: str, port: int, tls: ssl.SSLContext | None) -> http.client.HTTPConnection:
    if tls is None:
        return http.client.HTTPConnection(host, port, timeout=PATIENCE_SECONDS)
    return http.client.HTTPSConnection(host, port, timeout=PATIENCE_SECONDS, context=tls)


class Display:
    """One open event stream: its frames are (event, id, data), one after the other."""

    def __init__(
        self, port: int, path: str = "/api/stream", *, tls: ssl.SSLContext | None = None
    ) -> None:
        self._link = _opened("127.0.0.1", port, tls)
        self._link.request("GET", path)
        self.answer = self._link.getresponse()

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *_: object) -> None:
        self.answer.close()
        self._link.close()

    def frames(self) -> Iterator[tuple[str, int, Any]]:
        """Yield what comes, until the stream ends."""
        fields: dict[str, str] = {}
        while text := self.answer.readline().decode():
            name, _, value = text.rstrip("\n").partition(": ")
            if name:
                fields[name] = value
            elif "event" in fields:
                yield fields["event"], int(fields["id"]), json.loads(fields["data"])
                fields = {}

    def next(self, event: str) -> dict[str, Any]:
        """Return the data of the next frame of a kind; others are passed over."""
        for kind, _, data in self.frames():
            if kind == event:
                found: dict[str, Any] = data
                return found
        raise AssertionError(f"the stream ended without a frame {event}")
