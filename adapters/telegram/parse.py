"""What Telegram sends, as the gateway's values (pure: plain JSON in, no SDK).

Field names and rules: https://core.telegram.org/bots/api (9.3, read through python-telegram-bot 22.8).
What is nobody's message to the bot (service messages, stickers, a command for another bot) is None.

Stated rules:
- A topic of a forum is a thread. Its General topic, whose messages carry no thread id, is the thread "1". A
  `message_thread_id` without `is_topic_message` is a reply chain of an ordinary group and no thread.
- `/name@ThisBot` becomes `/name`; a leading mention of the bot is an address and is cut off, unless nothing
  else is said.
- Who writes as a channel or as an anonymous administrator is known by that chat's id alone.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal

from gateway.messages import Attachment, ButtonPress, ChatMoved, InboundMessage, MessageEdited, Update
from gateway.source import ChatKind, SessionSource

GENERAL_TOPIC = "1"

ALLOWED_UPDATES = ("message", "edited_message", "channel_post", "edited_channel_post", "callback_query")

Json = Mapping[str, Any]

_COMMAND = re.compile(r"/(\w+)(?:@(\w+))?", re.ASCII)
_AFTER_MENTION = re.compile(r"\A[\s,:]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the bot is: its numeric id and its username without @."""

    id: str
    username: str


def parse_update(raw: Json, bot: Identity) -> Update | None:
    """One update of `getUpdates`; None if it is nothing for the gateway.

    Raises:
        ValueError: it is not what the Bot API describes.
    """
    try:
        return _update(raw, bot)
    except (LookupError, TypeError, AttributeError, ArithmeticError, OSError) as error:  # OSError: a date
        raise ValueError(f"{type(error).__name__}: {error}") from error


def _update(raw: Json, bot: Identity) -> Update | None:
    update_id = str(int(raw["update_id"]))
    for kind in ("message", "channel_post"):
        if "migrate_to_chat_id" in raw.get(kind, ()):
            return _move(raw[kind], update_id, bot)
        if kind in raw:
            return _message(raw[kind], update_id, bot)
    for kind in ("edited_message", "edited_channel_post"):
        if kind in raw:
            return _edit(raw[kind], update_id, bot)
    if "callback_query" in raw:
        return _press(raw["callback_query"], update_id, bot)
    return None


def _message(raw: Json, update_id: str, bot: Identity) -> InboundMessage | None:
    text, attachments = _text(raw, bot), _attachments(raw)
    if raw.get("is_automatic_forward") or text is None or not (text or attachments):
        return None
    return InboundMessage(
        id=update_id,
        message_id=str(raw["message_id"]),
        source=_source(raw, bot),
        text=text,
        sent_at=datetime.fromtimestamp(raw["date"], UTC),
        attachments=attachments,
        reply_to=_reply_to(raw),
        mentions_bot=_mentions(raw, bot),
        from_bot=bool(_author(raw).get("is_bot")),
        group_id=raw.get("media_group_id"),
    )


def _move(raw: Json, update_id: str, bot: Identity) -> ChatMoved:
    """A group that became a supergroup: it has a new id, and its messages are counted anew."""
    return ChatMoved(id=update_id, source=_source(raw, bot), moved_to=str(raw["migrate_to_chat_id"]))


def _edit(raw: Json, update_id: str, bot: Identity) -> MessageEdited | None:
    text = _text(raw, bot)
    if raw.get("is_automatic_forward") or not text:
        return None
    return MessageEdited(id=update_id, message_id=str(raw["message_id"]), source=_source(raw, bot), text=text)


def _press(raw: Json, update_id: str, bot: Identity) -> ButtonPress | None:
    """A press; one on a game or below an inline message has no data or message and is not ours."""
    if "data" not in raw or "message" not in raw:
        return None
    place = _source(raw["message"], bot)
    presser = raw["from"]
    source = replace(place, user_id=str(presser["id"]), user_name=_name(presser))
    shown = str(raw["message"]["message_id"])
    return ButtonPress(id=update_id, source=source, token=str(raw["data"]), message_id=shown)


def _source(raw: Json, bot: Identity) -> SessionSource:
    chat, author = raw["chat"], _author(raw)
    thread_id = _thread_id(raw)
    return SessionSource(
        platform="telegram",
        account=bot.id,
        kind=_kind(chat, thread_id),
        chat_id=str(chat["id"]),
        thread_id=thread_id,
        user_id=str(author.get("id", "")),
        user_name=_name(author),
        chat_name=str(chat.get("title") or ""),
    )


