"""What an answer makes of a request: one table, and who may answer at all. No clock, no store.

    pending ──approve──▶ approved    (once as many people as needed have said so)
       ├────── deny ───▶ denied      (one is enough)
       ├─── postpone ──▶ postponed   (the end of a task only)
       ├───── answer ──▶ answered    (a question only)
       ├───── expire ──▶ expired
       └───── close ───▶ closed      (its turn was stopped or ended)

Whatever is not in the table changes nothing: the first valid answer has won.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gateway.source import SessionSource
from gateway.store.requests import RequestKind, RequestState

Answer = Literal["approve", "deny", "postpone", "answer", "expire", "close"]

TABLE: Mapping[tuple[RequestState, Answer], RequestState] = {
    ("pending", "approve"): "approved",
    ("pending", "deny"): "denied",
    ("pending", "postpone"): "postponed",
    ("pending", "answer"): "answered",
    ("pending", "expire"): "expired",
    ("pending", "close"): "closed",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who answers: `id` is platform:user, `name` is for people to read."""

    id: str
    name: str
    is_admin: bool = False

    @classmethod
    def of(cls, source: SessionSource, *, is_admin: bool) -> "Actor":
        """The author of a message or press."""
        return cls(id=source.requester, name=source.user_name or source.user_id, is_admin=is_admin)


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A request as it stands: `approvals` are the ids of those who approved so far, `needed` how many must."""

    kind: RequestKind
    state: RequestState
    requester: str
    expires_at: int | None = None
    needed: int = 1
    approvals: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The request ends in this state."""

    state: RequestState


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """The approval counts, and the request waits for the others."""

    have: int
    needed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """Nothing changes: the actor may not answer, it is settled already, or they approved before."""

    why: Literal["not_theirs", "settled", "approved_before"]


Outcome = Settled | Counted | Refused


def may_answer(standing: Standing, actor: Actor, approvers: frozenset[str]) -> bool:
    """Whether `actor` is asked at all: who opened the turn (or whom it concerns), admins, and named approvers.

    Questions and confirmations are no approvals: approvers have no say in them.
    """
    if actor.is_admin or actor.id == standing.requester:
        return True
    return standing.kind not in ("question", "confirmation") and actor.id in approvers


def answered(
    standing: Standing,
    answer: Literal["approve", "deny", "postpone", "answer"],
    actor: Actor,
    *,
    approvers: frozenset[str],
    now_ms: int,
) -> Outcome:
    """What a person's answer does. One that comes too late expires the request, whatever it says."""
    if not may_answer(standing, actor, approvers):
        return Refused(why="not_theirs")
    if (standing.state, answer) not in TABLE:
        return Refused(why="settled")
    if standing.expires_at is not None and standing.expires_at <= now_ms:
        return Settled(state=TABLE[standing.state, "expire"])
    if answer == "approve":
        if actor.id in standing.approvals:
            return Refused(why="approved_before")
        have = len(standing.approvals) + 1
        if have < standing.needed:
            return Counted(have=have, needed=standing.needed)
    return Settled(state=TABLE[standing.state, answer])
