"""Forms of tool servers as questions: what is asked, which answers are taken, and what goes back."""

import asyncio
from collections.abc import Iterable
from contextvars import Context
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import ElicitRequestFormParams

from agent.questions import Question, Reply, Said, Silent, Skipped
from agent.tools.elicitation import MOST_FIELDS, Field, fields_of, fill
from agent.tools.mcp_forms import Forms

pytestmark = pytest.mark.req("TOL-6")


def one(raw: dict[str, Any], *, required: bool = True) -> Field:
    schema = {"properties": {"x": raw}, "required": ["x"] if required else []}
    (field,) = fields_of("Please:", schema, server="shop")
    return field


class Person:
    """Answers with what the script says, and remembers what was asked."""

    def __init__(self, replies: Iterable[Reply | str]) -> None:
        self._replies = [Said(text=each) if isinstance(each, str) else each for each in replies]
        self.asked: list[str] = []

    async def __call__(self, question: Question) -> Reply:
        self.asked.append(question.text)
        return self._replies.pop(0)


def test_a_choice_and_a_truth_value_have_buttons_and_other_fields_take_words() -> None:
    sizes = one({"type": "string", "enum": ["s", "m"], "enumNames": ["Small", "Middle"], "title": "Size"})
    titled = one({"type": "string", "oneOf": [{"const": "s", "title": "Small"}]})
    gift = one({"type": "boolean", "description": "As a gift?"})
    name = one({"type": "string"}, required=False)

    assert sizes.question == Question(
        text="Please:\n\nSize", choices=("Small", "Middle"), takes_text=False, server="shop"
    )
    assert (sizes.read("middle"), titled.read("Small")) == ("m", "s")
    assert (gift.question.choices, gift.read("Yes"), gift.read("No")) == (("Yes", "No"), True, False)
    assert name.question == Question(text="Please:\n\nx (may be skipped)", server="shop")


def test_choices_that_do_not_fit_buttons_are_listed_and_answered_in_words() -> None:
    field = one({"type": "string", "enum": [f"size {n}" for n in range(12)]})
    assert field.question.choices == ()
    assert field.question.text.endswith("\n- size 11")
    assert field.read("Size 11") == "size 11"


def test_a_form_without_fields_asks_whether_to_go_on() -> None:
    (field,) = fields_of("Really?", {"type": "object", "properties": {}}, server="shop")
    assert field.question == Question(text="Really?", choices=("OK",), takes_text=False, server="shop")


@pytest.mark.parametrize(
    ("raw", "answer", "value"),
    [
        ({"type": "integer"}, " 12 ", 12),
        ({"type": "number"}, "1,5", 1.5),
        ({"type": "string", "maxLength": 3}, "abc", "abc"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, "B, a, a", ["b", "a"]),
        ({"type": "array", "items": {"anyOf": [{"const": "a", "title": "First"}]}}, "first", ["a"]),
    ],
)
def test_an_answer_becomes_a_value_of_the_fields_type(
    raw: dict[str, Any], answer: str, value: object
) -> None:
    assert one(raw).read(answer) == value


@pytest.mark.parametrize(
    ("raw", "answer", "wrong"),
    [
        ({"type": "integer"}, "1.5", "Please answer with a whole number."),
        (
            {"type": "integer", "minimum": 1, "maximum": 9},
            "10",
            "Please answer with a number from 1 up to 9.",
        ),
        ({"type": "number"}, "nan", "Please answer with a number."),
        ({"type": "number"}, "inf", "Please answer with a number."),
        ({"type": "number"}, "many", "Please answer with a number."),
        ({"type": "string", "minLength": 2}, "a", "Please answer with 2 characters."),
        ({"type": "string", "enum": ["a"]}, "b", "Please answer with one of the choices."),
        (
            {"type": "array", "items": {"enum": ["a", "b"]}, "minItems": 1},
            ",",
            "Please choose 1 to 2 of them, with commas between.",
        ),
    ],
)
def test_an_answer_that_is_none_says_what_is_wrong(raw: dict[str, Any], answer: str, wrong: str) -> None:
    with pytest.raises(ValueError) as caught:
        one(raw).read(answer)
    assert str(caught.value) == wrong


