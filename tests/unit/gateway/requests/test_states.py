"""The state machine of a request: its table, and who may move it."""

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.requests.states import (
    TABLE,
    Actor,
    Answer,
    Counted,
    Refused,
    Settled,
    Standing,
    answered,
    may_answer,
)
from gateway.store.requests import RequestKind, RequestState

ANN, BOB, CID = (Actor(id=f"m:{n}", name=name) for n, name in enumerate(("Ann", "Bob", "Cid"), 1))
ADA = Actor(id="m:9", name="Ada", is_admin=True)
ASKED = Standing(kind="approval", state="pending", requester="m:1", expires_at=1_000)
APPROVERS = frozenset({"m:2"})

actors = st.sampled_from([ANN, BOB, CID, ADA])
standings = st.builds(
    Standing,
    kind=st.sampled_from(get_args(RequestKind)),
    state=st.sampled_from(get_args(RequestState)),
    requester=st.just("m:1"),
    expires_at=st.one_of(st.none(), st.integers(0, 2_000)),
    needed=st.sampled_from([1, 2]),
    approvals=st.frozensets(st.sampled_from(["m:1", "m:2", "m:9"]), max_size=1),
)
answers = st.sampled_from(["approve", "deny", "postpone", "answer"])


@pytest.mark.req("APR-4", "APR-7", "APR-9")
def test_only_what_is_pending_ever_changes() -> None:
    assert {state for state, _ in TABLE} == {"pending"}
    assert {answer for _, answer in TABLE} == set(get_args(Answer))
    assert "pending" not in TABLE.values()


@pytest.mark.req("APR-5")
@pytest.mark.parametrize("actor", [ANN, BOB, CID])
def test_a_confirmation_that_concerns_nobody_is_for_admins(actor: Actor) -> None:
    nobodys = replace(ASKED, kind="confirmation", requester="")
    assert not may_answer(nobodys, actor, APPROVERS)
    assert may_answer(nobodys, ADA, APPROVERS)


@pytest.mark.req("APR-5")
@pytest.mark.parametrize(
    ("actor", "kind", "may"),
    [
        (ANN, "approval", True),
        (BOB, "approval", True),
        (CID, "approval", False),
        (ADA, "approval", True),
        (ANN, "question", True),
        (BOB, "question", False),
        (CID, "question", False),
        (ANN, "confirmation", True),
        (BOB, "confirmation", False),
        (ADA, "confirmation", True),
    ],
)
def test_who_may_answer(actor: Actor, kind: RequestKind, may: bool) -> None:
    assert may_answer(replace(ASKED, kind=kind), actor, APPROVERS) == may


@pytest.mark.req("APR-4", "APR-5")
@given(standing=standings, actor=actors, answer=answers, now=st.integers(0, 2_000))
def test_nothing_moves_but_a_pending_request_by_who_may_in_time(
    standing: Standing, actor: Actor, answer: Answer, now: int
) -> None:
    outcome = answered(standing, answer, actor, approvers=APPROVERS, now_ms=now)  # type: ignore[arg-type]

    is_late = standing.expires_at is not None and standing.expires_at <= now
    if not may_answer(standing, actor, APPROVERS):
        assert outcome == Refused(why="not_theirs")
    elif standing.state != "pending":
        assert outcome == Refused(why="settled")
    elif is_late:
        assert outcome == Settled(state="expired")
    elif answer != "approve":
        assert outcome == Settled(state=TABLE["pending", answer])
    elif actor.id in standing.approvals:
        assert outcome == Refused(why="approved_before")
    elif standing.needed > len(standing.approvals) + 1:
        assert outcome == Counted(have=len(standing.approvals) + 1, needed=standing.needed)
    else:
        assert outcome == Settled(state="approved")


@pytest.mark.req("APR-5")
@given(presses=st.lists(st.tuples(actors, answers), max_size=8))
def test_two_different_people_who_may_must_approve(presses: list[tuple[Actor, str]]) -> None:
    standing = replace(ASKED, needed=2)
    approved: set[str] = set()
    for actor, answer in presses:
        outcome = answered(standing, answer, actor, approvers=APPROVERS, now_ms=0)  # type: ignore[arg-type]
        if isinstance(outcome, Counted):
            approved.add(actor.id)
            standing = replace(standing, approvals=frozenset(approved))
        elif outcome == Settled(state="approved"):
            assert len(approved | {actor.id}) == 2
            assert (approved | {actor.id}) <= {"m:1", "m:2", "m:9"}
            break
