"""A failing model is left alone for a while, so that its turns do not all wait for it first."""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True, kw_only=True)
class Cooldown:
    """One model's state, shared by all turns: grows with each failure in a row, ends with a success."""

    first_s: float = 15.0
    longest_s: float = 600.0
    clock: Callable[[], float] = time.monotonic
    failures: int = 0
    until: float = 0.0

    @property
    def is_cooling(self) -> bool:
        """Whether the model should be passed over now."""
        return self.clock() < self.until

    def failed(self, *, asked_s: float | None = None) -> None:
        """Note a failure that retries could not mend; `asked_s` is the provider's own wish, in seconds."""
        pause_s = min(self.longest_s, self.first_s * 2**self.failures)
        self.until = self.clock() + max(pause_s, min(asked_s or 0.0, self.longest_s))
        self.failures += 1

    def succeeded(self) -> None:
        """Note an answer."""
        self.failures = 0
        self.until = 0.0
