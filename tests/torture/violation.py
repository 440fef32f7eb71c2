"""What torture looks for."""

from __future__ import annotations


class Violation(Exception):
    """The daemon broke a promise; the message says which, and what was seen."""


class CannotTry(Exception):
    """What a part needs is not to be had here; the message says what."""


def demand(holds: bool, broken: str) -> None:
    """Raise Violation unless something holds."""
    if not holds:
        raise Violation(broken)
