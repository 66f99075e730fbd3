"""What the user says while a turn runs reaches the model with its next send, once."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic_ai.messages import ModelMessage, ModelRequest, TextPart, ToolCallPart, UserPromptPart

from agent.chat import chat
from agent.events import AgentEvent, Checkpoint, Record, Steered
from agent.history import load
from agent.keeping import closed_history
from agent.ports import ChatState, TurnInput
from tests.unit.agent.scripted import (
    Counter,
    Orders,
    ScriptedProvider,
    asks,
    no_sleep,
    records_in,
    says,
    snapshot,
    strictly_valid,
    tool,
)

pytestmark = pytest.mark.req("QUE-2")


async def run(
    provider: ScriptedProvider, heard: list[list[str]], records: Sequence[Record] = ()
) -> list[AgentEvent]:
    async def hear() -> Sequence[str]:
        return heard.pop(0) if heard else ()

    snap = snapshot(provider, tool("count", Counter().run, policy="allow"))
    turn = TurnInput(turn_id=7, text="go")
    state = ChatState(records=tuple(records))
    stream = chat(turn, snap, state, Orders(), hear=hear, sleep=no_sleep)
    return [event async for event in stream]


def asked(messages: Sequence[ModelMessage]) -> list[list[str]]:
    """The conversation in short: one list of parts for each message, the system prompt left out."""
    return [[_short(part) for part in message.parts] for message in messages[1:]]


def _short(part: object) -> str:
    match part:
        case UserPromptPart(content=str() as text) | TextPart(content=text):
            return text
        case ToolCallPart(tool_name=name):
            return f"call {name}"
        case _:
            return "result"


async def test_words_said_meanwhile_stand_after_the_results_of_the_round_before():
    provider = ScriptedProvider([asks(("shop__count", {})), says("done")])
    await run(provider, [[], ["the other one", "please"]])

    assert asked(provider.seen[1]) == [["go"], ["call shop__count"], ["result", "the other one", "please"]]


async def test_words_said_before_the_first_send_stand_beside_the_question():
    provider = ScriptedProvider([says("done")])
    await run(provider, [["wait, more"]])

    assert asked(provider.seen[0]) == [["go", "wait, more"]]


async def test_a_turn_that_goes_on_after_a_crash_knows_what_was_said_before_it():
    provider = ScriptedProvider([asks(("shop__count", {})), says("lost")])
    events = await run(provider, [[], ["the other one"]])
    second = [at for at, event in enumerate(events) if isinstance(event, Checkpoint) and event.name == "A"][1]
    before_the_answer = records_in(events[: second + 1])

    again = ScriptedProvider([says("done")])
    await run(again, [[], []], before_the_answer)

    assert asked(again.seen[0]) == [["go"], ["call shop__count"], ["result", "the other one"]]


async def test_what_was_said_is_yielded_before_the_checkpoint_of_its_send():
    events = await run(ScriptedProvider([says("done")]), [["more"]])

    assert [type(event) for event in records_in(events)][:2] == [Steered, Checkpoint]


@settings(max_examples=40, deadline=None)
@given(data=st.data(), rounds=st.integers(min_value=0, max_value=3))
async def test_however_a_steered_turn_is_cut_off_its_history_is_valid(data, rounds):
    texts = st.lists(st.sampled_from(["more", "", "\u200b"]), max_size=2)
    heard = data.draw(st.lists(texts, min_size=rounds + 1, max_size=rounds + 1))
    provider = ScriptedProvider([*[asks(("shop__count", {}))] * rounds, says("done")])
    records = records_in(await run(provider, heard))
    kept = records[: data.draw(st.integers(min_value=0, max_value=len(records)))]

    messages = load(
        closed_history(TurnInput(turn_id=7, text="go"), ChatState(records=kept), closing="over").appended
    )

    strictly_valid(messages, closed=True)
    words = [
        part.content
        for message in messages
        if isinstance(message, ModelRequest)
        for part in message.parts
        if isinstance(part, UserPromptPart)
    ]
    said = [record.text or "(no text)" for record in kept if isinstance(record, Steered)]
    assert words == ["go", *said]
