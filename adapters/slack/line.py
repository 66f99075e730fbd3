"""The line in which what comes in waits to be stored: in the order it came, many at a time.

Each envelope has a task of its own, in which names are looked up; storing must not follow whoever was looked
up first. So each takes its place at once and fills it later; the head of the line waits to be filled.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable
from dataclasses import dataclass, field

from gateway.adapter import Inbox
from gateway.messages import PressAnswer, Update

BATCH = 100


class Postponed(Exception):
    """What came in cannot be read now, but perhaps when it comes again: it must not be acknowledged."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An update is stored (or was none): its envelope may be acknowledged. `answer` is for a presser."""

    answer: PressAnswer | None = None


@dataclass(slots=True)
class _Slot:
    update: Update | None = None
    is_filled: bool = False
    stored: "asyncio.Future[Stored | None]" = field(default_factory=asyncio.Future)


class Line:
    """Updates on their way into one inbox."""

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._slots: deque[_Slot] = deque()
        self._changed = asyncio.Event()
        self._is_closed = False

    async def take(self, read: Awaitable[Update | None]) -> Stored | None:
        """Store what `read` gives, in the order of the calls; None: it is not stored.

        `read` may raise `Postponed`.
        """
        slot = _Slot()
        self._slots.append(slot)
        try:
            slot.update = await read
        except Postponed:
            return None
        finally:
            slot.is_filled = True
            self._changed.set()
        return None if self._is_closed else await slot.stored

    async def run(self) -> None:
        """Store, for ever.

        Raises:
            StoreUnavailable: from the inbox; whatever is in the line by then is not stored.
        """
        batch: list[_Slot] = []
        try:
            while True:
                while not (batch := self._next()):
                    self._changed.clear()
                    await self._changed.wait()
                await self._store(batch)
        finally:
            self._is_closed = True
            for slot in (*batch, *self._slots):
                if not slot.stored.done():
                    slot.stored.set_result(None)

    def _next(self) -> list[_Slot]:
        """The filled places at the head of the line."""
        batch: list[_Slot] = []
        while self._slots and self._slots[0].is_filled and len(batch) < BATCH:
            batch.append(self._slots.popleft())
        return batch

    async def _store(self, batch: list[_Slot]) -> None:
        updates = [slot.update for slot in batch if slot.update is not None]
        answers = iter(await self._inbox.receive(*updates) if updates else ())
        for slot in batch:
            answer = next(answers) if slot.update is not None else None
            if not slot.stored.done():  # its task may have been cancelled
                slot.stored.set_result(Stored(answer))
