"""The Web API methods that make and change messages: chat.postMessage, update, delete, postEphemeral."""

from typing import Any

from .blocks import MARKDOWN_LIMIT, check_blocks, visible_blocks
from .errors import ApiError
from .markup import normalize, visible
from .params import Params
from .payloads import message_json
from .records import Channel, Ephemeral, Message
from .world import Account, World

Json = dict[str, Any]

TEXT_LIMIT = 40_000
UPDATE_LIMIT_BYTES = 4_000
"""Of `text` in chat.update, counted in bytes once entities are in (https://docs.slack.dev/reference/methods/
chat.update says characters; GitLab's Duo for Slack found bytes, merge request 258898)."""


def post_message(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`chat.postMessage`."""
    channel = world.channel_to_write(account, params.required("channel"))
    content = read_content(params, TEXT_LIMIT)
    message = world.post(
        channel,
        account.user,
        at_s,
        styled=params.flag("mrkdwn", default=True),
        thread_ts=thread_of(world, channel, params),
        is_broadcast=params.flag("reply_broadcast"),
        subtype="thread_broadcast" if params.flag("reply_broadcast") else None,
        metadata=read_metadata(params),
        **read_author(account, params),
        **content,
    )
    _note_names(world, params, content["text"])
    return {"channel": channel.id, "ts": message.ts, "message": message_json(message, world.url)}


def update(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`chat.update`: with `text` alone the blocks go; with blocks readers do not see that it was edited."""
    channel = world.channel_to_write(account, params.required("channel"))
    message = own_message(world, account, channel, params.required("ts"), "cant_update_message")
    if message.is_streaming:
        raise ApiError("streaming_state_conflict")
    content = read_content(params, TEXT_LIMIT)
    if len(content["text"].encode()) > UPDATE_LIMIT_BYTES:
        raise ApiError("msg_too_long")
    if not content["text"] and not params.text("markdown_text"):
        content["text"] = message.text
    metadata = read_metadata(params)
    if metadata is not None:
        content["metadata"] = metadata
    world.change(message, is_marked=not content["blocks"], **content)
    _note_names(world, params, content["text"])
    return {
        "channel": channel.id,
        "ts": message.ts,
        "text": message.text,
        "message": message_json(message, world.url),
    }


def delete(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`chat.delete`: a bot may delete its own."""
    channel = world.channel_of(account, params.required("channel"))
    message = own_message(world, account, channel, params.required("ts"), "cant_delete_message")
    world.remove(message)
    return {"channel": channel.id, "ts": message.ts}


def post_ephemeral(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`chat.postEphemeral`: to one person who is in the channel."""
    channel = world.channel_to_write(account, params.required("channel"))
    user = params.required("user")
    if user not in channel.members:
        raise ApiError("user_not_in_channel")
    content = read_content(params, TEXT_LIMIT)
    shown = visible_blocks(content["blocks"]) or visible(
        content["text"], styled=params.flag("mrkdwn", default=True)
    )
    thread_ts = thread_of(world, channel, params)
    channel.ephemerals.append(Ephemeral(user=user, text=shown, thread_ts=thread_ts, at_s=at_s))
    return {"message_ts": world.new_ts()}


def read_content(params: Params, limit: int) -> Json:
    """Text and blocks, as fields of `Message`.

    Raises:
        ApiError: `no_text`, `msg_too_long`, `markdown_text_conflict`, or what the blocks bring.
    """
    blocks = check_blocks(params.json("blocks", "invalid_blocks_format"))
    markdown, text = params.text("markdown_text"), params.text("text")
    if markdown:
        if blocks or text:
            raise ApiError("markdown_text_conflict")
        if len(markdown) > MARKDOWN_LIMIT:
            raise ApiError("msg_too_long")
        blocks = ({"type": "markdown", "text": markdown},)
    if not blocks and not text.strip():
        raise ApiError("no_text")
    text = normalize(text)
    if len(text) > limit:
        raise ApiError("msg_too_long")
    return {"text": text, "blocks": blocks}


def read_metadata(params: Params) -> Json | None:
    """The metadata to keep with a message.

    Raises:
        ApiError: `invalid_metadata_format`.
    """
    metadata = params.json("metadata", "invalid_metadata_format")
    if metadata is None:
        return None
    if not isinstance(metadata, dict) or not isinstance(metadata.get("event_type"), str):
        raise ApiError("invalid_metadata_format")
    if not isinstance(metadata.get("event_payload"), dict):
        raise ApiError("invalid_metadata_format")
    return metadata


def read_author(account: Account, params: Params) -> Json:
    """The name and the picture asked for, as fields of `Message`.

    Raises:
        ApiError: `missing_scope`.
    """
    name, icon = params.text("username"), params.text("icon_emoji") or params.text("icon_url")
    if (name or icon) and "chat:write.customize" not in account.scopes:
        raise ApiError("missing_scope", needed="chat:write.customize")
    return {"shown_name": name or None, "shown_icon": icon or None}


def thread_of(world: World, channel: Channel, params: Params) -> str | None:
    """The root of the thread asked for; the ts of a reply means the thread that it stands in.

    Raises:
        ApiError: `invalid_thread_ts` for what is no message here.
    """
    ts = params.text("thread_ts")
    if not ts:
        return None
    root = channel.messages.get(ts)
    if root is None:
        raise ApiError("invalid_thread_ts")
    if root.is_reply:
        world.recorder.violations["thread_ts of a reply"] += 1
    return root.thread_ts or root.ts


def own_message(world: World, account: Account, channel: Channel, ts: str, foreign: str) -> Message:
    """A bot's own message.

    Raises:
        ApiError: `message_not_found`, or `foreign` because it is another's.
    """
    message = world.message_of(channel, ts)
    if message.user.id != account.user.id:
        raise ApiError(foreign)
    return message


def _note_names(world: World, params: Params, text: str) -> None:
    """With `link_names` or `parse=full` plain words notify as well."""
    if params.flag("link_names") or params.text("parse") == "full":
        world.pings.update(name for name in ("channel", "here", "everyone") if f"@{name}" in text)
