"""What a simulator was asked, and what became of each request.

Two counters matter most to tests. `refusals`: requests the simulator refused by the platform's own rules (a
scripted fault is not one). `violations`: what the platform would silently repair or drop, so that nobody
notices in real life. A faithful client leaves both empty.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any


@dataclass(slots=True, kw_only=True)
class Call:
    """One request. Not frozen: status, error and scripted are filled in when it is answered."""

    number: int
    method: str
    params: Mapping[str, Any]
    account: str
    received_at_s: float  # of the recorder's clock, monotonic
    answered_at_s: float | None = None
    status: int | None = None  # HTTP status; None while open; 0 when the connection was cut instead
    error: str = ""
    scripted: bool = False  # the outcome came from the fault script


class Recorder:
    """All calls in the order received, and per method."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self.clock = clock
        self.calls: list[Call] = []
        self.refusals: Counter[str] = Counter()
        self.violations: Counter[str] = Counter()
        self._by_method: defaultdict[str, list[Call]] = defaultdict(list)

    def begin(self, method: str, params: Mapping[str, Any], account: str = "") -> Call:
        """Record a request as received now."""
        call = Call(
            number=len(self.calls),
            method=method,
            params=params,
            account=account,
            received_at_s=self.clock(),
        )
        self.calls.append(call)
        self._by_method[method].append(call)
        return call

    def finish(self, call: Call, status: int, error: str = "", *, scripted: bool = False) -> None:
        """Record how a request ended; an error of our own making that nobody scripted counts as a refusal."""
        call.status, call.error, call.scripted = status, error, scripted
        call.answered_at_s = self.clock()
        if error and status and not scripted:
            self.refusals[error] += 1

    def of(self, method: str) -> list[Call]:
        """The calls of one method, oldest first."""
        return self._by_method[method]

    def counts(self) -> dict[str, int]:
        """How many calls each method had."""
        return {method: len(calls) for method, calls in self._by_method.items() if calls}
