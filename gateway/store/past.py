"""A lane's sessions of before: what there is to go back to, and going back."""

from dataclasses import dataclass

from gateway.store import lanes
from gateway.store.tx import Tx


@dataclass(frozen=True, slots=True, kw_only=True)
class PastSession:
    """One conversation of a lane; `title` is its first question, "" if there is none to tell."""

    id: int
    title: str
    last_active_at: int
    turns: int
    is_current: bool


def of_lane(tx: Tx, lane_id: int, most: int) -> list[PastSession]:
    """The lane's sessions in which something was said, the last active first."""
    rows = tx.rows(
        "SELECT s.id, s.title, s.last_active_at, l.session_id AS current,"
        " (SELECT COUNT(*) FROM turns t WHERE t.session_id = s.id) AS turns"
        " FROM sessions s JOIN lanes l ON l.id = s.lane_id WHERE s.lane_id = :lane"
        " AND EXISTS (SELECT 1 FROM turns t WHERE t.session_id = s.id)"
        " ORDER BY s.last_active_at DESC, s.id DESC LIMIT :most",
        lane=lane_id,
        most=most,
    )
    return [
        PastSession(
            id=row["id"],
            title=row["title"] or "",
            last_active_at=row["last_active_at"],
            turns=row["turns"],
            is_current=row["id"] == row["current"],
        )
        for row in rows
    ]


def go_back(tx: Tx, lane_id: int, session_id: int, now_ms: int) -> bool:
    """Make an older session of the lane its current one; False if it is none of the lane's.

    What was allowed for that session ended with it and does not come back.
    """
    row = tx.row(
        "SELECT 1 AS x FROM sessions WHERE id = :id AND lane_id = :lane", id=session_id, lane=lane_id
    )
    if row is None:
        return False
    tx.run(
        "UPDATE sessions SET ended_at = :now, end_reason = 'left' WHERE ended_at IS NULL"
        " AND id = (SELECT session_id FROM lanes WHERE id = :lane)",
        now=now_ms,
        lane=lane_id,
    )
    tx.run(
        "UPDATE sessions SET ended_at = NULL, end_reason = NULL, last_active_at = :now WHERE id = :id",
        now=now_ms,
        id=session_id,
    )
    tx.run(
        "UPDATE grants SET revoked_at = :now WHERE session_id = :id AND revoked_at IS NULL",
        now=now_ms,
        id=session_id,
    )
    lanes.set_session(tx, lane_id, session_id)
    return True
