"""The simulated Telegram as the real python-telegram-bot sees it: updates by polling and webhook."""

import asyncio

import pytest
from aiohttp import web
from telegram import Bot
from telegram.error import BadRequest, Conflict
from telegram.ext import Application, MessageHandler, filters

from tests.simulators.server import LoopbackServer, make_app

pytestmark = pytest.mark.req("ADP-10")


def texts(updates):
    return [update.message.text for update in updates]


async def test_an_update_comes_again_until_a_higher_offset_confirms_it(telegram_sim, bot, ada):
    telegram_sim.say(ada, "one")
    telegram_sim.say(ada, "two")
    first = await bot.get_updates()
    assert texts(first) == texts(await bot.get_updates()) == ["one", "two"]
    assert texts(await bot.get_updates(offset=first[0].update_id + 1)) == ["two"]
    assert texts(await bot.get_updates()) == ["two"]
    assert await bot.get_updates(offset=first[1].update_id + 1) == ()
    assert await bot.get_updates(offset=0) == ()


async def test_a_negative_offset_keeps_only_the_newest(telegram_sim, bot, ada):
    for number in range(4):
        telegram_sim.say(ada, str(number))
    assert texts(await bot.get_updates(offset=-2)) == ["2", "3"]
    assert texts(await bot.get_updates()) == ["2", "3"]


async def test_a_limit_bounds_what_is_handed_out_not_what_is_kept(telegram_sim, bot, ada):
    for number in range(3):
        telegram_sim.say(ada, str(number))
    assert texts(await bot.get_updates(limit=2)) == ["0", "1"]
    assert texts(await bot.get_updates()) == ["0", "1", "2"]


async def test_a_long_poll_ends_as_soon_as_something_is_there(telegram_sim, bot, ada):
    poll = asyncio.create_task(bot.get_updates(timeout=30))
    await telegram_sim.wait_for(lambda: telegram_sim.calls("getUpdates"))
    telegram_sim.say(ada, "finally")
    assert texts(await poll) == ["finally"]


async def test_of_two_polls_the_older_one_fails(telegram_sim, bot, ada):
    older = asyncio.create_task(bot.get_updates(timeout=30))
    await telegram_sim.wait_for(lambda: telegram_sim.calls("getUpdates"))
    async with Bot(telegram_sim.token, base_url=telegram_sim.url + "/bot") as other:
        newer = asyncio.create_task(other.get_updates(timeout=30))
        with pytest.raises(Conflict, match="terminated by other getUpdates request"):
            await older
        telegram_sim.say(ada, "for the newer")
        assert texts(await newer) == ["for the newer"]


async def test_allowed_updates_count_from_then_on(telegram_sim, bot, ada):
    said = telegram_sim.say(ada, "before")
    await bot.get_updates(allowed_updates=["edited_message"])
    telegram_sim.say(ada, "unwanted")
    telegram_sim.edit(said, "changed")
    before, changed = await bot.get_updates()
    assert (before.message.text, changed.edited_message.text) == ("before", "changed")
    assert changed.edited_message.edit_date is not None


async def test_commands_mentions_and_links_are_marked(telegram_sim, bot, ada):
    telegram_sim.say(ada, "😀 /start@parley_sim_bot see https://example.org/a. and @ada")
    [update] = await bot.get_updates()
    assert [(one.type, text) for one, text in update.message.parse_entities().items()] == [
        ("bot_command", "/start@parley_sim_bot"),
        ("url", "https://example.org/a"),
        ("mention", "@ada"),
    ]


async def test_a_topic_has_its_thread_and_general_has_none(telegram_sim, bot, ada):
    forum = telegram_sim.add_forum("Forum", [ada])
    topic = telegram_sim.add_topic(forum, "Plans")
    await bot.get_updates(offset=-1)
    telegram_sim.say(forum, "in general")
    inside = telegram_sim.say(forum, "in plans", thread=topic.id)
    _created, general, plans = await bot.get_updates()
    assert general.message.message_thread_id is None
    assert (plans.message.message_thread_id, plans.message.is_topic_message) == (topic.id, True)
    # The platform's habit: what answers nothing "answers" the service message that opened the topic.
    assert plans.message.reply_to_message.forum_topic_created.name == "Plans"
    sent = await bot.send_message(forum.id, "hello", message_thread_id=topic.id)
    assert (sent.message_thread_id, sent.is_topic_message) == (topic.id, True)
    await bot.send_message(forum.id, "me too", reply_to_message_id=inside.id)
    assert [shown.thread for shown in telegram_sim.replies(forum)] == [topic.id, topic.id]


