"""What a watcher of the table protocol is told: values, hits, and how they end."""

from __future__ import annotations

from collections.abc import Callable

from jackpotd.replies import line
from signage.board import Award, Resolution, Snapshot


class Watcher:
    """Puts the feed into lines of the table protocol."""

    def __init__(self, say: Callable[[bytes], None]) -> None:
        self._say = say

    def meters(self, snapshot: Snapshot) -> None:
        """The newest values."""
        self._say(
            line({"type": "meters", "sequence": snapshot.sequence, "meters": snapshot.meters})
        )

    def hit(self, award: Award) -> None:
        """An award was made."""
        told: dict[str, object] = {
            "type": "hit",
            "sequence": award.sequence,
            "hit": award.hit,
            "table": award.table,
            "round": award.round,
            "progressive": award.progressive,
            "seat": award.seat,
            "hand": award.hand,
            "amount": award.amount_minor,
        }
        if award.line is not None:
            told["line"] = award.line
        if award.level is not None:
            told["level"] = award.level
        if award.meter_minor is not None:
            told["meter"] = award.meter_minor
        told |= {
            "from": award.from_,
            "status": award.status,
            "envy": [{"seat": seat, "amount": amount} for seat, amount in award.envy],
        }
        self._say(line(told))

    def resolved(self, resolution: Resolution) -> None:
        """A pending award was confirmed or denied."""
        self._say(
            line(
                {
                    "type": "resolved",
                    "sequence": resolution.sequence,
                    "hit": resolution.hit,
                    "status": resolution.status,
                }
            )
        )

    def tick(self, sequence: int, at_ms: int) -> None:
        """Nothing: a watcher asks with ping."""
