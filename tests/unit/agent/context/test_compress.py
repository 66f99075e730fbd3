"""Counting, summarising, and doing it again with less protected; a failed summary changes nothing."""

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import ModelRequest, ModelResponse, UserPromptPart
from pydantic_ai.usage import RequestUsage

from agent.context.compress import Conversation, compress, newest_question
from agent.context.cut import MARKER, protections
from agent.context.summary import NoSummary, Summarist, pieces, transcript
from agent.context.tokens import Mark, count, estimate, mark_of
from agent.errors import ContextTooLong, ProviderDown
from agent.events import Usage
from agent.history import load, system_message
from agent.provider import ToolSpec
from agent.snapshot import Route
from tests.unit.agent.context.conversations import asks, calls, histories, results, says
from tests.unit.agent.scripted import NO_PAUSES, Broken, ScriptedProvider, no_sleep, strictly_valid
from tests.unit.agent.scripted import says as answers

pytestmark = pytest.mark.req("CTX-1")

SYSTEM = system_message("You are a test.")
TOOL = ToolSpec(name="a", ref="s/a", description="d" * 400, parameters={"type": "object"})


@dataclass
class Writer:
    """Stands for a summarist: its summaries have the size that is asked for, or `text`."""

    text: str | None = None
    sizes: list[int] = field(default_factory=list)

    async def write(self, messages, *, most_tokens):
        from agent.context.summary import Summary

        self.sizes.append(len(messages))
        return Summary(text=self.text or "s" * most_tokens, usage=Usage(input_tokens=9, output_tokens=1))


def conversation(messages, pin_from=None):
    begins = newest_question(messages) if pin_from is None else pin_from
    return Conversation(system=SYSTEM, messages=tuple(messages), pin_from=begins)


async def run(talk, writer, *, limit, first=3, last=20, must=False):
    """All steps, and the conversation after them."""
    steps = [
        step
        async for step in compress(talk, writer, protections(first, last), limit=limit, must=must)  # type: ignore[arg-type]
    ]
    messages = list(talk.messages)
    for step in steps:
        if not isinstance(step, NoSummary):
            messages[step.start : step.stop] = load([step.message_json])
    return steps, messages


def chatter(turns, size=400):
    return [m for n in range(turns) for m in (asks(f"q{n} " + "x" * size), says(f"a{n} " + "y" * size))]


async def test_the_middle_becomes_one_marked_summary_and_all_else_stays():
    messages = [*chatter(40), asks("now?")]
    steps, shorter = await run(conversation(messages), Writer("all that was"), limit=6_000)
    (step,) = steps
    assert shorter[:2] == messages[:2]
    assert shorter[3:] == messages[-20:]
    assert shorter[2].parts[0].content == f"{MARKER}\nall that was"
    assert step.tokens_before == count([SYSTEM, *messages]).tokens
    assert step.tokens_after == count([SYSTEM, *shorter]).tokens < 6_000
    assert step.usage == Usage(input_tokens=9, output_tokens=1)


async def test_the_tail_shrinks_until_it_fits_and_each_step_is_counted_again():
    messages = [*chatter(40), asks("now?")]
    writer = Writer()
    steps, shorter = await run(conversation(messages), writer, limit=1_500)
    assert len(shorter) < 14
    assert steps[-1].tokens_after <= 1_500
    assert len(writer.sizes) == 1, "a tail that cannot do costs no request"
    assert shorter[-1] == messages[-1]


async def test_a_summary_longer_than_thought_is_taken_into_the_next():
    messages = [*chatter(40), asks("now?")]
    writer = Writer("long " * 1_000)
    steps, shorter = await run(conversation(messages), writer, limit=3_000)
    assert len(steps) > 1
    assert sum(mark_of(message) is not None for message in shorter) == 1
    strictly_valid(shorter)


async def test_at_the_floor_the_newest_question_and_the_last_messages_are_left():
    turn = [
        asks("the question"),
        *[m for n in range(9) for m in (calls(f"c{n}"), results(f"c{n}", text="z" * 4_000))],
    ]
    messages = [*chatter(3), *turn]
    steps, shorter = await run(conversation(messages), Writer(), limit=500)
    assert [type(m) for m in shorter] == [ModelRequest, ModelResponse, ModelRequest]
    assert shorter[0].parts[0].content == "the question"
    assert shorter[1:] == messages[-2:]
    assert steps[-1].tokens_after > 500


async def test_what_gains_little_is_left_alone_unless_it_must_be():
    messages = [
        asks("1"),
        says("2"),
        asks("3" * 80),
        says("4"),
        asks("5" * 80),
        *chatter(1, 9_000)[1:],
        asks("q"),
    ]
    steps, _ = await run(conversation(messages), Writer("s"), limit=2_000, last=4)
    assert steps == []
    steps, _ = await run(conversation(messages), Writer("s"), limit=2_000, last=4, must=True)
    assert len(steps) == 1


