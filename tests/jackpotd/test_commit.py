"""The commit queue: apply, append, then answer and publish; on a Clock."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from twisted.internet.task import Clock

from jackpotd import commit
from jackpotd.commit import CommitQueue, Committed
from jackpotd.record.batch import Loaded
from jackpotd.record.rows import read_state
from meters.events import Confirm, Deny, Event, Hit, Opened, TableSet, Wager
from meters.money import CURRENCIES
from meters.outcomes import Accepted, Awarded, Code, Confirmed, Denied, Refused
from meters.paytable import Paytable, PrintedLevel, parse_amount, parse_line
from meters.terms import Problems, terms_of
from tests.sim.memory_journal import MemoryJournal

USD = CURRENCIES["USD"]
TERMS = terms_of(
    Paytable(
        title="Test",
        levels={"mega": PrintedLevel(seed=parse_amount("$100 for 1", USD), increment_ppm=100_000)},
        pays={
            "royal flush": parse_line("100% of mega", USD),
            "full house": parse_line("50 for 1", USD),
        },
    ),
    name="p",
    title="P",
    wager_minor=500,
    tables=("A", "B"),
    currency=USD,
    problems=Problems(),
)


class Audience:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.rows: list[Committed] = []
        self.stores: list[str] = []

    def committed(self, rows: Sequence[Committed], seconds: float) -> None:
        self.rows.extend(rows)

    def store_lost(self, why: str) -> None:
        self.stores.append("lost")

    def store_back(self, loaded: Loaded) -> None:
        self.stores.append(f"back at {loaded.floor.number}")


class Stage:
    """A queue on a clock, its journal, its audience, and what was answered."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.journal = MemoryJournal(self.clock)
        self.audience = Audience()
        self.answers: list[Any] = []
        self.at_ms = 1_000
        self.start()
        for event in (
            TableSet(table="A", game="g", seats=6),
            TableSet(table="B", game="g", seats=6),
            Opened(terms=TERMS),
        ):
            self.submit(event)
        self.run()
        self.answers.clear()

    def start(self) -> None:
        self.queue = CommitQueue(
            loaded=self.journal.load(),
            journal=self.journal,
            clock=self.clock,
            now_ms=lambda: self.at_ms,
            audience=self.audience,
        )

    def submit(self, event: Event) -> None:
        self.queue.submit(event, lambda _, answer: self.answers.append(answer))

    def run(self) -> None:
        for _ in range(100):
            self.clock.advance(self.journal.delay_s)

    def codes(self) -> list[Any]:
        return [each.code if isinstance(each, Refused) else type(each) for each in self.answers]


@pytest.fixture
def stage() -> Stage:
    return Stage()


def wager(seq: int, *, table: str = "A", round: int = 0) -> Wager:
    return Wager(table=table, seq=seq, round=round or seq, seats=(1, 2))


def royal(seq: int, round: int, *, seat: int = 1) -> Hit:
    return Hit(table="A", seq=seq, round=round, seat=seat, hand="royal flush")


def test_nothing_is_answered_or_published_before_it_is_written(stage: Stage) -> None:
    stage.submit(wager(1))
    stage.clock.advance(0)
    assert stage.answers == []
    assert len(stage.audience.rows) == 3
    stage.clock.advance(stage.journal.delay_s)
    assert isinstance(stage.answers[0], Accepted)
    assert stage.audience.rows[3].answer is stage.answers[0]
    assert stage.journal.rows[3].kind == "wager"


def test_one_batch_fills_while_another_is_written(stage: Stage) -> None:
    before = len(stage.journal.batches)
    stage.submit(wager(1))
    stage.submit(wager(1, table="B"))
    stage.clock.advance(0)
    for seq in (2, 3, 4):
        stage.submit(wager(seq))
    stage.run()
    sizes = [len(batch.drafts) for batch in stage.journal.batches[before:]]
    assert sizes == [2, 3]
    assert stage.codes() == [Accepted] * 5


def test_answers_and_refusals_come_in_the_order_of_the_requests(stage: Stage) -> None:
    order: list[str] = []
    stage.queue.submit(wager(1), lambda *_: order.append("wager"))
    stage.queue.in_turn(lambda: order.append("ping"))
    stage.queue.submit(wager(9), lambda *_: order.append("gap"))
    stage.queue.submit(wager(1), lambda *_: order.append("again"))
    stage.queue.submit(wager(2), lambda *_: order.append("next"))
    assert order == []
    stage.run()
    assert order == ["wager", "ping", "gap", "again", "next"]


