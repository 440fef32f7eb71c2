"""The table port over TLS: who is let in by a certificate, and how a connection ends."""

# mypy: allow-untyped-calls
# (Twisted's test transport has few annotations.)

from __future__ import annotations

import ssl
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from jackpotd.table_link import FLUSH_SECONDS, HELLO_SECONDS
from tests.certificates import CLIENT, SERVER, Certified, certify, client_context
from tests.e2e.talking import Message, line, wager
from tests.jackpotd.table_port import PING, Port, hello
from tests.jackpotd.tls_port import (
    NO_KEY,
    Credentials,
    Logged,
    TlsPeer,
    connected,
    credentials,
    logs,
    server,
)

Connect = Callable[..., TlsPeer]


@pytest.fixture
def house(tmp_path: Path) -> Credentials:
    return credentials(tmp_path)


@pytest.fixture
def logged() -> Iterator[Logged]:
    with logs() as found:
        yield found


@pytest.fixture
def connect(port: Port, house: Credentials, tmp_path: Path) -> Connect:
    """Return what connects a client, with a certificate or without one."""
    tls = house.server()

    def connect(shown: Certified | None = None) -> TlsPeer:
        path = shown.write_both(tmp_path / "shown.pem") if shown else None
        return connected(port, tls, path)

    return connect


# What a client's certificate says


def test_a_key_is_enough(connect: Connect) -> None:
    (welcome,) = connect().ask(hello("fcp-01"))
    assert list(welcome["tables"]) == ["FCP-01"]


def test_without_a_certificate_a_key_is_needed(connect: Connect, port: Port) -> None:
    client = connect()
    (refused,) = client.ask(NO_KEY)
    assert refused["code"] == "bad-key"
    assert port.refusals("bad-key") == 1


@pytest.mark.parametrize("message", [NO_KEY, hello("fcp-01")])
def test_a_certificate_whose_name_is_a_principal_needs_no_key(
    connect: Connect, house: Credentials, message: Message
) -> None:
    client = connect(certify("fcp-01", by=house.authority, usage=CLIENT))
    welcome, pong = client.ask(message, PING)
    assert list(welcome["tables"]) == ["FCP-01"]
    assert pong == {"type": "pong"}
    (accepted,) = client.ask(wager("FCP-01", 1, 1, 1))
    assert accepted["type"] == "accepted"


@pytest.mark.parametrize("names", [("stranger",), (), ("fcp-01", "lir-02"), ("FCP-01",)])
@pytest.mark.parametrize("message", [NO_KEY, hello("fcp-01"), {**hello("fcp-01"), "extra": 1}])
def test_a_certificate_that_names_no_principal_is_refused_even_with_a_right_key(
    connect: Connect, port: Port, house: Credentials, names: tuple[str, ...], message: Message
) -> None:
    client = connect(certify(*names, by=house.authority))
    (refused,) = client.ask(message, PING)
    assert refused["code"] == "bad-key"
    assert "certificate" in refused["message"]
    assert client.ended
    assert port.refusals("bad-key") == 1


@pytest.mark.parametrize("said", [hello("lir-02"), hello("floor-7"), {**NO_KEY, "key": "stolen"}])
def test_a_key_and_a_certificate_name_the_same_principal(
    connect: Connect, house: Credentials, said: Message
) -> None:
    (refused,) = connect(certify("fcp-01", by=house.authority)).ask(said)
    assert refused["code"] == "bad-key"
    assert "fcp-01's" in refused["message"]


def test_a_certificate_gives_no_more_than_its_principal_may(
    connect: Connect, house: Credentials
) -> None:
    table = connect(certify("fcp-01", by=house.authority))
    (refused,) = table.ask({**NO_KEY, "tables": ["LIR-02"]})
    assert refused["code"] == "not-allowed"
    welcome, refused = table.ask(NO_KEY, {"type": "confirm", "hit": 1})
    assert (welcome["type"], refused["code"]) == ("welcome", "not-allowed")


def test_a_principal_that_is_taken_away_is_refused_at_its_next_hello(
    connect: Connect, house: Credentials, tmp_path: Path
) -> None:
    client = connect(certify("fcp-01", by=house.authority))
    assert client.ask(NO_KEY)[0]["type"] == "welcome"
    keys = tmp_path / "keys.yaml"
    entries = keys.read_text().splitlines(keepends=True)
    keys.write_text("".join(each for each in entries if not each.startswith("fcp-01")))
    assert client.ask(NO_KEY)[0]["code"] == "bad-key"


