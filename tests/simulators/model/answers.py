"""What the simulated model answers: values for the script."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ..faults import Fault, Refuse


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """A call of a tool.

    Attributes:
        arguments: JSON text, sent as it is, so that broken JSON can be sent too.
        id: Made up when left empty.
        pieces: In how many deltas a stream carries the arguments, the name coming first.
    """

    name: str
    arguments: str = "{}"
    id: str = ""
    pieces: int = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One reply. A stream carries reasoning, then text, then calls; each piece is one delta.

    Attributes:
        text: The reply's text; as a tuple, exactly these deltas, else deltas of `delta_characters`.
        reasoning: The same for the thinking (`reasoning_content`).
        calls: Tool calls; in one reply they are parallel.
        finish: The finish reason; None: `tool_calls` with calls, else `stop`.
        usage: Prompt and completion tokens; None: a rough count.
        first_delay_s: Wait before the first delta.
        gap_s: Wait between deltas.
        cut_after: Break off after this many deltas, without finish reason, as `cut_how` says.
        cut_how: `connection`: the connection breaks; `clean`: the body ends as if it were complete.
        hold_after: After this many deltas wait for `release(hold)`.
        hold: The name to release.
    """

    text: str | tuple[str, ...] = ""
    reasoning: str | tuple[str, ...] = ""
    calls: tuple[ToolCall, ...] = ()
    finish: str | None = None
    usage: tuple[int, int] | None = None
    first_delay_s: float = 0
    gap_s: float = 0
    delta_characters: int = 20
    cut_after: int | None = None
    cut_how: Literal["connection", "clean"] = "connection"
    hold_after: int | None = None
    hold: str = "hold"


Scripted = Answer | Fault
"""What a request gets: an answer, or a fault of the shared kind before any answer."""


def call_tool(name: str, arguments: Mapping[str, Any] | None = None, call_id: str = "") -> Answer:
    """A reply that is one tool call."""
    return Answer(calls=(ToolCall(name=name, arguments=json.dumps(arguments or {}), id=call_id),))


def rate_limited(retry_after_s: float = 1) -> Refuse:
    """429 with a Retry-After header."""
    return Refuse(status=429, text="Rate limit reached for requests", retry_after_s=retry_after_s)


def context_too_long(limit_tokens: int = 8192) -> Refuse:
    """400 context_length_exceeded."""
    return Refuse(
        status=400,
        text=f"This model's maximum context length is {limit_tokens} tokens. Please reduce the length of the messages.",
        parameters={"code": "context_length_exceeded", "param": "messages"},
    )


def parse_scripted(values: Mapping[str, Any]) -> Answer:
    """Make an answer from JSON, as `POST /sim/script` gets it; lists stand for tuples, calls are objects.

    Raises:
        ValueError: A field is unknown.
    """
    fields: dict[str, Any] = {
        key: tuple(value) if isinstance(value, list) else value for key, value in values.items()
    }
    calls = [
        dict(call)
        | ({} if isinstance(call.get("arguments", ""), str) else {"arguments": json.dumps(call["arguments"])})
        for call in fields.pop("calls", ())
    ]
    try:
        return Answer(calls=tuple(ToolCall(**call) for call in calls), **fields)
    except TypeError as error:
        raise ValueError(str(error)) from None
