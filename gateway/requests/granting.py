"""Gives and revokes grants: the row and its line in the audit log in one transaction."""

from gateway.clock import Clock, to_ms, utc_now
from gateway.requests import offers
from gateway.requests.grants import Pattern
from gateway.requests.offers import Held, Terms
from gateway.store import grants
from gateway.store.audit import AuditLog
from gateway.store.grants import Grant
from gateway.store.tx import Tx


class Granting:
    """See the module; who may do it, the caller decides."""

    def __init__(self, audit: AuditLog, *, clock: Clock = utc_now) -> None:
        self._audit = audit
        self._clock = clock

    def give(
        self,
        tx: Tx,
        *,
        subject: str,
        session_id: int | None,
        server: str,
        tool: str,
        pattern: Pattern,
        lasts_s: float | None,
        by: str,
        request_id: int | None = None,
    ) -> int:
        """Allow calls of a tool beforehand; returns the grant's number.

        Args:
            tx: The caller's transaction.
            subject: Whose calls (platform:user).
            session_id: In which session; None: in all of theirs.
            server: The tool's server, exactly.
            tool: The tool, exactly.
            pattern: Which arguments.
            lasts_s: For how long; None: until it is revoked.
            by: Who gives it (platform:user, or the operator).
            request_id: The request whose answer it is.
        """
        now_ms = to_ms(self._clock())
        grant_id = grants.add(
            tx,
            subject=subject,
            session_id=session_id,
            server=server,
            tool=tool,
            pattern=pattern.to_json(),
            granted_by=by,
            now_ms=now_ms,
            expires_at=None if lasts_s is None else now_ms + int(lasts_s * 1000),
            request_id=request_id,
        )
        self._audit.write(
            tx,
            actor=by,
            action="grant.given",
            target=f"grant:{grant_id}",
            subject=subject,
            tool=f"{server}/{tool}",
            session=session_id,
            pattern=pattern.words(),
            lasts_s=lasts_s,
        )
        return grant_id

    def held(self, tx: Tx, *, subject: str, server: str, tool: str) -> list[Held]:
        """What a person allowed of a tool, everywhere and until it is revoked."""
        return [
            Held(id=grant.id, pattern=Pattern.from_json(grant.pattern))
            for grant in grants.live(tx, to_ms(self._clock()), subject)
            if (grant.server, grant.tool, grant.scope, grant.expires_at) == (server, tool, "user", None)
        ]

    def revoke(self, tx: Tx, grant_id: int, *, by: str) -> bool:
        """End a grant now; False if there is none of this number that holds."""
        if not grants.revoke(tx, grant_id, to_ms(self._clock())):
            return False
        self._audit.write(tx, actor=by, action="grant.revoked", target=f"grant:{grant_id}")
        return True


def granted_words(grant: Grant) -> str:
    """A grant's terms for people."""
    lasts_s = None if grant.expires_at is None else (grant.expires_at - grant.granted_at) / 1000
    return offers.words(Terms(scope=grant.scope, pattern=Pattern.from_json(grant.pattern), lasts_s=lasts_s))
