"""A turn cut off after any record goes on as if it had never stopped (hypothesis over whole turns)."""

import asyncio
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent.events import (
    AgentEvent,
    ApprovalNeeded,
    Failed,
    Record,
    Responded,
    Retracted,
    TextDelta,
    ToolReturned,
)
from agent.history import load
from agent.keeping import closed_history
from agent.ports import ChatState, Denied, TurnInput
from agent.records import Ended, Handle, Send, next_step
from agent.tasks import task_tools
from tests.unit.agent.scripted import (
    ALLOW,
    PENDING,
    Counter,
    Orders,
    ScriptedProvider,
    asks,
    records_in,
    run_chat,
    says,
    snapshot,
    strictly_valid,
    tool,
)

pytestmark = pytest.mark.req("EVT-3", "AGT-9", "APR-6")

CALLS = st.sampled_from(
    [
        ("shop__safe", {"n": 1}),
        ("shop__safe", ""),
        ("shop__once", {"n": 2}),
        ("shop__once", '{"half'),
        ("shop__asking", {"x": "\ud800"}),
        ("shop__asking", {}),
        ("shop__no", {}),
        ("not a tool", {}),
        ("task_begin", {"agent": "coder", "goal": "g"}),
        ("task_begin", {"agent": "nobody", "goal": "g"}),
        ("task_end", {"summary": "s"}),
    ]
)
ROUNDS = st.lists(st.lists(CALLS, min_size=1, max_size=4), max_size=4)


@dataclass
class World:
    """One turn's outside: what tools did, whatever happens to the chat."""

    script: list[list[tuple[str, object]]]
    safe: Counter = field(default_factory=Counter)
    once: Counter = field(default_factory=Counter)
    asking: Counter = field(default_factory=Counter)
    no: Counter = field(default_factory=Counter)

    def chat(self, records: tuple[Record, ...], *, pressed: bool = True) -> list[AgentEvent]:
        done = sum(isinstance(record, Responded) for record in records)
        rest = [asks(*calls, text="I work.") for calls in self.script[done:]]
        provider = ScriptedProvider([*rest, says("All done.")])
        snap = snapshot(
            provider,
            tool("safe", self.safe.run, effect="read", policy="allow"),
            tool("once", self.once.run, policy="allow"),
            tool("asking", self.asking.run),
            tool("no", self.no.run),
            *task_tools("default", {"default": "", "coder": ""}),
        )
        gate = Orders({"asking": [ALLOW if pressed else PENDING], "no": [Denied(reason="no")]})
        return asyncio.run(run_chat(snap, gate, records=records))


def outcome(records: tuple[Record, ...]) -> list[tuple[str, str]]:
    """What a turn came to, but for results that a crash made unknown."""
    last = {r.call_id: r for r in records if isinstance(r, ToolReturned)}
    return [
        *((r.text, str(len(r.calls))) for r in records if isinstance(r, Responded)),
        *((i, r.outcome if r.outcome != "unknown" else "ok") for i, r in sorted(last.items())),
    ]


@settings(max_examples=60, deadline=None)
@given(rounds=ROUNDS, data=st.data())
def test_a_turn_cut_anywhere_comes_to_the_same_end_and_runs_nothing_external_twice(rounds, data):
    whole = records_in(World(script=rounds).chat(()))
    world = World(script=rounds)
    records: tuple[Record, ...] = ()
    for _ in range(3):
        now = records + records_in(world.chat(records, pressed=data.draw(st.booleans())))
        records = now[: data.draw(st.integers(min_value=len(records), max_value=len(now)))]
    # What ran while it was cut off was not stored: from here on only what a real crash can lose.
    counted = World(script=rounds)
    events = counted.chat(records)
    final = records + records_in(events)
    assert outcome(final) == outcome(whole)
    assert not any(isinstance(event, Failed | ApprovalNeeded) for event in events)
    assert isinstance(next_step(final), Ended)
    begun = {r.call_id for r in records if type(r).__name__ == "ToolStarted"}
    external = [
        c
        for r in whole
        if isinstance(r, Responded)
        for c in r.calls
        if c.tool == "once" and c.args is not None
    ]
    assert len(counted.once.runs) == len([c for c in external if c.id not in begun])


@settings(max_examples=60, deadline=None)
@given(rounds=ROUNDS, data=st.data())
def test_however_a_turn_ends_its_history_is_valid_turn_after_turn(rounds, data):
    history: tuple[str, ...] = ()
    for turn_id in range(1, 4):
        records = records_in(World(script=rounds).chat(()))
        kept = records[: data.draw(st.integers(min_value=0, max_value=len(records)))]
        given_ = TurnInput(turn_id=turn_id, text=data.draw(st.sampled_from(["", "do it", "\u200b"])))
        kept = tuple(_renumbered(record, turn_id) for record in kept)
        history += closed_history(given_, ChatState(records=kept), closing="stopped by the user").appended
        strictly_valid(load(history), closed=True)


def _renumbered(record: Record, turn_id: int) -> Record:
    """The same record as another turn's: its call ids carry the turn's number."""
    if not isinstance(record, Responded):
        return record
    return Responded(
        message_json=record.message_json.replace("call_7_", f"call_{turn_id}_"),
        text=record.text,
        calls=record.calls,
    )


@settings(max_examples=40, deadline=None)
@given(rounds=ROUNDS, data=st.data())
def test_what_people_see_after_all_retractions_is_what_was_recorded(rounds, data):
    world = World(script=rounds)
    events: list[AgentEvent] = []
    for _ in range(3):
        run = world.chat(records_in(events))
        # A crash loses events behind the last one that was stored.
        events += run[: data.draw(st.integers(min_value=0, max_value=len(run)))]
    events += world.chat(records_in(events))
    shown, since_a = "", ""
    for event in events:
        match event:
            case Retracted():
                since_a = ""
            case TextDelta(text=text):
                since_a += text
            case Responded():
                shown, since_a = shown + since_a, ""
            case _:
                pass
    assert shown == "".join(event.text for event in events if isinstance(event, Responded))


def test_a_turn_without_records_begins_with_a_send():
    assert next_step(()) == Send(round=0, sends=0)


def test_task_calls_are_handled_before_the_queue():
    calls = [("shop__safe", {}), ("task_end", {"summary": "s"})]
    records = records_in(World(script=[calls]).chat(()))
    first = records[:2]
    step = next_step(first)
    assert isinstance(step, Handle)
    assert step.call.id == "0.1"
