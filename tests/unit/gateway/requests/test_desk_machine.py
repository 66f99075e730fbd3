"""The desk over the real store, under any interleaving of presses, expiry, stops, resets and restarts.

What must hold after each step: the gate lets a call run if and only if exactly its own card was validly approved and
its arguments are those that were shown.
"""

import asyncio
import itertools
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from adapters.memory.adapter import MemoryAdapter
from agent.calls import ToolCall
from agent.ports import Allowed, Pending
from gateway.audit import verify
from gateway.delivery import Delivery
from gateway.messages import Target
from gateway.requests import Actor, Desk, Prompt, PromptCall
from gateway.requests.policy import ApprovalPolicy
from gateway.session_store import ResetPolicy, SessionStore
from gateway.store import audit as audit_rows
from gateway.store import requests as rows
from gateway.store import schema, turns
from gateway.store.audit import AuditLog
from gateway.store.inputs import TurnInputRow
from gateway.store.sqlite import SqliteStore, open_database
from gateway.store.tx import Tx
from gateway.turns.gate import Gatekeeper, TurnGate

TIMEOUT_S = 600
PEOPLE = {
    "memory:1": Actor(id="memory:1", name="Ann"),
    "memory:2": Actor(id="memory:2", name="Bob"),
    "memory:3": Actor(id="memory:3", name="Cid"),
    "memory:8": Actor(id="memory:8", name="Approver"),
    "memory:9": Actor(id="memory:9", name="Admin", is_admin=True),
}
ANYBODY = {"memory:8", "memory:9"}
POLICY = ApprovalPolicy(two_person=("lab/pair",))


@dataclass
class Case:
    """What must be true of one call."""

    call: ToolCall
    turn_id: int
    session_id: int
    requester: str
    request_id: int
    expires_at: datetime
    state: str = "pending"
    votes: set[str] = field(default_factory=set)

    @property
    def needed(self) -> int:
        return 2 if self.call.tool == "pair" else 1


class DeskMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp())
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.cases: list[Case] = []
        self.names = itertools.count()
        self.do(self._start())

    def do(self, work: Awaitable[Any]) -> Any:
        return self.loop.run_until_complete(work)

    def write(self, work: Callable[[Tx], Any]) -> Any:
        async def write() -> Any:
            return await self.database.write(work)

        return self.do(write())

    async def _start(self) -> None:
        self.database: SqliteStore = await open_database(self.folder / "parley.db")
        await self.database.write(lambda tx: schema.migrate(tx, 0))
        self.audit = AuditLog(clock=lambda: self.now)
        delivery = Delivery(
            self.database, new_key=lambda: f"k{next(self.names)}-{id(self)}", clock=lambda: self.now
        )
        delivery.register(MemoryAdapter())
        self.desk = Desk(
            delivery,
            kick=lambda tx, head: None,
            new_token=lambda: f"pl1:{next(self.names)}",
            audit=self.audit,
            timeout_s=TIMEOUT_S,
            approvers=frozenset({"memory:8"}),
            needed=POLICY.needed,
            clock=lambda: self.now,
        )
        self.sessions = SessionStore(ResetPolicy(mode="none"))

    def teardown(self) -> None:
        self.do(self.database.close())
        self.loop.close()
        shutil.rmtree(self.folder)

    @property
    def pending(self) -> list[Case]:
        return [case for case in self.cases if case.state == "pending"]

    @rule(
        who=st.sampled_from(["memory:1", "memory:2"]),
        tool=st.sampled_from(["count", "pair"]),
        n=st.integers(0, 1),
    )
    def a_call_asks(self, who: str, tool: str, n: int) -> None:
        # The same call again and again: each has a card of its own all the same.
        if len(self.cases) >= 6:
            return
        call = ToolCall(id="0.0", name=f"lab__{tool}", server="lab", tool=tool, args={"n": n})
        chat = f"chat{next(self.names)}"
        target = Target(platform="memory", account="bot", chat_id=chat)

        def open_turn(tx: Tx) -> tuple[int, int, int]:
            now_ms = int(self.now.timestamp() * 1000)
            session = self.sessions.get_or_create(tx, key=chat, target=target, subject=who, now=self.now)
            turns.append(
                tx,
                lane_id=session.lane.id,
                session_id=session.id,
                requester=who,
                agent="default",
                kind="message",
                given=TurnInputRow(text="go"),
                message_id=None,
                now_ms=now_ms,
            )
            claim = turns.claim(tx, session.lane.id, "node", now_ms)
            assert isinstance(claim, turns.Claim)
            request_id = self.desk.ask(
                tx,
                turn_id=claim.turn_id,
                lane_id=session.lane.id,
                target=target,
                requester=who,
                prompt=Prompt(
                    queue=(PromptCall(call_id="0.0", server="lab", tool=tool, args={"n": n}),),
                    current=0,
                    asked=who,
                ),
                args_hash=call.args_hash,
                card="card:0",
            )
            turns.park(tx, claim.fence, ran_ms=0, now_ms=now_ms)
            return claim.turn_id, session.id, request_id

        turn_id, session_id, request_id = self.write(open_turn)
        self.cases.append(
            Case(
                call=call,
                turn_id=turn_id,
                session_id=session_id,
                requester=who,
                request_id=request_id,
                expires_at=self.now + timedelta(seconds=TIMEOUT_S),
            )
        )

    @precondition(lambda self: self.cases)
    @rule(which=st.integers(0, 99), token=st.integers(0, 999), who=st.sampled_from(sorted(PEOPLE)))
    def somebody_presses(self, which: int, token: int, who: str) -> None:
        """Any button any card ever had, by anybody, at any time."""
        case = self.cases[which % len(self.cases)]
        buttons = self.write(
            lambda tx: [
                (row["token"], row["choice"])
                for row in tx.rows(
                    "SELECT * FROM buttons WHERE request_id = :id ORDER BY token", id=case.request_id
                )
            ]
        )
        pressed, choice = buttons[token % len(buttons)]
        target = Target(platform="memory", account="bot", chat_id="anywhere")
        self.write(lambda tx: self.desk.press(tx, pressed, PEOPLE[who], target))
        if choice in {"always", "back"} and who in {case.requester, *ANYBODY} and case.state == "pending":
            if self.now >= case.expires_at:
                case.state = "expired"
        elif choice not in {"always", "back"}:
            self._answer(case, who, approves=choice != "deny")

    @precondition(lambda self: self.pending)
    @rule(which=st.integers(0, 99), who=st.sampled_from(sorted(PEOPLE)), approves=st.booleans())
    def somebody_answers_with_a_command(self, which: int, who: str, approves: bool) -> None:
        case = self.pending[which % len(self.pending)]

        def answer(tx: Tx) -> None:
            request = rows.get(tx, case.request_id)
            assert request is not None
            self.desk.decide(tx, request, "approved" if approves else "denied", PEOPLE[who])

        self.write(answer)
        self._answer(case, who, approves=approves)

    def _answer(self, case: Case, who: str, *, approves: bool) -> None:
        """The rules once more, in the words of the requirements."""
        if case.state != "pending" or who not in {case.requester, *ANYBODY}:
            return
        if self.now >= case.expires_at:
            case.state = "expired"
        elif not approves:
            case.state = "denied"
        else:
            case.votes.add(who)
            if len(case.votes) >= case.needed:
                case.state = "approved"

    @rule(seconds=st.sampled_from([1, TIMEOUT_S // 2, TIMEOUT_S]))
    def time_passes(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)

    @rule()
    def the_timer_ticks(self) -> None:
        self.write(self.desk.expire)
        for case in self.pending:
            if self.now >= case.expires_at:
                case.state = "expired"

    @precondition(lambda self: self.cases)
    @rule(which=st.integers(0, 99), how=st.sampled_from(["stop", "reset"]))
    def a_turn_is_stopped(self, which: int, how: turns.Stop) -> None:
        case = self.cases[which % len(self.cases)]

        def stop(tx: Tx) -> None:
            self.desk.close_turn(tx, case.turn_id, "Ann")
            turns.ask_to_stop(tx, case.turn_id, how, int(self.now.timestamp() * 1000))

        self.write(stop)
        if case.state == "pending":
            case.state = "closed"

    @rule()
    def it_restarts(self) -> None:
        self.do(self.database.close())
        self.do(self._start())

    @invariant()
    def a_call_may_run_only_by_its_own_valid_approval(self) -> None:
        keeper = Gatekeeper(
            database=self.database,
            policy=POLICY,
            audit=self.audit,
            is_admin=lambda who: False,
            clock=lambda: self.now,
        )
        for case in self.cases:
            gate = TurnGate(
                keeper=keeper, turn_id=case.turn_id, session_id=case.session_id, requester=case.requester
            )
            decision = self.do(gate.check(case.call, default="ask"))
            changed = self.do(gate.check(replace(case.call, args={"n": 7}), default="ask"))
            assert (decision == Allowed()) == (case.state == "approved"), (case, decision)
            assert (decision == Pending()) == (case.state == "pending"), (case, decision)
            assert changed != Allowed()

    @invariant()
    def the_store_says_the_same_and_the_audit_log_holds(self) -> None:
        for case in self.cases:
            request = self.write(lambda tx, case=case: rows.get(tx, case.request_id))
            assert request.state == case.state
        assert self.write(lambda tx: verify(audit_rows.rows(tx), audit_rows.head_of(tx))) == []
        waiting = self.write(lambda tx: tx.rows("SELECT id FROM turns WHERE state = 'waiting'"))
        assert {row["id"] for row in waiting} == {case.turn_id for case in self.pending}


TestDesk = pytest.mark.req("APR-1", "APR-4", "APR-5", "APR-6", "APR-7", "APR-9")(DeskMachine.TestCase)
TestDesk.settings = settings(
    max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
