"""A small client of the table protocol (docs/protocol.md): blocking, one connection.

Whoever uses it decides what a lost connection means: connect anew and send the unanswered
message again, with the same `seq`.
"""

from __future__ import annotations

import socket
import ssl
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from jackpotd.config import Config
from jackpotd.errors import JackpotdError
from jackpotd.listen import Listener
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
    Without `tls` the connection is plain; with it `key` may be None, if a certificate says who
    asks. Raises Unreachable where nobody answers and NotWelcome where the hello is refused.
    """

    def __init__(
        self,
        host: str,
        port: int,
        key: str | None,
        tables: Sequence[str] | None = None,
        *,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._where = f"{host}:{port}"
        self._socket = self._connected(host, port, tls)
        self._lines = self._socket.makefile("rb")
        hello: dict[str, Any] = {"type": "hello", "protocol": PROTOCOL}
        if key is not None:
            hello["key"] = key
        if tables is not None:
            hello["tables"] = list(tables)
        try:
            self.welcome = self.ask(hello)
            if self.welcome["type"] == "error":
                raise NotWelcome(self.welcome)
        except BaseException:
            self.close()
            raise

    def _connected(self, host: str, port: int, tls: ssl.SSLContext | None) -> socket.socket:
        try:
            plain = socket.create_connection((host, port), timeout=CONNECT_SECONDS)
        except OSError as error:
            raise Unreachable(
                f"nobody answers on {self._where} ({error}): is the daemon running?"
            ) from error
        plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            connected = plain if tls is None else tls.wrap_socket(plain)
        except OSError as error:
            plain.close()
            raise Unreachable(
                f"no TLS with {self._where} ({error}); if its certificate was replaced, "
                "the daemon needs a SIGHUP"
            ) from error
        connected.settimeout(ANSWER_SECONDS)
        return connected

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
            # That of TLS would take its state away from under the other thread.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection; what was asked goes on."""
        self._lines.close()
        self._socket.close()

    def _lost(self, error: OSError) -> Unreachable:
        return Unreachable(f"the connection to {self._where} is lost: {error}")


def connect(
    config: Config,
    key: str | None,
    tables: Sequence[str] | None = None,
    *,
    certificate: Path | None = None,
) -> Client:
    """Connect to the table port of a property, with the TLS that it has.

    `certificate` is a PEM file with a client's certificate and its private key. The files are read
    anew each time, since certificates are replaced. Raises ClientError.
    """
    host, port = address_of(config.tables_listen)
    return Client(host, port, key, tables, tls=tls_of(config, certificate))


def tls_of(config: Config, certificate: Path | None = None) -> ssl.SSLContext | None:
    """Return the TLS that reaches the table port; None where that has none. Raises ClientError.

    It trusts the property's own certificate and no other: whoever issued that issues others too,
    and no name is checked, as the configuration says the address.
    """
    if config.tables_tls is None:
        if certificate is not None:
            raise ClientError("tables listen without TLS, so nobody would look at a certificate")
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    path = config.tables_tls.certificate
    try:
        context.load_verify_locations(cadata=_first_certificate(path))
        if certificate is not None:
            path = certificate
            context.load_cert_chain(certificate)
    except OSError as error:
        raise ClientError(f"{path} can't be used: {error}") from error
    return context


def _first_certificate(path: Path) -> str:
    text = path.read_text("utf-8", "replace")
    begin, end = "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----"
    return begin + text.partition(begin)[2].partition(end)[0] + end


def address_of(listener: str) -> tuple[str, int]:
    """Return the host and port that reach a listener such as "tcp:7011:interface=127.0.0.1".

    A listener on all interfaces is reached over loopback. Raises ClientError for one that this
    client can't reach: no TCP, or on a port that the system chooses.
    """
    found = Listener.read(listener)
    if (
        found.kind not in ("tcp", "tcp6", "ssl")
        or not found.port.isdecimal()
        or not int(found.port)
    ):
        raise ClientError(
            f"tables listen on {listener}: a command reaches tcp:PORT and ssl:PORT only"
        )
    interface = found.interface or ("::" if found.kind == "tcp6" else "")
    return _ANYWHERE.get(interface, interface), int(found.port)
