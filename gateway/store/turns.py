"""Turns: one user input and all until the reply; claimed by epoch, written only behind a fence."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from gateway.messages import Target
from gateway.store import lanes
from gateway.store.inputs import TurnInputRow
from gateway.store.lanes import IS_OPEN, OPEN_STATES, Fence, Head
from gateway.store.tx import Row, Tx

TurnState = Literal["queued", "running", "waiting", "ready", "done", "failed", "cancelled", "merged"]
Ended = Literal["done", "failed", "cancelled"]
Stop = Literal["stop", "reset"]
Kind = Literal["message", "compact"]

COMPACT: Kind = "compact"
"""The kind of a turn that nobody's message opened: it shortens the history in the lane's order."""

TORN_PER_TRY = 3
"""So many sends that were cut while the model spoke count as one try."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEvent:
    """One event of a turn: `idx` is gapless from 0; `payload` is JSON text."""

    idx: int
    kind: str
    payload: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A turn that this runner may run now, with all that is needed to go on from where it stood."""

    fence: Fence
    session_id: int
    requester: str
    agent: str
    kind: Kind
    input: TurnInputRow
    message_id: str | None
    target: Target
    attempt: int
    stop: Stop | None
    ran_ms: int
    events: tuple[StoredEvent, ...]
    history: tuple[str, ...] = field(default=())

    @property
    def turn_id(self) -> int:
        """The turn's id."""
        return self.fence.turn_id


def append(
    tx: Tx,
    *,
    lane_id: int,
    session_id: int,
    requester: str,
    agent: str,
    kind: Kind,
    given: TurnInputRow,
    message_id: str | None,
    now_ms: int,
    gathers: str | None = None,
    not_before_ms: int | None = None,
    steers: bool = False,
) -> tuple[int, Head | None]:
    """Put a turn at the lane's end; returns its id and, if nobody runs the lane, the head to kick.

    `gathers`, `not_before_ms`: more of its message may come until then. `steers`: it may be given to the turn
    that runs now. All three: see `gateway.store.pending`.
    """
    seq, was_active = lanes.next_seq(tx, lane_id)
    row = tx.row(
        "INSERT INTO turns (lane_id, session_id, seq, requester, agent, kind, state, input, message_id, created_at,"
        " gathers, ready_at, steers) VALUES (:lane, :session, :seq, :requester, :agent, :kind, 'queued', :input,"
        " :message, :now, :gathers, :ready, :steers) RETURNING id",
        lane=lane_id,
        session=session_id,
        seq=seq,
        requester=requester,
        agent=agent,
        kind=kind,
        input=given.to_json(),
        message=message_id,
        now=now_ms,
        gathers=gathers,
        ready=not_before_ms,
        steers=int(steers),
    )
    assert row is not None
    head = Head(lane_id=lane_id, requester=requester, resumed=False, not_before_ms=not_before_ms or 0)
    return int(row["id"]), None if was_active else head


def open_count(tx: Tx, lane_id: int) -> int:
    """How many turns of the lane are not ended."""
    row = tx.row(
        f"SELECT COUNT(*) AS n FROM turns WHERE lane_id = :lane AND state IN {OPEN_STATES}", lane=lane_id
    )
    assert row is not None
    return int(row["n"])


def has_open(tx: Tx, lane_id: int, kind: Kind) -> bool:
    """Whether a turn of this kind runs or waits in the lane."""
    found = tx.row(
        f"SELECT 1 AS one FROM turns WHERE lane_id = :lane AND kind = :kind AND state IN {OPEN_STATES} LIMIT 1",
        lane=lane_id,
        kind=kind,
    )
    return found is not None


def open_turns(tx: Tx, lane_id: int) -> list[tuple[int, TurnState]]:
    """The lane's open turns in order, as (id, state)."""
    rows = tx.rows(
        f"SELECT id, state FROM turns WHERE lane_id = :lane AND state IN {OPEN_STATES} ORDER BY seq",
        lane=lane_id,
    )
    return [(row["id"], row["state"]) for row in rows]


def agent_in(tx: Tx, session_id: int) -> str | None:
    """The agent that was last spoken to in a session; None if nobody spoke there yet."""
    row = tx.row(
        "SELECT agent FROM turns WHERE session_id = :session ORDER BY seq DESC LIMIT 1", session=session_id
    )
    return None if row is None else str(row["agent"])


