"""What Slack sends to an app, as JSON: events in their envelope, block actions, slash commands, messages.

Shapes: https://docs.slack.dev/reference/events and /reference/interaction-payloads (2026).
"""

from typing import Any

from .markup import EMOJI
from .records import Channel, Command, Message, Press, StoredFile, User

Json = dict[str, Any]

CHANNEL_TYPES = {"im": "im", "mpim": "mpim", "channel": "channel", "private": "group"}


def message_json(message: Message, url: str, *, with_metadata: bool = False) -> Json:
    """A message as `conversations.history` and events show it."""
    body: Json = {"type": "message", "user": message.user.id, "ts": message.ts, "text": message.text}
    body["team"] = message.user.team
    if message.client_msg_id:
        body["client_msg_id"] = message.client_msg_id
    if message.user.bot_id:
        body["bot_id"] = message.user.bot_id
        body["bot_profile"] = {"id": message.user.bot_id, "name": message.user.name, "deleted": False}
    if message.subtype:
        body["subtype"] = message.subtype
    if message.blocks:
        body["blocks"] = [dict(block) for block in message.blocks]
    if message.files:
        body["files"] = [file_json(file, url) for file in message.files]
    if message.edited_ts:
        body["edited"] = {"user": message.user.id, "ts": message.edited_ts}
    if message.thread_ts:
        body["thread_ts"] = message.thread_ts
        if message.is_reply:
            body["parent_user_id"] = message.channel.messages[message.thread_ts].user.id
        else:
            replies = [one for one in message.channel.messages.values() if one.thread_ts == message.ts]
            body["reply_count"] = len(replies) - 1
    if with_metadata and message.metadata:
        body["metadata"] = message.metadata
    return body


def rich_text(text: str, emoji: list[Json]) -> tuple[Json, ...]:
    """The block a client sends beside typed text; here in short: the text, then the emoji that occur in it."""
    elements: list[Json] = [{"type": "text", "text": text}] if text else []
    section = {"type": "rich_text_section", "elements": elements + emoji}
    return ({"type": "rich_text", "block_id": f"b{len(text)}", "elements": [section]},)


def plain_of(text: str) -> str:
    """Typed text without its emoji, for `rich_text`."""
    for emoji in EMOJI:
        text = text.replace(emoji, "")
    return text


def message_event(message: Message, url: str) -> Json:
    """A new message as a `message` event."""
    event = message_json(message, url) | _place(message.channel) | {"event_ts": message.ts}
    event.pop("reply_count", None)
    if message.thread_ts == message.ts:
        del event["thread_ts"]
    return event


def mention_event(message: Message, url: str) -> Json:
    """The same message as `app_mention`, its twin: without channel_type and subtype."""
    event = message_event(message, url) | {"type": "app_mention"}
    event.pop("channel_type", None)
    event.pop("subtype", None)
    return event


def changed_event(message: Message, before: Json, ts: str, url: str) -> Json:
    """`message_changed`: both states inside, `ts` of the event itself outside."""
    return {
        "type": "message",
        "subtype": "message_changed",
        "message": message_json(message, url) | {"source_team": message.user.team},
        "previous_message": before,
        "hidden": True,
        "ts": ts,
        "event_ts": ts,
        **_place(message.channel),
    }


def deleted_event(message: Message, before: Json, ts: str) -> Json:
    """`message_deleted`."""
    return {
        "type": "message",
        "subtype": "message_deleted",
        "previous_message": before,
        "deleted_ts": message.ts,
        "hidden": True,
        "ts": ts,
        "event_ts": ts,
        **_place(message.channel),
    }


def joined_event(channel: Channel, user: User, ts: str) -> Json:
    """`channel_join`, one of the subtypes that are no one's words."""
    return {
        "type": "message",
        "subtype": "channel_join",
        "user": user.id,
        "text": f"<@{user.id}> has joined the channel",
        "ts": ts,
        "event_ts": ts,
        **_place(channel),
    }


