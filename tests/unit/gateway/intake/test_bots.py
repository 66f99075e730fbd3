"""The loop guard (pure)."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.intake.bots import LoopGuard

pytestmark = pytest.mark.req("ADP-6")

CHAT = ("memory", "bot", "-7")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def verdicts(guard: LoopGuard, *seconds: float) -> list[str]:
    return [guard.judge(CHAT, NOW + timedelta(seconds=at)) for at in seconds]


def test_beyond_the_limit_bots_are_not_heard_and_the_log_is_told_once():
    assert verdicts(LoopGuard(3), 0, 1, 2, 3, 4) == ["heard"] * 3 + ["silenced", "ignored"]


def test_a_slow_exchange_ends_too():
    assert verdicts(LoopGuard(3), 0, 50, 100, 150) == ["heard"] * 3 + ["silenced"]


def test_a_quiet_minute_ends_the_silence():
    assert verdicts(LoopGuard(2), 0, 1, 2, 62, 63) == ["heard", "heard", "silenced", "heard", "heard"]


def test_a_bot_that_goes_on_talking_keeps_the_guard_up():
    assert verdicts(LoopGuard(2), *range(0, 600, 30))[2:] == ["silenced", *["ignored"] * 17]


def test_a_persons_word_ends_a_row_but_not_a_flood():
    guard = LoopGuard(2)
    verdicts(guard, 0, 50, 100)
    guard.person_spoke(CHAT)
    assert verdicts(guard, 150) == ["heard"]
    guard.person_spoke(CHAT)
    assert verdicts(guard, 151, 152) == ["silenced", "ignored"]


def test_chats_are_counted_apart():
    guard = LoopGuard(1)
    assert [guard.judge((*CHAT, str(n)), NOW) for n in range(3)] == ["heard"] * 3


@given(
    gaps=st.lists(st.floats(min_value=0, max_value=100), max_size=100),
    limit=st.integers(min_value=1, max_value=5),
)
def test_never_more_than_the_limit_are_heard_within_a_minute(gaps, limit):
    guard, at, heard = LoopGuard(limit), NOW, []
    for gap in gaps:
        at += timedelta(seconds=gap)
        guard.person_spoke(CHAT)
        if guard.judge(CHAT, at) == "heard":
            heard.append(at)
    for first, last in zip(heard, heard[limit:], strict=False):
        assert last - first >= timedelta(seconds=60)