def last_requester(tx: Tx, session_id: int) -> str | None:
    """Who spoke last in a session (platform:user); None if nobody did, or it is forgotten."""
    row = tx.row(
        "SELECT requester FROM turns WHERE session_id = :session ORDER BY seq DESC LIMIT 1",
        session=session_id,
    )
    return None if row is None else str(row["requester"])


def session_of(tx: Tx, turn_id: int) -> int:
    """The session a turn belongs to."""
    row = tx.row("SELECT session_id FROM turns WHERE id = :id", id=turn_id)
    assert row is not None
    return int(row["session_id"])


def claim(tx: Tx, lane_id: int, owner: str, now_ms: int) -> Claim | Head | None:
    """Take the lane and its head.

    None if there is nothing to run (the lane is then at rest); a `Head` if the head may not run before its time.
    """
    lane = tx.row(
        "UPDATE lanes SET epoch = epoch + 1, owner = :owner, active = 1, updated_at = :now WHERE id = :id"
        " RETURNING epoch, platform, account, chat_id, thread_id",
        owner=owner,
        now=now_ms,
        id=lane_id,
    )
    if lane is None:
        return None
    head = tx.row(
        f"SELECT * FROM turns WHERE lane_id = :lane AND state IN {OPEN_STATES} ORDER BY seq LIMIT 1",
        lane=lane_id,
    )
    if head is None or head["state"] == "waiting" or lanes.is_early(head, now_ms):
        return lanes.release(tx, lane_id)
    events = events_of(tx, head["id"])
    tried = tries(events)
    # What was tried before an orderly hand-back (or a wait) does not count against the turn.
    forgiven = min(head["progress"], tried) if head["state"] == "running" else tried
    attempt = tried - forgiven + 1
    tx.run(
        "UPDATE turns SET state = 'running', epoch = :epoch, attempt = :attempt, progress = :progress,"
        " started_at = COALESCE(started_at, :now) WHERE id = :id",
        epoch=lane["epoch"],
        attempt=attempt,
        progress=forgiven,
        now=now_ms,
        id=head["id"],
    )
    return Claim(
        fence=Fence(lane_id=lane_id, turn_id=head["id"], epoch=lane["epoch"]),
        session_id=head["session_id"],
        requester=head["requester"],
        agent=head["agent"],
        kind=head["kind"],
        input=TurnInputRow.from_json(head["input"]),
        message_id=head["message_id"],
        target=_target(lane),
        attempt=attempt,
        stop=head["stop"],
        ran_ms=head["ran_ms"],
        events=events,
        history=_history(tx, head["session_id"], head["agent"]),
    )


def tries(events: Iterable[StoredEvent]) -> int:
    """How often a turn began a send, or a tool again, since it last came forward.

    A response, a result and a tool's first start are progress. A run that was killed before it did anything is no
    try: a daemon that dies while it starts must not wear its turns out. A send that was cut while the model spoke is
    a third of one: it went well as long as it was let, so whatever killed the daemon was hardly this turn.
    """
    silent, torn = 0, 0
    spoke = True
    started: set[str] = set()
    for event in events:
        match event.kind:
            case "model_response" | "tool_result":
                silent, torn = 0, 0
            case "checkpoint" if json.loads(event.payload)["name"] == "A":
                silent, spoke = silent + 1, False
            case "text" | "thinking" if not spoke:
                silent, torn, spoke = silent - 1, torn + 1, True
            case "tool_started":
                call_id = json.loads(event.payload)["call_id"]
                silent, torn = (silent + 1, torn) if call_id in started else (0, 0)
                started.add(call_id)
    return silent + torn // TORN_PER_TRY


def events_of(tx: Tx, turn_id: int, from_idx: int = 0) -> tuple[StoredEvent, ...]:
    """The turn's events with `idx >= from_idx`, in order."""
    rows = tx.rows(
        "SELECT idx, kind, payload FROM turn_events WHERE turn_id = :turn AND idx >= :from ORDER BY idx",
        turn=turn_id,
        **{"from": from_idx},
    )
    return tuple(StoredEvent(idx=row["idx"], kind=row["kind"], payload=row["payload"]) for row in rows)


