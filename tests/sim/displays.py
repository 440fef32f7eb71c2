"""Judges what displays are told: never a value that is not durable, never one that goes back."""

from __future__ import annotations

from typing import Any

from tests.sim.auditor import Auditor
from tests.sim.violation import Tally, demand

Told = dict[str, Any]


class Shown:
    """What one display was told in one life of the daemon.

    `sequence` is that of its newest values, `meters` those of a watcher, and `body` those of a
    sign.
    """

    def __init__(self, auditor: Auditor, tally: Tally) -> None:
        self.sequence = 0
        self.meters: Told | None = None
        self.body: Told | None = None
        self._auditor = auditor
        self._tally = tally
        self._hits: set[int] = set()
        self._resolved: set[int] = set()

    def watcher_told(self, told: Told) -> None:
        """Judge a push of the table protocol."""
        self._tally[f"push {told['type']}"] += 1
        match told["type"]:
            case "meters":
                self._moves_to(told["sequence"], told)
                durable = self._auditor.shown[told["sequence"]]
                demand(told["meters"] == durable, told, "is shown, but durable is", durable)
                self.meters = told["meters"]
            case "hit":
                self._hit(told, whole=True)
            case "resolved":
                self._settled(told)
            case _:
                demand(False, told, "is nothing that a watcher is told")

    def sign_told(self, kind: str, number: int, told: Told) -> None:
        """Judge a frame of the event stream."""
        self._tally[f"frame {kind}"] += 1
        demand(number == told["sequence"], told, "has the id", number)
        match kind:
            case "meters":
                self._moves_to(number, told)
                self._body(told)
                self.body = told
            case "hit":
                self._hit(told, whole=False)
            case "resolved":
                self._settled(told)
            case "tick":
                demand(number <= self._auditor.number, told, "is not durable")

    def _moves_to(self, sequence: int, told: Told) -> None:
        demand(sequence <= self._auditor.number, told, "is not durable: row", self._auditor.number)
        demand(sequence >= self.sequence, told, "goes back from", self.sequence)
        self.sequence = sequence

    def _body(self, told: Told) -> None:
        shown = self._auditor.shown[told["sequence"]]
        generations = self._auditor.generations[told["sequence"]]
        for name, progressive in told["progressives"].items():
            for level, value in progressive["levels"].items():
                durable = (shown[name][level], generations[name][level])
                said = (value["amount"], value["generation"])
                demand(said == durable, name, level, said, "is shown, but durable is", durable)
            for award in progressive["pending"]:
                self._award(award)
            for awards in progressive["last"].values():
                for award in awards:
                    self._award(award)

    def _award(self, award: Told) -> Told:
        durable = self._auditor.hits.get(award["hit"])
        demand(durable is not None, award, "is shown, and is not durable")
        assert durable is not None
        for name in ("table", "seat", "hand", "amount", "line", "level"):
            same = award.get(name) == durable.get(name)
            demand(same, award, "is shown, but durable is", durable)
        if award["status"] == "paid":
            paid = self._auditor.standing(award["hit"]) == "paid"
            demand(paid, award, "is shown as paid, and is not")
        else:
            demand(durable["status"] == "pending", award, "was never pending")
        return durable

    def _hit(self, told: Told, *, whole: bool) -> None:
        durable = self._award(told)
        for name in ("progressive", "round", "meter", "from", "sequence"):
            same = told.get(name) == durable.get(name)
            demand(same, told, "is told, but durable is", durable)
        if whole:
            demand(told["envy"] == durable["envy"], told, "gives other Envy than", durable)
        demand(told["hit"] not in self._hits, told, "is told twice")
        self._hits.add(told["hit"])

    def _settled(self, told: Told) -> None:
        row, _ = self._auditor.settled.get(told["hit"], (0, None))
        demand(row == told["sequence"], told, "is told, and is not durable")
        same = self._auditor.standing(told["hit"]) == told["status"]
        demand(same, told, "is told, and it ended otherwise")
        demand(told["hit"] not in self._resolved, told, "is told twice")
        self._resolved.add(told["hit"])
