"""What the simulated Slack remembers: people, channels, messages, presses, commands, files.

These are the platform's own rows, changed by edits and deletions, hence not frozen.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

ChannelKind = Literal["im", "mpim", "channel", "private"]
"""A direct chat, one of several people, a public and a private channel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person or a bot; `handle` is the name in small letters, without @."""

    id: str
    team: str
    name: str
    handle: str
    is_bot: bool = False
    bot_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file's bytes under the id the platform gave it."""

    id: str
    name: str
    mime: str
    content: bytes
    user: str
    title: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What an edited message showed before."""

    shown: str
    until_s: float  # monotonic: when the edit arrived


@dataclass(slots=True, kw_only=True, eq=False)
class Message:
    """A message as it stands now; `text` is Slack's markup, `shown` what people read.

    `at_s` (monotonic) is when a person's message was made, or when a bot's request came.
    """

    channel: "Channel"
    ts: str
    user: User
    at_s: float
    text: str = ""
    blocks: tuple[dict[str, Any], ...] = ()
    shown: str = ""
    pings: tuple[str, ...] = ()  # ids and words (channel, here, everyone) of those it would notify
    thread_ts: str | None = None  # the root's ts, also on a root that has replies
    is_broadcast: bool = False  # a reply that is also shown in the channel
    subtype: str | None = None
    client_msg_id: str | None = None
    metadata: dict[str, Any] | None = None
    files: tuple[StoredFile, ...] = ()
    edits: list[Revision] = field(default_factory=list)
    edited_ts: str | None = None
    is_deleted: bool = False
    is_streaming: bool = False
    shown_name: str | None = None  # instead of the app's own, with the scope chat:write.customize
    shown_icon: str | None = None
    reactions: list[str] = field(default_factory=list)  # of bots

    @property
    def is_reply(self) -> bool:
        """Whether it stands in a thread below another message."""
        return self.thread_ts is not None and self.thread_ts != self.ts

    @property
    def buttons(self) -> tuple[dict[str, Any], ...]:
        """The button elements shown below it, in order."""
        return tuple(
            element
            for block in self.blocks
            if block["type"] == "actions"
            for element in block["elements"]
            if element["type"] == "button"
        )

    def texts(self) -> list[str]:
        """All texts this message has shown, oldest first, the present one last."""
        return [revision.shown for revision in self.edits] + [self.shown]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ephemeral:
    """What one person alone was shown, until they reload."""

    user: str
    text: str
    thread_ts: str | None
    at_s: float


@dataclass(slots=True, kw_only=True, eq=False)
class Channel:
    """A conversation with its history. A direct chat exists once per bot and person."""

    id: str
    kind: ChannelKind
    name: str = ""
    members: dict[str, User] = field(default_factory=dict)
    bots: set[str] = field(default_factory=set)  # ids of the bots that are in it
    barred: str | None = None  # the error that posting here brings (is_archived, restricted_action, …)
    messages: dict[str, Message] = field(default_factory=dict)  # by ts, in order of ts
    ephemerals: list[Ephemeral] = field(default_factory=list)
    statuses: list[tuple[str, str]] = field(default_factory=list)  # (thread_ts, text) of setStatus


@dataclass(slots=True, kw_only=True, eq=False)
class Press:
    """A pressed button; `answers` are posts to its response_url."""

    trigger_id: str
    message: Message
    action: dict[str, Any]
    user: User
    at_s: float
    answers: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True, eq=False)
class Command:
    """A slash command that somebody entered; `answers` come with the acknowledgement or to its response_url."""

    trigger_id: str
    channel: Channel
    name: str
    text: str
    user: User
    at_s: float
    answers: list[dict[str, Any]] = field(default_factory=list)
