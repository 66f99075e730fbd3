"""Tasks of a session as rows: those asked for and open, the ends that were said, and who answers.

What may become of them is `agent.tasks.machine`'s affair; here they are kept. Settled rows stay, for people to read.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from gateway.store.tx import Row, Tx

TaskRowState = Literal["asked", "open", "ended", "dropped"]
EndRowState = Literal["said", "accepted", "dropped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """A task; `seq` numbers tasks and ends of a session together. `back_to` is empty until it is open."""

    seq: int
    agent: str
    goal: str
    upstream: str
    back_to: str
    state: TaskRowState


@dataclass(frozen=True, slots=True, kw_only=True)
class EndRow:
    """An end that was said; `place` is its place in the queue of those still to be asked about."""

    seq: int
    agent: str
    summary: str
    depth: int
    put_off: bool
    place: int
    state: EndRowState


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """What is kept of a session's tasks: live rows in order, who answers (None: as configured), the next number."""

    answerer: str | None
    tasks: tuple[TaskRow, ...]
    ends: tuple[EndRow, ...]
    next_seq: int


def load(tx: Tx, session_id: int) -> Kept:
    """A session's live tasks and ends."""
    session = tx.row(
        "SELECT answerer, (SELECT COALESCE(MAX(seq), 0) FROM tasks WHERE session_id = :id) AS tasks,"
        " (SELECT COALESCE(MAX(seq), 0) FROM task_ends WHERE session_id = :id) AS ends FROM sessions WHERE id = :id",
        id=session_id,
    )
    assert session is not None
    last = max(session["tasks"], session["ends"])
    return Kept(
        answerer=session["answerer"],
        tasks=tuple(_tasks(tx, session_id)) if last else (),
        ends=tuple(_ends(tx, session_id)) if last else (),
        next_seq=last + 1,
    )


def task(tx: Tx, session_id: int, seq: int) -> TaskRow | None:
    """One task, whatever became of it."""
    row = tx.row(
        "SELECT * FROM tasks WHERE session_id = :session AND seq = :seq", session=session_id, seq=seq
    )
    return _task(row) if row else None


def save(tx: Tx, session_id: int, rows: Iterable[TaskRow | EndRow], *, turn_id: int, now_ms: int) -> None:
    """Store rows as they are now; `turn_id` is the turn a new one came from."""
    for row in rows:
        if isinstance(row, TaskRow):
            tx.run(
                "INSERT INTO tasks (session_id, seq, agent, goal, upstream, back_to, state, turn_id, at)"
                " VALUES (:session, :seq, :agent, :goal, :upstream, :back_to, :state, :turn, :now)"
                " ON CONFLICT (session_id, seq) DO UPDATE SET back_to = excluded.back_to, state = excluded.state",
                session=session_id,
                seq=row.seq,
                agent=row.agent,
                goal=row.goal,
                upstream=row.upstream,
                back_to=row.back_to,
                state=row.state,
                turn=turn_id,
                now=now_ms,
            )
        else:
            tx.run(
                "INSERT INTO task_ends (session_id, seq, agent, summary, depth, put_off, place, state, turn_id, at)"
                " VALUES (:session, :seq, :agent, :summary, :depth, :put_off, :place, :state, :turn, :now)"
                " ON CONFLICT (session_id, seq) DO UPDATE SET put_off = excluded.put_off, place = excluded.place,"
                " state = excluded.state",
                session=session_id,
                seq=row.seq,
                agent=row.agent,
                summary=row.summary,
                depth=row.depth,
                put_off=int(row.put_off),
                place=row.place,
                state=row.state,
                turn=turn_id,
                now=now_ms,
            )


def set_answerer(tx: Tx, session_id: int, agent: str) -> None:
    """Who answers what is said next, if nobody is spoken to by name."""
    tx.run("UPDATE sessions SET answerer = :agent WHERE id = :id", agent=agent, id=session_id)


def _tasks(tx: Tx, session_id: int) -> Iterable[TaskRow]:
    rows = tx.rows(
        "SELECT * FROM tasks WHERE session_id = :session AND state IN ('asked', 'open') ORDER BY seq",
        session=session_id,
    )
    return (_task(row) for row in rows)


def _task(row: Row) -> TaskRow:
    return TaskRow(
        seq=row["seq"],
        agent=row["agent"],
        goal=row["goal"],
        upstream=row["upstream"],
        back_to=row["back_to"],
        state=row["state"],
    )


def _ends(tx: Tx, session_id: int) -> Iterable[EndRow]:
    rows = tx.rows(
        "SELECT * FROM task_ends WHERE session_id = :session AND state = 'said' ORDER BY place, seq",
        session=session_id,
    )
    return (
        EndRow(
            seq=row["seq"],
            agent=row["agent"],
            summary=row["summary"],
            depth=row["depth"],
            put_off=bool(row["put_off"]),
            place=row["place"],
            state=row["state"],
        )
        for row in rows
    )
