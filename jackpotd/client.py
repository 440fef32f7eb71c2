"""A small client of the table protocol (docs/protocol.md): blocking, one connection.

Whoever uses it decides what a lost connection means: connect anew and send the unanswered
message again, with the same `seq`.
"""

from __future__ import annotations

import re
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import msgspec

from jackpotd.errors import JackpotdError
from jackpotd.wire import PROTOCOL

CONNECT_SECONDS = 10
ANSWER_SECONDS = 10
"""How long an answer may take; then the connection counts as lost."""

PUSHES = frozenset({"meters", "hit", "resolved"})
"""What a watcher is told unasked; they stand between replies."""

_ANYWHERE = {"": "127.0.0.1", "0.0.0.0": "127.0.0.1", "::": "::1"}


class ClientError(JackpotdError):
    """The daemon can't be spoken with."""


class Unreachable(ClientError):
    """There is no connection, or no more: connect anew, and ask again what was not answered."""


class NotWelcome(ClientError):
    """The hello was refused: `code` of the protocol's refusals; `retry` if it may work later."""

    def __init__(self, reply: Mapping[str, Any]) -> None:
        self.code: str = reply["code"]
        self.retry: bool = reply["retry"]
        super().__init__(f"{self.code}: {reply['message']}")


class Client:
    """One connection that has said hello and was welcomed; `welcome` is the reply.

    `tables` as in the hello: None speaks for all of the key's tables, an empty list for none.
    Raises Unreachable where nobody answers and NotWelcome where the hello is refused.
    """

    def __init__(self, host: str, port: int, key: str, tables: Sequence[str] | None = None) -> None:
        self._where = f"{host}:{port}"
        try:
            self._socket = socket.create_connection((host, port), timeout=CONNECT_SECONDS)
        except OSError as error:
            raise Unreachable(
                f"nobody answers on {self._where} ({error}): is the daemon running?"
            ) from error
        self._socket.settimeout(ANSWER_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._lines = self._socket.makefile("rb")
        hello: dict[str, Any] = {"type": "hello", "protocol": PROTOCOL, "key": key}
        if tables is not None:
            hello["tables"] = list(tables)
        try:
            self.welcome = self.ask(hello)
            if self.welcome["type"] == "error":
                raise NotWelcome(self.welcome)
        except BaseException:
            self.close()
            raise

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Send a request and return its reply, which may be an error; pushes are passed over.

        Not for `watch`, and not while replies of pipelined requests are due. Raises Unreachable.
        """
        self.send(request)
        while True:
            reply = self.receive()
            if reply["type"] not in PUSHES:
                return reply

    def send(self, request: Mapping[str, Any]) -> None:
        """Send a request and don't wait for its reply. Raises Unreachable."""
        try:
            self._socket.sendall(msgspec.json.encode(request) + b"\n")
        except OSError as error:
            raise self._lost(error) from error

    def receive(self) -> dict[str, Any]:
        """Return the next reply or push. Raises Unreachable."""
        try:
            line = self._lines.readline()
        except OSError as error:
            raise self._lost(error) from error
        if not line.endswith(b"\n"):
            raise Unreachable(f"{self._where} closed the connection")
        try:
            reply = msgspec.json.decode(line, type=dict[str, Any])
        except msgspec.DecodeError as error:
            raise Unreachable(f"{self._where} doesn't speak this protocol: {error}") from error
        return reply

    def interrupt(self) -> None:
        """End a wait in another thread: it gets Unreachable."""
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection; what was asked goes on."""
        self._lines.close()
        self._socket.close()

    def _lost(self, error: OSError) -> Unreachable:
        return Unreachable(f"the connection to {self._where} is lost: {error}")


def address_of(listener: str) -> tuple[str, int]:
    """Return the host and port that reach a listener such as "tcp:7011:interface=127.0.0.1".

    A listener on all interfaces is reached over loopback. Raises ClientError for one that this
    client can't reach: not plain TCP, or on a port that the system chooses.
    """
    kind, *arguments = (re.sub(r"\\(.)", r"\1", part) for part in re.split(r"(?<!\\):", listener))
    positional = [part for part in arguments if "=" not in part]
    named = dict(part.split("=", 1) for part in arguments if "=" in part)
    places = dict(zip(("port", "interface"), positional, strict=False)) | named
    port = places.get("port", "0")
    if kind not in ("tcp", "tcp6") or not port.isdecimal() or not int(port):
        raise ClientError(f"tables listen on {listener}: a command reaches tcp:PORT only")
    interface = places.get("interface", "::" if kind == "tcp6" else "")
    return _ANYWHERE.get(interface, interface), int(port)
