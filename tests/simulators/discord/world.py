"""All that is in the simulated Discord, and who is told when something changes."""

import secrets
from base64 import urlsafe_b64encode
from typing import Any

from ..changes import Changes
from ..recorder import Recorder
from .errors import unauthorized, unknown
from .payloads import channel_payload, member_payload, message_payload
from .records import DM, Account, Channel, Guild, Interaction, Message, User
from .sessions import Session
from .snowflakes import Snowflakes

GUILDS, GUILD_MESSAGES, DIRECT_MESSAGES, MESSAGE_CONTENT = 1 << 0, 1 << 9, 1 << 12, 1 << 15
PRIVILEGED = {"members": 1 << 1, "presences": 1 << 8, "message_content": MESSAGE_CONTENT}

Json = dict[str, Any]


class World:
    """The platform's state; bots see it through `methods` and `Session`s, people act through `People`."""

    def __init__(self, recorder: Recorder, changes: Changes) -> None:
        self.recorder, self.changes = recorder, changes
        self.ids = Snowflakes()
        self.base = ""  # the server's address, known when it runs
        self.accounts: dict[str, Account] = {}
        self.users: dict[int, User] = {}
        self.guilds: dict[int, Guild] = {}
        self.channels: dict[int, Channel] = {}
        self.interactions: dict[str, Interaction] = {}  # by token
        self.sessions: dict[str, Session] = {}
        self.nonces: dict[tuple[int, str], Message] = {}

    def add_account(self, name: str) -> Account:
        """Make a bot; the first part of its token is its user id, as the platform has it."""
        user = User(id=self.ids(), username=name.lower(), display_name=name, is_bot=True)
        head = urlsafe_b64encode(str(user.id).encode()).decode().rstrip("=")
        token = f"{head}.{secrets.token_urlsafe(4)}.{secrets.token_urlsafe(28)}"
        account = Account(token=token, user=user, application_id=user.id)
        self.accounts[token] = account
        self.users[user.id] = user
        return account

    def account(self, authorization: str) -> Account:
        """The bot of an `Authorization` header.

        Raises:
            ApiError: 401.
        """
        kind, _, token = authorization.partition(" ")
        if kind != "Bot" or token not in self.accounts:
            raise unauthorized()
        return self.accounts[token]

    def direct_channel(self, account: Account, user: User) -> Channel:
        """The direct channel of a bot and a person, made when it is not there."""
        for channel in self.channels.values():
            if channel.kind == DM and channel.account == account.token and user.id in channel.members:
                return channel
        channel = Channel(id=self.ids(), kind=DM, account=account.token, members={user.id: user})
        self.channels[channel.id] = channel
        return channel

    def channel(self, account: Account, channel_id: int) -> Channel:
        """A channel as a bot may name it.

        Raises:
            ApiError: 404, also for another bot's direct channel.
        """
        channel = self.channels.get(channel_id)
        if channel is None or channel.account not in {None, account.token}:
            raise unknown("Channel")
        return channel

    def message(self, channel: Channel, message_id: int) -> Message:
        """A message that is there.

        Raises:
            ApiError: 404.
        """
        message = channel.messages.get(message_id)
        if message is None or message.is_deleted:
            raise unknown("Message")
        return message

    def post(self, channel: Channel, author: User, at_s: float, **fields: Any) -> Message:
        """Put a message into a channel and tell the bots. Fields are those of `Message`."""
        message = Message(
            id=self.ids(), channel=channel, author=author, at_s=at_s, sent_at=self.ids.now(), **fields
        )
        channel.messages[message.id] = message
        self.announce("MESSAGE_CREATE", message)
        return message

    def mentioned(self, message: Message) -> list[User]:
        """The users a message notified, in order."""
        return [self.users[int(ping)] for ping in message.pings if ping.isdigit() and int(ping) in self.users]

    def message_json(self, message: Message, *, with_nonce: bool = False) -> Json:
        """A message for the REST interface. A nonce is told when it is sent, never when it is fetched again."""
        payload = message_payload(message, self.base, self.mentioned(message))
        if with_nonce and message.nonce is not None:
            payload["nonce"] = message.nonce
        return payload

    def announce(self, event: str, message: Message) -> None:
        """Tell the bots of a channel of a new or changed message."""
        payload = self.message_json(message)
        if message.channel.guild is not None:
            payload["guild_id"] = str(message.channel.guild.id)
            if not message.is_webhook:
                payload["member"] = member_payload(message.author)
        for session in self.listeners(message.channel):
            told = payload
            if message.author.id == session.account.user.id:
                told = payload if message.nonce is None else payload | {"nonce": message.nonce}
            elif not reads_content(session, message):
                told = payload | {"content": "", "attachments": [], "embeds": [], "components": []}
            session.dispatch(event, told)
        self.changes.notify()

    def tell_guild(self, guild: Guild, event: str, payload: Json) -> None:
        """Tell the bots of a guild of something about it."""
        for session in self.sessions.values():
            if session.intents & GUILDS:
                session.dispatch(event, payload)
        self.changes.notify()

    def tell_channel(self, channel: Channel, event: str) -> None:
        """Tell the bots of a guild of one of its channels or threads."""
        assert channel.guild is not None
        self.tell_guild(channel.guild, event, channel_payload(channel))

    def listeners(self, channel: Channel) -> list[Session]:
        """The sessions that are told of messages in a channel."""
        wanted = DIRECT_MESSAGES if channel.kind == DM else GUILD_MESSAGES
        return [
            session
            for session in self.sessions.values()
            if session.intents & wanted
            and channel.account in {None, session.account.token}
            and not channel.is_hidden
        ]


def reads_content(session: Session, message: Message) -> bool:
    """Whether a session sees a message's content: with the intent, in direct chats, and where it is mentioned."""
    return bool(
        session.intents & MESSAGE_CONTENT
        or message.channel.kind == DM
        or str(session.account.user.id) in message.pings
    )
