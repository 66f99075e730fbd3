"""The frozen values that cross the border between adapters and the gateway.

Inbound (`Update`): what an adapter's parser makes of whatever its platform sent. Outbound (`OutboundMessage`):
what delivery asks an adapter to show. Nothing platform-specific is in either.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from gateway.document import Document
from gateway.source import SessionSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a message: described, not fetched. `ref` is the platform's handle to fetch it."""

    kind: Literal["image", "audio", "video", "file"]
    ref: str
    name: str = ""
    mime_type: str = ""
    size_bytes: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundMessage:
    """A person's message.

    `id` is the dedupe key, unique per account; `message_id` is what replies and edits refer to. `reply_to` is
    the message it answers. `mentions_bot`: it names the bot, answers one of its messages or stands in its own
    thread. `group_id` joins the messages of an album. `sent_at` is aware UTC.
    """

    id: str
    message_id: str
    source: SessionSource
    text: str
    sent_at: datetime
    attachments: tuple[Attachment, ...] = ()
    reply_to: str | None = None
    mentions_bot: bool = False
    from_bot: bool = False
    group_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ButtonPress:
    """A press on one of our buttons; `source` is the presser, `token` the pressed button's own.

    `message_id` is the message that shows the button, where the platform says so.
    """

    id: str
    source: SessionSource
    token: str
    message_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageEdited:
    """A person changed the text of a message sent before."""

    id: str
    message_id: str
    source: SessionSource
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageDeleted:
    """A message sent before was deleted; by whom need not be known: `source` is where it stood."""

    id: str
    message_id: str
    source: SessionSource


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMoved:
    """A chat goes on under another id (a Telegram group that became a supergroup); `source` is the old one."""

    id: str
    source: SessionSource
    moved_to: str


Update = InboundMessage | ButtonPress | MessageEdited | MessageDeleted | ChatMoved


@dataclass(frozen=True, slots=True, kw_only=True)
class PressAnswer:
    """What the presser is told, by the platform's own means; `alert`: worth interrupting them for."""

    text: str
    alert: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a message goes: one chat (and thread) as one account reaches it."""

    platform: str
    account: str
    chat_id: str
    thread_id: str | None = None

    @classmethod
    def of(cls, source: SessionSource) -> "Target":
        """The place where `source` wrote: answers go back to it."""
        return cls(
            platform=source.platform,
            account=source.account,
            chat_id=source.chat_id,
            thread_id=source.thread_id,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A button: its label and its own token (at most 64 bytes, opaque, sent back by a press)."""

    label: str
    token: str
    style: Literal["plain", "good", "danger"] = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundFile:
    """A file to show: the whole of a long answer, or what a tool made.

    `name` is safe to store under and has an ending (`gateway.filenames`); `mime_type` is "" if nobody knows.
    """

    name: str
    data: bytes = field(repr=False)
    mime_type: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Which of several agents speaks: the name people see, and an address or an `:emoji:` of its picture."""

    name: str
    avatar: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutboundMessage:
    """One message to show: one piece of a reply, a card or a notice; it fits the platform's limit.

    `buttons` are rows of buttons. `reply_to` is best effort: if that message is gone, send without it.
    `plain`: without any formatting, after the platform refused it. `idem_key` is equal for every try.
    `growing`: more of it follows by edits, the last of which is not growing any more.
    `author` is set only where the platform shows authors; elsewhere the body says who speaks. `reader_id` is the
    user whom it answers, if it answers anyone.
    `file`: sent by `SendsFiles.send_file`; then `body` is its caption, which may be blank, and has no buttons.
    """

    target: Target
    body: Document
    idem_key: str
    file: OutboundFile | None = None
    buttons: tuple[tuple[Button, ...], ...] = ()
    reply_to: str | None = None
    plain: bool = False
    growing: bool = False
    author: Author | None = None
    reader_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The platform took a message and calls it `message_id`."""

    message_id: str