def _kind(chat: Json, thread_id: str | None) -> ChatKind:
    match chat["type"]:
        case "private":
            return "dm"
        case "channel":
            return "channel"
        case _:
            return "group" if thread_id is None else "thread"


def _thread_id(raw: Json) -> str | None:
    if raw.get("is_topic_message"):
        return str(raw["message_thread_id"])
    return GENERAL_TOPIC if raw["chat"].get("is_forum") and raw["chat"]["type"] != "private" else None


def _author(raw: Json) -> Json:
    """Who speaks: the chat in whose name the message stands, else the person; a post may name neither."""
    author: Json = raw.get("sender_chat") or raw.get("from") or raw["chat"]
    return author


def _name(author: Json) -> str:
    if "title" in author:
        return str(author["title"])
    names = (author.get("first_name"), author.get("last_name"))
    return " ".join(str(name) for name in names if name) or str(author.get("username", ""))


def _text(raw: Json, bot: Identity) -> str | None:
    """The text or caption as the gateway reads it, "" if there is none; None for a command to another bot."""
    text: str = raw.get("text") or raw.get("caption") or ""
    said = _without_address(text, raw, bot)
    command = _COMMAND.match(said)
    if not command or not command[2]:
        return said
    if not _is_name(command[2], bot):
        return None
    return f"/{command[1]}{said[command.end() :]}"


def _without_address(text: str, raw: Json, bot: Identity) -> str:
    for entity in _entities(raw):
        if entity["offset"] == 0 and _names_bot(entity, text, bot) and entity["type"] != "bot_command":
            return _AFTER_MENTION.sub("", text[len(_covered(entity, text)) :], count=1) or text
    return text


def _mentions(raw: Json, bot: Identity) -> bool:
    text = raw.get("text") or raw.get("caption") or ""
    if any(_names_bot(entity, text, bot) for entity in _entities(raw)):
        return True
    # In a topic each message counts as an answer to its creation: one the bot opened is the bot's thread.
    answered = raw.get("reply_to_message", {}).get("from", {})
    return str(answered.get("id", "")) == bot.id


def _entities(raw: Json) -> tuple[Json, ...]:
    return tuple(raw.get("entities" if "text" in raw else "caption_entities", ()))


def _names_bot(entity: Json, text: str, bot: Identity) -> bool:
    match entity["type"]:
        case "mention":
            return _is_name(_covered(entity, text).removeprefix("@"), bot)
        case "text_mention":
            return str(entity["user"]["id"]) == bot.id
        case "bot_command":
            return _is_name(_covered(entity, text).partition("@")[2], bot)
        case _:
            return False


def _is_name(name: str, bot: Identity) -> bool:
    return bool(name) and name.casefold() == bot.username.casefold()


def _covered(entity: Json, text: str) -> str:
    """The text an entity covers; Telegram counts in UTF-16 units."""
    units = text.encode("utf-16-le")
    start = 2 * int(entity["offset"])
    return units[start : start + 2 * int(entity["length"])].decode("utf-16-le", "replace")


def _reply_to(raw: Json) -> str | None:
    answered = raw.get("reply_to_message")
    if not answered or "forum_topic_created" in answered:
        return None
    return str(answered["message_id"])


_FILES: tuple[tuple[str, Literal["audio", "video", "file"], str], ...] = (
    ("animation", "video", "video/mp4"),  # before document: an animation carries its file as both
    ("video", "video", "video/mp4"),
    ("video_note", "video", "video/mp4"),
    ("voice", "audio", "audio/ogg"),
    ("audio", "audio", "audio/mpeg"),
    ("document", "file", ""),
)


def _attachments(raw: Json) -> tuple[Attachment, ...]:
    """The file of a message, if any; a photo in its largest size."""
    if raw.get("photo"):
        largest = max(raw["photo"], key=lambda size: int(size["width"]) * int(size["height"]))
        return (_attachment(largest, "image", "image/jpeg"),)
    for field, kind, mime_type in _FILES:
        if field in raw:
            return (_attachment(raw[field], kind, mime_type),)
    return ()


def _attachment(raw: Json, kind: Literal["image", "audio", "video", "file"], mime_type: str) -> Attachment:
    given = str(raw.get("mime_type") or mime_type)
    return Attachment(
        kind="image" if kind == "file" and given.startswith("image/") else kind,
        ref=raw["file_id"],
        name=str(raw.get("file_name", "")),
        mime_type=given,
        size_bytes=raw.get("file_size"),
    )
