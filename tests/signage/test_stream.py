"""Frames of server-sent events: what is in them, and that everybody gets the same bytes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from twisted.internet.task import Clock

from signage.board import Board
from signage.feed import Feed
from signage.stream import PREAMBLE, Display, Frames
from tests.signage.examples import AT_TEXT, award, commit, property_board, resolution


class House:
    """A board, a feed, and streams that are lists of the writes."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.board: Board = property_board()
        self.feed = Feed(self.clock, self.board)
        self.frames = Frames(self.board)
        self.counted = 0

    def display(
        self, sign: str | None = None, write: Callable[[bytes], object] | None = None
    ) -> tuple[Display, list[bytes]]:
        """Make a display that isn't started yet."""
        written: list[bytes] = []

        def count() -> None:
            self.counted += 1

        display = Display(
            write=write or written.append, frames=self.frames, sign=sign, counted=count
        )
        return display, written

    def open(self, sign: str | None = None) -> tuple[Display, list[bytes]]:
        """Open a stream."""
        display, written = self.display(sign)
        display.start(self.feed, ended=lambda: None)
        return display, written


@pytest.fixture
def house() -> House:
    return House()


def parsed(frame: bytes) -> tuple[int, str, Any]:
    """Return the id, the event and the data of a frame of the only shape there is."""
    assert frame.endswith(b"\n\n")
    number, event, data = frame[:-2].split(b"\n")
    return (
        int(number.removeprefix(b"id: ")),
        event.removeprefix(b"event: ").decode(),
        json.loads(data.removeprefix(b"data: ")),
    )


def test_a_stream_begins_with_the_time_to_try_again_and_the_values(house: House) -> None:
    commit(house.board, 12, mega=5_000_001)
    _, written = house.open()
    assert written[0] == PREAMBLE == b"retry: 2000\n\n"
    assert parsed(written[1]) == (12, "meters", json.loads(house.board.snapshot().encoded))
    assert len(written) == 2


def test_a_hit_is_told_whole(house: House) -> None:
    _, written = house.open()
    house.board.hit_committed(award(17))
    number, event, data = parsed(written[2])
    assert (number, event) == (17, "hit")
    assert data == {
        "hit": 17,
        "progressive": "royal",
        "level": "mega",
        "line": "100% of mega",
        "table": "LIR-02",
        "round": 100,
        "seat": 5,
        "hand": "royal flush",
        "cards": ["As", "Ks", "Qs", "Js", "Ts"],
        "amount": 1_234_567,
        "text": "$12,345.67",
        "meter": 1_234_567,
        "from": "hand pay",
        "status": "pending",
        "envy": 300_000,
        "envy_text": "$3,000.00",
        "at": AT_TEXT,
        "sequence": 17,
    }


def test_a_resolution_is_told(house: House) -> None:
    _, written = house.open()
    house.board.hit_committed(award(17))
    house.board.resolved_committed(resolution(17, "denied", sequence=750))
    assert parsed(written[3]) == (
        750,
        "resolved",
        {"hit": 17, "status": "denied", "at": "2026-03-01T09:30:01.000Z", "sequence": 750},
    )


def test_a_tick_has_the_newest_sequence(house: House) -> None:
    _, written = house.open()
    commit(house.board, 40)
    house.clock.advance(5)
    assert parsed(written[2]) == (40, "tick", {"sequence": 40, "at": "1970-01-01T00:00:05.000Z"})


def test_all_displays_get_the_very_same_bytes(house: House) -> None:
    streams = [house.open("pit-1")[1] for _ in range(3)]
    house.board.hit_committed(award(17))
    house.board.resolved_committed(resolution(17, "paid"))
    house.clock.advance(1)
    house.clock.advance(4)
    first = streams[0]
    assert [parsed(frame)[1] for frame in first[1:]] == [
        "meters",
        "hit",
        "resolved",
        "meters",
        "tick",
    ]
    for other in streams[1:]:
        assert all(ours is theirs for ours, theirs in zip(first, other, strict=True))


def test_each_frame_is_counted(house: House) -> None:
    house.open()
    house.open()
    house.board.hit_committed(award(17))
    assert house.counted == 4


def test_the_stream_of_a_sign_has_its_progressives_only(house: House) -> None:
    _, written = house.open("pit-1")
    house.board.hit_committed(award(1, progressive="fortune", level="meter"))
    house.board.hit_committed(award(2))
    events = [parsed(frame) for frame in written[1:]]
    assert list(events[0][2]["progressives"]) == ["royal"]
    assert [data["hit"] for _, event, data in events if event == "hit"] == [2]


def test_a_display_that_reads_slowly_is_paused_and_catches_up(house: House) -> None:
    display, written = house.open()
    house.clock.advance(1)
    del written[:]
    display.pauseProducing()
    house.board.hit_committed(award(17))
    for sequence in range(18, 200):
        commit(house.board, sequence, mega=5_000_000 + sequence)
        house.clock.advance(1)
    assert written == []
    display.resumeProducing()
    house.clock.advance(0)
    assert [parsed(frame)[:2] for frame in written] == [(17, "hit"), (199, "meters")]


def test_a_display_that_is_full_after_its_first_frame_stays_paused(house: House) -> None:
    written: list[bytes] = []

    def write(frame: bytes) -> None:
        written.append(frame)
        if len(written) == 2:
            display.pauseProducing()

    display, _ = house.display(write=write)
    display.start(house.feed, ended=lambda: None)
    house.board.hit_committed(award(17))
    assert len(written) == 2
    display.resumeProducing()
    assert parsed(written[2])[:2] == (17, "hit")


def test_a_display_that_is_gone_is_forgotten(house: House) -> None:
    display, written = house.open()
    display.stopProducing()
    house.board.hit_committed(award(17))
    assert len(written) == 2
    assert house.clock.getDelayedCalls() == []


def test_a_display_that_never_started_may_be_stopped(house: House) -> None:
    display, written = house.display()
    display.pauseProducing()
    display.resumeProducing()
    display.stopProducing()
    assert written == []
