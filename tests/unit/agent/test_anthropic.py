"""Anthropic's wire, through its real SDK: what the contract says, for the second format there is."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest

pytest.importorskip("anthropic", reason="the Anthropic SDK is an extra")

from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart

from agent.errors import ProviderBusy, ProviderDown, ProviderRefused, StreamCut
from agent.events import TextDelta, ThinkingDelta
from agent.history import system_message, turn_messages, visible_text
from agent.ports import TurnInput
from agent.provider import Provider, ToolSpec
from agent.providers import table
from agent.settings import ModelProfile
from tests.unit.agent.anthropic_wire import AnthropicWire, anthropic_wire, text_reply, tool_reply
from tests.unit.agent.scripted import Counter, Orders, run_chat, snapshot, tool

pytestmark = pytest.mark.req("AGT-7")

ECHO = ToolSpec(name="demo__echo", ref="demo/echo", description="Echo.", parameters={"type": "object"})


@pytest.fixture
async def wire() -> AsyncIterator[AnthropicWire]:
    async with anthropic_wire() as wire:
        yield wire


@pytest.fixture
async def provider(wire: AnthropicWire) -> AsyncIterator[Provider]:
    profile = ModelProfile(provider="anthropic", model="claude-x", base_url=wire.url, api_key="the key")
    table.load(["anthropic"])
    async with AsyncExitStack() as stack:
        yield table.open_provider(profile, demo_delay_s=0, stack=stack)


def asked(text: str = "hello") -> list[ModelMessage]:
    return [system_message("You are a test."), *turn_messages(TurnInput(turn_id=1, text=text), ())]


async def sent(provider: Provider) -> list[Any]:
    return [item async for item in provider.send(asked(), (ECHO,), {"max_tokens": 100})]


async def test_thinking_and_text_are_deltas_of_one_response(wire: AnthropicWire, provider: Provider):
    wire.replies = [text_reply("Good ", "day", thinking="hm")]
    *deltas, response = await sent(provider)
    assert deltas == [ThinkingDelta(text="hm"), TextDelta(text="Good "), TextDelta(text="day")]
    assert isinstance(response, ModelResponse)
    assert (visible_text(response), response.finish_reason) == ("Good day", "stop")
    assert (response.usage.input_tokens, response.usage.output_tokens) == (11, 7)
    (body,) = wire.bodies
    assert [key.removeprefix("Bearer ") for key in wire.keys] == ["the key"]
    assert body["system"] in ("You are a test.", [{"type": "text", "text": "You are a test."}])
    assert [entry["name"] for entry in body["tools"]] == ["demo__echo"]


async def test_a_whole_round_with_a_tool_is_taken_by_the_second_request(
    wire: AnthropicWire, provider: Provider
):
    counter = Counter()
    wire.replies = [tool_reply("shop__a", '{"n"', ": 1}"), text_reply("done")]
    await run_chat(snapshot(provider, tool("a", counter.run)), Orders())
    assert counter.runs == [{"n": 1}]
    *_, call, result = wire.bodies[1]["messages"]
    assert [block["id"] for block in call["content"]] == ["call_7_0_0"]
    assert [(block["type"], block["tool_use_id"]) for block in result["content"]] == [
        ("tool_result", "call_7_0_0")
    ]


@pytest.mark.req("AGT-8")
@pytest.mark.parametrize("kept", [2, 3, 4, 5])
async def test_a_stream_that_ends_before_its_reason_is_cut(
    wire: AnthropicWire, provider: Provider, kept: int
):
    wire.replies = [text_reply("half of", " it")[:kept]]
    with pytest.raises(StreamCut):
        await sent(provider)


@pytest.mark.req("AGT-8")
async def test_a_stream_that_ends_inside_a_call_is_cut(wire: AnthropicWire, provider: Provider):
    wire.replies = [tool_reply("demo__echo", '{"te', 'xt": "x"}')[:3]]
    with pytest.raises(StreamCut):
        await sent(provider)


@pytest.mark.parametrize(
    ("status", "kind", "headers", "expected"),
    [
        (429, "rate_limit_error", {"retry-after": "3"}, ProviderBusy),
        (529, "overloaded_error", {}, ProviderBusy),
        (500, "api_error", {}, ProviderDown),
        (401, "authentication_error", {}, ProviderRefused),
        (400, "invalid_request_error", {}, ProviderRefused),
    ],
)
async def test_refusals_are_the_errors_a_caller_acts_on(wire, provider, status, kind, headers, expected):
    wire.replies = [(status, kind, headers)]
    with pytest.raises(expected) as caught:
        await sent(provider)
    assert len(wire.bodies) == 1
    if headers:
        assert caught.value.retry_after_s == 3


async def test_a_call_is_in_the_response(wire: AnthropicWire, provider: Provider):
    wire.replies = [tool_reply("demo__echo", '{"text": "x"}')]
    *_, response = await sent(provider)
    assert [p.tool_name for p in response.parts if isinstance(p, ToolCallPart)] == ["demo__echo"]