def event_envelope(event: Json, *, team: str, app_id: str, bot: str, event_id: str, time_s: int) -> Json:
    """An event as the Events API and Socket Mode carry it."""
    return {
        "token": "deprecated",
        "team_id": team,
        "api_app_id": app_id,
        "event": event,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": time_s,
        "authorizations": [
            {
                "enterprise_id": None,
                "team_id": team,
                "user_id": bot,
                "is_bot": True,
                "is_enterprise_install": False,
            }
        ],
        "is_ext_shared_channel": False,
    }


def press_json(press: Press, *, app_id: str, url: str, response_url: str) -> Json:
    """A pressed button as `block_actions`."""
    message = press.message
    container: Json = {
        "type": "message",
        "message_ts": message.ts,
        "channel_id": message.channel.id,
        "is_ephemeral": False,
    }
    if message.thread_ts:
        container["thread_ts"] = message.thread_ts
    return {
        "type": "block_actions",
        "user": _person(press.user),
        "api_app_id": app_id,
        "token": "deprecated",
        "container": container,
        "trigger_id": press.trigger_id,
        "team": {"id": press.user.team, "domain": "sim"},
        "enterprise": None,
        "is_enterprise_install": False,
        "channel": {"id": message.channel.id, "name": _name(message.channel)},
        "message": message_json(message, url),
        "response_url": response_url,
        "actions": [press.action],
    }


def command_form(command: Command, *, app_id: str, response_url: str) -> dict[str, str]:
    """A slash command: a form over HTTP, the same as JSON over a socket."""
    return {
        "token": "deprecated",
        "team_id": command.user.team,
        "team_domain": "sim",
        "channel_id": command.channel.id,
        "channel_name": _name(command.channel),
        "user_id": command.user.id,
        "user_name": command.user.handle,
        "command": command.name,
        "text": command.text,
        "api_app_id": app_id,
        "is_enterprise_install": "false",
        "response_url": response_url,
        "trigger_id": command.trigger_id,
    }


def user_json(user: User) -> Json:
    """A user object with the fields apps read most."""
    return {
        "id": user.id,
        "team_id": user.team,
        "name": user.handle,
        "real_name": user.name,
        "deleted": False,
        "is_bot": user.is_bot,
        "profile": {"real_name": user.name, "display_name": user.name, "team": user.team},
    }


def channel_json(channel: Channel, bot: str) -> Json:
    """A conversation object."""
    body: Json = {
        "id": channel.id,
        "is_channel": channel.kind == "channel",
        "is_group": channel.kind == "private",
        "is_im": channel.kind == "im",
        "is_mpim": channel.kind == "mpim",
        "is_private": channel.kind != "channel",
        "is_archived": channel.barred == "is_archived",
        "is_member": bot in channel.bots,
    }
    if channel.kind == "im":
        return body | {"user": next(iter(channel.members))}
    return body | {"name": channel.name, "name_normalized": channel.name}


def file_json(file: StoredFile, url: str) -> Json:
    """A file object; `url_private` wants the bot's token."""
    address = f"{url}/files-pri/{file.id}/{file.name}"
    return {
        "id": file.id,
        "name": file.name,
        "title": file.title or file.name,
        "mimetype": file.mime,
        "filetype": file.name.rpartition(".")[2],
        "size": len(file.content),
        "user": file.user,
        "mode": "hosted",
        "url_private": address,
        "url_private_download": address,
    }


def _place(channel: Channel) -> Json:
    return {"channel": channel.id, "channel_type": CHANNEL_TYPES[channel.kind]}


def _person(user: User) -> Json:
    return {"id": user.id, "username": user.handle, "name": user.handle, "team_id": user.team}


def _name(channel: Channel) -> str:
    names = {"im": "directmessage", "private": "privategroup"}
    return names.get(channel.kind, channel.name)
