"""Which gaming day an instant belongs to (rules 11), over every change of the clocks."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jackpotd.accounts.gaming_day import GamingDays
from tests.record_builder import at_ms

HOUR_MS = 3_600_000


def days(zone: str, start: str) -> GamingDays:
    return GamingDays(ZoneInfo(zone), time.fromisoformat(start))


@pytest.mark.parametrize(
    ("instant", "day"),
    [
        ("2026-01-15T05:59:59.999-05:00", "2026-01-14"),
        ("2026-01-15T06:00:00-05:00", "2026-01-15"),
        ("2026-01-16T00:00:00-05:00", "2026-01-15"),
        ("2026-01-16T05:59:59.999-05:00", "2026-01-15"),
        ("2026-07-15T05:59:59.999-04:00", "2026-07-14"),
        ("2026-07-15T06:00:00-04:00", "2026-07-15"),
        ("1969-12-31T23:00:00-05:00", "1969-12-31"),
    ],
)
def test_a_day_lasts_from_its_start_to_the_next_ones(instant: str, day: str) -> None:
    assert days("America/New_York", "06:00").of(at_ms(instant)) == date.fromisoformat(day)


@pytest.mark.parametrize(
    ("zone", "start", "day", "begins", "hours"),
    [
        pytest.param(
            *("America/New_York", "06:00", "2026-03-07", "2026-03-07T06:00-05:00", 23),
            id="the clocks are set forward",
        ),
        pytest.param(
            *("America/New_York", "06:00", "2026-10-31", "2026-10-31T06:00-04:00", 25),
            id="the clocks are set back",
        ),
        pytest.param(
            *("America/New_York", "02:30", "2026-03-08", "2026-03-08T03:00-04:00", 23.5),
            id="the start is skipped",
        ),
        pytest.param(
            *("America/New_York", "02:00", "2026-03-08", "2026-03-08T03:00-04:00", 23),
            id="the start is the first instant that is skipped",
        ),
        pytest.param(
            *("America/New_York", "03:00", "2026-03-08", "2026-03-08T03:00-04:00", 24),
            id="the start is the first instant that is not skipped",
        ),
        pytest.param(
            *("America/New_York", "01:30", "2026-11-01", "2026-11-01T01:30-04:00", 25),
            id="the start comes twice",
        ),
        pytest.param(
            *("America/New_York", "02:00", "2026-11-01", "2026-11-01T02:00-05:00", 24),
            id="the start is the first instant that comes once again",
        ),
        pytest.param(
            *("America/Sao_Paulo", "00:00", "2018-11-04", "2018-11-04T01:00-02:00", 23),
            id="midnight is skipped",
        ),
        pytest.param(
            *("America/Havana", "00:00", "2026-11-01", "2026-11-01T00:00-04:00", 25),
            id="midnight comes twice",
        ),
        pytest.param(
            *("America/St_Johns", "00:00", "2010-11-07", "2010-11-07T00:00-02:30", 25),
            id="the clocks are set back over midnight",
        ),
        pytest.param(
            *("Australia/Lord_Howe", "02:15", "2026-10-04", "2026-10-04T02:30+11:00", 23.75),
            id="a change of half an hour skips the start",
        ),
        pytest.param(
            *("Pacific/Apia", "06:00", "2011-12-29", "2011-12-29T06:00-10:00", 18),
            id="before a date that did not exist",
        ),
        pytest.param(
            *("Pacific/Apia", "06:00", "2011-12-30", "2011-12-31T00:00+14:00", 6),
            id="a date that did not exist",
        ),
        pytest.param(
            *("Asia/Macau", "06:00", "2026-03-08", "2026-03-08T06:00+08:00", 24),
            id="the clocks are never changed",
        ),
    ],
)
def test_a_day_begins_when_the_clocks_first_show_its_start_or_later(
    zone: str, start: str, day: str, begins: str, hours: float
) -> None:
    gaming_days, today = days(zone, start), date.fromisoformat(day)
    begins_ms = gaming_days.begins_ms(today)
    assert begins_ms == at_ms(begins)
    assert gaming_days.begins_ms(today + timedelta(days=1)) - begins_ms == hours * HOUR_MS
    assert gaming_days.of(begins_ms) == today
    assert gaming_days.of(begins_ms - 1) == today - timedelta(days=1)


def test_a_day_goes_on_while_set_back_clocks_show_yesterdays_date() -> None:
    gaming_days = days("America/St_Johns", "00:00")
    second_2315 = at_ms("2010-11-06T23:15-03:30")
    assert gaming_days.of(second_2315) == date(2010, 11, 7)


def test_an_instant_beyond_the_calendar_has_no_day() -> None:
    with pytest.raises(OverflowError):
        days("America/New_York", "06:00").of(2**62)


ZONES = st.sampled_from(
    [
        *("America/New_York", "America/Sao_Paulo", "America/Havana", "America/St_Johns"),
        *("Australia/Lord_Howe", "Pacific/Apia", "Europe/London", "Asia/Tehran", "UTC"),
        *("Africa/Casablanca", "America/Scoresbysund", "Antarctica/Troll"),
    ]
)
STARTS = st.times(timezones=st.none()).map(lambda start: start.replace(second=0, microsecond=0))
MOMENTS = st.datetimes(
    min_value=datetime(2005, 1, 1), max_value=datetime(2030, 1, 1), timezones=st.just(UTC)
)


@given(zone=ZONES, start=STARTS, moment=MOMENTS)
@example(zone="Pacific/Apia", start=time(6), moment=datetime(2011, 12, 30, 10, tzinfo=UTC))
@example(zone="America/Sao_Paulo", start=time(0), moment=datetime(2018, 11, 4, 3, tzinfo=UTC))
def test_every_instant_lies_in_exactly_one_day_and_days_follow_without_a_gap(
    zone: str, start: time, moment: datetime
) -> None:
    gaming_days = GamingDays(ZoneInfo(zone), start)
    instant = at_ms(moment.isoformat())
    day = gaming_days.of(instant)
    after = day + timedelta(days=1)
    assert gaming_days.begins_ms(day) <= instant < gaming_days.begins_ms(after)
    assert gaming_days.of(gaming_days.begins_ms(after)) >= after
    assert gaming_days.of(gaming_days.begins_ms(after) - 1) == day


@given(zone=ZONES, start=STARTS, day=st.dates(date(2005, 1, 1), date(2030, 1, 1)))
@example(zone="America/New_York", start=time(2, 30), day=date(2026, 3, 8))
@example(zone="Antarctica/Troll", start=time(2, 0), day=date(2026, 3, 29))
def test_no_minute_before_the_beginning_shows_the_start_or_later(
    zone: str, start: time, day: date
) -> None:
    local_start = datetime.combine(day, start)
    earliest = datetime.combine(day, start, UTC) - timedelta(hours=26)
    clock = ZoneInfo(zone)
    minutes = (earliest + timedelta(minutes=each) for each in range(60 * 52))
    first = next(
        minute
        for minute in minutes
        if minute.astimezone(clock).replace(tzinfo=None, fold=0) >= local_start
    )
    assert GamingDays(clock, start).begins_ms(day) == at_ms(first.isoformat())
