"""The simulated workspace's memory: who and what exists, and the one place where messages are made.

Methods (what apps ask) and people (what tests do) both work on a `World`; it knows no HTTP.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from time import time
from typing import Any

from ..changes import Changes
from ..recorder import Recorder
from .blocks import pinged_by, visible_blocks
from .deliveries import Deliveries, Kind
from .errors import ApiError
from .markup import pings, visible
from .payloads import changed_event, deleted_event, event_envelope, mention_event, message_event, message_json
from .records import Channel, Command, Message, Press, Revision, StoredFile, User

TEAM = "T0SIM00001"
SCOPES = (
    "app_mentions:read assistant:write channels:history channels:read chat:write commands files:read files:write "
    "groups:history groups:read im:history im:read im:write mpim:history mpim:read reactions:write users:read"
)


@dataclass(slots=True, kw_only=True, eq=False)
class Account:
    """One app as installed in one workspace: its bot, its tokens, what is on its way to it.

    `twins`: which events a mention in a channel brings, in this order. `request_url`: HTTP mode, if set.
    """

    user: User
    app_id: str
    token: str
    app_token: str
    signing_secret: str
    deliveries: Deliveries
    scopes: frozenset[str] = frozenset(SCOPES.split())
    twins: tuple[str, ...] = ("message", "app_mention")
    revoked: str | None = None  # the error that every call brings (token_revoked, account_inactive)
    request_url: str = ""
    tickets: set[str] = field(default_factory=set)


class World:
    """All state of one simulated Slack."""

    def __init__(self, recorder: Recorder, changes: Changes, now: Callable[[], float] = time) -> None:
        self.recorder, self.changes, self._now = recorder, changes, now
        self.url = ""  # the server's address, once it is known
        self.accounts: dict[str, Account] = {}  # by bot token
        self.users: dict[str, User] = {}
        self.channels: dict[str, Channel] = {}
        self.presses: dict[str, Press] = {}
        self.commands: dict[str, Command] = {}
        self.files: dict[str, StoredFile] = {}
        self.uploads: dict[str, tuple[str, bytes]] = {}  # by file id: name and bytes not yet completed
        self.announced: dict[str, int] = {}  # how many bytes such a file was said to have
        self.response_uses: Counter[str] = Counter()
        self.pings: Counter[str] = Counter()  # whom bots notified, by id or word
        self.ids = count(1)
        self._last_ts_us = 0

    def add_account(self, name: str, handle: str, team: str = TEAM) -> Account:
        """Install an app."""
        number = len(self.accounts) + 1
        user = User(
            id=f"U0BOT{number:05d}",
            team=team,
            name=name,
            handle=handle,
            is_bot=True,
            bot_id=f"B0BOT{number:05d}",
        )
        # Put together here, so that no scanner takes them for real ones in the source.
        token, app_token = (f"{head}-{number:012d}-{'simulated' * 3}" for head in ("xoxb", "xapp-1-A0SIM"))
        account = Account(
            user=user,
            app_id=f"A0SIM{number:05d}",
            token=token,
            app_token=app_token,
            signing_secret=f"{number:032x}",
            deliveries=Deliveries(self.recorder.clock, self.changes.notify),
        )
        self.users[user.id] = user
        self.accounts[token] = account
        return account

    def now(self) -> int:
        """Unix time in seconds."""
        return int(self._now())

    def new_ts(self) -> str:
        """The next message's `ts`: Unix time with microseconds, never the same twice."""
        self._last_ts_us = max(int(self._now() * 1_000_000), self._last_ts_us + 1)
        seconds, micros = divmod(self._last_ts_us, 1_000_000)
        return f"{seconds}.{micros:06d}"

    def direct_channel(self, account: Account, user: User) -> Channel:
        """The direct chat of a bot and a person, made when it is first needed."""
        name = f"D{account.user.id[5:]}{user.id[1:]}"
        if name not in self.channels:
            self.channels[name] = Channel(id=name, kind="im", members={user.id: user}, bots={account.user.id})
        return self.channels[name]

    def channel_of(self, account: Account, channel_id: str) -> Channel:
        """The conversation a bot named, if it may know of it; a person's id means the direct chat.

        Raises:
            ApiError: `channel_not_found`.
        """
        if channel_id in self.users and not self.users[channel_id].is_bot:
            return self.direct_channel(account, self.users[channel_id])
        channel = self.channels.get(channel_id)
        if channel is None or (channel.kind != "channel" and account.user.id not in channel.bots):
            raise ApiError("channel_not_found")
        return channel

    def channel_to_write(self, account: Account, channel_id: str) -> Channel:
        """The conversation a bot named, if it may write there.

        Raises:
            ApiError: `channel_not_found`, `not_in_channel`, `is_archived` or what else bars it.
        """
        channel = self.channel_of(account, channel_id)
        if channel.barred:
            raise ApiError(channel.barred)
        if account.user.id not in channel.bots:
            raise ApiError("not_in_channel")
        return channel

    def message_of(self, channel: Channel, ts: str, missing: str = "message_not_found") -> Message:
        """A message that is there.

        Raises:
            ApiError: `missing`.
        """
        message = channel.messages.get(ts)
        if message is None or message.is_deleted:
            raise ApiError(missing)
        return message

    def post(
        self, channel: Channel, user: User, at_s: float, *, styled: bool = True, **fields: Any
    ) -> Message:
        """Put a message into a channel and tell the apps there. Fields are those of `Message`."""
        message = Message(channel=channel, ts=self.new_ts(), user=user, at_s=at_s, **fields)
        read(message, styled=styled)
        channel.messages[message.ts] = message
        if message.is_reply:
            root = channel.messages[message.thread_ts or ""]
            root.thread_ts = root.ts
        if user.is_bot:
            self.pings.update(message.pings)
        self.announce(message)
        return message

    def announce(self, message: Message) -> None:
        """Tell the apps in a channel about a new message, its own app included."""
        for account in self.hearers(message.channel):
            mentioned = f"<@{account.user.id}>" in message.text and message.channel.kind != "im"
            kinds = account.twins if mentioned and not message.user.is_bot else ("message",)
            for kind in kinds:
                event = mention_event if kind == "app_mention" else message_event
                self.send_event(account, event(message, self.url))
        self.changes.notify()

    def change(self, message: Message, *, styled: bool = True, is_marked: bool = True, **fields: Any) -> None:
        """Change a message and tell the apps; `is_marked`: readers see that it was edited."""
        before = message_json(message, self.url)
        message.edits.append(Revision(shown=message.shown, until_s=self.recorder.clock()))
        for name, value in fields.items():
            setattr(message, name, value)
        if is_marked:
            message.edited_ts = self.new_ts()
        was_pinged = set(message.pings)
        read(message, styled=styled)
        if message.user.is_bot:
            self.pings.update(name for name in message.pings if name not in was_pinged)
        self.tell_changed(message, before)

    def tell_changed(self, message: Message, before: dict[str, Any]) -> None:
        """Send `message_changed`."""
        ts = self.new_ts()
        for account in self.hearers(message.channel):
            self.send_event(account, changed_event(message, before, ts, self.url))
        self.changes.notify()

    def remove(self, message: Message) -> None:
        """Delete a message and tell the apps; a root with replies leaves a tombstone, which is a change."""
        before = message_json(message, self.url)
        message.is_deleted = True
        has_replies = any(
            one.thread_ts == message.ts and one.is_reply and not one.is_deleted
            for one in message.channel.messages.values()
        )
        if has_replies:
            message.text, message.subtype, message.blocks = "This message was deleted.", "tombstone", ()
            self.tell_changed(message, before)
            return
        ts = self.new_ts()
        for account in self.hearers(message.channel):
            self.send_event(account, deleted_event(message, before, ts))
        self.changes.notify()

    def hearers(self, channel: Channel) -> list[Account]:
        """The apps that are in a channel."""
        return [account for account in self.accounts.values() if account.user.id in channel.bots]

    def send_event(self, account: Account, event: dict[str, Any]) -> None:
        """Put an event on its way to one app."""
        envelope = event_envelope(
            event,
            team=account.user.team,
            app_id=account.app_id,
            bot=account.user.id,
            event_id=f"Ev{next(self.ids):010d}",
            time_s=self.now(),
        )
        self.send(account, "events_api", envelope)

    def send(self, account: Account, kind: Kind, payload: dict[str, Any]) -> None:
        """Put anything on its way to one app."""
        account.deliveries.push(kind, payload)
        self.changes.notify()

    def account(self, token: str) -> Account:
        """The app of a bot token.

        Raises:
            ApiError: `not_authed`, `invalid_auth`, `not_allowed_token_type` or what the app was revoked with.
        """
        account = self.accounts.get(token)
        if account is None:
            if any(token == one.app_token for one in self.accounts.values()):
                raise ApiError("not_allowed_token_type")
            raise ApiError("invalid_auth" if token else "not_authed")
        if account.revoked:
            raise ApiError(account.revoked)
        return account


def read(message: Message, *, styled: bool) -> None:
    """Work out what a message shows and whom it notifies."""
    message.shown = visible_blocks(message.blocks) if message.user.is_bot and message.blocks else ""
    if not message.shown:
        message.shown = visible(message.text, styled=styled)
    # Of a message with blocks the text is shown in notifications only; whether tokens in it notify is not
    # documented, so they count.
    message.pings = tuple(dict.fromkeys((*pings(message.text), *pinged_by(message.blocks))))
