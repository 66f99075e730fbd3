"""Rate limits: how many requests of a method to one channel a window takes, stated in each answer's headers.

https://docs.discord.com/developers/topics/rate-limits (read 2026). The platform tells its limits only so, and
they vary; the wide ones here never bite unless a test narrows them.
"""

from collections.abc import Callable
from dataclasses import dataclass

WIDE = (10_000, 1.0)


@dataclass(slots=True, kw_only=True)
class _Window:
    left: int
    ends_at_s: float


class Limits:
    """The windows of all methods and channels."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._narrow: dict[str, tuple[int, float]] = {}
        self._windows: dict[tuple[str, str], _Window] = {}

    def narrow(self, method: str, count: int, per_s: float) -> None:
        """Allow only so many requests of a method per channel."""
        self._narrow[method] = (count, per_s)

    def take(self, method: str, place: str) -> tuple[float | None, dict[str, str]]:
        """Count a request: seconds to wait if it is one too many (else None), and the headers of the answer."""
        count, per_s = self._narrow.get(method, WIDE)
        now = self._clock()
        window = self._windows.get((method, place))
        if window is None or window.ends_at_s <= now:
            window = self._windows[method, place] = _Window(left=count, ends_at_s=now + per_s)
        wait_s = None
        if window.left:
            window.left -= 1
        else:
            wait_s = window.ends_at_s - now
        left_s = window.ends_at_s - now
        headers = {
            "X-RateLimit-Limit": str(count),
            "X-RateLimit-Remaining": str(window.left),
            "X-RateLimit-Reset": f"{now + left_s:.3f}",
            "X-RateLimit-Reset-After": f"{left_s:.3f}",
            "X-RateLimit-Bucket": f"sim{method}",
        }
        return wait_s, headers
