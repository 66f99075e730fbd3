"""A turn's events read from any offset: nothing twice, nothing missed, also while it grows and after a restart."""

from dataclasses import dataclass

from gateway.store.turns import StoredEvent, TurnState
from gateway.store.tx import Tx

PAGE = 2_000
"""Events of one page; whoever wants more asks again from its end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Events with `idx >= from`, in order, and where to go on.

    `pruned`: the turn's events were removed for their age; `answer` is then what it said, else "".
    """

    turn_id: int
    lane_id: int
    requester: str
    state: TurnState
    events: tuple[StoredEvent, ...]
    next_offset: int
    pruned: bool
    answer: str


def read(tx: Tx, turn_id: int, from_idx: int, most: int = PAGE) -> Page | None:
    """One page; None if there is no such turn. A negative offset is 0."""
    # The state first: a turn that ends in between is then seen with its last events, and not as ended without.
    turn = tx.row("SELECT lane_id, requester, state, pruned_at FROM turns WHERE id = :id", id=turn_id)
    if turn is None:
        return None
    start = max(0, from_idx)
    rows = tx.rows(
        "SELECT idx, kind, payload FROM turn_events WHERE turn_id = :turn AND idx >= :start ORDER BY idx LIMIT :most",
        turn=turn_id,
        start=start,
        most=most,
    )
    events = tuple(StoredEvent(idx=row["idx"], kind=row["kind"], payload=row["payload"]) for row in rows)
    pruned = turn["pruned_at"] is not None
    return Page(
        turn_id=turn_id,
        lane_id=turn["lane_id"],
        requester=turn["requester"],
        state=turn["state"],
        events=events,
        next_offset=events[-1].idx + 1 if events else start,
        pruned=pruned,
        answer=_answer(tx, turn_id) if pruned else "",
    )


def _answer(tx: Tx, turn_id: int) -> str:
    rows = tx.rows(
        "SELECT body FROM messages WHERE turn_id = :turn AND role = 'answer' ORDER BY id", turn=turn_id
    )
    return "\n\n".join(row["body"] for row in rows)