@given(histories(), st.integers(1, 6), st.integers(1, 24), st.integers(50, 2_000))
async def test_however_it_is_called_the_result_is_valid_and_keeps_what_is_protected(
    given_, first, last, limit
):
    messages, begins = given_
    talk = conversation(messages, begins)
    _, shorter = await run(talk, Writer("s"), limit=limit, first=first, last=last, must=True)
    strictly_valid(shorter)
    said = [p for m in messages[begins:] for p in m.parts if isinstance(p, UserPromptPart)]
    left = [p for m in shorter for p in m.parts if isinstance(p, UserPromptPart)]
    assert all(part in left for part in said)


def test_the_providers_own_figure_is_the_base_and_only_what_came_since_is_estimated():
    messages = [SYSTEM, asks("x" * 4_000), says("short", (2_000, 10)), asks("y" * 400)]
    guessed = estimate(messages[:2])
    scale = (2_000 + 1_000) / (guessed + 1_000)
    assert count(messages) == (round(2_010 + scale * estimate(messages[3:])), scale)
    assert count(messages[:2]).tokens == guessed
    assert count(messages[:2], [TOOL]).tokens > guessed + 100


def test_a_figure_that_cannot_be_true_does_not_steer():
    messages = [SYSTEM, asks("x" * 40_000), says("short", (3, 1)), asks("more")]
    assert count(messages).tokens > estimate(messages) / 5


def test_after_a_compression_older_figures_count_no_more_but_their_ratio_does():
    summary = ModelRequest(parts=asks("s").parts, metadata=Mark(part=0, tail=2, scale=2.0).to_metadata())
    messages = [SYSTEM, summary, says("a", (90_000, 5)), asks("b" * 400)]
    assert count(messages) == (2 * estimate(messages), 2.0)
    newer = [*messages, says("c", (300, 7)), asks("d")]
    assert count(newer).tokens < 350


@given(st.lists(st.text(max_size=60), max_size=12), st.integers(8, 60))
def test_pieces_hold_everything_in_order_and_none_is_too_large(blocks, most):
    found = list(pieces(blocks, most))
    assert "".join(found).replace("\n", "") == "".join(blocks).replace("\n", "")
    assert all(len(piece.encode("utf-8", "surrogatepass")) <= most for piece in found)


async def written(provider, messages=None, window=None):
    route = Route(name="light", provider=provider, context_window=window)
    summarist = Summarist(routes=(route,), retries=NO_PAUSES, sleep=no_sleep)
    return await summarist.write(messages or chatter(10), most_tokens=100)


async def test_a_summary_is_asked_for_without_tools_and_with_the_whole_transcript():
    provider = ScriptedProvider([answers("in short")])
    messages = [asks("look"), calls("c1", text="I look"), results("c1", text="z" * 9_000), says("done")]
    summary = await written(provider, messages)
    assert summary.text == "in short"
    assert provider.tools_seen == [()]
    question = provider.seen[0][-1].parts[0].content
    assert "User: look\nAssistant: I look\nAssistant calls shop__look with" in question
    assert "[… 5000 characters …]" in question
    assert question.endswith("Assistant: done\n</transcript>")


@pytest.mark.parametrize(
    ("replies", "why"),
    [
        ([answers("")], "wrote nothing"),
        ([answers("\u200b")], "wrote nothing"),
        ([answers("cut of", finish="length")], "did not come to an end"),
        ([answers("w " * 9_000)], "longer than what it replaces"),
        ([Broken(ProviderDown("gone"), after=("half",))] * 3, "ProviderDown: gone"),
        ([Broken(ContextTooLong("no"))] * 9, "too long for the model"),
    ],
    ids=["empty", "invisible", "cut", "longer", "down", "too long"],
)
async def test_what_is_no_summary_is_a_failure_and_changes_nothing(replies, why):
    """C147a, C147b."""
    found = await written(ScriptedProvider(list(replies)))
    assert isinstance(found, NoSummary)
    assert why in found.why


async def test_what_was_answered_before_an_error_was_paid_for():
    answered = replace(answers("part 0"), usage=RequestUsage(input_tokens=70, output_tokens=3))
    replies = [answered, *[Broken(ProviderDown("gone"))] * 3]
    found = await written(ScriptedProvider(replies), chatter(30), window=2_000)
    assert isinstance(found, NoSummary)
    assert (found.usage.requests, found.usage.input_tokens, found.usage.output_tokens) == (1, 70, 3)


async def test_a_transcript_too_long_for_the_summarising_model_goes_piece_by_piece():
    provider = ScriptedProvider([answers(f"part {n}") for n in range(40)])
    summary = await written(provider, chatter(30), window=2_000)
    assert len(provider.seen) > 2
    assert summary.text == f"part {len(provider.seen) - 1}"
    assert "Summary of what came before:\npart 0\n" in provider.seen[1][-1].parts[0].content
    assert all(count(request).tokens < 2_000 for request in provider.seen)


async def test_a_model_that_refuses_the_transcript_gets_smaller_pieces():
    replies = [Broken(ContextTooLong("400")), *[answers(f"part {n}") for n in range(40)]]
    summary = await written(ScriptedProvider(replies), chatter(30), window=20_000)
    assert summary.text.startswith("part")


def test_the_transcript_tells_an_earlier_summary_from_the_user():
    assert list(transcript([asks(f"{MARKER}\nonce"), says("yes")])) == [
        f"Earlier summary: {MARKER}\nonce",
        "Assistant: yes",
    ]
