"""Messages made from records, and records made from responses."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.usage import RequestUsage

from agent.events import Responded, Usage
from agent.history import dump_each, has_visible, load, parse_args, to_responded, visible_text, well_formed
from agent.keeping import closed_history
from agent.ports import ChatState, TurnInput
from tests.unit.agent.scripted import asks, says


def recorded(response: ModelResponse) -> Responded:
    return to_responded(response, turn_id=3, round_number=1, resolve=lambda name: ("srv", name))


def test_a_record_has_call_ids_of_our_own_and_names_every_api_takes():
    record = recorded(asks(("a.b c", {"x": 1}), ("ok", None)))
    assert [(c.id, c.name, c.args) for c in record.calls] == [("1.0", "a.b c", {"x": 1}), ("1.1", "ok", {})]
    (message,) = load([record.message_json])
    parts = [part for part in message.parts if isinstance(part, ToolCallPart)]
    assert [(p.tool_call_id, p.tool_name, p.args) for p in parts] == [
        ("call_3_1_0", "a_b_c", {"x": 1}),
        ("call_3_1_1", "ok", {}),
    ]


def test_unreadable_arguments_stay_readable_for_the_model():
    record = recorded(asks(("t", "{no json")))
    assert (record.calls[0].args, record.calls[0].raw_args) == (None, "{no json")
    (message,) = load([record.message_json])
    assert message.parts[0].args == {"INVALID_JSON": "{no json"}


def test_usage_is_the_providers_own_count():
    response = ModelResponse(
        parts=[TextPart(content="x")], usage=RequestUsage(input_tokens=5, output_tokens=7)
    )
    assert recorded(response).usage == Usage(requests=1, input_tokens=5, output_tokens=7, usd_micros=None)


@pytest.mark.parametrize(
    ("args", "parsed"),
    [
        (None, {}),
        ("", {}),
        (" ", {}),
        ('{"a": [1, null]}', {"a": [1, None]}),
        ({"a": 1}, {"a": 1}),
        ("[1]", None),
        ('"text"', None),
        ("null", None),
        ('{"a": NaN}', None),
        ('{"a": "\\ud800"}', None),
        ({"a": "\ud800"}, None),
        ({"a": float("inf")}, None),
        ('{"a": 1', None),
        ("[" * 100_000, None),
    ],
)
def test_arguments_are_an_object_or_nothing(args, parsed):
    assert parse_args(args)[0] == parsed


@given(st.text(alphabet=st.characters(), max_size=30))
def test_a_well_formed_text_can_be_stored_and_a_good_one_is_left_alone(text: str):
    fixed = well_formed(text)
    assert fixed.encode().decode() == fixed
    try:
        text.encode()
    except UnicodeEncodeError:
        return
    assert fixed == text


def test_two_halves_of_one_emoji_are_joined():
    assert well_formed("\ud83d\ude00") == "😀"


@pytest.mark.parametrize("text", ["", " \n\t", "\u200b\ufeff", "\u00ad", "\ufe0f", "\u3164", "\u2800"])
def test_a_text_that_shows_nothing_is_not_visible(text: str):
    assert not has_visible(text)


@pytest.mark.parametrize("text", ["a", "👍", "👩‍👩‍👧", ".", "。", "é", "\u200ba"])
def test_a_text_that_shows_something_is_visible(text: str):
    assert has_visible(text)


def test_messages_survive_the_store_word_for_word():
    texts = dump_each([says("Grüße 👋"), asks(("t", {"a": "ß"}))])
    assert dump_each(load(texts)) == texts
    assert all(isinstance(json.loads(text), dict) for text in texts)


def test_text_parts_apart_from_each_other_are_told_apart():
    assert visible_text(says("one", "", "two")) == "one\n\ntwo"


def test_the_history_of_an_unanswered_question_ends_with_the_reason():
    history = closed_history(
        TurnInput(turn_id=1, text="hi"), ChatState(), closing="the user stopped this"
    ).appended
    question, answer = load(history)
    assert [part.content for part in question.parts] == ["hi"]
    assert [part.content for part in answer.parts] == ["the user stopped this"]


def test_equal_records_give_equal_histories():
    given_ = TurnInput(turn_id=1, text="hi")
    assert closed_history(given_, ChatState(), closing="x") == closed_history(
        given_, ChatState(), closing="x"
    )
