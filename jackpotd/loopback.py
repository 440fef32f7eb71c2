"""Connections without TLS: from this host they are taken, from beyond it refused."""

# mypy: allow-untyped-calls
# (Twisted's factories have few annotations.)

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Any

from twisted.internet.address import IPv4Address, IPv6Address
from twisted.internet.interfaces import IAddress, IProtocol, IProtocolFactory
from twisted.logger import Logger
from zope.interface import implementer


def is_of_this_host(peer: IAddress | None) -> bool:
    """Tell whether a peer is on this host for certain: over loopback, or a Unix socket.

    A connection to this host's own outer address comes from that address, and counts as beyond.
    """
    if not isinstance(peer, IPv4Address | IPv6Address):
        return True
    address = ipaddress.ip_address(peer.host)
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        return address.ipv4_mapped.is_loopback
    return address.is_loopback


@implementer(IProtocolFactory)
class LoopbackOnly:
    """Closes connections from beyond this host before a byte is read; `refused` is told of each."""

    def __init__(self, factory: Any, refused: Callable[[], None]) -> None:
        self._factory = factory
        self._refused = refused

    def doStart(self) -> None:
        """A port listens."""
        self._factory.doStart()

    def doStop(self) -> None:
        """It listens no more."""
        self._factory.doStop()

    def buildProtocol(self, addr: IAddress | None) -> IProtocol | None:
        """Take a connection; None closes it."""
        if not is_of_this_host(addr):
            self._refused()
            _log.warn(
                "refused {peer}: without TLS, connections come from this host only", peer=addr
            )
            return None
        built: IProtocol | None = self._factory.buildProtocol(addr)
        return built


_log = Logger()
