"""What a console, a terminal or the command line may ask of the running gateway.

Read-only views of the store and live events; whoever writes goes through `intake` like everybody else.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from gateway.clock import Clock, to_ms, utc_now
from gateway.delivery import Delivery
from gateway.events import INTERNAL_KINDS, EventHub
from gateway.messages import Target
from gateway.source import SessionScope, SessionSource, session_key
from gateway.store import lanes, outbox, turns
from gateway.store.outbox import dest_of
from gateway.store.sqlite import Database
from gateway.store.tx import Tx

# How long a change of which nobody was told may go unseen.
RECHECK_S = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedEvent:
    """One event of a turn, as clients see it; kinds and payloads are in `gateway.events`."""

    turn_id: int
    idx: int
    kind: str
    payload: Mapping[str, Any]


class Api:
    """See the module."""

    def __init__(
        self,
        database: Database,
        hub: EventHub,
        delivery: Delivery,
        *,
        scope: SessionScope,
        clock: Clock = utc_now,
    ) -> None:
        self._db = database
        self._hub = hub
        self._delivery = delivery
        self._scope = scope
        self._clock = clock

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
