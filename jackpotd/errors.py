"""What jackpotd raises, one class per remedy; the record and the start-up add their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


class JackpotdError(Exception):
    """Base of everything that jackpotd raises; the message is for whoever runs it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing wrong with a file: where it stands, and what would be right.

    `line` counts from 1 and is 0 for the file as a whole; `key` is the path of keys
    ("progressives.royal.wager"), empty where there is none.
    """

    file: str
    line: int
    key: str
    message: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.key}: {self.message}" if self.key else f"{place}: {self.message}"


class ConfigError(JackpotdError):
    """Files that can't be used until each of `problems` is mended: all that were found."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        found = list(dict.fromkeys(problems))
        files = list(dict.fromkeys(problem.file for problem in found))
        found.sort(key=lambda problem: (files.index(problem.file), problem.line))
        self.problems = tuple(found)
        super().__init__("\n".join(str(problem) for problem in self.problems))
