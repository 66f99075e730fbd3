"""When a failed send is made again, as data: tenacity's stop and wait rules.

tenacity's own loop is not used: between two attempts the chat has to say that what was streamed is void.
"""

from dataclasses import dataclass

from tenacity import RetryCallState, stop_after_attempt, wait_exponential, wait_random
from tenacity.stop import stop_base
from tenacity.wait import wait_base

from agent.errors import ContextTooLong, ProviderBusy, ProviderError, ProviderRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """Bounded tries with growing, jittered pauses; a provider's `Retry-After` is honoured up to a limit."""

    stop: stop_base
    wait: wait_base
    longest_wait_s: float = 60.0

    def pause_s(self, error: ProviderError, attempt: int) -> float | None:
        """Seconds to wait before the next attempt; None: give this model up.

        Args:
            error: What the last attempt ended with.
            attempt: Its number, from 1.
        """
        if isinstance(error, ProviderRefused | ContextTooLong):
            return None
        state = RetryCallState(retry_object=None, fn=None, args=(), kwargs={})  # type: ignore[arg-type]
        state.attempt_number = attempt
        if self.stop(state):
            return None
        asked_s = error.retry_after_s if isinstance(error, ProviderBusy) else None
        if asked_s is not None and asked_s > self.longest_wait_s:
            return None
        return max(self.wait(state), asked_s or 0.0)


DEFAULT_RETRIES = RetryPolicy(
    stop=stop_after_attempt(3),
    wait=wait_exponential(multiplier=0.5, max=20.0) + wait_random(0, 0.5),
)
