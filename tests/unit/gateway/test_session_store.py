"""When a session expires, over time zones and clock changes; finding, making and resetting are in the contract."""

from dataclasses import replace
from datetime import UTC, datetime, time, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.session_store import ResetPolicy

ZONES = st.sampled_from(
    ["UTC", "Europe/Berlin", "America/New_York", "Asia/Seoul", "Australia/Lord_Howe", "America/Santiago"]
).map(ZoneInfo)
# Two years: every zone changes its clocks several times.
MOMENTS = st.integers(1_735_689_600, 1_798_675_200).map(lambda second: datetime.fromtimestamp(second, UTC))
TIMES = st.builds(time, st.integers(0, 23), st.sampled_from([0, 15, 30, 59]))
DAILY = st.builds(ResetPolicy, mode=st.just("daily"), daily_at=TIMES, timezone=ZONES)
GAPS = st.timedeltas(timedelta(0), timedelta(hours=60))


@pytest.mark.req("SES-2")
@given(policy=DAILY, last=MOMENTS, gap=GAPS)
def test_a_daily_session_expires_exactly_when_the_hour_was_passed(
    policy: ResetPolicy, last: datetime, gap: timedelta
) -> None:
    now = last + gap
    local = now.astimezone(policy.timezone)
    hours = [
        datetime.combine(local.date() - timedelta(days=back), policy.daily_at, policy.timezone).astimezone(
            UTC
        )
        for back in range(-1, 5)
    ]

    assert policy.is_expired(last, now) == any(last < hour <= now for hour in hours)


@pytest.mark.req("SES-2")
@given(policy=DAILY, last=MOMENTS, gap=GAPS, more=GAPS)
def test_what_has_expired_stays_expired(
    policy: ResetPolicy, last: datetime, gap: timedelta, more: timedelta
) -> None:
    assert not policy.is_expired(last, last + gap) or policy.is_expired(last, last + gap + more)


@pytest.mark.req("SES-2")
@given(policy=DAILY, now=MOMENTS)
def test_a_session_just_begun_is_not_over(policy: ResetPolicy, now: datetime) -> None:
    """In the hour that a clock change leaves out, every message once began a session of its own."""
    assert not policy.is_expired(now, now)


@pytest.mark.req("SES-2")
@given(policy=DAILY, last=MOMENTS, gap=GAPS)
def test_both_ends_a_session_exactly_when_one_of_the_two_does(
    policy: ResetPolicy, last: datetime, gap: timedelta
) -> None:
    now = last + gap
    both, idle = replace(policy, mode="both", idle_s=20_000), replace(policy, mode="idle", idle_s=20_000)

    assert both.is_expired(last, now) == (policy.is_expired(last, now) or idle.is_expired(last, now))


@pytest.mark.req("SES-2")
@pytest.mark.parametrize(
    ("zone", "day", "resets"),
    [
        # 02:30 does not exist on the day clocks go forward: the hour is passed once, at 01:30 UTC.
        ("Europe/Berlin", datetime(2026, 3, 29, tzinfo=UTC), ["2026-03-29 01:30"]),
        # On the day they go back it comes twice, and counts once, the first time.
        ("Europe/Berlin", datetime(2026, 10, 25, tzinfo=UTC), ["2026-10-25 00:30"]),
        ("America/New_York", datetime(2026, 3, 8, 5, tzinfo=UTC), ["2026-03-08 07:30"]),
        ("America/New_York", datetime(2026, 11, 1, 4, tzinfo=UTC), ["2026-11-01 07:30"]),
        ("Asia/Seoul", datetime(2026, 3, 29, tzinfo=UTC), ["2026-03-29 17:30"]),
    ],
)
def test_on_days_when_clocks_change_the_hour_is_passed_once(
    zone: str, day: datetime, resets: list[str]
) -> None:
    policy = ResetPolicy(mode="daily", daily_at=time(2, 30), timezone=ZoneInfo(zone))
    minutes = [day + timedelta(minutes=5 * step) for step in range(24 * 12)]
    found = [f"{now:%Y-%m-%d %H:%M}" for before, now in pairwise(minutes) if policy.is_expired(before, now)]

    assert found == resets


@pytest.mark.req("SES-2")
def test_the_hour_is_that_of_the_named_zone_and_not_of_the_host() -> None:
    """C90a: 05:00 in Seoul is 20:00 UTC the day before."""
    policy = ResetPolicy(mode="daily", daily_at=time(5), timezone=ZoneInfo("Asia/Seoul"))
    before, after = datetime(2026, 3, 1, 19, 59, tzinfo=UTC), datetime(2026, 3, 1, 20, 1, tzinfo=UTC)
    lisbon = [datetime(2026, 3, 2, hour, tzinfo=UTC) for hour in (4, 6)]

    assert policy.is_expired(before, after)
    assert not policy.is_expired(*lisbon)


@pytest.mark.req("SES-2")
@pytest.mark.parametrize(
    ("mode", "hours_idle", "over_the_hour", "expired"),
    [
        ("idle", 23, True, False),
        ("idle", 24, False, True),
        ("daily", 23, True, True),
        ("daily", 3, False, False),
        ("both", 23, True, True),
        ("both", 3, False, False),
        ("none", 23, True, False),
        ("none", 24 * 365, True, False),
    ],
)
def test_each_mode_asks_only_what_it_names(
    mode: str, hours_idle: int, over_the_hour: bool, expired: bool
) -> None:
    now = datetime(2026, 6, 1, 5 if over_the_hour else 23, tzinfo=UTC)
    last = now - timedelta(hours=hours_idle)

    assert ResetPolicy(mode=mode).is_expired(last, now) == expired  # type: ignore[arg-type]


@pytest.mark.req("SES-2")
def test_a_reply_that_ended_after_the_hour_belongs_to_the_day_of_its_question() -> None:
    """C90b."""
    policy = ResetPolicy(mode="daily")
    asked, ended = datetime(2026, 6, 1, 3, 50, tzinfo=UTC), datetime(2026, 6, 1, 4, 10, tzinfo=UTC)

    assert policy.is_expired(ended, ended, last_asked=asked)
    assert not ResetPolicy(mode="idle", idle_s=600).is_expired(ended, ended, last_asked=asked)
