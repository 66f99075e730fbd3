"""A real tool server asks a person something while its tool runs."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import calls

pytestmark = pytest.mark.req("TOL-6")

FIXTURE = str(Path(__file__).parents[1] / "unit" / "agent" / "mcp_fixture_server.py")


async def shop(house_of: Open, **tools: Any) -> House:
    house = await house_of(
        mcpServers={"shop": {"command": sys.executable, "args": [FIXTURE, "good"]}},
        approvals={"allow": ["shop/*"]},
        tools=tools,
    )
    house.model.then(calls(("shop__order", {})))
    return house


async def test_the_fields_of_a_form_are_questions_one_after_the_other(house_of: Open) -> None:
    house = await shop(house_of)
    ann = house.person()
    ann.says("order a shirt")
    card = await ann.gets("Your shirt, please:")
    assert card.text.startswith("Question from shop for Ann\n\nYour shirt, please:")
    assert "within 4 min" in card.text
    assert list(card.tokens) == ["Small", "Middle", "Skip"]

    assert (await ann.presses("Middle", card)).text == "Answered."
    await ann.gets("How many")
    ann.says("many")
    await ann.gets("Please answer with a whole number.")
    ann.says("3")
    await ann.presses("Skip", await ann.gets("As a gift"))
    await house.quiet()

    outcome, result = house.model.asked[-1].lines[-1]
    assert outcome == "success"
    assert json.loads(result) == {"action": "accept", "content": {"size": "m", "count": 3}}
    assert await house.values("SELECT state FROM requests ORDER BY id") == [
        "answered",
        "answered",
        "answered",
        "denied",
    ]


async def test_a_form_that_nobody_answers_is_cancelled_after_its_wait(house_of: Open) -> None:
    house = await shop(house_of)
    ann = house.person()
    ann.says("order a shirt")
    card = await ann.gets("Your shirt, please:")
    house.clock.pass_by(minutes=5)
    await house.until("SELECT 1 FROM turns WHERE state = 'done'")
    late = await ann.presses("Small", card)
    await house.quiet()

    assert json.loads(house.model.asked[-1].lines[-1][1]) == {"action": "cancel"}
    assert late.alert


@pytest.mark.req("APR-9")
async def test_stop_closes_the_form(house_of: Open) -> None:
    house = await shop(house_of)
    ann = house.person()
    ann.says("order a shirt")
    await ann.gets("Your shirt, please:")
    ann.says("/stop")
    await ann.gets("Stopped.")
    await house.quiet()

    assert await house.values("SELECT state FROM requests") == ["closed"]
    assert await house.values("SELECT state FROM turns") == ["cancelled"]


@pytest.mark.req("EVT-3")
@pytest.mark.parametrize("how", ["restart", "crash"])
async def test_after_a_restart_the_outcome_is_unknown_and_the_card_answers_nobody(
    house_of: Open, how: str
) -> None:
    house = await shop(house_of, timeout_s=30)
    house.settings["shutdown"] = {"drain_s": 0}
    await house.restart()
    ann = house.person()
    ann.says("order a shirt")
    card = await ann.gets("Your shirt, please:")
    if how == "restart":
        await house.restart()
    else:
        await house.crash()
        await house.start()
    await house.until("SELECT 1 FROM turns WHERE state = 'done'")
    late = await ann.presses("Small", card)
    await house.quiet()

    assert (
        house.model.asked[-1]
        .lines[-1][1]
        .startswith("Interrupted: the program stopped while this was running")
    )
    assert (late.text, late.alert) == ("This question was settled: closed. Nothing was done.", True)


@pytest.mark.req("OPS-10")
async def test_an_answer_that_another_node_took_is_seen_in_the_store(
    house_of: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.turns.asking.LOOK_S", 0.05)
    house = await shop(house_of)
    ann = house.person()
    ann.says("order a shirt")
    card = await ann.gets("Your shirt, please:")
    house.daemon._desk._waiting.clear()  # whoever asks is not this desk's own
    await ann.presses("Skip", card)
    await house.quiet()

    assert json.loads(house.model.asked[-1].lines[-1][1]) == {"action": "decline"}
