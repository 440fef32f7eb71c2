"""Connections without TLS from beyond this host: refused, unless the configuration says so."""

from __future__ import annotations

import fcntl
import http.client
import json
import socket
import struct
from contextlib import suppress
from pathlib import Path

import pytest

from tests.certificates import certify, client_context
from tests.e2e.running import PATIENCE_SECONDS, RIVERSIDE, Daemon, Property, riverside
from tests.e2e.talking import Peer, fetch, line
from tests.e2e.test_tls import refused_in

SIOCGIFADDR = 0x8915


@pytest.fixture(scope="module")
def outer() -> str:
    """An address of this host that is not loopback: what connects to it comes from it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            with suppress(OSError):
                packed = fcntl.ioctl(asked, SIOCGIFADDR, struct.pack("256s", name.encode()))
                address = socket.inet_ntoa(packed[20:24])
                if not address.startswith("127."):
                    return address
    pytest.fail("this host has no address but loopback: ip addr add 198.18.0.1/32 dev lo")


@pytest.fixture
def house(tmp_path: Path) -> Property:
    return riverside(tmp_path / "house", tables_listen="tcp:0", http_listen="tcp:0")


def heard_at(address: tuple[str, int], said: bytes) -> bytes:
    """Return what comes for some bytes until the other side closes, in whichever way."""
    heard = b""
    with socket.create_connection(address, PATIENCE_SECONDS) as link, suppress(OSError):
        link.sendall(said)
        while data := link.recv(65_536):
            heard += data
    return heard


def knock(daemon: Daemon, host: str, key: str) -> list[bytes]:
    """Return what both listeners say to a connection without TLS."""
    hello = {"type": "hello", "protocol": 1, "key": key}
    get = b"GET /healthz HTTP/1.1\r\nHost: riverside\r\nConnection: close\r\n\r\n"
    return [
        heard_at((host, daemon.ports["tables"]), line(hello)),
        heard_at((host, daemon.ports["http"]), get),
    ]


def test_it_is_refused_counted_and_logged(house: Property, outer: str) -> None:
    with house.running() as daemon:
        assert knock(daemon, outer, house.keys["pit"]) == [b"", b""]
        page = fetch(daemon.ports["http"], "/metrics").body.decode()
        assert refused_in(page, "without-tls") == 2
        assert refused_in(page, "tls") == 0
        assert daemon.log.count("without TLS, connections come from this host only") == 2
        with Peer(daemon.ports["tables"], house.keys["pit"]) as pit:
            assert pit.welcome["type"] == "welcome"


def test_it_is_taken_where_the_configuration_says_so(house: Property, outer: str) -> None:
    house.write(f"{RIVERSIDE}without_tls: any host\n", tables_listen="tcp:0", http_listen="tcp:0")
    with house.running() as daemon:
        assert fetch(daemon.ports["http"], "/healthz", host=outer).status == 200
        with Peer(daemon.ports["tables"], house.keys["pit"], host=outer) as pit:
            assert pit.welcome["type"] == "welcome"


def test_with_tls_any_host_is_served(house: Property, outer: str) -> None:
    certify("riverside").write(house.folder / "tls")
    listen = "ssl:0:privateKey=tls/key.pem:certKey=tls/cert.pem"
    house.write(RIVERSIDE, tables_listen=listen, http_listen=listen)
    with house.running() as daemon:
        port, tls = daemon.ports["http"], client_context()
        assert fetch(port, "/healthz", host=outer, tls=tls).status == 200
        with Peer(daemon.ports["tables"], house.keys["pit"], host=outer, tls=tls) as pit:
            assert pit.welcome["type"] == "welcome"


def test_a_unix_socket_is_of_this_host(house: Property) -> None:
    folder = house.folder
    house.write(RIVERSIDE, tables_listen=f"unix:{folder}/t", http_listen=f"unix:{folder}/h")
    with house.running() as daemon, socket.socket(socket.AF_UNIX) as link:
        assert daemon.ports == {"tables": 0, "http": 0}
        link.settimeout(PATIENCE_SECONDS)
        link.connect(f"{folder}/t")
        link.sendall(line({"type": "hello", "protocol": 1, "key": house.keys["pit"]}))
        with link.makefile("rb") as lines:
            assert json.loads(lines.readline())["type"] == "welcome"
        with socket.socket(socket.AF_UNIX) as browser:
            browser.settimeout(PATIENCE_SECONDS)
            browser.connect(f"{folder}/h")
            browser.sendall(b"GET /healthz HTTP/1.1\r\nHost: riverside\r\n\r\n")
            answer = http.client.HTTPResponse(browser)
            answer.begin()
            assert (answer.status, answer.read()) == (200, b'{"alive":true}')
