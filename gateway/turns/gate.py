"""Decides on tool calls for a running turn: policy first, then what a person decided on this very call."""

from dataclasses import dataclass

from agent.calls import ToolCall
from agent.ports import Allowed, Denied, Pending
from gateway.requests.policy import ApprovalPolicy
from gateway.store import requests as rows
from gateway.store.requests import Request
from gateway.store.sqlite import Database

CHANGED = "The arguments are not those that were approved; it was not run."


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnGate:
    """The agent's `Gate` for one turn."""

    database: Database
    policy: ApprovalPolicy
    turn_id: int

    async def check(self, call: ToolCall, *, default: str) -> Allowed | Denied | Pending:
        """The decision on one call, read anew each time it is asked for."""
        match self.policy.verdict(call.ref, default):
            case "allow":
                return Allowed()
            case "deny":
                return Denied(reason="The configuration does not allow this tool.")
            case "ask":
                request = await self.database.read(lambda tx: rows.of_call(tx, self.turn_id, call.id))
                return _decision(call, request)


def _decision(call: ToolCall, request: Request | None) -> Allowed | Denied | Pending:
    if request is None or request.state == "pending":
        return Pending()
    if request.state != "approved":
        return Denied(reason=request.reason or f"{request.decided_by} denied this call.")
    if request.args_hash != call.args_hash:
        return Denied(reason=CHANGED)
    return Allowed()
