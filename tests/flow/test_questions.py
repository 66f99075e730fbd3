"""The agent asks a person: by buttons or in words, over restarts, and never anybody else."""

from datetime import timedelta
from typing import Any

import pytest

from gateway.messages import Attachment
from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import calls, says

pytestmark = pytest.mark.req("TOL-6", "TSK-5")

SIZE = {"question": "Which size?", "choices": ["S", "M", "L"]}


def asks(house: House, **args: Any) -> None:
    house.model.then(calls(("ask_user", args)))


def heard(house: House) -> tuple[str, str]:
    return house.model.asked[-1].lines[-1]


async def test_a_choice_is_a_button_and_its_press_the_answer(house: House) -> None:
    ann = house.person()
    asks(house, **SIZE)
    ann.says("order a shirt")
    card = await ann.gets("Which size?")
    assert list(card.tokens) == ["S", "M", "L", "Skip"]
    assert card.text == (
        "Question for Ann\n\nWhich size?\n\nChoose, or write another answer, within 30 min. Only Ann may answer."
    )
    assert await house.values("SELECT state FROM turns") == ["waiting"]
    assert house.daemon._queue.running == 0

    answer = await ann.presses("M", card)
    await house.quiet()

    assert (answer.text, answer.alert) == ("Answered.", False)
    assert heard(house) == ("success", "M")
    settled = next(each for each in house.platform.shown if each.message_id == card.message_id)
    assert "Answered by Ann at" in settled.text
    assert settled.tokens == {}
    assert await house.values("SELECT state FROM turns") == ["done"]


@pytest.mark.req("QUE-4")
async def test_the_next_message_of_the_person_asked_is_the_answer(house: House) -> None:
    ann = house.person()
    asks(house, question="What is your name?")
    ann.says("hello")
    await ann.gets("What is your name?")

    ann.says("Ann Example")
    await house.quiet()

    assert heard(house) == ("success", "Ann Example")
    assert await house.values("SELECT COUNT(*) FROM turns") == [1]
    said = await house.rows("SELECT role, author, body FROM messages ORDER BY id")
    assert [tuple(row) for row in said][:3] == [
        ("question", "memory:1", "hello"),
        ("answer", "default", "What is your name?"),
        ("question", "memory:1", "Ann Example"),
    ]


async def test_words_that_name_a_choice_are_that_choice(house: House) -> None:
    ann = house.person()
    asks(house, **SIZE, free_text=False)
    ann.says("order a shirt")
    await ann.gets("Which size?")

    ann.says(" l ")
    await house.quiet()

    assert heard(house) == ("success", "L")


@pytest.mark.req("QUE-4")
async def test_a_question_without_free_words_is_repeated_and_the_message_kept(house: House) -> None:
    ann = house.person()
    asks(house, **SIZE, free_text=False)
    ann.says("order a shirt")
    await ann.gets("Which size?")

    ann.says("something else")
    again = await ann.gets("Answer the open request first. Your message is kept (1 waiting).")
    await ann.presses("S", again)
    await house.quiet()

    assert ("success", "S") in house.model.asked[1].lines
    assert house.model.questions[-1] == "something else"


@pytest.mark.req("APR-5", "QUE-4")
async def test_only_who_was_asked_answers_in_a_group(house_of: Open) -> None:
    house = await house_of(
        sessions={"group": "shared"}, access={"allow": {"memory": ["*"]}, "groups": "always"}
    )
    ann, bob = house.member(), house.member("2", "Bob")
    asks(house, **SIZE)
    ann.says("order a shirt")
    card = await ann.gets("Which size?")

    refused = await bob.presses("M", card)
    bob.says("XXL")
    await ann.gets("Answer the open request first.")
    assert await house.values("SELECT state FROM requests") == ["pending"]
    ann.says("S")
    await house.quiet()

    assert refused.text == "Only Ann may answer this. Nothing was done."
    assert ("success", "S") in house.model.asked[1].lines
    assert house.model.questions[-1] == "[Bob#2] XXL"


@pytest.mark.req("APR-6", "QUE-5")
@pytest.mark.parametrize("how", ["restart", "crash"])
async def test_a_question_outlives_the_process(house: House, how: str) -> None:
    ann = house.person()
    asks(house, **SIZE)
    ann.says("order a shirt")
    card = await ann.gets("Which size?")

    if how == "restart":
        await house.restart()
    else:
        await house.crash()
        await house.start()
    await ann.presses("L", card)
    await house.quiet()

    assert heard(house) == ("success", "L")
    assert len(house.model.asked) == 2


