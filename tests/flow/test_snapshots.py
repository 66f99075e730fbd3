"""An agent and its tools are one snapshot for a turn; what has changed when a waiting turn goes on."""

import pytest

from tests.flow.agents import AGENTS, answers, asked, count
from tests.flow.house import House
from tests.flow.scripted import calls, says

pytestmark = pytest.mark.req("AGT-4")


async def test_a_tool_that_changed_while_its_card_was_open_is_asked_about_once_more(house: House) -> None:
    ann = house.person()
    house.model.then(calls(count()), says("counted"))
    ann.says("count")
    card = await ann.gets_card()
    await house.stop()
    house.lab.parameters = {
        "type": "object",
        "properties": {"n": {"type": "integer", "description": "hours"}},
    }
    await house.start()
    await ann.presses("Once", card)
    again = await asked(ann, "The tool has changed since this was approved, so I ask again.")
    assert house.lab.runs == []

    await ann.presses("Once", again)
    await ann.gets("counted")
    await house.quiet()
    assert house.lab.runs == [("count", {"n": 1})]
    assert await house.values("SELECT state FROM requests") == ["approved", "approved"]


async def test_a_tool_that_changed_before_anybody_was_asked_is_asked_about_once(house: House) -> None:
    ann = house.person()
    house.model.then(calls(count(1), count(2)), says("counted"))
    ann.says("count")
    await answers(ann, "Approval needed (1 of 2)", "Once")
    await asked(ann, "Approval needed (2 of 2)")
    await (
        house.restart()
    )  # nothing has changed: the approval of the first holds, the second is not asked twice
    await answers(ann, "Approval needed (2 of 2)", "Once")
    await ann.gets("counted")
    await house.quiet()
    assert [n["n"] for _, n in house.lab.runs] == [1, 2]
    assert await house.values("SELECT COUNT(*) FROM requests") == [2]


async def test_a_tool_that_is_gone_when_its_approved_call_would_run_is_an_error_to_the_model(
    house: House,
) -> None:
    ann = house.person()
    house.model.then(calls(count()), says("a pity"))
    ann.says("count")
    card = await ann.gets_card()
    await house.stop()
    house.lab.names = ("look",)
    await house.start()
    await ann.presses("Once", card)
    await ann.gets("a pity")
    await house.quiet()
    assert house.lab.runs == []
    assert house.model.asked[-1].lines[-1] == (
        "failed",
        "There is no tool named lab__count. Use only the tools you were given.",
    )


async def test_each_leg_begins_with_the_fingerprint_of_its_agent_and_a_changed_persona_makes_a_new_one(
    house: House,
) -> None:
    ann = house.person()
    ann.says("one")
    await ann.gets("You said: one")
    await house.stop()
    house.settings["agents"] = AGENTS
    await house.start()
    ann.says("two")
    await ann.gets("You said: two")
    await house.quiet()
    before, after = [(await house.events(turn))[0][1]["snapshot"] for turn in (1, 2)]
    assert before != after
    assert "You are the default." in house.model.asked[-1].system
