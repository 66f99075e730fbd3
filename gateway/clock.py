"""The wall clock, as everything that stores or compares times gets it handed in."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def utc_now() -> datetime:
    """The time now, aware, in UTC."""
    return datetime.now(UTC)


def to_ms(moment: datetime) -> int:
    """UTC milliseconds, as the store keeps times."""
    return int(moment.timestamp() * 1000)


def from_ms(milliseconds: int) -> datetime:
    """The moment of a stored time, aware, in UTC."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC)
