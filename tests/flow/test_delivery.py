"""Replies on their way out: pieces in order, faults of the platform, and what the reader hears of them."""

import asyncio
from collections.abc import Callable
from datetime import timedelta

import pytest

from gateway.errors import (
    MessageRejected,
    NotSent,
    OutcomeUnknown,
    RateLimited,
    SendError,
    StoreUnavailable,
    TargetGone,
)
from gateway.messages import OutboundMessage
from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.scripted import Gate, says

THREE = {"limit": 40}
"""A limit at which `REPLY` is three pieces."""
REPLY = "\n\n".join(["first " + "a" * 30, "second " + "b" * 30, "third " + "c" * 30])


def once(error: SendError, *, on: str) -> Callable[[OutboundMessage], None]:
    """Raise `error` at the first message with these words."""
    return each([error], on=on)


def each(errors: list[SendError], *, on: str) -> Callable[[OutboundMessage], None]:
    """Raise one error after the other at messages with these words, then let them pass."""
    left = list(errors)

    def refuse(message: OutboundMessage) -> None:
        from gateway.document import plain

        if on in plain(message.body) and left:
            raise left.pop(0)

    return refuse


async def test_pieces_arrive_in_order_each_asked_for_after_the_one_before(house_of: Open) -> None:
    """C41a."""
    house = await house_of(platform=THREE)
    ann = house.person()
    slow = Gate()

    async def linger(message: OutboundMessage) -> None:
        if len(house.platform.shown) == 1:
            await slow.enter()

    house.platform.linger = linger
    house.model.then(says(REPLY))
    ann.says("go")
    await slow.reached()
    assert [text[:5] for text in ann.sees()] == ["first"]
    assert await house.values("SELECT state FROM outbox ORDER BY id") == ["sending", "queued", "queued"]

    slow.open()
    await ann.gets("third")
    assert [text[:5] for text in ann.sees()] == ["first", "secon", "third"]


@pytest.mark.req("DLV-6")
async def test_a_piece_that_was_not_sent_is_tried_again_before_the_next(house_of: Open) -> None:
    house = await house_of(platform=THREE)
    ann = house.person()
    house.platform.refuse = each([NotSent("no connection")] * 3, on="second")
    house.model.then(says(REPLY))
    ann.says("go")
    await ann.gets("third")
    await house.quiet()

    assert [text[:5] for text in ann.sees()] == ["first", "secon", "third"]
    assert await house.values("SELECT attempts FROM outbox ORDER BY id") == [1, 4, 1]


@pytest.mark.req("DLV-6")
async def test_a_rate_limit_in_one_chat_does_not_delay_another(house: House) -> None:
    ann, bob = house.person("1"), house.person("2", "Bob")
    house.platform.refuse = once(RateLimited(3600), on="for Ann")
    house.model.then(says("for Ann"))
    ann.says("go")
    await house.until("SELECT 1 FROM destinations WHERE paused_until > 0")
    bob.says("plum")
    await bob.gets("You said: plum")

    assert ann.sees() == []
    (paused,) = await house.rows("SELECT state, error FROM outbox ORDER BY id LIMIT 1")
    assert tuple(paused) == ("queued", "the platform asks to wait 3600 s")


@pytest.mark.req("DLV-6")
async def test_after_a_rate_limit_the_same_message_is_sent_and_the_next_after_it(house_of: Open) -> None:
    house = await house_of(platform=THREE)
    ann = house.person()
    house.platform.refuse = once(RateLimited(0.05), on="first")
    house.model.then(says(REPLY))
    ann.says("go")
    await ann.gets("third")

    assert [text[:5] for text in ann.sees()] == ["first", "secon", "third"]


@pytest.mark.req("DLV-6")
async def test_a_chat_that_is_gone_is_marked_and_somebody_writing_from_it_clears_that(house: House) -> None:
    ann = house.person()
    house.platform.refuse = once(TargetGone("blocked by the user"), on="plum")
    ann.says("plum")
    ann.says("pear")
    await house.quiet()
    assert ann.sees() == []
    assert await house.values("SELECT gone FROM destinations") == ["blocked by the user"]
    assert await house.values("SELECT state FROM outbox") == ["failed", "failed"]

    ann.says("fig")
    await ann.gets("You said: fig")
    assert await house.values("SELECT gone FROM destinations") == [None]


@pytest.mark.req("DLV-4")
async def test_markup_that_is_refused_goes_out_once_more_as_plain_text(house: House) -> None:
    """C23a."""
    ann = house.person()
    house.platform.refuse = once(MessageRejected("can't parse entities", markup=True), on="bold")
    house.model.then(says("**bold** words"))
    ann.says("go")
    shown = await ann.gets("bold words")
    await house.quiet()

    assert shown.message.plain
    assert await house.values("SELECT attempts FROM outbox") == [2]


