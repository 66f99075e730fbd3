"""The memory platform: it keeps what comes in until it is stored, and records what is shown.

It behaves as a real platform does: what a person says waits, in order, until `Inbox.receive` has
returned, and comes again when that failed or the connection broke. Tests speak through `say`, `press` and
`deliver`, script faults with `fail`, `drop_connection` and `refuse_account`, and wait with `wait_shown`.
"""

import asyncio
import itertools
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from adapters.memory.settings import MemorySettings
from gateway.adapter import Capabilities, Inbox, Reaction
from gateway.document import Document
from gateway.document.plain import plain
from gateway.errors import AccessRefused, AdapterError, ConnectionLost, MessageRejected, SendError
from gateway.messages import (
    Attachment,
    ButtonPress,
    InboundMessage,
    OutboundMessage,
    PressAnswer,
    Receipt,
    Target,
    Update,
)
from gateway.source import SessionSource


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """A message as people see it now: `message` is its last version, `edits` counts the changes since."""

    message_id: str
    message: OutboundMessage
    edits: int = 0

    @property
    def text(self) -> str:
        """What a reader sees, without markup."""
        return plain(self.message.body)

    @property
    def tokens(self) -> dict[str, str]:
        """The token of each button by its label."""
        return {button.label: button.token for row in self.message.buttons for button in row}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fault:
    error: SendError
    shown: bool


@dataclass(slots=True, eq=False)
class _Waiting:
    update: Update
    answer: asyncio.Future[PressAnswer | None] | None = field(default=None)


def measure(document: Document) -> int:
    """The characters of what a reader sees."""
    return len(plain(document))


