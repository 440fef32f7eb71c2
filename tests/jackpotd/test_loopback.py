"""Without TLS only this host is served, whatever address a connection comes from."""

from __future__ import annotations

import pytest
from twisted.internet.address import IPv4Address, IPv6Address, UNIXAddress
from twisted.internet.interfaces import IAddress, IProtocolFactory
from twisted.internet.protocol import Factory, Protocol
from zope.interface.verify import verifyObject

from jackpotd.loopback import LoopbackOnly, is_of_this_host

HERE: list[IAddress | None] = [
    IPv4Address("TCP", "127.0.0.1", 1),
    IPv4Address("TCP", "127.8.8.8", 1),
    IPv6Address("TCP", "::1", 1),
    IPv6Address("TCP", "::ffff:127.0.0.1", 1),
    UNIXAddress(b"/run/jackpotd"),
    UNIXAddress(b""),
    None,
]
BEYOND: list[IAddress] = [
    IPv4Address("TCP", "10.1.0.5", 1),
    IPv4Address("TCP", "128.0.0.1", 1),
    IPv4Address("TCP", "0.0.0.0", 1),
    IPv6Address("TCP", "fd00::2", 1),
    IPv6Address("TCP", "fe80::1%eth0", 1),
    IPv6Address("TCP", "::ffff:10.1.0.5", 1),
    IPv6Address("TCP", "::", 1),
]


class Counted:
    """A factory behind the door, and how many connections were refused."""

    def __init__(self) -> None:
        self.factory = Factory.forProtocol(Protocol)
        self.refused = 0
        self.door = LoopbackOnly(self.factory, self._refuse)

    def _refuse(self) -> None:
        self.refused += 1


@pytest.mark.parametrize("peer", HERE)
def test_a_connection_of_this_host_is_taken(peer: IAddress | None) -> None:
    counted = Counted()
    assert is_of_this_host(peer)
    assert isinstance(counted.door.buildProtocol(peer), Protocol)
    assert counted.refused == 0


@pytest.mark.parametrize("peer", BEYOND)
def test_a_connection_from_beyond_is_closed_and_counted(peer: IAddress) -> None:
    counted = Counted()
    assert not is_of_this_host(peer)
    assert counted.door.buildProtocol(peer) is None
    assert counted.refused == 1


def test_it_stands_before_a_factory_and_is_one() -> None:
    counted = Counted()
    verifyObject(IProtocolFactory, counted.door)
    counted.door.doStart()
    assert counted.factory.numPorts == 1
    counted.door.doStop()
    assert counted.factory.numPorts == 0
