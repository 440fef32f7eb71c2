"""What a simulation counted: only what was answered, so that it adds up to the record."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import Any

from meters.money import Currency, format_minor


class Tally:
    """Counts of all tables together; threads share it. Amounts are in minor units."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.rounds = 0
        self.misdeals = 0
        self.wagers_minor = 0
        self.returned_minor = 0
        self.awards_minor = 0
        self.envy_minor = 0
        self.denied_minor = 0
        self.hands: Counter[str] = Counter()
        self.confirmed = 0
        self.denied = 0
        self.refusals: Counter[str] = Counter()
        self._pending_minor: dict[int, int] = {}

    def round(self) -> None:
        """Count a round that was played to its end, or was void."""
        with self._lock:
            self.rounds += 1

    def answered(self, reply: Mapping[str, Any]) -> None:
        """Count a reply of the protocol to a table or to the floorperson."""
        with self._lock:
            match reply["type"]:
                case "accepted":
                    self.wagers_minor += reply["amount"]
                case "voided":
                    self.misdeals += 1
                    self.returned_minor += reply["amount"]
                case "award":
                    self._awarded(reply)
                case "confirmed":
                    self.confirmed += 1
                    self._pending_minor.pop(reply["hit"], None)
                case "denied":
                    self.denied += 1
                    self.denied_minor += self._pending_minor.pop(reply["hit"], 0)
                case "error":
                    self.refusals[reply["code"]] += 1

    def _awarded(self, award: Mapping[str, Any]) -> None:
        self.hands[award["hand"]] += 1
        self.awards_minor += award["amount"]
        envy_minor = sum(envy["amount"] for envy in award["envy"])
        self.envy_minor += envy_minor
        if award["status"] == "pending":
            self._pending_minor[award["hit"]] = award["amount"] + envy_minor

    def lines(self, currency: Currency) -> Iterator[str]:
        """Yield the summary, line by line."""

        def money(amount_minor: int) -> str:
            return format_minor(amount_minor, currency)

        with self._lock:
            yield f"rounds    {self.rounds:,}, misdeals {self.misdeals:,}"
            yield f"wagers    {money(self.wagers_minor)}, returned {money(self.returned_minor)}"
            hands = ", ".join(f"{count:,} {hand}" for hand, count in self.hands.most_common())
            yield f"hits      {sum(self.hands.values()):,}" + (f": {hands}" if hands else "")
            yield f"awards    {money(self.awards_minor)}"
            yield f"Envy      {money(self.envy_minor)}"
            yield (
                f"floor     {self.confirmed:,} confirmed, {self.denied:,} denied "
                f"({money(self.denied_minor)} taken back)"
            )
            refused = ", ".join(f"{count:,} {code}" for code, count in self.refusals.items())
            yield f"refusals  {refused or 'none'}"
