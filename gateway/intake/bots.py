"""The loop guard: bots that are allowed to speak to the bot must not keep it talking for ever.

Stated rule: at most `limit` messages of bots are taken in one chat within 60 seconds, and at most `limit` one after
the other without a person's message or 60 quiet seconds between them. Beyond that bots are not heard until it calms
down; each unheard message still counts, so that a bot that goes on talking keeps the guard up. It lives in memory:
a restart begins to count anew.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

Verdict = Literal["heard", "silenced", "ignored"]
"""`silenced` is the first message that is not heard any more: worth one line in the log."""

WINDOW = timedelta(seconds=60)
REMEMBERED = 10_000
"""Chats that are kept in mind; the one longest silent is forgotten first."""


@dataclass(slots=True)
class _Chat:
    times: deque[datetime] = field(default_factory=deque)
    in_a_row: int = 0
    is_silent: bool = False


class LoopGuard:
    """See the module. A chat is named by its platform, account and id."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._chats: OrderedDict[tuple[str, ...], _Chat] = OrderedDict()

    def person_spoke(self, chat: tuple[str, ...]) -> None:
        """A person wrote there: whatever bots said before is no endless exchange."""
        if (known := self._chats.get(chat)) is not None:
            known.in_a_row = 0

    def judge(self, chat: tuple[str, ...], now: datetime) -> Verdict:
        """Count a bot's message, and say whether it is heard."""
        known = self._chats.setdefault(chat, _Chat())
        self._chats.move_to_end(chat)
        if len(self._chats) > REMEMBERED:
            self._chats.popitem(last=False)
        if known.times and now - known.times[-1] >= WINDOW:
            known.in_a_row = 0
        known.times.append(now)
        known.in_a_row += 1
        # What is older than the window, or more than is needed to say "too many", is let go.
        while known.times[0] <= now - WINDOW or len(known.times) > self._limit + 1:
            known.times.popleft()
        was_silent = known.is_silent
        known.is_silent = len(known.times) > self._limit or known.in_a_row > self._limit
        if not known.is_silent:
            return "heard"
        return "ignored" if was_silent else "silenced"