def refused_certificates(authority: Certified) -> dict[str, Certified]:
    other = certify("Riverside tables", authority=True)
    table = certify("fcp-01", by=authority)
    return {
        "expired": certify("fcp-01", by=authority, days=(-30, -1)),
        "not yet valid": certify("fcp-01", by=authority, days=(1, 30)),
        "another authority's, of the same name": certify("fcp-01", by=other),
        "signed by itself": certify("fcp-01"),
        "signed by a table": certify("fcp-01", by=table),
        "for servers": certify("fcp-01", by=authority, usage=SERVER),
    }


@pytest.mark.parametrize("which", list(refused_certificates(certify("any", authority=True))))
def test_a_certificate_that_does_not_hold_ends_the_handshake(
    connect: Connect, port: Port, house: Credentials, logged: Logged, which: str
) -> None:
    client = connect(refused_certificates(house.authority)[which])
    with pytest.raises(ssl.SSLError, match=r"(?i)alert"):
        client.ask(NO_KEY)
    assert client.wire.disconnecting
    client.see_it_closed()
    assert refused_connections(port) == 1
    assert any("no TLS with" in each and "certificate verify failed" in each for each in logged())
    assert not port.pit.links


def refused_connections(port: Port) -> float | None:
    return port.registry.get_sample_value("jackpotd_refused_connections_total", {"reason": "tls"})


def test_an_authority_need_not_be_a_root(port: Port, house: Credentials, tmp_path: Path) -> None:
    """Only whom the property's authority signed is let in, and not all whom its root did."""
    below = certify("Pit", by=house.authority, authority=True)
    house.authority_file.write_bytes(below.certificate_pem)
    tls = house.server()
    shown = certify("fcp-01", by=below).write_both(tmp_path / "shown.pem")
    client = connected(port, tls, shown)
    assert client.ask(NO_KEY)[0]["type"] == "welcome"
    shown = certify("fcp-01", by=house.authority).write_both(tmp_path / "shown.pem")
    other = connected(port, tls, shown)
    with pytest.raises(ssl.SSLError):
        other.ask(NO_KEY)


def test_where_no_authority_is_configured_a_certificate_says_nothing(
    port: Port, house: Credentials, tmp_path: Path
) -> None:
    shown = certify("fcp-01", by=house.authority).write_both(tmp_path / "shown.pem")
    tls = server(replace(house.files, authority=None))
    client = connected(port, tls, shown)
    (refused,) = client.ask(NO_KEY)
    assert refused["code"] == "bad-key"
    (welcome,) = connected(port, tls, shown).ask(hello("lir-02"))
    assert list(welcome["tables"]) == ["LIR-02"]


# How a connection over TLS ends


def test_what_is_no_tls_is_closed(port: Port, house: Credentials) -> None:
    client = TlsPeer(port, house.server(), client_context())
    client.server.dataReceived(line(hello("fcp-01")))
    assert client.wire.disconnecting
    assert not port.queue.waiting
    client.see_it_closed()
    assert refused_connections(port) == 1


def test_a_peer_that_leaves_before_the_handshake_was_not_refused(
    port: Port, house: Credentials
) -> None:
    client = TlsPeer(port, house.server(), client_context())
    client.see_it_closed()
    assert refused_connections(port) == 0
    assert not port.pit.links


def test_a_handshake_that_never_ends_is_cut(port: Port, house: Credentials) -> None:
    client = TlsPeer(port, house.server(), client_context())
    port.clock.advance(HELLO_SECONDS)
    port.run()
    port.clock.advance(FLUSH_SECONDS)
    assert client.wire.disconnected


def test_an_error_is_heard_before_the_connection_ends(connect: Connect) -> None:
    client = connect()
    client.wire.pauseProducing()
    (refused,) = client.ask({**NO_KEY, "protocol": 2})
    assert refused["code"] == "bad-protocol"
    assert client.ended
    assert not client.wire.disconnecting
    assert client.wire.producerState == "producing"
    client.close()
    assert client.wire.disconnecting


def test_a_peer_that_does_not_close_after_an_error_is_cut(connect: Connect, port: Port) -> None:
    client = connect()
    client.ask({**NO_KEY, "protocol": 2})
    port.clock.advance(FLUSH_SECONDS)
    assert client.wire.disconnected


def test_a_daemon_that_stops_says_goodbye(connect: Connect, port: Port) -> None:
    client = connect()
    client.ask(hello("fcp-01"), PING)
    gone = port.pit.hang_up()
    client.carry()
    assert client.ended
    client.close()
    client.see_it_closed()
    assert gone.called


def test_tls_1_2_is_spoken_too(port: Port, house: Credentials) -> None:
    context = client_context()
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    client = TlsPeer(port, house.server(), context).handshake()
    assert client.tls.version() == "TLSv1.2"
    assert client.ask(hello("fcp-01"))[0]["type"] == "welcome"
