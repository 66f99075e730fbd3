"""What the operator may ask and order about trust, as the control socket's handlers."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from gateway.control.wire import Handler
from gateway.trust import Trust


def trust_handlers(trust: Trust) -> Mapping[str, Handler]:
    """Handlers by the names that `gateway.cli.trusting` calls."""

    async def grants(_args: dict[str, Any]) -> Any:
        return [asdict(view) for view in await trust.grants()]

    async def revoke_grant(args: dict[str, Any]) -> Any:
        return await trust.revoke_grant(int(args["id"]))

    async def pairings(_args: dict[str, Any]) -> Any:
        return [{**asdict(found), "person": found.person} for found in await trust.pairings()]

    async def approve_pairing(args: dict[str, Any]) -> Any:
        return asdict(await trust.approve_pairing(str(args["code"])))

    async def revoke_pairing(args: dict[str, Any]) -> Any:
        return asdict(await trust.revoke_pairing(str(args["person"])))

    async def verify_audit(_args: dict[str, Any]) -> Any:
        return asdict(await trust.verify_audit())

    async def audit_page(args: dict[str, Any]) -> Any:
        lines, next_seq = await trust.audit_page(int(args["from_seq"]))
        return {"lines": lines, "next_seq": next_seq}

    async def export_person(args: dict[str, Any]) -> Any:
        return await trust.export_person(str(args["person"]))

    async def erase_person(args: dict[str, Any]) -> Any:
        return await trust.erase_person(str(args["person"]))

    return {
        "grants": grants,
        "revoke_grant": revoke_grant,
        "pairings": pairings,
        "approve_pairing": approve_pairing,
        "revoke_pairing": revoke_pairing,
        "verify_audit": verify_audit,
        "audit_page": audit_page,
        "export_person": export_person,
        "erase_person": erase_person,
    }
