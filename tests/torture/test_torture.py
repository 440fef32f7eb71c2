"""A short slice of the torture, and the proof that it would see what it looks for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random

import pytest

from tests.torture.disk import Cut
from tests.torture.hardships import clock_jumps, no_descriptors, stopped
from tests.torture.house import House
from tests.torture.kills import kills
from tests.torture.load import Load
from tests.torture.powercuts import COMMITS, failing_syncs, power_cuts, rows_after_cut
from tests.torture.proof import prove
from tests.torture.stage import Stage
from tests.torture.stores import full_disk, read_only
from tests.torture.violation import CannotTry, Violation

PARTS: dict[str, Callable[[Stage], None]] = {
    "kill": lambda stage: kills(stage, 4),
    "power-cut": lambda stage: power_cuts(stage, 4),
    "failing-syncs": lambda stage: failing_syncs(stage, 1),
    "full-disk": lambda stage: full_disk(stage, 2),
    "read-only": lambda stage: read_only(stage, 1),
    "stopped": lambda stage: stopped(stage, 1, seconds=5),
    "descriptors": lambda stage: no_descriptors(stage, 1),
    "clock": lambda stage: clock_jumps(stage, 1),
}


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> House:
    """A property that never ran, to be copied."""
    return House.build(tmp_path_factory.mktemp("torture") / "template")


@pytest.mark.parametrize("part", PARTS)
def test_nothing_acknowledged_is_lost_and_nothing_happens_twice(
    tmp_path: Path, template: House, part: str
) -> None:
    stage = Stage(part, tmp_path, Random(part), template)
    try:
        PARTS[part](stage)
    except CannotTry as why:
        pytest.skip(str(why))
    assert stage.score.times >= 1
    assert stage.score.acknowledged > 0
    assert stage.score.proofs > 0
    assert list(tmp_path.iterdir()) == []


# That it would be seen


@pytest.mark.parametrize("cut", [Cut.ALL, Cut.SINCE, Cut.SOME])
def test_a_power_cut_loses_what_was_not_synced(tmp_path: Path, cut: Cut) -> None:
    committed, left = rows_after_cut(tmp_path, "off", cut)
    assert committed >= COMMITS
    assert left < committed


@pytest.mark.parametrize("cut", [Cut.ALL, Cut.SINCE, Cut.SOME])
def test_a_power_cut_loses_nothing_that_was_synced(tmp_path: Path, cut: Cut) -> None:
    committed, left = rows_after_cut(tmp_path, "full", cut)
    assert left >= committed >= COMMITS


@pytest.fixture(scope="module")
def played(
    template: House, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[House, Load]]:
    """A property whose players are at rest, and whose daemon is gone."""
    house = template.another(tmp_path_factory.mktemp("torture") / "played")
    load = Load(house, Random(1))
    try:
        house.start()
        load.connect()
        assert load.play_on(300)
        assert load.settle()
        assert load.play(lambda: bool(load.watcher.hits))
        load.hang_up()
        house.daemon.stop()
        yield house, load
    finally:
        load.hang_up()
        house.daemon.kill()


def an_answer_is_lost(load: Load) -> None:
    peer = load.tables[0]
    peer.asked.append(peer.asked[-1])
    peer.answers[len(peer.asked)] = peer.answers[len(peer.asked) - 1]


def an_answer_is_another(load: Load) -> None:
    peer = load.tables[0]
    peer.answers[1] = peer.answers[1].replace(b'"royal"', b'"loyal"')


def a_message_was_booked_without_being_sent(load: Load) -> None:
    peer = load.tables[1]
    peer.asked.pop(0)


def a_confirmation_is_lost(load: Load) -> None:
    load.floor.asked.append(b'{"type":"confirm","hit":1000000}\n')
    load.floor.answers[len(load.floor.asked)] = b'{"type":"confirmed","hit":1000000}\n'


def a_display_showed_what_never_was(load: Load) -> None:
    next(iter(load.watcher.shown.values()))["royal"]["mega"] += 1


def a_display_showed_what_is_not_there(load: Load) -> None:
    load.watcher.shown[1_000_000] = {}


def a_display_showed_another_award(load: Load) -> None:
    next(iter(load.watcher.hits.values()))["amount"] += 1


FAULTS = [
    (an_answer_is_lost, "lost: T1"),
    (an_answer_is_another, "but acknowledged was"),
    (a_message_was_booked_without_being_sent, "were sent and answered"),
    (a_confirmation_is_lost, "lost: settled 1000000"),
    (a_display_showed_what_never_was, "a display showed"),
    (a_display_showed_what_is_not_there, "a display showed sequence 1000000"),
    (a_display_showed_another_award, "a display showed"),
]


def test_a_record_that_is_as_it_was_acknowledged_is_proved(played: tuple[House, Load]) -> None:
    search = prove(*played)
    assert search.rows["wager"] > 100
    assert search.rows["hit"] > 10


@pytest.mark.parametrize(("fault", "said"), FAULTS)
def test_the_proof_sees(
    played: tuple[House, Load], fault: Callable[[Load], None], said: str
) -> None:
    house, load = played
    load = deepcopy(load)
    fault(load)
    with pytest.raises(Violation, match=said):
        prove(house, load)
