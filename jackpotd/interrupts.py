"""Ctrl-C, and what else asks a command to end: it ends in good order, and is not hurried."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def interruptible() -> Iterator[None]:
    """Let SIGTERM and SIGHUP raise KeyboardInterrupt, as SIGINT does. For the main thread.

    What is ignored already (`nohup`) stays so. On leaving everything is as it was.
    """
    before = {each: signal.getsignal(each) for each in _ENDING}
    for each, was in before.items():
        if was is not signal.SIG_IGN:
            signal.signal(each, signal.default_int_handler)
    try:
        yield
    finally:
        for each, was in before.items():
            signal.signal(each, was)


@contextmanager
def until_interrupted() -> Iterator[None]:
    """Leave what is within at an interrupt, and take no further one: the ending is under way."""
    try:
        yield
    except KeyboardInterrupt:
        for each in _ENDING:
            signal.signal(each, signal.SIG_IGN)
