"""The border to a model: a provider does one thing, `send`.

One request goes out, one response comes back. A provider keeps no history, runs no tool, repeats nothing and
decides nothing; loop, history, tools, approvals and retries are the agent's (`agent.chat`).
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from agent.events import TextDelta, ThinkingDelta

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage, ModelResponse


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model sees it.

    `name` is valid for every provider (`^[A-Za-z0-9_-]{1,64}$`), `ref` is the tool's real `server/tool`,
    `parameters` a JSON schema of type object.
    """

    name: str
    ref: str
    description: str
    parameters: Mapping[str, object]


class Provider(Protocol):
    """Sends; nothing else."""

    def send(
        self,
        messages: "Sequence[ModelMessage]",
        tools: Sequence[ToolSpec],
        settings: Mapping[str, object],
    ) -> "AsyncGenerator[TextDelta | ThinkingDelta | ModelResponse, None]":
        """Make one request.

        Args:
            messages: The whole conversation, system prompt first, ending with a request.
            tools: What the model may call; empty for an answer without tools.
            settings: Model settings in the model library's names.

        Yields:
            Deltas in order, then exactly one response as the last value. The texts of the `TextDelta`s,
            joined, are the response's visible text (`agent.history.visible_text`).

        Raises:
            ProviderError: The subclass says what the caller can do.
        """
        ...
