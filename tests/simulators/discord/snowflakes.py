"""Discord's ids: milliseconds since 2015 in the upper 42 bits, so that they sort by time."""

from collections.abc import Callable
from datetime import UTC, datetime
from time import time

EPOCH_MS = 1_420_070_400_000


def snowflake_at(seconds: float) -> int:
    """The smallest id of a moment, given in seconds since 1970."""
    return (int(seconds * 1000) - EPOCH_MS) << 22


def moment_of(snowflake: int) -> str:
    """The id's moment as the API writes it."""
    seconds = ((snowflake >> 22) + EPOCH_MS) / 1000
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds")


class Snowflakes:
    """Makes ids, each greater than the one before."""

    def __init__(self, clock: Callable[[], float] = time) -> None:
        self._clock = clock
        self._last = 0

    def __call__(self) -> int:
        """A new id."""
        self._last = max(self._last + 1, snowflake_at(self._clock()))
        return self._last

    def now(self) -> str:
        """This moment as the API writes it."""
        return datetime.fromtimestamp(self._clock(), UTC).isoformat(timespec="microseconds")
