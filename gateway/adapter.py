"""The border to a platform: what an adapter is, can and promises.

An adapter needs no base class. `Adapter` is the whole duty; each further ability is a protocol of one method,
looked up once when the daemon is wired. An adapter neither splits, retries nor sleeps in `send`: delivery does.
An adapter class is called with `(settings, api)`: its own settings model, and `gateway.api.Api` for those few
(web, terminal) that show more than messages.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

from gateway.document import Document
from gateway.messages import Attachment, OutboundMessage, PressAnswer, Receipt, Target, Update


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a platform can show and promises, as delivery must know it.

    `measure(piece)` is how much of `limit` the rendered piece takes, in the platform's own unit (pure).
    Gaps are the least seconds between two edits or sends in one chat. `idempotency`: how an unknown outcome is
    settled: a `key` repeats safely inside `idempotency_window_s`, `lookup` finds what was sent, `none` cannot.
    `edit_gap_of(target)`: the gap between edits where it depends on the chat (pure).
    `input_limit`: the longest text that people's clients send as one message, None if they split none.
    `streaming`: a reply may be shown while it is written, by edits or natively. `ends_growth`: what was sent
    `growing` needs an edit that is not, even if it changes nothing. `shows_authors`: see `Author`.
    A typing mark is shown again every `typing_gap_s`, a little before it fades.
    `file_limit_bytes`: the largest file that `SendsFiles` takes,
    0 where files cannot be sent; `caption_limit`: how much of `measure` its caption may take.
    """

    measure: Callable[[Document], int]
    limit: int
    edit_limit: int
    markup: Literal["entities", "dialect", "blocks", "html", "ansi", "none"] = "none"
    buttons: bool = False
    threads: bool = False
    edit_gap_s: float = 1.0
    edit_gap_of: Callable[[Target], float] | None = None
    send_gap_s: float = 0.0
    idempotency: Literal["key", "lookup", "none"] = "none"
    idempotency_window_s: float = 0.0
    input_limit: int | None = None
    streaming: bool = False
    ends_growth: bool = False
    shows_authors: bool = False
    typing_gap_s: float = 4.5
    file_limit_bytes: int = 0
    caption_limit: int = 0


class Inbox(Protocol):
    """The gateway's one door in, as an adapter holds it."""

    async def receive(self, *updates: Update) -> tuple[PressAnswer | None, ...]:
        """Store updates in order; only when this returns may they be acknowledged to the platform.

        Returns, in the same order, what a presser is to be told (None for all but presses). Repeats are harmless.
        """
        ...

    async def last_seen(self) -> Mapping[str, str]:
        """The newest stored `message_id` of each chat of this account (by `thread_id`, else `chat_id`).

        For platforms that replay nothing after a restart: what came later is fetched and handed to `receive`.
        """
        ...

    def online(self) -> None:
        """Say that `account` is known and messages can be received and sent from now on."""
        ...


class Adapter(Protocol):
    """One bot account on one platform."""

    @property
    def platform(self) -> str:
        """The platform's name, as in configuration."""
        ...

    @property
    def account(self) -> str:
        """The bot's own id on its platform; known at the latest when `Inbox.online` is called."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """What the platform can show and promises."""
        ...

    async def run(self, inbox: Inbox) -> None:
        """Connect and hand on all that comes in, until cancelled.

        Raises:
            AccessRefused: the platform refuses the account; the text says what a person must change.
            ConnectionLost: anything a new call of `run` may mend.
        """
        ...

    async def send(self, message: OutboundMessage) -> Receipt:
        """Show one message, once, without retry or split.

        Raises:
            SendError: one of its classes in `gateway.errors`, which say what is known of the outcome.
        """
        ...


@runtime_checkable
class EditsMessages(Protocol):
    """The platform can change a message that it has shown."""

    async def edit(self, message_id: str, message: OutboundMessage) -> None:
        """Replace text and buttons of `message_id` (no buttons given: none left); repeats are harmless.

        Raises:
            SendError: as for `Adapter.send`; `MessageRejected` if that message cannot be edited any more.
        """
        ...


@runtime_checkable
class SendsFiles(Protocol):
    """The platform takes files, up to `Capabilities.file_limit_bytes`."""

    async def send_file(self, message: OutboundMessage) -> Receipt:
        """Show `message.file` with `message.body` as its caption, once, without retry.

        Raises:
            SendError: as for `Adapter.send`; `MessageRejected` also for a file that is too large here.
        """
        ...


@runtime_checkable
class FetchesFiles(Protocol):
    """The platform hands out the files that people send."""

    async def fetch(self, attachment: Attachment, limit_bytes: int) -> bytes:
        """The bytes of a file that came with a message of this account.

        Raises:
            SendError: as for `Adapter.send`; `MessageRejected` also for a file of more than `limit_bytes`, or one
                that is not there any more.
        """
        ...


@runtime_checkable
class ShowsTyping(Protocol):
    """The platform can show that an answer is being made."""

    async def show_typing(self, target: Target) -> None:
        """Show it once, best effort; it fades by itself."""
        ...


@runtime_checkable
class StreamsNatively(Protocol):
    """The platform can show a reply that is being written without making it a message.

    Where the native stream is itself the message, this is not needed: `send` starts it and `edit` adds to it as
    long as `OutboundMessage.growing` is set, and the first `edit` without it ends the stream. Such a platform
    sets `Capabilities.ends_growth`, so that every growing message gets one.
    """

    async def stream(self, stream_id: int, message: OutboundMessage) -> None:
        """Show the reply so far, once; the same `stream_id` replaces what was shown before.

        It fades by itself, at the latest when a message follows; `idem_key` and `reply_to` mean nothing here.

        Raises:
            SendError: as for `Adapter.send`; `MessageRejected` also where this target has no such thing: the
                reply then grows by edits.
        """
        ...


Reaction = Literal["seen", "done", "failed"]


@runtime_checkable
class Reacts(Protocol):
    """The platform can put a mark on a person's message."""

    async def react(self, target: Target, message_id: str, reaction: Reaction) -> None:
        """Replace the bot's mark on this message, best effort."""
        ...


@runtime_checkable
class LooksUpSent(Protocol):
    """The platform can tell whether a message with a given key was shown."""

    async def find_sent(self, message: OutboundMessage) -> Receipt | None:
        """The receipt of the message with `message.idem_key`, or None if it never arrived."""
        ...


@runtime_checkable
class ServedByOne(Protocol):
    """Only one process may serve the account: two would each answer a part of its messages, or all of them twice."""

    @property
    def seat(self) -> str:
        """What tells this account from all others, as server and token: only its hash leaves the process.

        Known before `run`; "" if there is nothing to be served with.
        """
        ...


Condition = Literal["ok", "warning", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one check found, for the person who runs Parley.

    `name` is what was looked at, in a word or two; `fix` what to do about it, "" where nothing is to be done.
    `warning`: it works, but less well than it could, or than configuration says.
    """

    name: str
    state: Condition
    detail: str = ""
    fix: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkup:
    """What an account's own checks found; `server_date` is the `Date` header of the platform's last answer."""

    findings: tuple[Finding, ...]
    server_date: str = ""


@runtime_checkable
class ChecksItself(Protocol):
    """The adapter can say whether its account is set up as it should be."""

    async def check(self) -> Checkup:
        """Ask the platform about this account, without serving it and without changing anything there.

        It is called on an adapter of its own that never runs (whose `api` may be None), also while a daemon
        serves the same account. What is wrong is a finding, whatever the platform answers.
        """
        ...
