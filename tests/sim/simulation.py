"""A run of one seed: so many steps of chance, and then all is well and everything is looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from twisted.logger import ILogObserver, LogEvent, LogLevel, formatEvent, globalLogPublisher
from zope.interface import provider

from tests.sim.asked import ANSWERS, asked
from tests.sim.house import PITS
from tests.sim.journal import DiskRecord
from tests.sim.peers import SignDisplay
from tests.sim.violation import Tally, Violation, demand
from tests.sim.world import World

STEPS = 2500
"""How many steps a seed has if nobody says otherwise."""

_ROUNDS = 400
"""After so many rounds of everybody doing what is due, whoever still waits is forgotten."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """What a run came to: the record's last hash, its rows, and what happened how often."""

    last_hash: str
    rows: int
    tally: Tally


class Failed(Exception):
    """A seed that found a violation, after so many steps; `story` has the last of them."""

    def __init__(self, seed: int, steps: int, said: str, story: list[str]) -> None:
        super().__init__(seed, steps, said, story)
        self.seed, self.steps, self.said, self.story = seed, steps, said, story


def run(seed: int, steps: int = STEPS) -> Ran:
    """Run a seed. Raises Failed."""
    simulation = Simulation(seed)
    taken = 0
    try:
        with simulation.weather.bounds(), no_fault_is_logged():
            for taken in range(1, steps + 1):  # noqa: B007 (the count is told)
                simulation.step()
            simulation.finish()
    except Exception as error:
        found = Violation.found[0] if Violation.found else error
        said = f"{type(found).__name__}: {found}"
        raise Failed(seed, taken, said, list(simulation.story)) from found
    auditor = simulation.auditor
    for kind, count in auditor.kinds.items():
        simulation.tally[f"row {kind}"] += count
    return Ran(
        last_hash=auditor.last_hash.hex(), rows=auditor.number, tally=+simulation.tally
    )


@contextmanager
def no_fault_is_logged() -> Iterator[None]:
    """Take it for a violation if the daemon logs a fault of its own."""
    globalLogPublisher.addObserver(_observe)
    try:
        yield
    finally:
        globalLogPublisher.removeObserver(_observe)


@provider(ILogObserver)
def _observe(event: LogEvent) -> None:
    if event["log_level"] is LogLevel.critical:
        Violation(f"the daemon logs a fault: {formatEvent(event)} {event.get('log_failure')}")


