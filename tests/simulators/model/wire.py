"""An answer as the API puts it on the wire: one body, or a stream of server-sent events. Pure."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .answers import Answer, ToolCall
from .asked import CHARACTERS_PER_TOKEN, Asked

DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Envelope:
    """What every chunk and body of one reply has in common."""

    id: str
    model: str
    created: int  # unix seconds


def with_call_ids(answer: Answer, number: int) -> Answer:
    """Give each call an id that no other reply has."""
    calls = tuple(
        replace(call, id=call.id or f"call_{number}_{place}") for place, call in enumerate(answer.calls)
    )
    return replace(answer, calls=calls)


def cut_text(text: str | tuple[str, ...], characters: int) -> list[str]:
    """The deltas of a text."""
    if isinstance(text, tuple):
        return list(text)
    return [text[place : place + characters] for place in range(0, len(text), characters)]


def deltas(answer: Answer) -> Iterator[dict[str, Any]]:
    """The `delta` objects of a stream, in order, without the first one that names the role."""
    for piece in cut_text(answer.reasoning, answer.delta_characters):
        yield {"reasoning_content": piece}
    for piece in cut_text(answer.text, answer.delta_characters):
        yield {"content": piece}
    for place, call in enumerate(answer.calls):
        yield from _call_deltas(place, call)


def _call_deltas(place: int, call: ToolCall) -> Iterator[dict[str, Any]]:
    head = {"name": call.name, "arguments": ""}
    yield {"tool_calls": [{"index": place, "id": call.id, "type": "function", "function": head}]}
    size = max(1, -(-len(call.arguments) // max(1, call.pieces)))
    for piece in cut_text(call.arguments, size):
        yield {"tool_calls": [{"index": place, "function": {"arguments": piece}}]}


def finish_reason(answer: Answer) -> str:
    """Why the reply ended."""
    return answer.finish or ("tool_calls" if answer.calls else "stop")


def usage(answer: Answer, asked: Asked) -> dict[str, int]:
    """The token counts of a reply."""
    if answer.usage is not None:
        prompt, completion = answer.usage
    else:
        said = sum(len(json.dumps(delta)) for delta in deltas(replace(answer, delta_characters=10**9)))
        prompt, completion = asked.tokens(), said // CHARACTERS_PER_TOKEN
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def chunk(
    envelope: Envelope, delta: dict[str, Any], finish: str | None = None, *, usage_follows: bool = False
) -> bytes:
    """One server-sent event of a stream."""
    body = _chunk_body(envelope, [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}])
    if usage_follows:
        body["usage"] = None
    return _event(body)


def usage_chunk(envelope: Envelope, counts: dict[str, int]) -> bytes:
    """The event before the last, with no choices, when the client asked for usage."""
    return _event(_chunk_body(envelope, []) | {"usage": counts})


def _chunk_body(envelope: Envelope, choices: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": envelope.id,
        "object": "chat.completion.chunk",
        "created": envelope.created,
        "model": envelope.model,
        "choices": choices,
    }


def _event(body: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"


def whole_body(envelope: Envelope, answer: Answer, counts: dict[str, int]) -> dict[str, Any]:
    """The answer to a request that does not stream."""
    message: dict[str, Any] = {"role": "assistant", "content": "".join(answer.text) or None}
    if answer.reasoning:
        message["reasoning_content"] = "".join(answer.reasoning)
    if answer.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in answer.calls
        ]
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": finish_reason(answer)}
    return {
        "id": envelope.id,
        "object": "chat.completion",
        "created": envelope.created,
        "model": envelope.model,
        "choices": [choice],
        "usage": counts,
    }
