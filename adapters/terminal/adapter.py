"""The terminal: what a person types becomes messages and presses, what delivery sends is shown.

A card's buttons are numbered; while it is open, its number or label is a press. `run` returns when the person
leaves (or the input ends and everything is answered); `exit_code` then says whether all was.
"""

import asyncio
import secrets
import sys
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from adapters.terminal.console import Console, Key, PlainConsole, PromptConsole
from adapters.terminal.live import Live, WatchedEvent
from adapters.terminal.place import HERE, LIMIT, able, keep_file, measure, source_of, with_path
from adapters.terminal.settings import TerminalSettings
from gateway.adapter import Capabilities, Inbox
from gateway.document import Document, text_document
from gateway.errors import MessageRejected, ParleyError, TargetGone
from gateway.messages import Button, ButtonPress, InboundMessage, OutboundMessage, Receipt
from gateway.source import SessionSource

_REMEMBERED = 100
_STILL_OPEN = (
    "Something from before is still open here:"
    " /status says what, /approve or /deny answers it, /stop ends it."
)
_INCOMPLETE = "This answer is not complete."
_LEFT_OPEN = "What is open stays open: it goes on, or waits for you, when you come back."
_HINT = "Ctrl-D leaves; /help lists the commands"
_NOBODY_TO_ASK = (
    "A request waits for a decision and nobody is here to make it: answer it in `parley chat` on a terminal, "
    "or allow the tool beforehand under approvals.allow in the configuration."
)


class Api(Protocol):
    """What the terminal asks of the gateway, a part of `gateway.api`."""

    def watch(self, source: SessionSource) -> AsyncIterator[WatchedEvent]:
        """The events of the source's turns from now on."""
        ...

    async def wait_idle(self, source: SessionSource) -> None:
        """Return when the source has no open turn and nothing is left to deliver to it."""
        ...

    async def is_idle(self, source: SessionSource) -> bool:
        """Whether `wait_idle` would return at once."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class _Card:
    message_id: str
    buttons: tuple[Button, ...]

    @property
    def is_numbered(self) -> bool:
        """Whether a number is a choice: a lone button stands beside a question, whose answer may be a number."""
        return len(self.buttons) > 1

    @property
    def choices(self) -> str:
        if not self.is_numbered:
            return "".join(button.label for button in self.buttons)
        return "  ".join(f"{number} {button.label}" for number, button in enumerate(self.buttons, 1))

    def find(self, answer: str) -> Button | None:
        """The button with this label or number; a label that is another's number is meant as the label."""
        for button in self.buttons:
            if answer.casefold() == button.label.casefold():
                return button
        if (
            self.is_numbered
            and answer.isascii()
            and answer.isdecimal()
            and 0 < int(answer) <= len(self.buttons)
        ):
            return self.buttons[int(answer) - 1]
        return None


