"""The simulated model service as the real clients see it: the openai SDK and pydantic-ai's model layer."""

import json

import openai
import pytest
from openai import AsyncOpenAI
from pydantic_ai.direct import model_request_stream
from pydantic_ai.messages import ModelRequest, ToolCallPart
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.tools import ToolDefinition

from tests.simulators.model import Answer, ToolCall, call_tool, rate_limited

pytestmark = pytest.mark.req("ADP-10")

ECHO = {
    "type": "function",
    "function": {"name": "demo__echo", "parameters": {"type": "object", "properties": {}}},
}


def make_client(sim):
    return AsyncOpenAI(base_url=sim.base_url, api_key="any", max_retries=0)


def ask(client, text, **more):
    return client.chat.completions.create(model="sim", messages=[{"role": "user", "content": text}], **more)


async def test_an_unscripted_request_is_echoed(model_sim):
    async with make_client(model_sim) as client:
        reply = await ask(client, "hello")
    assert reply.choices[0].message.content == "echo: hello"
    assert reply.choices[0].finish_reason == "stop"
    assert [body["messages"] for body in model_sim.bodies] == [[{"role": "user", "content": "hello"}]]


async def test_a_stream_carries_reasoning_text_parallel_calls_and_usage(model_sim):
    model_sim.script(
        Answer(
            reasoning=("let me ", "see"),
            text=("one ", "two"),
            calls=(
                ToolCall(name="demo__echo", arguments='{"x": 1}', id="a"),
                ToolCall(name="demo__echo", arguments='{"y": 22}', id="b"),
            ),
            usage=(11, 7),
        )
    )
    async with make_client(model_sim) as client:
        chunks = [
            chunk
            async for chunk in await ask(
                client, "go", tools=[ECHO], stream=True, stream_options={"include_usage": True}
            )
        ]
    deltas = [chunk.choices[0].delta for chunk in chunks if chunk.choices]
    assert [delta.content for delta in deltas if delta.content] == ["one ", "two"]
    assert [delta.reasoning_content for delta in deltas if getattr(delta, "reasoning_content", None)] == [
        "let me ",
        "see",
    ]
    calls = [call for delta in deltas for call in delta.tool_calls or ()]
    assert [call.function.name for call in calls if call.id] == ["demo__echo", "demo__echo"]
    arguments = {index: "".join(c.function.arguments for c in calls if c.index == index) for index in (0, 1)}
    assert arguments == {0: '{"x": 1}', 1: '{"y": 22}'}
    assert sum(call.index == 0 for call in calls) > 2
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "tool_calls"
    assert (chunks[-1].usage.prompt_tokens, chunks[-1].usage.completion_tokens) == (11, 7)


async def test_pydantic_ai_streams_a_tool_call(model_sim):
    model_sim.script(call_tool("demo__echo", {"text": "hi"}, "call-1"))
    provider = OpenAIProvider(base_url=model_sim.base_url, api_key="any")
    tool = ToolDefinition(name="demo__echo", parameters_json_schema={"type": "object", "properties": {}})
    async with model_request_stream(
        OpenAIChatModel("sim", provider=provider),
        [ModelRequest.user_text_prompt("use the tool")],
        model_request_parameters=ModelRequestParameters(function_tools=[tool]),
    ) as stream:
        async for _event in stream:
            pass
        response = stream.get()
    [call] = [part for part in response.parts if isinstance(part, ToolCallPart)]
    assert (call.tool_name, call.args_as_dict(), call.tool_call_id) == (
        "demo__echo",
        {"text": "hi"},
        "call-1",
    )
    assert model_sim.rejected == 0


async def test_a_scripted_429_carries_retry_after_and_is_no_rejection(model_sim):
    model_sim.script(rate_limited(3))
    async with make_client(model_sim) as client:
        with pytest.raises(openai.RateLimitError) as caught:
            await ask(client, "hello")
        assert (await ask(client, "hello")).choices[0].message.content == "echo: hello"
    assert caught.value.response.headers["Retry-After"] == "3"
    assert model_sim.rejected == 0


def assistant(*ids, arguments="{}", name="demo__echo"):
    calls = [
        {"id": one, "type": "function", "function": {"name": name, "arguments": arguments}} for one in ids
    ]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(call_id):
    return {"role": "tool", "tool_call_id": call_id, "content": "done"}


USER = {"role": "user", "content": "hello"}


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        ([USER, assistant("a"), USER], "did not have response messages: a"),
        ([USER, assistant("a", "b"), result("b")], "did not have response messages: a"),
        ([USER, result("a")], "must be a response to a preceeding message"),
        ([USER, assistant("a"), result("a"), result("a")], "must be a response to a preceeding message"),
        ([USER, assistant("a", "a"), result("a")], "duplicate tool call ids"),
        ([USER, assistant("a", arguments='{"x'), result("a")], "valid JSON"),
        ([USER, assistant("a", name="demo.echo"), result("a")], "does not match pattern"),
        ([{"role": "user", "content": ""}], "must not be empty"),
        ([USER, {"role": "assistant", "content": None}], "expected a string, got null"),
        ([], "too short"),
        ([{"role": "robot", "content": "x"}], "Supported values are"),
    ],
)
async def test_a_broken_history_is_refused(model_sim, messages, reason):
    async with make_client(model_sim) as client:
        with pytest.raises(openai.BadRequestError, match=reason):
            await client.chat.completions.create(model="sim", messages=messages)
    assert model_sim.rejected == 1


async def test_a_good_history_with_parallel_calls_is_taken_and_results_are_answered(model_sim):
    async with make_client(model_sim) as client:
        reply = await client.chat.completions.create(
            model="sim",
            messages=[USER, assistant("a", "b"), result("b"), result("a")],
        )
    assert reply.choices[0].message.content == "tool said: done; done"
    assert model_sim.rejected == 0


async def test_a_message_steers_calls_over_two_rounds(model_sim):
    text = 'Ada: call echo {"x": 1}\ncall echo {"y": 2}\nthen\nsay all\n*done*'
    async with make_client(model_sim) as client:
        first = (await ask(client, text, tools=[ECHO])).choices[0].message
        assert [(c.function.name, json.loads(c.function.arguments)) for c in first.tool_calls] == [
            ("demo__echo", {"x": 1}),
            ("demo__echo", {"y": 2}),
        ]
        ids = [call.id for call in first.tool_calls]
        messages = [{"role": "user", "content": text}, assistant(*ids), *map(result, ids)]
        second = await client.chat.completions.create(model="sim", messages=messages, tools=[ECHO])
    assert second.choices[0].message.content == "all\n*done*"
