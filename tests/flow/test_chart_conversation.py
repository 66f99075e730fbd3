"""The charts of one conversation and of tools, walked edge by edge.

Nodes are named as in the documents the product began with. What concerns memory (its tools, its providers' life, the
review after a turn) and compression is walked where these are tested.
"""

import asyncio
import threading
from pathlib import Path

import pytest

from agent.events import Responded, ToolReturned
from agent.runtime import AgentRuntime
from agent.settings import AgentProfile, AgentSettings, ModelProfile, ToolRules
from agent.tools.registry import Tool, function_tool
from tests.flow.agents import count
from tests.flow.chart import Chart
from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import calls, says
from tests.unit.agent.scripted import Orders, run_chat

CONVERSATION = Chart("""
    user -> entry: sends a message
    entry -> agent: run_conversation
    agent -> agent: builds the system prompt
    agent -> store: loads the history
    agent -> agent: checks the budget
    agent -> model: messages and tool schemas
    model -> agent: streams text and calls
    agent -> entry: each delta
    agent -> agent: consumes the budget
    agent -> tools: handle a call
    tools -> tools: the registry knows its handler
    tools -> agent: the result
    agent -> agent: appends the result
    agent -> agent: caution at 70 %, warning at 90 %
    model says only text: leaves the loop
    agent -> store: saves the conversation
    agent -> entry: the answer
    entry -> user: shows it
""")
TOOLS = Chart("""
    discover -> import the modules
    import the modules -> register
    register -> registry
    registry -> definitions
    definitions -> which are enabled
    which are enabled -match-> schema
    which are enabled -excluded-> skipped
    schema -> the agent's tools
    the agent's tools -> the model calls
    the model calls -> is the name known
    is the name known -yes-> handle the call
    is the name known -no-> an error to the model
    handle the call -> is it async
    is it async -yes-> awaited
    is it async -no-> called in a thread
    awaited -> result
    called in a thread -> result
    handle the call -> is it an MCP tool
    is it an MCP tool -yes-> called over MCP
""")


def test_every_edge_has_a_test_that_walks_it() -> None:
    assert (len(CONVERSATION.edges), CONVERSATION.unwalked) == (18, [])
    assert (len(TOOLS.edges), TOOLS.unwalked) == (19, [])


@CONVERSATION.walks(
    "user -> entry: sends a message",
    "entry -> agent: run_conversation",
    "agent -> agent: builds the system prompt",
    "agent -> store: loads the history",
    "agent -> model: messages and tool schemas",
    "model -> agent: streams text and calls",
    "agent -> entry: each delta",
    "model says only text: leaves the loop",
    "agent -> store: saves the conversation",
    "agent -> entry: the answer",
    "entry -> user: shows it",
)
@pytest.mark.req("AGT-1", "AGT-2", "AGT-11", "SES-4")
async def test_a_message_is_answered_from_prompt_and_history_and_both_are_kept(house: House) -> None:
    ann = house.person()
    house.model.then(says("It is blue."), ("As I ", "said, blue."))
    ann.says("what colour?")
    await ann.gets("It is blue.")
    ann.says("again?")
    await ann.gets("As I said, blue.")
    await house.quiet()

    asked = house.model.asked[1]
    assert asked.system.startswith("Your name is default.")
    assert "You are in a chat with Ann on memory." in asked.system
    assert asked.lines == [("user", "what colour?"), ("model", "It is blue."), ("user", "again?")]
    assert {"lab__count", "lab__look"} <= set(asked.tools)
    deltas = [payload["text"] for kind, payload in await house.events(2) if kind == "text"]
    assert "".join(deltas) == "As I said, blue."
    assert await house.values("SELECT COUNT(*) FROM agent_state") == [4]
    assert await house.values("SELECT body FROM messages ORDER BY id") == [
        "what colour?",
        "It is blue.",
        "again?",
        "As I said, blue.",
    ]


