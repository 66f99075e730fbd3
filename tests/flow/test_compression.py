"""A conversation that grows too long: every edge of the chart of compression, and what is kept of it."""

from typing import Any

import pytest
from pydantic_ai.messages import UserPromptPart

from agent import notices
from agent.context.cut import MARKER
from agent.context.tokens import mark_of
from agent.errors import ContextTooLong, ProviderRefused
from agent.history import load
from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.scripted import KIND, Gate, calls, says
from tests.unit.agent.scripted import strictly_valid

pytestmark = pytest.mark.req("CTX-1")

WINDOW = 4_000


@pytest.fixture
async def small(house_of: Open) -> House:
    """A model that reads 4,000 tokens; the last six messages are protected."""
    return await house_of(**settings())


def settings(**more: Any) -> dict[str, Any]:
    model = {"provider": KIND, "model": "any", "context_window": WINDOW}
    return {"models": {"scripted": model}, "context": {"protect_last": 6}, **more}


async def talk(house: House, person: Person, *questions: str, size: int = 800) -> None:
    """Questions of `size` characters, each answered as long by the demo's echo."""
    for question in questions:
        person.says(f"{question} {'x' * size}")
        await person.gets(f"You said: {question}")
        await house.quiet()


async def fill(house: House, person: Person) -> None:
    """Talk until just before the limit of half a window."""
    await talk(house, person, "q1", "q2", "q3", "q4", "q5")
    assert house.model.summarised == []


async def history(house: House) -> list[Any]:
    messages = load(await house.values("SELECT message FROM agent_state ORDER BY session_id, seq"))
    strictly_valid(messages, closed=True)
    return messages


def user_texts(messages: Any) -> list[str]:
    return [
        part.content.split(" ")[0]
        for message in messages
        for number, part in enumerate(message.parts)
        if isinstance(part, UserPromptPart) and (mark_of(message) is None or mark_of(message).part != number)
    ]


async def test_below_the_limit_nothing_is_compressed(small: House) -> None:
    ann = small.person()
    await fill(small, ann)
    assert len(await history(small)) == 10
    assert user_texts(small.model.asked[-1].messages) == ["q1", "q2", "q3", "q4", "q5"]


async def test_above_it_the_middle_becomes_one_marked_summary_and_the_transcript_stays(small: House) -> None:
    ann = small.person()
    await fill(small, ann)
    await talk(small, ann, "q6")
    assert len(small.model.summarised) == 1
    assert small.model.summarised[0].tools == ()
    (*_, last) = small.model.asked
    strictly_valid(last.messages)
    assert user_texts(last.messages)[0] == "q1"
    assert user_texts(last.messages)[-2:] == ["q5", "q6"]
    assert [text for _, text in last.lines if text.startswith(MARKER)] == [f"{MARKER}\nwhat was said"]
    stored = await history(small)
    assert sum(mark_of(message) is not None for message in stored) == 1
    questions = await small.values("SELECT body FROM messages WHERE role = 'question' ORDER BY id")
    assert [body.split(" ")[0] for body in questions] == ["q1", "q2", "q3", "q4", "q5", "q6"]
    answers = await small.values("SELECT body FROM messages WHERE role = 'answer' ORDER BY id")
    assert len(answers) == 6
    (record,) = await small.values("SELECT payload FROM turn_events WHERE kind = 'compressed'")
    assert '"tokens_before":' in record


async def test_what_is_protected_is_word_for_word_there(small: House) -> None:
    ann = small.person()
    await fill(small, ann)
    before = await history(small)
    await talk(small, ann, "q6", "q7")
    after = await history(small)
    assert after[:2] == before[:2]
    kept = [message for message in before[2:] if message in after]
    assert kept == before[-len(kept) :]
    assert kept


async def test_a_tail_that_is_too_long_itself_shrinks(house_of: Open) -> None:
    house = await house_of(**{**settings(), "context": {"protect_last": 20}})
    ann = house.person()
    await talk(house, ann, "q1", "q2", "q3", "q4", "q5", "q6")
    stored = await history(house)
    assert len(house.model.summarised) >= 1
    assert user_texts(stored)[0] == "q1"
    assert user_texts(stored)[-1] == "q6"
    assert len(stored) < 12


async def test_a_lighter_model_writes_the_summary_if_one_is_named(house_of: Open) -> None:
    given = settings()
    given["models"]["light"] = {"provider": KIND, "model": "light", "context_window": WINDOW}
    given["context"]["summary_model"] = "light"
    house = await house_of(**given)
    (own,) = (await house.daemon._runtime.snapshot("default")).routes
    assert [r.name for r in (await house.daemon._runtime.snapshot("default")).summary_routes] == [
        "light",
        own.name,
    ]
    ann = house.person()
    await fill(house, ann)
    await talk(house, ann, "q6")
    assert len(house.model.summarised) == 1


@pytest.mark.parametrize(
    "reply", [ProviderRefused("no"), says(""), says("w " * 4_000)], ids=["fails", "empty", "longer"]
)
async def test_a_summary_that_fails_removes_nothing_and_is_told_once(small: House, reply: Any) -> None:
    """C147a, C147b."""
    ann = small.person()
    await fill(small, ann)
    small.model.summaries.extend([reply, reply, reply])
    small.model.then(calls(("lab__look", {})), calls(("lab__look", {})))
    small.settings["approvals"] = {"allow": ["lab/*"]}
    await small.restart()
    ann.says("q6 " + "x" * 800)
    await ann.gets("lab__look returned: run 2")
    await small.quiet()
    assert ann.sees().count(notices.NOT_COMPRESSED) == 1
    assert len(small.model.summarised) == 1
    assert user_texts(await history(small)) == ["q1", "q2", "q3", "q4", "q5", "q6"]


