"""A turn's durable events, and who hears of them while it runs.

Kinds and payloads are in DESIGN's list: shown to clients are status, thinking, text, retract, tool, request, task,
error, done and meta; model_response, steered, compressed, paid, tool_started, tool_result and checkpoint rebuild state
and are seen by clients only as numbers.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass

INTERNAL_KINDS = frozenset(
    {"model_response", "steered", "compressed", "paid", "tool_started", "tool_result", "checkpoint"}
)

# A watcher that falls behind this far is cut off; it reads the rest from the store by offset.
MAX_BEHIND = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEvent:
    """One event as watchers get it: `idx` is gapless within its turn, `payload` is JSON text."""

    turn_id: int
    lane_id: int
    idx: int
    kind: str
    payload: str


class EventHub:
    """Tells watchers of a lane what was just committed; keeps nothing."""

    def __init__(self) -> None:
        self._watchers: dict[int, set[asyncio.Queue[TurnEvent | None]]] = {}

    def publish(self, events: Iterable[TurnEvent]) -> None:
        """Hand committed events to the watchers of their lane; never waits."""
        for event in events:
            for queue in self._watchers.get(event.lane_id, ()):
                if queue.qsize() >= MAX_BEHIND:
                    _cut_off(queue)
                else:
                    queue.put_nowait(event)

    @asynccontextmanager
    async def watch(self, lane_id: int) -> AsyncIterator[AsyncIterator[TurnEvent]]:
        """All events of a lane's turns from now on; the iterator ends if the watcher falls too far behind."""
        queue: asyncio.Queue[TurnEvent | None] = asyncio.Queue()
        self._watchers.setdefault(lane_id, set()).add(queue)
        try:
            yield _drain(queue)
        finally:
            self._watchers[lane_id].discard(queue)
            if not self._watchers[lane_id]:
                del self._watchers[lane_id]


async def _drain(queue: "asyncio.Queue[TurnEvent | None]") -> AsyncIterator[TurnEvent]:
    while (event := await queue.get()) is not None:
        yield event


def _cut_off(queue: "asyncio.Queue[TurnEvent | None]") -> None:
    while not queue.empty():
        queue.get_nowait()
    queue.put_nowait(None)


class Pulse:
    """Wakes whoever waits for the next beat; a beat that nobody waits for is forgotten."""

    def __init__(self) -> None:
        self._event = asyncio.Event()

    def beat(self) -> None:
        """Wake all that wait now."""
        self._event.set()
        self._event = asyncio.Event()

    async def next(self) -> None:
        """Wait for the next beat."""
        await self._event.wait()
