"""The client: what it is told, and what it makes of a daemon that is gone or talks nonsense."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Thread

import pytest

from jackpotd.client import Client, ClientError, NotWelcome, Unreachable, address_of
from tests.live_property import LiveProperty, live_property
from tests.scripted_peer import HANG_UP, SILENCE, WELCOME, ScriptedPeer

PING = {"type": "ping"}
PONG = {"type": "pong"}


@pytest.fixture(scope="module")
def riverside(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveProperty]:
    """A running property."""
    found = live_property(tmp_path_factory.mktemp("riverside"))
    with found.daemon():
        yield found


def connected(found: LiveProperty, *tables: str) -> Client:
    return Client(*found.address(), found.tables_key, tables)


def test_the_welcome_tells_where_each_table_stands(riverside: LiveProperty) -> None:
    client = connected(riverside, "FCP-01", "LIR-03")
    client.close()
    assert list(client.welcome["tables"]) == ["FCP-01", "LIR-03"]
    assert client.welcome["tables"]["FCP-01"]["next_seq"] == 1
    assert client.welcome["meters"]["riverside-royal"]["mega"] >= 50_000_00


def test_a_hello_without_tables_speaks_for_all_of_the_key(riverside: LiveProperty) -> None:
    client = Client(*riverside.address(), riverside.tables_key)
    client.close()
    assert list(client.welcome["tables"]) == list(riverside.config.tables)


def test_a_reply_comes_for_each_request_and_an_error_is_a_reply(riverside: LiveProperty) -> None:
    client = connected(riverside, "FCP-02")
    assert client.ask(PING) == PONG
    assert client.ask({"type": "confirm", "hit": 1})["code"] == "not-allowed"
    assert client.ask(PING) == PONG
    client.close()


def test_replies_of_pipelined_requests_come_in_their_order(riverside: LiveProperty) -> None:
    client = connected(riverside, "CSP-05")
    for seq in range(1, 21):
        client.send({"type": "wager", "table": "CSP-05", "seq": seq, "round": seq, "seats": [1]})
    replies = [client.receive() for _ in range(20)]
    client.close()
    assert [(reply["type"], reply["seq"]) for reply in replies] == [
        ("accepted", seq) for seq in range(1, 21)
    ]


@pytest.mark.parametrize(
    ("key", "tables", "code"),
    [("no such key", None, "bad-key"), (None, ["FCP-99"], "not-allowed")],
)
def test_a_hello_that_is_refused_says_why(
    riverside: LiveProperty, key: str | None, tables: list[str] | None, code: str
) -> None:
    with pytest.raises(NotWelcome) as caught:
        Client(*riverside.address(), key or riverside.tables_key, tables)
    assert caught.value.code == code
    assert not caught.value.retry
    assert str(caught.value).startswith(code)


def test_where_nobody_listens_it_asks_for_the_daemon(free_port: int) -> None:
    with pytest.raises(Unreachable, match="is the daemon running"):
        Client("127.0.0.1", free_port, "key")


def test_pushes_between_replies_are_passed_over() -> None:
    pushes = b'{"type":"hit","hit":1}\n{"type":"meters"}\n{"type":"resolved","hit":1}\n'
    with ScriptedPeer([WELCOME, pushes + b'{"type":"pong"}\n']) as peer:
        client = Client("127.0.0.1", peer.port, "key")
        assert client.ask(PING) == PONG
        client.close()


@pytest.mark.parametrize(
    "answer", [HANG_UP, b'{"type":"po', b"HTTP/1.1 400 Bad Request\r\n\r\n", b"[1]\n"]
)
def test_without_a_whole_reply_the_connection_counts_as_lost(answer: bytes) -> None:
    with ScriptedPeer([WELCOME, answer]) as peer:
        client = Client("127.0.0.1", peer.port, "key")
        with pytest.raises(Unreachable):
            client.ask(PING)
        client.close()


def test_a_daemon_that_hangs_up_at_the_hello_is_not_reached() -> None:
    with ScriptedPeer([HANG_UP]) as peer, pytest.raises(Unreachable):
        Client("127.0.0.1", peer.port, "key")


def test_a_wait_for_an_answer_is_interrupted_from_another_thread() -> None:
    with ScriptedPeer([WELCOME, SILENCE]) as peer:
        client = Client("127.0.0.1", peer.port, "key")
        client.send(PING)
        waker = Thread(target=client.interrupt)
        waker.start()
        with pytest.raises(Unreachable):
            client.receive()
        waker.join()
        client.close()


def test_an_interrupt_after_the_end_does_nothing() -> None:
    with ScriptedPeer([WELCOME]) as peer:
        client = Client("127.0.0.1", peer.port, "key")
        client.close()
        client.interrupt()


@pytest.mark.parametrize(
    ("listener", "host", "port"),
    [
        ("tcp:7011:interface=127.0.0.1", "127.0.0.1", 7011),
        ("tcp:7011", "127.0.0.1", 7011),
        ("tcp:7011:10.0.0.5", "10.0.0.5", 7011),
        ("tcp:interface=10.0.0.5:port=7011", "10.0.0.5", 7011),
        ("tcp:7011:interface=0.0.0.0", "127.0.0.1", 7011),
        ("tcp:7011:backlog=5:interface=10.0.0.5", "10.0.0.5", 7011),
        (r"tcp:7011:interface=\:\:", "::1", 7011),
        (r"tcp6:7011:interface=fe80\:\:1", "fe80::1", 7011),
        ("tcp6:7011", "::1", 7011),
        ("ssl:7011:privateKey=key.pem", "127.0.0.1", 7011),
        ("ssl:7011:key.pem:cert.pem:interface=10.0.0.5", "10.0.0.5", 7011),
    ],
)
def test_a_listener_is_reached_at_its_address(listener: str, host: str, port: int) -> None:
    assert address_of(listener) == (host, port)


@pytest.mark.parametrize(
    "listener", ["tcp:0", "tcp", "ssl:0", "unix:/run/jackpotd", "systemd:domain=INET:index=0"]
)
def test_a_listener_that_is_not_tcp_is_not_reached(listener: str) -> None:
    with pytest.raises(ClientError, match="tcp:PORT and ssl:PORT only"):
        address_of(listener)
