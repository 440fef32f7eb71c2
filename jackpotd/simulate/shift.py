"""A shift: simulated tables against a running daemon, each in a thread, and their floorperson."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from random import Random
from threading import Event, Thread
from typing import Any

from jackpotd.client import connect
from jackpotd.config import Config
from jackpotd.simulate.choice import terms_at
from jackpotd.simulate.connection import Connection, Stopped
from jackpotd.simulate.floorperson import Floorperson
from jackpotd.simulate.guests import Habits
from jackpotd.simulate.news import Failed, News, Pending, Tell
from jackpotd.simulate.play import Layout, SimulatedTable, layout_of
from jackpotd.simulate.stacked import PlayError, StackedHand
from jackpotd.simulate.tally import Tally

GRACE_SECONDS = 1.0
"""How long an ended shift waits for answers that are under way."""

LOOK_SECONDS = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class FloorPlan:
    """The simulated floorperson: a key with the role floor, and how long each award waits.

    `after_seconds` takes the protocol's award; `before_seconds` is for the hits that were
    pending before the shift.
    """

    key: str
    after_seconds: Callable[[Mapping[str, Any]], float]
    before_seconds: float
    deny_percent: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What a shift plays.

    `rounds` at each table, None without end; `rate` in rounds per second at each table, 0 as
    fast as the daemon answers; `concentrator` sends all tables over one connection.
    """

    tables: tuple[str, ...]
    key: str
    rounds: int | None = None
    rate: float = 1
    seed: int = 1
    stacked: tuple[StackedHand, ...] = ()
    concentrator: bool = False
    floor: FloorPlan | None = None
    habits: Habits = field(default_factory=Habits)


def layouts_of(config: Config, plan: Plan) -> tuple[Layout, ...]:
    """Return the plan's tables as the configuration has them. Raises PlayError."""
    for wish in plan.stacked:
        if wish.table not in plan.tables:
            raise PlayError(f"{wish}: {wish.table} is none of the tables: {', '.join(plan.tables)}")
        if plan.rounds is not None and wish.round > plan.rounds:
            raise PlayError(f"{wish}: only {plan.rounds} rounds are played")
    return tuple(
        layout_of(
            name,
            game=config.tables[name].game,
            seats=config.tables[name].seats,
            progressives=terms_at(config, name),
            stacked=[wish for wish in plan.stacked if wish.table == name],
        )
        for name in plan.tables
    )


class Shift:
    """Simulated tables at play. Use it with `with`: leaving ends it and closes what it opened.

    Entering connects; it raises PlayError for a plan that can't be played and ClientError where
    the daemon isn't there or doesn't take the key.
    """

    def __init__(self, config: Config, plan: Plan, *, tell: Tell) -> None:
        self._config = config
        self._plan = plan
        self._layouts = layouts_of(config, plan)
        self._tell = tell
        self._stop = Event()
        self._connections: list[Connection] = []
        self._floorperson: Floorperson | None = None
        self._tables: list[Thread] = []
        self._threads: list[Thread] = []
        self.tally = Tally()
        self.failures: list[Exception] = []

    def __enter__(self) -> Shift:
        try:
            if self._plan.floor is not None:
                self._floorperson = self._make_floorperson(self._plan.floor)
            tables = self._open_tables()
        except BaseException:
            self.end()
            raise
        for table in tables:
            self._tables.append(self._thread(table.name, partial(self._play, table)))
        self._threads += self._tables
        if self._floorperson is not None:
            self._threads.append(self._thread("the floorperson", self._floorperson.work))
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self.end()

    @property
    def over(self) -> bool:
        """Whether every table has played its rounds and no award waits for the floorperson."""
        playing = any(thread.is_alive() for thread in self._tables)
        working = self._floorperson is not None and self._threads[-1].is_alive()
        return not playing and not (working and not self._idle)

    @property
    def losses(self) -> int:
        """How often a connection was lost."""
        return sum(connection.losses for connection in self._connections)

    def looks(self) -> Iterator[None]:
        """Yield every now and then, until the shift is over."""
        while not self.over:
            yield
            self._stop.wait(LOOK_SECONDS)

    def end(self) -> None:
        """Stop the tables and the floorperson, at once but for answers that are under way."""
        self._stop.set()
        for thread in self._threads:
            thread.join(GRACE_SECONDS)
        for connection in self._connections:
            connection.interrupt()
        for thread in self._threads:
            thread.join()
        for connection in self._connections:
            connection.close()

    @property
    def _idle(self) -> bool:
        return self._floorperson is None or self._floorperson.idle

    def _open(self, name: str, key: str, tables: tuple[str, ...]) -> tuple[Connection, Any]:
        connection = Connection(
            name,
            lambda: connect(self._config, key, tables),
            stop=self._stop,
            tell=self._tell,
        )
        self._connections.append(connection)
        return connection, connection.open()

    def _open_tables(self) -> list[SimulatedTable]:
        plan = self._plan
        if plan.concentrator:
            shared, welcome = self._open("the concentrator", plan.key, plan.tables)
            opened = dict.fromkeys(plan.tables, (shared, welcome))
        else:
            opened = {name: self._open(name, plan.key, (name,)) for name in plan.tables}
        tables = []
        for layout in self._layouts:
            connection, welcome = opened[layout.table]
            state = welcome["tables"][layout.table]
            tables.append(self._make_table(layout, connection, state))
            if plan.floor is not None and self._floorperson is not None:
                for hit in state["pending"]:
                    self._floorperson.expect(hit, after_seconds=plan.floor.before_seconds)
        return tables

    def _make_table(
        self, layout: Layout, connection: Connection, state: Mapping[str, Any]
    ) -> SimulatedTable:
        return SimulatedTable(
            layout,
            connection,
            state,
            seed=self._plan.seed,
            habits=self._plan.habits,
            tally=self.tally,
            tell=self._heard,
            stop=self._stop,
        )

    def _make_floorperson(self, floor: FloorPlan) -> Floorperson:
        connection, _ = self._open("the floorperson", floor.key, ())
        return Floorperson(
            connection,
            clock=time.monotonic,
            rng=Random(f"{self._plan.seed} floor"),
            deny_percent=floor.deny_percent,
            tally=self.tally,
            tell=self._tell,
            stop=self._stop,
        )

    def _heard(self, news: News) -> None:
        if isinstance(news, Pending) and self._plan.floor and self._floorperson:
            after_seconds = self._plan.floor.after_seconds(news.award)
            self._floorperson.expect(news.award["hit"], after_seconds=after_seconds)
        self._tell(news)

    def _play(self, table: SimulatedTable) -> None:
        rate = self._plan.rate
        pause_seconds = 1 / rate if rate else 0
        # Tables that all lock in the same moment would make the signs jump instead of run.
        if self._stop.wait(pause_seconds * Random(table.name).random()):
            return
        table.play(rounds=self._plan.rounds, pause_seconds=pause_seconds)

    def _thread(self, name: str, work: Callable[[], None]) -> Thread:
        def guarded() -> None:
            try:
                work()
            except Stopped:
                pass
            except Exception as error:
                self.failures.append(error)
                self._tell(Failed(name=name, error=error))

        return Thread(target=guarded, name=name)
