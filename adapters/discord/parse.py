"""What Discord's gateway sends, as the gateway's values (pure: plain JSON in, no SDK).

Field names and rules: https://docs.discord.com/developers/events/gateway-events and …/resources/message
(version 10, read 2026). A message fetched over REST is parsed by the same function.

Stated rules:
- What the bot itself wrote is nothing, nor is what is no message of anybody (joins, pins, previews of links).
- The bot is mentioned by its name, by the role that is its own, by an answer to one of its messages, and by
  every message in a thread it opened. `@everyone` names nobody.
- A leading mention of the bot is an address and is cut off, unless nothing else is said; further mentions of
  people are written as `@name`.
- A forwarded message is its text, said by who forwarded it.
- Edits by bots are nothing: nobody could tell them from a person's later on.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from adapters.discord.commands import ARGUMENT
from adapters.discord.places import Place, direct_place, parse_channel
from gateway.messages import Attachment, ButtonPress, InboundMessage, MessageDeleted, MessageEdited
from gateway.source import SessionSource

Json = Mapping[str, Any]

_SAID = frozenset({0, 19})  # message types: an ordinary one, a reply
_FORWARD = 1
_FILE_KINDS: dict[str, Literal["image", "audio", "video", "file"]] = {
    "image": "image",
    "audio": "audio",
    "video": "video",
}
_EPOCH_MS = 1_420_070_400_000

_MENTION = re.compile(r"<@!?(\d+)>")
_ADDRESS = re.compile(r"\A\s*<@(?:!|(&))?(\d+)>[\s,:]*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the bot is: its user id, and the ids of the roles that are its alone."""

    id: str
    roles: frozenset[str] = frozenset()


def parse_message(raw: Json, place: Place, bot: Identity) -> InboundMessage | None:
    """A message that was posted; None if it is nothing for the gateway.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is not what the API describes.
    """
    author = raw["author"]
    said, attachments = _content(raw), _attachments(raw)
    if str(author["id"]) == bot.id or raw["type"] not in _SAID or not (said or attachments):
        return None
    return InboundMessage(
        id=str(raw["id"]),
        message_id=str(raw["id"]),
        source=_source(raw, author, place, bot),
        text=_text(raw, said, bot),
        sent_at=_moment(raw["timestamp"]),
        attachments=attachments,
        reply_to=_reply_to(raw),
        mentions_bot=_mentions(raw, place, bot),
        from_bot=_is_bot(raw),
    )


def parse_edit(raw: Json, place: Place, bot: Identity) -> MessageEdited | None:
    """A change of a message; None if its text was not changed (a link's preview) or it is a bot's."""
    author = raw.get("author") or {}
    edited_at = raw.get("edited_timestamp")
    if not edited_at or not raw.get("content") or _is_bot(raw) or str(author["id"]) == bot.id:
        return None
    return MessageEdited(
        id=f"{raw['id']}:{edited_at}",
        message_id=str(raw["id"]),
        source=_source(raw, author, place, bot),
        text=_text(raw, raw["content"], bot),
    )


def parse_deletion(message_id: str, source: SessionSource) -> MessageDeleted:
    """The deletion of a message, of which Discord tells the id only."""
    return MessageDeleted(id=f"{message_id}:deleted", message_id=message_id, source=source)


def parse_interaction(raw: Json, bot: Identity) -> ButtonPress | InboundMessage | None:
    """A pressed button, or a called command as the text `/name argument`; None for what we never offer."""
    user = raw.get("user") or raw["member"]["user"]
    place = (
        parse_channel(raw["channel"], bot.id) if "channel" in raw else direct_place(str(raw["channel_id"]))
    )
    source = _source(raw, user, place, bot)
    data = raw.get("data") or {}
    match raw["type"]:
        case 3:
            return ButtonPress(id=str(raw["id"]), source=source, token=str(data["custom_id"]))
        case 2:
            return InboundMessage(
                id=str(raw["id"]),
                message_id=str(raw["id"]),
                source=source,
                text=command_text(data),
                sent_at=moment_of(int(raw["id"])),
                mentions_bot=True,
            )
        case _:
            return None


def command_text(data: Json) -> str:
    """A called command as a person would have typed it."""
    given = [str(one["value"]) for one in data.get("options") or () if one["name"] == ARGUMENT]
    return " ".join([f"/{data['name']}", *given])


def source_at(place: Place, bot: Identity) -> SessionSource:
    """A place where nobody is known to have spoken."""
    return _source({}, {}, place, bot)


def moment_of(snowflake: int) -> datetime:
    """When an id was made: https://docs.discord.com/developers/reference#snowflakes."""
    return datetime.fromtimestamp(((snowflake >> 22) + _EPOCH_MS) / 1000, UTC)


def snowflake_of(moment: datetime) -> int:
    """The smallest id of a moment."""
    return (round(moment.timestamp() * 1000) - _EPOCH_MS) << 22


def _source(raw: Json, author: Json, place: Place, bot: Identity) -> SessionSource:
    nick = (raw.get("member") or {}).get("nick")
    return SessionSource(
        platform="discord",
        account=bot.id,
        kind=place.kind,
        chat_id=place.chat_id,
        thread_id=place.thread_id,
        user_id=str(author.get("id", "")),
        user_name=str(nick or _name(author)),
        chat_name=place.name,
    )


def _name(user: Json) -> str:
    return str(user.get("global_name") or user.get("username") or "")


def _is_bot(raw: Json) -> bool:
    return bool(raw["author"].get("bot")) or "webhook_id" in raw


def _content(raw: Json) -> str:
    said = str(raw.get("content") or "")
    return said or "\n\n".join(str(one.get("content") or "") for one in _snapshots(raw)).strip()


def _snapshots(raw: Json) -> tuple[Json, ...]:
    return tuple(one["message"] for one in raw.get("message_snapshots") or ())


def _text(raw: Json, said: str, bot: Identity) -> str:
    address = _ADDRESS.match(said)
    if address and (address[2] in bot.roles if address[1] else address[2] == bot.id):
        said = said[address.end() :] or said
    names = {str(user["id"]): _name(user) for user in raw.get("mentions") or ()}
    return _MENTION.sub(lambda found: f"@{names[found[1]]}" if found[1] in names else found[0], said)


def _mentions(raw: Json, place: Place, bot: Identity) -> bool:
    answered = raw.get("referenced_message") or {}
    return (
        place.is_own
        or any(str(user["id"]) == bot.id for user in raw.get("mentions") or ())
        or any(str(role) in bot.roles for role in raw.get("mention_roles") or ())
        or str((answered.get("author") or {}).get("id")) == bot.id
    )


def _reply_to(raw: Json) -> str | None:
    reference = raw.get("message_reference") or {}
    answered = reference.get("message_id")
    return None if answered is None or reference.get("type") == _FORWARD else str(answered)


def _moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _attachments(raw: Json) -> tuple[Attachment, ...]:
    """The files of a message and of what it forwards; their addresses work for about a day."""
    files = [*(raw.get("attachments") or ())]
    for snapshot in _snapshots(raw):
        files += snapshot.get("attachments") or ()
    return tuple(_attachment(file) for file in files)


def _attachment(raw: Json) -> Attachment:
    mime_type = str(raw.get("content_type") or "")
    return Attachment(
        kind=_FILE_KINDS.get(mime_type.partition("/")[0], "file"),
        ref=raw["url"],
        name=str(raw.get("filename") or ""),
        mime_type=mime_type,
        size_bytes=raw.get("size"),
    )
