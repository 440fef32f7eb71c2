"""A connection that comes back: the unanswered message is sent again, and nothing happens twice."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Event, Lock
from typing import Any

from jackpotd.client import Client, NotWelcome, Unreachable
from jackpotd.simulate.news import Back, Lost, Tell

RECONNECT_SECONDS = 0.25


class Stopped(Exception):
    """The simulation is over: nothing more is asked."""


class Connection:
    """The connection of one table, of a concentrator for all, or of the floorperson.

    Threads may share it: it asks one question after the other. `stop` ends waiting for a daemon
    that doesn't come back.
    """

    def __init__(
        self, name: str, connect: Callable[[], Client], *, stop: Event, tell: Tell
    ) -> None:
        self._name = name
        self._connect = connect
        self._stop = stop
        self._tell = tell
        self._lock = Lock()
        self._client: Client | None = None
        self.losses = 0

    def open(self) -> dict[str, Any]:
        """Connect and return the welcome. Raises ClientError: a first try is the only one."""
        self._client = self._connect()
        return self._client.welcome

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the reply to a request, however often the connection is lost before it came.

        Raises Stopped if it is lost and the simulation over, NotWelcome if the daemon doesn't
        take the key any more.
        """
        with self._lock:
            while True:
                try:
                    return self._connected().ask(request)
                except Unreachable as error:
                    self._lose(error)
                except NotWelcome as error:
                    if not error.retry:
                        raise
                if self._stop.wait(RECONNECT_SECONDS):
                    raise Stopped

    def interrupt(self) -> None:
        """Wake a thread that waits for an answer, from another one; call it when `stop` is set."""
        client = self._client
        if client is not None:
            client.interrupt()

    def close(self) -> None:
        """Close the connection."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def _connected(self) -> Client:
        if self._client is None:
            self._client = self._connect()
            self._tell(Back(name=self._name))
        return self._client

    def _lose(self, error: Unreachable) -> None:
        if self._client is None:
            return
        self.close()
        if not self._stop.is_set():
            self.losses += 1
            self._tell(Lost(name=self._name, why=str(error)))
