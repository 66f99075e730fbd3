"""The Telegram adapter where it is more than the contract asks, against the simulator through the real library."""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest
import structlog.testing

from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.settings import TelegramSettings
from gateway.commands import HELP
from gateway.document import Document, parse, text_document
from gateway.errors import AccessRefused, ConnectionLost, MessageRejected, NotSent, OutcomeUnknown, TargetGone
from gateway.messages import Button, OutboundMessage, Target
from tests.contract.stages.base import RecordingInbox, Running
from tests.simulators.faults import Drop, Hold, Refuse
from tests.simulators.telegram import Chat, TelegramSimulator, User

pytestmark = pytest.mark.req("ADP-2")


@pytest.fixture
async def sim() -> AsyncIterator[TelegramSimulator]:
    async with TelegramSimulator() as sim:
        yield sim


@pytest.fixture
def ada(sim: TelegramSimulator) -> User:
    return sim.add_user(name="Ada")


@pytest.fixture
def inbox() -> RecordingInbox:
    return RecordingInbox()


def make(sim: TelegramSimulator, **settings: object) -> TelegramAdapter:
    given = {"token": sim.token, "api_base": sim.url, "poll_timeout_s": 5} | settings
    return TelegramAdapter(TelegramSettings(**given))


@pytest.fixture
async def running(sim: TelegramSimulator, inbox: RecordingInbox) -> AsyncIterator[Running]:
    """The adapter with its first poll open."""
    running = Running(make(sim), inbox)
    await running.start()
    await sim.wait_for(lambda: sim.calls("getUpdates"))
    yield running
    await running.stop()


def to(
    sim: TelegramSimulator, where: User | Chat, body: Document | str, **details: object
) -> OutboundMessage:
    thread = details.pop("thread", None)
    return OutboundMessage(
        target=Target(
            platform="telegram",
            account=str(sim.bot_id),
            chat_id=str(where.id),
            thread_id=None if thread is None else str(thread),
        ),
        body=text_document(body) if isinstance(body, str) else body,
        idem_key="k",
        **details,
    )


@pytest.mark.req("DLV-1")
async def test_an_offset_is_never_sent_before_its_update_is_stored(sim, ada, running, inbox):
    sim.say(ada, "one")
    await inbox.wait_message("one")
    sim.say(ada, "two")
    await inbox.wait_message("two")
    offsets = [call.params.get("offset") for call in sim.calls("getUpdates")]
    stored = {int(update.id) for update in inbox.received}
    assert all(offset is None or int(offset) - 1 in stored for offset in offsets)


@pytest.mark.req("DLV-1")
async def test_what_was_stored_but_not_confirmed_comes_again_with_the_same_id(sim, ada, running, inbox):
    sim.fail(Drop(), method="getUpdates")  # the poll that would confirm
    sim.say(ada, "one")
    with pytest.raises(ConnectionLost):
        await running.ended()
    await running.start()
    await inbox.wait_received(2)
    assert [(message.text, message.id) for message in inbox.messages] == [("one", inbox.messages[0].id)] * 2


async def test_an_update_that_cannot_be_read_is_logged_passed_over_and_confirmed(sim, ada, running, inbox):
    with structlog.testing.capture_logs() as logs:
        bad = sim.account.updates.append("message", {"message_id": 1, "chat": 5, "text": "x"})
        sim.say(ada, "after it")
        await inbox.wait_message("after it")
        await sim.wait_for(lambda: sim.calls("getUpdates")[-1].params.get("offset"))
    (log,) = [log for log in logs if log["event"] == "telegram.update_unreadable"]
    assert log["update_id"] == bad.id
    assert len(inbox.received) == 1


async def test_an_unknown_kind_of_update_blocks_nothing(sim, ada, running, inbox):
    sim.account.updates.append("message_from_the_future", {"x": 1})
    sim.say(ada, "hello")
    await inbox.wait_message("hello")


async def test_a_second_poller_is_named(sim, running):
    sim.fail(Refuse(status=409, text="Conflict: terminated by other getUpdates request"), method="getUpdates")
    sim.say(sim.add_user(), "wake the poll")
    with pytest.raises(ConnectionLost, match=f"another program polls as bot {sim.bot_id}"):
        await running.ended()


