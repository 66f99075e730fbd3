"""Keeps what a chat sends inside its model's window: looked at before every send, and when a provider refuses."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

import structlog

from agent import budget, notices
from agent.events import AgentEvent, Checkpoint, Failed, Noted, Paid, Record, StatusChanged
from agent.run import Run

_log = structlog.get_logger()


async def fit(run: Run, allowance: budget.Allowance) -> AsyncGenerator[AgentEvent, None]:
    """Before a send: shorten what has become too long; `Failed` if it does not fit the window even so."""
    window = run.snapshot.window
    if window is None:
        return
    conversation = run.conversation(allowance)
    if (least := conversation.least()) > window:
        message = notices.message_too_long(least, window)
        yield Failed(kind="context", message=message, detail=f"{least} tokens at least, window {window}")
        return
    limit = run.snapshot.context.compress_at * window
    if not run.summary_failed and conversation.count().tokens > limit:
        must = conversation.count().tokens > window
        async with aclosing(shorten(run, allowance, must=must)) as events:
            async for event in events:
                yield event
        conversation = run.conversation(allowance)
    if (tokens := conversation.count().tokens) > window:
        yield Failed(kind="context", message=notices.TOO_LONG, detail=f"{tokens} tokens, window {window}")


async def shorten(run: Run, allowance: budget.Allowance, *, must: bool) -> AsyncGenerator[AgentEvent, None]:
    """Make the middle of the conversation a summary; yields `Compressed` for each step, `Noted` if one failed."""
    from agent.context.compress import compress
    from agent.context.cut import protections
    from agent.context.summary import NoSummary, Summarist

    snapshot, rules = run.snapshot, run.snapshot.context
    conversation = run.conversation(allowance)
    tokens = conversation.count().tokens
    # A provider that refused has a smaller window than it was said to have, or the count is wrong.
    most = min(snapshot.window or tokens, tokens) if run.refused_in is not None else snapshot.window or tokens
    summarist = Summarist(
        routes=snapshot.summary_routes or snapshot.routes, retries=snapshot.retries, sleep=run.sleep
    )
    steps = compress(
        conversation,
        summarist,
        protections(rules.protect_first, rules.protect_last),
        limit=int(most * rules.compress_at),
        must=must,
    )
    yield StatusChanged(status="thinking")
    async with aclosing(steps):
        async for step in steps:
            if isinstance(step, NoSummary):
                run.summary_failed = True
                if step.usage.requests:
                    yield Paid(usage=step.usage)
                _log.warning("context.not_compressed", reason=snapshot.mask(step.why))
                yield Noted(message=notices.NOT_COMPRESSED)
            else:
                yield step


def has_failed_summary(records: Sequence[Record]) -> bool:
    """Whether this turn's people were told already that the history could not be shortened."""
    return any(isinstance(r, Checkpoint) and r.data.get("summary") == "failed" for r in records)
