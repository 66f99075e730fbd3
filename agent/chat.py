"""The chat: send, record, handle the calls, send again; a resumable interpreter over a turn's records.

`agent.records.next_step` says what comes next, this module does it and yields what happened. The consumer
stores each event before it asks for the next one. To go on after a wait, a crash or a restart, `chat` is
called again with the records so far: there is no other way to resume, and no state but the records.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace
from typing import assert_never

from agent import budget, notices
from agent.errors import ContextTooLong, ProviderError
from agent.events import (
    AgentEvent,
    ApprovalNeeded,
    ChatEnded,
    Checkpoint,
    Compressed,
    Failed,
    Noted,
    Paid,
    QuestionAsked,
    Record,
    Responded,
    Retracted,
    StatusChanged,
    Steered,
    TextDelta,
    ThinkingDelta,
    ToolShown,
)
from agent.fitting import fit, has_failed_summary, shorten
from agent.handling import handle_call, is_showable
from agent.ports import Ask, ChatState, Gate, Hear, TurnInput, asks_nobody, hears_nothing
from agent.records import Ended, Finish, Handle, Send, next_step, total_usage
from agent.run import Run
from agent.sending import Answer, Sleep, send_along
from agent.snapshot import Snapshot

_EMPTIES_ALLOWED = 1


def new_reference() -> str:
    """A short reference that joins a message to the user with a line in the log."""
    return secrets.token_hex(4)


async def chat(
    turn_input: TurnInput,
    snapshot: Snapshot,
    state: ChatState,
    gate: Gate,
    *,
    hear: Hear = hears_nothing,
    ask: Ask = asks_nobody,
    sleep: Sleep = asyncio.sleep,
    reference: Callable[[], str] = new_reference,
) -> AsyncGenerator[AgentEvent, None]:
    """Run a turn, or go on with it, until it ends or waits for a person.

    Close the generator (`contextlib.aclosing`) or cancel the task that iterates it to stop the turn; the
    running
    send or tool is cancelled, and `agent.keeping.closed_history` makes the history whole.

    Args:
        turn_input: What opened the turn.
        snapshot: The agent, the same for the whole turn.
        state: The agent's earlier messages and this turn's records so far.
        gate: Decides on tool calls.
        hear: What the user says meanwhile; asked before each send.
        ask: Asks the user what a tool that runs wants to know.
        sleep: Waits between retries.
        reference: Makes a reference for an error.

    Yields:
        Events; the last one is `ChatEnded`, or `ApprovalNeeded` or `QuestionAsked` if the turn waits for a person.
    """
    run = Run(
        turn_input=turn_input,
        snapshot=snapshot,
        gate=gate,
        hear=hear,
        ask=ask,
        sleep=sleep,
        reference=reference,
    )
    run.records.extend(state.records)
    run.summary_failed = has_failed_summary(state.records)
    await run.load_history(state.history)
    async with aclosing(_steps(run)) as events:
        async for event in events:
            if isinstance(event, Record):
                run.records.append(event)
            yield event
            if isinstance(event, ApprovalNeeded | QuestionAsked):
                return
            if isinstance(event, Failed):
                break
    yield StatusChanged(status="done")
    yield ChatEnded(usage=total_usage(run.records))


async def _steps(run: Run) -> AsyncGenerator[AgentEvent, None]:
    while True:
        match next_step(run.records):
            case Ended():
                return
            case Finish() as finish:
                yield _closing_checkpoint(finish)
                return
            case Send() as step:
                events = _send(run, step)
            case Handle() as step:
                events = handle_call(step, run.turn_input, run.snapshot, run.gate, run.ask)
            case never:
                assert_never(never)
        async with aclosing(events):
            async for event in events:
                yield event


async def _send(run: Run, step: Send) -> AsyncGenerator[AgentEvent, None]:
    if step.torn:
        # Whatever the interrupted send had streamed is void; said before the next checkpoint A moves the
        # mark.
        yield Retracted()
    for said in await run.hear():
        yield Steered(text=said)
    allowance = budget.next_allowance(step.sends, run.snapshot.budget)
    async with aclosing(fit(run, allowance)) as fitting:
        async for event in fitting:
            yield event
            if isinstance(event, Failed):
                return
    if allowance.tools == "none" and not step.torn:
        yield Noted(message=budget.spent_notice(run.snapshot.budget))
    yield _opening_checkpoint(run, step, allowance)
    yield StatusChanged(status="thinking")
    answer: Answer | None = None
    try:
        async with aclosing(_stream(run, step, allowance)) as stream:
            async for sent in stream:
                if isinstance(sent, Answer):
                    answer = sent
                else:
                    yield sent
    except ContextTooLong as error:
        async with aclosing(_send_shorter(run, step, allowance, error)) as events:
            async for event in events:
                yield event
        return
    except ProviderError as error:
        yield _failure(error, run)
        return
    assert answer is not None  # `send_along` ends with an answer or raises
    async with aclosing(_answered(run, step, answer)) as events:
        async for event in events:
            yield event


async def _answered(run: Run, step: Send, answer: Answer) -> AsyncGenerator[AgentEvent, None]:
    responded = run.to_responded(answer, step.round)
    if responded.calls or _says_something(responded, answer):
        events = _recorded(run, responded, answer)
    else:
        yield Paid(usage=responded.usage, model=responded.model)
        if step.empties >= _EMPTIES_ALLOWED:
            detail = f"{answer.model} answered without words or calls"
            yield Failed(kind="empty", message=notices.EMPTY, detail=detail)
            return
        events = _send(run, replace(step, sends=step.sends + 1, empties=step.empties + 1, torn=True))
    async with aclosing(events):
        async for event in events:
            yield event


async def _send_shorter(
    run: Run, step: Send, allowance: budget.Allowance, error: ContextTooLong
) -> AsyncGenerator[AgentEvent, None]:
    """A provider found the request too long: shorten it, once, and send again, if need be to another model."""
    if run.refused_in == step.round:
        yield _failure(error, run)
        return
    run.refused_in = step.round
    is_shorter = False
    async with aclosing(shorten(run, allowance, must=True)) as events:
        async for event in events:
            is_shorter = is_shorter or isinstance(event, Compressed)
            yield event
    if not is_shorter and len(run.snapshot.routes) == 1:
        yield _failure(error, run)
        return
    async with aclosing(_send(run, replace(step, sends=step.sends + 1, torn=True))) as events:
        async for event in events:
            yield event


async def _stream(
    run: Run, step: Send, allowance: budget.Allowance
) -> AsyncGenerator[TextDelta | ThinkingDelta | Retracted | Answer, None]:
    """One send's deltas; the texts shown, joined, are exactly the text of the answer that ends it."""
    from agent.history import visible_text, well_formed

    snapshot = run.snapshot
    tools = snapshot.tools.specs if allowance.tools == "all" else ()
    sent = send_along(
        snapshot.routes,
        run.messages(allowance.note),
        tools,
        retries=snapshot.retries,
        sleep=run.sleep,
        can_shorten=run.refused_in != step.round,
    )
    shown = ""
    async with aclosing(sent):
        async for event in sent:
            match event:
                case TextDelta(text=text):
                    shown += (clean := well_formed(text))
                    yield TextDelta(text=clean)
                case ThinkingDelta(text=text):
                    yield ThinkingDelta(text=well_formed(text))
                case Retracted():
                    shown = ""
                    yield event
                case Answer(response=response):
                    whole = well_formed(visible_text(response))
                    if not whole.startswith(shown):
                        yield Retracted()
                        shown = ""
                    if len(whole) > len(shown):
                        yield TextDelta(text=whole[len(shown) :])
                    yield event


