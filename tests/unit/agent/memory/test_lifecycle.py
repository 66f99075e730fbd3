"""The life of a memory provider, edge by edge as in diagram B.3 of the seed document, and what it never holds up."""

import asyncio
from collections.abc import Sequence
from typing import get_args

import pytest

from agent.memory import lifecycle
from agent.memory.lifecycle import TABLE, Event, Memory, MemoryState, Recalled, Status
from agent.ports import Who
from agent.tools.registry import Tool, ToolCallContext, ToolResult
from gateway.redaction import Redactor

pytestmark = pytest.mark.req("MEM-1")

ANN = Who(user="m:1", session_id=1, platform="m")
BOB = Who(user="m:2", session_id=2, platform="m")


class Noting:
    """A provider that writes down what it is asked; `breaks` names a call that fails, `hangs` one that never ends."""

    def __init__(self, *, missing: str = "", breaks: str = "", hangs: str = "") -> None:
        self.calls: list[tuple[str, str]] = []
        self.done = asyncio.Event()
        self._missing, self._breaks, self._hangs = missing, breaks, hangs

    def why_not(self) -> str:
        return self._missing

    def tools(self) -> Sequence[Tool]:
        async def run(args: object, context: ToolCallContext) -> ToolResult:
            await self._note("tool", context.who)
            return ToolResult(text=f"for {context.who and context.who.user}")

        return (
            Tool(
                name="look_up",
                server="noting",
                tool="look_up",
                description="",
                parameters={"type": "object"},
                run=run,
            ),
        )

    async def initialize(self, who: Who) -> None:
        await self._note("initialize", who)

    async def prompt_block(self, who: Who) -> str:
        await self._note("prompt_block", who)
        return f"block of {who.user}"

    async def prefetch(self, who: Who, question: str) -> str:
        await self._note("prefetch", who)
        return f"found for {question}"

    async def on_turn_start(self, who: Who, question: str) -> None:
        await self._note("on_turn_start", who)

    async def sync_turn(self, who: Who, question: str, answer: str) -> None:
        await self._note(f"sync_turn {question}→{answer}", who)
        self.done.set()

    async def on_session_end(self, who: Who) -> None:
        await self._note("on_session_end", who)
        self.done.set()

    async def shutdown(self) -> None:
        await self._note("shutdown", None)

    async def _note(self, call: str, who: Who | None) -> None:
        name = call.split(" ", maxsplit=1)[0]
        self.calls.append((call, who.user if who else ""))
        if name == self._breaks:
            raise RuntimeError("no luck with token=abc123secret")
        if name == self._hangs:
            await asyncio.get_running_loop().create_future()


def memory(provider: Noting) -> Memory:
    return Memory([("noting", provider)], mask=Redactor().text)


async def run_until_done(one: Memory, provider: Noting) -> None:
    running = asyncio.create_task(one.run())
    await provider.done.wait()
    running.cancel()
    await asyncio.wait([running])


async def test_loaded_to_available_to_added() -> None:
    assert memory(Noting()).states == (MemoryState(name="noting", status="added"),)


async def test_loaded_to_not_available_to_skipped_with_its_reason() -> None:
    provider = Noting(missing="NOTING_KEY is not set")
    one = memory(provider)
    assert one.states == (MemoryState(name="noting", status="skipped", trouble="NOTING_KEY is not set"),)
    assert (one.tools, await one.begin_turn(ANN, "hi")) == ((), Recalled())
    assert provider.calls == []


async def test_added_to_initialize_to_ready_once_for_each_session_and_person() -> None:
    provider = Noting()
    one = memory(provider)
    for who in (ANN, ANN, BOB):
        await one.begin_turn(who, "hi")
    assert one.states[0].status == "ready"
    assert [call for call in provider.calls if call[0] == "initialize"] == [
        ("initialize", "m:1"),
        ("initialize", "m:2"),
    ]


