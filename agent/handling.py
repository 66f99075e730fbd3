"""One call of a round: decided, run, its result recorded; or left for a person to decide.

Nothing runs before `gate.check` allows it, and `ToolStarted` is stored before it runs. A call that was
running when the turn was interrupted runs again only if its effect allows it.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

import structlog

from agent.calls import ResultFile, ToolCall
from agent.events import (
    AgentEvent,
    ApprovalNeeded,
    Checkpoint,
    QuestionAsked,
    StatusChanged,
    ToolOutcome,
    ToolReturned,
    ToolShown,
    ToolStarted,
    ToolState,
)
from agent.notices import HANDED_OVER
from agent.ports import Allowed, Answered, Ask, Denied, Gate, Pending, TurnInput, Who, asks_nobody
from agent.questions import Question, Reply
from agent.records import Handle, is_task_call
from agent.snapshot import Snapshot
from agent.tasks import task_fault
from agent.tools.registry import ReadQuestion, Tool, ToolCallContext, ToolResult
from agent.tools.results import bounded

_log = structlog.get_logger()

_SHOWN_RAW_ARGS = 500
_STATE: dict[ToolOutcome, ToolState] = {
    "ok": "done",
    "error": "failed",
    "denied": "denied",
    "unknown": "failed",
}

INTERRUPTED = (
    "Interrupted: the program stopped while this was running, so the outcome is unknown. "
    "It was not run again. Check what really happened before asking for it once more."
)


def is_showable(call: ToolCall) -> bool:
    """Whether people see the call: one that cannot run (no such tool, unreadable arguments) is not shown."""
    return bool(call.server) and call.args is not None and not is_task_call(call)


async def handle_call(
    step: Handle, turn: TurnInput, snapshot: Snapshot, gate: Gate, ask: Ask = asks_nobody
) -> AsyncGenerator[AgentEvent, None]:
    """Handle one call up to its result and checkpoint B, or up to `ApprovalNeeded`."""
    call, tool = step.call, snapshot.tools.find(step.call.server, step.call.tool)
    if is_task_call(call):
        fault = task_fault(call, tool)
        yield ToolReturned(call_id=call.id, outcome="error" if fault else "ok", content=fault or HANDED_OVER)
        return
    if step.started is not None and step.started.effect == "external":
        events = _settled(step, "unknown", INTERRUPTED)
    elif (fault := _why_not(step, tool)) is not None:
        events = _settled(step, "error", fault)
    else:
        assert tool is not None  # `_why_not` names a missing tool
        events = _decided(step, tool, turn, snapshot, gate, ask)
    async with aclosing(events):
        async for event in events:
            yield event


def _why_not(step: Handle, tool: Tool | None) -> str | None:
    """What the model is told of a call that cannot run at all."""
    call = step.call
    if step.round.final:
        return f"{call.name} was not run: the step budget is spent."
    if tool is None:
        return f"There is no tool named {call.name}. Use only the tools you were given."
    if call.args is None:
        raw = call.raw_args[:_SHOWN_RAW_ARGS]
        return f"{call.name} was not run: its arguments are not a valid JSON object. They were: {raw}"
    return None


async def _decided(
    step: Handle, tool: Tool, turn: TurnInput, snapshot: Snapshot, gate: Gate, ask: Ask
) -> AsyncGenerator[AgentEvent, None]:
    call = step.call
    # A call that was running had its approval; a harmless one runs again without a second question.
    now = replace(call, schema=tool.schema)
    decision = Allowed() if step.started else await gate.check(now, default=tool.default_policy)
    match decision:
        case Pending():
            # The card lists what a person can make sense of; a call that cannot run is decided already.
            queue = tuple(c for c in step.round.queue if is_showable(c))
            yield ToolShown(call=call, state="waiting")
            yield StatusChanged(status="waiting")
            current = queue.index(call)
            yield ApprovalNeeded(queue=(*queue[:current], now, *queue[current + 1 :]), current=current)
        case Denied(reason=reason):
            for event in _settle(step, "denied", f"Not run: {reason}"):
                yield event
        case Allowed() if tool.question is not None:
            async with aclosing(_asked(step, tool.question, gate)) as events:
                async for event in events:
                    yield event
        case Allowed():
            yield ToolStarted(call_id=call.id, effect=tool.effect)
            yield StatusChanged(status="running_tool")
            yield ToolShown(call=call, state="running")
            outcome, content, files = await _run(tool, call, turn, snapshot, ask)
            for event in _settle(step, outcome, content, files):
                yield event


async def _asked(step: Handle, read: ReadQuestion, gate: Gate) -> AsyncGenerator[AgentEvent, None]:
    """Ask the person, or hand on what they answered: nothing runs, so nothing is started."""
    call = step.call
    try:
        question = read(call.args or {})
    except ValueError as error:
        for event in _settle(step, "error", str(error)):
            yield event
        return
    answer = await gate.answer(call)
    match answer:
        case Pending():
            yield ToolShown(call=call, state="waiting")
            yield StatusChanged(status="waiting")
            yield QuestionAsked(call=call, question=question)
        case Answered(text=text):
            for event in _settle(step, "ok", text):
                yield event


async def _settled(step: Handle, outcome: ToolOutcome, content: str) -> AsyncGenerator[AgentEvent, None]:
    for event in _settle(step, outcome, content):
        yield event


def _settle(
    step: Handle, outcome: ToolOutcome, content: str, files: tuple[ResultFile, ...] = ()
) -> list[AgentEvent]:
    call, queue = step.call, step.round.queue
    events: list[AgentEvent] = [ToolReturned(call_id=call.id, outcome=outcome, content=content, files=files)]
    if is_showable(call):
        events.append(ToolShown(call=call, state=_STATE[outcome]))
    place = {"round": step.round.number, "call": call.id, "position": queue.index(call), "of": len(queue)}
    return [*events, Checkpoint(name="B", data={**place, "outcome": outcome})]


async def _run(
    tool: Tool, call: ToolCall, turn: TurnInput, snapshot: Snapshot, ask: Ask
) -> tuple[ToolOutcome, str, tuple[ResultFile, ...]]:
    key = f"call_{turn.turn_id}_{call.id.replace('.', '_')}"
    result = await _attempt(tool, call, key, snapshot, ask, turn.who)
    if result.lost and tool.effect != "external":
        result = await _attempt(tool, call, key, snapshot, ask, turn.who)
    text = result.text or "(no output)"
    if len(text) > _INLINE:
        text = await asyncio.to_thread(
            bounded, text, limit=snapshot.result_limit, folder=snapshot.results, key=key
        )
    if result.lost and tool.effect == "external":
        return "unknown", text, result.files
    return ("error" if result.is_error else "ok"), text, result.files


_INLINE = 500


async def _attempt(
    tool: Tool, call: ToolCall, key: str, snapshot: Snapshot, ask: Ask, who: Who | None
) -> ToolResult:
    timeout_s, wait_s = snapshot.tool_timeout_s, snapshot.answer_wait_s
    one_by_one = asyncio.Lock()

    async def ask_outside_the_bound(question: Question) -> Reply:
        async with one_by_one:
            left_s = (bound.when() or 0) - asyncio.get_running_loop().time()
            bound.reschedule(None)
            try:
                return await ask(call, question, wait_s)
            finally:
                bound.reschedule(asyncio.get_running_loop().time() + left_s)

    try:
        async with asyncio.timeout(timeout_s) as bound:
            return await tool.run(
                dict(call.args or {}), ToolCallContext(key=key, ask=ask_outside_the_bound, who=who)
            )
    except TimeoutError:
        text = f"{call.name} gave no result within {timeout_s:g} seconds; whether it did its work is unknown."
        # A second wait as long as the first helps nobody, so a harmless tool is not asked again either.
        return ToolResult(text=text, is_error=True, lost=tool.effect == "external")
    except Exception as error:  # noqa: BLE001 - a tool is foreign code: whatever it raises is a failed call
        _log.warning("tool.failed", tool=tool.ref, call=key, exc_info=True)
        return ToolResult(text=f"{call.name} failed inside ({type(error).__name__}).", is_error=True)
