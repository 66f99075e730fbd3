"""What the contract suite asks of a platform, and the gateway's side of it as a double."""

import asyncio
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Literal, Protocol

from gateway.adapter import Adapter
from gateway.messages import ButtonPress, InboundMessage, PressAnswer, Target, Update

Place = Literal["dm", "group", "thread"]

# What a platform may lack. A stage names what its platform has; a test names what it needs.
Ability = Literal[
    "groups",  # several people in one place, and mentions of the bot
    "threads",
    "replies",  # a message can answer another
    "edits_by_people",
    "deletes_by_people",  # and the adapter hears of it
    "reactions",  # the bot marks what people wrote
    "drafts",  # a reply is shown while it is written, and is no message yet
    "edits",  # the bot changes what it has shown
    "rate_limit",
    "gone_chat",
    "lost_answer",
    "account",  # there is a token that can be refused
    "connection",  # there is a connection that can break
    "redelivery",  # what was not stored comes again
    "files",  # the bot sends files
    "files_by_people",
    "push_back",  # the adapter is told what the presser is told
]

WAIT_S = 10.0


class RecordingInbox:
    """The gateway's door, which stores in a list: everything, or nothing while `refusals` holds errors."""

    def __init__(self) -> None:
        self.received: list[Update] = []
        self.refusals: deque[Exception] = deque()
        self.refused: list[tuple[Update, ...]] = []
        self.answers: dict[str, PressAnswer] = {}
        self.times_online = 0
        self._change = asyncio.Event()

    async def receive(self, *updates: Update) -> tuple[PressAnswer | None, ...]:
        if self.refusals:
            self.refused.append(updates)
            self._tell()
            raise self.refusals.popleft()
        self.received.extend(updates)
        self._tell()
        return tuple(
            self.answers.get(update.token) if isinstance(update, ButtonPress) else None for update in updates
        )

    async def last_seen(self) -> dict[str, str]:
        return {}

    def online(self) -> None:
        self.times_online += 1
        self._tell()

    @property
    def messages(self) -> list[InboundMessage]:
        return [update for update in self.received if isinstance(update, InboundMessage)]

    async def until(self, condition: Callable[[], object]) -> None:
        async with asyncio.timeout(WAIT_S):
            while not condition():
                await self._change.wait()

    async def wait_message(self, text: str) -> InboundMessage:
        await self.until(lambda: any(message.text == text for message in self.messages))
        return next(message for message in self.messages if message.text == text)

    async def wait_received(self, count: int) -> list[Update]:
        await self.until(lambda: len(self.received) >= count)
        return self.received

    def _tell(self) -> None:
        change, self._change = self._change, asyncio.Event()
        change.set()


def free_port() -> int:
    """A port for an adapter that must find the same one again after it stopped."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    return port


class Stage(Protocol):
    """A platform with one person, who is in a direct chat, a group and a thread with the bot.

    A stage is entered as an asynchronous context manager; the adapter is made, but not yet run.
    """

    adapter: Adapter

    def say(self, text: str, place: Place = "dm", *, mention: bool = False, answer: bool = False) -> None:
        """The person writes; `mention`: names the bot first; `answer`: to the bot's last message there."""

    def send_file(self, name: str, data: bytes, text: str) -> None:
        """The person sends a file to the direct chat."""

    def edit(self, text: str) -> None:
        """The person changes what they wrote last."""

    def delete(self) -> None:
        """The person deletes what they wrote last."""

    def reactions(self) -> list[str]:
        """The bot's marks on what the person wrote last."""

    def drafts(self) -> list[str]:
        """What was shown in the direct chat while it was written, oldest first."""

    def press(self, label: str) -> None:
        """The person presses a button of the bot's last message in the direct chat."""

    def target(self, place: Place) -> Target:
        """Where a message to this place goes."""

    def shown(self, place: Place = "dm") -> list[str]:
        """The visible texts of the bot's messages in a place, as they stand now, oldest first."""

    def files(self, place: Place = "dm") -> list[tuple[str, bytes, str]]:
        """Name, bytes and visible caption of the files that the bot sent to a place."""

    def buttons(self) -> list[str]:
        """The labels under the bot's last message in the direct chat."""

    async def wait_told(self) -> str:
        """What the presser was told for the last press."""

    def limit_rate(self, retry_after_s: float) -> None:
        """The platform refuses the next message for coming too soon."""

    def close_chat(self) -> None:
        """The direct chat takes no message any more."""

    def lose_answer(self, *, file: bool = False) -> None:
        """The next message, or one with a file, is shown, but the adapter does not hear of it."""

    def expect_refusal(self) -> None:
        """The test makes the platform refuse something; without this, each refusal is a fault."""

    async def break_connection(self) -> None:
        """What the adapter is connected by breaks, once; a new connection can be made at once."""

    def with_bad_account(self) -> tuple[Adapter, str]:
        """An adapter whose account the platform refuses, and the secret that nobody may read."""


class Running:
    """An adapter's `run` in a task of its own, as the supervisor would have it."""

    def __init__(self, adapter: Adapter, inbox: RecordingInbox) -> None:
        self.adapter = adapter
        self.inbox = inbox
        self._task: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start it and return when it is online."""
        times = self.inbox.times_online
        self._task = asyncio.create_task(self.adapter.run(self.inbox))
        online = asyncio.create_task(self.inbox.until(lambda: self.inbox.times_online > times))
        await asyncio.wait({self._task, online}, return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            online.cancel()
            self._task.result()
        await online

    async def ended(self) -> None:
        """Return or raise as `run` does."""
        assert self._task is not None
        async with asyncio.timeout(WAIT_S):
            await self._task

    async def stop(self) -> None:
        """Cancel it and wait for its end."""
        if self._task:
            self._task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await self._task