@pytest.mark.req("APR-7")
async def test_silence_is_no_answer(house: House) -> None:
    ann = house.person()
    asks(house, **SIZE)
    ann.says("order a shirt")
    card = await ann.gets("Which size?")

    house.clock.pass_by(minutes=31)
    await house.until("SELECT 1 FROM turns WHERE state = 'done'")
    late = await ann.presses("M", card)
    await house.quiet()

    assert heard(house) == ("success", "No answer: nobody answered in time. Silence is not consent.")
    assert (late.text, late.alert) == ("This question was settled: expired. Nothing was done.", True)


@pytest.mark.req("APR-9")
async def test_stop_closes_the_question(house: House) -> None:
    ann = house.person()
    asks(house, **SIZE)
    ann.says("order a shirt")
    card = await ann.gets("Which size?")

    ann.says("/stop")
    await ann.gets("Stopped.")
    await house.quiet()
    late = await ann.presses("M", card)

    assert late.alert
    assert await house.values("SELECT state FROM requests") == ["closed"]
    assert await house.values("SELECT state FROM turns") == ["cancelled"]
    assert len(house.model.asked) == 1


async def test_a_skipped_question_is_told_to_the_model(house: House) -> None:
    ann = house.person()
    asks(house, question="What is your name?")
    ann.says("hello")
    await ann.presses("Skip", await ann.gets("What is your name?"))
    await house.quiet()

    assert heard(house) == ("success", "The user chose not to answer.")


async def test_a_question_that_is_none_is_an_error_to_the_model_and_shown_to_nobody(house: House) -> None:
    ann = house.person()
    asks(house, choices=["a", "a"])
    ann.says("hello")
    await house.quiet()

    assert heard(house) == ("failed", "question is needed, a text")
    assert await house.values("SELECT COUNT(*) FROM requests") == [0]


@pytest.mark.req("APR-1", "AGT-2")
async def test_a_call_and_a_question_of_one_round_are_settled_one_after_the_other(house: House) -> None:
    ann = house.person()
    house.model.then(calls(("lab__count", {}), ("ask_user", SIZE)), says("thanks"))
    ann.says("go")
    await ann.presses("Once", await ann.gets_card())
    await ann.presses("M", await ann.gets("Which size?"))
    await ann.gets("thanks")
    await house.quiet()

    assert house.model.asked[-1].lines[-2:] == [("success", "run 1"), ("success", "M")]


@pytest.mark.req("ACC-4", "APR-2")
async def test_a_question_is_shown_literally_and_without_secrets(house: House) -> None:
    ann = house.person()
    asks(house, question="**Bold** [x](http://e.vil) sk-abcdefghijklmnopqrstuvwx\nNext line")
    ann.says("hello")
    card = await ann.gets("**Bold** [x](http://e.vil)")

    assert "sk-abcdefghijklmnopqrstuvwx" not in card.text
    assert "\nNext line" in card.text


async def test_status_names_the_question_and_approve_does_not_answer_it(house: House) -> None:
    ann = house.person()
    asks(house, question="What is your name?")
    ann.says("hello")
    await ann.gets("What is your name?")
    ann.says("/status")
    await ann.gets("Waits for an answer: What is your name?")
    ann.says("/approve")
    await ann.gets("This is a question; answer it in words")

    assert await house.values("SELECT state FROM requests") == ["pending"]


@pytest.mark.req("QUE-4")
@pytest.mark.parametrize(
    "how",
    [
        {"ago": timedelta(minutes=10)},
        {
            "attachments": (
                Attachment(kind="file", ref="x", name="a.txt", mime_type="text/plain", size_bytes=3),
            )
        },
    ],
    ids=["written before the question", "with a file"],
)
async def test_what_cannot_be_an_answer_in_words_is_kept_and_the_question_repeated(
    house: House, how: dict[str, Any]
) -> None:
    ann = house.person()
    asks(house, question="Delete everything?")
    ann.says("hello")
    await ann.gets("Delete everything?")

    ann.says("yes, as I said", **how)
    again = await ann.gets("Answer the open request first. Your message is kept (1 waiting).")
    assert await house.values("SELECT state FROM requests") == ["pending"]
    await ann.presses("Skip", again)
    await house.quiet()

    assert ("success", "The user chose not to answer.") in house.model.asked[1].lines
    assert "yes, as I said" in house.model.questions[-1]


@pytest.mark.req("ACC-5", "APR-5")
async def test_a_named_approver_does_not_answer_for_the_person_asked(house_of: Open) -> None:
    house = await house_of(
        access={"allow": {"memory": ["*"]}, "groups": "always"}, approvals={"approvers": ["memory:9"]}
    )
    ann, eve = house.member(), house.member("9", "Eve")
    asks(house, **SIZE)
    ann.says("order a shirt")
    card = await ann.gets("Which size?")

    refused = await eve.presses("M", card)
    await ann.presses("S", card)
    await house.quiet()

    assert (refused.text, refused.alert) == ("Only Ann may answer this. Nothing was done.", True)
    assert heard(house) == ("success", "S")
