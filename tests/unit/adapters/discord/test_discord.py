"""The Discord adapter where it is more than the contract asks, against the simulator through the real library."""

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest

from adapters.discord.adapter import DiscordAdapter
from adapters.discord.settings import DiscordSettings
from gateway.document import text_document
from gateway.errors import (
    AccessRefused,
    ConnectionLost,
    MessageRejected,
    NotSent,
    OutcomeUnknown,
    RateLimited,
    StoreUnavailable,
    TargetGone,
)
from gateway.messages import (
    Button,
    InboundMessage,
    MessageDeleted,
    MessageEdited,
    OutboundFile,
    OutboundMessage,
    PressAnswer,
    Target,
)
from tests.contract.stages.base import RecordingInbox, Running
from tests.simulators.discord import Channel, DiscordSimulator, User
from tests.simulators.faults import Drop, Hold, Refuse

pytestmark = pytest.mark.req("ADP-3")

CARD = ((Button(label="Once", token="pl1:once"), Button(label="Deny", token="pl1:deny")),)


class KeepingInbox(RecordingInbox):
    """An inbox that was there before this process."""

    def __init__(self, seen: Mapping[str, str]) -> None:
        super().__init__()
        self._seen = seen

    async def last_seen(self) -> Mapping[str, str]:
        return self._seen


@pytest.fixture
def sim(discord_sim: DiscordSimulator) -> DiscordSimulator:
    return discord_sim


@pytest.fixture
def ada(sim: DiscordSimulator) -> User:
    return sim.add_user(name="Ada")


@pytest.fixture
def room(sim: DiscordSimulator, ada: User) -> Channel:
    return next(iter(sim.add_guild("Friends", [ada]).channels.values()))


@pytest.fixture
def inbox() -> RecordingInbox:
    return RecordingInbox()


def make(sim: DiscordSimulator, **settings: object) -> DiscordAdapter:
    return DiscordAdapter(DiscordSettings(**{"token": sim.token, "api_base": sim.api_base} | settings))


@pytest.fixture
async def running(sim: DiscordSimulator, inbox: RecordingInbox) -> AsyncIterator[Running]:
    running = Running(make(sim), inbox)
    await running.start()
    yield running
    await running.stop()


def to(sim: DiscordSimulator, where: User | Channel, text: str, **details: object) -> OutboundMessage:
    channel = sim.channel(where)
    target = Target(platform="discord", account=str(sim.bot_id), chat_id=str(channel.id))
    return OutboundMessage(
        target=target, body=text_document(text), idem_key=str(details.pop("key", "k")), **details
    )


def texts(inbox: RecordingInbox) -> list[str]:
    return [message.text for message in inbox.messages]


async def lose_session(sim: DiscordSimulator, running: Running) -> None:
    """End the run, and let its session be unknown to the platform."""
    sim.gateway.refused_handshakes = 1
    sim.gateway.interrupt()
    with pytest.raises(ConnectionLost):
        await running.ended()
    sim.gateway.refused_resumes = 1
    with pytest.raises(ConnectionLost):
        await running.start()


# Sessions.


async def test_a_cut_connection_is_resumed_within_the_run(sim, ada, running, inbox):
    for number in range(3):
        sim.gateway.interrupt()
        sim.say(ada, f"{number}")
        await inbox.wait_message(f"{number}")
    assert (texts(inbox), sim.gateway.identified_times, inbox.times_online) == (["0", "1", "2"], 1, 1)


async def test_a_request_to_reconnect_is_followed(sim, ada, running, inbox):
    sim.gateway.ask_to_reconnect()
    sim.say(ada, "meanwhile")
    await inbox.wait_message("meanwhile")
    assert sim.gateway.identified_times == 1


@pytest.mark.req("DLV-1")
async def test_a_session_is_taken_up_after_the_last_event_that_was_stored(sim, ada, running, inbox):
    sim.say(ada, "stored")
    await inbox.wait_message("stored")
    inbox.refusals.append(StoreUnavailable("full"))
    sim.say(ada, "refused")
    with pytest.raises(StoreUnavailable):
        await running.ended()
    sim.say(ada, "later")
    await running.start()
    await inbox.wait_message("later")
    assert texts(inbox) == ["stored", "refused", "later"]
    assert sim.gateway.identified_times == 1