def next_idx(tx: Tx, turn_id: int) -> int:
    """The number of the turn's next event."""
    row = tx.row(
        "SELECT COALESCE(MAX(idx), -1) + 1 AS idx FROM turn_events WHERE turn_id = :turn", turn=turn_id
    )
    assert row is not None
    return int(row["idx"])


def append_events(tx: Tx, fence: Fence, events: Iterable[StoredEvent], now_ms: int) -> None:
    """Store events behind the fence, in the caller's transaction.

    Raises:
        Fenced: someone else runs the lane by now.
    """
    fence.hold(tx, now_ms)
    tx.run_many(
        "INSERT INTO turn_events (turn_id, idx, epoch, kind, payload, at)"
        " VALUES (:turn, :idx, :epoch, :kind, :payload, :now)",
        [
            {
                "turn": fence.turn_id,
                "idx": event.idx,
                "epoch": fence.epoch,
                "kind": event.kind,
                "payload": event.payload,
                "now": now_ms,
            }
            for event in events
        ],
    )


def set_input(tx: Tx, fence: Fence, given: TurnInputRow, now_ms: int) -> None:
    """Keep what was found out about a turn's files.

    Raises:
        Fenced: someone else runs the lane by now.
    """
    fence.hold(tx, now_ms)
    tx.run("UPDATE turns SET input = :input WHERE id = :id", input=given.to_json(), id=fence.turn_id)


def park(tx: Tx, fence: Fence, *, ran_ms: int, now_ms: int) -> None:
    """The turn waits for a person: no runner, the lane stays closed behind it."""
    fence.hold(tx, now_ms)
    tx.run("UPDATE turns SET state = 'waiting', ran_ms = :ran WHERE id = :id", ran=ran_ms, id=fence.turn_id)
    tx.run("UPDATE lanes SET owner = NULL WHERE id = :id", id=fence.lane_id)


def unpark(tx: Tx, turn_id: int, now_ms: int) -> Head | None:
    """A person has decided: the turn is ready; returns the head to kick, or None if it waited no more."""
    row = tx.row(
        "UPDATE turns SET state = 'ready', ready_at = :now WHERE id = :id AND state = 'waiting'"
        " RETURNING lane_id, requester",
        now=now_ms,
        id=turn_id,
    )
    return Head(lane_id=row["lane_id"], requester=row["requester"], resumed=True) if row else None


def hand_back(tx: Tx, fence: Fence, *, ran_ms: int, now_ms: int) -> bool:
    """The runner stops before the turn's end (shutdown): it goes on from its last checkpoint later.

    False if there is nothing to hand back: the turn has just ended or waits for a person.
    """
    fence.hold(tx, now_ms)
    is_open = tx.run(
        "UPDATE turns SET state = 'ready', ready_at = :now, ran_ms = :ran WHERE id = :id AND state = 'running'",
        now=now_ms,
        ran=ran_ms,
        id=fence.turn_id,
    )
    tx.run("UPDATE lanes SET owner = NULL WHERE id = :id", id=fence.lane_id)
    return is_open == 1


def end(
    tx: Tx,
    fence: Fence,
    *,
    state: Ended,
    error: str | None,
    ran_ms: int,
    now_ms: int,
    failure: str | None = None,
    kept_from: int | None = None,
) -> Head | None:
    """End the turn and give the lane up; returns the next head that may run.

    `error` is what the user was told, `failure` the kind of it, `kept_from` what `add_history` returned.
    """
    fence.hold(tx, now_ms)
    tx.run(
        "UPDATE turns SET state = :state, error = :error, failure = :failure, kept_from = :kept, ran_ms = :ran,"
        " finished_at = :now WHERE id = :id",
        state=state,
        error=error,
        failure=failure,
        kept=kept_from,
        ran=ran_ms,
        now=now_ms,
        id=fence.turn_id,
    )
    return lanes.release(tx, fence.lane_id)


def set_aside(tx: Tx, lane_id: int, *, error: str, now_ms: int) -> tuple[int | None, Head | None]:
    """End a head that cannot even be claimed (its row is damaged); returns its id and the next head."""
    row = tx.row(
        f"SELECT id FROM turns WHERE lane_id = :lane AND state IN {OPEN_STATES} ORDER BY seq LIMIT 1",
        lane=lane_id,
    )
    if row is not None:
        tx.run(
            "UPDATE turns SET state = 'failed', error = :error, finished_at = :now WHERE id = :id",
            error=error,
            now=now_ms,
            id=row["id"],
        )
    return (None if row is None else int(row["id"])), lanes.release(tx, lane_id)


