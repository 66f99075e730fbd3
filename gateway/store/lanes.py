"""Lanes: a session key's queue. Its row gives order (`next_seq`), exclusivity (`active`) and the fence (`epoch`).

`active` is set while somebody shall run the lane's head, or while its head waits for a person; whoever sets it
owes a kick. Only the head, the lowest open turn, may run.
"""

import json
from dataclasses import dataclass

from gateway.errors import Fenced
from gateway.messages import Target
from gateway.source import is_direct
from gateway.store.tx import Row, Tx

OPEN_STATES = "('queued', 'running', 'waiting', 'ready')"
IS_OPEN = f"state IN {OPEN_STATES}"
"""The words of the index of open turns. SQLite uses it only for queries that say the same, narrower ones included."""

LONGEST_WAIT_MS = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A lane's row as it was read; `session_id` is None only before its first session.

    `full_told`: who was told that the lane is full, since it last took a message.
    """

    id: int
    session_id: int | None
    target: Target
    full_told: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The turn at the head of a lane that may run; `resumed`: it ran before and goes before new ones.

    `not_before_ms`: more of its message may come until then (0: it may run at once).
    """

    lane_id: int
    requester: str
    resumed: bool
    not_before_ms: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Fence:
    """A runner's right to write a turn: void as soon as the lane's epoch moved on."""

    lane_id: int
    turn_id: int
    epoch: int

    def hold(self, tx: Tx, now_ms: int) -> None:
        """Lock the lane for this transaction.

        Raises:
            Fenced: someone else runs the lane by now.
        """
        if not tx.run(
            "UPDATE lanes SET updated_at = :now WHERE id = :lane AND epoch = :epoch",
            now=now_ms,
            lane=self.lane_id,
            epoch=self.epoch,
        ):
            raise Fenced(f"lane {self.lane_id} is at another epoch than {self.epoch}")


def lock(tx: Tx, key: str, target: Target, now_ms: int) -> Lane:
    """Find or make the lane of a session key, and hold its row until the transaction ends."""
    row = tx.row(
        "INSERT INTO lanes (key, platform, account, chat_id, thread_id, updated_at)"
        " VALUES (:key, :platform, :account, :chat, :thread, :now)"
        " ON CONFLICT (key) DO UPDATE SET updated_at = :now"
        " RETURNING id, session_id, full_told, platform, account, chat_id, thread_id",
        key=key,
        platform=target.platform,
        account=target.account,
        chat=target.chat_id,
        thread=target.thread_id,
        now=now_ms,
    )
    assert row is not None
    return _lane(row)


def find(tx: Tx, key: str) -> Lane | None:
    """The lane of a session key, if anybody ever wrote there."""
    row = tx.row(
        "SELECT id, session_id, full_told, platform, account, chat_id, thread_id FROM lanes WHERE key = :key",
        key=key,
    )
    return _lane(row) if row else None


def get(tx: Tx, lane_id: int) -> Lane:
    """A lane by its id."""
    row = tx.row(
        "SELECT id, session_id, full_told, platform, account, chat_id, thread_id FROM lanes WHERE id = :id",
        id=lane_id,
    )
    assert row is not None
    return _lane(row)


def direct_with(tx: Tx, platform: str, account: str, requester: str) -> Lane | None:
    """The lane of a person's direct chat with an account, if they ever wrote there."""
    rows = tx.rows(
        "SELECT l.id, l.key, l.session_id, l.full_told, l.platform, l.account, l.chat_id, l.thread_id FROM lanes l"
        " WHERE l.platform = :platform AND l.account = :account"
        " AND l.id IN (SELECT t.lane_id FROM turns t WHERE t.requester = :who) ORDER BY l.updated_at DESC",
        platform=platform,
        account=account,
        who=requester,
    )
    return next((_lane(row) for row in rows if is_direct(row["key"])), None)


