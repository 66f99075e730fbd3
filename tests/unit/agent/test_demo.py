"""The demo model."""

import json

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ThinkingPart, ToolCallPart

from agent.events import TextDelta, ThinkingDelta
from agent.history import system_message, turn_messages, visible_text
from agent.ports import TurnInput
from agent.provider import ToolSpec
from agent.providers.demo import DemoProvider, respond
from agent.providers.demo_texts import LONG_ANSWER
from agent.tasks import task_tools
from tests.unit.agent.scripted import Counter, Orders, ScriptedProvider, asks, run_chat, says, snapshot, tool

pytestmark = pytest.mark.req("AGT-10")


def spec(ref: str, **parameters: object) -> ToolSpec:
    server, _, name = ref.partition("/")
    return ToolSpec(name=f"{server}__{name}", ref=ref, description=f"Does {name}.", parameters=parameters)


TOOLS = (spec("demo/roll"), spec("demo/echo"), spec("other/echo"))


def asked(text: str) -> list[ModelMessage]:
    return [system_message("You."), *turn_messages(TurnInput(turn_id=1, text=text), ())]


def calls(text: str) -> list[tuple[str, object]]:
    parts = respond(asked(text), TOOLS).parts
    return [(part.tool_name, part.args) for part in parts if isinstance(part, ToolCallPart)]


@pytest.mark.parametrize("text", ["help", "Help!", "[Ada#7] help", "hi"])
def test_help_names_the_tools_there_are(text: str):
    answer = visible_text(respond(asked(text), TOOLS))
    assert "- `use roll {}`: Does roll" in answer
    assert "- `use demo__echo {}`: Does echo" in answer


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('use roll {"sides": 6}', [("demo__roll", '{"sides": 6}')]),
        ("use demo/echo", [("demo__echo", "{}")]),
        ("use echo", [("echo", "{}")]),
        ("please\nuse roll {}\nUse `other__echo` {}", [("demo__roll", "{}"), ("other__echo", "{}")]),
        ('[Ada#7] use roll {"half', [("demo__roll", '{"half')]),
        ("I use roll sometimes", []),
        ("use your head, please", []),
    ],
)
def test_each_line_that_says_use_is_a_call(text: str, wanted):
    assert calls(text) == wanted


async def test_what_it_streams_is_what_it_answers_word_by_word():
    sent = [item async for item in DemoProvider(delay_s=0).send(asked("think"), (), {})]
    *parts, response = sent
    assert isinstance(response, ModelResponse)
    thought = "".join(d.text for d in parts if isinstance(d, ThinkingDelta))
    said = "".join(d.text for d in parts if isinstance(d, TextDelta))
    assert [thought] == [part.content for part in response.parts if isinstance(part, ThinkingPart)]
    assert [said] == [part.content for part in response.parts if isinstance(part, TextPart)]
    assert len(parts) > 20


def test_the_long_answer_has_all_of_markdown_and_is_longer_than_one_message():
    answer = visible_text(respond(asked("long"), ()))
    assert answer == LONG_ANSWER
    assert len(answer) > 4096
    assert all(
        mark in answer for mark in ("# ", "```python", "| step |", "](https://", "- It", "> ", "🙂", "2*3*4")
    )


def test_anything_else_is_said_back():
    assert visible_text(respond(asked("good evening"), ())).startswith("You said: good evening")


async def test_after_tools_it_says_in_plain_words_what_they_returned():
    provider = ScriptedProvider([asks(("shop__a", {}), ("nope", {})), says("end")])
    await run_chat(snapshot(provider, tool("a", Counter().run)), Orders())
    assert visible_text(respond(provider.seen[1], ())) == (
        "`shop__a` returned: counted\n\n"
        "`nope` failed: There is no tool named nope. Use only the tools you were given."
    )


def test_help_shows_how_to_hand_a_task_on():
    tools = [each.spec for each in task_tools("default", {"default": "", "coder": "You write code."})]
    answer = visible_text(respond(asked("help"), tools))
    assert '- `use task_begin {"agent": "coder", "goal": "…"}`: Hand a task to another agent.' in answer
    assert '"description": "Who takes over. coder: You write code."' in json.dumps(tools[0].parameters)


def test_an_agent_spoken_to_by_name_understands_the_rest():
    assert visible_text(respond(asked("@coder long"), ())) == LONG_ANSWER
    assert calls("@coder use echo") == [("echo", "{}")]
