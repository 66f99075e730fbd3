"""Turns that wait in their lane: they may grow, change, be dropped, or be given to the turn that runs.

Each inbound message of a turn is known by its platform's id (`turn_messages`), so that an edit or a deletion finds
it. Columns of `turns` that only this module and `turns.append` write:
`gathers`: more of the turn's message may come (`text`: the sender's client split it; `album:ID`); until `ready_at`
the turn is not run, and as long as it waits it is joined. `steers`: the turn that runs may take it over. `newer`:
texts of edits that the turn, which runs already, has still to hear, as JSON {message id: text}; under `REASON` and
a request's id, why somebody denied a call.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from gateway.messages import Target
from gateway.store import lanes
from gateway.store.inputs import Part, TurnInputRow
from gateway.store.lanes import IS_OPEN, OPEN_STATES, Fence, Head
from gateway.store.turns import TurnState
from gateway.store.tx import Row, Tx

REASON = "reason:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """An open turn as it stands in its lane."""

    id: int
    lane_id: int
    session_id: int
    requester: str
    state: TurnState
    input: TurnInputRow
    gathers: str | None
    ready_at: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The turn that a message belongs to; `heard_by`: the turn that reads it, itself or the one that took it."""

    turn: Standing
    heard_by: int
    line_id: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What a running turn took over; `message_id`: the message it answers with that, None for an edit."""

    text: TurnInputRow
    message_id: str | None


def head(tx: Tx, lane_id: int) -> Standing | None:
    """The lane's first open turn."""
    return _one(tx, "lane_id = :lane", "seq", lane=lane_id)


def last(tx: Tx, lane_id: int) -> Standing | None:
    """The lane's last open turn."""
    return _one(tx, "lane_id = :lane", "seq DESC", lane=lane_id)


def gathering(tx: Tx, lane_id: int, requester: str, what: str) -> Standing | None:
    """This person's newest waiting turn that gathers `what`; text only if the person said nothing since."""
    if what == "text":
        newest = _one(tx, "lane_id = :lane AND requester = :who", "seq DESC", lane=lane_id, who=requester)
        return newest if newest and (newest.state, newest.gathers) == ("queued", "text") else None
    return _one(
        tx,
        "lane_id = :lane AND requester = :who AND state = 'queued' AND gathers = :what",
        "seq DESC",
        lane=lane_id,
        who=requester,
        what=what,
    )


def places_taken(tx: Tx, requester: str) -> tuple[int, int]:
    """How many turns run or could run now: this person's, and all."""
    row = tx.row(
        "SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE requester = :who) AS own FROM turns"
        " WHERE state IN ('queued', 'running', 'ready')",
        who=requester,
    )
    assert row is not None
    return int(row["own"]), int(row["n"])


def rewrite(
    tx: Tx, turn_id: int, given: TurnInputRow, *, gathers: str | None, not_before_ms: int | None
) -> bool:
    """Change what a waiting turn says; False if it waits no more."""
    changed = tx.run(
        "UPDATE turns SET input = :input, gathers = :gathers, ready_at = :ready"
        " WHERE id = :id AND state = 'queued'",
        input=given.to_json(),
        gathers=gathers,
        ready=not_before_ms,
        id=turn_id,
    )
    return changed == 1


def flush(tx: Tx, lane_id: int) -> Head | None:
    """Nothing more is gathered in this lane; returns its head if it waited for that."""
    changed = tx.run(
        "UPDATE turns SET gathers = NULL, ready_at = NULL"
        f" WHERE lane_id = :lane AND state = 'queued' AND {IS_OPEN} AND gathers IS NOT NULL",
        lane=lane_id,
    )
    return lanes.head_of(tx, lane_id) if changed else None


def register(tx: Tx, target: Target, message_id: str, *, turn_id: int, line_id: int) -> None:
    """Know a message: which turn it belongs to, and which line of the transcript it is."""
    tx.run(
        "INSERT INTO turn_messages (platform, account, chat_id, message_id, turn_id, line_id)"
        " VALUES (:platform, :account, :chat, :message, :turn, :line)"
        " ON CONFLICT (platform, account, chat_id, message_id) DO UPDATE SET turn_id = :turn, line_id = :line",
        platform=target.platform,
        account=target.account,
        chat=target.chat_id,
        message=message_id,
        turn=turn_id,
        line=line_id,
    )


def forget(tx: Tx, target: Target, message_id: str) -> None:
    """Know a message no more: an edit that comes late must not bring it back."""
    tx.run(
        "DELETE FROM turn_messages WHERE platform = :platform AND account = :account AND chat_id = :chat"
        " AND message_id = :message",
        platform=target.platform,
        account=target.account,
        chat=target.chat_id,
        message=message_id,
    )


