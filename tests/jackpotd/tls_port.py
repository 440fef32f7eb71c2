"""The table port over TLS, without sockets: bytes are carried from one side to the other.

The daemon's side is Twisted's own TLS over a string; the client is Python's.
"""

# mypy: allow-untyped-calls
# (Twisted's test transport has few annotations.)

from __future__ import annotations

import json
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from twisted.internet.error import ConnectionDone
from twisted.logger import capturedLogs, formatEvent
from twisted.protocols.tls import TLSMemoryBIOFactory
from twisted.python.failure import Failure

from jackpotd.listen import TlsFiles
from jackpotd.tls import ServerTls
from tests.certificates import Certified, certify, client_context, serial_in
from tests.e2e.talking import Message, line
from tests.jackpotd.table_port import Port, Wire

NOW = datetime.now(UTC)
NO_KEY: Message = {"type": "hello", "protocol": 1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """The property's certificate, which nobody else signed, and who signs those of its tables."""

    own: Certified
    authority: Certified
    files: TlsFiles

    @property
    def authority_file(self) -> Path:
        """The file with the authority's certificate."""
        assert self.files.authority is not None
        return self.files.authority

    def server(self) -> ServerTls:
        """Read the files, as the daemon does."""
        return server(self.files)


def credentials(folder: Path) -> Credentials:
    """Make the certificates of a property, with their files in tls/ of a folder."""
    own, authority = certify("riverside"), certify("Riverside tables", authority=True)
    folder = own.write(folder / "tls")
    files = TlsFiles(
        private_key=folder / "key.pem",
        certificate=folder / "cert.pem",
        authority=folder / "clients.pem",
    )
    (folder / "clients.pem").write_bytes(authority.certificate_pem)
    return Credentials(own=own, authority=authority, files=files)


def server(files: TlsFiles) -> ServerTls:
    """Read files, as the daemon does."""
    return ServerTls(files, now=lambda: NOW)


Logged = Callable[[], list[str]]


@contextmanager
def logs() -> Iterator[Logged]:
    """Give what was logged so far, in words."""
    with capturedLogs() as events:
        yield lambda: [formatEvent(each) for each in events]


class TlsPeer:
    """A client of the table port over TLS; `wire` is the daemon's end of its connection."""

    def __init__(self, port: Port, tls: ServerTls, context: ssl.SSLContext) -> None:
        self._port = port
        self._in, self._out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self._in, self._out)
        self.wire = Wire()
        factory = TLSMemoryBIOFactory(tls, False, port.factory, port.clock)
        self.server = factory.buildProtocol(None)
        self.server.makeConnection(self.wire)

    def handshake(self) -> TlsPeer:
        """Shake hands. Raises SSLError if the daemon doesn't."""
        for _ in range(10):
            try:
                self.tls.do_handshake()
            except ssl.SSLWantReadError:
                self.carry()
            else:
                # TLS 1.3 is done for the client before the daemon has seen its certificate.
                self.carry()
                return self
        raise AssertionError("the handshake doesn't end")

    def carry(self) -> None:
        """Carry what each side has said to the other."""
        self._deliver()
        self._port.clock.advance(0)
        self._in.write(self.wire.value())
        self.wire.clear()

    def _deliver(self) -> None:
        said = self._out.read()
        if said:
            self.server.dataReceived(said)

    def ask(self, *messages: Message) -> list[dict[str, Any]]:
        """Send messages in one packet and return what comes. Raises SSLError."""
        self.tls.write(b"".join(map(line, messages)))
        self._deliver()
        self._port.run()
        self.carry()
        heard = b""
        while True:
            try:
                data = self.tls.read(65_536)
            except (ssl.SSLWantReadError, ssl.SSLZeroReturnError):
                break
            if not data:
                break
            heard += data
        return [json.loads(each) for each in heard.splitlines()]

    @property
    def ended(self) -> bool:
        """Tell whether the daemon has said that nothing more comes."""
        try:
            return not self.tls.read(1)
        except ssl.SSLZeroReturnError:
            return True
        except ssl.SSLWantReadError:
            return False

    def close(self) -> None:
        """Say goodbye, as a client does that has read all."""
        self.tls.unwrap()
        self._deliver()

    @property
    def serial(self) -> int:
        """The serial number of the certificate that the daemon has shown."""
        return serial_in(self.tls.getpeercert(binary_form=True))

    def see_it_closed(self) -> None:
        """Let the daemon see that the socket is closed."""
        self.server.connectionLost(Failure(ConnectionDone()))


def connected(port: Port, tls: ServerTls, shown: Path | None = None) -> TlsPeer:
    """Connect a client, with the file of its certificate or without one, and shake hands."""
    return TlsPeer(port, tls, client_context(shown)).handshake()
