"""What Slack sends, as the gateway's values (pure: plain JSON in, no SDK).

Field names and rules: https://docs.slack.dev/reference/events and /reference/interaction-payloads (2026).
What is nobody's message to the bot (its own messages, people who join, topics that change) is None.

Stated rules:
- A direct chat is `dm`, in a thread of it with that thread's id: each such thread is a conversation of its own.
  Every other place is a `group` at its top level and a `thread` inside one.
- A mention of the bot at the top level of a channel opens a thread: its source is the thread of that very
  message, where the answer goes and where what is said next belongs to the same conversation.
- A thread is the bot's own if its first message is the bot's or mentions it: there everything is addressed to
  the bot. In other people's threads it is addressed by mentions only.
- A leading mention of the bot is an address and is cut off, unless nothing else is said.
- The same text comes as `message` and as `app_mention` (twins, in either order): both give the same value.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from adapters.slack.readable import (
    Names,
    emoji_in,
    mentioned_channels,
    mentioned_users,
    readable,
    without_address,
)
from gateway.messages import Attachment, ButtonPress, InboundMessage, MessageDeleted, MessageEdited, Update
from gateway.source import ChatKind, SessionSource

Json = Mapping[str, Any]

_SAID = (None, "file_share", "thread_broadcast", "me_message", "bot_message")
_CHANGED = ("message_changed", "message_deleted")
_BUILT_IN_BOT = "USLACKBOT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the bot is: its user id, its bot id, its workspace."""

    id: str
    bot_id: str
    team: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What an event does not say itself.

    `own_thread`: whether the thread it stands in is the bot's own; None: it could not be found out now.
    """

    names: Names
    own_thread: bool | None = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What must be looked up to read an event well; of `threads` (channel, root) there is at most one."""

    users: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    threads: tuple[tuple[str, str], ...] = ()


def wanted_by(body: Json, bot: Identity) -> Wanted:
    """What to look up before `parse_event`; nothing for what it will not read.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is not what Slack describes.
    """
    event = body["event"]
    subtype = event.get("subtype")
    message = event.get("message") or event.get("previous_message") or event
    if not _concerns(body, event, bot) or subtype not in (*_SAID, *_CHANGED) or _is_own(message, bot):
        return Wanted()
    text = message.get("text") or ""
    channel, thread_ts = event["channel"], _thread_ts(message)
    asks_thread = (
        thread_ts is not None
        and subtype in _SAID
        and not _is_direct(event)
        and not _names_bot(text, bot)
        and message.get("parent_user_id") != bot.id
    )
    return Wanted(
        users=(mentioned_users(text) | {_author(message)}) - {bot.id, ""},
        channels=mentioned_channels(text) | (frozenset() if _is_direct(event) else {channel}),
        threads=((channel, thread_ts),) if asks_thread and thread_ts else (),
    )


def thread_below(body: Json, bot: Identity) -> tuple[tuple[str, str], bool] | None:
    """What a message at the top level of a channel says of the thread that may grow below it.

    The thread (channel, root), and whether it is the bot's own; None for all other events.
    """
    event = body["event"]
    if _is_direct(event) or event.get("subtype") not in _SAID or _thread_ts(event):
        return None
    is_own = _is_own(event, bot) or _names_bot(event.get("text") or "", bot)
    return (event["channel"], event["ts"]), is_own


def parse_event(body: Json, bot: Identity, known: Known) -> Update | None:
    """One event of the Events API; None if it is nothing for the gateway.

    Raises:
        KeyError, TypeError, ValueError, AttributeError: it is not what Slack describes.
    """
    event = body["event"]
    if not _concerns(body, event, bot):
        return None
    match event.get("subtype"):
        case "message_changed":
            return _changed(body, event, bot, known)
        case "message_deleted":
            return _deleted(body, event, event["previous_message"], bot, known)
        case subtype if subtype in _SAID:
            return _message(body, event, bot, known)
        case _:
            return None


