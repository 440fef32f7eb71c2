"""A lost connection comes back, and the unanswered message goes out again as it was."""

from __future__ import annotations

from threading import Thread

import pytest

from jackpotd.client import Client, NotWelcome, Unreachable
from jackpotd.simulate.connection import RECONNECT_SECONDS, Connection, Stopped
from jackpotd.simulate.news import Back, Lost, News
from tests.jackpotd.simulate.impatience import Impatient
from tests.scripted_peer import HANG_UP, SILENCE, WELCOME, ScriptedPeer

WAGER = {"type": "wager", "table": "T1", "seq": 7, "round": 3, "seats": [1, 2]}
ACCEPTED = {"type": "accepted", "table": "T1", "seq": 7}


def refusal(code: str, *, retry: bool) -> dict[str, object]:
    return {"type": "error", "code": code, "message": "no", "retry": retry}


def connection_to(peer: ScriptedPeer, stop: Impatient, told: list[News]) -> Connection:
    return Connection(
        "T1", lambda: Client("127.0.0.1", peer.port, "key"), stop=stop, tell=told.append
    )


def test_an_unanswered_message_is_sent_again_with_the_same_seq() -> None:
    told: list[News] = []
    stop = Impatient()
    with ScriptedPeer([WELCOME, HANG_UP], [HANG_UP], [WELCOME, ACCEPTED]) as peer:
        connection = connection_to(peer, stop, told)
        connection.open()
        assert connection.ask(WAGER) == ACCEPTED
        connection.close()
    assert [lines[1:] for lines in peer.heard] == [[WAGER], [], [WAGER]]
    assert connection.losses == 1
    assert [type(each) for each in told] == [Lost, Back]
    assert stop.waits == [RECONNECT_SECONDS, RECONNECT_SECONDS]


def test_what_was_answered_is_not_sent_again() -> None:
    with ScriptedPeer([WELCOME, ACCEPTED, HANG_UP], [WELCOME, {"type": "pong"}]) as peer:
        connection = connection_to(peer, Impatient(), [])
        connection.open()
        connection.ask(WAGER)
        connection.ask({"type": "ping"})
        connection.close()
    assert peer.heard[1][1:] == [{"type": "ping"}]


def test_a_daemon_that_is_not_ready_for_the_hello_is_asked_again() -> None:
    not_yet = refusal("unavailable", retry=True)
    with ScriptedPeer([WELCOME, HANG_UP], [not_yet], [WELCOME, ACCEPTED]) as peer:
        connection = connection_to(peer, Impatient(), [])
        connection.open()
        assert connection.ask(WAGER) == ACCEPTED
        connection.close()


def test_a_key_that_is_taken_no_more_ends_it() -> None:
    with ScriptedPeer([WELCOME, HANG_UP], [refusal("bad-key", retry=False)]) as peer:
        connection = connection_to(peer, Impatient(), [])
        connection.open()
        with pytest.raises(NotWelcome, match="bad-key"):
            connection.ask(WAGER)


def test_the_first_connection_is_tried_once(free_port: int) -> None:
    told: list[News] = []
    stop = Impatient()
    connection = Connection(
        "T1", lambda: Client("127.0.0.1", free_port, "key"), stop=stop, tell=told.append
    )
    with pytest.raises(Unreachable):
        connection.open()
    assert (stop.waits, told) == ([], [])


def test_when_all_is_over_nobody_waits_for_the_daemon() -> None:
    told: list[News] = []
    stop = Impatient()
    with ScriptedPeer([WELCOME, HANG_UP]) as peer:
        connection = connection_to(peer, stop, told)
        connection.open()
        stop.set()
        with pytest.raises(Stopped):
            connection.ask(WAGER)
    assert (told, connection.losses) == ([], 0)


def test_an_interrupt_wakes_whoever_waits_for_an_answer() -> None:
    stop = Impatient()
    outcomes: list[type[Exception]] = []
    with ScriptedPeer([WELCOME, SILENCE]) as peer:
        connection = connection_to(peer, stop, [])
        connection.open()

        def ask() -> None:
            try:
                connection.ask(WAGER)
            except Stopped as stopped:
                outcomes.append(type(stopped))

        asking = Thread(target=ask)
        asking.start()
        stop.set()
        connection.interrupt()
        asking.join()
    assert outcomes == [Stopped]
