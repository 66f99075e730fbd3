"""What a console, a terminal or the command line may ask of the running gateway.

Read-only views of the store and live events; whoever writes goes through `intake` like everybody else.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from gateway.clock import Clock, to_ms, utc_now
from gateway.delivery import Delivery
from gateway.events import INTERNAL_KINDS, EventHub
from gateway.messages import Target
from gateway.source import SessionScope, SessionSource, session_key
from gateway.store import lanes, outbox, overview, replay, turns, usage
from gateway.store.outbox import dest_of
from gateway.store.overview import Counts, LetterView, RequestView, SessionView, TurnView, UpdateView
from gateway.store.turns import TurnState
from gateway.store.tx import Store, Tx
from gateway.store.usage import Spent

# How long a change of which nobody was told may go unseen.
RECHECK_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedEvent:
    """One event of a turn, as clients see it; kinds and payloads are in `gateway.events`."""

    turn_id: int
    idx: int
    kind: str
    payload: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventPage:
    """Events of a turn from an offset on, see `gateway.store.replay`; those of internal kinds are left out.

    `next_offset` counts them: read on from there. `pruned`: only `answer` is left of the turn.
    """

    turn_id: int
    status: TurnState
    events: tuple[WatchedEvent, ...]
    next_offset: int
    pruned: bool
    answer: str


@dataclass(frozen=True, slots=True, kw_only=True)
class PartHealth:
    """An adapter or tool server: `trouble` is "" while it works."""

    name: str
    trouble: str
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """What only the running daemon knows: its parts, turns that run now, lanes that wait for a place."""

    adapters: tuple[PartHealth, ...] = ()
    tools: tuple[PartHealth, ...] = ()
    memory: tuple[PartHealth, ...] = ()
    running: int = 0
    waiting: int = 0
    stopping: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusView:
    """The daemon at a glance; `database_bytes` with its write-ahead log; `spent` since midnight UTC, by model."""

    version: str
    started_at: int
    vitals: Vitals
    counts: Counts
    spent: tuple[Spent, ...]
    database_bytes: int


class Api:
    """See the module."""

    def __init__(
        self,
        database: Store,
        hub: EventHub,
        delivery: Delivery,
        *,
        scope: SessionScope,
        vitals: Callable[[], Vitals] = Vitals,
        clock: Clock = utc_now,
    ) -> None:
        self._db = database
        self._hub = hub
        self._delivery = delivery
        self._scope = scope
        self._vitals = vitals
        self._clock = clock
        self._started_at = to_ms(clock())

    async def watch(self, source: SessionSource) -> AsyncIterator[WatchedEvent]:
        """The events of the source's turns from now on, as they are committed; ends for a watcher too slow."""
        key = session_key(source, self._scope)
        lane = await self._db.write(lambda tx: lanes.lock(tx, key, Target.of(source), to_ms(self._clock())))
        async with self._hub.watch(lane.id) as events:
            async for event in events:
                if event.kind not in INTERNAL_KINDS:
                    yield WatchedEvent(
                        turn_id=event.turn_id,
                        idx=event.idx,
                        kind=event.kind,
                        payload=json.loads(event.payload),
                    )

    async def is_idle(self, source: SessionSource) -> bool:
        """Whether the source has no open turn, and nothing is left to deliver to it."""
        key, dest = session_key(source, self._scope), dest_of(Target.of(source))

        def ask(tx: Tx) -> bool:
            lane = lanes.find(tx, key)
            return (lane is None or turns.open_count(tx, lane.id) == 0) and not outbox.has_open(tx, dest)

        return await self._db.read(ask)

    async def wait_idle(self, source: SessionSource) -> None:
        """Return when `is_idle` holds."""
        while not await self.is_idle(source):
            try:
                await asyncio.wait_for(self._delivery.pulse.next(), RECHECK_S)
            except TimeoutError:
                continue

    async def events(self, turn_id: int, from_idx: int = 0, *, owner: str | None = None) -> EventPage | None:
        """A turn's events with `idx >= from_idx`; a bad offset is 0.

        None if there is no such turn, or it is not `owner`'s (platform:user; None may see every turn).
        """
        page = await self._db.read(lambda tx: replay.read(tx, turn_id, from_idx))
        if page is None or owner not in (None, page.requester):
            return None
        return EventPage(
            turn_id=turn_id,
            status=page.state,
            events=tuple(
                WatchedEvent(turn_id=turn_id, idx=e.idx, kind=e.kind, payload=json.loads(e.payload))
                for e in page.events
                if e.kind not in INTERNAL_KINDS
            ),
            next_offset=page.next_offset,
            pruned=page.pruned,
            answer=page.answer,
        )

    async def status(self) -> StatusView:
        """The daemon at a glance."""
        midnight = self._clock().replace(hour=0, minute=0, second=0, microsecond=0)
        return StatusView(
            version=version("parley-gateway"),
            started_at=self._started_at,
            vitals=self._vitals(),
            counts=await self._db.read(overview.counts),
            spent=tuple(await self._db.read(lambda tx: usage.since(tx, to_ms(midnight)))),
            database_bytes=self._db.size_bytes(),
        )

    async def turns(self) -> list[TurnView]:
        """The open turns, oldest first."""
        return await self._db.read(overview.open_turns)

    async def outbox(self) -> list[LetterView]:
        """What did not, or not certainly, arrive; newest first."""
        return await self._db.read(overview.letters)

    async def requests(self) -> list[RequestView]:
        """What waits for a person."""
        return await self._db.read(overview.open_requests)

    async def sessions(self) -> list[SessionView]:
        """Conversations, the last active first."""
        return await self._db.read(overview.sessions)

    async def updates(self, key: str) -> list[UpdateView]:
        """What became of the updates with this id."""
        return await self._db.read(lambda tx: overview.updates(tx, key))
