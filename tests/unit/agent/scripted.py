"""Doubles for the agent's chat: a provider that follows a script, a gate that follows orders, and a strict reader.

The strict reader stands for the pickiest API: whatever it passes, every provider takes.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from tenacity import stop_after_attempt, wait_none

from agent.calls import ToolCall
from agent.chat import chat
from agent.context.folding import Keeping
from agent.errors import ProviderError
from agent.events import AgentEvent, Record, TextDelta, ThinkingDelta
from agent.ports import Allowed, Answered, ChatState, Denied, Gate, Pending, TurnInput
from agent.provider import ToolSpec
from agent.retries import RetryPolicy
from agent.snapshot import Route, Snapshot
from agent.tools.registry import Catalogue, Effect, Policy, Tool, ToolCallContext, ToolResult
from agent.tools.results import ResultFolder
from gateway.redaction import Redactor

Decision = Allowed | Denied | Pending
ALLOW = Allowed()
PENDING = Pending()


def says(*texts: str, finish: str = "stop") -> ModelResponse:
    return ModelResponse(parts=[TextPart(content=text) for text in texts], finish_reason=finish)


def thinks(text: str) -> ModelResponse:
    return ModelResponse(parts=[ThinkingPart(content=text)])


def asks(*calls: tuple[str, object], text: str = "") -> ModelResponse:
    """A response with calls: (the model's name of the tool, its arguments as text or object)."""
    words = [TextPart(content=text)] if text else []
    # A provider that gives every call the same id: ours have to be told apart all the same.
    return ModelResponse(
        parts=[*words, *(ToolCallPart(tool_name=n, args=a, tool_call_id="same") for n, a in calls)]
    )


@dataclass(frozen=True)
class Broken:
    """A send that fails after these deltas."""

    error: ProviderError
    after: tuple[str, ...] = ()


@dataclass
class ScriptedProvider:
    """Answers the n-th request of a turn with the n-th line; failing lines are used up one by one."""

    script: list[ModelResponse | Broken]
    seen: list[list[ModelMessage]] = field(default_factory=list)
    tools_seen: list[tuple[str, ...]] = field(default_factory=list)
    hang: bool = False

    async def send(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: Mapping[str, object]
    ) -> AsyncGenerator[TextDelta | ThinkingDelta | ModelResponse, None]:
        strictly_valid(messages)
        self.seen.append(list(messages))
        self.tools_seen.append(tuple(spec.name for spec in tools))
        line = self.script.pop(0)
        if isinstance(line, Broken):
            for text in line.after:
                yield TextDelta(text=text)
            if self.hang:
                await asyncio.Event().wait()
            raise line.error
        for part in line.parts:
            if isinstance(part, ThinkingPart):
                yield ThinkingDelta(text=part.content)
            if isinstance(part, TextPart):
                for word in re.findall(r"\s*\S+|\s+", part.content):
                    yield TextDelta(text=word)
        yield line


@dataclass
class Orders:
    """A gate: decisions by tool, given one after the other; the last one stays."""

    decisions: dict[str, list[Decision]] = field(default_factory=dict)
    asked: list[tuple[str, str, str]] = field(default_factory=list)
    answers: dict[str, str] = field(default_factory=dict)

    async def answer(self, call: ToolCall) -> Answered | Pending:
        return Answered(text=self.answers[call.id]) if call.id in self.answers else Pending()

    async def check(self, call: ToolCall, *, default: str) -> Decision:
        self.asked.append((call.id, call.ref, default))
        orders = self.decisions.get(call.tool, [ALLOW])
        return orders.pop(0) if len(orders) > 1 else orders[0]


@dataclass
class Counter:
    """A tool that counts its runs."""

    runs: list[Mapping[str, object]] = field(default_factory=list)
    answer: str | Exception = "counted"
    lost: bool = False

    async def run(self, args: Mapping[str, object], context: ToolCallContext) -> ToolResult:
        self.runs.append(args)
        if isinstance(self.answer, Exception):
            raise self.answer
        return ToolResult(text=self.answer, lost=self.lost)


def tool(
    name: str,
    run: Callable[[Mapping[str, object], ToolCallContext], Awaitable[ToolResult]],
    *,
    server: str = "shop",
    effect: Effect = "external",
    policy: Policy = "ask",
) -> Tool:
    return Tool(
        name=f"{server}__{name}",
        server=server,
        tool=name,
        description=f"The tool {name}.",
        parameters={"type": "object", "properties": {}},
        run=run,
        effect=effect,
        default_policy=policy,
    )


NO_PAUSES = RetryPolicy(stop=stop_after_attempt(3), wait=wait_none())


def snapshot(
    provider: ScriptedProvider, *tools: Tool, folder: Path | None = None, **changes: object
) -> Snapshot:
    values: dict[str, object] = {
        "agent": "default",
        "head": "You are a test.",
        "routes": (Route(name="scripted", provider=provider),),
        "tools": Catalogue(tools),
        "results": ResultFolder(folder or Path("/nonexistent")),
        "mask": Redactor().text,
        "retries": NO_PAUSES,
    }
    return Snapshot(**{**values, **changes})


async def no_sleep(_seconds: float) -> None:
    return


async def run_chat(
    snap: Snapshot,
    gate: Gate | None = None,
    *,
    text: str = "hello",
    turn_id: int = 7,
    history: Sequence[str] = (),
    records: Sequence[Record] = (),
) -> list[AgentEvent]:
    given = TurnInput(turn_id=turn_id, text=text, context="A test chat.")
    state = ChatState(history=tuple(history), records=tuple(records))
    stream = chat(given, snap, state, gate or Orders(), sleep=no_sleep, reference=lambda: "0badcafe")
    return [event async for event in stream]


def stored(history: Sequence[str], kept: Keeping) -> tuple[str, ...]:
    """The agent's stored messages after a turn, as the gateway's store makes them."""
    return (*history[: kept.start], *kept.instead, *history[kept.stop :], *kept.appended)


def records_in(events: Sequence[AgentEvent]) -> tuple[Record, ...]:
    return tuple(event for event in events if isinstance(event, Record))


def strictly_valid(messages: Sequence[ModelMessage], *, closed: bool = False) -> None:
    """Raise unless the pickiest provider would take these messages.

    Args:
        messages: A conversation; a system prompt may open it.
        closed: Whether it is a finished history (ends with the agent's own words).
    """
    body = list(messages)
    if body and any(isinstance(part, SystemPromptPart) for part in body[0].parts):
        assert len(body[0].parts) == 1
        body = body[1:]
    ids: set[str] = set()
    waiting: list[ToolCallPart] = []
    for position, message in enumerate(body):
        assert message.parts, "an empty message"
        if isinstance(message, ModelRequest):
            assert position == 0 or isinstance(body[position - 1], ModelResponse), "two requests in a row"
            returns = [part for part in message.parts if isinstance(part, ToolReturnPart)]
            assert [r.tool_call_id for r in returns] == [call.tool_call_id for call in waiting]
            assert [r.tool_name for r in returns] == [call.tool_name for call in waiting]
            assert list(message.parts[: len(returns)]) == returns, "results come first"
            assert all(r.content for r in returns)
            for part in message.parts[len(returns) :]:
                assert isinstance(part, UserPromptPart)
                assert part.content
            waiting = []
        else:
            assert position > 0, "a conversation opens with a question"
            assert isinstance(body[position - 1], ModelRequest), "two responses in a row"
            assert not waiting
            waiting = [part for part in message.parts if isinstance(part, ToolCallPart)]
            for call in waiting:
                assert re.fullmatch(r"[A-Za-z0-9_-]{1,64}", call.tool_name)
                assert isinstance(call.args, dict)
                assert call.tool_call_id not in ids, "a call id used twice"
                ids.add(call.tool_call_id)
    if closed:
        assert not waiting
        assert isinstance(body[-1], ModelResponse)
    else:
        assert isinstance(body[-1], ModelRequest)
