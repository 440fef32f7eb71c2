"""A property with two progressives, and its awards."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from meters.money import CURRENCIES
from signage.board import Award, Board, Resolution, ShownLevel, Sign

USD = CURRENCIES["USD"]
AT_MS = 1_772_357_400_250
AT_TEXT = "2026-03-01T09:30:00.250Z"

SIGNS = {
    "pit-1": Sign(title="Riverside Royal", progressives=("royal",)),
    "both": Sign(title="All of it", progressives=("fortune", "royal")),
}

FULL_AWARD = Award(
    hit=17,
    progressive="royal",
    level="mega",
    line="100% of mega",
    table="LIR-02",
    round=100,
    seat=5,
    hand="royal flush",
    cards=("As", "Ks", "Qs", "Js", "Ts"),
    amount_minor=1_234_567,
    meter_minor=1_234_567,
    from_="hand pay",
    status="pending",
    envy=((1, 100_000), (2, 200_000)),
    at_ms=AT_MS,
    sequence=17,
)


def award(hit: int, **changes: Any) -> Award:
    """Return a full award of the mega with this hit number, which is its sequence too."""
    return replace(FULL_AWARD, **({"hit": hit, "sequence": hit} | changes))


def resolution(hit: int, status: str, *, sequence: int = 500) -> Resolution:
    """Return what ends that award: "paid" or "denied"."""
    assert status in ("paid", "denied")
    return Resolution(
        hit=hit,
        status="paid" if status == "paid" else "denied",
        at_ms=AT_MS + sequence,
        sequence=sequence,
    )


def property_board() -> Board:
    """Return a board that shows the two progressives at sequence 0."""
    board = Board(property_title="Riverside", currency=USD, signs=SIGNS)
    board.show_progressive(
        "royal",
        "Riverside Royal",
        {
            "mega": ShownLevel(amount_minor=5_000_000, generation=1),
            "major": ShownLevel(amount_minor=500_000, generation=1),
        },
    )
    board.show_progressive(
        "fortune", "Pai Gow Fortune", {"meter": ShownLevel(amount_minor=0, generation=1)}
    )
    return board


def commit(
    board: Board,
    sequence: int,
    *,
    generations: Mapping[str, int] | None = None,
    **royal_minor: int,
) -> None:
    """Commit new values of the royal's levels."""
    board.meters_committed(
        sequence=sequence,
        at_ms=AT_MS + sequence,
        meters={"royal": royal_minor} if royal_minor else {},
        generations={"royal": generations} if generations else {},
    )