def next_seq(tx: Tx, lane_id: int) -> tuple[int, bool]:
    """Draw the next place in the lane and mark it active; returns (seq, whether it was active before)."""
    row = tx.row(
        "UPDATE lanes SET was_active = active, active = 1, full_told = '[]', next_seq = next_seq + 1"
        " WHERE id = :id RETURNING next_seq - 1 AS seq, was_active",
        id=lane_id,
    )
    assert row is not None
    return int(row["seq"]), bool(row["was_active"])


def set_session(tx: Tx, lane_id: int, session_id: int) -> None:
    """Make `session_id` the lane's current session."""
    tx.run("UPDATE lanes SET session_id = :session WHERE id = :id", session=session_id, id=lane_id)


def say_full(tx: Tx, lane: Lane, requester: str) -> None:
    """Remember that this person was told that the lane is full; forgotten with the next turn taken."""
    told = json.dumps(sorted({*lane.full_told, requester}))
    tx.run("UPDATE lanes SET full_told = :told WHERE id = :id", told=told, id=lane.id)


def head_of(tx: Tx, lane_id: int) -> Head | None:
    """The lane's head if it may run: None for an empty lane and while the head waits for a person."""
    row = tx.row(
        "SELECT lane_id, requester, state, ready_at FROM turns"
        f" WHERE lane_id = :id AND state IN {OPEN_STATES} ORDER BY seq LIMIT 1",
        id=lane_id,
    )
    return None if row is None or row["state"] == "waiting" else _head(row)


def is_early(turn: Row, now_ms: int) -> bool:
    """Whether a turn (`state`, `ready_at`) may not run yet.

    A moment that lies further ahead than anybody would wait was set by a clock that has been put back since.
    """
    return turn["state"] == "queued" and now_ms < (turn["ready_at"] or 0) <= now_ms + LONGEST_WAIT_MS


def release(tx: Tx, lane_id: int) -> Head | None:
    """Give the lane up after a turn: stays active for a head that may run (returned), else rests."""
    head = head_of(tx, lane_id)
    waiting = head is None and tx.row(
        f"SELECT 1 AS x FROM turns WHERE lane_id = :id AND state = 'waiting' AND {IS_OPEN} LIMIT 1",
        id=lane_id,
    )
    tx.run(
        "UPDATE lanes SET active = :active, owner = NULL WHERE id = :id",
        active=int(head is not None or bool(waiting)),
        id=lane_id,
    )
    return head


def rest_if_empty(tx: Tx, lane_id: int) -> None:
    """A lane without an open turn is not active: the next message kicks it."""
    tx.run(
        "UPDATE lanes SET active = 0 WHERE id = :id"
        f" AND NOT EXISTS (SELECT 1 FROM turns WHERE lane_id = :id AND state IN {OPEN_STATES})",
        id=lane_id,
    )


def runnable(tx: Tx) -> list[Head]:
    """All heads that may run, oldest first: what a start and the sweep have to kick."""
    rows = tx.rows(
        "SELECT t.id, t.lane_id, t.requester, t.state, t.ready_at FROM turns t"
        f" WHERE t.state != 'waiting' AND t.{IS_OPEN} AND t.seq = (SELECT MIN(o.seq) FROM turns o"
        f" WHERE o.lane_id = t.lane_id AND o.{IS_OPEN})"
    )
    # Sorted here: to save itself the sorting, SQLite would walk through all turns there ever were.
    return [_head(row) for row in sorted(rows, key=lambda row: int(row["id"]))]


def _head(row: Row) -> Head:
    is_new = row["state"] == "queued"
    return Head(
        lane_id=row["lane_id"],
        requester=row["requester"],
        resumed=not is_new,
        not_before_ms=(row["ready_at"] or 0) if is_new else 0,
    )


def _lane(row: Row) -> Lane:
    return Lane(
        id=row["id"],
        session_id=row["session_id"],
        full_told=frozenset(json.loads(row["full_told"])),
        target=Target(
            platform=row["platform"],
            account=row["account"],
            chat_id=row["chat_id"],
            thread_id=row["thread_id"],
        ),
    )