async def test_of_two_pollers_the_older_one_gives_way_and_the_newer_one_hears(sim, ada, running, inbox):
    newer_inbox = RecordingInbox()
    newer = Running(make(sim), newer_inbox)
    await newer.start()
    with pytest.raises(ConnectionLost, match="another program polls"):
        await running.ended()
    sim.say(ada, "who hears?")
    await newer_inbox.wait_message("who hears?")
    await newer.stop()
    assert inbox.received == []


async def test_a_webhook_left_over_is_removed_without_losing_what_waits(sim, ada, inbox):
    text = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook"
    sim.fail(Refuse(status=409, text=text), method="getUpdates")
    sim.say(ada, "hello")
    running = Running(make(sim), inbox)
    await running.start()
    await inbox.wait_message("hello")
    await running.stop()
    (call,) = sim.calls("deleteWebhook")
    assert not call.params.get("drop_pending_updates")


async def test_a_poll_that_is_never_answered_counts_as_a_lost_connection(sim, inbox):
    sim.fail(Hold(), method="getUpdates")
    running = Running(make(sim, poll_timeout_s=1, poll_margin_s=1), inbox)
    await running.start()
    with pytest.raises(ConnectionLost, match="did not answer"):
        await running.ended()


async def test_a_flooded_poll_waits_as_asked_and_goes_on(sim, ada, inbox):
    sim.flood(method="getUpdates", retry_after_s=1)
    sim.say(ada, "hello")
    running = Running(make(sim), inbox)
    await running.start()
    await inbox.wait_message("hello")
    await running.stop()


async def test_an_answer_in_flight_survives_the_loss_of_the_poll(sim, ada, running):
    sim.fail(Hold(name="slow"), method="sendMessage")
    sending = asyncio.create_task(running.adapter.send(to(sim, ada, "slow but sure")))
    await sim.wait_for(lambda: sim.calls("sendMessage"))
    sim.fail(Refuse(status=409, text="Conflict"), method="getUpdates")
    sim.say(ada, "wake the poll")
    with pytest.raises(ConnectionLost):
        await running.ended()
    sim.faults.release("slow")
    await sending
    assert [message.text for message in sim.replies(ada)] == ["slow but sure"]


async def test_a_message_can_be_sent_while_nothing_polls_and_leaves_no_pool_open(sim, ada):
    adapter = make(sim)
    await adapter.send(to(sim, ada, "alone"))
    assert [message.text for message in sim.replies(ada)] == ["alone"]
    assert adapter._sending._session is None


async def test_two_hundred_messages_at_once_all_arrive(sim, running):
    people = [sim.add_user() for _ in range(200)]
    await asyncio.gather(*(running.adapter.send(to(sim, person, "hi")) for person in people))
    assert all(len(sim.replies(person)) == 1 for person in people)


async def test_the_general_topic_is_named_for_typing_and_not_for_messages(sim, ada, running, inbox):
    forum = sim.add_forum("Forum", [ada])
    sim.say(forum, "in general", user=ada)
    source = (await inbox.wait_message("in general")).source
    assert (source.kind, source.thread_id) == ("thread", "1")
    await running.adapter.send(to(sim, forum, "answer", thread=source.thread_id))
    await running.adapter.show_typing(Target.of(source))
    assert "message_thread_id" not in sim.calls("sendMessage")[0].params
    assert int(sim.calls("sendChatAction")[0].params["message_thread_id"]) == 1
    assert not sim.refusals


async def test_a_thread_that_is_gone_is_a_rejected_message(sim, ada, running):
    forum = sim.add_forum("Forum", [ada])
    with pytest.raises(MessageRejected, match=r"(?i)thread not found"):
        await running.adapter.send(to(sim, forum, "anyone?", thread=999))


async def test_a_group_that_became_a_supergroup_names_its_new_id(sim, ada, running):
    group = sim.add_group("Friends", [ada])
    new = sim.people.migrate(group)
    with pytest.raises(TargetGone) as caught:
        await running.adapter.send(to(sim, group, "hello"))
    assert caught.value.moved_to == str(new.id)


async def test_a_lost_edit_can_be_repeated(sim, ada, running):
    receipt = await running.adapter.send(to(sim, ada, "before"))
    sim.lose_answer(method="editMessageText")
    with pytest.raises(OutcomeUnknown):
        await running.adapter.edit(receipt.message_id, to(sim, ada, "after"))
    await running.adapter.edit(receipt.message_id, to(sim, ada, "after"))
    assert [message.text for message in sim.replies(ada)] == ["after"]


