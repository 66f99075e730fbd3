"""Shortens an agent's history on demand (`/compact`), between two turns."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import structlog

from agent.context.folding import compressions_in, folded
from agent.events import AgentEvent, Compressed, Noted, Paid
from agent.ports import ChatState, TurnInput
from agent.prompt import system_prompt
from agent.sending import Sleep
from agent.snapshot import Snapshot

_log = structlog.get_logger()

FAILED = "I could not make a summary; nothing of our conversation is lost. Please try again later."


async def compact(
    turn_input: TurnInput, snapshot: Snapshot, state: ChatState, *, sleep: Sleep = asyncio.sleep
) -> AsyncGenerator[AgentEvent, None]:
    """Make the middle of the history one summary now; goes on where an interrupted one stopped.

    Yields:
        At most one `Compressed`, or `Paid` for one that came to nothing, and last what to tell the user.
    """
    from agent.context.compress import Conversation, compress, newest_question
    from agent.context.summary import NoSummary, Summarist
    from agent.history import load, system_message

    done = compressions_in(state.records)
    if not done:
        messages = tuple(load(state.history))
        conversation = Conversation(
            system=system_message(system_prompt(snapshot.head, turn_input.context)),
            messages=messages,
            pin_from=newest_question(messages),
            tools=snapshot.tools.specs,
        )
        routes = snapshot.summary_routes or snapshot.routes
        steps = compress(
            conversation,
            Summarist(routes=routes, retries=snapshot.retries, sleep=sleep),
            [(snapshot.context.protect_first, snapshot.context.protect_last)],
            limit=conversation.count().tokens,
            must=True,
        )
        async with aclosing(steps):
            async for step in steps:
                if isinstance(step, NoSummary):
                    _log.warning("context.not_compressed", reason=snapshot.mask(step.why))
                    if step.usage.requests:
                        yield Paid(usage=step.usage)
                    yield Noted(message=FAILED)
                    return
                yield step
                done = (step,)
    yield Noted(message=_told(state, done, snapshot))


def _told(state: ChatState, done: tuple[Compressed, ...], snapshot: Snapshot) -> str:
    if not done:
        first, last = snapshot.context.protect_first, snapshot.context.protect_last
        return (
            f"Nothing to shorten yet: there are {len(state.history)} messages, and the first {first - 1} and the"
            f" last {last} are always kept as they are."
        )
    after = len(folded(state.history, done, [each.message_json for each in done]))
    return (
        f"Shortened: {len(state.history)} messages are {after} now, about {done[0].tokens_before:,} tokens"
        f" before and {done[-1].tokens_after:,} after. The full transcript stays readable."
    )
