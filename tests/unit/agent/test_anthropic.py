"""What only Anthropic's service asks for; what every provider keeps is in the contract."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

pytest.importorskip("anthropic", reason="the Anthropic SDK is an extra")

from agent.events import Failed
from agent.provider import Provider
from agent.providers import table
from agent.settings import ModelProfile
from tests.simulators.model import Answer, ModelSimulator, call_tool
from tests.unit.agent.scripted import Counter, Orders, run_chat, snapshot, tool

pytestmark = pytest.mark.req("AGT-7")


@pytest.fixture
async def sim() -> AsyncIterator[ModelSimulator]:
    async with ModelSimulator() as sim:
        sim.api_key = "the key"
        yield sim


@pytest.fixture
async def provider(sim: ModelSimulator) -> AsyncIterator[Provider]:
    profile = ModelProfile(provider="anthropic", model="claude-x", base_url=sim.url, api_key="the key")
    table.load(["anthropic"])
    async with AsyncExitStack() as stack:
        yield table.open_provider(profile, demo_delay_s=0, stack=stack)


async def test_a_whole_round_with_a_tool_is_taken_by_the_second_request(sim, provider):
    counter = Counter()
    sim.script(call_tool("shop__a", {"n": 1}), Answer(text="done"))
    await run_chat(snapshot(provider, tool("a", counter.run)), Orders())
    assert counter.runs == [{"n": 1}]
    *_, call, result = sim.bodies[1]["messages"]
    assert [block["id"] for block in call["content"]] == ["call_7_0_0"]
    assert [(block["type"], block["tool_use_id"]) for block in result["content"]] == [
        ("tool_result", "call_7_0_0")
    ]
    assert sim.bodies[0]["system"] == "You are a test.\n\nA test chat." or isinstance(
        sim.bodies[0]["system"], list
    )
    assert sim.rejected == 0


@pytest.mark.req("AGT-6")
async def test_the_last_send_without_tools_still_declares_those_of_the_history(sim, provider):
    """The service refuses a history with calls in a request that declares no tools."""
    sim.script(call_tool("shop__a"), call_tool("shop__a"), Answer(text="so far"))
    events = await run_chat(snapshot(provider, tool("a", Counter().run), budget=2), Orders())
    assert [e for e in events if isinstance(e, Failed)] == []
    last = sim.bodies[-1]
    assert [entry["name"] for entry in last["tools"]] == ["shop__a"]
    assert last["tool_choice"] == {"type": "none"}
    assert sim.rejected == 0
