"""Replies that are shown while they are written: by edits of one message and the next, or in the platform's own way."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from agent.errors import ProviderRefused, StreamCut
from gateway.document import plain
from gateway.errors import MessageRejected, NotSent, OutcomeUnknown, RateLimited, SendError
from gateway.messages import OutboundMessage
from tests.flow.conftest import Open
from tests.flow.house import WAIT_S, House, Person
from tests.flow.scripted import Gate, calls, says

pytestmark = pytest.mark.req("DLV-5")

WORDS = [f"word{number}" for number in range(60)]
LONG = " ".join(WORDS)


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What streams is shown at the first look, and that is soon."""
    monkeypatch.setattr("gateway.delivery.stream.FIRST_LOOK_S", 0.01)
    monkeypatch.setattr("gateway.delivery.stream.FIRST_CHARS", 1)


@pytest.fixture
async def streaming(house_of: Open) -> Callable[..., Awaitable[House]]:
    async def open_house(*, platform: dict[str, Any] | None = None, **settings: Any) -> House:
        return await house_of(platform={"streaming": True, **(platform or {})}, **settings)

    return open_house


async def row(house: House) -> list[tuple[Any, ...]]:
    """State, parts and fate of all outbox rows; none may be waiting for its last text, or be kept in memory."""
    assert house.daemon._delivery._live._of_row == {}
    rows = await house.rows("SELECT kind, state, error, preview FROM outbox ORDER BY dest, dest_seq")
    assert all(each["preview"] is None for each in rows)
    return [(each["kind"], each["state"], each["error"]) for each in rows]


GROWS = "SELECT 1 FROM outbox WHERE state = 'growing'"
WRITTEN = "SELECT 1 FROM turn_events WHERE kind = 'text'"
ENDED = "SELECT 1 FROM turns WHERE state = 'done'"
PAUSED = "SELECT 1 FROM destinations WHERE paused_until > 0"
SENT = ("text", "sent", None)
NOTICE = ("notice", "sent", None)


async def reads(person: Person, *texts: str) -> None:
    """Wait until the person sees exactly these messages."""
    try:
        async with asyncio.timeout(WAIT_S):
            await person.platform.wait_until(lambda: person.sees() == list(texts))
    except TimeoutError:
        raise AssertionError(f"{list(texts)} was never shown; shown are {person.sees()}") from None


def refuse(errors: list[SendError], *, on: str = "") -> Callable[[OutboundMessage], None]:
    """Raise one error after the other at messages with these words."""

    def check(message: OutboundMessage) -> None:
        if on in plain(message.body) and errors:
            raise errors.pop(0)

    return check


