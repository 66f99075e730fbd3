"""The simulated model service as the real clients see it: failures, broken streams, steering."""

import asyncio
import json

import openai
import pytest
import pytest_asyncio
from openai import AsyncOpenAI
from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import ModelAPIError
from pydantic_ai.messages import ModelRequest
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.profiles.openai import OpenAIModelProfile
from pydantic_ai.providers.openai import OpenAIProvider

from tests.simulators.faults import Delay, Drop, Hold, Refuse
from tests.simulators.model import Answer, ToolCall, call_tool, context_too_long
from tests.simulators.model.prose import mixed_markdown

pytestmark = pytest.mark.req("ADP-10")

ECHO = {"type": "function", "function": {"name": "echo", "parameters": {"type": "object"}}}


@pytest_asyncio.fixture
async def client(model_sim):
    async with AsyncOpenAI(base_url=model_sim.base_url, api_key="any", max_retries=0) as client:
        yield client


def ask(client, text, **more):
    return client.chat.completions.create(model="sim", messages=[{"role": "user", "content": text}], **more)


async def read(stream, texts):
    """Append the texts of a stream to a list and return the finish reason; raises what the client raises."""
    finish = None
    async for chunk in stream:
        texts.append(chunk.choices[0].delta.content or "")
        finish = chunk.choices[0].finish_reason or finish
    return finish


async def collect(stream):
    """The text and the finish reason of a stream."""
    texts = []
    finish = await read(stream, texts)
    return "".join(texts), finish


async def test_scripted_failures_have_the_status_and_the_code(model_sim, client):
    model_sim.script(
        Refuse(status=500, text="oops"), Refuse(status=401), context_too_long(100), Drop(), Refuse(status=503)
    )
    for error, code in [
        (openai.InternalServerError, None),
        (openai.AuthenticationError, None),
        (openai.BadRequestError, "context_length_exceeded"),
        (openai.APIConnectionError, None),
        (openai.InternalServerError, None),
    ]:
        with pytest.raises(error) as caught:
            await ask(client, "hello")
        assert caught.value.code == code
    assert model_sim.rejected == 0
    assert model_sim.unused == []


async def test_a_stream_cut_in_the_text_breaks_the_connection(model_sim, client):
    model_sim.script(Answer(text=("one ", "two ", "three"), cut_after=2))
    stream, texts = await ask(client, "go", stream=True), []
    with pytest.raises(openai.APIConnectionError):
        await read(stream, texts)
    assert "".join(texts) == "one two "


async def test_a_stream_can_end_cleanly_without_a_finish_reason(model_sim, client):
    model_sim.script(Answer(text=("one ", "two ", "three"), cut_after=2, cut_how="clean"))
    assert await collect(await ask(client, "go", stream=True)) == ("one two ", None)


async def test_pydantic_ai_notices_the_missing_finish_reason_when_told_to(model_sim):
    model_sim.script(
        Answer(calls=(ToolCall(name="echo", arguments='{"text": "long"}'),), cut_after=2, cut_how="clean")
    )
    model = OpenAIChatModel(
        "sim",
        provider=OpenAIProvider(base_url=model_sim.base_url, api_key="any"),
        profile=OpenAIModelProfile(openai_chat_streaming_requires_finish_reason=True),
    )

    async def request():
        async with model_request_stream(model, [ModelRequest.user_text_prompt("go")]) as stream:
            return [event async for event in stream]

    with pytest.raises(ModelAPIError):
        await request()


async def test_arguments_can_be_broken_or_for_an_unknown_tool(model_sim, client):
    model_sim.script(Answer(calls=(ToolCall(name="no_such_tool", arguments='{"half": '),)))
    call = (await ask(client, "go", tools=[ECHO])).choices[0].message.tool_calls[0]
    assert (call.function.name, call.function.arguments) == ("no_such_tool", '{"half": ')


async def test_an_empty_reply_is_empty(model_sim, client):
    model_sim.script(Answer(), Answer())
    assert (await ask(client, "go")).choices[0].message.content is None
    assert await collect(await ask(client, "go", stream=True)) == ("", "stop")


async def test_a_client_that_gives_up_closes_the_connection(model_sim, client):
    model_sim.script(Hold())
    with pytest.raises(openai.APITimeoutError):
        await ask(client, "go", timeout=0.05)
    call = await model_sim.wait_for(lambda: next((c for c in model_sim.recorder.calls if c.error), None))
    assert (call.status, call.error) == (0, "client hung up")


