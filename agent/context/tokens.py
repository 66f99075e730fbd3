"""How many tokens a request has: a rough count by size, corrected by what the provider itself counted (pure).

A provider says with each response how many tokens the request had. The newest such figure that still describes the
conversation is the base; only what came since is estimated. After a compression the figures of older responses say
nothing any more, so the ratio of real to estimated tokens is kept with the summary (`Mark`).
"""

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

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

from agent.provider import ToolSpec

BYTES_PER_TOKEN = 4
"""Rough measure: English and code have 3 to 4.5 bytes in UTF-8 per token, Chinese and Cyrillic 2 to 4."""

PART_TOKENS = 4
"""What a part's frame costs (role, separators), as OpenAI's cookbook counts chat messages (2025: 3 to 4)."""

OTHER_TOKENS = 1_000
"""A part that is no text, such as a picture."""

_SCALES = (
    0.25,
    4.0,
)  # a figure farther from the estimate is a provider's mistake and must not steer anything
_DOUBT = 1_000  # tokens: a ratio found on a short request, mostly tools, says little of a long text
_MARK = "compressed"


class Mark(NamedTuple):
    """What a summary's message knows: which of its parts is the summary, and what holds for counting.

    `tail` messages stood behind it when it was made; `scale` is real per estimated tokens at that time.
    """

    part: int
    tail: int
    scale: float

    def to_metadata(self) -> dict[str, object]:
        """For the message's `metadata`, which no provider gets to see."""
        return {_MARK: {"part": self.part, "tail": self.tail, "scale": self.scale}}


class Count(NamedTuple):
    """Tokens of a request, and the ratio of real to estimated ones they were found with."""

    tokens: int
    scale: float


def mark_of(message: ModelMessage) -> Mark | None:
    """The mark of a message that holds a summary, None for all others."""
    found = (message.metadata or {}).get(_MARK) if isinstance(message, ModelRequest) else None
    return Mark(**found) if isinstance(found, Mapping) else None


def count(messages: Sequence[ModelMessage], tools: Sequence[ToolSpec] = ()) -> Count:
    """Count a request.

    Args:
        messages: System prompt first, as they would be sent.
        tools: What is offered with them.
    """
    marks = [
        (place, mark) for place, message in enumerate(messages) if (mark := mark_of(message)) is not None
    ]
    fresh_from, scale = (marks[-1][0] + marks[-1][1].tail + 1, marks[-1][1].scale) if marks else (0, 1.0)
    for place in range(len(messages) - 1, fresh_from - 1, -1):
        message = messages[place]
        if not isinstance(message, ModelResponse) or message.usage.input_tokens <= 0:
            continue
        guessed = estimate(messages[:place]) + estimate_tools(tools)
        said = min(max(message.usage.input_tokens, _SCALES[0] * guessed), _SCALES[1] * guessed)
        scale = (said + _DOUBT) / (guessed + _DOUBT)
        since = message.usage.output_tokens + scale * estimate(messages[place + 1 :])
        return Count(round(said + since), scale)
    return Count(round(scale * (estimate(messages) + estimate_tools(tools))), scale)


def estimate(messages: Sequence[ModelMessage]) -> int:
    """A rough count by size alone."""
    return sum(_part_tokens(part) for message in messages for part in message.parts)


def estimate_tools(tools: Sequence[ToolSpec]) -> int:
    """What the tools' names, descriptions and schemas cost, roughly."""
    return sum(
        PART_TOKENS + _text_tokens(tool.name + tool.description + json.dumps(tool.parameters))
        for tool in tools
    )


def _part_tokens(part: object) -> int:
    match part:
        case SystemPromptPart() | TextPart() | ThinkingPart():
            return PART_TOKENS + _text_tokens(part.content)
        case UserPromptPart(content=str() as text):
            return PART_TOKENS + _text_tokens(text)
        case UserPromptPart(content=items):
            return PART_TOKENS + sum(
                _text_tokens(item) if isinstance(item, str) else OTHER_TOKENS for item in items
            )
        case ToolCallPart():
            return PART_TOKENS + _text_tokens(part.tool_name + part.args_as_json_str())
        case ToolReturnPart(content=str() as text):
            return PART_TOKENS + _text_tokens(text)
        case _:
            return OTHER_TOKENS


def _text_tokens(text: str) -> int:
    size = len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))
    return -(-size // BYTES_PER_TOKEN)
