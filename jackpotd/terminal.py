"""Lines that several threads write, and a progress line that stays below them on a terminal."""

from __future__ import annotations

import sys
from threading import Lock

import click

_CLEAR = "\r\x1b[K"


class Terminal:
    """Where a command says what happens: on stdout, or with `err` on stderr.

    The progress line is on stderr, and only where that is a terminal.
    """

    def __init__(self, *, err: bool = False) -> None:
        self._err = err
        self._lock = Lock()
        self._progress = ""
        self._shows_progress = sys.stderr.isatty()

    def say(self, text: str = "") -> None:
        """Write a line."""
        with self._lock:
            self._erase()
            click.echo(text, err=self._err)
            self._draw()

    def progress(self, text: str) -> None:
        """Put `text` into the progress line; "" takes it away."""
        with self._lock:
            self._erase()
            self._progress = text
            self._draw()

    def _erase(self) -> None:
        if self._shows_progress and self._progress:
            click.echo(_CLEAR, err=True, nl=False)

    def _draw(self) -> None:
        if self._shows_progress and self._progress:
            click.echo(self._progress, err=True, nl=False)