@CONVERSATION.walks(
    "agent -> agent: checks the budget",
    "agent -> agent: consumes the budget",
    "agent -> tools: handle a call",
    "tools -> tools: the registry knows its handler",
    "tools -> agent: the result",
    "agent -> agent: appends the result",
    "agent -> agent: caution at 70 %, warning at 90 %",
)
@pytest.mark.req("AGT-2", "AGT-6")
async def test_each_round_takes_of_the_budget_and_the_model_is_warned_before_it_is_spent(
    house_of: Open,
) -> None:
    house = await house_of(turns={"budget": 10}, approvals={"allow": ["lab/*"]})
    ann = house.person()
    house.model.then(*(calls(count(n)) for n in range(10)), says("That is all."))
    ann.says("count")
    await ann.gets("That is all.")
    await house.quiet()

    assert [runs["n"] for _, runs in house.lab.runs] == list(range(10))
    last = [asked.lines[-1] for asked in house.model.asked]
    assert last[:2] == [("user", "count"), ("success", "run 1")]
    assert [words.split(":")[0] for who, words in last if who == "user"][1:] == [
        "[Caution",
        "[Caution",
        "[Warning",
        "[The step budget is spent",
    ]
    assert [bool(asked.tools) for asked in house.model.asked] == [True] * 10 + [False]


async def a_coroutine(word: str) -> str:
    """Say in which thread a coroutine ran."""
    return f"{word} {threading.current_thread() is threading.main_thread()}"


def a_function(word: str) -> str:
    """Say in which thread a plain function ran."""
    return f"{word} {threading.current_thread() is threading.main_thread()}"


def _tools() -> tuple[Tool, ...]:
    return tuple(
        function_tool(each, default_policy="allow", effect="read") for each in (a_coroutine, a_function)
    )


@TOOLS.walks(*TOOLS.edges)
@pytest.mark.req("TOL-1", "TOL-2", "AGT-8")
async def test_tools_are_found_filtered_and_run_as_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agent.runtime.builtin_tools", _tools)
    settings = AgentSettings(
        agents={
            "default": AgentProfile(tools=("builtin/a_*", "demo/*")),
            "other": AgentProfile(tools=("demo/echo",)),
        },
        models={"demo": ModelProfile(provider="demo")},
        state_dir=tmp_path,
        tools=ToolRules(first_wait_s=20.0),
        demo_delay_s=0.0,
    )
    runtime = AgentRuntime(settings, mask=str)
    async with asyncio.TaskGroup() as group:
        group.create_task(runtime.run())
        assert await runtime.ready(60)
        default, other = await runtime.snapshot("default"), await runtime.snapshot("other")
        lines = (
            'a_coroutine {"word": "one"}',
            'a_function {"word": "two"}',
            'echo {"text": "three"}',
            "made_up",
        )
        events = await run_chat(default, Orders(), text="\n".join(f"use {line}" for line in lines))
        await runtime.aclose()

    task_tools = ["tasks/task_begin", "tasks/task_end"]
    assert [spec.ref for spec in default.tools.specs] == [
        "builtin/a_coroutine",
        "builtin/a_function",
        *(f"demo/{name}" for name in ("echo", "read_notes", "roll", "write_note")),
        *task_tools,
    ]
    assert [spec.ref for spec in other.tools.specs] == ["demo/echo", *task_tools]
    schema = default.tools.specs[0].parameters
    assert (schema["properties"], schema["required"]) == (
        {"word": {"title": "Word", "type": "string"}},
        ["word"],
    )
    assert [(e.outcome, e.content) for e in events if isinstance(e, ToolReturned)] == [
        ("ok", "one True"),
        ("ok", "two False"),
        ("ok", "three"),
        ("error", "There is no tool named made_up. Use only the tools you were given."),
    ]
    assert len([e for e in events if isinstance(e, Responded)]) == 2
