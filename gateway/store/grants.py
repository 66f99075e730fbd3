"""Grants: what a person allowed beforehand. `subject` is whose calls are covered, never anybody else's."""

from dataclasses import dataclass
from typing import Literal

from gateway.store.tx import Row, Tx

GrantScope = Literal["session", "user"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """A grant as stored; `session_id` is set for scope `session`, `pattern` as in `gateway.requests.grants`."""

    id: int
    scope: GrantScope
    subject: str
    session_id: int | None
    server: str
    tool: str
    pattern: str | None
    granted_by: str
    granted_at: int
    expires_at: int | None
    revoked_at: int | None
    request_id: int | None

    @property
    def ref(self) -> str:
        """`server/tool`."""
        return f"{self.server}/{self.tool}"


def add(
    tx: Tx,
    *,
    subject: str,
    session_id: int | None,
    server: str,
    tool: str,
    pattern: str | None,
    granted_by: str,
    now_ms: int,
    expires_at: int | None,
    request_id: int | None = None,
) -> int:
    """Store a grant, of one session or (None) of all the person's; returns its number."""
    row = tx.row(
        "INSERT INTO grants (scope, subject, session_id, server, tool, pattern, granted_by, granted_at, expires_at,"
        " request_id) VALUES (:scope, :subject, :session, :server, :tool, :pattern, :by, :now, :expires, :request)"
        " RETURNING id",
        scope="user" if session_id is None else "session",
        subject=subject,
        session=session_id,
        server=server,
        tool=tool,
        pattern=pattern,
        by=granted_by,
        now=now_ms,
        expires=expires_at,
        request=request_id,
    )
    assert row is not None
    return int(row["id"])


def live_for(
    tx: Tx, *, subject: str, session_id: int, server: str, tool: str, now_ms: int
) -> tuple[Grant, ...]:
    """The person's grants for this very tool that hold now, in this session."""
    rows = tx.rows(
        "SELECT * FROM grants WHERE scope IN ('session', 'user') AND subject = :subject AND server = :server"
        " AND tool = :tool AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)"
        " AND (session_id IS NULL OR session_id = :session) ORDER BY id",
        subject=subject,
        server=server,
        tool=tool,
        now=now_ms,
        session=session_id,
    )
    return tuple(_grant(row) for row in rows)


def live(tx: Tx, now_ms: int, subject: str | None = None) -> list[Grant]:
    """All grants that hold now, or one person's; those of ended sessions are left out."""
    rows = tx.rows(
        "SELECT g.* FROM grants g LEFT JOIN sessions s ON s.id = g.session_id WHERE g.revoked_at IS NULL"
        " AND (g.expires_at IS NULL OR g.expires_at > :now) AND s.ended_at IS NULL"
        " AND (:subject IS NULL OR g.subject = :subject) ORDER BY g.id",
        now=now_ms,
        subject=subject,
    )
    return [_grant(row) for row in rows]


def get(tx: Tx, grant_id: int) -> Grant | None:
    """A grant by its number."""
    row = tx.row("SELECT * FROM grants WHERE id = :id", id=grant_id)
    return _grant(row) if row else None


def of_request(tx: Tx, request_id: int) -> Grant | None:
    """The grant that a request's answer made."""
    row = tx.row("SELECT * FROM grants WHERE request_id = :id ORDER BY id LIMIT 1", id=request_id)
    return _grant(row) if row else None


def revoke(tx: Tx, grant_id: int, now_ms: int) -> bool:
    """End a grant now; False if it had ended before."""
    return (
        tx.run(
            "UPDATE grants SET revoked_at = :now WHERE id = :id AND revoked_at IS NULL"
            " AND (expires_at IS NULL OR expires_at > :now)",
            now=now_ms,
            id=grant_id,
        )
        == 1
    )


def _grant(row: Row) -> Grant:
    return Grant(
        id=row["id"],
        scope=row["scope"],
        subject=row["subject"],
        session_id=row["session_id"],
        server=row["server"],
        tool=row["tool"],
        pattern=row["pattern"],
        granted_by=row["granted_by"],
        granted_at=row["granted_at"],
        expires_at=row["expires_at"],
        revoked_at=row["revoked_at"],
        request_id=row["request_id"],
    )
