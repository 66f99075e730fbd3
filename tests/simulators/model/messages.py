"""Anthropic's Messages API: what a request must keep, the same request as a chat completion, and the stream.

Rules as Anthropic keeps them (API reference and its own error texts, 2026); roles that do not take turns are refused
here though the service joins them: a history that needs that was put together wrongly.
"""

import json
import re
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from .answers import Answer, ToolCall
from .errors import ModelApiError, invalid
from .wire import Envelope, cut_text

TOOL_ID = re.compile(r"[a-zA-Z0-9_-]+")
TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
NO_TOOLS = "Requests which include `tool_use` or `tool_result` blocks must define tools."
STOPS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens", "content_filter": "refusal"}


def check_request(body: Any) -> None:
    """Refuse what the API refuses.

    Raises:
        ModelApiError: 400 with the API's words.
    """
    if not isinstance(body, dict):
        raise invalid("The request body is not valid JSON.")
    if not isinstance(body.get("model"), str) or not body["model"]:
        raise invalid("model: Field required")
    if not isinstance(body.get("max_tokens"), int) or body["max_tokens"] < 1:
        raise invalid("max_tokens: Field required")
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise invalid("messages: at least one message is required")
    tools = body.get("tools") or []
    for place, tool in enumerate(tools):
        if not TOOL_NAME.fullmatch(str(tool.get("name", ""))):
            raise invalid(f"tools.{place}.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'")
        if (tool.get("input_schema") or {}).get("type") != "object":
            raise invalid(f"tools.{place}.input_schema.type: Input should be 'object'")
    names = [tool["name"] for tool in tools]
    if len(set(names)) < len(names):
        raise invalid("tools: Tool names must be unique.")
    if not tools and any(_of(message, "tool_use", "tool_result") for message in messages):
        raise invalid(NO_TOOLS)
    check_messages(messages)


def check_messages(messages: list[Any]) -> None:
    """Check that roles take turns, nothing is empty, and each call is answered by the message after it."""
    open_ids: list[str] = []
    for place, message in enumerate(messages):
        where = f"messages.{place}"
        role = message.get("role") if isinstance(message, dict) else None
        if role != ("user", "assistant")[place % 2]:
            raise invalid(f'{where}: roles must alternate between "user" and "assistant", got {role!r}')
        blocks = blocks_of(message)
        if not blocks:
            raise invalid(f"{where}: all messages must have non-empty content")
        if any(block["type"] == "text" and not block.get("text") for block in blocks):
            raise invalid(f"{where}: text content blocks must be non-empty")
        if role == "user":
            _check_results(blocks, open_ids, where)
            open_ids = []
        else:
            open_ids = _check_calls(blocks, where)
    if open_ids:
        raise _unanswered(open_ids, f"messages.{len(messages) - 1}")


def _check_results(blocks: list[dict[str, Any]], open_ids: list[str], where: str) -> None:
    results = [block for block in blocks if block["type"] == "tool_result"]
    ids = [block.get("tool_use_id") for block in results]
    if unknown := [each for each in ids if each not in open_ids]:
        raise invalid(
            f"{where}.content: unexpected `tool_use_id` found in `tool_result` blocks: {unknown[0]}. Each"
            " `tool_result` block must have a corresponding `tool_use` block in the previous message."
        )
    if missing := [each for each in open_ids if each not in ids]:
        raise _unanswered(missing, where)
    if len(set(ids)) < len(ids):
        raise invalid(f"{where}.content: each tool_use must have a single result.")
    if blocks[: len(results)] != results:
        raise invalid(f"{where}.content: tool_result blocks must come first.")


def _check_calls(blocks: list[dict[str, Any]], where: str) -> list[str]:
    ids = []
    for block in blocks:
        if block["type"] != "tool_use":
            continue
        if not TOOL_ID.fullmatch(str(block.get("id", ""))) or not TOOL_NAME.fullmatch(
            str(block.get("name", ""))
        ):
            raise invalid(f"{where}.content: tool_use: String should match pattern '^[a-zA-Z0-9_-]+$'")
        if not isinstance(block.get("input"), dict):
            raise invalid(f"{where}.content: tool_use.input: Input should be a valid dictionary")
        ids.append(block["id"])
    if len(set(ids)) < len(ids):
        raise invalid(f"{where}: `tool_use` ids must be unique")
    return ids


def _unanswered(ids: list[str], where: str) -> ModelApiError:
    return invalid(
        f"{where}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(ids)}."
    )