async def test_connections_that_break_again_and_again_are_left_to_the_supervisor(sim, running):
    for _ in range(5):
        before = len(sim.calls("getMe")), _resumes(sim)
        sim.gateway.interrupt()
        await sim.wait_for(lambda before=before: _resumes(sim) > before[1])
    sim.gateway.interrupt()
    with pytest.raises(ConnectionLost, match="more than 5 times"):
        await running.ended()


def _resumes(sim: DiscordSimulator) -> int:
    return sum(session.resumed_times for session in sim.world.sessions.values())


@pytest.mark.req("OPS-5")
async def test_a_connection_that_only_answers_heartbeats_is_made_anew(sim, ada, inbox):
    """C118a."""
    sim.gateway.heartbeat_interval_s = 0.05
    running = Running(make(sim, silence_s=0.3), inbox)
    await running.start()
    sim.gateway.stall()
    sim.say(ada, "into the void")
    with pytest.raises(ConnectionLost, match=r"no event came for 0\.3 s"):
        await running.ended()
    await running.start()
    await inbox.wait_message("into the void")
    await running.stop()


@pytest.mark.req("OPS-5")
async def test_a_session_that_stays_silent_is_given_up(sim, inbox):
    running = Running(make(sim, silence_s=0.2), inbox)
    await running.start()
    for _ in range(2):
        with pytest.raises(ConnectionLost):
            await running.ended()
        await running.start()
    await running.stop()
    assert sim.gateway.identified_times > 1


# Back-fill.


@pytest.mark.req("DLV-1")
async def test_after_a_refused_resume_what_was_missed_is_fetched_in_order(sim, ada, room, running, inbox):
    sim.say(ada, "before")
    sim.say(room, "here before")
    await inbox.wait_received(2)
    await lose_session(sim, running)
    missed = [f"missed {number}" for number in range(150)]
    for text in missed:
        sim.say(ada, text)
    sim.say(room, "missed in the room")
    await running.start()
    sim.say(ada, "after")
    await inbox.wait_message("after")
    direct = [one.text for one in inbox.messages if one.source.kind == "dm"]
    assert direct == ["before", *missed, "after"]
    assert [one.text for one in inbox.messages if one.source.kind == "group"] == [
        "here before",
        "missed in the room",
    ]
    assert len({one.id for one in inbox.messages}) == len(inbox.messages)


@pytest.mark.req("DLV-1")
async def test_a_fetched_message_is_the_same_value_as_the_event(sim, ada, room, running, inbox):
    sim.say(room, "first")
    await inbox.wait_message("first")
    inbox.refusals.append(StoreUnavailable("full"))
    sim.say(room, f"<@{sim.bot_id}> look", file=("a.png", "image/png", b"x"))
    with pytest.raises(StoreUnavailable):
        await running.ended()
    sim.world.sessions.clear()
    with pytest.raises(ConnectionLost):
        await running.start()
    await running.start()
    message = await inbox.wait_message("look")
    assert inbox.refused[0] == (message,)


@pytest.mark.req("DLV-1")
async def test_after_a_restart_the_store_says_where_each_chat_stood(sim, ada, room):
    seen = sim.say(ada, "answered before")
    read = sim.say(room, "read before")
    sim.say(ada, "while away")
    sim.say(room, "here while away")
    thread = sim.add_thread(room, "aside")
    sim.say(thread, "a new thread")
    inbox = KeepingInbox({str(seen.channel.id): str(seen.id), str(room.id): str(read.id)})
    running = Running(make(sim), inbox)
    await running.start()
    await inbox.wait_received(3)
    await running.stop()
    assert sorted(texts(inbox)) == ["a new thread", "here while away", "while away"]
    kinds = {one.text: (one.source.kind, one.source.thread_id) for one in inbox.messages}
    assert kinds == {
        "while away": ("dm", None),
        "here while away": ("group", None),
        "a new thread": ("thread", str(thread.id)),
    }


