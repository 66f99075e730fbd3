"""Which messages of a conversation may become a summary, and the conversation afterwards (pure).

Positions are without the system prompt. The cut keeps every history valid for the strictest provider: requests and
responses take turns, a tool's result stays directly behind its call, and the first message behind the summary is a
response. The summary is a part of a request: of the last protected one, if the protected head ends with a request,
else of one of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ToolCallPart,
    UserPromptPart,
)

from agent.context.tokens import Mark, mark_of
from agent.history import EPOCH

MARKER = "[CONTEXT COMPRESSED]"
"""Begins every summary, for the model and for whoever reads a request."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cut:
    """One way to shorten a conversation.

    `[start, stop)` is replaced by one request: `before` (parts of the protected head), `pinned` (what the user said
    in this turn), then the summary of `middle`. `tail` is how many messages follow.
    """

    start: int
    stop: int
    before: tuple[ModelRequestPart, ...]
    pinned: tuple[ModelRequestPart, ...]
    middle: tuple[ModelMessage, ...]
    tail: int

    def joined(self, summary: str, scale: float) -> ModelRequest:
        """The message that stands for what was cut."""
        parts = [*self.before, *self.pinned, UserPromptPart(content=f"{MARKER}\n{summary}", timestamp=EPOCH)]
        mark = Mark(part=len(parts) - 1, tail=self.tail, scale=scale)
        return ModelRequest(parts=parts, metadata=mark.to_metadata())


def protections(first: int, last: int) -> tuple[tuple[int, int], ...]:
    """What may be protected, most first: (messages at the head with the system prompt, messages at the end).

    The end shrinks to two messages; then the head shrinks to the system prompt alone. The newest user message is
    protected always.
    """
    lasts = [last]
    while lasts[-1] > 2:
        lasts.append(max(2, lasts[-1] // 2))
    return (*((first, each) for each in lasts), *([(1, min(2, last))] if first > 1 else []))


def find_cut(messages: Sequence[ModelMessage], *, first: int, last: int, pin_from: int) -> Cut | None:
    """The cut that leaves `first` messages (system prompt included) and the `last` ones as they are.

    Args:
        messages: A valid history, without the system prompt.
        first: Protected at the head; one more if it ends with a call, whose result belongs to it.
        last: Protected at the end; up to two more, so that it begins with a response.
        pin_from: From here on what the user said is kept word for word, wherever it stands.

    Returns:
        None if nothing is left between them.
    """
    head = min(max(first - 1, 0), len(messages))
    # What stands behind a summary is not how the conversation began.
    head = next((place for place in range(head - 1) if mark_of(messages[place]) is not None), head)
    if head and _has_calls(messages[head - 1]):
        head = min(head + 1, len(messages))
    stop = max(len(messages) - last, 0)
    while stop > head and not (stop < len(messages) and isinstance(messages[stop], ModelResponse)):
        stop -= 1
    start = head
    before: tuple[ModelRequestPart, ...] = ()
    absorbed: list[ModelMessage] = []
    if head and isinstance(messages[head - 1], ModelRequest):
        start = head - 1
        old, kept = _without_summary(messages[start])
        before = tuple(kept)
        absorbed += old
    middle = [*absorbed]
    pinned: list[ModelRequestPart] = []
    for place in range(head, stop):
        rest, said = _split(messages[place], is_pinning=place >= pin_from)
        middle += rest
        pinned += said
    if not middle or all(mark_of(message) is not None for message in middle):
        return None
    return Cut(
        start=start,
        stop=stop,
        before=before,
        pinned=tuple(pinned),
        middle=tuple(middle),
        tail=len(messages) - stop,
    )


def _split(message: ModelMessage, *, is_pinning: bool) -> tuple[list[ModelMessage], list[ModelRequestPart]]:
    """What of a message may go, and what the user said in it that has to stay."""
    if not is_pinning or not isinstance(message, ModelRequest):
        return [message], []
    mark = mark_of(message)
    said = [
        part
        for number, part in enumerate(message.parts)
        if isinstance(part, UserPromptPart) and (mark is None or number != mark.part)
    ]
    rest = [part for part in message.parts if not any(part is each for each in said)]
    return ([_only(message, rest)] if rest else []), list(said)


def _without_summary(message: ModelMessage) -> tuple[list[ModelMessage], list[ModelRequestPart]]:
    mark = mark_of(message)
    assert isinstance(message, ModelRequest)
    if mark is None:
        return [], list(message.parts)
    kept = [part for number, part in enumerate(message.parts) if number != mark.part]
    return [_only(message, [message.parts[mark.part]])], kept


def _only(message: ModelRequest, parts: list[ModelRequestPart]) -> ModelRequest:
    mark = mark_of(message)
    if mark is None or len(parts) == len(message.parts):
        return replace(message, parts=parts)
    summary = message.parts[mark.part]
    place = next((number for number, part in enumerate(parts) if part is summary), None)
    metadata = None if place is None else mark._replace(part=place).to_metadata()
    return replace(message, parts=parts, metadata=metadata)


def _has_calls(message: ModelMessage) -> bool:
    return isinstance(message, ModelResponse) and any(
        isinstance(part, ToolCallPart) for part in message.parts
    )