@pytest.mark.parametrize("raw", [{"type": "array", "items": {"type": "object"}}, {"type": "array"}])
def test_a_list_of_anything_cannot_be_asked(raw: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="a list of anything"):
        one(raw)


def test_too_many_fields_cannot_be_asked() -> None:
    schema = {"properties": {str(n): {"type": "string"} for n in range(MOST_FIELDS + 1)}}
    with pytest.raises(ValueError, match="too long for a chat"):
        fields_of("", schema, server="shop")


FORM = {
    "properties": {"n": {"type": "integer"}, "gift": {"type": "boolean"}},
    "required": ["n"],
}


@pytest.mark.parametrize(
    ("replies", "outcome"),
    [
        (["3", "Yes"], ("accept", {"n": 3, "gift": True})),
        (["three", "3", "No"], ("accept", {"n": 3, "gift": False})),
        (["3", Skipped()], ("accept", {"n": 3})),
        ([Skipped()], ("decline", {})),
        (["3", Silent()], ("cancel", {})),
        (["a", "b", "c"], ("cancel", {})),
    ],
)
async def test_a_form_is_filled_field_by_field(replies: list[Reply | str], outcome: object) -> None:
    person = Person(replies)
    assert await fill(fields_of("Order", FORM, server="shop"), person) == outcome
    assert len(person.asked) == len(replies)


async def test_a_wrong_answer_is_asked_again_with_what_was_wrong() -> None:
    person = Person(["three", "3"])
    await fill(fields_of("Order", {"properties": {"n": {"type": "integer"}}}, server="shop"), person)
    assert person.asked[1] == "Please answer with a whole number.\n\nOrder\n\nn (may be skipped)"


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
kinds = st.sampled_from(["string", "integer", "number", "boolean", "array", "object", 3])
fields = st.fixed_dictionaries(
    {},
    optional={"type": kinds, "enum": json_like, "title": json_like, "items": json_like, "oneOf": json_like},
)


@given(schema=st.fixed_dictionaries({"properties": st.dictionaries(st.text(max_size=5), fields, max_size=3)}))
def test_a_foreign_form_is_asked_or_refused_and_never_worse(schema: dict[str, Any]) -> None:
    try:
        made = fields_of("?", schema, server="shop")
    except (ValueError, TypeError, KeyError, AttributeError):
        return
    assert len(made) == max(1, len(schema["properties"]))
    assert all(len(field.question.text) <= 1_500 and len(field.question.choices) <= 10 for field in made)


@pytest.mark.req("ACC-5")
async def test_the_form_of_a_call_that_was_given_up_is_asked_of_nobody_else() -> None:
    forms, bob = Forms("shop"), Person(["3", "3"])
    params = ElicitRequestFormParams(
        message="Ann's order", requested_schema={"properties": {"n": {"type": "integer"}}}
    )

    async def over_the_connection() -> str:
        asking = forms.answer(None, params)  # type: ignore[arg-type]  # it does not look at the connection
        return (await asyncio.create_task(asking, context=Context())).action

    async def calls_until_given_up() -> None:
        async with forms.during(Person([])):
            running.set()
            await asyncio.get_running_loop().create_future()

    running = asyncio.Event()
    anns = asyncio.create_task(calls_until_given_up())
    await running.wait()
    anns.cancel()
    await asyncio.wait([anns])
    async with forms.during(bob):
        late = await over_the_connection()
        asked_late = list(bob.asked)
        own = (await forms.answer(None, params)).action  # type: ignore[arg-type]
        forms.connected_anew()
        anew = await over_the_connection()

    assert (late, asked_late) == ("cancel", [])
    assert (own, anew, len(bob.asked)) == ("accept", "accept", 2)