async def test_a_reply_grows_in_one_message_and_ends_with_its_last_text(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming()
    ann = house.person()
    first, second = Gate(), Gate()
    house.model.then(("It **gr", first, "ows** and", second, " is done."))
    ann.says("go")
    await reads(ann, "It **gr")
    first.open()
    await reads(ann, "It grows and")
    second.open()
    await reads(ann, "It grows and is done.")
    await house.quiet()

    assert await row(house) == [SENT]
    assert house.platform.shown[0].edits == 2
    assert not house.platform.shown[0].message.growing


async def test_where_growth_has_to_end_every_message_is_told_once_that_it_is_whole(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming(platform={"limit": 40, "edit_limit": 40, "ends_growth": True})
    ann = house.person()
    second, end = Gate(), Gate()
    house.model.then((" ".join(WORDS[:6]), second, " " + " ".join(WORDS[6:9]), end))
    ann.says("go")
    await ann.gets("word5")
    second.open()
    await reads(ann, " ".join(WORDS[:6]), " ".join(WORDS[6:9]))
    await house.platform.wait_until(lambda: not house.platform.shown[0].message.growing)
    assert house.platform.shown[1].message.growing
    end.open()  # there is no further word: the edit is only to say so
    await house.platform.wait_until(lambda: not house.platform.shown[1].message.growing)
    await house.quiet()

    assert await row(house) == [SENT, SENT]
    assert [shown.edits for shown in house.platform.shown] == [1, 1]


async def test_where_streaming_is_off_a_reply_is_sent_when_it_is_whole(house: House) -> None:
    ann = house.person()
    pause = Gate()
    house.model.then(("half and", pause, " half"))
    ann.says("go")
    await house.until(WRITTEN)  # which is later than the first look
    assert ann.sees() == []
    pause.open()
    await reads(ann, "half and half")
    assert house.platform.shown[0].edits == 0


async def test_a_reply_that_is_whole_at_once_costs_one_send(
    streaming: Callable[..., Awaitable[House]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.delivery.stream.FIRST_LOOK_S", 0.5)  # as it is
    house = await streaming()
    ann = house.person()
    house.model.then(says(LONG))
    ann.says("go")
    await reads(ann, LONG)
    await house.quiet()

    assert (house.platform.shown[0].edits, await row(house)) == (0, [SENT])


async def test_a_long_reply_rolls_over_into_the_next_message_at_the_limit_for_edits(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    """C54a: sends may be longer than edits."""
    house = await streaming(platform={"limit": 400, "edit_limit": 100})
    ann = house.person()
    gates = [Gate() for _ in range(5)]
    house.model.then(
        tuple(part for n in range(5) for part in (" ".join(WORDS[n * 12 : n * 12 + 12]) + " ", gates[n]))
    )
    ann.says("go")
    for number, gate in enumerate(gates):
        await gate.reached()
        await ann.gets(f"word{number * 12 + 11}")
        assert " ".join(" ".join(ann.sees()).split()) == " ".join(WORDS[: number * 12 + 12])
        gate.open()
    await house.quiet()

    assert " ".join(" ".join(ann.sees()).split()) == LONG
    assert all(len(text) <= 100 for text in ann.sees())
    assert await row(house) == [SENT] * len(ann.sees())


@pytest.mark.req("EVT-1")
async def test_the_text_of_an_attempt_that_was_cut_is_replaced_in_place(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming()
    ann = house.person()
    shown = Gate()
    house.model.then(("The wrong beginning", shown, StreamCut("cut")), ("The ", "right answer"))
    ann.says("go")
    await reads(ann, "The wrong beginning")
    shown.open()
    await reads(ann, "The right answer")
    await house.quiet()

    assert await row(house) == [SENT]


@pytest.mark.req("EVT-1")
async def test_what_a_shorter_second_attempt_does_not_fill_is_withdrawn(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming(platform={"edit_limit": 60})
    ann = house.person()
    shown = Gate()
    house.model.then((" ".join(WORDS[:12]), shown, StreamCut("cut")), says("short"))
    ann.says("go")
    await ann.gets("word11")
    shown.open()
    await reads(ann, "short", "(This part was withdrawn.)")


async def test_the_text_of_a_turn_that_fails_is_marked_as_incomplete(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    """C57b."""
    house = await streaming()
    ann = house.person()
    shown = Gate()
    house.model.then(("Half of `an", shown, ProviderRefused("no")))
    ann.says("go")
    await reads(ann, "Half of `an")
    shown.open()
    await ann.gets("(This answer is not complete.)")
    await house.quiet()

    assert ann.sees()[0] == "Half of `an\n\n(This answer is not complete.)"
    assert len(ann.sees()) == 2
    assert await row(house) == [SENT, ("card", "sent", None)]  # which offers to try again
    assert await house.values("SELECT body FROM messages WHERE role = 'answer'") == []


@pytest.mark.req("QUE-4")
async def test_stop_leaves_what_was_shown_with_a_mark(streaming: Callable[..., Awaitable[House]]) -> None:
    house = await streaming()
    ann = house.person()
    house.model.then(("```py\nx = 1\n", Gate()))
    ann.says("go")
    await reads(ann, "x = 1")
    ann.says("/stop")
    await ann.gets("(This answer is not complete.)")

    assert ann.sees()[0] == "x = 1\n\n(This answer is not complete.)"


@pytest.mark.req("QUE-4")
async def test_stop_says_so_below_what_was_shown_as_a_draft_only(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming(platform={"drafts": True})
    ann = house.person()
    house.model.then(("Half of", Gate()))
    ann.says("go")
    await house.platform.wait_until(lambda: len(house.platform.drafts) == 1)
    ann.says("/stop")
    await reads(ann, "Half of\n\n(This answer is not complete.)", "Stopped.")
    await house.quiet()
    assert await row(house) == [SENT, NOTICE]


async def test_a_message_deleted_under_way_is_followed_by_a_new_one_with_the_rest(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming()
    ann = house.person()
    first, second = Gate(), Gate()
    house.model.then(("one two", first, " three four", second, " five"))
    ann.says("go")
    shown = await ann.gets("one two")
    house.platform.delete(shown)
    first.open()
    await reads(ann, "three four")
    second.open()
    await reads(ann, "three four five")
    await house.quiet()

    assert await row(house) == [SENT, SENT]


async def test_a_message_that_takes_no_last_edit_is_followed_by_a_new_one_with_the_rest(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming(platform={"limit": 60, "edit_limit": 60})
    ann = house.person()
    shown = Gate()
    house.model.then((" ".join(WORDS[:3]), shown, " " + " ".join(WORDS[3:18])))
    ann.says("go")
    await reads(ann, "word0 word1 word2")
    house.platform.refuse_edit = refuse([MessageRejected("message can't be edited")] * 9, on="word0")
    shown.open()
    await ann.gets("word17")
    await house.quiet()

    assert ann.sees()[0] == "word0 word1 word2"
    assert " ".join(ann.sees()) == " ".join(WORDS[:18])
    assert await row(house) == [SENT] * (len(ann.sees()) - 1)  # the rest took its message's row


async def test_an_edit_that_is_limited_holds_the_chat_and_the_next_one_shows_everything_so_far(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    """C60a, C60b."""
    house = await streaming()
    ann, bob = house.person("1"), house.person("2", "Bob")
    gates = [Gate() for _ in range(3)]
    house.model.then(("a", gates[0], "b", gates[1], "c", gates[2], "d"))
    ann.says("go")
    await reads(ann, "a")
    house.platform.refuse_edit = refuse([RateLimited(3600)], on="ab")
    gates[0].open()
    await house.until(PAUSED)
    gates[1].open()
    await gates[2].reached()
    shows = Gate()
    house.model.then(("Bob's", shows, " answer"))
    bob.says("me too")
    await reads(bob, "Bob's")
    shows.open()
    await reads(bob, "Bob's answer")
    assert ann.sees() == ["a"]
    edits = house.platform.shown[0].edits

    house.pass_by(ann, hours=1)
    await reads(ann, "abc")
    assert house.platform.shown[0].edits == edits + 1
    gates[2].open()
    await reads(ann, "abcd")


async def test_the_last_edit_is_never_lost_to_a_rate_limit_nor_to_its_formatting(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    """C59a."""
    house = await streaming()
    ann = house.person()
    shown = Gate()
    house.model.then(("some", shown, " **bold** end"))
    ann.says("go")
    await reads(ann, "some")
    house.platform.refuse_edit = refuse(
        [RateLimited(3600), OutcomeUnknown("time-out"), NotSent("no")], on="end"
    )
    shown.open()
    await house.until(ENDED)
    await house.until(PAUSED)
    assert ann.sees() == ["some"]
    house.pass_by(ann, hours=1)
    await reads(ann, "some bold end")
    await house.quiet()

    assert not house.platform.shown[0].message.plain
    assert await row(house) == [SENT]


@pytest.mark.req("DLV-7")
async def test_a_first_send_of_unknown_outcome_is_noticed_and_the_rest_follows_in_a_message_of_its_own(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming()
    ann = house.person()
    shown = Gate()
    house.platform.fail(OutcomeUnknown("time-out"))
    house.model.then(("one two", shown, " three four"))
    ann.says("go")
    await ann.gets("A part of my last answer may not have arrived")
    shown.open()
    await ann.gets("three four")
    await house.quiet()
    assert ann.sees()[1] == "three four"

    ann.says("/again")
    await ann.gets("one two")


@pytest.mark.req("DLV-6", "DLV-7")
async def test_a_first_send_that_is_refused_or_late_is_made_up_for_by_the_whole(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming()
    ann = house.person()
    first = Gate()
    house.platform.refuse = refuse([NotSent("no"), MessageRejected("not this")], on="one")
    house.model.then(("one", first, " two"))
    ann.says("go")
    await house.until("SELECT 1 FROM outbox WHERE state = 'failed'")
    first.open()
    await reads(ann, "one two")
    await house.quiet()

    assert await row(house) == [SENT]


@pytest.mark.req("DLV-7", "EVT-1")
async def test_after_a_crash_the_new_attempt_replaces_what_was_shown_in_place(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming()
    ann = house.person()
    house.model.then(("Once upon", Gate()))
    ann.says("go")
    await house.until(GROWS)
    await house.until(WRITTEN)
    await house.crash()
    again = Gate()
    house.model.then(("Twice", again, " and for all"))
    await house.start()
    await reads(ann, "Twice")
    again.open()
    await reads(ann, "Twice and for all")
    await house.quiet()

    assert await row(house) == [SENT]


@pytest.mark.req("DLV-7")
async def test_after_a_crash_before_the_last_edit_that_edit_is_made(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming()
    ann = house.person()
    shown = Gate()
    house.model.then(("Once upon", shown, " a time"))
    ann.says("go")
    await reads(ann, "Once upon")
    house.platform.refuse_edit = refuse([RateLimited(0.2)] * 9)
    shown.open()
    await house.until(ENDED)
    await house.crash()
    house.platform.refuse_edit = lambda message: None
    await house.start()
    await reads(ann, "Once upon a time")


@pytest.mark.req("DLV-7")
async def test_a_crash_in_the_last_edit_repeats_it_in_silence(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming()
    ann = house.person()
    shown, stuck = Gate(), Gate()
    house.model.then(("Once upon", shown, " a time"))
    ann.says("go")
    await reads(ann, "Once upon")
    house.platform.linger_edit = lambda message: stuck.enter()
    shown.open()
    await stuck.reached()
    await house.until(ENDED)
    await house.crash()
    house.platform.linger_edit = None
    await house.start()
    await house.quiet()

    assert ann.sees() == ["Once upon a time"]
    assert await row(house) == [SENT]


@pytest.mark.req("DLV-7")
@pytest.mark.parametrize("means", ["none", "key", "lookup"])
async def test_a_crash_in_the_first_send_doubles_nothing(
    streaming: Callable[..., Awaitable[House]], means: str
) -> None:
    house = await streaming(platform={"idempotency": means, "idempotency_window_s": 120})
    ann = house.person()
    stuck = Gate()
    house.platform.linger = lambda message: stuck.enter()
    house.model.then(("Once upon", Gate()))
    ann.says("go")
    await stuck.reached()
    await house.crash()
    house.platform.linger = None
    house.model.then(says("Once upon a time"))
    await house.start()
    await house.quiet()

    if means == "none":
        assert ann.sees()[0] == "Once upon"
        assert "may not have arrived" in ann.sees()[1]
        ann.says("/again")
        await ann.gets("Once upon a time")
    else:
        assert ann.sees() == ["Once upon a time"]
    await house.quiet()
    assert len([text for text in ann.sees() if text.endswith("Once upon a time")]) == 1


@pytest.mark.req("DLV-7")
@pytest.mark.parametrize("means", ["key", "lookup"])
async def test_a_first_send_that_turns_out_to_have_arrived_is_given_the_last_text_that_came_meanwhile(
    streaming: Callable[..., Awaitable[House]], means: str
) -> None:
    house = await streaming(platform={"idempotency": means, "idempotency_window_s": 7200})
    ann = house.person()
    end = Gate()

    def refuse_second(message: OutboundMessage) -> None:
        if house.platform.shown:
            house.platform.refuse = lambda message: None
            raise RateLimited(3600)

    house.platform.refuse = refuse_second
    house.platform.fail(OutcomeUnknown("time-out"), shown=True)
    house.model.then(("Once upon", end, " a time"))
    ann.says("go")
    if means == "key":
        await house.until(PAUSED)
    end.open()
    await house.until(ENDED)
    house.pass_by(ann, hours=1)
    await reads(ann, "Once upon a time")
    await house.quiet()

    assert await row(house) == [SENT]


async def test_a_turn_given_up_after_crashes_marks_what_it_had_shown(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming(turns={"attempts": 1})
    ann = house.person()
    ann.says("go")
    for life in range(3):  # what is cut while the model speaks counts for a third
        house.model.then((f"Once in life {life}", Gate()))
        await reads(ann, f"Once in life {life}")
        await house.until(f"SELECT 1 FROM turn_events WHERE payload LIKE '%life {life}%'")
        await house.crash()
        await house.start()
    await ann.gets("so I gave it up")
    await house.quiet()

    assert ann.sees()[0] == "Once in life 2\n\n(This answer is not complete.)"
    assert await row(house) == [SENT, NOTICE]


async def test_words_before_a_tool_call_stand_above_its_card(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming()
    ann = house.person()
    house.model.then(calls(("lab__count", {}), text="I count now."))
    ann.says("go")
    await ann.gets_card()
    assert ann.sees()[0] == "I count now."


async def test_a_platform_with_drafts_shows_them_and_gets_one_real_message(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming(platform={"drafts": True})
    ann = house.person()
    first, second = Gate(), Gate()
    house.model.then(("Hel", first, "lo", second, " there"))
    ann.says("go")
    await house.platform.wait_until(lambda: len(house.platform.drafts) == 1)
    first.open()
    await house.platform.wait_until(lambda: len(house.platform.drafts) == 2)
    assert ann.sees() == []
    second.open()
    await reads(ann, "Hello there")
    await house.quiet()

    assert [plain(message.body) for _, message in house.platform.drafts] == ["Hel", "Hello"]
    assert len({stream for stream, _ in house.platform.drafts}) == 1
    assert (house.platform.shown[0].edits, await row(house)) == (0, [SENT])


async def test_a_draft_that_is_full_becomes_a_message_and_the_next_one_begins(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming(platform={"drafts": True, "limit": 60, "edit_limit": 60})
    ann = house.person()
    pause = Gate()
    house.model.then((" ".join(WORDS[:12]), pause, " " + " ".join(WORDS[12:15])))
    ann.says("go")
    await house.platform.wait_until(lambda: bool(house.platform.drafts))
    (whole,) = ann.sees()
    draft = plain(house.platform.drafts[-1][1].body)
    assert f"{whole} {draft}" == " ".join(WORDS[:12])
    pause.open()
    await ann.gets("word14")
    assert " ".join(ann.sees()) == " ".join(WORDS[:15])


async def test_the_draft_of_a_turn_that_fails_becomes_a_message_with_a_mark(
    streaming: Callable[..., Awaitable[House]],
) -> None:
    house = await streaming(platform={"drafts": True})
    ann = house.person()
    shown = Gate()
    house.model.then(("Half", shown, ProviderRefused("no")))
    ann.says("go")
    await house.platform.wait_until(lambda: bool(house.platform.drafts))
    shown.open()
    await ann.gets("Half\n\n(This answer is not complete.)")
