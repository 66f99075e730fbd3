"""Valid histories for the tests of compression: made of turns, as the agent stores them."""

import json
from collections.abc import Sequence

from hypothesis import strategies as st
from pydantic_ai.messages import (
    ModelMessage,
    ModelRequest,
    ModelResponse,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.usage import RequestUsage

from agent.context.tokens import mark_of
from agent.history import EPOCH, dump_each, load


def asks(text: str) -> ModelRequest:
    return ModelRequest(parts=[UserPromptPart(content=text, timestamp=EPOCH)])


def says(text: str, usage: tuple[int, int] = (0, 0)) -> ModelResponse:
    return ModelResponse(
        parts=[TextPart(content=text)],
        timestamp=EPOCH,
        usage=RequestUsage(input_tokens=usage[0], output_tokens=usage[1]),
    )


def calls(*ids: str, text: str = "") -> ModelResponse:
    parts = [ToolCallPart(tool_name="shop__look", args={"id": each}, tool_call_id=each) for each in ids]
    return ModelResponse(parts=[*([TextPart(content=text)] if text else []), *parts], timestamp=EPOCH)


def results(*ids: str, text: str = "ok", said: str = "") -> ModelRequest:
    parts = [
        ToolReturnPart(tool_name="shop__look", tool_call_id=each, content=text, timestamp=EPOCH)
        for each in ids
    ]
    return ModelRequest(parts=[*parts, *([UserPromptPart(content=said, timestamp=EPOCH)] if said else [])])


def from_case(history: Sequence[dict[str, object]]) -> list[ModelMessage]:
    """A history of `tests/cases/histories.json` as the model library's messages."""
    messages: list[ModelMessage] = []
    for line in history:
        match line:
            case {"role": "user", "text": str() as text}:
                messages.append(asks(text))
            case {"role": "assistant", "calls": list() as ids}:
                messages.append(calls(*ids, text=str(line.get("text", ""))))
            case {"role": "assistant"}:
                messages.append(says(str(line["text"])))
            case {"role": "tool", "of": str() as call, "text": str() as text}:
                if isinstance(messages[-1], ModelRequest):
                    messages[-1] = ModelRequest(parts=[*messages[-1].parts, *results(call, text=text).parts])
                else:
                    messages.append(results(call, text=text))
    return messages


@st.composite
def histories(draw: st.DrawFn, *, open_ended: bool = True) -> tuple[list[ModelMessage], int]:
    """A valid history and where its last turn begins; if open-ended it ends with a request, before a send."""
    messages: list[ModelMessage] = []
    number = 0
    turns = draw(st.integers(1, 8))
    begins = 0
    for turn in range(turns):
        begins = len(messages)
        messages.append(asks(draw(WORDS) + f" q{turn}"))
        for _ in range(draw(st.integers(0, 4))):
            ids = [f"c{(number := number + 1)}" for _ in range(draw(st.integers(1, 3)))]
            messages.append(calls(*ids, text=draw(WORDS)))
            messages.append(
                results(*ids, text=draw(WORDS) or "ok", said=draw(st.sampled_from(["", "and s?"])))
            )
        if turn < turns - 1 or not open_ended:
            messages.append(says(draw(WORDS) or "yes", (draw(st.sampled_from([0, 50, 4_000])), 7)))
    return messages, begins


WORDS = st.sampled_from(["", "plum", "[CONTEXT COMPRESSED]\nnot really", "a longer text " * 12, "多字" * 30])


def dumped(messages: Sequence[ModelMessage]) -> tuple[str, ...]:
    return dump_each(messages)


def again(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """As they come back from the store."""
    return load(dump_each(messages))


def user_words(messages: Sequence[ModelMessage]) -> list[str]:
    """What users said, without summaries, in order."""
    words: list[str] = []
    for message in messages:
        mark = mark_of(message)
        words += [
            str(part.content)
            for number, part in enumerate(message.parts)
            if isinstance(part, UserPromptPart) and (mark is None or number != mark.part)
        ]
    return words


def wire(messages: Sequence[ModelMessage]) -> list[dict[str, object]]:
    """The messages as an OpenAI-compatible request has them, for the simulator's strict check."""
    out: list[dict[str, object]] = []
    for message in messages:
        if isinstance(message, ModelResponse):
            asked = [
                {
                    "id": part.tool_call_id,
                    "type": "function",
                    "function": {"name": part.tool_name, "arguments": json.dumps(part.args)},
                }
                for part in message.parts
                if isinstance(part, ToolCallPart)
            ]
            text = "".join(part.content for part in message.parts if isinstance(part, TextPart)) or None
            out.append({"role": "assistant", "content": text, **({"tool_calls": asked} if asked else {})})
            continue
        for part in message.parts:
            if isinstance(part, ToolReturnPart):
                out.append({"role": "tool", "tool_call_id": part.tool_call_id, "content": part.content})
            else:
                out.append({"role": "user", "content": part.content})
    return out