async def test_an_edit_of_a_message_that_is_gone_is_rejected(sim, ada, running):
    with pytest.raises(MessageRejected):
        await running.adapter.edit("98765", to(sim, ada, "x"))


async def test_formatting_goes_as_entities_and_never_as_a_parse_mode(sim, ada, running):
    await running.adapter.send(to(sim, ada, parse("👋 **bold** and [a link](https://example.org)")))
    (call,) = sim.calls("sendMessage")
    assert "parse_mode" not in call.params
    shown = sim.replies(ada)[0]
    assert [(one.type, one.offset, one.length) for one in shown.entities] == [
        ("bold", 3, 4),
        ("text_link", 12, 6),
    ]


async def test_plain_means_no_entities(sim, ada, running):
    await running.adapter.send(to(sim, ada, parse("**bold**"), plain=True))
    assert (sim.replies(ada)[0].text, sim.replies(ada)[0].entities) == ("bold", ())


async def test_a_card_has_its_buttons_in_rows_and_no_link_preview(sim, ada, running):
    rows = (
        (
            Button(label="Once", token="pl1:a", style="good"),
            Button(label="Deny", token="pl1:b", style="danger"),
        ),
        (Button(label="Always", token="pl1:c"),),
    )
    await running.adapter.send(to(sim, ada, "see https://example.org", buttons=rows))
    shown = sim.replies(ada)[0]
    assert [[(one.text, one.callback_data) for one in row] for row in shown.buttons] == [
        [("Once", "pl1:a"), ("Deny", "pl1:b")],
        [("Always", "pl1:c")],
    ]
    assert shown.link_preview == {"is_disabled": True}


async def test_every_press_is_answered_even_with_nothing_to_say(sim, ada, running):
    await running.adapter.send(to(sim, ada, "May I?", buttons=((Button(label="Once", token="pl1:a"),),)))
    press = sim.press(sim.replies(ada)[0], "Once")
    await sim.wait_for(lambda: press.answered_at_s is not None)


async def test_an_answer_to_a_press_that_fails_disturbs_nothing(sim, ada, running, inbox):
    await running.adapter.send(to(sim, ada, "May I?", buttons=((Button(label="Once", token="pl1:a"),),)))
    sim.fail(Drop(), method="answerCallbackQuery")
    sim.press(sim.replies(ada)[0], "Once")
    await sim.wait_for(lambda: sim.calls("answerCallbackQuery"))
    sim.say(ada, "still there?")
    await inbox.wait_message("still there?")


async def test_a_slow_answer_to_a_press_does_not_hold_up_the_poll(sim, ada, running, inbox):
    await running.adapter.send(to(sim, ada, "May I?", buttons=((Button(label="Once", token="pl1:a"),),)))
    sim.fail(Hold(name="slow"), method="answerCallbackQuery")
    sim.press(sim.replies(ada)[0], "Once")
    await sim.wait_for(lambda: sim.calls("answerCallbackQuery"))
    sim.say(ada, "meanwhile")
    await inbox.wait_message("meanwhile")
    sim.faults.release("slow")


async def test_typing_that_fails_is_nobodys_trouble(sim, ada, running):
    sim.fail(Drop(), method="sendChatAction")
    await running.adapter.show_typing(Target(platform="telegram", account="7", chat_id=str(ada.id)))


async def test_a_token_that_is_none_is_refused_without_a_request(sim, inbox):
    with pytest.raises(AccessRefused, match="no bot's token"):
        await Running(make(sim, token="secret-without-colon"), inbox).start()
    assert not sim.calls("getMe")


async def test_a_server_that_is_not_there_is_named(sim, ada, inbox):
    adapter = make(sim, api_base="http://127.0.0.1:1")
    with pytest.raises(ConnectionLost, match=r"cannot reach Telegram at http://127\.0\.0\.1:1"):
        await Running(adapter, inbox).start()
    with pytest.raises(NotSent):
        await adapter.send(to(sim, ada, "hello"))