async def test_an_archived_thread_is_still_known_as_a_thread(sim, ada, room):
    thread = sim.add_thread(room, "aside")
    seen = sim.say(thread, "answered before")
    sim.say(thread, "while away")
    thread.is_archived = True
    inbox = KeepingInbox({str(thread.id): str(seen.id)})
    running = Running(make(sim), inbox)
    await running.start()
    source = (await inbox.wait_message("while away")).source
    await running.stop()
    assert (source.kind, source.chat_id, source.thread_id) == ("thread", str(room.id), str(thread.id))


async def test_what_a_new_bot_finds_is_none_of_its_business(sim, ada, room):
    sim.say(room, "long ago")
    inbox = RecordingInbox()
    running = Running(make(sim), inbox)
    await running.start()
    sim.say(room, "now")
    await inbox.wait_message("now")
    await running.stop()
    assert texts(inbox) == ["now"]


async def test_a_channel_that_is_closed_or_limited_holds_up_no_other(sim, ada, room, running, inbox):
    other = sim.add_channel(room.guild, "other")
    for place in (ada, room, other):
        sim.say(place, "before")
    await inbox.wait_received(3)
    await lose_session(sim, running)
    for place in (ada, room, other):
        sim.say(place, "missed")
    sim.fail(Refuse(status=403, parameters={"code": 50001}), "listMessages", room)
    sim.flood(other, retry_after_s=0.05, method="listMessages")
    await running.start()
    await inbox.wait_received(5)
    assert texts(inbox).count("missed") == 2


# Edits and deletions.


@pytest.mark.req("ADP-7")
async def test_a_deletion_names_the_message_and_who_wrote_it(sim, ada, running, inbox):
    said = sim.say(ada, "oops")
    message = await inbox.wait_message("oops")
    sim.delete(said)
    assert (await inbox.wait_received(2))[1] == MessageDeleted(
        id=f"{message.id}:deleted", message_id=message.id, source=message.source
    )


@pytest.mark.req("ADP-7")
async def test_a_preview_is_no_edit(sim, ada, running, inbox):
    said = sim.say(ada, "see https://example.org")
    sim.people.unfurl(said)
    sim.edit(said, "see nothing")
    sim.say(ada, "end")
    await inbox.wait_message("end")
    assert [type(one) for one in inbox.received] == [InboundMessage, MessageEdited, InboundMessage]


@pytest.mark.req("ADP-6")
async def test_the_bots_own_messages_and_edits_bring_nothing(sim, ada, running, inbox):
    """C102b."""
    receipt = await running.adapter.send(to(sim, ada, "hello"))
    await running.adapter.edit(receipt.message_id, to(sim, ada, "hello again"))
    sim.say(ada, "end")
    await inbox.wait_message("end")
    assert len(inbox.received) == 1


# Threads.


@pytest.mark.req("ADP-6")
async def test_in_a_thread_of_its_own_the_bot_is_always_meant(sim, ada, room, running, inbox):
    bot = sim.account.user
    own, other = sim.add_thread(room, "mine", bot), sim.add_thread(room, "theirs", ada)
    sim.say(own, "for you")
    sim.say(other, "for us")
    await inbox.wait_received(2)
    assert [(one.text, one.mentions_bot) for one in inbox.messages] == [("for you", True), ("for us", False)]


async def test_a_thread_no_event_told_of_is_asked_about(sim, ada, room, inbox):
    thread = sim.add_thread(room, "old")
    thread.is_archived = True
    running = Running(make(sim), inbox)
    await running.start()
    sim.say(thread, "dug out")
    source = (await inbox.wait_message("dug out")).source
    await running.stop()
    assert (source.kind, source.chat_id, source.thread_id) == ("thread", str(room.id), str(thread.id))


# Buttons and commands.


