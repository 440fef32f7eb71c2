"""Stories for the accounts: records with something of everything, over a change of the clocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import time
from pathlib import Path
from zoneinfo import ZoneInfo

from jackpotd.accounts.entries import Entry, entries
from jackpotd.accounts.gaming_day import GamingDays
from meters.floor import Floor
from tests.builders import level, live, paytable
from tests.record_builder import RecordBuilder, opened

DAYS = GamingDays(ZoneInfo("America/New_York"), time(6))

ROYAL = live(
    paytable(
        levels={
            "mega": level("$10,000", "10%", reserve="3%"),
            "minor": level("$250", "3.1234%", cap="$250.20"),
        },
        pays={
            "royal flush": "100% of mega",
            "straight flush": "10% of mega",
            "four of a kind": "100% of minor",
            "full house": "50 for 1",
            "flush": "$300 from minor",
            "three of a kind": "9 to 1",
        },
        envy={"royal flush": "$1,000 for 1"},
    ),
    name="royal",
    tables=("T1", "T2"),
)
"""Two levels: one with a reserve, one with a cap; a line that a level pays first."""

BONUS = live(
    paytable(
        levels={"meter": level("$1,000", "20.5%", reseed="$0", reserve="8%")},
        pays={"four aces": "100% of meter", "four of a kind": "25 for 1"},
    ),
    name="bonus",
    wager_minor=100,
    tables=("T1", "T3"),
    hold_table=False,
)
"""A reserve that alone starts the next meter; T1 plays both."""


def eventful(path: Path) -> None:
    """Write three gaming days: 7 March, 8 March (23 hours), and 10 March 2026.

    Caps and reserves, full awards, a denial of each kind, void rounds before and after a full
    award, Envy, a folded hand, awards paid at once, and one that is still pending.
    """
    with RecordBuilder(path, at="2026-03-07T06:00:00-05:00") as to:
        to.open(ROYAL, BONUS)
        to.wager("T1", 1, 1, 2, 3, progressive="royal")
        to.wager("T1", 1, 1, 2, progressive="bonus")
        to.wager("T2", 7, 1, 5, players={1: "Ann", 4: "Ann"})
        to.hit("T1", 1, 3, "three of a kind", progressive="royal")
        to.hit("T1", 1, 2, "four of a kind", progressive="bonus")
        to.commit(snapshot=True)
        first_royal = to.hit("T1", 1, 1, "royal flush", progressive="royal", cards=("As", "Ks"))
        to.void("T2", 7)
        to.confirm(first_royal.hit)
        to.wager("T3", 1, 1, 4)
        to.void("T3", 1, reason="=cmd|' /C calc'!A0")
        to.at("2026-03-08T01:59:59.999-05:00")
        to.wager("T2", 8, 2)
        to.commit()
        to.at("2026-03-08T03:00:00-04:00")
        quads = to.hit("T2", 8, 2, "four of a kind")
        to.deny(quads.hit, reason="misread, it was two pair")
        to.hit("T2", 8, 2, "flush")
        to.commit(snapshot=True)

        to.at("2026-03-08T06:00:00-04:00")
        to.wager("T3", 2, 1, 2, 3)
        aces = to.hit("T3", 2, 1, "four aces")
        more_aces = to.hit("T3", 2, 2, "four aces")
        to.wager("T1", 2, 1, 2, progressive="royal")
        straight = to.hit("T1", 2, 1, "straight flush", progressive="royal")
        to.deny(aces.hit, reason="a joker among them")
        to.confirm(more_aces.hit, by="floor-8")
        to.confirm(straight.hit)
        to.commit(snapshot=True)

        to.at("2026-03-10T23:30:00-04:00")
        to.wager("T2", 9, 1, 2, 3)
        to.wager("T3", 3, 4)
        to.hit("T2", 9, 3, "royal flush", folded=True)
        to.void("T3", 3)
        to.commit()


@contextmanager
def told(path: Path) -> Iterator[tuple[Iterator[Entry], Floor]]:
    """Open a record and give its entries, with the floor that they are folded into."""
    record = opened(path, read_only=True)
    floor = Floor()
    try:
        yield entries(record.rows(), floor, record.start_hash(), DAYS), floor
    finally:
        record.close()


def units(dollars: str) -> int:
    """Return dollars, with up to eight decimals, in units."""
    whole, _, fraction = dollars.partition(".")
    return int(whole + fraction.ljust(8, "0"))
