"""A real daemon with TLS: who gets in, who doesn't, and certificates replaced while tables play."""

from __future__ import annotations

import os
import signal
import socket
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from OpenSSL import SSL

from tests.certificates import SERVER, Certified, certify, client_context, serial_in
from tests.e2e.running import (
    PATIENCE_SECONDS,
    RIVERSIDE,
    Daemon,
    Property,
    riverside,
    until,
)
from tests.e2e.talking import Display, Peer, fetch, hit, wager

LISTEN = "ssl:0:privateKey=tls/key.pem:certKey=tls/cert.pem:interface=127.0.0.1"
PONG = {"type": "pong"}


@dataclass(frozen=True, slots=True, kw_only=True)
class House:
    """A running property with TLS, and who signs the certificates of its tables."""

    house: Property
    daemon: Daemon
    own: Certified
    authority: Certified

    @property
    def port(self) -> int:
        """Where tables connect."""
        return self.daemon.ports["tables"]

    def connect(self, key: str = "", shown: Certified | None = None) -> Peer:
        """Connect with the key of a principal, a certificate, both, or neither."""
        return Peer(self.port, self.house.keys.get(key), tls=self.context(shown))

    def context(self, shown: Certified | None = None) -> ssl.SSLContext:
        """Return the TLS of a client, which may show a certificate."""
        path = shown.write_both(self.house.folder / "shown.pem") if shown else None
        return client_context(path)

    def serial(self) -> int:
        """Return the serial number of the certificate that a new connection is shown."""
        with (
            socket.create_connection(("127.0.0.1", self.port), PATIENCE_SECONDS) as plain,
            self.context().wrap_socket(plain) as link,
        ):
            return serial_in(link.getpeercert(binary_form=True))

    def refused(self, reason: str) -> float:
        """Return how many connections were refused."""
        page = fetch(self.daemon.ports["http"], "/metrics", tls=self.context()).body.decode()
        return refused_in(page, reason)

    def hang_up(self) -> None:
        """Send SIGHUP."""
        os.kill(self.daemon.pid, signal.SIGHUP)


def refused_in(page: str, reason: str) -> float:
    """Return a number of refused connections from the metrics."""
    name = f'jackpotd_refused_connections_total{{reason="{reason}"}} '
    (line,) = (line for line in page.splitlines() if line.startswith(name))
    return float(line.removeprefix(name))


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> tuple[Property, Certified, Certified]:
    """A property with its certificates, and its tables' authority in tls/clients.pem."""
    house = riverside(tmp_path_factory.mktemp("tls") / "house")
    own, authority = certify("riverside"), certify("Riverside tables", authority=True)
    own.write(house.folder / "tls")
    (house.folder / "tls" / "clients.pem").write_bytes(authority.certificate_pem)
    house.write(
        f"{RIVERSIDE}client_authority: tls/clients.pem\n", tables_listen=LISTEN, http_listen=LISTEN
    )
    return house, own, authority


@pytest.fixture
def house(tmp_path: Path, template: tuple[Property, Certified, Certified]) -> Iterator[House]:
    made, own, authority = template
    copy = made.copied_to(tmp_path / "house")
    with copy.running() as daemon:
        yield House(house=copy, daemon=daemon, own=own, authority=authority)


def test_a_table_plays_with_its_key_and_a_display_watches(house: House) -> None:
    port = house.daemon.ports["http"]
    with house.connect("pit") as pit:
        assert list(pit.welcome["tables"]) == ["FCP-01", "FCP-02", "LIR-03", "THB-04"]
        assert pit.ask(wager("FCP-01", 1, 1, 1, 2))["type"] == "accepted"
        assert pit.ask(hit("FCP-01", 2, 1, 2, "flush"))["type"] == "award"
    assert fetch(port, "/sign/pit-1", tls=house.context()).status == 200
    with Display(port, tls=house.context()) as display:
        assert display.next("meters")["progressives"]["riverside-royal"]
        house.daemon.stop()
        assert [kind for kind, _, _ in display.frames()] == []


def test_a_certificate_stands_for_a_key(house: House) -> None:
    pit, floor = certify("pit", by=house.authority), certify("floor-1", by=house.authority)
    with house.connect(shown=pit) as table, house.connect("floor-1", floor) as person:
        assert table.ask(wager("FCP-01", 1, 1, 1, 2))["type"] == "accepted"
        assert table.ask(hit("FCP-01", 2, 1, 2, "royal flush"))["status"] == "pending"
        assert person.ask({"type": "confirm", "hit": 1})["by"] == "floor-1"


@pytest.mark.parametrize(
    ("key", "name"), [("", None), ("", "stranger"), ("pit", "stranger"), ("pit", "floor-1")]
)
def test_without_either_or_with_the_wrong_one_it_is_a_bad_key(
    house: House, key: str, name: str | None
) -> None:
    shown = certify(name, by=house.authority) if name else None
    with house.connect(key, shown) as peer:
        assert peer.welcome["code"] == "bad-key"
        assert peer.heard() == b""
    with house.connect("pit") as pit:
        assert pit.welcome["type"] == "welcome"


