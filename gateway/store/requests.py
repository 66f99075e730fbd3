"""Requests: what a turn asks a person. One row each; the first valid answer wins in one conditional update."""

from dataclasses import dataclass
from typing import Literal

from gateway.store.tx import Row, Tx

RequestKind = Literal["approval", "task", "question", "confirmation"]
RequestState = Literal["pending", "approved", "denied", "expired", "closed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as stored. `prompt` is JSON: what its card shows; `args_hash` binds an approval to its call."""

    id: int
    turn_id: int
    lane_id: int
    call_id: str
    kind: RequestKind
    state: RequestState
    requester: str
    args_hash: str
    prompt: str
    created_at: int
    expires_at: int | None
    decided_by: str | None
    decided_at: int | None
    reason: str | None


def open_request(
    tx: Tx,
    *,
    turn_id: int,
    lane_id: int,
    call_id: str,
    kind: RequestKind,
    requester: str,
    args_hash: str,
    prompt: str,
    now_ms: int,
    expires_at: int | None,
) -> int:
    """Store a pending request; returns its id."""
    row = tx.row(
        "INSERT INTO requests (turn_id, lane_id, call_id, kind, state, requester, args_hash, prompt, created_at,"
        " expires_at) VALUES (:turn, :lane, :call, :kind, 'pending', :requester, :hash, :prompt, :now, :expires)"
        " RETURNING id",
        turn=turn_id,
        lane=lane_id,
        call=call_id,
        kind=kind,
        requester=requester,
        hash=args_hash,
        prompt=prompt,
        now=now_ms,
        expires=expires_at,
    )
    assert row is not None
    return int(row["id"])


def add_button(tx: Tx, *, token: str, request_id: int, choice: str) -> None:
    """Give the request one more button; tokens are random and never used again."""
    tx.run(
        "INSERT INTO buttons (token, request_id, choice) VALUES (:token, :request, :choice)",
        token=token,
        request=request_id,
        choice=choice,
    )


def by_token(tx: Tx, token: str) -> tuple[Request, str] | None:
    """The request a button belongs to, and what the button means."""
    row = tx.row(
        "SELECT r.*, b.choice FROM buttons b JOIN requests r ON r.id = b.request_id WHERE b.token = :token",
        token=token,
    )
    return (_request(row), row["choice"]) if row else None


def get(tx: Tx, request_id: int) -> Request | None:
    """A request by its id."""
    row = tx.row("SELECT * FROM requests WHERE id = :id", id=request_id)
    return _request(row) if row else None


def pending_in(tx: Tx, lane_id: int) -> Request | None:
    """The request that the lane waits for, if any."""
    row = tx.row(
        "SELECT * FROM requests WHERE lane_id = :lane AND state = 'pending' ORDER BY id LIMIT 1", lane=lane_id
    )
    return _request(row) if row else None


def of_call(tx: Tx, turn_id: int, call_id: str) -> Request | None:
    """The newest request about one call of a turn."""
    row = tx.row(
        "SELECT * FROM requests WHERE turn_id = :turn AND call_id = :call ORDER BY id DESC LIMIT 1",
        turn=turn_id,
        call=call_id,
    )
    return _request(row) if row else None


def pending_of_turn(tx: Tx, turn_id: int) -> list[Request]:
    """The turn's undecided requests."""
    rows = tx.rows(
        "SELECT * FROM requests WHERE turn_id = :turn AND state = 'pending' ORDER BY id", turn=turn_id
    )
    return [_request(row) for row in rows]


def due(tx: Tx, now_ms: int) -> list[Request]:
    """Requests nobody answered in time."""
    rows = tx.rows(
        "SELECT * FROM requests WHERE state = 'pending' AND expires_at <= :now ORDER BY id", now=now_ms
    )
    return [_request(row) for row in rows]


def decide(tx: Tx, request_id: int, *, state: RequestState, by: str, reason: str | None, now_ms: int) -> bool:
    """Settle a pending request; False if somebody else was first."""
    return (
        tx.run(
            "UPDATE requests SET state = :state, decided_by = :by, decided_at = :now, reason = :reason"
            " WHERE id = :id AND state = 'pending'",
            state=state,
            by=by,
            now=now_ms,
            reason=reason,
            id=request_id,
        )
        == 1
    )


def _request(row: Row) -> Request:
    return Request(
        id=row["id"],
        turn_id=row["turn_id"],
        lane_id=row["lane_id"],
        call_id=row["call_id"],
        kind=row["kind"],
        state=row["state"],
        requester=row["requester"],
        args_hash=row["args_hash"],
        prompt=row["prompt"],
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        decided_by=row["decided_by"],
        decided_at=row["decided_at"],
        reason=row["reason"],
    )
