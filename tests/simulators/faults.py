"""Scripted faults: what shall go wrong with the next requests.

A plan says which requests it is for (method, chat, account; each may be left open), how often, and what
happens. Plans are looked at in the order they were added. The first that fits is used up by one; a `Delay` or
`Hold` is then followed by the next plan that fits, so a late refusal is a delay and a refusal.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Refuse:
    """Answer with an error and apply nothing. The simulator renders it in its platform's own shape."""

    status: int
    text: str = ""
    retry_after_s: float | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Drop:
    """Cut the connection without an answer.

    Attributes:
        applied: False: the request had no effect. True: it had, only its answer is lost.
    """

    applied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """Take this long, in seconds, before (or, with `applied`, after) the request has its effect."""

    seconds: float
    applied: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """Leave the request unanswered until `FaultScript.release(name)`: a stall without a clock."""

    name: str = "hold"
    applied: bool = False


Fault = Refuse | Drop | Delay | Hold


@dataclass(slots=True, kw_only=True)
class Plan:
    """A fault and the requests it is for; `times` counts down."""

    fault: Fault
    times: int = 1
    method: str | None = None
    chat: str | None = None
    account: str | None = None

    def fits(self, method: str, chat: str | None, account: str) -> bool:
        """Whether this plan is for such a request."""
        return (
            (self.method is None or self.method.lower() == method.lower())
            and (self.chat is None or self.chat == chat)
            and (self.account is None or self.account == account)
        )


class FaultScript:
    """The plans still open, and the holds waiting for their release."""

    def __init__(self) -> None:
        self.plans: list[Plan] = []
        self._gates: dict[str, asyncio.Event] = {}

    def add(
        self,
        fault: Fault,
        *,
        times: int = 1,
        method: str | None = None,
        chat: object = None,
        account: object = None,
    ) -> Plan:
        """Plan a fault for the next `times` requests that fit; what is left None fits everything."""
        plan = Plan(
            fault=fault,
            times=times,
            method=method,
            chat=None if chat is None else str(chat),
            account=None if account is None else str(account),
        )
        self.plans.append(plan)
        if isinstance(fault, Hold):
            self.shut_gate(fault.name)
        return plan

    def shut_gate(self, name: str) -> None:
        """Make what is held under this name wait from now on."""
        self._gates.setdefault(name, asyncio.Event()).clear()

    def clear(self) -> None:
        """Forget all plans and release whatever is held."""
        self.plans.clear()
        for gate in self._gates.values():
            gate.set()

    def release(self, name: str = "hold") -> None:
        """Let the requests held under this name go on, and those to come."""
        self._gates[name].set()

    async def pause(self, fault: Delay | Hold) -> None:
        """Wait out a delay or a hold."""
        match fault:
            case Delay(seconds=seconds):
                await asyncio.sleep(seconds)
            case Hold(name=name):
                await self._gates[name].wait()

    def take(self, method: str, chat: object, account: str) -> list[Fault]:
        """Use up and return the faults of one request: any delays and holds, then at most one other."""
        if not self.plans:
            return []
        taken: list[Fault] = []
        name = None if chat is None else str(chat)
        for plan in self.plans:
            if plan.fits(method, name, account):
                plan.times -= 1
                taken.append(plan.fault)
                if isinstance(plan.fault, Refuse | Drop):
                    break
        self.plans = [plan for plan in self.plans if plan.times > 0]
        return taken


def parse_fault(kind: str, values: Mapping[str, Any]) -> Fault:
    """Make a fault from what `POST /sim/fault` was given.

    Args:
        kind: One of refuse, drop, delay, hold.
        values: The fault's own fields, as in the classes above.

    Raises:
        ValueError: The kind is unknown or a field does not belong to it.
    """
    kinds: dict[str, type[Fault]] = {"refuse": Refuse, "drop": Drop, "delay": Delay, "hold": Hold}
    if kind not in kinds:
        raise ValueError(f"unknown fault {kind!r}; known: {', '.join(kinds)}")
    try:
        return kinds[kind](**values)
    except TypeError as error:
        raise ValueError(str(error)) from None
