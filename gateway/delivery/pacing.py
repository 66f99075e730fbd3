"""When a chat may be asked again: the gaps between edits, and the waits that a platform asked for (pure)."""

from dataclasses import dataclass, field

# From this length on a growing reply is shown ever more rarely: looking at all of it costs time, and as the gaps
# grow with the text, a stream costs no more than in proportion to how long it lasts.
UNHURRIED_CHARS = 16_000

_SLOWEST = 16.0
"""What the gaps grow to, at most, in a chat that keeps asking to wait."""


@dataclass(slots=True, kw_only=True)
class Pace:
    """The growth edits of one chat; times are seconds of a monotonic clock. `gap_s`: least time between two."""

    gap_s: float
    due_s: float = 0.0
    _factor: float = 1.0

    def asked(self, now_s: float, length: int) -> None:
        """A reply of `length` characters was shown, or tried to be."""
        self.due_s = now_s + self.gap_s * self._factor * (1 + length / UNHURRIED_CHARS)

    def slow_down(self) -> None:
        """The platform asked to wait, or was not reached: what is written meanwhile is shown at once later."""
        self._factor = min(self._factor * 2, _SLOWEST)


_MANY = 1_000  # waits; beyond that those that have ended are forgotten before one is added


@dataclass(slots=True)
class Pauses:
    """Until when (UTC milliseconds) nothing at all may go to a destination, as far as this process was told."""

    _spans: dict[str, tuple[int, int]] = field(default_factory=dict)

    def add(self, dest: str, now_ms: int, until_ms: int) -> None:
        """The platform asked, now, to wait until then."""
        if until_ms <= now_ms:
            return
        if len(self._spans) >= _MANY:
            self._spans = {name: span for name, span in self._spans.items() if span[1] > now_ms}
        self._spans[dest] = (now_ms, max(until_ms, self._spans.get(dest, (0, 0))[1]))

    def until(self, dest: str, now_ms: int) -> int | None:
        """The end of a pause that still lasts; one that begins in the future is of a clock that was put back."""
        begin_ms, until_ms = self._spans.get(dest, (0, 0))
        if begin_ms <= now_ms < until_ms:
            return until_ms
        self._spans.pop(dest, None)
        return None