@pytest.mark.req("OPS-5")
async def test_no_log_and_no_repr_shows_the_token(sim, ada, inbox, caplog):
    caplog.set_level(logging.DEBUG)
    secret = sim.token.partition(":")[2]
    adapter = make(sim)
    running = Running(adapter, inbox)
    with structlog.testing.capture_logs() as logs:
        await running.start()
        sim.say(ada, "hello")
        await inbox.wait_message("hello")
        await adapter.send(to(sim, ada, "hi"))
        sim.fail(Drop(), method="sendMessage")
        with pytest.raises(OutcomeUnknown):
            await adapter.send(to(sim, ada, "lost"))
        sim.fail(Drop(), method="getUpdates")
        sim.say(ada, "wake the poll")
        with pytest.raises(ConnectionLost):
            await running.ended()
    assert any(record.name == "telegram.Bot" for record in caplog.records)
    assert secret not in caplog.text
    assert secret not in repr(logs)
    assert secret not in repr(adapter._bot)


@pytest.mark.req("DLV-5")
async def test_a_draft_is_shown_in_a_private_chat_and_is_gone_with_the_message(sim, ada, running):
    for text in ("Hel", "Hello **you**"):
        await running.adapter.stream(7, to(sim, ada, parse(text), growing=True))
    drafts = list(sim.chat(ada).drafts)
    assert [(draft.draft_id, draft.text) for draft in drafts] == [(7, "Hel"), (7, "Hello you")]
    assert [entity.type for entity in drafts[1].entities] == ["bold"]
    await running.adapter.send(to(sim, ada, "Hello you!"))
    assert sim.chat(ada).drafts == []
    assert [message.text for message in sim.replies(ada)] == ["Hello you!"]


@pytest.mark.req("DLV-5")
async def test_a_group_has_no_drafts_and_no_request_asks_for_one(sim, ada, running):
    with pytest.raises(MessageRejected):
        await running.adapter.stream(7, to(sim, sim.add_group("Friends", [ada]), "Hel"))
    assert not sim.calls("sendMessageDraft")


@pytest.mark.req("DLV-5")
async def test_a_server_that_knows_no_drafts_is_asked_once(sim, ada, running):
    sim.fail(Refuse(status=404, text="Not Found"), method="sendMessageDraft", times=9)
    with pytest.raises(NotSent):
        await running.adapter.stream(7, to(sim, ada, "Hel"))
    with pytest.raises(MessageRejected):
        await running.adapter.stream(7, to(sim, ada, "Hello"))
    assert len(sim.calls("sendMessageDraft")) == 1


@pytest.mark.req("DLV-9")
async def test_reactions_are_of_those_that_telegram_allows_and_replace_each_other(sim, ada, running):
    said = sim.say(ada, "hello")
    target = Target(platform="telegram", account=str(sim.bot_id), chat_id=str(ada.id))
    shown = []
    for reaction in ("seen", "done", "failed"):
        await running.adapter.react(target, str(said.id), reaction)
        shown.append(said.reactions)
    assert shown == [("👀",), ("👍",), ("👎",)]
    assert not sim.refusals


@pytest.mark.req("DLV-5")
def test_a_group_is_edited_more_rarely_than_a_private_chat(sim):
    able = make(sim).capabilities
    assert able.edit_gap_of is not None
    gaps = [
        able.edit_gap_of(Target(platform="telegram", account="1", chat_id=chat))
        for chat in ("111", "-100222")
    ]
    assert gaps == [1.0, 3.5]


async def test_people_see_a_menu_of_the_commands_that_there_are(sim, inbox):
    running = Running(make(sim), inbox)
    await running.start()
    await sim.wait_for(lambda: sim.account.commands)
    await running.stop()
    ((menu),) = sim.account.commands.values()
    assert [entry["command"] for entry in menu] == list(HELP)

    without = Running(make(sim, commands=False), inbox)
    await without.start()
    await sim.wait_for(lambda: not sim.account.commands)
    await without.stop()


async def test_a_menu_that_telegram_refuses_stops_nothing_and_is_tried_again(sim, ada, inbox):
    sim.fail(Refuse(status=400, text="Bad Request: BOT_COMMANDS_TOO_MUCH"), "setMyCommands")
    running = Running(make(sim), inbox)
    await running.start()
    await sim.wait_for(lambda: len(sim.calls("setMyCommands")) == 1)
    sim.say(ada, "hello")
    await inbox.wait_message("hello")
    await running.stop()
    await running.start()
    await sim.wait_for(lambda: sim.account.commands)
    await running.stop()
