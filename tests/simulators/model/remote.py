"""The control actions over HTTP, for tests whose client runs in another process.

POST /sim/script   {"answer": {"text": "hi", "calls": [{"name": "echo", "arguments": {"x": 1}}]}, "when":
"use"} POST /sim/fault    {"kind": "refuse", "status": 500, "when": "", "times": 2} POST /sim/wait
{"requests": 3} POST /sim/bodies   {} POST /sim/counters {}
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..faults import parse_fault
from .answers import parse_scripted

if TYPE_CHECKING:
    from .simulator import ModelSimulator


def remote_actions(sim: "ModelSimulator") -> dict[str, Callable[..., Any]]:
    """The actions by name."""

    def script(answer: dict[str, Any], when: str = "", times: int = 1) -> None:
        sim.script(parse_scripted(answer), when=when, times=times)

    def fault(kind: str, when: str = "", times: int = 1, **values: Any) -> None:
        sim.script(parse_fault(kind, values), when=when, times=times)

    def release(name: str = "hold") -> None:
        sim.release(name)

    def bodies(after: int = 0) -> list[Any]:
        return sim.bodies[after:]

    def counters() -> dict[str, Any]:
        return {
            "calls": sim.recorder.counts(),
            "refusals": dict(sim.recorder.refusals),
            "rejected": sim.rejected,
            "unused": len(sim.unused),
        }

    async def wait(requests: int, timeout_s: float = 10) -> int:
        return len(await sim.wait_for_requests(requests, timeout_s))

    actions = (script, fault, release, bodies, counters, wait)
    return {action.__name__: action for action in actions}
