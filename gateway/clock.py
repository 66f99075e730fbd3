"""The wall clock, as everything that stores or compares times gets it handed in, and how long a rule waits."""

from collections.abc import Callable
from datetime import UTC, datetime

from tenacity.wait import wait_base

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


def wait_s(rule: wait_base, failed: int) -> float:
    """Seconds that a rule of tenacity's waits after so many failed tries (1 or more)."""

    class _State:  # its rules ask a retry state for nothing but this number
        attempt_number = failed

    return float(rule(_State()))  # type: ignore[arg-type]
