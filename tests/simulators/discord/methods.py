"""The REST interface: each route with the name under which calls are recorded and faults planned.

A method takes what was asked and returns what is answered, None for 204.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from . import interactions, sending
from .errors import ApiError, invalid_form
from .payloads import channel_payload, user_payload
from .records import PUBLIC_THREAD, Account, Channel, File, Message
from .world import World

HISTORY_LIMIT = 100

Json = Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request: the ids of its path, its query, its JSON body and its files."""

    world: World
    account: Account
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Any
    files: list[File] = field(default_factory=list)
    at_s: float
    gateway_url: str

    def channel(self) -> Channel:
        """The channel of the path."""
        return self.world.channel(self.account, self.number("channel"))

    def message(self) -> Message:
        """The message of the path."""
        channel = self.channel()
        sending.check_access(channel, writing=False)
        return self.world.message(channel, self.number("message"))

    def number(self, name: str) -> int:
        """An id of the path.

        Raises:
            ApiError: 50035, it is no snowflake.
        """
        text = self.path[name]
        if not text.isdecimal():
            raise invalid_form(f"{name}_id", "NUMBER_TYPE_COERCE", f'Value "{text}" is not snowflake.')
        return int(text)


def get_me(asked: Asked) -> Json:
    """The bot's own user."""
    return user_payload(asked.account.user) | {"verified": True, "mfa_enabled": False, "locale": "en-US"}


def get_application(asked: Asked) -> Json:
    """The bot's application."""
    flags = 1 << 18 if "message_content" in asked.account.privileged else 0
    return {
        "id": str(asked.account.application_id),
        "name": asked.account.user.display_name,
        "icon": None,
        "description": "",
        "bot_public": False,
        "bot_require_code_grant": False,
        "verify_key": "00",
        "owner": user_payload(asked.account.user),
        "team": None,
        "flags": flags,
        "interactions_endpoint_url": None,
        "integration_types_config": {},
    }


def get_gateway(asked: Asked) -> Json:
    """Where the gateway is."""
    limit = {"total": 1000, "remaining": 999, "reset_after": 86_400_000, "max_concurrency": 1}
    return {"url": asked.gateway_url, "shards": 1, "session_start_limit": limit}


def open_direct_channel(asked: Asked) -> Json:
    """The direct channel with a person."""
    user = asked.world.users.get(int(asked.body["recipient_id"]))
    if user is None or user.is_bot:
        raise ApiError(400, 50033, "Invalid Recipient(s)")
    return channel_payload(asked.world.direct_channel(asked.account, user))


def get_channel(asked: Asked) -> Json:
    """A channel."""
    channel = asked.channel()
    sending.check_access(channel, writing=False)
    return channel_payload(channel)


def create_message(asked: Asked) -> Json:
    """Send a message."""
    message = sending.create(asked.world, asked.account, asked.channel(), asked.body, asked.files, asked.at_s)
    return asked.world.message_json(message, with_nonce=True)


def edit_message(asked: Asked) -> Json:
    """Change a message."""
    return asked.world.message_json(sending.edit(asked.world, asked.account, asked.message(), asked.body))


def delete_message(asked: Asked) -> Json:
    """Delete a message of the bot's own."""
    message = asked.message()
    if message.author.id != asked.account.user.id:
        raise ApiError(403, 50013, "Missing Permissions")
    forget_message(asked.world, message)


def forget_message(world: World, message: Message) -> None:
    """Delete any message and tell the bots, who learn its ids only."""
    message.is_deleted = True
    channel = message.channel
    payload = {"id": str(message.id), "channel_id": str(channel.id)}
    if channel.guild is not None:
        payload["guild_id"] = str(channel.guild.id)
    for session in world.listeners(channel):
        session.dispatch("MESSAGE_DELETE", payload)
    world.changes.notify()


def get_message(asked: Asked) -> Json:
    """One message."""
    return asked.world.message_json(asked.message())