def test_certificates_that_do_not_hold_end_the_handshake(house: House) -> None:
    bad = [
        certify("pit", by=house.authority, days=(-30, -1)),
        certify("pit", by=house.authority, days=(1, 30)),
        certify("pit", by=certify("Riverside tables", authority=True)),
        certify("pit", by=certify("pit", by=house.authority)),
        certify("pit", by=house.authority, usage=SERVER),
        certify("pit"),
    ]
    with house.connect("pit") as pit:
        for each in bad:
            assert "alert" in alert_of(house, house.context(each)).lower()
        assert pit.ask({"type": "ping"}) == PONG
    assert house.refused("tls") == len(bad)
    assert house.daemon.log.count("certificate verify failed") == len(bad)


def alert_of(house: House, context: ssl.SSLContext) -> str:
    """Return with what the daemon refuses a handshake."""
    with (
        socket.create_connection(("127.0.0.1", house.port), PATIENCE_SECONDS) as plain,
        pytest.raises(ssl.SSLError) as caught,
        context.wrap_socket(plain) as link,
    ):
        link.recv(1)
    return str(caught.value)


@pytest.mark.parametrize("listener", ["tables", "http"])
@pytest.mark.parametrize(
    "said",
    [b'{"type":"hello","protocol":1,"key":"x"}\n', b"GET / HTTP/1.1\r\n\r\n", bytes(18)],
)
def test_what_is_no_tls_is_closed_and_the_daemon_goes_on(
    house: House, listener: str, said: bytes
) -> None:
    address = ("127.0.0.1", house.daemon.ports[listener])
    with socket.create_connection(address, PATIENCE_SECONDS) as plain:
        plain.sendall(said)
        assert b"welcome" not in all_of(plain)
    with house.connect("pit") as pit:
        assert pit.ask({"type": "ping"}) == PONG
    assert fetch(house.daemon.ports["http"], "/healthz", tls=house.context()).status == 200


def all_of(link: socket.socket) -> bytes:
    """Return what comes until the other side closes, in whichever way."""
    heard = b""
    try:
        while data := link.recv(65_536):
            heard += data
    except ConnectionResetError:
        pass
    return heard


@pytest.mark.parametrize("listener", ["tables", "http"])
def test_tls_1_1_is_refused_and_1_2_is_spoken(house: House, listener: str) -> None:
    port = house.daemon.ports[listener]
    with pytest.raises(SSL.Error, match="protocol version"):
        handshake_with(port, SSL.TLS1_1_VERSION)
    assert handshake_with(port, SSL.TLS1_2_VERSION) == "TLSv1.2"
    assert handshake_with(port, SSL.TLS1_3_VERSION) == "TLSv1.3"


def handshake_with(port: int, newest: int) -> str:
    """Shake hands with at most this version, and return the one agreed upon. Raises SSL.Error."""
    context = SSL.Context(SSL.TLS_CLIENT_METHOD)
    context.set_max_proto_version(newest)
    context.set_cipher_list(b"ALL:@SECLEVEL=0")
    with socket.create_connection(("127.0.0.1", port)) as plain:
        link = SSL.Connection(context, plain)
        link.set_connect_state()
        link.do_handshake()
        return link.get_protocol_version_name()


# SIGHUP


def test_a_replaced_certificate_is_shown_from_the_next_sighup_on(house: House) -> None:
    replacement = certify("riverside")
    with house.connect("pit") as old:
        assert house.serial() == house.own.serial
        replacement.write(house.house.folder / "tls")
        assert house.serial() == house.own.serial
        house.hang_up()
        until(lambda: house.serial() == replacement.serial)
        assert old.ask(wager("FCP-01", 1, 1, 1))["type"] == "accepted"
        with house.connect("floor-1") as new:
            assert new.welcome["type"] == "welcome"
    assert fetch(house.daemon.ports["http"], "/readyz", tls=house.context()).status == 200


def test_a_broken_certificate_changes_nothing_and_a_mended_one_is_taken(house: House) -> None:
    folder = house.house.folder / "tls"
    replacement = certify("riverside")
    (folder / "key.pem").write_bytes(replacement.key_pem)
    house.hang_up()
    until(lambda: house.daemon.log.count("TLS stays as it was") == 2)
    assert f"{folder}/cert.pem: this is not the certificate of the key" in house.daemon.log
    assert house.serial() == house.own.serial
    (folder / "cert.pem").write_bytes(replacement.certificate_pem)
    house.hang_up()
    until(lambda: house.serial() == replacement.serial)


def test_another_authority_is_trusted_from_the_next_sighup_on(house: House) -> None:
    other = certify("New tables", authority=True)
    (house.house.folder / "tls" / "clients.pem").write_bytes(other.certificate_pem)
    with house.connect(shown=certify("pit", by=house.authority)) as old:
        house.hang_up()
        until(lambda: house.daemon.log.count("keys.yaml was read again") == 1)
        with house.connect(shown=certify("floor-1", by=other)) as new:
            assert new.welcome["type"] == "welcome"
        alert_of(house, house.context(certify("pit", by=house.authority)))
        assert old.ask({"type": "ping"}) == PONG


def test_broken_principals_change_nothing(house: House) -> None:
    (house.house.folder / "keys.yaml").write_text("pit: {role: king}\n")
    house.hang_up()
    until(lambda: "so the keys stay as they were" in house.daemon.log)
    with house.connect("pit") as pit:
        assert pit.welcome["type"] == "welcome"
