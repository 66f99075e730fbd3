"""The Web API methods that look things up: conversations, users."""

from typing import Any

from .errors import ApiError
from .params import Params
from .payloads import channel_json, message_json, user_json
from .records import Channel, Message
from .world import Account, World

Json = dict[str, Any]

PAGE = 100
PAGE_LIMIT = 999

HISTORY_SCOPES = {
    "im": "im:history",
    "mpim": "mpim:history",
    "channel": "channels:history",
    "private": "groups:history",
}


def history(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`conversations.history`: newest first, without the replies that stand in threads only."""
    channel = _channel(world, account, params)
    shown = [
        one
        for one in channel.messages.values()
        if not one.is_deleted and (not one.is_reply or one.is_broadcast)
    ]
    return _page(world, params, [one for one in reversed(shown) if _is_within(one, params)])


def replies(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`conversations.replies`: the root, then its replies, oldest first; the root also when out of range."""
    channel = _channel(world, account, params)
    ts = params.required("ts")
    named = channel.messages.get(ts)
    if named is None:
        raise ApiError("thread_not_found")
    root = channel.messages[named.thread_ts or ts]
    below = [one for one in channel.messages.values() if one.is_reply and one.thread_ts == root.ts]
    return _page(
        world, params, [root] + [one for one in below if not one.is_deleted and _is_within(one, params)]
    )


def info(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`conversations.info`."""
    return {"channel": channel_json(world.channel_of(account, params.required("channel")), account.user.id)}


def open_conversation(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`conversations.open`, for one person."""
    user = world.users.get(params.required("users"))
    if user is None:
        raise ApiError("user_not_found")
    return {"channel": {"id": world.direct_channel(account, user).id}}


def users_info(world: World, account: Account, params: Params, at_s: float) -> Json:
    """`users.info`."""
    user = world.users.get(params.required("user"))
    if user is None:
        raise ApiError("user_not_found")
    return {"user": user_json(user)}


def _channel(world: World, account: Account, params: Params) -> Channel:
    channel = world.channel_of(account, params.required("channel"))
    needed = HISTORY_SCOPES[channel.kind]
    if needed not in account.scopes:
        raise ApiError("missing_scope", needed=needed, provided=",".join(sorted(account.scopes)))
    if account.user.id not in channel.bots:
        raise ApiError("not_in_channel")
    return channel


def _is_within(message: Message, params: Params) -> bool:
    oldest, latest = params.text("oldest", "0"), params.text("latest")
    ts = float(message.ts)
    if params.flag("inclusive"):
        return ts >= float(oldest) and (not latest or ts <= float(latest))
    return ts > float(oldest) and (not latest or ts < float(latest))


def _page(world: World, params: Params, messages: list[Message]) -> Json:
    limit = min(params.integer("limit", PAGE), PAGE_LIMIT)
    start = params.integer("cursor", 0)
    page = messages[start : start + limit]
    has_more = len(messages) > start + limit
    with_metadata = params.flag("include_all_metadata")
    return {
        "messages": [message_json(one, world.url, with_metadata=with_metadata) for one in page],
        "has_more": has_more,
        "response_metadata": {"next_cursor": str(start + limit) if has_more else ""},
    }