def parse_press(payload: Json, bot: Identity, names: Names) -> ButtonPress | None:
    """A pressed button of a message (`block_actions`); None for anything else one can act on."""
    container, actions = payload["container"], payload["actions"]
    if payload["type"] != "block_actions" or container["type"] != "message" or actions[0]["type"] != "button":
        return None
    channel, user = payload["channel"]["id"], payload["user"]
    thread_ts = container.get("thread_ts") or payload.get("message", {}).get("thread_ts")
    if thread_ts == container["message_ts"]:  # the card is a root that has replies by now
        thread_ts = None
    return ButtonPress(
        id=str(payload["trigger_id"]),
        source=_source(
            bot,
            channel=channel,
            is_direct=channel.startswith("D"),
            thread_id=str(thread_ts) if thread_ts else None,
            user_id=str(user["id"]),
            user_name=names.users.get(user["id"]) or str(user.get("name") or user.get("username") or ""),
        ),
        token=str(actions[0].get("value") or actions[0]["action_id"]),
        message_id=str(container["message_ts"]),
    )


def parse_command(form: Json, bot: Identity, names: Names, command: str, now: datetime) -> InboundMessage:
    """A slash command: of ours (`command`) its words are the command, another keeps its name.

    Slack runs none in threads and shows none in the channel; there is no message to answer.
    """
    words = (form.get("text") or "").strip()
    if form["command"] != command:
        text = f"{form['command']} {words}".rstrip()
    else:
        text = "/" + (words.removeprefix("/") or "help")
    channel = form["channel_id"]
    return InboundMessage(
        id=str(form["trigger_id"]),
        message_id=str(form["trigger_id"]),
        source=_source(
            bot,
            channel=channel,
            is_direct=channel.startswith("D"),
            thread_id=None,
            user_id=str(form["user_id"]),
            user_name=names.users.get(form["user_id"]) or str(form.get("user_name", "")),
        ),
        text=readable(text, names),
        sent_at=now,
        mentions_bot=True,
    )


def _message(body: Json, event: Json, bot: Identity, known: Known) -> InboundMessage | None:
    written = event.get("text") or ""
    text = _text(event, bot, known)
    attachments = tuple(_attachment(file) for file in event.get("files", ()))
    if _is_own(event, bot) or not (text or attachments):
        return None
    addressed = _names_bot(written, bot) or event.get("parent_user_id") == bot.id
    return InboundMessage(
        id=_key(body, event["channel"], event["ts"]),
        message_id=str(event["ts"]),
        source=_place(event, event, bot, known),
        text=text,
        sent_at=datetime.fromtimestamp(float(event["ts"]), UTC),
        attachments=attachments,
        reply_to=_thread_ts(event) if event.get("parent_user_id") == bot.id else None,
        mentions_bot=addressed or bool(known.own_thread),
        from_bot=bool(event.get("bot_id")) or event.get("user") == _BUILT_IN_BOT,
    )


def _changed(body: Json, event: Json, bot: Identity, known: Known) -> Update | None:
    """An edit; a preview that Slack added or a count that changed is none, a tombstone is a deletion."""
    message, before = event["message"], event["previous_message"]
    if message.get("subtype") == "tombstone":
        return _deleted(body, event, before, bot, known)
    text = _text(message, bot, known)
    if _is_own(message, bot) or not message.get("edited") or not text or text == _text(before, bot, known):
        return None
    return MessageEdited(
        id=_key(body, event["channel"], message["ts"], message["edited"]["ts"]),
        message_id=str(message["ts"]),
        source=_place(event, before, bot, known),
        text=text,
    )


def _deleted(body: Json, event: Json, before: Json, bot: Identity, known: Known) -> MessageDeleted | None:
    if _is_own(before, bot) or before.get("subtype") not in _SAID:
        return None
    return MessageDeleted(
        id=_key(body, event["channel"], before["ts"], "deleted"),
        message_id=str(before["ts"]),
        source=_place(event, before, bot, known),
    )


