"""Who is told what when, on a clock that the test moves."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twisted.internet.task import Clock
from twisted.logger import capturedLogs

from signage.board import Award, Board, Resolution, Snapshot
from signage.feed import HELD_EVENTS, Feed, Subscription
from tests.signage.examples import AT_MS, award, commit, property_board, resolution

Told = tuple[str, int]


class Screen:
    """A listener that notes what it is told and when; `then` may do something in the call."""

    def __init__(self, clock: Clock | None = None) -> None:
        self.told: list[Told] = []
        self.meters_at_ms: list[int] = []
        self.newest: Snapshot | None = None
        self.then: Callable[[], None] = lambda: None
        self._clock = clock or Clock()

    def meters(self, snapshot: Snapshot) -> None:
        self.newest = snapshot
        self.meters_at_ms.append(round(self._clock.seconds() * 1000))
        self._note("meters", snapshot.sequence)

    def hit(self, award: Award) -> None:
        self._note("hit", award.hit)

    def resolved(self, resolution: Resolution) -> None:
        self._note("resolved", resolution.hit)

    def tick(self, sequence: int, at_ms: int) -> None:
        assert at_ms == round(self._clock.seconds() * 1000)
        self._note("tick", sequence)

    def _note(self, what: str, number: int) -> None:
        self.told.append((what, number))
        self.then()

    def take(self) -> list[Told]:
        """Return what was told since the last call."""
        told, self.told = self.told, []
        return told


class House:
    """A board and its feed, on a clock."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.board: Board = property_board()
        self.feed = Feed(self.clock, self.board)
        self._mega = 5_000_000

    def join(self) -> tuple[Screen, Subscription]:
        """Subscribe a screen, and forget its first values."""
        screen = Screen(self.clock)
        subscription = self.feed.subscribe(screen)
        assert [what for what, _ in screen.take()] == ["meters"]
        return screen, subscription

    def wager(self, sequence: int) -> None:
        """Commit a row that raises the mega."""
        self._mega += 1
        commit(self.board, sequence, mega=self._mega)

    def pass_ms(self, milliseconds: int) -> None:
        """Let time pass in steps that floats can't spoil."""
        for _ in range(milliseconds):
            self.clock.advance(0.001)


@pytest.fixture
def house() -> House:
    return House()


def test_a_subscriber_gets_the_values_at_once(house: House) -> None:
    house.wager(7)
    screen = Screen()
    house.feed.subscribe(screen)
    assert screen.told == [("meters", 7)]
    assert screen.newest is house.board.snapshot()


def test_a_change_is_sent_when_the_batch_is_complete_and_not_by_halves(house: House) -> None:
    screen, _ = house.join()
    house.pass_ms(200)
    house.wager(8)
    house.wager(9)
    assert screen.take() == []
    house.clock.advance(0)
    assert screen.take() == [("meters", 9)]


def test_between_two_frames_only_the_newest_values_count(house: House) -> None:
    screen, _ = house.join()
    house.pass_ms(200)
    for sequence in range(10, 60):
        house.wager(sequence)
        house.pass_ms(10)
    house.pass_ms(200)
    sequences = [number for _, number in screen.take()]
    assert len(sequences) <= 7
    assert sequences == sorted(set(sequences))
    assert sequences[-1] == 59


def test_nothing_is_sent_while_nothing_shown_changes(house: House) -> None:
    screen, subscription = house.join()
    house.pass_ms(200)
    commit(house.board, 500)
    commit(house.board, 501, mega=5_000_000)
    subscription.pause()
    subscription.resume()
    house.pass_ms(200)
    assert screen.take() == []


@given(
    joins=st.lists(st.integers(0, 2000), min_size=1, max_size=4),
    commits=st.sets(st.integers(0, 2000), max_size=60),
    flaps=st.sets(st.integers(0, 2000), max_size=20),
)
def test_no_subscriber_gets_values_more_often_than_ten_times_a_second(
    joins: list[int], commits: set[int], flaps: set[int]
) -> None:
    house = House()
    screens: list[tuple[Screen, Subscription]] = []
    for now in range(0, 2001):
        for _ in range(joins.count(now)):
            screens.append(house.join())
        if now in commits:
            house.wager(now + 1)
        for _, subscription in screens if now in flaps else ():
            subscription.pause()
            subscription.resume()
        house.clock.advance(0.001)
    house.pass_ms(300)
    for screen, _ in screens:
        times = screen.meters_at_ms
        assert all(later - earlier >= 100 for earlier, later in pairwise(times))
        assert screen.newest is not None
        assert screen.newest.meters == house.board.snapshot().meters


def test_hits_and_resolutions_are_sent_at_once_to_everybody_in_order(house: House) -> None:
    screens = [house.join()[0] for _ in range(3)]
    house.board.hit_committed(award(17))
    house.board.resolved_committed(resolution(17, "paid"))
    for screen in screens:
        assert screen.take() == [("hit", 17), ("resolved", 17)]


