"""The simulated Telegram as the real python-telegram-bot sees it: keyboards and presses."""

import pytest
from telegram import InlineKeyboardButton, InlineKeyboardMarkup
from telegram.error import BadRequest

pytestmark = pytest.mark.req("ADP-10")


def keyboard(*rows):
    return InlineKeyboardMarkup([[InlineKeyboardButton(text, **what) for text, what in row] for row in rows])


CARD = keyboard(
    [("Once", {"callback_data": "pl1:once"}), ("Deny", {"callback_data": "pl1:deny"})],
    [("Docs", {"url": "https://example.org"})],
)


async def test_a_press_reaches_the_bot_and_is_answered_once(telegram_sim, bot, ada):
    await bot.send_message(ada.id, "May I?", reply_markup=CARD)
    [card] = telegram_sim.replies(ada)
    assert card.rows() == [["Once", "Deny"], ["Docs"]]
    press = telegram_sim.press(card, "Once")
    [update] = await bot.get_updates()
    query = update.callback_query
    assert (query.data, query.from_user.id, query.message.message_id) == ("pl1:once", ada.id, card.id)
    assert query.message.reply_markup == CARD
    await query.answer("done", show_alert=True)
    assert press.answer == {"text": "done", "show_alert": True}
    assert press.answered_at_s >= press.at_s
    with pytest.raises(
        BadRequest, match=r"(?i)query is too old and response timeout expired or query id is invalid"
    ):
        await query.answer()


async def test_an_expired_or_unknown_press_cannot_be_answered(telegram_sim, bot, ada):
    await bot.send_message(ada.id, "May I?", reply_markup=CARD)
    press = telegram_sim.press(telegram_sim.replies(ada)[0], 1)
    press.is_expired = True
    for query_id in (press.id, "12345"):
        with pytest.raises(BadRequest, match=r"(?i)query is too old"):
            await bot.answer_callback_query(query_id)


async def test_an_old_client_may_press_a_button_that_is_gone(telegram_sim, bot, ada):
    sent = await bot.send_message(ada.id, "May I?", reply_markup=CARD)
    await bot.edit_message_text("Denied.", ada.id, sent.message_id)
    [card] = telegram_sim.replies(ada)
    with pytest.raises(LookupError):
        telegram_sim.press(card, "Once")
    telegram_sim.press_data(card, "pl1:once")
    [update] = await bot.get_updates()
    assert update.callback_query.data == "pl1:once"


async def test_in_a_group_anyone_may_press(telegram_sim, bot, ada):
    bob = telegram_sim.add_user(102, "Bob")
    group = telegram_sim.add_group("Team", [ada, bob])
    await bot.send_message(group.id, "May I?", reply_markup=CARD)
    telegram_sim.press(telegram_sim.replies(group)[0], "Deny", bob)
    [update] = await bot.get_updates()
    assert update.callback_query.from_user.id == bob.id


@pytest.mark.parametrize("data", ["x" * 65, "é" * 33])
async def test_callback_data_is_limited_in_bytes(bot, ada, data):
    await bot.send_message(ada.id, "fits", reply_markup=keyboard([("Go", {"callback_data": "é" * 32})]))
    with pytest.raises(BadRequest, match=r"(?i)button_data_invalid"):
        await bot.send_message(ada.id, "x", reply_markup=keyboard([("Go", {"callback_data": data})]))


async def test_a_button_needs_an_action_and_a_text(bot, ada):
    with pytest.raises(BadRequest, match=r"(?i)text buttons are unallowed"):
        await bot.send_message(ada.id, "x", reply_markup=keyboard([("Go", {})]))
    with pytest.raises(BadRequest, match=r"(?i)must be non-empty"):
        await bot.send_message(ada.id, "x", reply_markup=keyboard([(" ", {"callback_data": "go"})]))


async def test_a_keyboard_can_be_replaced_alone(telegram_sim, bot, ada):
    sent = await bot.send_message(ada.id, "May I?", reply_markup=CARD)
    await bot.edit_message_reply_markup(
        ada.id, sent.message_id, reply_markup=keyboard([("Sure?", {"callback_data": "sure"})])
    )
    [card] = telegram_sim.replies(ada)
    assert (card.text, card.rows()) == ("May I?", [["Sure?"]])


async def test_a_press_on_a_deleted_message_names_only_its_place(telegram_sim, bot, ada):
    await bot.send_message(ada.id, "May I?", reply_markup=CARD)
    [card] = telegram_sim.replies(ada)
    telegram_sim.people.delete(card)
    telegram_sim.press_data(card, "pl1:once")
    [update] = await bot.get_updates()
    assert not update.callback_query.message.is_accessible  # though the library makes a Message of it
