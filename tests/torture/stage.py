"""Where a part plays: properties that are gone afterwards, unless something broke."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from tests.e2e.running import output_of
from tests.torture.house import House
from tests.torture.load import Load
from tests.torture.proof import Search, prove
from tests.torture.violation import demand


@dataclass(slots=True, kw_only=True)
class Score:
    """What a part did: how often, and what it looked for. Nothing is ever lost, or it fails."""

    part: str
    what: str = ""
    times: int = 0
    acknowledged: int = 0
    sent_again: int = 0
    proofs: int = 0
    remarks: list[str] = field(default_factory=list)


class Stage:
    """A part's folder, its chance and its score."""

    def __init__(self, part: str, folder: Path, chance: Random, template: House) -> None:
        self.chance = chance
        self.folder = folder
        self.score = Score(part=part)
        self._template = template
        self._houses = 0

    @contextmanager
    def house(self) -> Iterator[tuple[House, Load]]:
        """Give a property that never ran, and its players. What broke is kept."""
        self._houses += 1
        house = self._template.another(self.folder / f"house-{self._houses}")
        load = Load(house, Random(self.chance.random()))
        try:
            yield house, load
        except BaseException:
            house.daemon.kill()
            _write_down(load, house.folder / "load.jsonl")
            raise
        finally:
            load.hang_up()
            house.daemon.kill()
        self.score.acknowledged += load.answered
        self.score.sent_again += load.sent_again
        house.complained()
        shutil.rmtree(house.folder)

    def resume(self, house: House, load: Load) -> Search:
        """Connect to a daemon that is up, ask again what must be, and prove the record."""
        load.connect()
        demand(load.settle(), f"the daemon died by itself:\n{house.last_words()}")
        return self.prove(house, load)

    def prove(self, house: House, load: Load) -> Search:
        """Prove the record of a property at rest."""
        self.score.proofs += 1
        return prove(house, load)

    def close(self, house: House, load: Load) -> None:
        """Start once more, prove, stop in good order, and let the real commands say the same."""
        if not house.daemon.is_running():
            house.start()
        self.resume(house, load)
        load.hang_up()
        house.daemon.stop()
        output_of("ledger", "verify", house.config)
        reconciled = output_of("ledger", "reconcile", house.config)
        demand(reconciled.endswith("no difference\n"), reconciled)


def _write_down(load: Load, path: Path) -> None:
    with path.open("w") as file:
        for peer in load.askers:
            for index, asked in enumerate(peer.asked, start=1):
                answer = peer.answers.get(index, b"null")
                told = {"peer": peer.name, "asked": json.loads(asked), "answer": json.loads(answer)}
                file.write(json.dumps(told) + "\n")
