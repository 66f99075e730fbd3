"""Requests: what a turn asks a person. One row each; the first valid answer wins in one conditional update."""

from dataclasses import dataclass
from typing import Literal

from gateway.store.tx import Row, Tx

RequestKind = Literal["approval", "task", "question", "confirmation"]
RequestState = Literal["pending", "approved", "denied", "postponed", "answered", "expired", "closed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request as stored. `prompt` is JSON: what its card shows.

    `args_hash` binds an approval to its call, `tool_hash` to what the tool was when it was shown.

    A confirmation belongs to no turn and no lane. `needed`: how many people must approve. `decided_by` is for
    people to read, `decider` an id (platform:user). `escalated_at`: its card was sent on to another chat.
    `answer`: what was answered to a question.
    """

    id: int
    turn_id: int | None
    lane_id: int | None
    call_id: str
    kind: RequestKind
    state: RequestState
    requester: str
    args_hash: str
    prompt: str
    created_at: int
    expires_at: int | None
    needed: int
    escalated_at: int | None
    decided_by: str | None
    decider: str | None
    decided_at: int | None
    reason: str | None
    answer: str | None = None
    tool_hash: str = ""


def open_request(
    tx: Tx,
    *,
    turn_id: int | None,
    lane_id: int | None,
    call_id: str,
    kind: RequestKind,
    requester: str,
    args_hash: str,
    prompt: str,
    now_ms: int,
    expires_at: int | None,
    needed: int = 1,
    tool_hash: str = "",
) -> int:
    """Store a pending request; returns its id. Asked again, the newest counts; never while one waits."""
    row = tx.row(
        "INSERT INTO requests (turn_id, lane_id, call_id, kind, state, requester, args_hash, tool_hash, prompt,"
        " created_at, expires_at, needed, n) VALUES (:turn, :lane, :call, :kind, 'pending', :requester, :hash, :tool,"
        " :prompt, :now,"
        " :expires, :needed, (SELECT COUNT(*) FROM requests WHERE turn_id = :turn AND call_id = :call"
        " AND kind = :kind AND state != 'pending')) RETURNING id",
        turn=turn_id,
        lane=lane_id,
        call=call_id,
        kind=kind,
        requester=requester,
        hash=args_hash,
        tool=tool_hash,
        prompt=prompt,
        now=now_ms,
        expires=expires_at,
        needed=needed,
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


def copy_button(tx: Tx, token: str, *, as_token: str) -> bool:
    """Give the request of a button another one that means the same; False if no button has this token."""
    found = by_token(tx, token)
    if found is not None:
        add_button(tx, token=as_token, request_id=found[0].id, choice=found[1])
    return found is not None


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


def of_call(tx: Tx, turn_id: int, call_id: str, kind: RequestKind = "approval") -> Request | None:
    """The newest request of this kind about one call of a turn."""
    row = tx.row(
        "SELECT * FROM requests WHERE turn_id = :turn AND call_id = :call AND kind = :kind ORDER BY id DESC LIMIT 1",
        turn=turn_id,
        call=call_id,
        kind=kind,
    )
    return _request(row) if row else None


def pending_of_turn(tx: Tx, turn_id: int) -> list[Request]:
    """The turn's undecided requests."""
    rows = tx.rows(
        "SELECT * FROM requests WHERE turn_id = :turn AND state = 'pending' ORDER BY id", turn=turn_id
    )
    return [_request(row) for row in rows]


def pending_confirmations(tx: Tx, call_id: str) -> list[Request]:
    """Undecided requests to confirm this."""
    rows = tx.rows(
        "SELECT * FROM requests WHERE kind = 'confirmation' AND call_id = :call AND state = 'pending' ORDER BY id",
        call=call_id,
    )
    return [_request(row) for row in rows]


def due(tx: Tx, now_ms: int) -> list[Request]:
    """Requests nobody answered in time."""
    rows = tx.rows(
        "SELECT * FROM requests WHERE state = 'pending' AND expires_at <= :now ORDER BY id", now=now_ms
    )
    return [_request(row) for row in rows]


def to_escalate(tx: Tx, opened_before_ms: int) -> list[Request]:
    """Approvals that have waited since then and were not sent on."""
    rows = tx.rows(
        "SELECT * FROM requests WHERE state = 'pending' AND kind = 'approval' AND escalated_at IS NULL"
        " AND created_at <= :before ORDER BY id",
        before=opened_before_ms,
    )
    return [_request(row) for row in rows]


def mark_escalated(tx: Tx, request_id: int, now_ms: int) -> None:
    """Its card was sent on."""
    tx.run("UPDATE requests SET escalated_at = :now WHERE id = :id", now=now_ms, id=request_id)


def add_vote(tx: Tx, request_id: int, *, voter: str, name: str, now_ms: int) -> None:
    """One of several people approved; saying so twice counts once."""
    tx.run(
        "INSERT INTO votes (request_id, voter, name, at) VALUES (:id, :voter, :name, :now) ON CONFLICT DO NOTHING",
        id=request_id,
        voter=voter,
        name=name,
        now=now_ms,
    )


def votes(tx: Tx, request_id: int) -> dict[str, str]:
    """Who approved so far: names by id, in order."""
    rows = tx.rows("SELECT voter, name FROM votes WHERE request_id = :id ORDER BY at, voter", id=request_id)
    return {row["voter"]: row["name"] for row in rows}


def denied_by(tx: Tx, turn_id: int, decider: str) -> Request | None:
    """The call of a turn that this person denied last, without having given a reason."""
    row = tx.row(
        "SELECT * FROM requests WHERE turn_id = :turn AND state = 'denied' AND decider = :who AND reason IS NULL"
        " ORDER BY id DESC LIMIT 1",
        turn=turn_id,
        who=decider,
    )
    return _request(row) if row else None


def set_reason(tx: Tx, request_id: int, reason: str) -> None:
    """Why a settled request was settled so."""
    tx.run("UPDATE requests SET reason = :reason WHERE id = :id", reason=reason, id=request_id)


def decide(
    tx: Tx,
    request_id: int,
    *,
    state: RequestState,
    by: str,
    reason: str | None,
    now_ms: int,
    decider: str | None = None,
    answer: str | None = None,
) -> bool:
    """Settle a pending request; False if somebody else was first."""
    return (
        tx.run(
            "UPDATE requests SET state = :state, decided_by = :by, decider = :decider, decided_at = :now,"
            " reason = :reason, answer = :answer WHERE id = :id AND state = 'pending'",
            state=state,
            by=by,
            decider=decider,
            now=now_ms,
            reason=reason,
            answer=answer,
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
        needed=row["needed"],
        escalated_at=row["escalated_at"],
        decided_by=row["decided_by"],
        decider=row["decider"],
        decided_at=row["decided_at"],
        reason=row["reason"],
        answer=row["answer"],
        tool_hash=row["tool_hash"],
    )
