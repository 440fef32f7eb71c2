"""What a simulation says of its news, and its summary."""

from __future__ import annotations

from typing import Any

import pytest

from jackpotd.simulate.news import Back, Failed, Held, Lost, News, Pending, PlaysOn, Settled
from jackpotd.simulate.stacked import PlayError
from jackpotd.simulate.tally import Tally
from jackpotd.simulate.words import words
from meters.money import CURRENCIES

USD = CURRENCIES["USD"]

ROYAL: dict[str, Any] = {
    "type": "award",
    "table": "FCP-01",
    "seat": 2,
    "hand": "royal flush",
    "hit": 17,
    "amount": 50_123_45,
    "line": "100% of mega",
    "meter": 50_123_45,
    "status": "pending",
    "envy": [{"seat": 1, "amount": 5_000_00}, {"seat": 4, "amount": 5_000_00}],
}
FOLDED_ROYAL = {key: ROYAL[key] for key in ROYAL if key not in ("line", "meter")} | {"amount": 0}


@pytest.mark.parametrize(
    ("news", "said"),
    [
        (
            Pending(award=ROYAL),
            "pending: hit 17, royal flush at FCP-01 seat 2, $50,123.45 (100% of mega), "
            "and $5,000.00 Envy for each of seats 1, 4",
        ),
        (
            Pending(award=FOLDED_ROYAL),
            "pending: hit 17, royal flush at FCP-01 seat 2, $0.00, "
            "and $5,000.00 Envy for each of seats 1, 4",
        ),
        (
            Pending(award=ROYAL | {"envy": []}),
            "pending: hit 17, royal flush at FCP-01 seat 2, $50,123.45 (100% of mega)",
        ),
        (Held(table="FCP-01", message="FCP-01 waits"), "FCP-01 waits"),
        (PlaysOn(table="FCP-01"), "FCP-01 plays on"),
        (
            Settled(reply={"type": "confirmed", "hit": 17, "amount": 100, "by": "floor-7"}),
            "hit 17 is confirmed by floor-7: $1.00",
        ),
        (
            Settled(reply={"type": "denied", "hit": 17, "by": "floor-7"}),
            "hit 17 is denied by floor-7",
        ),
        (
            Settled(reply={"type": "error", "code": "already-paid", "message": "hit 17 was paid"}),
            "the floorperson was refused: already-paid: hit 17 was paid",
        ),
        (Lost(name="FCP-01", why="it is gone"), "FCP-01: it is gone; connecting again"),
        (Back(name="FCP-01"), "FCP-01 is connected again"),
        (Failed(name="FCP-01", error=PlayError("no")), "FCP-01 is out: no"),
    ],
)
def test_news_is_said_in_plain_words(news: News, said: str) -> None:
    assert words(news, USD) == said


def test_the_summary_counts_what_was_answered() -> None:
    tally = Tally()
    for reply in (
        {"type": "accepted", "amount": 25_00},
        {"type": "voided", "amount": 10_00},
        ROYAL,
        ROYAL | {"hit": 18, "hand": "flush", "amount": 200_00, "status": "paid", "envy": []},
        {"type": "confirmed", "hit": 16},
        {"type": "denied", "hit": 17},
        {"type": "error", "code": "table-held"},
    ):
        tally.answered(reply)
    for _ in range(1_000):
        tally.round()
    assert list(tally.lines(USD)) == [
        "rounds    1,000, misdeals 1",
        "wagers    $25.00, returned $10.00",
        "hits      2: 1 royal flush, 1 flush",
        "awards    $50,323.45",
        "Envy      $10,000.00",
        "floor     1 confirmed, 1 denied ($60,123.45 taken back)",
        "refusals  1 table-held",
    ]


def test_an_empty_summary_says_so() -> None:
    lines = list(Tally().lines(USD))
    assert lines[2] == "hits      0"
    assert lines[-1] == "refusals  none"