class MemoryAdapter:
    """One account on the memory platform; see the module for what a test can do with it."""

    def __init__(
        self,
        settings: MemorySettings | None = None,
        api: object = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`now` dates what people say; `api` is not used."""
        del api
        self._settings = settings or MemorySettings()
        self._now = now
        self._inbound: deque[_Waiting] = deque()
        self._shown: dict[str, Shown] = {}
        self._by_key: dict[str, tuple[Receipt, datetime]] = {}
        self._faults: deque[_Fault] = deque()
        self._broken: AdapterError | None = None
        self._ids = itertools.count(1)
        self._change = asyncio.Event()
        self.typing: list[Target] = []
        self.drafts: list[tuple[int, OutboundMessage]] = []
        self.reactions: dict[str, list[Reaction]] = {}
        self.looked_up: list[str] = []
        self.connections = 0
        self.files: dict[str, bytes] = {}  # that people sent, by `Attachment.ref`
        self.fetched: list[str] = []

    @property
    def platform(self) -> str:
        """The platform's name, from the settings."""
        return self._settings.platform

    @property
    def account(self) -> str:
        """The bot's id, from the settings."""
        return self._settings.account

    @property
    def capabilities(self) -> Capabilities:
        """As the settings say; text is measured in characters."""
        asked = self._settings
        return Capabilities(
            measure=measure,
            limit=asked.limit,
            edit_limit=asked.edit_limit,
            input_limit=asked.input_limit,
            markup="none",
            buttons=asked.buttons,
            threads=asked.threads,
            edit_gap_s=asked.edit_gap_s,
            send_gap_s=asked.send_gap_s,
            idempotency=asked.idempotency,
            idempotency_window_s=asked.idempotency_window_s,
            streaming=asked.streaming,
            ends_growth=asked.ends_growth,
            shows_authors=asked.shows_authors,
            typing_gap_s=asked.typing_gap_s,
            file_limit_bytes=asked.file_limit_bytes,
            caption_limit=asked.caption_limit,
        )

    async def run(self, inbox: Inbox) -> None:
        """Hand on what people said, oldest first; each is forgotten only when it is stored."""
        if isinstance(self._broken, AccessRefused):
            raise self._broken
        self._broken = None
        self.connections += 1
        inbox.online()
        while True:
            await self.wait_until(lambda: bool(self._inbound) or self._broken is not None)
            if self._broken:
                raise self._broken
            batch = tuple(self._inbound)
            answers = await inbox.receive(*(waiting.update for waiting in batch))
            for waiting, answer in zip(batch, answers, strict=True):
                self._inbound.popleft()
                if waiting.answer and not waiting.answer.done():
                    waiting.answer.set_result(answer)
            self._tell()

    async def send(self, message: OutboundMessage) -> Receipt:
        """Show a message, or what `fail` scripted instead."""
        self._check_size(message, self._settings.limit)
        return self._show(message)

    async def send_file(self, message: OutboundMessage) -> Receipt:
        """Show a file with its caption, or what `fail` scripted instead."""
        assert message.file is not None
        if not 0 < len(message.file.data) <= self._settings.file_limit_bytes:
            raise MessageRejected(f"{message.file.name} is too large, or empty")
        if measure(message.body) > self._settings.caption_limit:
            raise MessageRejected("the caption is too long")
        return self._show(message)

    def _show(self, message: OutboundMessage) -> Receipt:
        fault = self._faults.popleft() if self._faults else None
        if fault and not fault.shown:
            raise fault.error
        receipt = self._repeated(message.idem_key)
        if receipt is None:
            receipt = Receipt(message_id=str(next(self._ids)))
            self._by_key[message.idem_key] = receipt, self._now()
            self._shown[receipt.message_id] = Shown(message_id=receipt.message_id, message=message)
            self._tell()
        if fault:
            raise fault.error
        return receipt

    async def edit(self, message_id: str, message: OutboundMessage) -> None:
        """Replace a shown message, or what `fail` scripted instead."""
        self._check_size(message, self._settings.edit_limit)
        fault = self._faults.popleft() if self._faults else None
        if fault and not fault.shown:
            raise fault.error
        before = self._shown.get(message_id)
        if before is None:
            raise MessageRejected(f"there is no message {message_id}")
        self._shown[message_id] = replace(before, message=message, edits=before.edits + 1)
        self._tell()
        if fault:
            raise fault.error

    async def show_typing(self, target: Target) -> None:
        """Record it in `typing`."""
        self.typing.append(target)
        self._tell()

    async def stream(self, stream_id: int, message: OutboundMessage) -> None:
        """Record it in `drafts`, where the settings say that there is such a thing."""
        if not self._settings.drafts:
            raise MessageRejected("this platform shows no drafts")
        self._check_size(message, self._settings.limit)
        self._raise_fault()
        self.drafts.append((stream_id, message))
        self._tell()

    async def react(self, target: Target, message_id: str, reaction: Reaction) -> None:
        """Record it in `reactions`, by message, oldest first."""
        del target  # a message's id is its own everywhere
        self.reactions.setdefault(message_id, []).append(reaction)
        self._tell()

    async def fetch(self, attachment: Attachment, limit_bytes: int) -> bytes:
        """The file of this handle in `files`."""
        self.fetched.append(attachment.ref)
        self._raise_fault()
        data = self.files.get(attachment.ref)
        if data is None or len(data) > limit_bytes:
            raise MessageRejected("there is no such file, or it is too large")
        return data

    async def find_sent(self, message: OutboundMessage) -> Receipt | None:
        """The receipt of the message with this key, if it was ever shown."""
        self.looked_up.append(message.idem_key)
        found = self._by_key.get(message.idem_key)
        return found[0] if found else None

    # What a test does.

    @property
    def shown(self) -> tuple[Shown, ...]:
        """All messages in the order in which they were first shown."""
        return tuple(self._shown.values())

    def source(self, *, user_id: str = "1", chat_id: str | None = None, **changes: str) -> SessionSource:
        """A direct chat with `user_id`, or another place: `changes` are fields of `SessionSource`."""
        place = SessionSource(
            platform=self.platform,
            account=self.account,
            kind="dm",
            chat_id=chat_id or user_id,
            user_id=user_id,
        )
        return replace(place, **changes)  # type: ignore[arg-type]  # kind is checked where it is used

    def say(
        self, text: str, source: SessionSource | None = None, *, repeat_of: str | None = None
    ) -> InboundMessage:
        """A person's message, waiting from now on to be received; `repeat_of`: the id it had before."""
        number = str(next(self._ids))
        message = InboundMessage(
            id=repeat_of or f"u{number}",
            message_id=number,
            source=source or self.source(),
            text=text,
            sent_at=self._now(),
        )
        self._inbound.append(_Waiting(message))
        self._tell()
        return message

    def press(
        self, token: str, source: SessionSource | None = None, *, message_id: str | None = None
    ) -> Awaitable[PressAnswer | None]:
        """A press on a button (of a message); the result, when it is stored, is what the presser is told."""
        return self.deliver(
            ButtonPress(
                id=f"p{next(self._ids)}",
                source=source or self.source(),
                token=token,
                message_id=message_id,
            )
        )

    def deliver(self, update: Update) -> Awaitable[PressAnswer | None]:
        """Any update at all, waiting from now on; the result comes when it is stored."""
        waiting = _Waiting(update, asyncio.get_running_loop().create_future())
        self._inbound.append(waiting)
        self._tell()
        assert waiting.answer is not None
        return waiting.answer

    def fail(self, *errors: SendError, shown: bool = False) -> None:
        """Each of the next sends and edits raises one of `errors`; `shown`: after it was seen."""
        self._faults.extend(_Fault(error=error, shown=shown) for error in errors)

    def drop_connection(self) -> None:
        """`run` raises `ConnectionLost`; the next call connects again."""
        self._broken = ConnectionLost("the memory platform dropped the connection")
        self._tell()

    def refuse_account(self, reason: str = "the memory platform refuses the account") -> None:
        """`run` raises `AccessRefused`, now and at each new call."""
        self._broken = AccessRefused(reason)
        self._tell()

    async def wait_shown(self, count: int) -> tuple[Shown, ...]:
        """All messages, as soon as at least `count` were shown."""
        return await self.wait_until(lambda: len(self._shown) >= count)

    async def wait_until(self, condition: Callable[[], bool]) -> tuple[Shown, ...]:
        """All messages, as soon as `condition` holds; it is looked at after each change."""
        while not condition():
            await self._change.wait()
        return self.shown

    async def wait_received(self) -> None:
        """Return when everything said so far is stored."""
        await self.wait_until(lambda: not self._inbound)

    def _repeated(self, key: str) -> Receipt | None:
        """What a key that is known gives again, inside the window."""
        receipt, shown_at = self._by_key.get(key, (None, self._now()))
        window = timedelta(seconds=self._settings.idempotency_window_s)
        return receipt if self._settings.idempotency == "key" and self._now() - shown_at < window else None

    def _raise_fault(self) -> None:
        if self._faults:
            raise self._faults.popleft().error

    def _check_size(self, message: OutboundMessage, limit: int) -> None:
        size = measure(message.body)
        if not 0 < size <= limit:
            raise MessageRejected(f"{size} characters, where 1 to {limit} are allowed")

    def _tell(self) -> None:
        change, self._change = self._change, asyncio.Event()
        change.set()