async def test_a_stream_can_be_held_in_the_middle(model_sim, client):
    model_sim.script(Answer(text=("one ", "two"), hold_after=1))
    stream = await ask(client, "go", stream=True)
    seen = ""
    async for chunk in stream:
        seen += chunk.choices[0].delta.content or ""
        if seen == "one ":
            model_sim.release()
    assert seen == "one two"


async def test_a_delayed_reply_is_the_one_after_it(model_sim, client):
    model_sim.script(Delay(seconds=0.001), Answer(text="late", first_delay_s=0.001, gap_s=0.001))
    assert await collect(await ask(client, "go", stream=True)) == ("late", "stop")


async def test_replies_wait_for_the_requests_they_are_for(model_sim, client):
    model_sim.script(Answer(text="for two"), when="two")
    model_sim.script(Answer(text="always"), when=lambda asked: not asked.tool_names, times=2)
    replies = [
        (await ask(client, text)).choices[0].message.content for text in ("one", "two", "three", "four")
    ]
    assert replies == ["always", "for two", "always", "echo: four"]


async def test_limits_of_the_service_are_kept_when_set(model_sim, client):
    model_sim.api_key, model_sim.models, model_sim.context_tokens = "secret", ("gpt",), 50
    with pytest.raises(openai.AuthenticationError):
        await ask(client, "hello")
    known = client.with_options(api_key="secret")
    assert [model.id async for model in known.models.list()] == ["gpt"]
    with pytest.raises(openai.NotFoundError):
        await ask(known, "hello")
    message = {"role": "user", "content": "x" * 400}
    with pytest.raises(openai.BadRequestError) as caught:
        await known.chat.completions.create(model="gpt", messages=[message])
    assert caught.value.code == "context_length_exceeded"


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"tools": []}, "too short"),
        ({"tools": [ECHO, ECHO]}, "must be unique"),
        ({"tools": [{"type": "function", "function": {"name": "a b"}}]}, "does not match pattern"),
        (
            {"tools": [{"type": "function", "function": {"name": "a", "parameters": {"type": "string"}}}]},
            'type: "object"',
        ),
        ({"tool_choice": "required"}, "only allowed when 'tools' are specified"),
        ({"stream_options": {"include_usage": True}}, "only allowed when 'stream' is enabled"),
    ],
)
async def test_broken_requests_are_refused(model_sim, client, more, reason):
    with pytest.raises(openai.BadRequestError, match=reason):
        await ask(client, "hello", **more)
    assert model_sim.rejected == 1


async def test_speech_becomes_the_transcript(model_sim, client):
    model_sim.transcript = "hello from a voice"
    reply = await client.audio.transcriptions.create(model="whisper", file=("v.ogg", b"OggS"))
    assert reply.text == "hello from a voice"


@pytest.mark.parametrize("length", [0, 1, 9, 10, 500, 12_345])
def test_long_answers_have_exactly_the_length_asked_for(length):
    text = mixed_markdown(length)
    assert len(text) == length
    assert length < 10 or text.endswith("**end**")
    assert text.count("```") % 2 == 0


async def test_orders_in_the_message_are_obeyed(model_sim, client):
    whole = await ask(client, "Ada: think hm\nlong 300")
    assert (whole.choices[0].message.content, whole.choices[0].message.reasoning_content) == (
        mixed_markdown(300),
        "hm",
    )
    assert (await ask(client, "empty")).choices[0].message.content is None
    assert (await ask(client, "I fail to see why")).choices[0].message.content == "echo: I fail to see why"
    with pytest.raises(openai.InternalServerError):
        await ask(client, "fail 500 1")
    assert (await ask(client, "fail 500 1")).choices[0].message.content == "echo: fail 500 1"
    with pytest.raises(openai.APIConnectionError):
        await collect(await ask(client, "cut 1", stream=True))
    with pytest.raises(openai.APITimeoutError):
        await ask(client, "hang", timeout=0.05)
    broken = (await ask(client, "call echo {half", tools=[ECHO])).choices[0].message.tool_calls[0]
    assert broken.function.arguments == "{half"


async def test_ids_of_calls_are_never_reused(model_sim, client):
    model_sim.script(call_tool("echo"), call_tool("echo"))
    replies = await asyncio.gather(ask(client, "a", tools=[ECHO]), ask(client, "b", tools=[ECHO]))
    ids = {reply.choices[0].message.tool_calls[0].id for reply in replies}
    assert len(ids) == 2
    assert json.loads(replies[0].choices[0].message.tool_calls[0].function.arguments) == {}
