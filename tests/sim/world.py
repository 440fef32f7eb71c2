"""One seed's world: a daemon, a disk, and everybody who speaks to it, moved one step at a time.

All that happens is drawn from the seed, so the same seed gives the same record, to its last hash;
and the first steps of a run are the same, however many follow.
"""

from __future__ import annotations

from collections import deque
from random import Random

from tests.sim.asked import Asked, asked
from tests.sim.auditor import Auditor
from tests.sim.disk import Disk, PowerCut
from tests.sim.floor import Floorperson
from tests.sim.house import BOOKS, FLOOR, PITS, a_house, key, own
from tests.sim.life import Life
from tests.sim.mischief import Mischief
from tests.sim.peers import Connection, Network, Peer, SignDisplay
from tests.sim.referee import Referee, Reply
from tests.sim.tables import Controller
from tests.sim.violation import Tally, Violation, demand
from tests.sim.weather import Weather

_EPOCH_MS = 1_780_000_000_000
_TOLD = 30
"""How many of the last steps are told after a violation."""


class World:
    """What one seed makes. `story` has the last steps in words."""

    def __init__(self, seed: int) -> None:
        Violation.found.clear()
        self.chance = chance = Random(seed)
        self.tally = Tally()
        self.story: deque[str] = deque(maxlen=_TOLD)
        self.weather = Weather.drawn(chance)
        self.house = a_house(chance)
        self.auditor = Auditor(self.house)
        self.disk = Disk(chance, self.tally, self.auditor.durable)
        self.referee = Referee(self.house, self.auditor, self.tally)
        self.mischief = Mischief(chance, self.tally)
        self.controllers = [
            Controller(
                table, house=self.house, auditor=self.auditor, chance=chance, tally=self.tally
            )
            for table in self.house.seats
        ]
        self.floor = [
            Floorperson(name, auditor=self.auditor, chance=chance) for name in FLOOR
        ]
        self.life: Life | None = None
        self.network: Network | None = None
        self.connections: list[Connection] = []
        self.displays: list[SignDisplay] = []
        self.calm = False
        self._now_s = 0.0
        self._skew_ms = 0
        self._opened = 0

    # The daemon

    def start(self) -> None:
        """Start the daemon anew from what the disk has."""
        self._now_s = float(round(self._now_s + 1))
        self.life = Life(
            self.house,
            self.disk,
            at_s=self._now_s,
            now_ms=lambda: _EPOCH_MS + int(self._now_s * 1000) + self._skew_ms,
            delay_s=self._delay_s,
        )
        self.network = Network(
            life=self.life,
            chance=self.chance,
            auditor=self.auditor,
            referee=self.referee,
            tally=self.tally,
            buffer_bytes=self.weather.buffer_bytes,
        )
        self._opened = 0
        self.tally["start"] += 1

    def _delay_s(self) -> float:
        chance = self.chance
        if not self.calm and chance.randrange(100) < self.weather.slow_in_100:
            return chance.choice([0.05, 0.3, 2.0])
        return chance.choice([0.0, 0.001, 0.004])

    def pass_time(self, seconds: float) -> None:
        """Let time pass, and the daemon do what is due."""
        self._now_s += seconds
        if self.life is not None:
            try:
                self.life.clock.advance(seconds)
            except PowerCut as stage:
                self.life.dead = True
                self.story.append(f"killed {stage}")

    def end_life(self, how: str) -> None:
        """Throw the daemon away; what its peers had not read may still reach them."""
        self.tally[how] += 1
        self.story.append(f"{how} at row {self.auditor.number}")
        for peer in self.peers():
            if self.life is not None and self.life.dead:
                peer.crashed()
            else:
                peer.drop()
        self.life = self.network = None
        self.connections.clear()
        self.displays.clear()
        for controller in self.controllers:
            controller.lose()
        for person in self.floor:
            person.connection = None
        self.auditor.check()

    @property
    def listens(self) -> bool:
        """Whether the daemon takes connections."""
        life = self.life
        return life is not None and life.ready and not (life.stopping or life.dead)

    def tend(self) -> None:
        """See to what the last step led to; called after each. Raises Violation."""
        if Violation.found:
            raise Violation.found[0]
        life = self.life
        if life is not None and life.dead:
            self._crashed()
        elif life is not None and (life.ended or life.failed):
            self.end_life("stop" if life.ended else "start failed")
        elif life is not None and life.ready:
            bound = self.weather.high_water + self._opened
            demand(life.queue.waiting <= bound, f"{life.queue.waiting} wait; the bound is {bound}")
        for peer in self.peers():
            if peer.wire.aborted:
                peer.drop()
        self.connections = [each for each in self.connections if not each.over]
        self.displays = [each for each in self.displays if not each.over]
        for controller in self.controllers:
            if controller.connection is not None and controller.connection.over:
                controller.lose()
        if Violation.found:
            raise Violation.found[0]

    def _crashed(self) -> None:
        self.disk.next_crash = ""
        if self.chance.randrange(2):
            self.end_life("crash: power cut")
            self.disk.cut_power()
        else:
            self.end_life("crash: killed")

    # Connections

    def peers(self) -> list[Peer]:
        """Everybody who is connected."""
        return [*self.connections, *self.displays]

    def connect(self, principal: str, *tables: str) -> Connection:
        """Open a connection and say hello on it."""
        connection = self.open(principal)
        self.hello(connection, *tables)
        return connection

    def open(self, principal: str) -> Connection:
        """Open a connection on which nothing is said."""
        assert self.network is not None
        connection = Connection(self.network, principal, self._heard)
        self.connections.append(connection)
        self._opened += 1
        self.tally["connection"] += 1
        return connection

    def hello(self, connection: Connection, *tables: str) -> None:
        """Say hello, or say it again."""
        message = {"type": "hello", "protocol": 1, "key": key(connection.principal)}
        request = asked(message | ({"tables": list(tables)} if tables else {}))
        connection.ask(request)
        for controller in self.controllers:
            if controller.connection is connection and not controller.fresh:
                controller.greeting = request

    def attend(self, controller: Controller) -> bool:
        """Bring a table's controller as far as it can get; tell whether it may speak."""
        connection = controller.connection
        if not self.listens:
            return False
        if connection is None:
            self.take_over(controller)
        elif not controller.fresh and controller.greeting not in connection.unread():
            self.hello(connection, *self._tables_on(connection))
        return controller.fresh

    def take_over(self, controller: Controller) -> None:
        """Let a controller speak on a new connection, its own or a concentrator's."""
        principal = self.chance.choice([own(controller.table), *PITS])
        there = [each for each in self.connections if each.principal == principal]
        if there and principal in PITS and self.chance.randrange(3):
            connection = there[-1]
        else:
            connection = self.open(principal)
        controller.use(connection)
        self.hello(connection, *self._tables_on(connection))

    def _tables_on(self, connection: Connection) -> list[str]:
        return [each.table for each in self.controllers if each.connection is connection]

    def _heard(self, connection: Connection, request: Asked, reply: Reply, line: bytes) -> None:
        if request.kind == "hello" and reply["type"] == "welcome":
            for controller in self.controllers:
                if controller.greeting is request:
                    controller.welcomed(reply["tables"][controller.table])
        elif request.kind in ("wager", "hit", "void"):
            for controller in self.controllers:
                if controller.table == request.message["table"]:
                    controller.heard(connection, request, reply, line)

    def watcher(self) -> Connection:
        """Open a connection that watches."""
        connection = self.connect(self.chance.choice([BOOKS, *FLOOR]))
        connection.ask(asked({"type": "watch"}))
        return connection

    def sign(self) -> None:
        """Open a sign's stream."""
        assert self.network is not None
        signs = [None, *self.house.config.signs]
        self.displays.append(SignDisplay(self.network, self.chance.choice(signs)))

    def skew(self) -> None:
        """Set the wall clock to another time."""
        self._skew_ms = self.chance.choice([0, -7_200_000, -5, 10_800_000])
