"""Any model of the model library as a `Provider`: one streamed request, its errors told in our own words.

The vendors' modules beside this one only build the library's model object, once; it is kept for all requests.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import cast

from pydantic_ai.direct import model_request_stream
from pydantic_ai.exceptions import (
    AgentRunError,
    ContentFilterError,
    ModelAPIError,
    ModelConnectionError,
    ModelContextWindowExceededError,
    ModelHTTPError,
    ModelQuotaExceededError,
    ModelRateLimitError,
    ModelRequestRejectedError,
    ModelRequestTimeout,
    ModelServerError,
    ModelUnavailableError,
    UserError,
)
from pydantic_ai.messages import (
    ModelMessage,
    ModelResponse,
    ModelResponseStreamEvent,
    PartDeltaEvent,
    PartStartEvent,
    TextPart,
    TextPartDelta,
    ThinkingPart,
    ThinkingPartDelta,
    ToolCallPart,
)
from pydantic_ai.models import Model, ModelRequestParameters
from pydantic_ai.settings import ModelSettings
from pydantic_ai.tools import ToolDefinition

from agent.errors import ContextTooLong, ProviderBusy, ProviderDown, ProviderError, ProviderRefused, StreamCut
from agent.events import TextDelta, ThinkingDelta
from agent.provider import ToolSpec

_DETAIL_LENGTH = 2_000
_KEPT_CATALOGUES = 64


class LibraryProvider:
    """A `Provider` around one of the library's models.

    Args:
        model: The library's model; its own retries have to be off.
        first_event_timeout_s: Bound of the wait for a stream's first event.
        timeout_s: Bound of the whole request.
        declares_tools: The service refuses a history with tool calls in a request without tools.
    """

    def __init__(
        self, model: Model, *, first_event_timeout_s: float, timeout_s: float, declares_tools: bool = False
    ) -> None:
        self._model = model
        self._declares_tools = declares_tools
        self._first_event_timeout_s = first_event_timeout_s
        self._timeout_s = timeout_s

    async def send(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: Mapping[str, object]
    ) -> AsyncGenerator[TextDelta | ThinkingDelta | ModelResponse, None]:
        """Make one streamed request; see `agent.provider.Provider`."""
        if self._declares_tools and not tools and (used := _tools_in(messages)):
            tools, settings = used, {**settings, "tool_choice": "none"}
        has_begun = False
        with _told_in_our_words(lambda: has_begun):
            async with model_request_stream(
                self._model,
                messages,
                model_settings=cast("ModelSettings", settings),
                model_request_parameters=_parameters(tuple(tools)),
            ) as stream:
                now, gap, events = asyncio.get_running_loop().time(), _Gap(), aiter(stream)
                end = now + self._timeout_s
                until = min(end, now + self._first_event_timeout_s)
                while (event := await _next(events, until)) is not None:
                    has_begun, until = True, end
                    match event:
                        case PartStartEvent(part=TextPart(content=text)):
                            gap.next_part()
                            if text:
                                yield TextDelta(text=gap.before(text))
                        case PartDeltaEvent(delta=TextPartDelta(content_delta=text)) if text:
                            yield TextDelta(text=gap.before(text))
                        case (
                            PartStartEvent(part=ThinkingPart(content=text))
                            | PartDeltaEvent(delta=ThinkingPartDelta(content_delta=text))
                        ) if text:
                            yield ThinkingDelta(text=text)
                        case _:
                            pass
                response = stream.get()
            if response.state != "complete" or not _has_ended(response):
                raise StreamCut(f"the stream ended without a reason; the response is {response.state}")
        yield response


def _tools_in(messages: Sequence[ModelMessage]) -> tuple[ToolSpec, ...]:
    """The tools a history speaks of, in name only: they may not be called any more."""
    names = dict.fromkeys(
        part.tool_name for message in messages for part in message.parts if isinstance(part, ToolCallPart)
    )
    return tuple(
        ToolSpec(name=name, ref=name, description="", parameters={"type": "object", "properties": {}})
        for name in names
    )


async def _next(
    events: AsyncIterator[ModelResponseStreamEvent], until: float
) -> ModelResponseStreamEvent | None:
    """The next event, waited for until a moment of the loop's clock; None at the end.

    The library can keep such bounds too, for about a tenth more CPU on a short answer. No time-out is open
    while an event is being handled: it would count the consumer's time, and cancel it.
    """
    async with asyncio.timeout_at(until):
        return await anext(events, None)


def _has_ended(response: ModelResponse) -> bool:
    """Whether the model said why it stopped; a reason the library has no word for is one too."""
    return response.finish_reason is not None or bool((response.provider_details or {}).get("finish_reason"))


class _Gap:
    """Puts a blank line between text parts, as `agent.history.visible_text` does."""

    def __init__(self) -> None:
        self._has_text = False
        self._is_due = False

    def next_part(self) -> None:
        self._is_due = self._has_text

    def before(self, text: str) -> str:
        gap, self._is_due, self._has_text = ("\n\n" if self._is_due else ""), False, True
        return gap + text


@lru_cache(maxsize=_KEPT_CATALOGUES)
def _definitions(tools: "_Tools") -> ModelRequestParameters:
    return ModelRequestParameters(
        function_tools=[
            ToolDefinition(
                name=tool.name,
                description=tool.description or None,
                parameters_json_schema=dict(tool.parameters),
                # Not every compatible endpoint knows strict mode, and it forbids schemas that MCP servers
                # have.
                strict=False,
            )
            for tool in tools.specs
        ]
    )


class _Tools:
    """A catalogue as a cache key: a snapshot's tuple of specs is one object for many requests."""

    __slots__ = ("specs",)

    def __init__(self, specs: tuple[ToolSpec, ...]) -> None:
        self.specs = specs

    def __hash__(self) -> int:
        return hash(tuple(spec.name for spec in self.specs))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Tools) and self.specs == other.specs


def _parameters(specs: tuple[ToolSpec, ...]) -> ModelRequestParameters:
    return _definitions(_Tools(specs))


@contextmanager
def _told_in_our_words(has_begun: Callable[[], bool]) -> Iterator[None]:
    try:
        yield
    except TimeoutError as error:
        text = "no answer in time"
        raise (StreamCut(text) if has_begun() else ProviderDown(text)) from error
    except (AgentRunError, UserError) as error:
        raise to_provider_error(error, has_begun=has_begun()) from error


def to_provider_error(error: AgentRunError | UserError, *, has_begun: bool) -> ProviderError:
    """The library's error as one of ours; `has_begun` if the stream had already brought something."""
    detail = f"{type(error).__name__}: {error}"[:_DETAIL_LENGTH]
    match error:
        case ModelContextWindowExceededError():
            return ContextTooLong(detail)
        case ModelQuotaExceededError() | ModelRequestRejectedError() | ContentFilterError() | UserError():
            return ProviderRefused(detail)
        case ModelRateLimitError() | ModelUnavailableError():
            return ProviderBusy(detail, retry_after_s=error.retry_after)
        case ModelConnectionError() | ModelRequestTimeout() | ModelServerError():
            return StreamCut(detail) if has_begun else ProviderDown(detail)
        case ModelHTTPError():
            return ProviderDown(detail)
        case ModelAPIError():  # the library's word for a stream without a finish reason
            return StreamCut(detail)
        case _:
            return ProviderDown(detail)