async def _recorded(run: Run, responded: Responded, answer: Answer) -> AsyncGenerator[AgentEvent, None]:
    yield responded
    if answer.is_fallback and answer.model not in run.told_of:
        run.told_of.add(answer.model)
        yield Noted(
            message=notices.fallback_answered(run.snapshot.routes[0].name, answer.model, answer.why_fallback)
        )
    if answer.response.finish_reason == "length":
        yield Noted(message=notices.CUT_BY_LENGTH)
    if answer.response.finish_reason == "content_filter":
        yield Noted(message=notices.FILTERED)
    for call in responded.calls:
        if is_showable(call):
            yield ToolShown(call=call, state="queued")


def _says_something(responded: Responded, answer: Answer) -> bool:
    from agent.history import has_visible

    return has_visible(responded.text) or answer.response.finish_reason == "content_filter"


def _opening_checkpoint(run: Run, step: Send, allowance: budget.Allowance) -> Checkpoint:
    return Checkpoint(
        name="A",
        data={
            "agent": run.snapshot.agent,
            "history": run.history_length,
            "round": step.round,
            "send": step.sends,
            "tools": allowance.tools,
            "empties": step.empties,
            **({"summary": "failed"} if run.summary_failed else {}),
        },
    )


def _closing_checkpoint(finish: Finish) -> Checkpoint:
    last = finish.rounds[-1]
    return Checkpoint(
        name="C",
        data={
            "outcome": "answered",
            "sends": sum(1 for _ in finish.rounds),
            "begins": [dict(call.args or {}) for call in last.begins],
            "ends": [dict(call.args or {}) for round_ in finish.rounds for call in round_.ends],
            "queue": [[call.id, last.returned[call.id].outcome] for call in last.queue],
        },
    )


def _failure(error: ProviderError, run: Run) -> Failed:
    reference = run.reference()
    return Failed(
        kind="context" if isinstance(error, ContextTooLong) else "provider",
        message=notices.provider_failed(error, reference),
        detail=f"{reference} {type(error).__name__}: {run.snapshot.mask(str(error))}",
    )