def blocks_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """A message's content as blocks; a string is one text block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}] if content else []
    return [block for block in content or [] if isinstance(block, dict) and "type" in block]


def _of(message: Any, *kinds: str) -> bool:
    return isinstance(message, dict) and any(block["type"] in kinds for block in blocks_of(message))


def to_chat(body: Mapping[str, Any]) -> dict[str, Any]:
    """The request as a chat completion: what scripts and the steering look at."""
    messages: list[dict[str, Any]] = []
    if system := body.get("system"):
        messages.append({"role": "system", "content": system})
    for message in body["messages"]:
        blocks = blocks_of(message)
        text = "".join(block["text"] for block in blocks if block["type"] == "text")
        if message["role"] == "assistant":
            calls = [_chat_call(block) for block in blocks if block["type"] == "tool_use"]
            messages.append(
                {"role": "assistant", "content": text, **({"tool_calls": calls} if calls else {})}
            )
            continue
        for block in blocks:
            if block["type"] == "tool_result":
                result = {
                    "role": "tool",
                    "tool_call_id": block["tool_use_id"],
                    "content": block.get("content", ""),
                }
                messages.append(result)
        if text:
            messages.append({"role": "user", "content": text})
    tools = [
        {"type": "function", "function": {"name": tool["name"], "parameters": tool["input_schema"]}}
        for tool in body.get("tools") or []
    ]
    return {"model": body["model"], "messages": messages, **({"tools": tools} if tools else {})}


def _chat_call(block: Mapping[str, Any]) -> dict[str, Any]:
    function = {"name": block["name"], "arguments": json.dumps(block["input"])}
    return {"id": block["id"], "type": "function", "function": function}


def opening(envelope: Envelope, counts: Mapping[str, int]) -> bytes:
    """The stream's first event."""
    message = {
        "id": envelope.id,
        "type": "message",
        "role": "assistant",
        "model": envelope.model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": counts["prompt_tokens"], "output_tokens": 1},
    }
    return _event("message_start", message=message)


def deltas(answer: Answer) -> Iterator[bytes]:
    """The blocks of an answer; of each piece the script counts as one, also where it opens or closes a block."""
    index = 0
    for kind, key, text in (("thinking", "thinking", answer.reasoning), ("text", "text", answer.text)):
        if not text:
            continue
        more = {"signature": ""} if kind == "thinking" else {}
        start = _event("content_block_start", index=index, content_block={"type": kind, key: "", **more})
        for piece in cut_text(text, answer.delta_characters):
            yield start + _event(
                "content_block_delta", index=index, delta={"type": f"{kind}_delta", key: piece}
            )
            start = b""
        yield _event("content_block_stop", index=index)
        index += 1
    for call in answer.calls:
        yield from _call(index, call)
        index += 1


def _call(index: int, call: ToolCall) -> Iterator[bytes]:
    block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
    yield _event("content_block_start", index=index, content_block=block)
    size = max(1, -(-len(call.arguments) // max(1, call.pieces)))
    for piece in cut_text(call.arguments, size):
        delta = {"type": "input_json_delta", "partial_json": piece}
        yield _event("content_block_delta", index=index, delta=delta)
    yield _event("content_block_stop", index=index)


def until_cut(answer: Answer) -> Iterator[bytes]:
    """What a stream carries before it is cut, all of it otherwise."""
    return islice(deltas(answer), answer.cut_after)


def closing(reason: str, counts: Mapping[str, int]) -> bytes:
    """The stream's last events; `reason` is the chat completion's word."""
    delta = {"stop_reason": STOPS.get(reason, reason), "stop_sequence": None}
    usage = {"output_tokens": counts["completion_tokens"]}
    return _event("message_delta", delta=delta, usage=usage) + _event("message_stop")


def refusal(error: ModelApiError) -> dict[str, Any]:
    """An error's body."""
    kinds = {
        401: "authentication_error",
        404: "not_found_error",
        429: "rate_limit_error",
        529: "overloaded_error",
    }
    kind = kinds.get(error.status, "api_error" if error.status >= 500 else "invalid_request_error")
    message = error.message
    if error.code == "context_length_exceeded":
        message = "prompt is too long: 215000 tokens > 200000 maximum"
    return {"type": "error", "error": {"type": kind, "message": message}}


def _event(name: str, **values: Any) -> bytes:
    payload = json.dumps({"type": name, **values}, ensure_ascii=False)
    return f"event: {name}\ndata: {payload}\n\n".encode()
