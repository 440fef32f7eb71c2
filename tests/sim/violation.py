"""What the simulation finds, and what it counts."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

Tally = Counter[str]
"""How often each thing happened, by its name ("refused seq-gap", "crash unsynced")."""


class Violation(AssertionError):
    """Something that always holds did not.

    `found` has all of them: the daemon's own code may have caught what was raised within it.
    """

    found: ClassVar[list[Violation]] = []

    def __init__(self, said: str) -> None:
        super().__init__(said)
        self.found.append(self)


def demand(held: bool, *said: object) -> None:
    """Raise Violation, which says `said`, unless something held."""
    if not held:
        raise Violation(" ".join(map(str, said)))
