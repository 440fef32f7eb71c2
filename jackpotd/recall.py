"""Repeated messages: they get the first answer again, or hear why they are not the same."""

from __future__ import annotations

from jackpotd.record.batch import HitOnRecord
from jackpotd.record.rows import Row, read_answer, read_event
from meters.events import Confirm, Deny, Event, Hit, Void, Wager
from meters.outcomes import Answer, Code, Confirmed, Denied, Refused


def recalled(event: Event, found: HitOnRecord | Row | None) -> Answer | Refused:
    """Return the first answer of a repeated event, or why it is not the same event."""
    if isinstance(event, Wager | Hit | Void):
        assert isinstance(found, Row), f"seq {event.seq} of {event.table} is not on record"
        if read_event(found) == event:
            return read_answer(found)
        return Refused(
            code=Code.SEQ_CONFLICT,
            message=f"seq {event.seq} of {event.table} was a {found.kind} of other content: "
            "send a new message with the next seq",
        )
    assert isinstance(event, Confirm | Deny)
    assert isinstance(found, HitOnRecord)
    settled = read_answer(found.settled) if found.settled is not None else None
    if isinstance(event, Confirm) and isinstance(settled, Confirmed):
        return settled
    if isinstance(event, Deny) and isinstance(settled, Denied):
        return settled
    if isinstance(settled, Denied):
        return Refused(
            code=Code.ALREADY_DENIED, message=f"hit {event.hit} was denied by {settled.by}"
        )
    by = f" and confirmed by {settled.by}" if isinstance(settled, Confirmed) else " at once"
    return Refused(code=Code.ALREADY_PAID, message=f"hit {event.hit} was paid{by}")
