"""The platform's speed limits, off unless a test switches them on.

Bots FAQ (core.telegram.org/bots/faq, 2026): about one message a second in one chat with short bursts allowed,
20 a minute in one group, 30 a second in all; the server answers 429 with `retry_after`. The exact numbers are
nobody's to know, so they are settings here.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from .errors import ApiError

SPENDS = frozenset(
    {
        "sendmessage",
        "editmessagetext",
        "editmessagereplymarkup",
        "senddocument",
        "sendphoto",
        "sendmediagroup",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """So many at once, and so many a second in the long run."""

    burst: int
    per_s: float


@dataclass(slots=True, kw_only=True)
class FloodLimit:
    """Refuses what comes too fast in one chat."""

    private: Rate = Rate(burst=3, per_s=1)
    group: Rate = Rate(burst=5, per_s=20 / 60)
    clock: Callable[[], float]
    _spent: dict[str, tuple[float, float]] = field(default_factory=dict)  # chat → tokens left, at what time

    def spend(self, method: str, chat_id: str) -> None:
        """Count a request.

        Raises:
            ApiError: 429 with the whole seconds until the next one may come.
        """
        if method.lower() not in SPENDS or not chat_id:
            return
        rate = self.group if chat_id.startswith("-") else self.private
        now = self.clock()
        left, since = self._spent.get(chat_id, (float(rate.burst), now))
        left = min(rate.burst, left + (now - since) * rate.per_s)
        if left < 1:
            self._spent[chat_id] = (left, now)
            wait_s = math.ceil((1 - left) / rate.per_s)
            raise ApiError(429, f"Too Many Requests: retry after {wait_s}", retry_after=wait_s)
        self._spent[chat_id] = (left - 1, now)