def test_what_needs_no_turn_is_said_at_once(stage: Stage) -> None:
    said: list[str] = []
    stage.queue.in_turn(lambda: said.append("pong"))
    assert said == ["pong"]


def test_a_repeated_message_gets_its_first_answer_even_within_one_batch(stage: Stage) -> None:
    stage.submit(wager(1))
    stage.submit(wager(2))
    stage.submit(wager(1))
    stage.run()
    stage.submit(wager(1))
    stage.run()
    first, _, second, third = stage.answers
    assert first == second == third
    assert len(stage.journal.rows) == 3 + 2


def test_an_old_seq_with_other_content_is_a_conflict(stage: Stage) -> None:
    stage.submit(wager(1))
    stage.submit(Wager(table="A", seq=1, round=1, seats=(1,)))
    stage.submit(royal(1, 1))
    stage.run()
    assert stage.codes() == [Accepted, Code.SEQ_CONFLICT, Code.SEQ_CONFLICT]


def test_a_settled_hit_is_recalled_or_refused(stage: Stage) -> None:
    stage.submit(wager(1))
    stage.submit(royal(2, 1))
    stage.submit(royal(3, 1, seat=2))
    stage.submit(Confirm(hit=1, by="f"))
    stage.submit(Confirm(hit=1, by="g"))
    stage.submit(Deny(hit=1, by="g", reason="r"))
    stage.submit(Deny(hit=2, by="g", reason="r"))
    stage.submit(Deny(hit=2, by="f", reason="other"))
    stage.submit(Confirm(hit=2, by="f"))
    stage.submit(Confirm(hit=3, by="f"))
    stage.run()
    assert stage.codes()[3:] == [
        Confirmed,
        Confirmed,
        Code.ALREADY_PAID,
        Denied,
        Denied,
        Code.ALREADY_DENIED,
        Code.UNKNOWN_HIT,
    ]
    assert stage.answers[4].by == "f"
    assert stage.answers[7].by == "g"


def test_a_hit_paid_at_once_can_be_neither_confirmed_nor_denied(stage: Stage) -> None:
    stage.submit(wager(1))
    stage.submit(Hit(table="A", seq=2, round=1, seat=1, hand="full house"))
    stage.submit(Confirm(hit=1, by="f"))
    stage.submit(Deny(hit=1, by="f", reason="r"))
    stage.run()
    assert stage.codes() == [Accepted, Awarded, Code.ALREADY_PAID, Code.ALREADY_PAID]


def test_a_failed_write_answers_unavailable_and_the_state_goes_back(stage: Stage) -> None:
    stage.submit(wager(1))
    stage.run()
    stage.answers.clear()
    stage.journal.failing = True
    stage.submit(wager(2))
    stage.clock.advance(0)
    stage.submit(wager(3))
    said: list[bool] = []
    stage.queue.in_turn(lambda: said.append(stage.queue.writable))
    stage.run()
    assert stage.codes() == [Code.UNAVAILABLE, Code.UNAVAILABLE]
    assert said == [False]
    assert len(stage.audience.rows) == 4
    stage.submit(wager(2))
    stage.run()
    assert stage.codes()[2:] == [Code.UNAVAILABLE]

    stage.journal.failing = False
    stage.clock.advance(commit.RETRY_SECONDS)
    assert stage.queue.writable
    assert stage.audience.stores[0] == "lost"
    assert stage.audience.stores[-1] == "back at 4"
    assert stage.queue.floor.tables["A"].next_seq == 2
    stage.submit(wager(2))
    stage.run()
    assert stage.codes()[-1] is Accepted
    assert [row.seq for row in stage.journal.rows if row.table] == [1, 2]


def test_a_write_that_failed_after_all_was_durable_is_answered_as_the_first_time(
    stage: Stage,
) -> None:
    stage.journal.failing = stage.journal.torn = True
    stage.submit(wager(1))
    stage.run()
    assert stage.codes() == [Code.UNAVAILABLE]
    stage.journal.failing = False
    stage.clock.advance(commit.RETRY_SECONDS)
    assert stage.audience.stores[-1] == "back at 4"
    stage.submit(wager(1))
    stage.run()
    assert stage.codes()[-1] is Accepted
    assert len(stage.journal.rows) == 4