@pytest.mark.req("DLV-4", "DLV-6")
async def test_a_piece_refused_formatted_and_plain_is_missed_out_loud_and_the_others_arrive(
    house_of: Open,
) -> None:
    """C43a, C23b."""
    house = await house_of(platform={"limit": 80})
    reply = "\n\n".join(["first " + "a" * 60, "second " + "b" * 60, "third " + "c" * 60])
    ann = house.person()
    no = MessageRejected("content refused", markup=True)
    house.platform.refuse = each([no, no], on="second")
    house.model.then(says(reply))
    ann.says("go")
    await ann.gets("A part of my last answer was refused")
    await house.quiet()

    assert [text[:5] for text in ann.sees()] == ["first", "third", "A par"]
    assert await house.values("SELECT state FROM outbox ORDER BY id") == ["sent", "failed", "sent", "sent"]


@pytest.mark.req("APR-2")
async def test_a_card_that_cannot_be_shown_is_said_so_with_how_to_answer(house: House) -> None:
    ann = house.person()
    house.platform.refuse = once(MessageRejected("no"), on="Approval needed")
    ann.says("use count {}")
    await ann.gets("/approve")
    ann.says("/approve")
    await ann.gets("returned: run 1")


@pytest.mark.req("DLV-7")
async def test_a_piece_of_unknown_outcome_is_not_repeated_noticed_once_and_shown_again_when_asked(
    house_of: Open,
) -> None:
    house = await house_of(platform={"limit": 200})
    reply = "\n\n".join(["first " + "a" * 150, "second " + "b" * 150, "third " + "c" * 150])
    ann = house.person()
    house.platform.fail(OutcomeUnknown("time-out"), OutcomeUnknown("time-out"))
    house.model.then(says(reply))
    ann.says("go")
    await ann.gets("A part of my last answer may not have arrived. /again shows it once more.")
    await house.quiet()
    assert [text[:5] for text in ann.sees()] == ["third", "A par"]

    ann.says("/again")
    await ann.gets("2 messages to show again.")
    await ann.gets("second")
    await house.quiet()
    again = ann.sees()[2:]
    assert [text.split("\n\n")[-1][:6] for text in again if "messages to" not in text] == ["first ", "second"]
    assert [text.count("↻ Again, this may be a repeat:") for text in again] == [1, 1, 0]

    ann.says("/again")
    await ann.gets("Nothing is missing, as far as I know.")


@pytest.mark.req("DLV-7")
async def test_a_crash_between_send_and_mark_repeats_nothing_and_says_so(house: House) -> None:
    ann = house.person()
    slow = Gate()
    house.platform.linger = lambda message: slow.enter()
    ann.says("plum")
    await slow.reached()
    await house.crash()
    house.platform.linger = None
    await house.start()
    await ann.gets("may not have arrived")
    await house.quiet()

    assert [text.split("\n")[0][:14] for text in ann.sees()] == ["You said: plum", "A part of my l"]


@pytest.mark.req("DLV-7")
@pytest.mark.parametrize("means", ["key", "lookup"])
async def test_where_the_platform_can_tell_a_crash_between_send_and_mark_is_settled_in_silence(
    house_of: Open, means: str
) -> None:
    house = await house_of(platform={"idempotency": means, "idempotency_window_s": 120})
    ann = house.person()
    await crash_while_sending(house, ann)
    await house.start()
    await house.quiet()

    assert [text.split("\n")[0] for text in ann.sees()] == ["You said: plum"]
    assert await house.values("SELECT state FROM outbox") == ["sent"]
    # A key repeats by itself inside its window; nothing is asked that need not be.
    assert len(house.platform.looked_up) == (0 if means == "key" else 1)


@pytest.mark.req("DLV-7")
async def test_a_key_whose_window_is_over_is_looked_up_before_it_is_repeated(house_of: Open) -> None:
    house = await house_of(platform={"idempotency": "key", "idempotency_window_s": 120})
    ann = house.person()
    await crash_while_sending(house, ann)
    house.clock.pass_by(seconds=121)  # a repeat would be shown as a second message now
    await house.start()
    await house.quiet()

    assert [text.split("\n")[0] for text in ann.sees()] == ["You said: plum"]
    assert len(house.platform.looked_up) == 1


@pytest.mark.req("DLV-7")
async def test_what_is_too_old_to_be_looked_up_is_not_repeated_and_said_to_be_uncertain(
    house_of: Open,
) -> None:
    house = await house_of(platform={"idempotency": "lookup", "idempotency_window_s": 120})
    ann = house.person()
    await crash_while_sending(house, ann)
    house.clock.pass_by(seconds=121)
    await house.start()
    await ann.gets("may not have arrived")
    await house.quiet()

    assert [text.split("\n")[0][:14] for text in ann.sees()] == ["You said: plum", "A part of my l"]
    assert house.platform.looked_up == []


