"""The gate: policy first, then what a person decided on exactly this call."""

from dataclasses import replace
from typing import Any

import pytest

from agent.calls import ToolCall
from agent.ports import Allowed, Denied, Pending
from gateway.requests.policy import ApprovalPolicy
from gateway.store.audit import AuditLog
from gateway.store.requests import Request
from gateway.turns.gate import CHANGED, FOR_ADMINS, Gatekeeper, TurnGate

CALL = ToolCall(id="0.0", name="lab__count", server="lab", tool="count", args={"n": 1})
ASKED = Request(
    id=1,
    turn_id=7,
    lane_id=1,
    call_id="0.0",
    kind="approval",
    state="pending",
    requester="memory:1",
    args_hash=CALL.args_hash,
    prompt="{}",
    created_at=0,
    expires_at=None,
    needed=1,
    escalated_at=None,
    decided_by="Ann",
    decider="memory:1",
    decided_at=1,
    reason=None,
)


class OneRequest:
    """A database that knows one request, or none, and no grant."""

    def __init__(self, request: Request | None) -> None:
        self._request = request

    async def read(self, work: Any) -> tuple[Request | None, None]:
        return self._request, None


def gate(request: Request | None, *, admin: bool = False, **policy: Any) -> TurnGate:
    keeper = Gatekeeper(
        database=OneRequest(request),  # type: ignore[arg-type]
        policy=ApprovalPolicy(**policy),
        audit=AuditLog(),
        is_admin=lambda who: admin and who == "memory:1",
    )
    return TurnGate(keeper=keeper, turn_id=7, session_id=1, requester="memory:1")


@pytest.mark.req("APR-3", "APR-6", "APR-7")
@pytest.mark.parametrize(
    ("request_", "decision"),
    [
        (None, Pending()),
        (ASKED, Pending()),
        (replace(ASKED, state="approved"), Allowed()),
        (replace(ASKED, state="approved", args_hash="of other arguments"), Denied(reason=CHANGED)),
        (replace(ASKED, state="denied"), Denied(reason="Ann denied this call.")),
        (replace(ASKED, state="denied", reason="too dear"), Denied(reason="too dear")),
        (replace(ASKED, state="expired", reason="nobody"), Denied(reason="nobody")),
        (replace(ASKED, state="closed", reason="stopped"), Denied(reason="stopped")),
    ],
)
async def test_a_call_that_asks_is_decided_by_its_own_request(request_: Any, decision: object) -> None:
    assert await gate(request_).check(CALL, default="ask") == decision


@pytest.mark.req("APR-3")
async def test_what_the_configuration_decides_asks_nobody() -> None:
    approved = replace(ASKED, state="approved")

    assert await gate(None, allow=("lab/*",)).check(CALL, default="ask") == Allowed()
    assert await gate(approved, deny=("lab/*",)).check(CALL, default="ask") == Denied(
        reason="The configuration does not allow this tool."
    )


@pytest.mark.req("ACC-2")
@pytest.mark.parametrize("policy", [{}, {"allow": ("lab/*",)}])
async def test_a_tool_for_admins_is_denied_to_everybody_else_even_if_approved(policy: dict[str, Any]) -> None:
    approved = replace(ASKED, state="approved")

    assert await gate(approved, admin_only=("lab/*",), **policy).check(CALL, default="ask") == Denied(
        reason=FOR_ADMINS
    )
    assert (
        await gate(approved, admin=True, admin_only=("lab/*",), **policy).check(CALL, default="ask")
        == Allowed()
    )


@pytest.mark.req("APR-3")
async def test_a_tool_for_two_people_asks_even_where_it_is_allowed() -> None:
    assert await gate(None, allow=("*",), two_person=("lab/*",)).check(CALL, default="allow") == Pending()


@pytest.mark.req("APR-6")
@pytest.mark.parametrize(
    "changed", [{"args": {"n": 2}}, {"args": {"n": 1, "m": None}}, {"tool": "look"}, {"server": "other"}]
)
async def test_an_approval_holds_for_exactly_what_was_shown(changed: dict[str, Any]) -> None:
    approved = replace(ASKED, state="approved")

    assert await gate(approved).check(replace(CALL, **changed), default="ask") == Denied(reason=CHANGED)
    same = replace(CALL, args={"n": 1}, raw_args='{"n":1}')
    assert await gate(approved).check(same, default="ask") == Allowed()
