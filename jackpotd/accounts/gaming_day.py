"""Gaming days: which one an instant belongs to, over every change of the clocks."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_DAY = timedelta(days=1)


class GamingDays:
    """The gaming days of a property: each begins at `start`, local time in `zone`.

    A day begins at the first instant at which its local clocks show `start` or later. So a start
    that a clock change skips falls on the change, one that comes twice counts the first time,
    and every instant lies in exactly one day, of 23 or 25 hours where the clocks change.
    """

    def __init__(self, zone: tzinfo, start: time) -> None:
        self._zone = zone
        self._start = start.replace(fold=0)
        # The day asked for last, as rows come in the order of time.
        self._day = date.min
        self._from_ms = self._until_ms = 0

    def of(self, at_ms: int) -> date:
        """Return the gaming day of a UTC millisecond; OverflowError beyond the calendar."""
        if not self._from_ms <= at_ms < self._until_ms:
            # Clocks that were set back over midnight show yesterday's date in today's day.
            day = self._local(at_ms).date() + _DAY
            while self.begins_ms(day) > at_ms:
                day -= _DAY
            self._from_ms, self._until_ms = self.begins_ms(day), self.begins_ms(day + _DAY)
            self._day = day
        return self._day

    def begins_ms(self, day: date) -> int:
        """Return the UTC millisecond at which a gaming day begins."""
        start = datetime.combine(day, self._start, self._zone)
        begins_ms = _milliseconds(start)
        if self._local(begins_ms) == start.replace(tzinfo=None):
            return begins_ms
        # The clocks skip it. Read with the offset after the change it lies before the change,
        # with the offset before the change after it.
        early_ms, late_ms = _milliseconds(start.replace(fold=1)), begins_ms
        while late_ms - early_ms > 1:
            middle_ms = (early_ms + late_ms) // 2
            if self._local(middle_ms) < start.replace(tzinfo=None):
                early_ms = middle_ms
            else:
                late_ms = middle_ms
        return late_ms

    def _local(self, at_ms: int) -> datetime:
        moment = _EPOCH + timedelta(milliseconds=at_ms)
        return moment.astimezone(self._zone).replace(tzinfo=None, fold=0)


def _milliseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // _MILLISECOND
