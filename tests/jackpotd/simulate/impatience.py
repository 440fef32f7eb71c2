"""A stop that nobody waits for: whoever waits goes on at once."""

from __future__ import annotations

from collections.abc import Callable
from threading import Event


class Impatient(Event):
    """An event whose `wait` returns at once; `waits` has how long was asked for, in seconds.

    `then` is called at each wait: a test lets time pass there, or stops.
    """

    def __init__(self, then: Callable[[], None] | None = None) -> None:
        super().__init__()
        self.waits: list[float | None] = []
        self._then = then

    def wait(self, timeout: float | None = None) -> bool:
        """Note the wait and return whether it is over."""
        self.waits.append(timeout)
        if self._then is not None:
            self._then()
        return self.is_set()
