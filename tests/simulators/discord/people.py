"""What people do in the simulated Discord: write, edit, press, call commands. Bots hear of it by the gateway."""

import secrets
from typing import Any

from .mentions import pings_of
from .methods import forget_message, open_thread
from .payloads import guild_payload, interaction_payload
from .records import DEFAULT, REPLY, TEXT, Account, Channel, File, Guild, Interaction, Message, User
from .world import GUILDS, World

_OPTION_TYPES = {str: 3, int: 4, bool: 5}


class People:
    """Users and their doings in one world."""

    def __init__(self, world: World) -> None:
        self._world = world

    def add_user(self, user_id: int | None = None, name: str = "", *, is_bot: bool = False) -> User:
        """Make a person (or somebody else's bot)."""
        user_id = user_id or self._world.ids()
        name = name or f"User {user_id}"
        user = User(id=user_id, username=name.lower().replace(" ", "_"), display_name=name, is_bot=is_bot)
        self._world.users[user_id] = user
        return user

    def add_guild(self, name: str, members: list[User]) -> Guild:
        """Make a server with its first channel, "general"; every bot is in it, with a role of its own."""
        world = self._world
        guild = Guild(id=world.ids(), name=name, owner=members[0], members={one.id: one for one in members})
        guild.roles = [_bot_role(world.ids(), account) for account in world.accounts.values()]
        world.guilds[guild.id] = guild
        self._add_channel(guild, "general", TEXT)
        for session in world.sessions.values():
            if session.intents & GUILDS:
                session.dispatch("GUILD_CREATE", guild_payload(guild, session.account.user))
        return guild

    def add_channel(self, guild: Guild, name: str, kind: int = TEXT) -> Channel:
        """Make a further channel."""
        channel = self._add_channel(guild, name, kind)
        self._world.tell_channel(channel, "CHANNEL_CREATE")
        return channel

    def _add_channel(self, guild: Guild, name: str, kind: int) -> Channel:
        channel = Channel(id=self._world.ids(), kind=kind, name=name, guild=guild)
        guild.channels[channel.id] = self._world.channels[channel.id] = channel
        return channel

    def add_thread(self, parent: Channel, name: str, owner: User, root: Message | None = None) -> Channel:
        """Open a thread, from a message or without."""
        return open_thread(self._world, parent, name, owner, None if root is None else root.id)

    def say(
        self,
        channel: Channel,
        text: str,
        *,
        user: User,
        reply_to: Message | None = None,
        ping: bool = True,
        file: tuple[str, str, bytes] | None = None,
        claimed_bytes: int | None = None,
        forward: Message | None = None,
        kind: int | None = None,
        is_webhook: bool = False,
    ) -> Message:
        """Post a person's message.

        Args:
            channel: Where.
            text: The text, at most 4,000 characters as people may write; mentions as `<@id>`.
            user: Who.
            reply_to: The message answered; its author is notified if `ping`.
            ping: See `reply_to`.
            file: Name, MIME type and bytes.
            claimed_bytes: The size the platform shall state instead of the real one.
            forward: A message passed on; the text must be empty then.
            kind: Another message type than an ordinary one, such as a pin's notice.
            is_webhook: The message comes from a webhook of this name.
        """
        files: tuple[File, ...] = ()
        if file is not None:
            name, mime, content = file
            size = len(content) if claimed_bytes is None else claimed_bytes
            files = (File(id=self._world.ids(), name=name, mime=mime, content=content, size_bytes=size),)
        return self._world.post(
            channel,
            user,
            self._world.recorder.clock(),
            text=text,
            files=files,
            reference=reply_to,
            forwarded=forward,
            kind=kind if kind is not None else DEFAULT if reply_to is None else REPLY,
            pings=pings_of(text, None, reply_to if ping else None),
            is_webhook=is_webhook,
        )

    def edit(self, message: Message, text: str) -> None:
        """Change a person's message."""
        message.earlier.append(message.text)
        message.text, message.edited_at = text, self._world.ids.now()
        message.pings = pings_of(text, None, None)
        self._world.announce("MESSAGE_UPDATE", message)

    def unfurl(self, message: Message) -> None:
        """Show a link's preview below a message: an update without an edit."""
        self._world.announce("MESSAGE_UPDATE", message)

    def delete(self, message: Message) -> None:
        """Delete any message."""
        forget_message(self._world, message)

    def press(self, message: Message, custom_id: str, user: User) -> Interaction:
        """Press a button by its id, also one no longer shown; only the message's own bot hears it."""
        account = next(one for one in self._world.accounts.values() if one.user.id == message.author.id)
        data = {"custom_id": custom_id, "component_type": 2, "id": 2}
        return self._interact(account, 3, message.channel, user, data, message)

    def command(
        self, account: Account, channel: Channel, name: str, user: User, options: dict[str, Any]
    ) -> Interaction:
        """Call an application command.

        Raises:
            LookupError: it is not registered, or an option is not, or a required one is missing.
        """
        known = next((one for one in account.commands if one["name"] == name), None)
        if known is None:
            raise LookupError(f"no command {name!r} among {[one['name'] for one in account.commands]}")
        offered = {one["name"]: one for one in known.get("options") or []}
        missing = {one for one, option in offered.items() if option.get("required")} - options.keys()
        if missing or options.keys() - offered.keys():
            raise LookupError(f"{name} takes {list(offered)}, given {list(options)}")
        data = {"id": known["id"], "name": name, "type": 1} | (
            {
                "options": [
                    {"name": one, "type": _OPTION_TYPES[type(value)], "value": value}
                    for one, value in options.items()
                ]
            }
            if options
            else {}
        )
        return self._interact(account, 2, channel, user, data, None)

    def _interact(
        self,
        account: Account,
        kind: int,
        channel: Channel,
        user: User,
        data: dict[str, Any],
        message: Message | None,
    ) -> Interaction:
        world = self._world
        interaction = Interaction(
            id=world.ids(),
            token=secrets.token_urlsafe(60),
            account=account.token,
            kind=kind,
            user=user,
            channel=channel,
            at_s=world.recorder.clock(),
            data=data,
            message=message,
        )
        world.interactions[interaction.token] = interaction
        payload = interaction_payload(interaction, world.base)
        payload["application_id"] = str(account.application_id)
        for session in world.sessions.values():
            # An interaction is told to connected sessions only, and is not replayed when nobody answers in time.
            if session.account is account and session.connection is not None:
                session.dispatch("INTERACTION_CREATE", payload)
        world.changes.notify()
        return interaction


def _bot_role(role_id: int, account: Account) -> dict[str, Any]:
    return {
        "id": str(role_id),
        "name": account.user.display_name,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "position": 1,
        "permissions": "0",
        "managed": True,
        "mentionable": False,
        "flags": 0,
        "tags": {"bot_id": str(account.user.id)},
    }
