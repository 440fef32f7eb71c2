"""Ctrl-C and its kin: whoever is interrupted ends in good order, and is not interrupted in that."""

from __future__ import annotations

import signal

import pytest

from jackpotd.interrupts import interruptible, until_interrupted

ENDING = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.mark.parametrize("ending", ENDING)
def test_an_interrupt_leaves_what_is_within_and_the_ending_is_left_alone(
    ending: signal.Signals,
) -> None:
    reached = []
    with interruptible():
        with until_interrupted():
            reached.append("within")
            signal.raise_signal(ending)
            reached.append("never")
        for another in ENDING:
            signal.raise_signal(another)
        reached.append("the ending")
    assert reached == ["within", "the ending"]


def test_afterwards_everything_is_as_it_was() -> None:
    before = [signal.getsignal(each) for each in ENDING]
    with interruptible(), until_interrupted():
        signal.raise_signal(signal.SIGTERM)
    assert [signal.getsignal(each) for each in ENDING] == before


def test_what_is_ignored_already_stays_ignored() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible():
            signal.raise_signal(signal.SIGHUP)
    finally:
        signal.signal(signal.SIGHUP, before)
