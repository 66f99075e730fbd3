"""What the operator may ask and do about who may do what: grants, pairing, the audit log, a person's own data.

Neighbours: the command line and the console ask, by way of the control socket. Each method is one transaction (an
export of the audit log: one a page), and each that changes something is written into the audit log.
"""

import asyncio
import shutil
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gateway.audit import ERASED, ERASURE, Fault, Head, verify
from gateway.clock import Clock, to_ms, utc_now
from gateway.pairing import Decided, Doorkeeper
from gateway.requests import Desk
from gateway.requests.granting import granted_words
from gateway.requests.grants import Pattern
from gateway.store import audit, grants, lanes, pairings, people
from gateway.store.audit import OPERATOR, AuditLog
from gateway.store.pairings import Pairing
from gateway.store.tx import Store, Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantView:
    """A grant in a list: whose calls of which tool it covers, in words; times are UTC milliseconds."""

    id: int
    subject: str
    tool: str
    words: str
    granted_by: str
    granted_at: int
    expires_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What a check of the audit log found; `head` is worth noting elsewhere, see `gateway.audit`."""

    head: Head
    faults: tuple[Fault, ...]


class Trust:
    """See the module."""

    def __init__(
        self,
        database: Store,
        *,
        desk: Desk,
        doorkeeper: Doorkeeper,
        audit_log: AuditLog,
        audit_key: str | None,
        kick: Callable[[Tx, lanes.Head], None],
        results: Path,
        workspace: Callable[[str], Path] | None = None,
        clock: Clock = utc_now,
    ) -> None:
        """`results` is the folder of the files of long tool results."""
        self._db = database
        self._desk = desk
        self._doorkeeper = doorkeeper
        self._audit = audit_log
        self._audit_key = audit_key
        self._kick = kick
        self._results = results
        self._workspace = workspace
        self._clock = clock

    async def grants(self, subject: str | None = None) -> list[GrantView]:
        """All grants that hold now, or one person's (platform:user)."""
        now_ms = to_ms(self._clock())
        held = await self._db.read(lambda tx: grants.live(tx, now_ms, subject))
        return [
            GrantView(
                id=grant.id,
                subject=grant.subject,
                tool=grant.ref,
                words=granted_words(grant),
                granted_by=grant.granted_by,
                granted_at=grant.granted_at,
                expires_at=grant.expires_at,
            )
            for grant in held
        ]

    async def give_grant(
        self, subject: str, server: str, tool: str, pattern: Pattern, lasts_s: float | None = None
    ) -> int:
        """Allow a person's calls of a tool beforehand; returns the grant's number."""
        return await self._db.write(
            lambda tx: self._desk.granting.give(
                tx,
                subject=subject,
                session_id=None,
                server=server,
                tool=tool,
                pattern=pattern,
                lasts_s=lasts_s,
                by=OPERATOR,
            )
        )

    async def revoke_grant(self, grant_id: int) -> bool:
        """End a grant; False if there is none of this number that holds."""
        return await self._db.write(lambda tx: self._desk.granting.revoke(tx, grant_id, by=OPERATOR))

    async def pairings(self) -> list[Pairing]:
        """Who was let in by a code, and who holds one that is still good."""
        return await self._db.read(lambda tx: pairings.listed(tx, to_ms(self._clock())))

    async def approve_pairing(self, code: str) -> Decided:
        """Let the holder of a code in."""
        return await self._db.write(lambda tx: self._doorkeeper.approve(tx, code, OPERATOR))

    async def revoke_pairing(self, person: str) -> Decided:
        """Make a person (platform:user) a stranger again."""
        return await self._db.write(lambda tx: self._doorkeeper.revoke(tx, person, OPERATOR))

    async def verify_audit(self, noted: Head | None = None) -> AuditReport:
        """Check the whole audit log, also against a head that was noted elsewhere."""

        def check(tx: Tx) -> AuditReport:
            head = audit.head_of(tx)
            faults = verify(audit.rows(tx), head, key=self._audit_key, noted=noted)
            return AuditReport(head=head, faults=tuple(faults))

        # Head and rows by one transaction: what is written meanwhile must not look like a fault.
        return await self._db.write(check)

    async def export_audit(self) -> AsyncIterator[str]:
        """The audit log as lines of JSON, oldest first."""
        from_seq = 1
        while True:
            lines, from_seq = await self.audit_page(from_seq)
            if not lines:
                return
            for line in lines:
                yield line

    async def audit_page(self, from_seq: int) -> tuple[list[str], int]:
        """Some of the audit log from a row on, as lines of JSON, and where the next page begins; no lines: no more."""
        page = await self._db.read(partial(audit.page, from_seq=from_seq))
        return [audit.to_line(row) for row in page], page[-1].seq + 1 if page else from_seq

    async def export_person(self, person: str) -> dict[str, list[dict[str, Any]]]:
        """All that is kept of a person (platform:user), by table."""

        def gather(tx: Tx) -> dict[str, list[dict[str, Any]]]:
            self._audit.write(tx, actor=OPERATOR, action="person.exported", target=person)
            return people.gather(tx, person)

        return await self._db.write(gather)

    async def erase_person(self, person: str) -> dict[str, int]:
        """Remove all that is kept of a person (platform:user); returns how many rows, by table.

        Rows of the audit log stay, without their content. A person let in by a code is a stranger again; one in
        the configuration's lists is not forgotten there.
        """

        def erase(tx: Tx) -> tuple[dict[str, int], list[int]]:
            turn_ids = people.turn_ids(tx, person)
            self._doorkeeper.revoke(tx, person, OPERATOR)
            removed = people.erase(tx, person)
            seqs = [row.seq for row in audit.naming(tx, person)]
            audit.blank(tx, seqs)
            self._audit.write(tx, actor=OPERATOR, action=ERASURE, target=ERASED, rows=seqs)
            for head in lanes.runnable(tx):
                self._kick(tx, head)
            return {**removed, "audit": len(seqs)}, turn_ids

        removed, turn_ids = await self._db.write(erase)
        await asyncio.to_thread(_remove_results, self._results, turn_ids)
        if self._workspace is not None:
            await asyncio.to_thread(shutil.rmtree, self._workspace(person), ignore_errors=True)
        return removed


def _remove_results(folder: Path, turn_ids: list[int]) -> None:
    for turn_id in turn_ids:
        for file in folder.glob(f"call_{turn_id}_*"):
            file.unlink(missing_ok=True)