def find(tx: Tx, target: Target, message_id: str) -> Found | None:
    """The turn of a message, in whatever state."""
    row = tx.row(
        "SELECT t.*, m.line_id FROM turn_messages m JOIN turns t ON t.id = m.turn_id"
        " WHERE m.platform = :platform AND m.account = :account AND m.chat_id = :chat AND m.message_id = :message",
        platform=target.platform,
        account=target.account,
        chat=target.chat_id,
        message=message_id,
    )
    if row is None:
        return None
    return Found(turn=_standing(row), heard_by=row["merged_into"] or row["id"], line_id=row["line_id"])


def drop(tx: Tx, turn: Standing, why: str, now_ms: int) -> None:
    """A waiting turn is not run after all; a lane left empty rests."""
    tx.run(
        "UPDATE turns SET state = 'cancelled', finished_at = :now, error = :why WHERE id = :id AND state = 'queued'",
        now=now_ms,
        why=why,
        id=turn.id,
    )
    lanes.rest_if_empty(tx, turn.lane_id)


def say_newer(tx: Tx, turn_id: int, message_id: str, text: str) -> bool:
    """Keep an edit for a turn that has begun; the newest of a message counts. False if the turn is over."""
    row = tx.row(f"SELECT newer FROM turns WHERE id = :id AND state IN {OPEN_STATES}", id=turn_id)
    if row is None:
        return False
    newer = json.loads(row["newer"] or "{}") | {message_id: text}
    tx.run(
        "UPDATE turns SET newer = :newer WHERE id = :id",
        newer=json.dumps(newer, ensure_ascii=False),
        id=turn_id,
    )
    return True


def unheard(tx: Tx, turn_id: int) -> dict[str, str]:
    """What the turn has not heard yet, as `newer` holds it."""
    row = tx.row("SELECT newer FROM turns WHERE id = :id", id=turn_id)
    newer: dict[str, str] = json.loads(row["newer"] or "{}") if row else {}
    return newer


def has_unheard_edit(tx: Tx, turn_id: int) -> bool:
    """Whether a message of the turn was changed and the turn has not heard of it."""
    return any(not key.startswith(REASON) for key in unheard(tx, turn_id))


def hear(tx: Tx, fence: Fence, requester: str, now_ms: int) -> tuple[dict[str, str], Sequence[Standing]]:
    """Take over what the running turn is to hear: newer texts by message, and turns that are its own now.

    Raises:
        Fenced: someone else runs the lane by now.
    """
    fence.hold(tx, now_ms)
    newer = unheard(tx, fence.turn_id)
    if newer:
        tx.run("UPDATE turns SET newer = NULL WHERE id = :id", id=fence.turn_id)
    rows = _steering(tx, fence.lane_id, requester, now_ms)
    for row in rows:
        tx.run(
            "UPDATE turns SET state = 'merged', merged_into = :into, finished_at = :now WHERE id = :id",
            into=fence.turn_id,
            now=now_ms,
            id=row["id"],
        )
    return newer, [_standing(row) for row in rows]


def has_to_hear(tx: Tx, fence: Fence, requester: str, now_ms: int) -> bool:
    """Whether `hear` would return anything: a look without a write."""
    return bool(unheard(tx, fence.turn_id) or _steering(tx, fence.lane_id, requester, now_ms))


def _steering(tx: Tx, lane_id: int, requester: str, now_ms: int) -> list[Row]:
    """The person's waiting turns that may be taken over now; none overtakes another of theirs that may not."""
    rows = tx.rows(
        f"SELECT * FROM turns WHERE lane_id = :lane AND requester = :who AND state = 'queued' AND {IS_OPEN}"
        " ORDER BY seq",
        lane=lane_id,
        who=requester,
    )
    return list(takewhile(lambda row: row["steers"] and not lanes.is_early(row, now_ms), rows))


def _one(tx: Tx, where: str, order: str, /, **params: object) -> Standing | None:
    row = tx.row(
        f"SELECT * FROM turns WHERE {where} AND state IN {OPEN_STATES} ORDER BY {order} LIMIT 1", **params
    )
    return _standing(row) if row else None


def _standing(row: Row) -> Standing:
    return Standing(
        id=row["id"],
        lane_id=row["lane_id"],
        session_id=row["session_id"],
        requester=row["requester"],
        state=row["state"],
        input=TurnInputRow.from_json(row["input"]),
        gathers=row["gathers"],
        ready_at=row["ready_at"],
    )


def without(given: TurnInputRow, message_id: str) -> tuple[Part, ...]:
    """The messages of an input, one left out."""
    return tuple(part for part in given.parts if part.message_id != message_id)