class TerminalAdapter:
    """One person at this process's own terminal, or lines from a pipe."""

    platform = HERE.platform

    def __init__(
        self,
        settings: TerminalSettings,
        api: Api,
        *,
        console: Console | None = None,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        new_id: Callable[[], str] = lambda: secrets.token_hex(8),
    ) -> None:
        """`console` is chosen by what standard input and output are; ids are unique over all runs."""
        self._settings = settings
        self._here = source_of(settings.account)
        self._api = api
        self._console = console or _console(settings)
        self._now = now
        self._new_id = new_id
        self._live = Live()
        self._card: _Card | None = None
        self._card_opened = asyncio.Event()
        self._shown: OrderedDict[str, Document] = OrderedDict()
        self.exit_code = 0

    @property
    def account(self) -> str:
        """Which of several terminals this is."""
        return self._here.account

    @property
    def capabilities(self) -> Capabilities:
        """See `CAPABILITIES`."""
        return able(self._settings.files_dir)

    async def run(self, inbox: Inbox) -> None:
        """Hand on what is typed until the person leaves or the input ends."""
        inbox.online()
        failure: ParleyError | None = None
        async with asyncio.TaskGroup() as tasks:
            watching = tasks.create_task(self._watch())
            try:
                await self._converse(inbox)
            except ParleyError as error:  # raised below: as itself, not inside a group
                failure = error
            watching.cancel()
        if failure:
            raise failure

    async def send(self, message: OutboundMessage) -> Receipt:
        """Show a message in place of the running answer; its buttons become the open card."""
        receipt = Receipt(message_id=self._new_id())
        if not message.buttons:
            self._live = self._live.without_text()
            self._console.show_live(self._live)
        await self._show(receipt.message_id, message, message.body)
        return receipt

    async def send_file(self, message: OutboundMessage) -> Receipt:
        """Put the file into the folder for files and show where it is."""
        folder = self._settings.files_dir
        if message.file is None or folder is None:
            raise MessageRejected("there is no folder for files")
        return await self.send(with_path(message, await asyncio.to_thread(keep_file, folder, message.file)))

    async def edit(self, message_id: str, message: OutboundMessage) -> None:
        """Show below what is new in a message; a terminal cannot change what has scrolled away."""
        if self._card and self._card.message_id == message_id:
            self._close_card()
        before = self._shown.get(message_id, Document()).blocks
        news = Document(blocks=tuple(block for block in message.body.blocks if block not in before))
        if message.buttons or news.blocks:
            await self._show(message_id, message, news)

    async def _show(self, message_id: str, message: OutboundMessage, visible: Document) -> None:
        if not 0 < measure(message.body) <= LIMIT:
            raise MessageRejected(f"a message has 1 to {LIMIT} characters")
        card = _Card(
            message_id=message_id, buttons=tuple(button for row in message.buttons for button in row)
        )
        try:
            await self._console.show(visible, card.choices)
        except (OSError, ValueError) as error:  # ValueError: the stream is closed
            raise TargetGone("the terminal is gone") from error
        self._shown[message_id] = message.body
        if len(self._shown) > _REMEMBERED:
            self._shown.popitem(last=False)
        if card.buttons:
            self._card = card
        if self._card:
            self._card_opened.set()

    async def _watch(self) -> None:
        if self._console.is_interactive:
            async for event in self._api.watch(self._here):
                if event.kind == "done" and event.payload.get("outcome") != "answered" and self._live.text:
                    # What was said until then was seen, and must not vanish with the preview.
                    await self._console.show(text_document(f"{self._live.text}\n({_INCOMPLETE})"))
                self._live = self._live.after(event)
                self._console.show_live(self._live)

    async def _converse(self, inbox: Inbox) -> None:
        if self._settings.once is not None:
            await self._answer_once(inbox, self._settings.once)
        elif self._console.is_interactive:
            await self._chat(inbox)
        else:
            await self._answer_lines(inbox)

    async def _chat(self, inbox: Inbox) -> None:
        if not await self._api.is_idle(self._here):
            await self._console.note(_STILL_OPEN)
        while (entered := await self._console.read()) is not Key.END:
            if isinstance(entered, str):
                await self._take(inbox, entered)
            elif await self._api.is_idle(self._here):
                await self._console.note(_HINT)
            else:
                await self._take(inbox, "/stop")
        if not await self._api.is_idle(self._here):
            await self._console.note(_LEFT_OPEN)

    async def _answer_lines(self, inbox: Inbox) -> None:
        """One line is answered before the next is taken: a pipe has no hurry and would overfill the lane."""
        while isinstance(line := await self._console.read(), str):
            await self._take(inbox, line)
            await self._settle()
        await self._end_without_person(inbox)

    async def _answer_once(self, inbox: Inbox, text: str) -> None:
        await self._take(inbox, text)
        await self._settle()
        while self._card and self._console.is_interactive:
            line = await self._console.read()
            if not isinstance(line, str):
                break
            await self._take(inbox, line)
            await self._settle()
        await self._end_without_person(inbox)

    async def _end_without_person(self, inbox: Inbox) -> None:
        if self._card:
            self._close_card()
            await self._take(inbox, "/stop")  # nobody will come back to this conversation
            self.exit_code = 1
            await self._console.note(_NOBODY_TO_ASK)

    async def _take(self, inbox: Inbox, line: str) -> None:
        line = line.strip()
        if not line:
            return
        button = self._card.find(line) if self._card else None
        if button:
            self._close_card()
            (answer,) = await inbox.receive(
                ButtonPress(id=self._new_id(), source=self._here, token=button.token)
            )
            if answer:
                await self._console.note(answer.text)
        elif self._card and self._card.is_numbered and line.isdecimal():
            await self._console.note(self._card.choices)
        else:
            if not line.startswith("/"):
                # Words may be an answer: what comes of them, a reply or the card once more, is waited for.
                self._card_opened.clear()
            number = self._new_id()
            await inbox.receive(
                InboundMessage(
                    id=number, message_id=number, source=self._here, text=line, sent_at=self._now()
                )
            )

    async def _settle(self) -> None:
        """Return when all is answered or a card waits for a press."""
        async with asyncio.TaskGroup() as tasks:
            waits = [
                tasks.create_task(self._api.wait_idle(self._here)),
                tasks.create_task(self._wait_card()),
            ]
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
            for wait in waits:
                wait.cancel()

    async def _wait_card(self) -> None:
        await self._card_opened.wait()

    def _close_card(self) -> None:
        self._card = None
        self._card_opened.clear()


def _console(settings: TerminalSettings) -> Console:
    if sys.stdin.isatty() and sys.stdout.isatty():
        return PromptConsole(settings.history_file)
    return PlainConsole(sys.stdin, sys.stdout, sys.stderr)
