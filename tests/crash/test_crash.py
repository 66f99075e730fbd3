"""The short form of `make crash`."""

from pathlib import Path

import pytest

from tests.crash.harness import CrashRun, Plan
from tests.crash.tally import Seen, Talk, lost, seen

PLAN = Plan(kills=5, people=3, seed=7, stops=0.3, freezes=0.3, longest_life_s=1.0)


@pytest.mark.req("EVT-3", "DLV-1", "DLV-6", "DLV-7", "QUE-1", "APR-6", "OPS-4")
@pytest.mark.timeout(240)
async def test_messages_on_all_platforms_survive_random_kills_answered_once_and_tools_run_once(
    tmp_path: Path,
) -> None:
    result = await CrashRun(tmp_path, PLAN).run()
    assert result.wrong == []
    assert result.kills == PLAN.kills
    for tally in result.tallies:
        assert tally.accepted > PLAN.people, "nobody said more than hello"
    assert [tally.told_missing for tally in result.tallies[1:]] == [0, 0], "only Telegram cannot tell"


def test_the_count_tells_what_is_lost_from_what_is_doubled_or_spoken_of() -> None:
    talk = Talk(plain=["w1x0", "w1x1", "w1x2", "w1x3"], tools=["w1x4", "w1x5"])
    texts = [
        "You said: w1x0",
        "You said: w1x1",
        "You said: w1x1",
        "A part of my last answer may not have arrived.",
        "demo__write_note returned: Written down.",
        "↻ Again, this may be a repeat:\n\nYou said: w1x0",
        "↻ Again, this may be a repeat:\n\nYou said: w1x2",
    ]
    found = seen(talk, texts)
    assert found == Seen(
        answered=4, doubled=("w1x1",), missing=("w1x3",), tools_missing=1, told_missing=1, given_up=0
    )
    assert lost(talk, found, frozenset()) == ["w1x3", "an answer of a tool to ['w1x5']"]
    assert lost(talk, found, frozenset({"w1x0", "w1x4"})) == ["w1x3"]
