"""Tasks over the real store: whatever happens, and wherever it crashes, the rows say what the machine says."""

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agent.tasks.machine import Event, Happening, TaskState, advance
from gateway.store import schema, tasks
from gateway.store.sqlite import open_database
from gateway.store.tx import Store, Tx
from gateway.turns.tasks import changed_rows, state_of

AGENTS = ("default", "coder", "critic")


class Crash(Exception):
    """The transaction ends before its commit."""


class RowsMachine(RuleBasedStateMachine):
    """The state in memory moves when its rows are committed; a crash leaves both where they were."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.folder = Path(tempfile.mkdtemp())
        self.state = TaskState(answerer="default")
        self.begun = self.ended = 0
        self.store: Store = self.do(open_database(self.folder / "parley.db"))
        self.write(self._prepare)

    def do(self, work: Awaitable[Any]) -> Any:
        return self.loop.run_until_complete(work)

    def write(self, work: Callable[[Tx], Any]) -> Any:
        async def write() -> Any:
            return await self.store.write(work)

        return self.do(write())

    @staticmethod
    def _prepare(tx: Tx) -> None:
        schema.migrate(tx, 0)
        tx.run(
            "INSERT INTO lanes (id, key, platform, account, chat_id, updated_at)"
            " VALUES (1, 'k', 'memory', 'bot', '1', 0)"
        )
        tx.run("INSERT INTO sessions (id, lane_id, started_at, last_active_at) VALUES (1, 1, 0, 0)")

    def teardown(self) -> None:
        self.do(self.store.close())
        self.loop.close()
        shutil.rmtree(self.folder)

    def happens(self, event: Event, *, crashes: bool, **details: Any) -> None:
        before, phase = self.state, self.state.phase
        after = advance(before, Happening(event=event, **details))

        def work(tx: Tx) -> None:
            tasks.save(tx, 1, changed_rows(before, after, event), turn_id=1, now_ms=0)
            tasks.set_answerer(tx, 1, after.answerer)
            if crashes:
                raise Crash

        try:
            self.write(work)
        except Crash:
            return
        if event == "accept":
            self.begun += phase == "begin"
            self.ended += phase == "end"
        self.state = after

    @precondition(lambda self: self.state.phase == "user")
    @rule(agent=st.sampled_from([None, *AGENTS]), crashes=st.booleans())
    def somebody_writes(self, agent: str | None, crashes: bool) -> None:
        self.happens("message", agent=agent, crashes=crashes)

    @precondition(lambda self: self.state.phase == "chat")
    @rule(
        begins=st.lists(st.tuples(st.sampled_from(AGENTS), st.just("goal")), max_size=2),
        ends=st.lists(st.sampled_from(["one", "two"]), max_size=2),
        crashes=st.booleans(),
    )
    def the_chat_ends(self, begins: list[tuple[str, str]], ends: list[str], crashes: bool) -> None:
        self.happens("ended", begins=tuple(begins), ends=tuple(ends), crashes=crashes)

    @precondition(lambda self: self.state.phase == "chat")
    @rule(event=st.sampled_from(["failed", "stop"]), crashes=st.booleans())
    def the_chat_breaks_off(self, event: Event, crashes: bool) -> None:
        self.happens(event, crashes=crashes)

    @precondition(lambda self: self.state.phase in {"begin", "end"})
    @rule(event=st.sampled_from(["accept", "accept", "reject", "later", "stop"]), crashes=st.booleans())
    def the_question_is_answered(self, event: Event, crashes: bool) -> None:
        if (self.state.phase, event) != ("begin", "later"):
            self.happens(event, crashes=crashes)

    @invariant()
    def the_rows_say_the_same(self) -> None:
        kept = self.write(lambda tx: tasks.load(tx, 1))
        loaded = state_of(kept, phase=self.state.phase, answerer=kept.answerer or "default")
        assert loaded == self.state

    @invariant()
    def begins_less_ends_are_the_depth(self) -> None:
        counted = self.write(
            lambda tx: tx.row(
                "SELECT (SELECT COUNT(*) FROM tasks WHERE state IN ('open', 'ended')) AS begun,"
                " (SELECT COUNT(*) FROM tasks WHERE state = 'ended') AS ended,"
                " (SELECT COUNT(*) FROM task_ends WHERE state = 'accepted') AS accepted"
            )
        )
        assert (counted["begun"], counted["ended"], counted["accepted"]) == (
            self.begun,
            self.ended,
            self.ended,
        )
        assert self.begun - self.ended == len(self.state.open) >= 0


TestRows = pytest.mark.req("TSK-2", "TSK-3", "EVT-3")(RowsMachine.TestCase)
TestRows.settings = settings(
    max_examples=5, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