async def test_ready_to_tool_schemas_and_their_calls_are_routed_to_the_provider() -> None:
    provider = Noting()
    (tool,) = memory(provider).tools
    assert tool.name == "look_up"
    assert await tool.run({}, ToolCallContext(key="k", who=ANN)) == ToolResult(text="for m:1")
    assert provider.calls == [("initialize", "m:1"), ("tool", "m:1")]


async def test_ready_to_system_prompt_context_and_turn_start_and_back() -> None:
    provider = Noting()
    recalled = await memory(provider).begin_turn(ANN, "food")
    assert recalled == Recalled(block="block of m:1", found="found for food")
    assert [call for call, _ in provider.calls] == ["initialize", "on_turn_start", "prompt_block", "prefetch"]


async def test_ready_to_turn_sync_and_back() -> None:
    provider = Noting()
    one = memory(provider)
    one.turn_ended(ANN, "hi", "hello")
    assert provider.calls == []
    await run_until_done(one, provider)
    assert ("sync_turn hi→hello", "m:1") in provider.calls


async def test_ready_to_session_end_and_ready_still() -> None:
    provider = Noting()
    one = memory(provider)
    await one.begin_turn(ANN, "hi")
    one.session_ended(ANN)
    running = asyncio.create_task(one.run())
    await provider.done.wait()
    await one.begin_turn(ANN, "again")
    assert one.states[0].status == "ready"
    running.cancel()
    await asyncio.wait([running])


async def test_ready_to_shutdown_to_the_end() -> None:
    provider = Noting()
    one = memory(provider)
    one.turn_ended(ANN, "hi", "hello")
    await run_until_done(one, provider)
    assert provider.calls[-1] == ("shutdown", "")
    assert one.states[0].status == "stopped"
    assert await one.begin_turn(ANN, "late") == Recalled()


def test_the_table_leads_from_loaded_to_an_end_and_nowhere_back() -> None:
    assert {event for _, event in TABLE} == set(get_args(Event))
    assert {"loaded", *TABLE.values()} == set(get_args(Status))
    assert {state for state, _ in TABLE} == {"loaded", "added", "ready"}


@pytest.mark.parametrize("call", ["initialize", "on_turn_start", "prompt_block", "prefetch"])
async def test_a_failing_provider_is_left_out_and_rests(call: str) -> None:
    broken, well = Noting(breaks=call), Noting()
    one = Memory([("broken", broken), ("well", well)], mask=Redactor().text)
    assert (await one.begin_turn(ANN, "hi")).block == "block of m:1"
    assert one.states[0].trouble == "RuntimeError: no luck with token=***"
    calls = len(broken.calls)
    await one.begin_turn(ANN, "hi")
    assert len(broken.calls) == calls
    assert one.states[1] == MemoryState(name="well", status="ready")


@pytest.mark.parametrize("call", ["initialize", "prefetch"])
async def test_a_slow_provider_is_given_up(call: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "IN_TURN_S", 0.01)
    slow, well = Noting(hangs=call), Noting()
    recalled = await Memory([("slow", slow), ("well", well)]).begin_turn(ANN, "hi")
    assert recalled == Recalled(block="block of m:1", found="found for hi")


async def test_a_provider_that_hangs_at_the_end_does_not_keep_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(lifecycle, "IN_TURN_S", 0.01)
    provider = Noting(hangs="shutdown")
    one = memory(provider)
    one.turn_ended(ANN, "hi", "hello")
    await run_until_done(one, provider)
    assert one.states[0].status == "stopped"


async def test_a_tool_of_a_failing_provider_fails_and_nothing_else_does() -> None:
    (tool,) = memory(Noting(breaks="tool")).tools
    result = await tool.run({}, ToolCallContext(key="k", who=ANN))
    assert result.is_error
    assert result.text == "The memory noting is not available: RuntimeError: no luck with token=***."


async def test_what_is_too_much_to_do_later_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle, "WAITING_KEPT", 2)
    provider = Noting()
    one = memory(provider)
    for number in range(5):
        one.turn_ended(ANN, str(number), "")
    assert one._later.qsize() == 2
