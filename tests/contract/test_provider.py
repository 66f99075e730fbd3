"""What every provider keeps: deltas, then exactly one response; errors in the agent's own words.

The demo runs as it is, the others through their real SDKs against the simulated service, which speaks both formats.
"""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing
from typing import Any

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, ToolCallPart

from agent.errors import ContextTooLong, ProviderBusy, ProviderDown, ProviderError, ProviderRefused, StreamCut
from agent.events import TextDelta, ThinkingDelta
from agent.history import system_message, turn_messages, visible_text
from agent.ports import TurnInput
from agent.provider import Provider, ToolSpec
from agent.providers import table
from agent.settings import ModelProfile
from tests.simulators.faults import Hold, Refuse
from tests.simulators.model import Answer, ModelSimulator, ToolCall, context_too_long, rate_limited

pytestmark = pytest.mark.req("AGT-1", "AGT-7")

ECHO = ToolSpec(
    name="demo__echo",
    ref="demo/echo",
    description="Say a text back.",
    parameters={"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
)
SAY_LONG = {"demo": "long", "openai": "long 3000", "anthropic": "long 3000"}
CALL = {
    "demo": 'use echo {"text": "x"}',
    "openai": 'call echo {"text": "x"}',
    "anthropic": 'call echo {"text": "x"}',
}
WIRES = ("openai", "anthropic")
KINDS = ("demo", *WIRES)


@pytest.fixture
async def model() -> AsyncIterator[ModelSimulator]:
    async with ModelSimulator() as simulator:
        yield simulator


@pytest.fixture
async def stack() -> AsyncIterator[AsyncExitStack]:
    async with AsyncExitStack() as stack:
        yield stack


def opened(kind: str, model: ModelSimulator, stack: AsyncExitStack, **changes: Any) -> Provider:
    table.load([kind])
    base_url = model.url if kind == "anthropic" else model.base_url  # Anthropic's SDK adds the version itself
    profile = ModelProfile(provider=kind, model="m", base_url=base_url, api_key="sk-test-key-000", **changes)
    return table.open_provider(profile, demo_delay_s=0, stack=stack)


def asked(text: str) -> list[ModelMessage]:
    return [system_message("You are a test."), *turn_messages(TurnInput(turn_id=1, text=text), ())]


async def sent(provider: Provider, text: str = "hello", tools: tuple[ToolSpec, ...] = (ECHO,)) -> list[Any]:
    return [item async for item in provider.send(asked(text), tools, {})]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("text", ["hello", "", "think", "several\nlines 👋", "LONG"])
async def test_deltas_come_first_and_are_together_the_text_of_the_one_response(kind, text, model, stack):
    *deltas, response = await sent(opened(kind, model, stack), SAY_LONG[kind] if text == "LONG" else text)
    assert isinstance(response, ModelResponse)
    assert all(isinstance(delta, TextDelta | ThinkingDelta) and delta.text for delta in deltas)
    assert "".join(d.text for d in deltas if isinstance(d, TextDelta)) == visible_text(response)
    assert response.finish_reason == "stop"
    assert response.usage.input_tokens > 0


@pytest.mark.parametrize("kind", KINDS)
async def test_a_call_is_in_the_response_and_nothing_is_run(kind, model, stack):
    *_, response = await sent(opened(kind, model, stack), CALL[kind])
    (call,) = [part for part in response.parts if isinstance(part, ToolCallPart)]
    assert (call.tool_name, call.args) == ("demo__echo", '{"text": "x"}')


@pytest.mark.parametrize("kind", KINDS)
async def test_a_send_closed_in_the_middle_leaves_the_provider_usable(kind, model, stack):
    provider = opened(kind, model, stack)
    async with aclosing(provider.send(asked(SAY_LONG[kind]), (), {})) as stream:
        async for _ in stream:
            break
    assert isinstance((await sent(provider))[-1], ModelResponse)


@pytest.mark.parametrize("kind", KINDS)
async def test_a_provider_does_nothing_but_send(kind, model, stack):
    provider = opened(kind, model, stack)
    public = {name for name in dir(provider) if not name.startswith("_")}
    assert public - {"delay_s"} == {"send"}


async def test_the_request_holds_messages_tools_and_settings_and_the_key_only_in_its_header(model, stack):
    provider = opened("openai", model, stack)
    [item async for item in provider.send(asked("hi"), (ECHO,), {"temperature": 0.5, "max_tokens": 99})]
    (body,) = model.bodies
    assert body["messages"] == [
        {"role": "system", "content": "You are a test."},
        {"role": "user", "content": "hi"},
    ]
    assert [tool["function"]["name"] for tool in body["tools"]] == ["demo__echo"]
    assert body["tools"][0]["function"]["parameters"] == ECHO.parameters
    assert (body["temperature"], body["stream"], body["model"]) == (0.5, True, "m")
    assert "sk-test" not in str(body)


@pytest.mark.parametrize("kind", WIRES)
async def test_reasoning_is_thinking_and_calls_in_many_deltas_are_one_call(kind, model, stack):
    model.script(
        Answer(
            reasoning=("let me ", "see"),
            text=("I ", "look"),
            calls=(ToolCall(name="demo__echo", arguments='{"text": "déjà"}', pieces=9),) * 2,
            usage=(11, 7),
        )
    )
    *deltas, response = await sent(opened(kind, model, stack))
    assert deltas == [
        ThinkingDelta(text="let me "),
        ThinkingDelta(text="see"),
        TextDelta(text="I "),
        TextDelta(text="look"),
    ]
    calls = [part for part in response.parts if isinstance(part, ToolCallPart)]
    assert [call.args for call in calls] == ['{"text": "déjà"}'] * 2
    assert (response.usage.input_tokens, response.usage.output_tokens) == (11, 7)


@pytest.mark.parametrize("kind", WIRES)
@pytest.mark.req("AGT-8")
async def test_half_arguments_with_a_finish_reason_are_handed_on_as_they_are(kind, model, stack):
    model.script(Answer(calls=(ToolCall(name="demo__echo", arguments='{"path": "a'),)))
    *_, response = await sent(opened(kind, model, stack))
    assert [part.args for part in response.parts if isinstance(part, ToolCallPart)] == ['{"path": "a']


HALF_CALL = (ToolCall(name="demo__echo", arguments='{"text": "abcdefgh"}', pieces=4),)


@pytest.mark.parametrize("kind", WIRES)
@pytest.mark.req("AGT-8")
@pytest.mark.parametrize("how", ["clean", "connection"])
@pytest.mark.parametrize(
    "answer",
    [Answer(text="x" * 200, cut_after=5), Answer(calls=HALF_CALL, cut_after=3)],
    ids=["in a text", "in a call"],
)
async def test_a_stream_that_ends_without_its_end_is_cut_and_no_answer(kind, answer, how, model, stack):
    """C57a, C57b."""
    model.script(Answer(text=answer.text, calls=answer.calls, cut_after=answer.cut_after, cut_how=how))
    stream = opened(kind, model, stack).send(asked("go"), (ECHO,), {})
    with pytest.raises(StreamCut):
        assert not [item async for item in stream if isinstance(item, ModelResponse)]


@pytest.mark.parametrize("kind", WIRES)
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (rate_limited(2), ProviderBusy),
        (Refuse(status=503, text="overloaded"), ProviderBusy),
        (Refuse(status=529, text="overloaded"), ProviderBusy),
        (Refuse(status=500, text="oops"), ProviderDown),
        (Refuse(status=502, text="bad gateway"), ProviderDown),
        (Refuse(status=401, text="bad key"), ProviderRefused),
        (Refuse(status=404, text="no such model"), ProviderRefused),
        (Refuse(status=400, text="bad request"), ProviderRefused),
        (context_too_long(), ContextTooLong),
    ],
    ids=str,
)
async def test_each_refusal_is_the_error_a_caller_acts_on_and_is_not_repeated(
    kind, fault, expected, model, stack
):
    model.script(fault)
    with pytest.raises(ProviderError) as caught:
        await sent(opened(kind, model, stack))
    assert type(caught.value) is expected
    assert len(model.bodies) == 1


@pytest.mark.parametrize("kind", WIRES)
async def test_a_rate_limit_says_how_long_to_wait(kind, model, stack):
    model.script(rate_limited(7))
    with pytest.raises(ProviderBusy) as caught:
        await sent(opened(kind, model, stack))
    assert caught.value.retry_after_s == 7


@pytest.mark.parametrize("kind", WIRES)
async def test_a_provider_that_never_begins_is_down_after_its_bound(kind, model, stack):
    model.script(Hold(name="never"))
    with pytest.raises(ProviderDown):
        await sent(opened(kind, model, stack, first_event_timeout_s=0.2))


@pytest.mark.parametrize("kind", WIRES)
async def test_a_stream_that_stops_in_the_middle_is_cut_after_its_bound(kind, model, stack):
    model.script(Answer(text="one two three four five", delta_characters=4, hold_after=2))
    with pytest.raises(StreamCut):
        await sent(opened(kind, model, stack, timeout_s=2))


@pytest.mark.parametrize("kind", WIRES)
async def test_nobody_listening_is_down(kind, model, stack):
    provider = opened(kind, model, stack)
    await model.__aexit__(None, None, None)
    with pytest.raises(ProviderDown):
        await sent(provider)
    await model.__aenter__()
