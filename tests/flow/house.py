"""A whole gateway in the test's process: the real daemon on a real SQLite file, between a platform and a model.

The platform (`Platform`, the memory adapter with a few more faults) and the model outlive the daemon, as they do
in the world: `restart` is an orderly stop and a new start on the same folder, `crash` leaves everything as it is
at that moment.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from adapters.memory.adapter import MemoryAdapter, Shown
from adapters.memory.settings import MemorySettings
from agent.calls import ResultFile
from agent.tools.registry import Tool, ToolCallContext, ToolResult, matches
from gateway.adapter import Adapter
from gateway.config import load_config
from gateway.daemon.life import Daemon, Plan
from gateway.messages import (
    InboundMessage,
    MessageDeleted,
    MessageEdited,
    OutboundMessage,
    PressAnswer,
    Receipt,
    Target,
)
from gateway.source import SessionSource
from gateway.store import lanes, schema
from gateway.store.outbox import dest_of
from gateway.store.sqlite import SqliteStore, open_database
from gateway.store.tx import Row
from tests.flow.scripted import Gate, ScriptedModel

WAIT_S = 15.0
"""How long a test waits for what must happen; far more than it takes on a busy machine."""


class Clock:
    """The real time, moved on by `pass_by`."""

    def __init__(self) -> None:
        self._ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self._ahead

    def pass_by(self, **time: float) -> None:
        self._ahead += timedelta(**time)


class Platform(MemoryAdapter):
    """The memory adapter; `refuse` may raise what a send of this message meets, `linger` delays its answer.

    `refuse_edit` and `linger_edit` do the same for edits. `delete` is what a person can do to any message.
    """

    def __init__(self, settings: MemorySettings, now: Callable[[], datetime]) -> None:
        super().__init__(settings, now=now)
        self.refuse: Callable[[OutboundMessage], None] = lambda message: None
        self.linger: Callable[[OutboundMessage], Awaitable[None]] | None = None
        self.refuse_edit: Callable[[OutboundMessage], None] = lambda message: None
        self.linger_edit: Callable[[OutboundMessage], Awaitable[None]] | None = None

    async def send(self, message: OutboundMessage) -> Receipt:
        self.refuse(message)
        receipt = await super().send(message)
        if self.linger is not None:
            await self.linger(message)
        return receipt

    async def send_file(self, message: OutboundMessage) -> Receipt:
        self.refuse(message)
        receipt = await super().send_file(message)
        if self.linger is not None:
            await self.linger(message)
        return receipt

    async def edit(self, message_id: str, message: OutboundMessage) -> None:
        self.refuse_edit(message)
        await super().edit(message_id, message)
        if self.linger_edit is not None:
            await self.linger_edit(message)

    def delete(self, shown: Shown) -> None:
        del self._shown[shown.message_id]
        self._tell()

    def texts(self, chat_id: str | None = None) -> list[str]:
        """What is shown, in a chat or anywhere, as it reads now."""
        return [shown.text for shown in self.shown if chat_id in (None, shown.message.target.chat_id)]


class Lab:
    """Tools inside the process, on a server `lab`: `count` and `look` note each run; each may be held.

    `parameters` is their schema and `names` says which of them there are, at the next start of a house.
    """

    def __init__(self, read_only: tuple[str, ...] = ()) -> None:
        self.runs: list[tuple[str, Mapping[str, object]]] = []
        self.parameters: dict[str, object] = {"type": "object"}
        self.names = ("count", "look")
        self.files: dict[str, tuple[ResultFile, ...]] = {}  # what runs of a tool bring
        self._held: dict[str, Gate] = {}
        self._read_only = read_only

    def hold(self, tool: str) -> Gate:
        """The tool's runs are noted and then wait in the returned gate."""
        gate = self._held[tool] = Gate()
        return gate

    def release(self, tool: str) -> None:
        self._held.pop(tool).open()

    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tool(name) for name in self.names)

    def _tool(self, name: str) -> Tool:
        async def run(args: Mapping[str, object], _context: ToolCallContext) -> ToolResult:
            self.runs.append((name, dict(args)))
            if name in self._held:
                await self._held[name].enter()
            return ToolResult(text=f"run {len(self.runs)}", files=self.files.get(name, ()))

        return Tool(
            name=f"lab__{name}",
            server="lab",
            tool=name,
            description="",
            parameters=self.parameters,
            run=run,
            effect="read" if matches(self._read_only, "lab", name) else "external",
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Somebody in one place of the platform."""

    platform: Platform
    source: SessionSource

    def says(
        self, text: str, *, mentions: bool = False, ago: timedelta = timedelta(), **details: Any
    ) -> InboundMessage:
        """`details` are further fields of the message."""
        message = replace(self.platform.say(text, self.source), mentions_bot=mentions, **details)
        message = replace(message, sent_at=message.sent_at - ago)
        self.platform._inbound[-1].update = message
        return message

    async def edits(self, said: InboundMessage, text: str, *, update: str = "e") -> None:
        """Change what was said; returns when that is stored. `update` is part of the update's own id."""
        changed = MessageEdited(
            id=f"{said.id}:{update}", message_id=said.message_id, source=self.source, text=text
        )
        await self.platform.deliver(changed)

    async def deletes(self, said: InboundMessage) -> None:
        """Delete what was said; returns when that is stored."""
        gone = MessageDeleted(id=f"{said.id}:deleted", message_id=said.message_id, source=self.source)
        await self.platform.deliver(gone)

    async def presses(self, label: str, shown: Shown | None = None) -> PressAnswer:
        """Press a button of a message (the newest with such a button); what the presser is told."""
        card = shown or self.newest_with(label)
        async with asyncio.timeout(WAIT_S):
            answer = await self.platform.press(card.tokens[label], self.source, message_id=card.message_id)
        assert answer is not None
        return answer

    def newest_with(self, label: str) -> Shown:
        return next(each for each in reversed(self.platform.shown) if label in each.tokens)

    def sees(self) -> list[str]:
        return self.platform.texts(self.source.chat_id)

    async def gets(self, text: str) -> Shown:
        """Wait until a message with these words is shown in this person's chat and thread."""
        found: list[Shown] = []

        def is_there() -> bool:
            found[:] = [
                each
                for each in self.platform.shown
                if text in each.text
                and each.message.target.chat_id == self.source.chat_id
                and each.message.target.thread_id == self.source.thread_id
            ]
            return bool(found)

        try:
            async with asyncio.timeout(WAIT_S):
                await self.platform.wait_until(is_there)
        except TimeoutError:
            raise AssertionError(f"{text!r} was never shown; shown are {self.sees()}") from None
        return found[-1]

    async def gets_card(self) -> Shown:
        """Wait for a card with live buttons here."""

        def is_there() -> bool:
            return any(each.tokens and each.text.startswith("Approval needed") for each in self._here())

        async with asyncio.timeout(WAIT_S):
            await self.platform.wait_until(is_there)
        return next(each for each in reversed(self._here()) if each.tokens)

    def _here(self) -> list[Shown]:
        return [each for each in self.platform.shown if each.message.target.chat_id == self.source.chat_id]


@dataclass(slots=True, kw_only=True)
class House:
    """See the module; `settings` is the YAML's mapping, changed between two runs if a test wants that.

    `others` are adapters beside the platform.
    """

    folder: Path
    model: ScriptedModel
    lab: Lab
    clock: Clock
    platform: Platform
    settings: dict[str, Any]
    others: Sequence[Adapter] = ()
    _database: SqliteStore | None = None
    _daemon: Daemon | None = None
    _running: "asyncio.Task[int] | None" = field(default=None)

    @property
    def daemon(self) -> Daemon:
        assert self._daemon is not None
        return self._daemon

    @property
    def database(self) -> SqliteStore:
        assert self._database is not None
        return self._database

    def person(self, user_id: str = "1", name: str = "Ann") -> Person:
        """Somebody in a direct chat with the bot."""
        source = self.platform.source(user_id=user_id, user_name=name)
        return Person(platform=self.platform, source=source)

    def member(self, user_id: str = "1", name: str = "Ann", chat_id: str = "-7", **place: str) -> Person:
        """Somebody in a group, or wherever `place` says."""
        source = self.platform.source(
            user_id=user_id, chat_id=chat_id, user_name=name, **{"kind": "group", **place}
        )
        return Person(platform=self.platform, source=source)

    async def start(self) -> None:
        file = self.folder / "config.yaml"
        file.write_text(yaml.safe_dump({"state_dir": str(self.folder / "state"), **self.settings}))
        adapters: Sequence[Adapter] = (self.platform, *self.others)
        platforms = sorted({adapter.platform for adapter in adapters})
        config = load_config(path=file, environ={}, sections={}, platforms=platforms)
        config.state_dir.mkdir(exist_ok=True)
        self._database = await open_database(config.state_dir / "parley.db")
        await self._database.write(lambda tx: schema.migrate(tx, 0))
        plan = Plan(config=config, adapters=[lambda api, adapter=adapter: adapter for adapter in adapters])  # type: ignore[misc]
        self._daemon = Daemon(plan, self._database, clock=self.clock)
        self._running = asyncio.create_task(self._daemon.run())

    async def stop(self) -> None:
        """An orderly stop, as at SIGTERM; it ends with exit code 0."""
        assert self._running is not None
        self.daemon.stop()
        try:
            async with asyncio.timeout(WAIT_S):
                assert await self._running == 0
        finally:
            await self._leave()

    async def crash(self) -> None:
        """End as SIGKILL does: nothing more is written, sent or said."""
        if self._running is None:
            return
        self.database._queue.clear()
        self.database._closed = True
        # A batch that is on its way to the disk may still arrive; nobody hears of it any more.
        self.daemon._queue._closing = self.daemon._delivery._closing = True
        self._running.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await self._running
        await self._leave()

    async def restart(self) -> None:
        await self.stop()
        await self.start()

    async def _leave(self) -> None:
        await self.database.close()
        self._running = self._daemon = self._database = None

    async def rows(self, sql: str, /, **params: object) -> list[Row]:
        return await self.database.read(lambda tx: tx.rows(sql, **params))

    async def values(self, sql: str, /, **params: object) -> list[Any]:
        """The first column."""
        return [row[0] for row in await self.rows(sql, **params)]  # type: ignore[call-overload]

    async def events(self, turn_id: int) -> list[tuple[str, dict[str, Any]]]:
        """A turn's events as (kind, payload); their numbers are gapless, always."""
        rows = await self.rows(
            "SELECT idx, kind, payload FROM turn_events WHERE turn_id = :turn ORDER BY idx", turn=turn_id
        )
        assert [row["idx"] for row in rows] == list(range(len(rows)))
        return [(row["kind"], json.loads(row["payload"])) for row in rows]

    async def quiet(self) -> None:
        """Wait until all that was said is taken in, nothing runs or could, and nothing is left to send."""
        async with asyncio.timeout(WAIT_S):
            await self.platform.wait_received()
            while not await self._is_quiet():
                with suppress(TimeoutError):
                    await asyncio.wait_for(self.daemon._delivery.pulse.next(), 0.02)

    async def until(self, sql: str) -> None:
        """Wait until the store has such a row; for what nothing tells of."""
        async with asyncio.timeout(WAIT_S):
            while not await self.rows(sql):
                await self.database.write(lambda tx: None)

    def pass_by(self, person: Person, **time: float) -> None:
        """Let time pass, and whoever waits for it in this person's chat notice."""
        self.clock.pass_by(**time)
        self.daemon._delivery.wake(dest_of(Target.of(person.source)))

    async def _is_quiet(self) -> bool:
        await self.database.write(lambda tx: None)  # whatever was queued before is committed
        if self.daemon._queue.running or self.daemon._queue.waiting:
            return False
        heads = await self.database.read(lanes.runnable)
        unsent = await self.values("SELECT COUNT(*) FROM outbox WHERE state IN ('queued', 'sending')")
        return not heads and unsent == [0]
