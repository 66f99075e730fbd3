"""Native streaming: chat.startStream, appendStream, stopStream.

Rules: https://docs.slack.dev/reference/methods/chat.startStream and its siblings (2026). A stream stands in a
thread; in a channel it names its reader. Only while it is open it can be added to, only then not be updated.
"""

from typing import Any

from .blocks import MARKDOWN_LIMIT, check_blocks
from .errors import ApiError
from .params import Params
from .posting import own_message, read_author, read_metadata, thread_of
from .records import Message
from .world import Account, World, read

Json = dict[str, Any]


def start_stream(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`chat.startStream`."""
    channel = world.channel_to_write(account, params.required("channel"))
    params.required("thread_ts")
    thread_ts = thread_of(world, channel, params)
    if channel.kind != "im":
        for name in ("recipient_team_id", "recipient_user_id"):
            if not params.text(name):
                raise ApiError(f"missing_{name}")
    message = world.post(
        channel,
        account.user,
        at_s,
        blocks=_markdown(_text(params)),
        thread_ts=thread_ts,
        is_streaming=True,
        **read_author(account, params),
    )
    return {"channel": channel.id, "ts": message.ts}


def append_stream(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`chat.appendStream`."""
    message = _open_stream(world, account, params)
    if not params.text("markdown_text"):
        raise ApiError("no_text")
    _append(message, _text(params))
    world.changes.notify()
    return {"channel": message.channel.id, "ts": message.ts}


def stop_stream(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`chat.stopStream`: adds the last text, and blocks below it."""
    message = _open_stream(world, account, params)
    blocks = check_blocks(params.json("blocks", "invalid_blocks_format"))
    metadata = read_metadata(params)
    _append(message, _text(params))
    message.is_streaming = False
    message.metadata = metadata
    world.change(message, is_marked=False, blocks=message.blocks + blocks)
    return {"channel": message.channel.id, "ts": message.ts}


def _open_stream(world: World, account: Account, params: Params) -> Message:
    channel = world.channel_to_write(account, params.required("channel"))
    message = own_message(world, account, channel, params.required("ts"), "message_not_owned_by_app")
    if not message.is_streaming:
        raise ApiError("message_not_in_streaming_state")
    return message


def _text(params: Params) -> str:
    text = params.text("markdown_text")
    if len(text) > MARKDOWN_LIMIT:
        raise ApiError("msg_too_long")
    return text


def _append(message: Message, text: str) -> None:
    if text:
        written = "".join(block["text"] for block in message.blocks)
        message.blocks = _markdown(written + text)
        read(message, styled=True)


def _markdown(text: str) -> tuple[Json, ...]:
    return ({"type": "markdown", "text": text},) if text else ()
