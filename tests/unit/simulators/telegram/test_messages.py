"""The simulated Telegram as the real python-telegram-bot sees it: sending, editing, deleting."""

import pytest
from telegram import LinkPreviewOptions, ReplyParameters
from telegram.constants import ReactionEmoji
from telegram.error import BadRequest, ChatMigrated, Forbidden

from tests.simulators.telegram.editing import REACTIONS

pytestmark = pytest.mark.req("ADP-10")


async def test_a_bot_hears_a_person_and_answers(telegram_sim, bot, ada):
    said = telegram_sim.say(ada, "hello")
    [update] = await bot.get_updates(timeout=5)
    assert (update.message.text, update.message.from_user.id, update.message.chat.type) == (
        "hello",
        101,
        "private",
    )
    sent = await bot.send_message(
        ada.id,
        "hi there",
        reply_parameters=ReplyParameters(said.id),
        link_preview_options=LinkPreviewOptions(is_disabled=True),
        disable_notification=True,
    )
    [shown] = telegram_sim.replies(ada)
    assert (shown.id, shown.text, shown.reply_to, shown.is_silent) == (
        sent.message_id,
        "hi there",
        said,
        True,
    )
    assert shown.link_preview == {"is_disabled": True}
    assert shown.at_s >= said.at_s
    assert not telegram_sim.refusals
    assert not telegram_sim.violations


async def test_a_text_of_4096_units_is_taken_and_one_more_is_too_long(telegram_sim, bot, ada):
    await bot.send_message(ada.id, "😀" * 2048)
    with pytest.raises(BadRequest, match=r"(?i)message is too long"):
        await bot.send_message(ada.id, "😀" * 2048 + "x")
    assert telegram_sim.refusals == {"Bad Request: message is too long": 1}


async def test_white_space_around_a_text_does_not_count_against_the_limit(telegram_sim, bot, ada):
    await bot.send_message(ada.id, " \n" + "x" * 4096 + "\n ")
    assert telegram_sim.replies(ada)[0].text == "x" * 4096


@pytest.mark.parametrize("text", [" \n ", "\u200b", "\u2800 "])
async def test_a_text_that_shows_nothing_is_refused(bot, ada, text):
    with pytest.raises(BadRequest, match=r"(?i)text must be non-empty"):
        await bot.send_message(ada.id, text)


async def test_an_empty_text_is_refused(bot, ada):
    with pytest.raises(BadRequest, match=r"(?i)message text is empty"):
        await bot.send_message(ada.id, "")


async def test_an_edit_keeps_the_earlier_text_and_drops_the_keyboard_that_is_not_sent_again(
    telegram_sim, bot, ada
):
    sent = await bot.send_message(ada.id, "one", reply_markup=keyboard())
    assert telegram_sim.replies(ada)[0].rows() == [["Go"]]
    await bot.edit_message_text("two", ada.id, sent.message_id)
    [shown] = telegram_sim.replies(ada)
    assert (shown.texts(), shown.rows()) == (["one", "two"], [])


def keyboard(text="Go", data="go"):
    return {"inline_keyboard": [[{"text": text, "callback_data": data}]]}


async def test_an_edit_that_changes_nothing_is_refused(bot, ada):
    sent = await bot.send_message(ada.id, "same")
    with pytest.raises(BadRequest, match=r"(?i)message is not modified"):
        await bot.edit_message_text("same ", ada.id, sent.message_id)
    with pytest.raises(BadRequest, match=r"(?i)message is not modified"):
        await bot.edit_message_reply_markup(ada.id, sent.message_id)


async def test_only_the_bots_own_messages_that_still_exist_can_be_edited(telegram_sim, bot, ada):
    said = telegram_sim.say(ada, "mine")
    with pytest.raises(BadRequest, match=r"(?i)message can't be edited"):
        await bot.edit_message_text("x", ada.id, said.id)
    sent = await bot.send_message(ada.id, "yours")
    telegram_sim.people.delete(telegram_sim.replies(ada)[0])
    with pytest.raises(BadRequest, match=r"(?i)message to edit not found"):
        await bot.edit_message_text("x", ada.id, sent.message_id)


async def test_a_deleted_message_is_shown_no_more_and_cannot_be_deleted_again(telegram_sim, bot, ada):
    sent = await bot.send_message(ada.id, "gone soon")
    assert await bot.delete_message(ada.id, sent.message_id)
    assert telegram_sim.messages(ada) == []
    with pytest.raises(BadRequest, match=r"(?i)message to delete not found"):
        await bot.delete_message(ada.id, sent.message_id)


async def test_an_answer_to_a_deleted_message_is_refused_unless_it_may_go_without(telegram_sim, bot, ada):
    said = telegram_sim.say(ada, "now you see me")
    telegram_sim.people.delete(said)
    with pytest.raises(BadRequest, match=r"(?i)message to be replied not found"):
        await bot.send_message(ada.id, "x", reply_parameters=ReplyParameters(said.id))
    await bot.send_message(
        ada.id, "y", reply_parameters=ReplyParameters(said.id, allow_sending_without_reply=True)
    )
    assert [(shown.text, shown.reply_to) for shown in telegram_sim.replies(ada)] == [("y", None)]


