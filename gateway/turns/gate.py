"""Decides on tool calls for a running turn: configuration, then what a person decided on this very call or before.

deny > grant > allow > ask, at the moment the call is handled: a grant that was revoked or has expired meanwhile, a
role that was taken away, a session that ended, count at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

from agent.calls import ToolCall
from agent.ports import Allowed, Answered, Denied, Gate, Pending
from gateway.clock import Clock, to_ms, utc_now
from gateway.requests.grants import Pattern
from gateway.requests.policy import ApprovalPolicy
from gateway.requests.questions import outcome
from gateway.store import grants
from gateway.store import requests as rows
from gateway.store.audit import AuditLog
from gateway.store.requests import Request
from gateway.store.turns import Claim
from gateway.store.tx import Store, Tx

CHANGED = "The arguments are not those that were approved; it was not run."
FORBIDDEN = "The configuration does not allow this tool."
FOR_ADMINS = "Only admins may use this tool; the person who asks is none."


@dataclass(frozen=True, slots=True, kw_only=True)
class Gatekeeper:
    """Makes the gate of each turn; `is_admin` is asked with the turn's requester (platform:user)."""

    database: Store
    policy: ApprovalPolicy
    audit: AuditLog
    is_admin: Callable[[str], bool]
    clock: Clock = utc_now

    def gate(self, claim: Claim) -> Gate:
        """The gate of one turn."""
        return TurnGate(
            keeper=self, turn_id=claim.turn_id, session_id=claim.session_id, requester=claim.requester
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnGate:
    """The agent's `Gate` for one turn."""

    keeper: Gatekeeper
    turn_id: int
    session_id: int
    requester: str

    async def check(self, call: ToolCall, *, default: str) -> Allowed | Denied | Pending:
        """The decision on one call, read anew each time it is asked for."""
        policy = self.keeper.policy
        verdict = policy.verdict(call.ref, default)
        if verdict == "deny":
            return Denied(reason=FORBIDDEN)
        if policy.is_for_admins(call.ref) and not self.keeper.is_admin(self.requester):
            return Denied(reason=FOR_ADMINS)
        if verdict == "allow":
            return Allowed()
        request, granted = await self.keeper.database.read(
            lambda tx: (self._request(tx, call), self._grant(tx, call))
        )
        if request is not None or granted is None:
            return _decision(call, request)
        # Looked up once more in the transaction that writes down its use: it may just have been revoked.
        used = await self.keeper.database.write(lambda tx: self._use_grant(tx, call))
        return Allowed() if used else Pending()

    async def answer(self, call: ToolCall) -> Answered | Pending:
        """What the person answered to the question of a call, if they have."""
        request = await self.keeper.database.read(
            lambda tx: rows.of_call(tx, self.turn_id, call.id, "question")
        )
        words = outcome(request) if request is not None else None
        return Pending() if words is None else Answered(text=words)

    def _request(self, tx: Tx, call: ToolCall) -> Request | None:
        return rows.of_call(tx, self.turn_id, call.id)

    def _grant(self, tx: Tx, call: ToolCall) -> int | None:
        """The number of a grant that covers the call now."""
        if self.keeper.policy.needed(call.ref) > 1 or call.args is None:
            return None
        held = grants.live_for(
            tx,
            subject=self.requester,
            session_id=self.session_id,
            server=call.server,
            tool=call.tool,
            now_ms=to_ms(self.keeper.clock()),
        )
        for grant in held:
            if Pattern.from_json(grant.pattern).covers(call.args, call.args_hash):
                return grant.id
        return None

    def _use_grant(self, tx: Tx, call: ToolCall) -> bool:
        grant_id = self._grant(tx, call)
        if grant_id is None:
            return False
        self.keeper.audit.write(
            tx,
            actor=self.requester,
            action="grant.used",
            target=f"grant:{grant_id}",
            turn=self.turn_id,
            call=call.id,
            tool=call.ref,
            args_hash=call.args_hash,
        )
        return True


def _decision(call: ToolCall, request: Request | None) -> Allowed | Denied | Pending:
    if request is None or request.state == "pending":
        return Pending()
    if request.state != "approved":
        return Denied(reason=request.reason or f"{request.decided_by} denied this call.")
    if request.args_hash != call.args_hash:
        return Denied(reason=CHANGED)
    if request.tool_hash != call.schema:
        return Pending()  # the tool is not the one that was shown: asked about once more
    return Allowed()
