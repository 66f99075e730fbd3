"""Events on their way in: one queue, parsed and stored in the order in which Discord told them.

What was stored moves the session's number and the channels' marks; a store that fails moves neither, so that
the next connection brings the same again. A queue that is full ends the connection for the same reason.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from adapters.discord.memory import Memory
from adapters.discord.parse import (
    parse_deletion,
    parse_edit,
    parse_interaction,
    parse_message,
    source_at,
)
from adapters.discord.places import Place, direct_place
from gateway.adapter import Inbox
from gateway.errors import ConnectionLost, MessageRejected, TargetGone
from gateway.messages import InboundMessage, PressAnswer, Update

QUEUE_SIZE = 5_000
BATCH = 100

Json = Mapping[str, Any]
Told = asyncio.Future[PressAnswer | None]
FindPlace = Callable[[str], Awaitable[Place]]

_log = structlog.get_logger(__name__)

EVENTS = ("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE", "MESSAGE_DELETE_BULK", "INTERACTION_CREATE")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """An event as Discord told it; `told` waits for what an interaction's person is to be told."""

    name: str
    raw: Json
    seq: int
    told: Told | None = None


class Inflow:
    """The queue of one connection."""

    def __init__(self, memory: Memory, inbox: Inbox, find_place: FindPlace) -> None:
        self._memory = memory
        self._inbox = inbox
        self._find_place = find_place
        self._queue: asyncio.Queue[Event] = asyncio.Queue(QUEUE_SIZE)
        self._overflowed = False

    def put(self, event: Event) -> None:
        """Take an event; one too many is left for the next connection, like all after it."""
        try:
            if not self._overflowed:
                self._queue.put_nowait(event)
        except asyncio.QueueFull:
            self._overflowed = True

    async def store(self) -> None:
        """Store events as they come, those waiting together, until cancelled.

        Raises:
            StoreUnavailable: they could not be stored.
            ConnectionLost: they came faster than they could be stored.
        """
        while True:
            if self._overflowed and self._queue.empty():
                raise ConnectionLost(f"more than {QUEUE_SIZE} events waited to be stored")
            events = [await self._queue.get()]
            while len(events) < BATCH and not self._queue.empty():
                events.append(self._queue.get_nowait())
            await self._store(events)

    async def receive(self, missed: list[Json], place: Place) -> None:
        """Store messages that were fetched, in the order given."""
        events = [Event(name="MESSAGE_CREATE", raw=raw, seq=0) for raw in missed]
        for start in range(0, len(events), BATCH):
            await self._store(events[start : start + BATCH], place)

    async def _store(self, events: list[Event], place: Place | None = None) -> None:
        read = [(event, update) for event in events for update in await self._read(event, place)]
        for event in events:
            if (
                event.name == "MESSAGE_CREATE"
            ):  # known before it is stored, so that it is looked for if it is not
                self._memory.marks.passed(event.raw["channel_id"], int(event.raw["id"]) - 1)
        told = await self._inbox.receive(*(update for _, update in read)) if read else ()
        for (event, update), answer in zip(read, told, strict=True):
            if event.told is not None and not event.told.done():
                event.told.set_result(answer)
            if isinstance(update, InboundMessage):
                self._memory.sources[update.message_id] = update.source
        for event in events:
            if event.told is not None and not event.told.done():
                event.told.set_result(None)
            if event.name == "MESSAGE_CREATE":
                self._memory.marks.passed(event.raw["channel_id"], int(event.raw["id"]))
            self._memory.stored_seq = max(self._memory.stored_seq, event.seq)

    async def _read(self, event: Event, place: Place | None) -> list[Update]:
        """The updates in an event: usually one, or none."""
        try:
            return await self._parse(event, place)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            # Not what the API describes: it is passed over, since it would come again and again.
            _log.warning(
                "discord.event_unreadable",
                account=self._memory.account,
                event_name=event.name,
                reason=f"{type(error).__name__}: {error}",
            )
            return []

    async def _parse(self, event: Event, place: Place | None) -> list[Update]:
        raw, bot = event.raw, self._memory.identity
        update: Update | None
        match event.name:
            case "MESSAGE_CREATE":
                update = parse_message(raw, place or await self._place(raw), bot)
            case "MESSAGE_UPDATE":
                update = parse_edit(raw, await self._place(raw), bot)
            case "INTERACTION_CREATE":
                update = parse_interaction(raw, bot)
            case "MESSAGE_DELETE":
                return [await self._deletion(str(raw["id"]), raw)]
            case "MESSAGE_DELETE_BULK":
                return [await self._deletion(str(one), raw) for one in raw["ids"]]
            case _:
                return []
        return [] if update is None else [update]

    async def _deletion(self, message_id: str, raw: Json) -> Update:
        source = self._memory.sources.get(message_id)
        return parse_deletion(message_id, source or source_at(await self._place(raw), self._memory.identity))

    async def _place(self, raw: Json) -> Place:
        channel_id = str(raw["channel_id"])
        if "guild_id" not in raw:
            return direct_place(channel_id)
        known = self._memory.places.get(channel_id)
        if known is not None:
            return known
        try:
            return await self._find_place(channel_id)
        except (TargetGone, MessageRejected):  # it tells of messages and not of itself
            return Place(kind="group", chat_id=channel_id)