async def test_an_unknown_chat_is_not_found(bot):
    with pytest.raises(BadRequest, match=r"(?i)chat not found"):
        await bot.send_message(999, "x")


async def test_who_blocked_the_bot_gets_nothing_until_they_write_again(telegram_sim, bot, ada):
    telegram_sim.people.bar(telegram_sim.chat(ada))
    with pytest.raises(Forbidden, match="bot was blocked by the user"):
        await bot.send_message(ada.id, "x")
    [update] = await bot.get_updates()
    assert update.my_chat_member.new_chat_member.status == "kicked"
    telegram_sim.say(ada, "back again")
    await bot.send_message(ada.id, "welcome")


async def test_a_bot_cannot_write_first(telegram_sim, bot):
    telegram_sim.add_user(7, "Shy", has_started=False)
    with pytest.raises(Forbidden, match="can't initiate conversation"):
        await bot.send_message(7, "x")


async def test_an_upgraded_group_names_its_new_id(telegram_sim, bot, ada):
    group = telegram_sim.add_group("Team", [ada])
    upgraded = telegram_sim.people.migrate(group)
    with pytest.raises(ChatMigrated) as caught:
        await bot.send_message(group.id, "x")
    assert caught.value.new_chat_id == upgraded.id
    left, came = await bot.get_updates()
    assert (left.message.migrate_to_chat_id, came.message.migrate_from_chat_id) == (upgraded.id, group.id)


async def test_a_group_can_be_named_by_its_public_name(telegram_sim, bot, ada):
    telegram_sim.people.add_supergroup("Public", [ada], username="the_public")
    await bot.send_message("@the_public", "hello all")
    with pytest.raises(BadRequest, match=r"(?i)chat not found"):
        await bot.send_message("@nobody", "x")


async def test_reactions_are_of_the_platforms_list_only(telegram_sim, bot, ada):
    said = telegram_sim.say(ada, "nice")
    await bot.set_message_reaction(ada.id, said.id, "👀")
    assert said.reactions == ("👀",)
    for unknown in ("✅", "❌"):
        with pytest.raises(BadRequest, match=r"(?i)reaction_invalid"):
            await bot.set_message_reaction(ada.id, said.id, unknown)
    await bot.set_message_reaction(ada.id, said.id)
    assert said.reactions == ()


def test_the_reaction_list_is_the_one_the_library_knows():
    assert {emoji.value.replace("\ufe0f", "") for emoji in ReactionEmoji} == set(REACTIONS)


async def test_chat_actions_are_recorded_and_checked(telegram_sim, bot, ada):
    await bot.send_chat_action(ada.id, "typing")
    assert telegram_sim.chat(ada).actions == ["typing"]
    with pytest.raises(BadRequest, match=r"(?i)wrong parameter action"):
        await bot.send_chat_action(ada.id, "dancing")


async def test_drafts_stream_in_private_and_end_with_the_message(telegram_sim, bot, ada):
    await bot.send_message_draft(ada.id, 5, "par")
    await bot.send_message_draft(ada.id, 5, "partial")
    assert [draft.text for draft in telegram_sim.chat(ada).drafts] == ["par", "partial"]
    await bot.send_message(ada.id, "partial no more")
    assert telegram_sim.chat(ada).drafts == []
    group = telegram_sim.add_group("Team", [ada])
    with pytest.raises(BadRequest, match=r"(?i)private"):
        await bot.send_message_draft(group.id, 5, "x")


async def test_commands_are_kept_per_scope_and_checked(bot):
    await bot.set_my_commands([("new", "Start anew")])
    [command] = await bot.get_my_commands()
    assert (command.command, command.description) == ("new", "Start anew")
    with pytest.raises(BadRequest, match=r"(?i)bot_command_invalid"):
        await bot.set_my_commands([("New-one", "Start anew")])


async def test_the_bot_can_ask_about_chats_and_members(telegram_sim, bot, ada):
    group = telegram_sim.add_group("Team", [ada])
    assert (await bot.get_chat(group.id)).title == "Team"
    assert (await bot.get_chat_member(group.id, ada.id)).status == "member"
    telegram_sim.add_user(102, "Bob")
    assert (await bot.get_chat_member(group.id, 102)).status == "left"


async def test_two_bots_share_groups_and_have_private_chats_of_their_own(telegram_sim, bot, ada):
    second = telegram_sim.add_bot("Second", "second_sim_bot")
    telegram_sim.say(ada, "for the first only")
    telegram_sim.say(telegram_sim.add_group("Team", [ada]), "for both")
    assert [update.message.text for update in await bot.get_updates()] == ["for the first only", "for both"]
    assert [update.payload["text"] for update in second.updates.pending] == ["for both"]