def test_a_tick_comes_every_five_seconds_with_the_newest_sequence(house: House) -> None:
    screen, _ = house.join()
    house.clock.advance(4.9)
    commit(house.board, 300)
    assert screen.take() == []
    house.clock.advance(0.1)
    assert screen.take() == [("tick", 300)]
    house.clock.advance(5)
    assert screen.take() == [("tick", 300)]


def test_a_tick_tells_the_time_of_the_record_where_there_is_another(house: House) -> None:
    times: list[int] = []

    class Watch(Screen):
        def tick(self, sequence: int, at_ms: int) -> None:
            times.append(at_ms)

    feed = Feed(house.clock, house.board, now_ms=lambda: AT_MS)
    feed.subscribe(Watch())
    house.clock.advance(5)
    assert times == [AT_MS]


def test_all_subscribers_share_the_timers_and_the_last_one_to_leave_stops_them(
    house: House,
) -> None:
    subscriptions = [house.join()[1] for _ in range(5)]
    house.wager(1)
    assert len(house.clock.getDelayedCalls()) == 2
    for subscription in subscriptions:
        subscription.close()
    assert house.clock.getDelayedCalls() == []
    house.wager(2)
    assert house.clock.getDelayedCalls() == []


def test_a_closed_subscription_gets_nothing(house: House) -> None:
    screen, subscription = house.join()
    subscription.close()
    subscription.close()
    house.wager(1)
    house.board.hit_committed(award(17))
    house.clock.advance(10)
    assert screen.take() == []


def test_a_paused_subscriber_gets_nothing(house: House) -> None:
    screen, subscription = house.join()
    subscription.pause()
    house.wager(1)
    house.board.hit_committed(award(17))
    house.clock.advance(20)
    assert screen.take() == []


def test_a_subscriber_that_resumes_gets_what_happened_and_then_the_newest_values(
    house: House,
) -> None:
    screen, subscription = house.join()
    house.pass_ms(200)
    subscription.pause()
    house.board.hit_committed(award(17))
    for sequence in range(18, 90):
        house.wager(sequence)
    house.board.resolved_committed(resolution(17, "denied", sequence=90))
    house.pass_ms(200)
    subscription.resume()
    house.clock.advance(0)
    assert screen.take() == [("hit", 17), ("resolved", 17), ("meters", 90)]
    house.pass_ms(500)
    assert screen.take() == []


def test_a_subscriber_that_never_reads_costs_bounded_memory_and_loses_the_oldest_events(
    house: House,
) -> None:
    screen, subscription = house.join()
    subscription.pause()
    for hit in range(1, 5 * HELD_EVENTS + 1):
        house.board.hit_committed(award(hit, status="paid"))
    subscription.resume()
    hits = [number for what, number in screen.take() if what == "hit"]
    assert hits == list(range(4 * HELD_EVENTS + 1, 5 * HELD_EVENTS + 1))


def test_a_subscriber_that_pauses_while_it_catches_up_goes_on_later(house: House) -> None:
    screen, subscription = house.join()
    subscription.pause()
    for hit in (1, 2, 3):
        house.board.hit_committed(award(hit))
    screen.then = subscription.pause
    subscription.resume()
    house.pass_ms(500)
    assert screen.take() == [("hit", 1)]
    screen.then = lambda: None
    subscription.resume()
    house.clock.advance(0)
    assert screen.take() == [("hit", 2), ("hit", 3), ("meters", 3)]


def test_a_subscriber_may_leave_in_any_call(house: House) -> None:
    provocations: list[Callable[[], None]] = [
        lambda: house.board.hit_committed(award(17)),
        lambda: house.board.resolved_committed(resolution(17, "paid")),
        lambda: house.wager(600),
        lambda: house.pass_ms(5000),
    ]
    for provoke in provocations:
        screen, subscription = house.join()
        house.pass_ms(200)
        screen.then = subscription.close
        provoke()
        house.clock.advance(0)
        assert len(screen.take()) == 1
        assert house.clock.getDelayedCalls() == []


def test_a_listener_that_fails_is_closed_and_the_others_go_on(house: House) -> None:
    ended: list[bool] = []
    broken, screen = Screen(house.clock), Screen(house.clock)
    house.feed.subscribe(broken, ended=lambda: ended.append(True))
    house.feed.subscribe(screen)
    screen.take()

    def fail() -> None:
        raise RuntimeError("no screen")

    broken.then = fail
    with capturedLogs() as logged:
        house.board.hit_committed(award(17))
    assert screen.take() == [("hit", 17)]
    assert ended == [True]
    assert ["listener failed" in str(event["log_format"]) for event in logged] == [True]


def test_a_feed_that_ends_tells_its_subscribers_and_can_begin_again(house: House) -> None:
    ended: list[bool] = []
    first = Screen(house.clock)
    house.feed.subscribe(first, ended=lambda: ended.append(True))
    house.feed.subscribe(Screen(house.clock))
    house.feed.end_all()
    house.feed.end_all()
    assert ended == [True]
    assert house.clock.getDelayedCalls() == []
    screen, _ = house.join()
    house.board.hit_committed(award(17))
    assert screen.take() == [("hit", 17)]
