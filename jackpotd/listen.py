"""Where the daemon listens: Twisted endpoint strings, checked without a reactor."""

# mypy: allow-untyped-calls
# (twisted.internet.endpoints has few annotations.)

from __future__ import annotations

import ipaddress
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from twisted.internet.endpoints import SSL4ServerEndpoint, serverFromString
from twisted.internet.interfaces import (
    IOpenSSLServerConnectionCreator,
    IReactorCore,
    IStreamServerEndpoint,
)

EXAMPLE = "tcp:7011:interface=127.0.0.1"
TLS_EXAMPLE = "ssl:7011:privateKey=tls/key.pem:certKey=tls/cert.pem"

_KINDS = ("tcp", "tcp6", "ssl", "unix", "systemd")
_PLACES = {
    "tcp": ("port", "interface", "backlog"),
    "tcp6": ("port", "backlog", "interface"),
    "ssl": ("port", "privateKey", "certKey"),
}
"""What an argument without a name is, by its place."""

_OF_SSL = ("port", "privateKey", "certKey", "extraCertChain", "interface", "backlog")
_FILES = ("privateKey", "certKey", "extraCertChain")
_BACKLOG = "50"
_NO_REACTOR = cast(IReactorCore, None)
"""An endpoint only keeps its reactor until it listens."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listener:
    """An endpoint string, read: its arguments by their names, without their backslashes.

    `unplaced` is how many arguments have neither a name nor a place of their own.
    """

    kind: str
    arguments: Mapping[str, str]
    unplaced: int = 0

    @classmethod
    def read(cls, description: str) -> Listener:
        """Read an endpoint string; whatever is wrong with it is for `fault` to say."""
        kind, *parts = (re.sub(r"\\(.)", r"\1", part) for part in _parts(description))
        positional = [part for part in parts if "=" not in part]
        named = dict(part.split("=", 1) for part in parts if "=" in part)
        places = _PLACES.get(kind, ())
        return cls(
            kind=kind,
            arguments=dict(zip(places, positional, strict=False)) | named,
            unplaced=max(0, len(positional) - len(places)),
        )

    @property
    def port(self) -> str:
        """The port as it is written."""
        return self.arguments.get("port", "")

    @property
    def interface(self) -> str:
        """The address listened on, "" for all."""
        return self.arguments.get("interface", "")


@dataclass(frozen=True, slots=True, kw_only=True)
class TlsFiles:
    """The PEM files of a listener with TLS, as whole paths.

    `certificate` may hold its chain too, or `chain` does; `authority` has the certificates that
    clients' certificates are checked against, where clients may show one.
    """

    private_key: Path
    certificate: Path
    chain: Path | None = None
    authority: Path | None = None


def fault(description: str) -> str:
    """Return what is wrong with an endpoint string; "" if nothing is."""
    listener = Listener.read(description)
    kind = listener.kind
    example = TLS_EXAMPLE if kind == "ssl" else EXAMPLE
    if kind not in _KINDS:
        return f"{kind!r} is no kind of listener: {', '.join(_KINDS)}; write it like {example}"
    if kind in _PLACES:
        port, interface = listener.port, listener.interface
        if not re.fullmatch(r"\d{1,5}", port, re.ASCII) or int(port) > 65535:
            return f"{port!r} is no port, 0 to 65535; write it like {example}"
        if interface and not _is_address(interface):
            return f"{interface!r} is no address of an interface; write it like {example}"
    if kind == "ssl":
        return _fault_of_ssl(listener)
    if kind == "systemd":  # its sockets are there only in the service
        complete = len(listener.arguments) + listener.unplaced == 2
        return "" if complete else "write it like systemd:domain=INET:index=0"
    try:
        serverFromString(_NO_REACTOR, description)
    except Exception as error:  # each kind's parser raises what it likes
        return f"can't be listened on ({error}); write it like {example}"
    return ""


def is_open(description: str) -> bool:
    """Tell whether connections without TLS could come from beyond this host."""
    listener = Listener.read(description)
    if listener.kind not in ("tcp", "tcp6"):
        return False
    interface = listener.interface
    return not interface or not ipaddress.ip_address(interface).is_loopback


def tls_files(description: str, folder: Path, *, authority: Path | None = None) -> TlsFiles | None:
    """Return the files of an `ssl` listener, from `folder` on; None for other kinds."""
    listener = Listener.read(description)
    if listener.kind != "ssl":
        return None
    key, certificate, chain = (listener.arguments.get(name) for name in _FILES)
    return TlsFiles(
        private_key=folder / (key or ""),
        certificate=folder / (certificate or key or ""),
        chain=folder / chain if chain else None,
        authority=authority,
    )


def is_missing(path: Path) -> bool:
    """Tell whether there is no such file for certain."""
    try:
        path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def endpoint(
    reactor: Any, description: str, tls: IOpenSSLServerConnectionCreator | None
) -> IStreamServerEndpoint:
    """Return where to listen; `tls` is that of an `ssl` listener, None for other kinds.

    Twisted's own reading of `ssl:` would keep its certificate until the daemon ends.
    """
    if tls is None:
        return cast(IStreamServerEndpoint, serverFromString(reactor, description))
    listener = Listener.read(description)
    backlog = int(listener.arguments.get("backlog", _BACKLOG))
    return SSL4ServerEndpoint(reactor, int(listener.port), tls, backlog, listener.interface)


def _fault_of_ssl(listener: Listener) -> str:
    unknown = [name for name in listener.arguments if name not in _OF_SSL]
    if unknown or listener.unplaced:
        said = f"{unknown[0]!r} is" if unknown else "there are arguments that are"
        return f"{said} none of {', '.join(_OF_SSL)}; write it like {TLS_EXAMPLE}"
    if not listener.arguments.get("privateKey"):
        return f"no privateKey is given; write it like {TLS_EXAMPLE}"
    backlog = listener.arguments.get("backlog", _BACKLOG)
    if not re.fullmatch(r"[1-9]\d{0,4}", backlog, re.ASCII):
        return f"{backlog!r} is no backlog, 1 to 99999; leave it out for {_BACKLOG}"
    return ""


def _parts(description: str) -> list[str]:
    return re.split(r"(?<!\\):", description)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
