"""A failed turn tried again: a new turn at the lane's end that goes on from the failed one's records.

The question, its message ids and what finished tools returned move on to the new turn; the failed one keeps what
people were told. What the agent had kept of the failure is forgotten, so that no history holds the question twice.
A turn is tried again once; a failure of the new one can be tried again in its turn.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from gateway.events import INTERNAL_KINDS
from gateway.messages import Target
from gateway.store import lanes, turns
from gateway.store.inputs import TurnInputRow
from gateway.store.lanes import Head
from gateway.store.turns import StoredEvent
from gateway.store.tx import Row, Tx

_RECORDS = INTERNAL_KINDS | {"task"}
"""What a turn is rebuilt from: a task that was accepted begins a leg of it."""

RETRYABLE = ("provider", "empty")
"""Failures that are the provider's or the network's: trying again may help."""

_IS_OPEN_TO_RETRY = "t.state = 'failed' AND t.failure IN ('provider', 'empty') AND t.retried_as IS NULL"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedTurn:
    """A turn that may be tried again; `is_current`: its session is the lane's; `pruned`: its steps are forgotten."""

    id: int
    lane_id: int
    requester: str
    target: Target
    is_current: bool
    pruned: bool


def get(tx: Tx, turn_id: int) -> FailedTurn | None:
    """A turn, if it failed in a way that may be tried again and was not yet."""
    return _failed(tx, "t.id = :turn", turn=turn_id)


def last_of_lane(tx: Tx, lane_id: int) -> FailedTurn | None:
    """The newest such turn of the lane's current session."""
    return _failed(tx, "t.lane_id = :lane AND t.session_id = l.session_id", lane=lane_id)


def is_busy(tx: Tx, lane_id: int) -> bool:
    """Whether a turn of the lane has begun and not ended: it has counted places in the history that it read.

    Takes the lane's row, so that none begins in another process before this transaction ends.
    """
    tx.run("UPDATE lanes SET updated_at = updated_at WHERE id = :lane", lane=lane_id)
    return any(state != "queued" for _, state in turns.open_turns(tx, lane_id))


def again(tx: Tx, turn_id: int, now_ms: int) -> tuple[int, Head | None] | None:
    """Put the failed turn at its lane's end as a new one; its id and the head to kick. None: somebody was first.

    Only while no turn of the lane `is_busy`: rows go from the history that it works with.
    """
    row = tx.row(
        f"UPDATE turns AS t SET retried_as = 0 WHERE t.id = :id AND {_IS_OPEN_TO_RETRY} AND t.pruned_at IS NULL"
        " RETURNING lane_id, session_id, requester, agent, kind, input, message_id, kept_from",
        id=turn_id,
    )
    if row is None:
        return None
    new_id, head = turns.append(
        tx,
        lane_id=row["lane_id"],
        session_id=row["session_id"],
        requester=row["requester"],
        agent=row["agent"],
        kind=row["kind"],
        given=TurnInputRow.from_json(row["input"]),
        message_id=row["message_id"],
        now_ms=now_ms,
    )
    events = turns.events_of(tx, turn_id)
    # A history that was compressed meanwhile has other places than these records name, and rows of later turns may
    # hold part of this one: the new turn begins at the question, and the agent reads in its history what was done.
    goes_on = not any(event.kind == "compressed" for event in events) and not _compressed_since(
        tx, turn_id, row
    )
    if goes_on:
        records = [event for event in events if event.kind in _RECORDS]
        _take_records(tx, records, new_id, now_ms)
    tx.run("UPDATE turns SET retried_as = :new WHERE id = :id", new=new_id, id=turn_id)
    for moved in ("turn_messages", "inbox"):
        tx.run(f"UPDATE {moved} SET turn_id = :new WHERE turn_id = :id", new=new_id, id=turn_id)
    tx.run(
        "UPDATE messages SET turn_id = :new WHERE turn_id = :id AND role = 'question'", new=new_id, id=turn_id
    )
    if goes_on:
        # What earlier legs of the turn left stays: they are over, and are not told again.
        tx.run(
            "DELETE FROM agent_state WHERE turn_id = :id AND session_id = :session AND agent = :agent"
            " AND seq >= :from",
            id=turn_id,
            session=row["session_id"],
            agent=row["agent"],
            **{"from": row["kept_from"] or 0},
        )
    return new_id, head


def _compressed_since(tx: Tx, turn_id: int, failed: Row) -> bool:
    """Whether a later turn joined rows of the history that the failed one wrote to."""
    joined = tx.row(
        "SELECT 1 AS x FROM agent_state WHERE session_id = :session AND agent = :agent AND mixed = 1"
        " AND turn_id > :id LIMIT 1",
        session=failed["session_id"],
        agent=failed["agent"],
        id=turn_id,
    )
    return joined is not None


def _take_records(tx: Tx, records: Sequence[StoredEvent], new_id: int, now_ms: int) -> None:
    tx.run_many(
        "INSERT INTO turn_events (turn_id, idx, epoch, kind, payload, at)"
        " VALUES (:turn, :idx, 0, :kind, :payload, :now)",
        [
            {"turn": new_id, "idx": idx, "kind": kind, "payload": payload, "now": now_ms}
            for idx, (kind, payload) in enumerate(_kept(records))
        ],
    )


def _kept(records: Sequence[StoredEvent]) -> list[tuple[str, str]]:
    """The records up to the send that failed; what was answered before has been counted and paid for already."""
    last = max((n for n, event in enumerate(records) if event.kind == "model_response"), default=-1)
    kept = []
    for number, event in enumerate(records):
        payload = event.payload
        if event.kind == "paid":
            continue
        if event.kind == "checkpoint" and number > last and json.loads(payload)["name"] == "A":
            continue
        if event.kind == "model_response":
            payload = json.dumps(
                {**json.loads(payload), "usage": {}}, ensure_ascii=False, separators=(",", ":")
            )
        kept.append((event.kind, payload))
    return kept


def _failed(tx: Tx, where: str, **params: object) -> FailedTurn | None:
    row = tx.row(
        "SELECT t.id, t.lane_id, t.requester, t.pruned_at, t.session_id, l.session_id AS current"
        " FROM turns t JOIN lanes l ON l.id = t.lane_id"
        f" WHERE {where} AND {_IS_OPEN_TO_RETRY} ORDER BY t.id DESC LIMIT 1",
        **params,
    )
    return None if row is None else _turn(tx, row)


def _turn(tx: Tx, row: Row) -> FailedTurn:
    return FailedTurn(
        id=row["id"],
        lane_id=row["lane_id"],
        requester=row["requester"],
        target=lanes.get(tx, row["lane_id"]).target,
        is_current=row["session_id"] == row["current"],
        pruned=row["pruned_at"] is not None,
    )