class Simulation(World):
    """The steps that chance takes, and the end of a run."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._kinds: dict[str, Callable[[], None]] = {
            "table": self._table,
            "mischief": self._mischief,
            "floor": self._floor,
            "deliver": self._deliver,
            "read": self._read,
            "time": self._time,
            "display": self._display,
            "drop": self._drop,
            "takeover": self._takeover,
            "trouble": self._trouble,
            "crash": self._crash,
            "stop": self._stop,
            "clock": self.skew,
        }

    def step(self) -> None:
        """Take one step."""
        (kind,) = self.chance.choices(self.weather.steps, self.weather.weights)
        if self.life is None:
            kind = "time"
            if self.chance.randrange(3) == 0:
                self.start()
        self.story.append(kind)
        self._kinds[kind]()
        self.tend()

    # The steps

    def _table(self) -> None:
        controllers = self.controllers
        for controller in self.chance.sample(controllers, min(3, len(controllers))):
            if self.attend(controller):
                controller.act()

    def _floor(self) -> None:
        person = self.chance.choice(self.floor)
        if person.connection is None or person.connection.over:
            if not self.listens:
                return
            person.connection = self.connect(person.name)
        person.act()

    def _mischief(self) -> None:
        chance = self.chance
        if self.listens and chance.randrange(10) == 0:
            self.open(chance.choice(PITS)).ask(self.mischief.odd_start())
            return
        greeted = [each for each in self.connections if each.sent and each.sent[0].kind == "hello"]
        if greeted:
            self.mischief.act(greeted, self.controllers)

    def _deliver(self) -> None:
        chance = self.chance
        for _ in range(chance.choice([1, 2, 4])):
            ready = [each for each in self.connections if each.deliverable]
            if not ready:
                return
            connection = chance.choice(ready)
            most = len(connection.unsent)
            if chance.randrange(4) == 0:
                most = chance.randint(1, most)
                half = connection.unsent[most - 1 : most] != b"\n"
                self.tally["half message"] += half
            connection.deliver(most)

    def _read(self) -> None:
        chance = self.chance
        for _ in range(chance.choice([1, 3, 6])):
            peers = [each for each in self.peers() if each.wire.to_peer or each.wire.ended]
            if not peers:
                return
            peer = chance.choice(peers)
            most = max(1, len(peer.wire.to_peer))
            peer.read(most if chance.randrange(3) else chance.randint(1, most))

    def _time(self) -> None:
        chance = self.chance
        if self.disk.full and chance.randrange(8) == 0:
            self.disk.full = False
        if chance.randrange(12) == 0:
            self.pass_time(chance.choice([0.2, 1.1, 1.1, 1.1, 1.1, 11.0]))
        for _ in range(chance.choice([1, 2, 4])):
            self.pass_time(chance.randint(0, self.weather.longest_time_ms) / 1000)
            if self.life is None or self.life.dead:
                return

    def _display(self) -> None:
        if not self.listens:
            return
        if len(self.displays) < 4 and self.chance.randrange(3):
            self.sign()
            self.tally["display"] += 1
        elif self.chance.randrange(2):
            self.watcher()
            self.tally["watcher"] += 1
        elif self.displays:
            self.chance.choice(self.displays).drop()

    def _drop(self) -> None:
        if self.connections:
            self.chance.choice(self.connections).drop()
            self.tally["connection dropped"] += 1

    def _takeover(self) -> None:
        controller = self.chance.choice(self.controllers)
        if self.listens and controller.connected:
            self.take_over(controller)
            self.tally["takeover"] += 1

    def _trouble(self) -> None:
        chance = self.chance
        if chance.randrange(5) == 0:
            self.disk.full = True
        else:
            self.disk.next_fault = chance.choice(self.weather.write_faults)

    def _crash(self) -> None:
        stage = self.chance.choice(self.weather.crashes)
        self.tally[f"crash planned {stage}"] += 1
        assert self.life is not None
        assert self.network is not None
        if stage == "between steps":
            self.life.dead = True
        elif stage == "answering":
            self.network.writes_left = self.chance.randint(1, 6)
        else:
            self.disk.next_crash = stage

    def _stop(self) -> None:
        if self.listens and self.life is not None:
            self.life.stop()

    # The end of a run

    def finish(self) -> None:
        """Heal everything, let everybody hear what is due, and look at all that is there."""
        self.story.append("all is well from now on")
        self.calm = True
        self.disk.heal()
        if self.network is not None:
            self.network.writes_left = -1
        self._until("everything is answered", self._nobody_waits)
        self._until("no award waits", self._settled)
        for controller in self.controllers:
            controller.doubt()
        self._until("everybody is welcomed", self._nobody_waits)
        for controller in self.controllers:
            controller.play_a_round()
        self._until("a round was played", self._nobody_waits)
        self._ask_again()
        self.sign()
        self.watcher()
        self._until("all is quiet", self._quiet)
        self._look()
        assert self.life is not None
        self.life.stop()
        self._until("it has stopped", lambda: self.life is None, up=False)
        self._open_once_more()

    def _until(self, what: str, done: Callable[[], bool], *, up: bool = True) -> None:
        for _ in range(_ROUNDS):
            if up and self.life is None:
                self.start()
            for controller in self.controllers if up else ():
                if self.attend(controller):
                    controller.settle()
            for connection in list(self.connections):
                while connection.deliverable:
                    connection.deliver(len(connection.unsent))
            for seconds in (0.0, 0.01, 0.01, 0.2, 1.1):
                self.pass_time(seconds)
            for peer in self.peers():
                peer.read(len(peer.wire.to_peer))
            self.tend()
            if done():
                return
        demand(False, f"it never came to this: {what}; {self._stale()}")

    def _nobody_waits(self) -> bool:
        return not any(controller.waits for controller in self.controllers)

    def _settled(self) -> bool:
        waiting = self.auditor.waiting()
        if not waiting:
            return True
        person = self.floor[0]
        if self.listens and (person.connection is None or person.connection.over):
            person.connection = self.connect(person.name)
        if person.connection is not None and person.connection.quiet:
            person.settle(waiting)
        return False

    def _ask_again(self) -> None:
        """Old answers come again, byte for byte: some of each table's."""
        for controller in self.controllers:
            seqs = sorted(controller.booked)
            for seq in self.chance.sample(seqs, min(4, len(seqs))):
                message = controller.booked[seq][0]
                assert controller.connection is not None
                only = frozenset({ANSWERS[message["type"]]})
                controller.connection.ask(asked(message, only=only))

    def _quiet(self) -> bool:
        life = self.life
        quiet = all(each.quiet for each in self.connections)
        return quiet and life is not None and life.idle and not self._stale()

    # What is looked at

    def _look(self) -> None:
        life, auditor = self.life, self.auditor
        assert life is not None
        auditor.check()
        auditor.check_floor(life.queue.floor)
        demand(life.queue.writable, "the store is not back")

    def _stale(self) -> str:
        """Say which display doesn't show what is durable now; "" if all do."""
        durable = self.auditor.shown[-1]
        for connection in self.connections:
            told = connection.shown.meters
            if told not in (None, durable):
                return f"a watcher shows {told}, and durable is {durable}"
        for display in self.displays:
            if display.shown.body is None:
                return "a sign shows nothing"
            for name, progressive in display.shown.body["progressives"].items():
                stale = self._stale_on(display, name, progressive)
                if stale:
                    return stale
        return ""

    def _stale_on(self, display: SignDisplay, name: str, shown: dict[str, Any]) -> str:
        durable = self.auditor.shown[-1][name]
        told: object = {level: value["amount"] for level, value in shown["levels"].items()}
        if told != durable:
            return f"a sign shows {told} for {name}, and durable is {durable}"
        hits = [hit for hit in self.auditor.plain.hits if hit.progressive == name and hit.stands]
        pending = [hit.number for hit in hits if hit.standing == "pending"]
        told = [award["hit"] for award in shown["pending"]]
        if told != pending:
            return f"a sign shows {told} as pending for {name}, and it is {pending}"
        for level, awards in shown["last"].items():
            last = [hit.number for hit in hits if hit.level == level][::-1][: display.last_awards]
            told = [award["hit"] for award in awards]
            if told != last:
                return f"a sign shows {told} as the last of {name} {level}, and it is {last}"
        return ""

    def _open_once_more(self) -> None:
        """What the disk has is what was durable, and its snapshot gives the same state."""
        record = DiskRecord(self.disk)
        demand(self.auditor.rows == record.rows, "the rows on the disk are others")
        self.auditor.check_floor(record.load().floor)