@pytest.mark.req("DLV-7")
@pytest.mark.parametrize("means", ["key", "lookup"])
async def test_a_message_that_was_certainly_not_sent_is_looked_for_nowhere(
    house_of: Open, means: str
) -> None:
    house = await house_of(platform={"idempotency": means, "idempotency_window_s": 120})
    ann = house.person()
    house.platform.fail(NotSent("no connection"), RateLimited(0.01), NotSent("no connection"))
    ann.says("plum")
    await ann.gets("You said: plum")
    assert house.platform.looked_up == []


async def test_between_two_messages_to_one_chat_lies_the_platforms_gap(house_of: Open) -> None:
    house = await house_of(platform={**THREE, "send_gap_s": 3600})
    ann, bob = house.person("1"), house.person("2", "Bob")
    house.model.then(says(REPLY))
    ann.says("go")
    await house.until("SELECT 1 FROM turns WHERE state = 'done'")
    await house.until("SELECT 1 FROM outbox WHERE state = 'sent'")
    house.model.then(says("for Bob"))
    bob.says("go")  # whom Ann's gap does not concern
    await bob.gets("for Bob")
    for sent in (1, 2, 3):
        await house.until(f"SELECT 1 WHERE {sent + 1} = (SELECT COUNT(*) FROM outbox WHERE state = 'sent')")
        assert [text[:5] for text in ann.sees()] == ["first", "secon", "third"][:sent]
        house.pass_by(ann, hours=1)
    await house.quiet()


async def crash_while_sending(house: House, ann: Person) -> None:
    """The message is shown, and the process that sent it dies before it hears so."""
    slow = Gate()
    house.platform.linger = lambda message: slow.enter()
    ann.says("plum")
    await slow.reached()
    await house.crash()
    house.platform.linger = None


@pytest.mark.req("DLV-6")
async def test_what_is_queued_at_a_crash_is_sent_after_the_restart_in_order(house_of: Open) -> None:
    house = await house_of(platform=THREE)
    ann = house.person()
    slow = Gate()

    async def linger(message: OutboundMessage) -> None:
        if len(house.platform.shown) == 2:
            await slow.enter()

    house.platform.linger = linger
    house.model.then(says(REPLY))
    ann.says("go")
    await slow.reached()
    await house.crash()
    house.platform.linger = None
    await house.start()
    await ann.gets("third")

    assert [text[:5] for text in ann.sees()][:3] == ["first", "secon", "third"]


@pytest.mark.req("DLV-1")
async def test_a_message_too_old_to_answer_is_said_to_be_so(house: House) -> None:
    ann = house.person()
    old = ann.says("old news", ago=timedelta(hours=2))
    shown = await ann.gets("is too old to answer now")
    await house.quiet()

    assert shown.message.reply_to == old.message_id
    assert old.sent_at.strftime("%H:%M UTC") in shown.text
    assert house.model.asked == []


@pytest.mark.req("DLV-6")
async def test_a_reply_that_waited_longer_than_the_age_limit_is_a_dead_letter(house: House) -> None:
    ann = house.person()
    house.platform.refuse = once(RateLimited(86_000), on="plum")
    ann.says("plum")
    await house.until("SELECT 1 FROM destinations WHERE paused_until > 0")
    house.clock.pass_by(days=2)
    await house.restart()
    await house.quiet()

    assert ann.sees() == []
    (row,) = await house.rows("SELECT state, error FROM outbox")
    assert tuple(row) == ("failed", "too old: it waited longer than 24 hours")


@pytest.mark.req("DLV-6", "OPS-9")
async def test_a_disk_that_is_full_for_a_while_loses_no_reply_and_repeats_none(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """C125b, for what was shown and could not be marked."""
    ann = house.person()
    slow = Gate()
    house.platform.linger = lambda message: slow.enter()
    ann.says("plum")
    await slow.reached()
    await house.until("SELECT 1 FROM turns WHERE state = 'done'")
    house.platform.linger = None
    write = house.database.write
    failed = asyncio.Event()

    def full(work: object) -> "asyncio.Future[object]":
        failing: asyncio.Future[object] = asyncio.get_running_loop().create_future()
        failing.set_exception(StoreUnavailable("the disk is full"))
        failed.set()
        return failing

    monkeypatch.setattr("gateway.delivery.sender.STORE_RETRY_S", 0.01)
    monkeypatch.setattr(house.database, "write", full)
    slow.open()
    await asyncio.wait_for(failed.wait(), 10)
    monkeypatch.setattr(house.database, "write", write)
    await house.quiet()
    ann.says("pear")
    await ann.gets("You said: pear")
    await house.quiet()

    assert [text.split("\n")[0] for text in ann.sees()] == ["You said: plum", "You said: pear"]
    assert set(await house.values("SELECT state FROM outbox")) == {"sent"}


@pytest.mark.req("OPS-5")
async def test_after_a_lost_connection_messages_flow_again_and_none_is_lost(house: House) -> None:
    ann = house.person()
    ann.says("before")
    await ann.gets("You said: before")
    house.platform.drop_connection()
    ann.says("during")
    await ann.gets("You said: during")

    assert house.platform.connections == 2
    assert house.model.questions == ["before", "during"]