def _place(event: Json, message: Json, bot: Identity, known: Known) -> SessionSource:
    """Where a message stands; `event` around it names the channel, `message` is as first said."""
    is_direct, thread_id = _is_direct(event), _thread_ts(message)
    if thread_id is None and not is_direct and _names_bot(message.get("text") or "", bot):
        thread_id = str(message["ts"])
    author, channel = _author(message), event["channel"]
    return _source(
        bot,
        channel=channel,
        is_direct=is_direct,
        thread_id=thread_id,
        user_id=author,
        user_name=known.names.users.get(author) or str(message.get("username") or ""),
        chat_name=known.names.channels.get(channel, ""),
    )


def _source(
    bot: Identity,
    *,
    channel: str,
    is_direct: bool,
    thread_id: str | None,
    user_id: str,
    user_name: str,
    chat_name: str = "",
) -> SessionSource:
    kind: ChatKind = "dm" if is_direct else "thread" if thread_id else "group"
    return SessionSource(
        platform="slack",
        account=bot.id,
        kind=kind,
        chat_id=str(channel),
        thread_id=thread_id,
        user_id=user_id,
        user_name=user_name,
        chat_name=chat_name,
    )


def _concerns(body: Json, event: Json, bot: Identity) -> bool:
    """Whether it is a message for this installation: one socket carries an app's events of all workspaces."""
    if event.get("type") not in {"message", "app_mention"}:
        return False
    installed = [one.get("user_id") for one in body.get("authorizations") or ()]
    return bot.id in installed or (not any(installed) and body["team_id"] == bot.team)


def _key(body: Json, channel: str, ts: str, change: str = "") -> str:
    return ":".join(part for part in (body["team_id"], channel, ts, change) if part)


def _is_direct(event: Json) -> bool:
    """Whether it stands in a direct chat; `app_mention` says no channel_type, but comes from none."""
    return bool(event.get("channel_type") == "im" or event["channel"].startswith("D"))


def _is_own(message: Json, bot: Identity) -> bool:
    return message.get("user") == bot.id or message.get("bot_id") == bot.bot_id


def _author(message: Json) -> str:
    return str(message.get("user") or message.get("bot_id") or "")


def _thread_ts(message: Json) -> str | None:
    """The thread's root, None for a message that is itself a root."""
    thread_ts = message.get("thread_ts")
    return str(thread_ts) if thread_ts and thread_ts != message["ts"] else None


def _names_bot(text: str, bot: Identity) -> bool:
    return f"<@{bot.id}>" in text or f"<@{bot.id}|" in text


def _text(message: Json, bot: Identity, known: Known) -> str:
    """What was said, and what was forwarded with it."""
    written = without_address(message.get("text") or "", bot.id)
    said = readable(written, known.names, emoji_in(message.get("blocks")))
    shared = [_shared(one, known) for one in message.get("attachments") or () if one.get("is_share")]
    return "\n\n".join(part for part in (said, *shared) if part)


def _shared(attachment: Json, known: Known) -> str:
    author = attachment.get("author_name") or ""
    text = readable(attachment.get("text") or attachment.get("fallback") or "", known.names)
    return f"{author}: {text}" if author and text else text


def _attachment(file: Json) -> Attachment:
    mime_type = str(file.get("mimetype") or "")
    family = mime_type.partition("/")[0]
    kind: Literal["image", "audio", "video", "file"] = "file"
    if family in {"image", "audio", "video"}:
        kind = family  # type: ignore[assignment] # narrowed by the set, which mypy does not see
    return Attachment(
        kind=kind,
        ref=str(file.get("url_private_download") or file.get("url_private") or file["id"]),
        name=str(file.get("name") or ""),
        mime_type=mime_type,
        size_bytes=file.get("size"),
    )