async def test_general_is_named_for_chat_actions_only(telegram_sim, bot, ada):
    forum = telegram_sim.add_forum("Forum", [ada])
    await bot.send_chat_action(forum.id, "typing", message_thread_id=1)
    with pytest.raises(BadRequest, match=r"(?i)message thread not found"):
        await bot.send_message(forum.id, "x", message_thread_id=1)


async def test_a_closed_topic_takes_no_messages(telegram_sim, bot, ada):
    forum = telegram_sim.add_forum("Forum", [ada])
    topic = telegram_sim.add_topic(forum, "Old")
    topic.is_closed = True
    with pytest.raises(BadRequest, match=r"(?i)topic_closed"):
        await bot.send_message(forum.id, "x", message_thread_id=topic.id)


async def test_a_reply_in_a_plain_supergroup_has_a_thread_id_but_is_no_topic_message(telegram_sim, bot, ada):
    group = telegram_sim.add_supergroup("Team", [ada])
    first = telegram_sim.say(group, "first")
    second = telegram_sim.say(group, "second", reply_to=first)
    telegram_sim.say(group, "third", reply_to=second)
    *_, third = await bot.get_updates()
    assert (third.message.message_thread_id, third.message.is_topic_message) == (first.id, None)
    assert third.message.reply_to_message.message_id == second.id
    assert third.message.reply_to_message.reply_to_message is None


async def test_under_privacy_mode_a_bot_hears_only_what_concerns_it(telegram_sim, bot, ada):
    telegram_sim.account.reads_all = False
    group = telegram_sim.add_group("Team", [ada])
    own = await bot.send_message(group.id, "here I am")
    telegram_sim.say(group, "chatter")
    telegram_sim.say(group, "hey @parley_sim_bot")
    telegram_sim.say(group, "/status")
    telegram_sim.say(group, "/status@other_bot")
    telegram_sim.say(group, "answer", reply_to=telegram_sim.chat(group).messages[own.message_id])
    assert texts(await bot.get_updates()) == ["hey @parley_sim_bot", "/status", "answer"]


async def test_a_message_can_be_delivered_twice_under_new_update_ids(telegram_sim, bot, ada):
    said = telegram_sim.say(ada, "once")
    telegram_sim.people.repeat_update(said)
    one, two = await bot.get_updates()
    assert one.message.message_id == two.message.message_id
    assert one.update_id != two.update_id


async def test_the_state_outlives_a_lost_server(telegram_sim, bot, ada):
    telegram_sim.say(ada, "kept")
    await telegram_sim.interrupt()
    assert texts(await bot.get_updates()) == ["kept"]


async def test_a_webhook_gets_updates_in_order_with_the_secret_until_it_takes_them(telegram_sim, bot, ada):
    taken = []

    async def receive(request):
        body = await request.json()
        taken.append((request.headers["X-Telegram-Bot-Api-Secret-Token"], body["message"]["text"]))
        telegram_sim.changes.notify()
        return web.Response(status=500 if len(taken) == 1 else 200)

    receiver = await LoopbackServer(make_app([web.post("/hook", receive)])).start()
    try:
        telegram_sim.say(ada, "one")
        await bot.set_webhook(receiver.url + "/hook", secret_token="s3cret")
        telegram_sim.say(ada, "two")
        await telegram_sim.wait_for(lambda: not telegram_sim.account.updates.pending)
        assert taken == [("s3cret", "one"), ("s3cret", "one"), ("s3cret", "two")]
        with pytest.raises(Conflict, match="webhook is active"):
            await bot.get_updates()
        assert (await bot.get_webhook_info()).url == receiver.url + "/hook"
        await bot.delete_webhook()
        assert await bot.get_updates() == ()
    finally:
        await receiver.stop()


async def test_a_webhook_must_be_an_address(bot):
    with pytest.raises(BadRequest, match=r"(?i)bad webhook"):
        await bot.set_webhook("ftp://example.org")


async def test_the_librarys_own_application_runs_on_it_unchanged(telegram_sim, ada):
    async def answer(update, _context):
        await update.message.reply_text(f"you said {update.message.text}")

    builder = Application.builder().token(telegram_sim.token).base_url(telegram_sim.url + "/bot")
    application = builder.base_file_url(telegram_sim.url + "/file/bot").build()
    application.add_handler(MessageHandler(filters.TEXT, answer))
    async with application:
        await application.updater.start_polling()
        await application.start()
        telegram_sim.say(ada, "hello")
        [reply] = await telegram_sim.wait_for_replies(ada, 1)
        await application.updater.stop()
        await application.stop()
    assert reply.text == "you said hello"
    assert not telegram_sim.refusals
