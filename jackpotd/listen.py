"""Where the daemon listens: Twisted endpoint strings, checked without a reactor."""

# mypy: allow-untyped-calls
# (twisted.internet.endpoints has few annotations.)

from __future__ import annotations

import ipaddress
import re
from typing import cast

from twisted.internet.endpoints import serverFromString
from twisted.internet.interfaces import IReactorCore

EXAMPLE = "tcp:7011:interface=127.0.0.1"

_KINDS = ("tcp", "tcp6", "ssl", "tls", "unix", "systemd")
_NO_REACTOR = cast(IReactorCore, None)
"""An endpoint only keeps its reactor until it listens."""


def fault(description: str) -> str:
    """Return what is wrong with an endpoint string; "" if nothing is."""
    kind, positional, named = _split(description)
    if kind not in _KINDS:
        return f"{kind!r} is no kind of listener: {', '.join(_KINDS)}; write it like {EXAMPLE}"
    if kind in ("tcp", "tcp6", "ssl"):
        port = named.get("port") or next(iter(positional), "")
        if not re.fullmatch(r"\d{1,5}", port, re.ASCII) or int(port) > 65535:
            return f"{port!r} is no port, 0 to 65535; write it like {EXAMPLE}"
        interface = _interface(description)
        if interface and not _is_address(interface):
            return f"{interface!r} is no address of an interface; write it like {EXAMPLE}"
    if kind == "systemd":  # its sockets are there only in the service
        complete = len(positional) + len(named) == 2
        return "" if complete else "write it like systemd:domain=INET:index=0"
    try:
        serverFromString(_NO_REACTOR, description)
    except Exception as error:  # each kind's parser raises what it likes
        return f"can't be listened on ({error}); write it like {EXAMPLE}"
    return ""


def is_open(description: str) -> bool:
    """Tell whether keys would cross a network unencrypted: beyond loopback, and without TLS."""
    if _split(description)[0] not in ("tcp", "tcp6"):
        return False
    interface = _interface(description)
    return not interface or not ipaddress.ip_address(interface).is_loopback


def _split(description: str) -> tuple[str, list[str], dict[str, str]]:
    """Return the kind, the positional and the named arguments, without their backslashes."""
    kind, *arguments = (
        re.sub(r"\\(.)", r"\1", part) for part in re.split(r"(?<!\\):", description)
    )
    pairs = [each.split("=", 1) for each in arguments if "=" in each]
    return kind, [each for each in arguments if "=" not in each], dict(pairs)


def _interface(description: str) -> str:
    """Return the interface, "" for all; only tcp takes it by position too."""
    kind, positional, named = _split(description)
    second = positional[1] if kind == "tcp" and len(positional) > 1 else ""
    return named.get("interface", second)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True
