"""Sessions: which conversation a lane is in now, and when a new one begins.

A lane has many sessions over time. A reset gives a new id; the old session stays readable, a turn that still
runs belongs to it. What is remembered about a person outlives every session.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Literal

from gateway.clock import from_ms, to_ms
from gateway.messages import Target
from gateway.store import lanes, turns
from gateway.store.lanes import Lane
from gateway.store.tx import Tx

ResetMode = Literal["idle", "daily", "both", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResetPolicy:
    """When a session expires: after `idle_s` without activity, at `daily_at` in `timezone`, both or never."""

    mode: ResetMode = "idle"
    idle_s: float = 86_400
    daily_at: time = time(4, 0)
    timezone: tzinfo = UTC

    def is_expired(self, last_active: datetime, now: datetime, *, last_asked: datetime | None = None) -> bool:
        """Whether a session last active then is over now; all times are aware.

        `last_asked` is when its last question came (default `last_active`): a reply that ends after the daily
        hour belongs to the old day, but a long one is no idleness.
        """
        idle = (now - last_active).total_seconds() >= self.idle_s
        daily = (last_asked or last_active) < self._last_boundary(now)
        match self.mode:
            case "idle":
                return idle
            case "daily":
                return daily
            case "both":
                return idle or daily
            case "none":
                return False

    def _last_boundary(self, now: datetime) -> datetime:
        # Wall-clock arithmetic in the zone: on the days the clocks change, 04:00 is still 04:00.
        today = now.astimezone(self.timezone).date()
        boundary = self._boundary_on(today)
        return boundary if boundary <= now else self._boundary_on(today - timedelta(days=1))

    def _boundary_on(self, day: date) -> datetime:
        # In UTC: Python compares two times of one zone by their wall clocks, wrong in the hour that is doubled
        # or left out.
        return datetime.combine(day, self.daily_at, tzinfo=self.timezone).astimezone(UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """The current session of a lane; `expired`: the one before was just ended by the policy, with content."""

    id: int
    lane: Lane
    is_new: bool = False
    expired: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A session that was reset; `subject` (platform:user) asked its last question."""

    session_id: int
    subject: str
    platform: str


class SessionStore:
    """Finds, makes and resets sessions, inside the caller's transaction."""

    def __init__(self, policy: ResetPolicy, *, ended: Callable[[Ended], None] = lambda _: None) -> None:
        """`ended` is told of each session that had a question, once its end is stored."""
        self._policy = policy
        self._ended = ended

    def get_or_create(
        self,
        tx: Tx,
        *,
        key: str,
        target: Target,
        subject: str,
        now: datetime,
        policy: ResetPolicy | None = None,
    ) -> Session:
        """The session in which a message of `subject` (platform:user) belongs.

        None yet → a new one; expired (never while a turn is open) → a new one, memory kept; else the current.
        Holds the lane's row, so that one key has one session, also between processes. The point from which
        facts about `subject` are extracted is set here, before the first message is stored.
        """
        now_ms = to_ms(now)
        lane = lanes.lock(tx, key, target, now_ms)
        tx.run(
            "INSERT INTO memory_baselines (subject, extract_from) VALUES (:subject, :now) ON CONFLICT DO NOTHING",
            subject=subject,
            now=now_ms,
        )
        if lane.session_id is None:
            return Session(id=_start(tx, lane, now_ms), lane=lane, is_new=True)
        if self._is_over(tx, lane, now, policy or self._policy):
            had_content = _last_asked_ms(tx, lane) is not None
            return Session(
                id=self.reset(tx, lane, reason="expired", now_ms=now_ms),
                lane=lane,
                is_new=True,
                expired=had_content,
            )
        tx.run("UPDATE sessions SET last_active_at = :now WHERE id = :id", now=now_ms, id=lane.session_id)
        return Session(id=lane.session_id, lane=lane)

    def reset(self, tx: Tx, lane: Lane, *, reason: str, now_ms: int) -> int:
        """End the lane's session and begin a new one; returns the new id."""
        last = tx.row(
            "SELECT requester FROM turns WHERE session_id = :id ORDER BY id DESC LIMIT 1", id=lane.session_id
        )
        if last is not None and lane.session_id is not None:
            ended = Ended(
                session_id=lane.session_id, subject=last["requester"], platform=lane.target.platform
            )
            tx.after_commit(lambda: self._ended(ended))
        return reset(tx, lane, reason=reason, now_ms=now_ms)

    def _is_over(self, tx: Tx, lane: Lane, now: datetime, policy: ResetPolicy) -> bool:
        row = tx.row("SELECT last_active_at FROM sessions WHERE id = :id", id=lane.session_id)
        if row is None:
            return True
        asked_ms = _last_asked_ms(tx, lane)
        return (
            policy.is_expired(
                from_ms(row["last_active_at"]),
                now,
                last_asked=None if asked_ms is None else from_ms(asked_ms),
            )
            and turns.open_count(tx, lane.id) == 0
        )


def reset(tx: Tx, lane: Lane, *, reason: str, now_ms: int) -> int:
    """End the lane's session and begin a new one; returns the new id."""
    tx.run(
        "UPDATE sessions SET ended_at = :now, end_reason = :reason WHERE id = :id AND ended_at IS NULL",
        now=now_ms,
        reason=reason,
        id=lane.session_id,
    )
    return _start(tx, lane, now_ms)


def _start(tx: Tx, lane: Lane, now_ms: int) -> int:
    row = tx.row(
        "INSERT INTO sessions (lane_id, started_at, last_active_at) VALUES (:lane, :now, :now) RETURNING id",
        lane=lane.id,
        now=now_ms,
    )
    assert row is not None
    lanes.set_session(tx, lane.id, row["id"])
    return int(row["id"])


def _last_asked_ms(tx: Tx, lane: Lane) -> int | None:
    """When the last question of the lane's session came; None if it has none yet."""
    row = tx.row(
        "SELECT session_id, created_at FROM turns WHERE lane_id = :lane ORDER BY seq DESC LIMIT 1",
        lane=lane.id,
    )
    return int(row["created_at"]) if row is not None and row["session_id"] == lane.session_id else None


def touch(tx: Tx, session_id: int, now_ms: int) -> None:
    """Keep the session's last activity: also an answer counts."""
    tx.run("UPDATE sessions SET last_active_at = :now WHERE id = :id", now=now_ms, id=session_id)


def give_title(tx: Tx, session_id: int, question: str) -> None:
    """Name the session after its first question, once."""
    words = " ".join(question.split())
    title = words if len(words) <= 60 else words[:59].rstrip() + "…"
    tx.run("UPDATE sessions SET title = :title WHERE id = :id AND title IS NULL", title=title, id=session_id)
