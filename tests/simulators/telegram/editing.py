"""The Bot API methods that change messages: edits, deletion, reactions, answers to presses."""

from typing import Any

from .entities import read_caption, read_text
from .errors import bad_request
from .keyboards import read_keyboard
from .params import Params
from .payloads import message_payload
from .records import Keyboard, Message, Revision
from .text import FormattedText
from .world import Account, World

NOT_MODIFIED = (
    "message is not modified: specified new message content and reply markup are exactly the same "
    "as a current content and reply markup of the message"
)
TOO_OLD = "query is too old and response timeout expired or query ID is invalid"
# The emoji a bot may react with (Bot API, ReactionTypeEmoji, 2026); ✅ and ❌ are not among them.
_REACTION_LIST = """
👍 👎 ❤ 🔥 🥰 👏 😁 🤔 🤯 😱 🤬 😢 🎉 🤩 🤮 💩 🙏 👌 🕊 🤡 🥱 🥴 😍 🐳
❤\u200d🔥 🌚 🌭 💯 🤣 ⚡ 🍌 🏆 💔 🤨 😐 🍓 🍾 💋 🖕 😈 😴 😭 🤓 👻 👨\u200d💻 👀 🎃 🙈
😇 😨 🤝 ✍ 🤗 🫡 🎅 🎄 ☃ 💅 🤪 🗿 🆒 💘 🙉 🦄 😘 💊 🙊 😎 👾 🤷\u200d♂ 🤷 🤷\u200d♀
😡
"""
REACTIONS = frozenset(_REACTION_LIST.split())


def edit_message_text(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`editMessageText`; without reply_markup the keyboard goes away."""
    shown = read_text(world, params)
    keyboard = read_keyboard(params)
    message = _message_to_edit(world, account, params)
    if message.file is not None:
        raise bad_request("there is no text in the message to edit")
    return _apply(world, message, shown, keyboard or (), at_s)


def edit_message_caption(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`editMessageCaption`."""
    shown = read_caption(world, params)
    keyboard = read_keyboard(params)
    message = _message_to_edit(world, account, params)
    if message.file is None:
        raise bad_request("there is no caption in the message to edit")
    return _apply(world, message, shown, keyboard or (), at_s)


def edit_message_reply_markup(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`editMessageReplyMarkup`."""
    keyboard = read_keyboard(params)
    message = _message_to_edit(world, account, params)
    shown = FormattedText(text=message.text, entities=message.entities)
    return _apply(world, message, shown, keyboard or (), at_s)


def delete_message(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`deleteMessage`: the bot's own anywhere, any message in a private chat."""
    chat = world.chat_to_write(account, params.text("chat_id"))
    message = chat.messages.get(params.integer("message_id"))
    if message is None or message.is_deleted:
        raise bad_request("message to delete not found")
    if message.sender.id != account.user.id and chat.kind != "private":
        raise bad_request("message can't be deleted")
    message.is_deleted = True
    return True


def set_message_reaction(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`setMessageReaction`: at most one emoji per message for a bot, of a fixed list."""
    chat = world.chat_to_write(account, params.text("chat_id"))
    message = chat.messages.get(params.integer("message_id"))
    if message is None or message.is_deleted:
        raise bad_request("message to react not found")
    asked = params.json("reaction") or []
    if len(asked) > 1:
        raise bad_request("REACTIONS_TOO_MANY")
    for reaction in asked:
        emoji = str(reaction.get("emoji", "")).replace("\ufe0f", "")
        if reaction.get("type") != "emoji" or emoji not in REACTIONS:
            raise bad_request("REACTION_INVALID")
    message.reactions = tuple(reaction["emoji"] for reaction in asked)
    return True


def answer_callback_query(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`answerCallbackQuery`: once, and in time."""
    if len(params.text("text")) > 200:
        raise bad_request("MESSAGE_TOO_LONG")
    press = world.presses.get(params.text("callback_query_id"))
    if press is None or press.is_expired or press.answered_at_s is not None or press.account != account.token:
        raise bad_request(TOO_OLD)
    press.answered_at_s = at_s
    press.answer = {"text": params.text("text"), "show_alert": params.flag("show_alert")}
    return True


def _message_to_edit(world: World, account: Account, params: Params) -> Message:
    if params.text("inline_message_id"):
        raise bad_request("MESSAGE_ID_INVALID")
    chat = world.chat_to_write(account, params.text("chat_id"))
    if not params.integer("message_id"):
        raise bad_request("message identifier is not specified")
    return world.own_message(account, chat, params.integer("message_id"), "message to edit not found")


def _apply(world: World, message: Message, shown: FormattedText, keyboard: Keyboard, at_s: float) -> Any:
    if (shown.text, shown.entities, keyboard) == (message.text, message.entities, message.buttons):
        raise bad_request(NOT_MODIFIED)
    old = Revision(text=message.text, entities=message.entities, buttons=message.buttons, until_s=at_s)
    message.edits.append(old)
    message.text, message.entities, message.buttons = shown.text, shown.entities, keyboard
    message.edited_at = world.now()
    return message_payload(message)