def ask_to_stop(tx: Tx, turn_id: int, how: Stop, now_ms: int) -> Head | None:
    """Mark an open turn to be stopped; a waiting one is made ready (returned) so that its runner can close it."""
    tx.run("UPDATE turns SET stop = COALESCE(stop, :how) WHERE id = :id", how=how, id=turn_id)
    return unpark(tx, turn_id, now_ms)


def drop_queued(tx: Tx, lane_id: int, now_ms: int) -> int:
    """Cancel all turns of the lane that never started; returns how many. A lane left empty rests."""
    dropped = tx.run(
        "UPDATE turns SET state = 'cancelled', finished_at = :now, error = 'dropped'"
        f" WHERE lane_id = :lane AND state = 'queued' AND {IS_OPEN}",
        now=now_ms,
        lane=lane_id,
    )
    lanes.rest_if_empty(tx, lane_id)
    return dropped


def hand_to(tx: Tx, claim: Claim, agent: str) -> Claim:
    """Let another agent answer the turn; returns the claim with that agent's history."""
    if agent == claim.agent:
        return claim
    tx.run("UPDATE turns SET agent = :agent WHERE id = :id", agent=agent, id=claim.turn_id)
    return replace(claim, agent=agent, history=_history(tx, claim.session_id, agent))


def add_history(
    tx: Tx, claim: Claim, messages: Iterable[str], *, agent: str | None = None, mixed: bool = False
) -> int:
    """Append messages of the turn to what its agent, or another one, needs to go on in this session.

    `mixed`: they may hold what others said in earlier turns. Returns the place (`seq`) of the first one.
    """
    agent = agent or claim.agent
    row = tx.row(
        "SELECT COALESCE(MAX(seq), -1) + 1 AS seq FROM agent_state WHERE session_id = :session AND agent = :agent",
        session=claim.session_id,
        agent=agent,
    )
    assert row is not None
    _insert_history(tx, claim, agent, enumerate(messages, start=int(row["seq"])), mixed=mixed)
    return int(row["seq"])


def replace_history(tx: Tx, claim: Claim, *, start: int, stop: int, instead: Sequence[str]) -> None:
    """Put `instead` in the place of the messages `[start, stop)` of the claim's history; never more than they were."""
    rows = tx.rows(
        "SELECT seq FROM agent_state WHERE session_id = :session AND agent = :agent ORDER BY seq",
        session=claim.session_id,
        agent=claim.agent,
    )
    seqs = [int(row["seq"]) for row in rows[start:stop]]
    if not seqs:
        return
    tx.run(
        "DELETE FROM agent_state WHERE session_id = :session AND agent = :agent AND seq BETWEEN :first AND :last",
        session=claim.session_id,
        agent=claim.agent,
        first=seqs[0],
        last=seqs[-1],
    )
    _insert_history(tx, claim, claim.agent, zip(seqs, instead, strict=False), mixed=True)


def _insert_history(
    tx: Tx, claim: Claim, agent: str, placed: Iterable[tuple[int, str]], *, mixed: bool
) -> None:
    tx.run_many(
        "INSERT INTO agent_state (session_id, agent, seq, turn_id, message, mixed)"
        " VALUES (:session, :agent, :seq, :turn, :message, :mixed)",
        [
            {
                "session": claim.session_id,
                "agent": agent,
                "seq": seq,
                "turn": claim.turn_id,
                "message": message,
                "mixed": int(mixed),
            }
            for seq, message in placed
        ],
    )


def _history(tx: Tx, session_id: int, agent: str) -> tuple[str, ...]:
    rows = tx.rows(
        "SELECT message FROM agent_state WHERE session_id = :session AND agent = :agent ORDER BY seq",
        session=session_id,
        agent=agent,
    )
    return tuple(row["message"] for row in rows)


def _target(row: Row) -> Target:
    return Target(
        platform=row["platform"], account=row["account"], chat_id=row["chat_id"], thread_id=row["thread_id"]
    )
