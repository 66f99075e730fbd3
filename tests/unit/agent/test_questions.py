"""What a model may ask a person, and how the chat waits for the answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.events import Checkpoint, QuestionAsked, ToolReturned, ToolShown, ToolStarted
from agent.ports import Denied
from agent.questions import LONGEST_CHOICE, LONGEST_QUESTION, MOST_CHOICES, Question, read_question
from agent.tools.builtin import builtin_tools
from tests.unit.agent.scripted import Orders, ScriptedProvider, asks, records_in, run_chat, says, snapshot

pytestmark = pytest.mark.req("TOL-6")

ASK = next(tool for tool in builtin_tools() if tool.name == "ask_user")
ARGS = {"question": "Which size?", "choices": ["S", "M"]}


@given(
    text=st.text(min_size=1, max_size=LONGEST_QUESTION).filter(str.strip),
    choices=st.lists(
        st.text(min_size=1, max_size=LONGEST_CHOICE).filter(str.strip),
        max_size=MOST_CHOICES,
        unique_by=str.casefold,
    ),
    free=st.booleans(),
)
def test_a_question_within_the_bounds_is_read_as_it_is(text: str, choices: list[str], free: bool) -> None:
    if len({each.strip().casefold() for each in choices}) < len(choices):
        return
    read = read_question({"question": text, "choices": choices, "free_text": free})
    assert read == Question(
        text=text.strip(), choices=tuple(each.strip() for each in choices), takes_text=free or not choices
    )


@pytest.mark.parametrize(
    ("args", "why"),
    [
        ({}, "question is needed, a text"),
        ({"question": " "}, "question is needed, a text"),
        ({"question": "?" * 1_501}, "the question is longer than 1500 characters; ask more shortly"),
        ({"question": "?", "choices": "a"}, "choices has to be a list of texts"),
        ({"question": "?", "choices": [""]}, "choices has to be a list of texts"),
        ({"question": "?", "choices": ["a"] * 11}, "at most 10 choices, each of at most 60 characters"),
        ({"question": "?", "choices": ["a", "A"]}, "two choices are the same"),
        ({"question": "?", "free_text": "yes"}, "free_text has to be true or false"),
    ],
)
def test_what_is_no_question_says_why(args: dict[str, object], why: str) -> None:
    with pytest.raises(ValueError) as caught:
        read_question(args)
    assert str(caught.value) == why


async def test_the_chat_leaves_at_a_question_and_goes_on_with_the_answer() -> None:
    provider = ScriptedProvider([asks(("ask_user", ARGS)), says("M it is.")])
    snap, gate = snapshot(provider, ASK), Orders()
    first = await run_chat(snap, gate)
    assert isinstance(first[-1], QuestionAsked)
    assert first[-1].question == Question(text="Which size?", choices=("S", "M"))
    assert [e.state for e in first if isinstance(e, ToolShown)] == ["queued", "waiting"]

    gate.answers["0.0"] = "M"
    second = await run_chat(snap, gate, records=records_in(first))
    assert [e.content for e in second if isinstance(e, ToolReturned)] == ["M"]
    assert [e.name for e in second if isinstance(e, Checkpoint)] == ["B", "A", "C"]
    assert not any(isinstance(event, ToolStarted) for event in [*first, *second])


async def test_a_denied_question_is_not_asked() -> None:
    provider = ScriptedProvider([asks(("ask_user", ARGS)), says("Well.")])
    gate = Orders(decisions={"ask_user": [Denied(reason="no questions here")]})
    events = await run_chat(snapshot(provider, ASK), gate)
    assert [e.content for e in events if isinstance(e, ToolReturned)] == ["Not run: no questions here"]
    assert not any(isinstance(event, QuestionAsked) for event in events)
