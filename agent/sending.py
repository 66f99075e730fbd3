"""One send of the chat: retries on one model, then the next of the chain, until one response stands.

Above a provider (which only sends) and below the chat (which records). Nothing is recorded here; what an
attempt streamed before it failed is taken back with `Retracted`.
"""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent.errors import ContextTooLong, ProviderBusy, ProviderError, StreamCut
from agent.events import Retracted, TextDelta, ThinkingDelta
from agent.prices import Price
from agent.provider import ToolSpec
from agent.retries import RetryPolicy
from agent.snapshot import Route

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse

Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The response, who gave it and at which price; `is_fallback` if that is not the agent's own model.

    `why_fallback`: how the agent's own model failed; None also if it failed before and was not asked.
    """

    response: "ModelResponse"
    model: str
    price: Price | None
    is_fallback: bool
    why_fallback: ProviderError | None = None


Sent = TextDelta | ThinkingDelta | Retracted | Answer


async def send_along(
    routes: Sequence[Route],
    messages: "Sequence[ModelMessage]",
    tools: Sequence[ToolSpec],
    *,
    retries: RetryPolicy,
    sleep: Sleep = asyncio.sleep,
    can_shorten: bool = False,
) -> AsyncGenerator[Sent, None]:
    """Send until somebody answers.

    Args:
        routes: Whom to ask, in order.
        messages: What to send.
        tools: What the model may call.
        retries: How often each is asked.
        sleep: Waits between two attempts.
        can_shorten: The caller can make the request shorter: one that is too long for a model goes to no other.

    Yields:
        Deltas, `Retracted` whenever an attempt with deltas failed, and one `Answer` as the last value.

    Raises:
        ProviderError: The last model's error, when all have failed.
    """
    open_routes = [route for route in routes if not route.cooldown.is_cooling] or list(routes[:1])
    why: ProviderError | None = None
    for number, route in enumerate(open_routes, 1):
        try:
            async with aclosing(_send_on(route, messages, tools, retries=retries, sleep=sleep)) as attempts:
                async for event in attempts:
                    if isinstance(event, TextDelta | ThinkingDelta | Retracted):
                        yield event
                    else:
                        route.cooldown.succeeded()
                        yield Answer(
                            response=event,
                            model=route.name,
                            price=route.price,
                            is_fallback=route is not routes[0],
                            why_fallback=why,
                        )
                        return
        except ProviderError as error:
            why = error if route is routes[0] else why
            if not isinstance(error, ContextTooLong):
                asked_s = error.retry_after_s if isinstance(error, ProviderBusy) else None
                route.cooldown.failed(asked_s=asked_s)
            if number == len(open_routes) or (can_shorten and isinstance(error, ContextTooLong)):
                raise


async def _send_on(
    route: Route,
    messages: "Sequence[ModelMessage]",
    tools: Sequence[ToolSpec],
    *,
    retries: RetryPolicy,
    sleep: Sleep,
) -> "AsyncGenerator[TextDelta | ThinkingDelta | Retracted | ModelResponse, None]":
    attempt = 0
    while True:
        attempt += 1
        has_streamed = False
        try:
            async with aclosing(route.provider.send(messages, tools, route.settings)) as stream:
                async for event in stream:
                    has_streamed = True
                    yield event
                    if not isinstance(event, TextDelta | ThinkingDelta):
                        return
            failure: ProviderError = StreamCut("the provider ended its stream without a response")
        except ProviderError as error:
            failure = error
        if has_streamed:
            yield Retracted()
        pause_s = retries.pause_s(failure, attempt)
        if pause_s is None:
            raise failure
        await sleep(pause_s)
