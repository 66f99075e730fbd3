"""The control actions that all platforms have, for tests whose bot runs in another process (`control`).

A simulator's own `remote.py` adds its platform's; a method `do_x` is the action `x`.
"""

from collections.abc import Callable
from typing import Any

from .faults import parse_fault
from .simulated import SimulatedPlatform


class RemoteActions:
    """Calls, counters and faults. A subclass says what a message looks like as JSON."""

    def __init__(self, sim: Any) -> None:
        self._sim = sim

    def by_name(self) -> dict[str, Callable[..., Any]]:
        """The actions by name."""
        return {name.removeprefix("do_"): getattr(self, name) for name in dir(self) if name.startswith("do_")}

    def view(self, message: Any) -> dict[str, Any]:
        """A message as JSON for tests."""
        raise NotImplementedError

    def text_of(self, message: Any) -> str:
        """What is seen of a message."""
        return str(message.text)

    def do_calls(self, method: str, after: int = -1) -> list[dict[str, Any]]:
        """The requests for a method, after this number."""
        sim: SimulatedPlatform = self._sim
        return [
            {
                "number": call.number,
                "params": dict(call.params),
                "received_at_s": call.received_at_s,
                "status": call.status,
                "error": call.error,
            }
            for call in sim.calls(method)
            if call.number > after
        ]

    def do_counters(self) -> dict[str, Any]:
        """Calls, refusals, violations."""
        recorder = self._sim.recorder
        return {
            "calls": recorder.counts(),
            "refusals": dict(recorder.refusals),
            "violations": dict(recorder.violations),
        }

    def do_fault(
        self, kind: str, method: str | None = None, chat: Any = None, times: int = 1, **values: Any
    ) -> None:
        """Let the next requests meet a fault (`faults.parse_fault`)."""
        self._sim.fail(parse_fault(kind, values), method, chat, times)

    def do_release(self, name: str = "hold") -> None:
        """Let held requests go on."""
        self._sim.faults.release(name)

    def do_clear_faults(self) -> None:
        """Forget all faults."""
        self._sim.faults.clear()

    async def _calls_made(self, method: str, calls: int, timeout_s: float) -> int:
        """Wait for so many requests of a method; how many there were."""
        sim = self._sim
        await sim.wait_for(lambda: len(sim.calls(method)) >= calls, timeout_s)
        return len(sim.calls(method))

    async def _shown(self, place: Any, replies: int, text: str, timeout_s: float) -> list[dict[str, Any]]:
        """Wait for so many replies in a place, one of them with `text`."""

        def shown() -> list[Any]:
            found: list[Any] = self._sim.replies(place)
            enough = len(found) >= max(replies, 1) and any(text in self.text_of(one) for one in found)
            return found if enough else []

        return [self.view(one) for one in await self._sim.wait_for(shown, timeout_s)]