@pytest.mark.req("APR-2")
async def test_a_button_from_before_a_restart_still_works(sim, ada, inbox):
    first = Running(make(sim), RecordingInbox())
    await first.start()
    await first.adapter.send(to(sim, ada, "may I?", buttons=CARD))
    await first.stop()
    second = Running(make(sim), inbox)
    await second.start()
    inbox.answers["pl1:once"] = PressAnswer(text="Allowed once.")
    pressed = sim.press(sim.replies(ada)[-1], "Once")
    await sim.wait_for(lambda: pressed.told)
    await second.stop()
    assert (pressed.told, inbox.received[0].token) == (["Allowed once."], "pl1:once")


@pytest.mark.req("APR-2")
async def test_a_press_that_needs_no_word_ends_the_waiting_mark(sim, ada, running, inbox):
    await running.adapter.send(to(sim, ada, "may I?", buttons=CARD))
    pressed = sim.press(sim.replies(ada)[-1], "Once")
    await sim.wait_for(lambda: pressed.callback)
    assert (pressed.callback, pressed.told) == (6, [])


class SlowInbox(RecordingInbox):
    """An inbox whose store takes as long as `gate` is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Event()

    async def receive(self, *updates):
        await self.gate.wait()
        return await super().receive(*updates)


@pytest.mark.req("APR-2")
async def test_while_the_store_is_slow_a_press_is_deferred_and_answered_later(sim, ada):
    inbox = SlowInbox()
    inbox.answers["pl1:once"] = PressAnswer(text="Allowed once.")
    running = Running(make(sim), inbox)
    await running.start()
    await running.adapter.send(to(sim, ada, "may I?", buttons=CARD))
    pressed = sim.press(sim.replies(ada)[-1], "Once")
    await sim.wait_for(lambda: sim.calls("putCommands"))
    called = sim.command(ada, "status")
    await sim.wait_for(lambda: pressed.callback and called.callback)
    assert (pressed.callback, called.callback, called.is_private) == (6, 5, True)
    inbox.gate.set()
    await sim.wait_for(lambda: pressed.told and called.told)
    await running.stop()
    assert (pressed.told, called.told, called.is_thinking) == (["Allowed once."], ["/status"], False)
    assert not sim.refusals


async def test_a_command_is_called_like_a_message_and_taken_privately(sim, ada, room, running, inbox):
    await sim.wait_for(lambda: sim.account.commands)
    called = sim.command(room, "deny", user=ada, argument="no need")
    message = await inbox.wait_message("/deny no need")
    await sim.wait_for(lambda: called.told)
    assert (message.source.kind, message.mentions_bot, message.source.user_id) == ("group", True, str(ada.id))
    assert (called.callback, called.told, sim.replies(room)) == (4, ["/deny no need"], [])
    await running.adapter.send(to(sim, room, "denied", reply_to=message.message_id))
    assert [one.text for one in sim.replies(room)] == ["denied"]


async def test_commands_are_registered_once_and_their_refusal_stops_nothing(sim, ada, inbox):
    sim.fail(Refuse(status=403, parameters={"code": 20012}), "putCommands")
    running = Running(make(sim), inbox)
    await running.start()
    await sim.wait_for(lambda: sim.calls("putCommands"))
    sim.say(ada, "hello")
    await inbox.wait_message("hello")
    await running.stop()
    assert sim.account.commands == []


# Sending.


@pytest.mark.req("DLV-7")
async def test_a_lost_answer_is_settled_by_the_message_that_comes_back(sim, ada, running):
    sim.lose_answer()
    message = to(sim, ada, "once only")
    with pytest.raises(OutcomeUnknown):
        await running.adapter.send(message)
    sim.say(ada, "marker")
    await running.inbox.wait_message("marker")
    found = await running.adapter.find_sent(message)
    assert found is not None
    assert [str(one.id) for one in sim.replies(ada)] == [found.message_id]


@pytest.mark.req("DLV-7")
async def test_the_same_key_twice_is_shown_once(sim, ada, running):
    first = await running.adapter.send(to(sim, ada, "once"))
    again = await running.adapter.send(to(sim, ada, "once"))
    assert (first, [one.text for one in sim.replies(ada)]) == (again, ["once"])


@pytest.mark.req("DLV-7")
async def test_after_a_restart_the_newest_message_tells_whether_it_was_shown(sim, ada):
    first = Running(make(sim), RecordingInbox())
    await first.start()
    shown = await first.adapter.send(to(sim, ada, "*shown*", buttons=CARD, key="a"))
    await first.stop()
    second = Running(make(sim), RecordingInbox())
    await second.start()
    find = second.adapter.find_sent
    assert await find(to(sim, ada, "*shown*", buttons=CARD, key="a")) == shown
    assert await find(to(sim, ada, "*shown*", key="a")) is None
    assert await find(to(sim, ada, "other", key="b")) is None
    await second.stop()


@pytest.mark.req("DLV-7", "ADP-8")
async def test_after_a_restart_a_file_is_known_by_its_caption_and_size(sim, ada):
    file = OutboundFile(name="notes.md", data=b"# Notes")
    first = Running(make(sim), RecordingInbox())
    await first.start()
    shown = await first.adapter.send_file(to(sim, ada, "here", file=file, key="a"))
    await first.stop()
    second = Running(make(sim), RecordingInbox())
    await second.start()
    find = second.adapter.find_sent
    assert await find(to(sim, ada, "here", file=file, key="a")) == shown
    assert await find(to(sim, ada, "here", file=OutboundFile(name="notes.md", data=b"#"), key="b")) is None
    assert await find(to(sim, ada, "here", key="c")) is None
    await second.stop()


@pytest.mark.req("ADP-8")
async def test_a_file_that_is_too_large_is_refused(sim, ada, running):
    size = running.adapter.capabilities.file_limit_bytes
    for extra in (0, 1):
        file = OutboundFile(name="big.bin", data=bytes(size + extra))
        if extra:
            with pytest.raises(MessageRejected):
                await running.adapter.send_file(to(sim, ada, "too big", file=file, key="b"))
        else:
            await running.adapter.send_file(to(sim, ada, "big", file=file, key="a"))
    assert [one.text for one in sim.replies(ada)] == ["big"]


async def test_nothing_is_tried_twice_by_itself(sim, ada, running):
    for status, error in ((500, OutcomeUnknown), (502, OutcomeUnknown), (503, OutcomeUnknown)):
        sim.fail(Refuse(status=status))
        with pytest.raises(error):
            await running.adapter.send(to(sim, ada, "x", key=str(status)))
    sim.fail(Drop())
    with pytest.raises(OutcomeUnknown):
        await running.adapter.send(to(sim, ada, "x"))
    assert len(sim.calls("createMessage")) == 4
    assert sim.replies(ada) == []


@pytest.mark.req("DLV-7")
async def test_an_answer_that_does_not_come_is_not_waited_for(sim, ada, inbox):
    running = Running(make(sim, send_timeout_s=1), inbox)
    await running.start()
    sim.fail(Hold())
    with pytest.raises(OutcomeUnknown):
        await running.adapter.send(to(sim, ada, "x"))
    await running.stop()


async def test_a_limit_that_is_used_up_is_told_before_discord_must(sim, ada, running):
    sim.limits.narrow("createMessage", 2, 60)
    for number in range(2):
        await running.adapter.send(to(sim, ada, f"{number}", key=f"{number}"))
    with pytest.raises(RateLimited) as caught:
        await running.adapter.send(to(sim, ada, "2", key="2"))
    assert 50 < caught.value.retry_after_s <= 60
    assert not sim.refusals
    bob = sim.add_user(name="Bob")
    await running.adapter.send(to(sim, bob, "another chat"))


async def test_a_limit_from_before_discord_is_waited_out_by_its_header(sim, ada, running):
    sim.fail(Refuse(status=429, retry_after_s=3, parameters={"via": False}))
    with pytest.raises(RateLimited) as caught:
        await running.adapter.send(to(sim, ada, "x"))
    assert caught.value.retry_after_s == 3


async def test_a_channel_that_is_not_there_is_gone_and_a_message_is_not(sim, ada, running):
    nowhere = to(sim, ada, "x")
    target = Target(platform="discord", account=str(sim.bot_id), chat_id="1")
    with pytest.raises(TargetGone):
        await running.adapter.send(OutboundMessage(target=target, body=nowhere.body, idem_key="n"))
    with pytest.raises(MessageRejected):
        await running.adapter.edit("1", nowhere)


async def test_nobody_is_pinged_by_what_a_model_writes(sim, ada, room, running):
    said = sim.say(room, "question")
    await running.adapter.send(to(sim, room, f"@everyone <@{ada.id}>", reply_to=str(said.id)))
    (reply,) = sim.replies(room)
    assert (reply.pings, reply.reference) == ((), said)


@pytest.mark.req("DLV-9")
async def test_typing_is_shown_where_the_answer_will_come(sim, ada, room, running):
    target = to(sim, room, "x").target
    await running.adapter.show_typing(target)
    room.is_hidden = True
    await running.adapter.show_typing(target)
    assert len(room.typing_at_s) == 1


async def test_before_it_is_connected_nothing_is_sent(sim, ada):
    with pytest.raises(NotSent):
        await make(sim).send(to(sim, ada, "x"))


async def test_a_request_under_way_is_answered_before_the_connection_closes(sim, ada, running):
    sim.fail(Hold(applied=True))
    sending = asyncio.create_task(running.adapter.send(to(sim, ada, "on its way")))
    await sim.wait_for(lambda: sim.replies(ada))
    running.inbox.refusals.append(StoreUnavailable("full"))
    sim.say(ada, "break")
    await running.inbox.until(lambda: running.inbox.refused)
    sim.faults.release()
    assert (await sending).message_id == str(sim.replies(ada)[0].id)
    with pytest.raises(StoreUnavailable):
        await running.ended()


# Accounts.


async def test_a_missing_intent_is_named_with_the_switch_that_mends_it(sim, inbox):
    sim.account.privileged.clear()
    with pytest.raises(AccessRefused, match=r"MESSAGE CONTENT INTENT at https://discord\.com/developers"):
        await Running(make(sim), inbox).start()


async def test_a_token_that_is_none_is_known_without_asking(sim, inbox):
    with pytest.raises(AccessRefused, match="no bot's token"):
        await make(sim, token="secret").run(inbox)
    assert sim.recorder.calls == []


@pytest.mark.req("ADP-5")
async def test_two_bots_in_one_process_hear_and_speak_each_for_itself(sim, ada, room):
    second = sim.add_bot("Second")
    inboxes = RecordingInbox(), RecordingInbox()
    adapters = make(sim), make(sim, token=second.token)
    both = [Running(adapter, inbox) for adapter, inbox in zip(adapters, inboxes, strict=True)]
    for running in both:
        await running.start()
    sim.say(sim.channel(ada, second), "only for the second")
    sim.say(room, "for both")
    for inbox in inboxes:
        await inbox.wait_message("for both")
    assert [texts(inbox) for inbox in inboxes] == [["for both"], ["only for the second", "for both"]]
    for running in both:
        await running.adapter.send(to(sim, room, running.adapter.account, key="same"))
    assert [one.text for one in sim.replies(room)] == [str(sim.bot_id), str(second.user.id)]
    for running in both:
        await running.stop()


@pytest.mark.req("ADP-5")
async def test_two_bots_with_different_addresses_are_refused(sim, running):
    async with DiscordSimulator() as other:
        with pytest.raises(AccessRefused, match=r"same discord\.api_base"):
            await make(other).run(RecordingInbox())


async def test_an_unreadable_event_is_passed_over(sim, ada, running, inbox):
    for session in sim.world.sessions.values():
        session.dispatch("MESSAGE_CREATE", {"id": "1", "channel_id": "2", "author": None, "type": 0})
    sim.say(ada, "still here")
    await inbox.wait_message("still here")
