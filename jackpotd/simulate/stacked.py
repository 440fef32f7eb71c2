"""Stacked decks on request: which seat of which table is to hold which hand, and when."""

from __future__ import annotations

import re
from dataclasses import dataclass

from jackpotd.errors import JackpotdError

ROUND = 3
"""The round of a stacked hand that names none."""

_WISH = re.compile(
    r"(?P<hand>[^@]+)@(?P<table>[^@:]+):(?P<seat>\d{1,3})(?:@(?P<round>\d{1,9}))?", re.ASCII
)


class PlayError(JackpotdError):
    """A table that can't be simulated as asked, or can't go on; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackedHand:
    """One seat's hand. `round` counts the rounds of this simulation at this table, from 1."""

    hand: str
    table: str
    seat: int
    round: int = ROUND

    def __str__(self) -> str:
        return f"{self.hand}@{self.table}:{self.seat}@{self.round}"


def parse_stacked(text: str) -> StackedHand:
    """Read "royal flush@FCP-01:2" or, in the 7th round, "royal flush@FCP-01:2@7".

    Raises PlayError.
    """
    match = _WISH.fullmatch(text)
    if match is None:
        raise PlayError(
            f"{text!r} is no stacked hand: write HAND@TABLE:SEAT or HAND@TABLE:SEAT@ROUND, "
            "like royal flush@FCP-01:2@7"
        )
    round_ = ROUND if match["round"] is None else int(match["round"])
    if not round_ or not int(match["seat"]):
        raise PlayError(f"{text!r}: seats and rounds count from 1")
    return StackedHand(
        hand=" ".join(match["hand"].split()),
        table=match["table"].strip(),
        seat=int(match["seat"]),
        round=round_,
    )
