"""What the simulated Discord remembers: users, guilds, channels, messages, interactions.

These are the platform's own rows, changed by edits and deletions, hence not frozen.
"""

from dataclasses import dataclass, field
from typing import Any

DM, TEXT, ANNOUNCEMENT, PUBLIC_THREAD, PRIVATE_THREAD = 1, 0, 5, 11, 12
"""Channel types: https://docs.discord.com/developers/resources/channel#channel-object-channel-types."""

DEFAULT, PINNED, REPLY = 0, 6, 19
"""Message types."""

EPHEMERAL = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person or a bot; `display_name` is the name shown, `username` the unique one."""

    id: int
    username: str
    display_name: str = ""
    is_bot: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A button as shown."""

    label: str
    custom_id: str | None
    style: int
    url: str | None = None
    is_disabled: bool = False


Rows = tuple[tuple[Button, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """An attachment; `size_bytes` may be claimed larger than the bytes kept."""

    id: int
    name: str
    mime: str
    content: bytes
    size_bytes: int


@dataclass(slots=True, kw_only=True, eq=False)
class Channel:
    """A guild's channel, a thread or a direct channel (which exists once per bot and person)."""

    id: int
    kind: int
    name: str = ""
    guild: "Guild | None" = None
    parent: "Channel | None" = None  # a thread's
    owner: User | None = None  # a thread's
    members: dict[int, User] = field(default_factory=dict)  # of a direct channel: its person
    account: str | None = None  # a direct channel's bot, by token
    is_hidden: bool = False  # the bot may not look into it
    is_mute: bool = False  # the bot may not write into it
    is_blocked: bool = False  # the person of a direct channel takes no message of the bot
    is_archived: bool = False
    messages: dict[int, "Message"] = field(default_factory=dict)
    typing_at_s: list[float] = field(default_factory=list)

    @property
    def is_thread(self) -> bool:
        """Whether this is a thread."""
        return self.parent is not None


@dataclass(slots=True, kw_only=True, eq=False)
class Guild:
    """A server, with its channels and threads by id."""

    id: int
    name: str
    owner: User
    members: dict[int, User] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    roles: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True, kw_only=True, eq=False)
class Message:
    """A message as shown now, with its earlier texts.

    `at_s` (monotonic) is when a person's message was sent out as an event, or when a bot's request came.
    `pings` names who was notified: user ids, role ids as "role:…", "everyone", "here".
    """

    id: int
    channel: Channel
    author: User
    at_s: float
    sent_at: str
    text: str = ""
    rows: Rows = ()
    files: tuple[File, ...] = ()
    reference: "Message | None" = None
    forwarded: "Message | None" = None
    kind: int = DEFAULT
    flags: int = 0
    nonce: str | int | None = None
    pings: tuple[str, ...] = ()
    edited_at: str | None = None
    earlier: list[str] = field(default_factory=list)
    is_deleted: bool = False
    is_webhook: bool = False
    reactions: list[str] = field(default_factory=list)

    def labels(self) -> list[list[str]]:
        """The button texts, row by row."""
        return [[button.label for button in row] for row in self.rows]

    def texts(self) -> list[str]:
        """All texts this message has shown, oldest first, the present one last."""
        return [*self.earlier, self.text]


@dataclass(slots=True, kw_only=True, eq=False)
class Interaction:
    """A pressed button or an application command: open until the bot responds.

    `callback` is the first response's type; `told` are the messages that only the person sees.
    """

    id: int
    token: str
    account: str
    kind: int  # 2 command, 3 component
    user: User
    channel: Channel
    at_s: float
    data: dict[str, Any]
    message: Message | None = None
    callback: int | None = None
    answered_at_s: float | None = None
    is_private: bool = False  # the deferred first message is ephemeral
    is_thinking: bool = False  # the deferred first message was not filled in yet
    told: list[str] = field(default_factory=list)
    original_is_deleted: bool = False


@dataclass(slots=True, kw_only=True, eq=False)
class Account:
    """One bot: its token, application and what the developer portal allows it."""

    token: str
    user: User
    application_id: int
    privileged: set[str] = field(default_factory=lambda: {"message_content"})
    commands: list[dict[str, Any]] = field(default_factory=list)