def list_messages(asked: Asked) -> Json:
    """Part of a channel's history, newest first: around, before or right after a message, or the newest."""
    channel = asked.channel()
    sending.check_access(channel, writing=False)
    limit = int(asked.query.get("limit", 50))
    if not 1 <= limit <= HISTORY_LIMIT:
        raise invalid_form("limit", "NUMBER_TYPE_MAX", "int value should be between 1 and 100.")
    shown = [one for one in channel.messages.values() if not one.is_deleted]
    if "around" in asked.query:
        middle = int(asked.query["around"])
        older = [one for one in shown if one.id <= middle][-(limit // 2 + 1) :]
        chosen = older + [one for one in shown if one.id > middle][: limit - len(older)]
    elif "after" in asked.query:
        chosen = [one for one in shown if one.id > int(asked.query["after"])][:limit]
    else:
        before = int(asked.query.get("before", 1 << 63))
        chosen = [one for one in shown if one.id < before][-limit:]
    return [asked.world.message_json(one) for one in reversed(chosen)]


def show_typing(asked: Asked) -> Json:
    """Show that the bot types."""
    channel = asked.channel()
    sending.check_access(channel, writing=True)
    channel.typing_at_s.append(asked.at_s)
    asked.world.changes.notify()


def add_reaction(asked: Asked) -> Json:
    """React to a message."""
    message = asked.message()
    if asked.path["emoji"] not in message.reactions:
        message.reactions.append(asked.path["emoji"])
    asked.world.changes.notify()


def remove_reaction(asked: Asked) -> Json:
    """Take a reaction back."""
    message = asked.message()
    message.reactions = [one for one in message.reactions if one != asked.path["emoji"]]
    asked.world.changes.notify()


def create_thread(asked: Asked) -> Json:
    """Open a thread, from a message or without."""
    parent = asked.channel()
    sending.check_access(parent, writing=True)
    name = str(asked.body.get("name", ""))
    if not 1 <= len(name) <= 100:
        raise invalid_form("name", "BASE_TYPE_BAD_LENGTH", "Must be between 1 and 100 in length.")
    root = asked.number("message") if "message" in asked.path else None
    return channel_payload(open_thread(asked.world, parent, name, asked.account.user, root))


def open_thread(world: World, parent: Channel, name: str, owner: Any, root: int | None = None) -> Channel:
    """Make a thread and tell the bots; one made from a message has that message's id."""
    if root is not None and root in world.channels:
        raise ApiError(400, 160004, "A thread has already been created for this message")
    thread = Channel(
        id=root or world.ids(), kind=PUBLIC_THREAD, name=name, guild=parent.guild, parent=parent, owner=owner
    )
    world.channels[thread.id] = thread
    assert parent.guild is not None
    parent.guild.channels[thread.id] = thread
    world.tell_channel(thread, "THREAD_CREATE")
    return thread


def put_commands(asked: Asked) -> Json:
    """Replace the application's commands."""
    _own_application(asked)
    return interactions.put_commands(asked.account, asked.world, asked.body)


def get_commands(asked: Asked) -> Json:
    """The application's commands."""
    _own_application(asked)
    return asked.account.commands


def respond(asked: Asked) -> Json:
    """Respond to an interaction."""
    interaction = interactions.respond(
        asked.world, asked.number("interaction"), asked.path["token"], asked.body, asked.at_s
    )
    if asked.query.get("with_response", "").lower() not in {"true", "1"}:
        return None
    return {"interaction": {"id": str(interaction.id), "type": interaction.kind}}


def follow_up(asked: Asked) -> Json:
    """Send a further message about an interaction."""
    return interactions.follow_up(
        asked.world, asked.number("application"), asked.path["token"], asked.body, asked.at_s
    )


def edit_original(asked: Asked) -> Json:
    """Change the first response."""
    return interactions.edit_original(
        asked.world, asked.number("application"), asked.path["token"], asked.body, asked.at_s
    )


def delete_original(asked: Asked) -> Json:
    """Delete the first response."""
    interactions.delete_original(asked.world, asked.number("application"), asked.path["token"], asked.at_s)


def _own_application(asked: Asked) -> None:
    if asked.number("application") != asked.account.application_id:
        raise ApiError(403, 20012, "You are not authorized to perform this action on this application")


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """A method's address. Those with a token of their own in the path need no other."""

    verb: str
    path: str
    name: str
    method: Callable[[Asked], Json]
    is_open: bool = False


_MESSAGES = "/channels/{channel}/messages"
_ONE = _MESSAGES + "/{message}"
_REACTION = _ONE + "/reactions/{emoji}/@me"
_HOOK = "/webhooks/{application}/{token}"
_COMMANDS = "/applications/{application}/commands"

ROUTES = (
    Route(verb="GET", path="/users/@me", name="getMe", method=get_me),
    Route(verb="GET", path="/oauth2/applications/@me", name="getApplication", method=get_application),
    Route(verb="GET", path="/gateway/bot", name="getGateway", method=get_gateway),
    Route(verb="POST", path="/users/@me/channels", name="openDM", method=open_direct_channel),
    Route(verb="GET", path="/channels/{channel}", name="getChannel", method=get_channel),
    Route(verb="POST", path=_MESSAGES, name="createMessage", method=create_message),
    Route(verb="GET", path=_MESSAGES, name="listMessages", method=list_messages),
    Route(verb="GET", path=_ONE, name="getMessage", method=get_message),
    Route(verb="PATCH", path=_ONE, name="editMessage", method=edit_message),
    Route(verb="DELETE", path=_ONE, name="deleteMessage", method=delete_message),
    Route(verb="POST", path="/channels/{channel}/typing", name="typing", method=show_typing),
    Route(verb="PUT", path=_REACTION, name="addReaction", method=add_reaction),
    Route(verb="DELETE", path=_REACTION, name="removeReaction", method=remove_reaction),
    Route(verb="POST", path="/channels/{channel}/threads", name="createThread", method=create_thread),
    Route(verb="POST", path=_ONE + "/threads", name="createThread", method=create_thread),
    Route(verb="PUT", path=_COMMANDS, name="putCommands", method=put_commands),
    Route(verb="GET", path=_COMMANDS, name="getCommands", method=get_commands),
    Route(
        verb="POST",
        path="/interactions/{interaction}/{token}/callback",
        name="respond",
        method=respond,
        is_open=True,
    ),
    Route(verb="POST", path=_HOOK, name="followUp", method=follow_up, is_open=True),
    Route(
        verb="PATCH",
        path=_HOOK + "/messages/@original",
        name="editOriginal",
        method=edit_original,
        is_open=True,
    ),
    Route(
        verb="DELETE",
        path=_HOOK + "/messages/@original",
        name="deleteOriginal",
        method=delete_original,
        is_open=True,
    ),
)
