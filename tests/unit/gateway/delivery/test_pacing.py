"""When a chat may be asked again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.delivery.pacing import UNHURRIED_CHARS, Pace, Pauses

pytestmark = pytest.mark.req("DLV-5")


def test_between_two_edits_lies_the_platforms_gap() -> None:
    pace = Pace(gap_s=1.5)
    assert pace.due_s == 0.0
    pace.asked(100.0, 0)
    assert pace.due_s == 101.5


def test_a_chat_that_asks_to_wait_is_asked_more_rarely_up_to_a_bound() -> None:
    pace = Pace(gap_s=1.0)
    gaps = []
    for _ in range(6):
        pace.slow_down()
        pace.asked(0.0, 0)
        gaps.append(pace.due_s)
    assert gaps == [2.0, 4.0, 8.0, 16.0, 16.0, 16.0]


@given(st.floats(0.1, 5.0), st.floats(10.0, 400.0), st.integers(1, 200_000))
def test_looking_at_a_stream_costs_no_more_than_in_proportion_to_its_time(
    gap_s: float, characters_per_s: float, length: int
) -> None:
    """Each look is at the whole text; at any length, the characters looked at per second stay bounded."""
    pace = Pace(gap_s=gap_s)
    now_s, looked_at = 0.0, 0.0
    while (written := now_s * characters_per_s) < length:
        looked_at += written
        pace.asked(now_s, int(written))
        now_s = pace.due_s
    assert looked_at <= (now_s / gap_s + 1) * (UNHURRIED_CHARS + 1)


def test_a_pause_lasts_until_its_end_and_a_shorter_one_does_not_end_it() -> None:
    pauses = Pauses()
    pauses.add("a", 0, 2_000)
    pauses.add("a", 10, 1_000)
    assert [pauses.until("a", 1_999), pauses.until("b", 0)] == [2_000, None]
    assert [pauses.until("a", 2_000), pauses.until("a", 20)] == [None, None]


def test_of_many_pauses_those_that_have_ended_are_forgotten() -> None:
    pauses = Pauses()
    for number in range(3_000):
        pauses.add(f"chat {number}", number * 10, number * 10 + 100)
    assert len(pauses._spans) <= 1_011
    pauses.add("none", 0, 0)
    assert "none" not in pauses._spans
