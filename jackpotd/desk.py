"""The floor's desk: confirm, deny and see hits over HTTP, through the one commit queue."""

from __future__ import annotations

from typing import Any

from twisted.internet.defer import Deferred

from jackpotd.awards import described
from jackpotd.commit import CommitQueue
from jackpotd.principals import Principal, Principals
from jackpotd.record.journal import Journal
from jackpotd.record.sqlite import SqliteRecord
from jackpotd.replies import reply_to
from meters.events import Confirm, Deny, Event
from meters.outcomes import Answer, Refused

LISTED = 200
"""How many of the newest hits the floor is shown."""


class Desk:
    """What the HTTP floor pages ask for."""

    def __init__(self, *, queue: CommitQueue, journal: Journal, principals: Principals) -> None:
        self._queue = queue
        self._journal = journal
        self._principals = principals

    def authenticate(self, key: str) -> Principal | None:
        """Return the principal of a key."""
        return self._principals.by_key(key)

    def hits(self, pending: bool) -> Deferred[list[dict[str, Any]]]:
        """Return the newest hits, newest first, or all pending ones, oldest first."""
        waiting = list(self._queue.floor.pending)

        def read(record: SqliteRecord) -> list[dict[str, Any]]:
            if not pending:
                return [described(each) for each in record.hits(newest=LISTED)]
            found = [record.hit(hit) for hit in waiting]
            return [described(each) for each in found if each is not None and not each.settled]

        return self._journal.read(read)

    def confirm(self, hit: int, by: str) -> Deferred[dict[str, Any]]:
        """Confirm a hit; the protocol's reply."""
        return self._ask(Confirm(hit=hit, by=by))

    def deny(self, hit: int, by: str, reason: str) -> Deferred[dict[str, Any]]:
        """Deny a hit; the protocol's reply."""
        return self._ask(Deny(hit=hit, by=by, reason=reason))

    def _ask(self, event: Event) -> Deferred[dict[str, Any]]:
        answered: Deferred[dict[str, Any]] = Deferred()

        def deliver(event: Event, answer: Answer | Refused) -> None:
            answered.callback(reply_to(event, answer))

        self._queue.submit(event, deliver)
        return answered