def test_past_the_bound_a_message_is_overloaded_and_changes_nothing(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit, "MAX_WAITING", 2)
    for seq in (1, 2, 3):
        stage.submit(wager(seq))
    stage.run()
    assert stage.codes() == [Accepted, Accepted, Code.OVERLOADED]
    stage.submit(wager(3))
    stage.run()
    assert stage.codes()[-1] is Accepted


def test_stopping_finishes_what_was_taken_and_refuses_the_rest(stage: Stage) -> None:
    stage.submit(wager(1))
    stopped: list[None] = []
    stage.queue.stop().addCallback(stopped.append)
    stage.submit(wager(2))
    assert stopped == []
    stage.run()
    assert stage.codes() == [Accepted, Code.UNAVAILABLE]
    assert stopped == [None]


def test_an_idle_queue_stops_at_once(stage: Stage) -> None:
    stopped: list[None] = []
    stage.queue.stop().addCallback(stopped.append)
    assert stopped == [None]


def test_a_snapshot_holds_the_state_after_its_batchs_last_row(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(commit, "SNAPSHOT_ROWS", 5)
    monkeypatch.setattr(commit, "MAX_BATCH", 4)
    for seq in range(1, 30):
        stage.submit(wager(seq))
    stage.run()
    assert stage.codes() == [Accepted] * 29
    snapshots = [batch for batch in stage.journal.batches if batch.snapshot is not None]
    assert len(snapshots) >= 3
    for batch in snapshots:
        assert batch.snapshot is not None
        last = batch.drafts[-1].number
        assert batch.snapshot.number == last
        floor = read_state(batch.snapshot.state)
        assert floor.number == last
        assert floor.tables["A"].next_seq == batch.snapshot.next_seqs["A"]
        assert floor.tables["A"].next_seq == last - 3 + 1


def test_time_never_falls_in_the_record(stage: Stage) -> None:
    stage.submit(wager(1))
    stage.run()
    stage.at_ms = 5
    stage.submit(wager(2))
    stage.run()
    stage.start()
    stage.submit(wager(3))
    stage.run()
    times = [row.at_ms for row in stage.journal.rows]
    assert times == sorted(times)
    assert times[-1] == 1_000


def test_a_client_that_fails_does_not_keep_the_others_from_their_answers(
    stage: Stage, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("gone")

    stage.queue.submit(wager(1), broken)
    stage.submit(wager(2))
    stage.run()
    assert stage.codes() == [Accepted]


def test_a_fold_that_fails_refuses_its_event_and_the_state_is_read_anew(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.submit(wager(1))
    spoiled = stage.queue.floor

    def half_done(event: Event, at_ms: int) -> None:
        spoiled.tables["A"].next_seq = 99
        raise RuntimeError("a fault of ours")

    stage.submit(wager(1, table="B"))
    with monkeypatch.context() as broken:
        broken.setattr(type(spoiled), "apply", lambda self, event, at_ms: half_done(event, at_ms))
        stage.submit(wager(2))
    stage.submit(wager(2))
    stage.run()
    assert stage.codes() == [Accepted, Accepted, Code.UNAVAILABLE, Code.UNAVAILABLE]
    assert stage.audience.stores == ["lost", "back at 5"]
    stage.submit(wager(2))
    stage.run()
    assert stage.codes()[-1] is Accepted


def test_a_sign_that_fails_keeps_nobody_from_an_answer_and_is_told_anew(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(rows: Sequence[Committed], seconds: float) -> None:
        raise RuntimeError("a fault of ours")

    with monkeypatch.context() as failing:
        failing.setattr(stage.audience, "committed", broken)
        stage.submit(wager(1))
        stage.run()
    assert stage.codes() == [Accepted]
    assert stage.audience.stores == ["lost", "back at 4"]
    stage.submit(wager(2))
    stage.run()
    assert stage.codes() == [Accepted, Accepted]


def test_an_old_answer_that_cannot_be_read_is_no_answer(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.submit(wager(1))
    stage.run()
    monkeypatch.setattr(stage.journal, "_find", lambda lookup: None)
    stage.submit(wager(1))
    stage.run()
    assert stage.codes() == [Accepted, Code.UNAVAILABLE]
