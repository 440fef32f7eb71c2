"""Awards on record, as the signs and the floor are told of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from jackpotd.record.batch import HitOnRecord
from jackpotd.record.rows import read_answer, read_event
from jackpotd.record.sqlite import SqliteRecord
from jackpotd.replies import envy_list
from meters.events import Hit
from meters.outcomes import Awarded, Confirmed, Denied, Status
from signage.awards import LAST_AWARDS, Award, Resolution, utc_text


def shown(*, number: int, at_ms: int, event: Hit, answer: Awarded, paid: bool = False) -> Award:
    """Return a hit as signs show it; `paid` where it was confirmed since."""
    pending = answer.status is Status.PENDING and not paid
    return Award(
        hit=answer.hit,
        progressive=answer.progressive,
        level=answer.level,
        line=answer.line,
        table=event.table,
        round=event.round,
        seat=event.seat,
        hand=event.hand,
        cards=event.cards,
        amount_minor=answer.amount_minor,
        meter_minor=answer.meter_minor,
        from_=answer.source.value,
        status="pending" if pending else "paid",
        envy=tuple((each.seat, each.amount_minor) for each in answer.envy),
        at_ms=at_ms,
        sequence=number,
    )


def ended(number: int, at_ms: int, answer: Confirmed | Denied) -> Resolution:
    """Return a confirmation or denial as signs show it."""
    return Resolution(
        hit=answer.hit,
        status="paid" if isinstance(answer, Confirmed) else "denied",
        at_ms=at_ms,
        sequence=number,
    )


def standing(record: SqliteRecord, levels: Iterable[tuple[str, str]]) -> list[Award]:
    """Return the newest paid awards of each (progressive, level), and the pending ones among them.

    Pending ones are not counted: when one is denied, as many last awards still stand.
    """
    found: dict[int, Award] = {}
    for progressive, level in levels:
        kept = 0
        for each in record.hits_of_level(progressive, level):
            award = on_record(each)
            if award is not None:
                found[award.hit] = award
                kept += award.status == "paid"
            if kept == LAST_AWARDS:
                break
    return [found[hit] for hit in sorted(found)]


def on_record(hit: HitOnRecord) -> Award | None:
    """Return a hit on record as signs show it; None if it was denied."""
    settled = None if hit.settled is None else read_answer(hit.settled)
    if isinstance(settled, Denied):
        return None
    event, answer = read_event(hit.row), read_answer(hit.row)
    assert isinstance(event, Hit)
    assert isinstance(answer, Awarded)
    return shown(
        number=hit.row.number,
        at_ms=hit.row.at_ms,
        event=event,
        answer=answer,
        paid=settled is not None,
    )


def described(hit: HitOnRecord) -> dict[str, Any]:
    """Return a hit for the floor: what was awarded, and how and by whom it was settled."""
    event, answer = read_event(hit.row), read_answer(hit.row)
    assert isinstance(event, Hit)
    assert isinstance(answer, Awarded)
    told: dict[str, Any] = {
        "hit": answer.hit,
        "at": utc_text(hit.row.at_ms),
        "progressive": answer.progressive,
        "table": event.table,
        "round": event.round,
        "seat": event.seat,
        "hand": event.hand,
        "cards": event.cards,
        "amount": answer.amount_minor,
        "line": answer.line,
        "level": answer.level,
        "meter": answer.meter_minor,
        "from": answer.source.value,
        "envy": envy_list(answer.envy),
        "status": answer.status.value,
    }
    if hit.settled is not None:
        settled = read_answer(hit.settled)
        assert isinstance(settled, Confirmed | Denied)
        told["status"] = "paid" if isinstance(settled, Confirmed) else "denied"
        told |= {"settled_at": utc_text(hit.settled.at_ms), "by": settled.by}
        if isinstance(settled, Denied):
            told["later_hits"] = settled.later_hits
    return told
