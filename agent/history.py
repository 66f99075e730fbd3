"""The model library's messages: made from a turn's records, read from and written to JSON (pure).

The only module beside the providers that knows the library's message types. It is slow to import (1.5 s):
import it inside functions, `agent.runtime` has it loaded in a thread at start.

What is recorded is made valid once, here, for the strictest provider: call ids of our own, names and
arguments that pass every API's pattern, one result for each call. Nothing has to be repaired later.
"""

import json
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from pydantic_ai.messages import (
    ModelMessage,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ModelResponsePart,
    SystemPromptPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from agent.calls import ToolCall
from agent.events import Record, Responded, ToolOutcome, ToolReturned, Usage
from agent.ports import TurnInput
from agent.prices import Price
from agent.records import Round, rounds_of, steered_by_round

EPOCH = datetime.fromtimestamp(0, UTC)
"""Messages made here carry no real time: the gateway's events do, and equal records give equal messages."""

_LIBRARY_OUTCOME: dict[ToolOutcome, Literal["success", "failed", "denied", "interrupted"]] = {
    "ok": "success",
    "error": "failed",
    "denied": "denied",
    "unknown": "interrupted",
}
_BLANK_LETTERS = frozenset(
    "\u115f\u1160\u2800\u3164\uffa0"
)  # drawn as nothing, though Unicode calls them letters
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Cn", "Zs", "Zl", "Zp", "Mn", "Me"})
_KEPT_RAW_ARGS = 2_000
_KEPT_NAME = 200  # a made-up one may be as long as the model likes

NO_TEXT = "(no text)"
"""Stands in a history for a question without words: several APIs refuse an empty user message."""

NODDED = "(noted)"
"""Stands in a history for the answer to what asked for none."""

NO_WORDS = "(no words)"
"""Stands in a history for an answer of which nothing was left."""


def load(messages: Sequence[str]) -> list[ModelMessage]:
    """Messages from JSON texts, one message each."""
    return ModelMessagesTypeAdapter.validate_json(f"[{','.join(messages)}]")


def dump_each(messages: Iterable[ModelMessage]) -> tuple[str, ...]:
    """JSON texts, one for each message."""
    # The library's adapter knows only lists; the brackets around a single message are cut off again.
    return tuple(ModelMessagesTypeAdapter.dump_json([message])[1:-1].decode() for message in messages)


def system_message(prompt: str) -> ModelMessage:
    """The message that opens every send."""
    return ModelRequest(parts=[SystemPromptPart(content=prompt, timestamp=EPOCH)])


def visible_text(response: ModelResponse) -> str:
    """What people see of a response: its text parts, with a blank line where something stood between them."""
    return "\n\n".join(part.content for part in response.parts if isinstance(part, TextPart) and part.content)


def has_visible(text: str) -> bool:
    """Whether a reader would see anything at all (zero-width and blank characters do not count)."""
    return any(c not in _BLANK_LETTERS and unicodedata.category(c) not in _INVISIBLE for c in text)


def turn_messages(
    turn_input: TurnInput, records: Iterable[Record], *, note: str | None = None
) -> list[ModelMessage]:
    """The turn so far as the model sees it; ends with a request whenever the next step is a send.

    Args:
        turn_input: What opened the turn.
        records: The turn's records.
        note: A line of ours put at the end of the last request (the budget's warning); never stored.
    """
    messages = _conversation(turn_input, tuple(records))
    last = messages[-1]
    if note is not None and isinstance(last, ModelRequest):
        parts = [*last.parts, UserPromptPart(content=note, timestamp=EPOCH)]
        messages[-1] = replace(last, parts=parts)
    return messages


def closed_turn(turn_input: TurnInput, records: Iterable[Record], *, closing: str) -> list[ModelMessage]:
    """The whole turn, made complete; see `agent.keeping.closed_history`."""
    messages = _conversation(turn_input, tuple(records), missing=closing)
    if isinstance(messages[-1], ModelRequest):
        # Strict providers want the roles in turn: a question or a tool result never stands before the next
        # question.
        messages.append(ModelResponse(parts=[TextPart(content=closing)], timestamp=EPOCH))
    return messages


def noted(text: str) -> list[ModelMessage]:
    """What an agent is told between two turns, and its nod: strict providers want the roles in turn."""
    return [_user_message(text), ModelResponse(parts=[TextPart(content=NODDED)], timestamp=EPOCH)]


def _conversation(
    turn_input: TurnInput, records: Sequence[Record], *, missing: str | None = None
) -> list[ModelMessage]:
    """Question, rounds, and between them what the user said meanwhile; `missing` is the result of open calls."""
    said = steered_by_round(records)
    messages: list[ModelMessage] = [_user_message(turn_input.text)]
    _say_more(messages, said.get(0, ()))
    for number, round_ in enumerate(rounds_of(records), start=1):
        messages.extend(_round_messages(round_, missing=missing))
        _say_more(messages, said.get(number, ()))
    return messages


def _say_more(messages: list[ModelMessage], texts: Sequence[str]) -> None:
    """Let the user say more, in the request that stands last: roles keep taking turns."""
    if not texts:
        return
    parts = [UserPromptPart(content=text or NO_TEXT, timestamp=EPOCH) for text in texts]
    last = messages[-1]
    if isinstance(last, ModelRequest):
        messages[-1] = replace(last, parts=[*last.parts, *parts])
    else:
        messages.append(ModelRequest(parts=parts))


def _user_message(text: str) -> ModelRequest:
    # An empty user message is refused by several APIs (an attachment alone, a lone mention).
    return ModelRequest(parts=[UserPromptPart(content=text or NO_TEXT, timestamp=EPOCH)])


def _round_messages(round_: Round, *, missing: str | None = None) -> list[ModelMessage]:
    (response,) = load([round_.response.message_json])
    messages: list[ModelMessage] = [response]
    results: list[ModelRequestPart] = []
    for call, part in zip(round_.response.calls, _call_parts(response), strict=True):
        returned = round_.returned.get(call.id)
        if returned is None and missing is not None:
            returned = ToolReturned(call_id=call.id, outcome="unknown", content=missing)
        if returned is not None:
            results.append(_result_part(part, returned))
    if results:
        messages.append(ModelRequest(parts=results))
    return messages


def _call_parts(message: ModelMessage) -> list[ToolCallPart]:
    return [part for part in message.parts if isinstance(part, ToolCallPart)]


def _result_part(part: ToolCallPart, returned: ToolReturned) -> ToolReturnPart:
    return ToolReturnPart(
        tool_name=part.tool_name,
        tool_call_id=part.tool_call_id,
        content=returned.content or "(no output)",
        outcome=_LIBRARY_OUTCOME[returned.outcome],
        timestamp=EPOCH,
    )


def to_responded(
    response: ModelResponse,
    *,
    turn_id: int,
    round_number: int,
    resolve: Callable[[str], tuple[str, str]],
    model: str = "",
    price: Price | None = None,
) -> Responded:
    """The record of a response.

    Args:
        response: As the provider gave it.
        turn_id: For call ids that are unique over the session: providers' own ids repeat or are missing.
        round_number: 0-based round of the turn.
        resolve: A model's word for a tool → the tool's real `(server, tool)`.
        model: The configured name of who answered.
        price: What its tokens cost; None: nobody knows.
    """
    parts = [_well_formed_part(part) for part in response.parts]
    calls: list[ToolCall] = []
    for index, part in enumerate(parts):
        if not isinstance(part, ToolCallPart):
            continue
        position = len(calls)
        args, raw = parse_args(part.args)
        server, tool = resolve(part.tool_name)
        calls.append(
            ToolCall(
                id=f"{round_number}.{position}",
                name=part.tool_name[:_KEPT_NAME],
                server=server,
                tool=tool,
                args=args,
                raw_args=raw,
            )
        )
        parts[index] = ToolCallPart(
            tool_name=_valid_name(part.tool_name),
            args=args if args is not None else {"INVALID_JSON": raw[:_KEPT_RAW_ARGS]},
            tool_call_id=f"call_{turn_id}_{round_number}_{position}",
            id=part.id,
            provider_name=part.provider_name,
            provider_details=part.provider_details,
        )
    text = visible_text(replace(response, parts=parts))
    if not calls and not has_visible(text):
        parts.append(
            TextPart(content=NO_WORDS)
        )  # recorded only if a filter emptied it; no API takes an empty one
    recorded = replace(response, parts=parts)
    return Responded(
        message_json=dump_each([recorded])[0],
        text=text,
        calls=tuple(calls),
        usage=usage_of(response, price),
        model=model,
    )


def usage_of(response: ModelResponse, price: Price | None) -> Usage:
    """What one response used, and cost."""
    used = response.usage
    cost = (
        None
        if price is None
        else price.micros(
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cached_tokens=used.cache_read_tokens,
            written_tokens=used.cache_write_tokens,
        )
    )
    return Usage(
        requests=1,
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cached_tokens=used.cache_read_tokens,
        written_tokens=used.cache_write_tokens,
        usd_micros=cost,
    )


def parse_args(args: str | Mapping[str, object] | None) -> tuple[dict[str, object] | None, str]:
    """The arguments as an object (None if they are none) and as the model wrote them; no text is `{}`."""
    raw = json.dumps(args, default=str) if isinstance(args, Mapping) else well_formed(args or "")
    if not raw.strip():
        return {}, raw
    try:
        parsed = json.loads(raw, parse_constant=_refuse_constant, parse_float=_finite)
        # An escape like \\ud800 becomes a half character only now, and no UTF-8 can hold it: no valid
        # arguments.
        json.dumps(parsed, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None, raw
    return (parsed if isinstance(parsed, dict) else None), raw


def _finite(number: str) -> float:
    """A number as it was written; one that overflows would be shown to a person as another than is sent."""
    if not math.isfinite(value := float(number)):
        raise ValueError(f"{number} is too large")
    return value


def well_formed(text: str) -> str:
    """The text without half characters (lone surrogates), which neither UTF-8 nor a database can hold."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is no JSON")


def _well_formed_part(part: ModelResponsePart) -> ModelResponsePart:
    if isinstance(part, TextPart | ThinkingPart):
        return replace(part, content=well_formed(part.content))
    return part


def _valid_name(name: str) -> str:
    """A tool name every API accepts in a history, also when the model made it up."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "unnamed"
