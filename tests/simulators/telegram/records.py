"""What the simulated Telegram remembers: users, chats, messages, presses, files.

These are the platform's own rows, changed by edits and deletions, hence not frozen.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from .text import Entity

ChatKind = Literal["private", "group", "supergroup", "channel"]
GENERAL_TOPIC = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person or a bot."""

    id: int
    first_name: str
    username: str | None = None
    is_bot: bool = False
    language_code: str = "en"


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """An inline button; exactly one of callback_data and url is set, unless `raw` has another action."""

    text: str
    callback_data: str | None = None
    url: str | None = None
    raw: dict[str, Any] = field(default_factory=dict)


Keyboard = tuple[tuple[Button, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredFile:
    """A file's bytes under the id the platform gave it.

    `size_bytes` may be claimed larger than the bytes kept.
    """

    file_id: str
    path: str
    name: str
    mime: str
    content: bytes
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """What an edited message showed before."""

    text: str
    entities: tuple[Entity, ...]
    buttons: Keyboard
    until_s: float  # monotonic: when the edit arrived


@dataclass(slots=True, kw_only=True, eq=False)
class Message:
    """A message as shown now, with its earlier texts.

    `at_s` (monotonic) is when a user's message became available as an update, or when a bot's request came.
    """

    chat: "Chat"
    id: int
    sender: User
    date: int
    at_s: float
    text: str = ""
    entities: tuple[Entity, ...] = ()
    buttons: Keyboard = ()
    thread: int | None = None
    reply_to: "Message | None" = None
    root: int | None = None  # the first message of the chain of replies this one belongs to
    quote: str | None = None
    file: StoredFile | None = None
    file_kind: str | None = None  # document, photo, voice, …
    album: str | None = None
    edits: list[Revision] = field(default_factory=list)
    edited_at: int | None = None
    is_deleted: bool = False
    is_silent: bool = False
    reactions: tuple[str, ...] = ()  # of bots
    link_preview: dict[str, Any] | None = None
    service: dict[str, Any] = field(
        default_factory=dict
    )  # a service message's own field, e.g. forum_topic_created

    def rows(self) -> list[list[str]]:
        """The button texts, row by row."""
        return [[button.text for button in row] for row in self.buttons]

    def texts(self) -> list[str]:
        """All texts this message has shown, oldest first, the present one last."""
        return [revision.text for revision in self.edits] + [self.text]


@dataclass(slots=True, kw_only=True)
class Topic:
    """A forum topic; its id is the id of the service message that made it."""

    id: int
    name: str
    is_closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A partial reply as streamed by `sendMessageDraft`."""

    draft_id: int
    text: str
    entities: tuple[Entity, ...]
    at_s: float


@dataclass(slots=True, kw_only=True, eq=False)
class Chat:
    """A chat with its history. A private chat exists once per bot; its id is the user's."""

    id: int
    kind: ChatKind
    title: str = ""
    username: str | None = None
    is_forum: bool = False
    account: str | None = None  # the bot this private chat is with; None: every bot sees it
    barred: str | None = None  # why bots may not write here, as the 403 says it
    migrated_to: int | None = None
    members: dict[int, User] = field(default_factory=dict)
    topics: dict[int, Topic] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)
    drafts: list[Draft] = field(default_factory=list)
    actions: list[str] = field(default_factory=list)
    next_message_id: int = 1
    bot_messages: int = 0  # ever posted by bots


@dataclass(slots=True, kw_only=True)
class Press:
    """A pressed button: open until the bot answers it."""

    id: str
    message: Message
    data: str
    user: User
    account: str
    at_s: float
    answered_at_s: float | None = None
    answer: dict[str, Any] = field(default_factory=dict)
    is_expired: bool = False
