"""Which channels are looked into after a gap, and what is taken from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.backfill import PAGE, Gap, Marks, fetch_missed
from adapters.discord.places import Places

pytestmark = pytest.mark.req("ADP-3", "DLV-1")


def places(**last: int) -> Places:
    known = Places("7")
    for name, message in last.items():
        known.add({"id": name.removeprefix("c"), "type": 0, "last_message_id": str(message)})
    return known


def looked_into(marks: Marks, known: Places, **bounds: int) -> list[tuple[str, int]]:
    gaps = marks.gaps(known, **{"oldest": 0, "limit": 10} | bounds)
    return [(gap.channel_id, gap.after) for gap in gaps]


def test_a_bot_that_never_stored_anything_missed_nothing():
    assert looked_into(Marks(), places(c1=50)) == []


def test_only_channels_that_moved_on_are_looked_into_the_liveliest_first():
    marks = Marks()
    marks.take({"1": "10", "2": "30", "3": "20"})
    assert looked_into(marks, places(c1=11, c2=31, c3=20)) == [("2", 30), ("1", 10)]


def test_a_new_channel_is_unknown_since_the_newest_message_of_all():
    marks = Marks()
    marks.take({"1": "10"})
    assert looked_into(marks, places(c1=10, c2=9, c3=12)) == [("3", 10)]


def test_a_channel_that_tells_nothing_of_itself_is_always_looked_into():
    marks = Marks()
    marks.take({"9": "10"})
    assert looked_into(marks, places()) == [("9", 10)]


def test_bounds_cut_old_messages_and_many_channels():
    marks = Marks()
    marks.take({"1": "10", "2": "30", "3": "20"})
    assert looked_into(marks, places(c1=40, c2=40, c3=40), oldest=25, limit=2) == [("2", 30), ("1", 25)]


def test_what_was_there_when_a_session_began_is_no_gap_later():
    marks = Marks()
    marks.begin(places(c1=10))
    assert looked_into(marks, places(c1=10)) == []
    assert looked_into(marks, places(c1=11)) == [("1", 10)]


def test_a_mark_never_goes_back():
    marks = Marks()
    marks.passed("1", 20)
    marks.passed("1", 10)
    marks.take({"1": "15", "2": "no id"})
    assert looked_into(marks, places(c1=30, c2=5)) == [("1", 20)]


@given(st.integers(0, 450), st.integers(0, 450), st.integers(1, 300))
async def test_all_that_was_missed_comes_in_order_or_the_newest_of_it(total, seen, limit):
    history = [{"id": str(number)} for number in range(1, total + 1)]

    async def fetch(channel_id, query):
        assert int(query["limit"]) <= PAGE
        before = int(query.get("before", total + 1))
        return [one for one in reversed(history) if int(one["id"]) < before][: int(query["limit"])]

    missed = await fetch_missed(Gap(channel_id="1", after=seen), fetch, limit=limit)
    assert missed == history[seen:][-limit:]
