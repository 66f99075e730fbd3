"""A model that answers as a test wants it to, by default as the demo model does; it records what it was asked.

The runtime finds it as the provider `scripted` (see `conftest`).
"""

import asyncio
import json
from collections import deque
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from agent.context.summary import ORDERS
from agent.errors import ProviderError
from agent.events import TextDelta, ThinkingDelta
from agent.provider import ToolSpec
from agent.providers.demo import respond
from agent.settings import ModelProfile

KIND = "scripted"


class Gate:
    """A place where whoever comes waits until the test opens it."""

    def __init__(self) -> None:
        self._reached = asyncio.Event()
        self._open = asyncio.Event()

    async def enter(self) -> None:
        self._reached.set()
        await self._open.wait()

    async def reached(self) -> None:
        """Wait until somebody is in the gate."""
        async with asyncio.timeout(10):
            await self._reached.wait()

    def open(self) -> None:
        self._open.set()


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request to the model."""

    messages: tuple[ModelMessage, ...]
    tools: tuple[str, ...]

    @property
    def lines(self) -> list[tuple[str, str]]:
        """The conversation as (who, what), without the system prompt."""
        return [line for message in self.messages for line in _lines(message)]

    @property
    def question(self) -> str:
        return next((text for who, text in reversed(self.lines) if who == "user"), "")

    @property
    def system(self) -> str:
        return "".join(
            part.content
            for message in self.messages
            for part in message.parts
            if isinstance(part, SystemPromptPart)
        )


Words = tuple[str | Gate | ProviderError, ...]
"""A text that is streamed in pieces, with stops between them; an error ends it."""

Reply = ModelResponse | ProviderError | Gate | Words


@dataclass(slots=True)
class ScriptedModel:
    """`then` puts replies in a row, each taken by one send; `hold` stops sends that answer one question.

    Requests for a summary are kept apart: `summaries` answers them, and "what was said" when it is used up.
    """

    asked: list[Asked] = field(default_factory=list)
    summarised: list[Asked] = field(default_factory=list)
    summaries: deque["Reply"] = field(default_factory=deque)
    _replies: deque[Reply] = field(default_factory=deque)
    _held: dict[str, Gate] = field(default_factory=dict)

    def then(self, *replies: Reply) -> None:
        self._replies.extend(replies)

    def hold(self, question: str) -> Gate:
        """Sends whose last question is this one wait in the returned gate."""
        gate = self._held[question] = Gate()
        return gate

    @property
    def questions(self) -> list[str]:
        return [each.question for each in self.asked]

    async def send(
        self, messages: Sequence[ModelMessage], tools: Sequence[ToolSpec], settings: Mapping[str, object]
    ) -> AsyncGenerator[TextDelta | ThinkingDelta | ModelResponse, None]:
        asked = Asked(messages=tuple(messages), tools=tuple(spec.name for spec in tools))
        if asked.system.startswith(ORDERS[:40]):
            self.summarised.append(asked)
            yield await self._summary()
            return
        self.asked.append(asked)
        gate = self._held.get(asked.question)
        if gate is not None:
            await gate.enter()
        reply = self._replies.popleft() if self._replies else respond(messages, tools)
        if isinstance(reply, Gate):
            await reply.enter()
            reply = respond(messages, tools)
        if isinstance(reply, tuple):
            for word in reply:
                if isinstance(word, ProviderError):
                    raise word
                if isinstance(word, Gate):
                    await word.enter()
                else:
                    yield TextDelta(text=word)
            yield says("".join(word for word in reply if isinstance(word, str)))
            return
        if isinstance(reply, ProviderError):
            raise reply
        for part in reply.parts:
            if isinstance(part, TextPart) and part.content:
                yield TextDelta(text=part.content)
        yield reply

    async def _summary(self) -> ModelResponse:
        reply = self.summaries.popleft() if self.summaries else says("what was said")
        if isinstance(reply, Gate):
            await reply.enter()
            reply = says("what was said")
        if isinstance(reply, ProviderError):
            raise reply
        assert isinstance(reply, ModelResponse)
        return reply


model = ScriptedModel()
"""The model of the running test; `conftest` puts a new one here for each."""


def open_provider(_profile: ModelProfile, *, demo_delay_s: float, stack: AsyncExitStack) -> ScriptedModel:
    """See `agent.providers.table`."""
    return model


def says(text: str) -> ModelResponse:
    return ModelResponse(parts=[TextPart(content=text)], model_name=KIND, finish_reason="stop")


def calls(*wanted: tuple[str, Mapping[str, object] | str], text: str = "") -> ModelResponse:
    """A response that asks for tools, by the model's name; arguments may be broken JSON text."""
    parts: list[TextPart | ToolCallPart] = [TextPart(content=text)] if text else []
    for name, args in wanted:
        parts.append(
            ToolCallPart(tool_name=name, args=args if isinstance(args, str) else json.dumps(dict(args)))
        )
    return ModelResponse(parts=parts, model_name=KIND, finish_reason="tool_call")


def _lines(message: ModelMessage) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for part in message.parts if isinstance(message, ModelRequest | ModelResponse) else ():
        match part:
            case UserPromptPart(content=str() as text):
                lines.append(("user", text))
            case TextPart(content=text):
                lines.append(("model", text))
            case ToolCallPart(tool_name=name):
                lines.append(("call", name))
            case ToolReturnPart():
                lines.append((part.outcome, str(part.content)))
            case _:
                pass
    return lines
