"""One bot's updates: kept until confirmed, handed out by long polling.

As the platform has it (Bot API, "Getting updates"): an update stays until `getUpdates` comes with a higher
offset, so what was handed out and not confirmed is handed out again; of two polls at once the older one fails
with 409.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .errors import ApiError

UPDATE_LIMIT = 100
NOT_BY_DEFAULT = frozenset({"chat_member", "message_reaction", "message_reaction_count"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Update:
    """One thing a bot is told. `available_at_s` (monotonic) is when a poll could first have had it."""

    id: int
    kind: str
    payload: dict[str, Any]
    available_at_s: float

    def body(self) -> dict[str, Any]:
        """The Bot API's `Update`."""
        return {"update_id": self.id, self.kind: self.payload}


class UpdateQueue:
    """The unconfirmed updates of one bot, oldest first."""

    def __init__(self, clock: Callable[[], float], first_id: int = 1000) -> None:
        self._clock = clock
        self._next_id = first_id
        self._poll: asyncio.Future[bool] | None = None
        self.pending: deque[Update] = deque()
        self.allowed: frozenset[str] | None = None  # None: all but NOT_BY_DEFAULT
        self.confirmed_to = first_id  # every update below was confirmed

    def append(self, kind: str, payload: dict[str, Any]) -> Update | None:
        """Add an update and wake the poll; None if the bot does not want this kind."""
        wanted = kind in self.allowed if self.allowed is not None else kind not in NOT_BY_DEFAULT
        if not wanted:
            return None
        update = Update(id=self._next_id, kind=kind, payload=payload, available_at_s=self._clock())
        self._next_id += 1
        self.pending.append(update)
        self._settle_poll(has_updates=True)
        return update

    def confirm(self, offset: int) -> None:
        """Forget updates below the offset; a negative one keeps only that many of the newest."""
        if offset < 0:
            offset = self._next_id + offset
        while self.pending and self.pending[0].id < offset:
            self.confirmed_to = self.pending.popleft().id + 1

    def set_allowed(self, kinds: list[str]) -> None:
        """Choose the kinds of updates to come; an empty list means the default."""
        self.allowed = frozenset(kinds) or None

    def end_poll(self) -> None:
        """Make the poll under way, if any, fail with 409."""
        self._settle_poll(has_updates=False)

    async def poll(self, offset: int, limit: int, timeout_s: float) -> list[Update]:
        """Confirm, then return up to `limit` updates, waiting up to `timeout_s` for the first.

        Raises:
            ApiError: 409, because another poll began meanwhile.
        """
        self.end_poll()
        self.confirm(offset)
        if not self.pending and timeout_s > 0:
            await self._wait(timeout_s)
        return list(islice(self.pending, limit))

    async def _wait(self, timeout_s: float) -> None:
        poll = self._poll = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(timeout_s):
                has_updates = await poll
        except TimeoutError:
            return
        finally:
            if self._poll is poll:
                self._poll = None
        if not has_updates:
            raise ApiError(
                409,
                "Conflict: terminated by other getUpdates request; "
                "make sure that only one bot instance is running",
            )

    def _settle_poll(self, *, has_updates: bool) -> None:
        if self._poll is not None and not self._poll.done():
            self._poll.set_result(has_updates)
            self._poll = None