async def test_a_message_larger_than_the_window_is_refused_and_not_kept(small: House) -> None:
    """C150a."""
    ann = small.person()
    await talk(small, ann, "q1")
    ann.says("z" * 12 * WINDOW)
    await ann.gets("Your message is too long for the model: about")
    assert len(small.model.asked) == 1
    assert small.model.summarised == []
    await talk(small, ann, "q2")
    assert user_texts(await history(small)) == ["q1", "q2"]


async def test_a_session_at_its_limit_does_not_slow_another(small: House) -> None:
    """C150b."""
    ann, bob = small.person("1", "Ann"), small.person("2", "Bob")
    await fill(small, ann)
    writing = Gate()
    small.model.summaries.append(writing)
    ann.says("q6 " + "x" * 800)
    await writing.reached()
    bob.says("hello there")
    await bob.gets("You said: hello there")
    writing.open()
    await ann.gets("You said: q6")


async def test_a_provider_that_finds_it_too_long_makes_it_shorter_once_and_is_asked_again(
    house_of: Open,
) -> None:
    given = settings()
    del given["models"]["scripted"]["context_window"]
    house = await house_of(**given)
    ann = house.person()
    await talk(house, ann, "q1", "q2", "q3", "q4", "q5")
    assert house.model.summarised == []
    house.model.then(ContextTooLong("400"))
    await talk(house, ann, "q6")
    assert len(house.model.summarised) == 1
    assert user_texts(house.model.asked[-2].messages) == ["q1", "q2", "q3", "q4", "q5", "q6"]
    assert user_texts(house.model.asked[-1].messages)[-1] == "q6"
    assert len(house.model.asked[-1].messages) < len(house.model.asked[-2].messages)
    house.model.then(ContextTooLong("400"), ContextTooLong("400"))
    ann.says("q7")
    await ann.gets("This is too long for the model.")
    await house.quiet()
    assert len(house.model.summarised) == 2
    assert user_texts(await history(house))[-1] == "q6", "what did not fit is not kept"


async def test_a_crash_while_the_summary_is_written_is_as_if_it_had_not_begun(small: House) -> None:
    ann = small.person()
    await fill(small, ann)
    before = await history(small)
    writing = Gate()
    small.model.summaries.append(writing)
    ann.says("q6 " + "x" * 800)
    await writing.reached()
    await small.crash()
    await small.start()
    await ann.gets("You said: q6")
    await small.quiet()
    assert len(small.model.summarised) == 2
    after = await history(small)
    assert after[:2] == before[:2]
    assert await small.values("SELECT COUNT(*) FROM turn_events WHERE kind = 'compressed'") == [1]


async def test_a_crash_after_it_goes_on_with_the_summary_that_was_made(small: House) -> None:
    ann = small.person()
    await fill(small, ann)
    asking = Gate()
    small.model.then(asking)
    ann.says("q6 " + "x" * 800)
    await asking.reached()
    await small.crash()
    await small.start()
    await ann.gets("You said: q6")
    await small.quiet()
    assert len(small.model.summarised) == 1
    assert sum(mark_of(message) is not None for message in await history(small)) == 1


@pytest.mark.req("CTX-2")
async def test_compact_does_it_now_and_says_what_it_did(small: House) -> None:
    ann = small.person()
    await fill(small, ann)
    ann.says("/compact")
    await ann.gets("I shorten our conversation now.")
    told = await ann.gets("Shortened: 10 messages are")
    assert " tokens before and " in told.text
    await small.quiet()
    assert len(small.model.summarised) == 1
    stored = await history(small)
    assert user_texts(stored)[0] == "q1"
    assert f"Shortened: 10 messages are {len(stored)} now" in told.text
    assert await small.values("SELECT COUNT(*) FROM messages WHERE role = 'question'") == [5]
    await talk(small, ann, "q6")
    assert any(text.startswith(MARKER) for _, text in small.model.asked[-1].lines)


@pytest.mark.req("CTX-2")
async def test_compact_with_nothing_to_shorten_or_a_failing_model_says_so(small: House) -> None:
    ann = small.person()
    ann.says("/compact")
    await ann.gets("There is no conversation to shorten yet.")
    await talk(small, ann, "q1")
    ann.says("/compact")
    await ann.gets("Nothing to shorten yet: there are 2 messages")
    await talk(small, ann, "q2", "q3", "q4", "q5")
    small.model.summaries.append(ProviderRefused("no"))
    ann.says("/compact")
    await ann.gets("I could not make a summary; nothing of our conversation is lost.")
    await small.quiet()
    assert user_texts(await history(small)) == ["q1", "q2", "q3", "q4", "q5"]


@pytest.mark.req("CTX-2")
async def test_compact_waits_for_what_runs_and_takes_no_words_in(house_of: Open) -> None:
    house = await house_of(**settings(queue={"mode": "collect", "gather_s": 0}))
    ann = house.person()
    await talk(house, ann, "q1", "q2", "q3", "q4", size=300)
    running = house.model.hold("q6")
    ann.says("q6")
    await running.reached()
    ann.says("/compact")
    await ann.gets("I shorten our conversation after what runs and waits now.")
    ann.says("q7")
    await house.platform.wait_received()
    running.open()
    await ann.gets("Shortened: 10 messages are")
    await ann.gets("You said: q6")
    await house.quiet()
    assert user_texts(await history(house))[-2:] == ["q6", "q7"]
