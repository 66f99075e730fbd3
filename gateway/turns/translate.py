"""The dictionary between what the agent says and what is stored of a turn (pure).

Stored payloads are JSON objects with the fields of DESIGN's event list. Only `model_response`, `steered`,
`compressed`, `paid`, `tool_started`, `tool_result` and `checkpoint` are read back.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from agent.calls import ResultFile, ToolCall
from agent.events import (
    Checkpoint,
    Compressed,
    Paid,
    Record,
    Responded,
    Steered,
    ToolReturned,
    ToolStarted,
    Usage,
)
from gateway.store.turns import StoredEvent
from gateway.store.usage import Spent

SUMMARIES = "summaries"
"""Under which name the cost of compressing a history is kept, whichever model wrote the summary."""


def encode(payload: dict[str, Any]) -> str:
    """A payload as it is stored."""
    return json.dumps(payload, ensure_ascii=False, separators=(",", ":"))


def from_record(record: Record) -> tuple[str, dict[str, Any]]:
    """Kind and payload of a record."""
    match record:
        case Checkpoint():
            return "checkpoint", {"name": record.name, "data": dict(record.data)}
        case Responded():
            return "model_response", {
                "message": record.message_json,
                "text": record.text,
                "calls": [_from_call(call) for call in record.calls],
                "usage": asdict(record.usage),
                "model": record.model,
            }
        case Steered():
            return "steered", {"text": record.text}
        case Compressed():
            return "compressed", {
                "start": record.start,
                "stop": record.stop,
                "message": record.message_json,
                "tokens_before": record.tokens_before,
                "tokens_after": record.tokens_after,
                "usage": asdict(record.usage),
            }
        case Paid():
            return "paid", {"usage": asdict(record.usage), "model": record.model}
        case ToolStarted():
            return "tool_started", {"call_id": record.call_id, "effect": record.effect}
        case ToolReturned():
            return "tool_result", {
                "call_id": record.call_id,
                "outcome": record.outcome,
                "content": record.content,
                "files": [asdict(file) for file in record.files],
            }


def to_record(event: StoredEvent) -> Record | None:
    """The record an event stands for, or None for one that only people see."""
    match event.kind:
        case "checkpoint":
            raw = json.loads(event.payload)
            return Checkpoint(name=raw["name"], data=raw["data"])
        case "model_response":
            raw = json.loads(event.payload)
            return Responded(
                message_json=raw["message"],
                text=raw["text"],
                calls=tuple(_to_call(call) for call in raw["calls"]),
                usage=Usage(**raw["usage"]),
                model=raw["model"],
            )
        case "steered":
            return Steered(text=json.loads(event.payload)["text"])
        case "compressed":
            raw = json.loads(event.payload)
            return Compressed(
                start=raw["start"],
                stop=raw["stop"],
                message_json=raw["message"],
                tokens_before=raw["tokens_before"],
                tokens_after=raw["tokens_after"],
                usage=Usage(**raw["usage"]),
            )
        case "paid":
            raw = json.loads(event.payload)
            return Paid(usage=Usage(**raw["usage"]), model=raw["model"])
        case "tool_started":
            raw = json.loads(event.payload)
            return ToolStarted(call_id=raw["call_id"], effect=raw["effect"])
        case "tool_result":
            raw = json.loads(event.payload)
            return ToolReturned(
                call_id=raw["call_id"],
                outcome=raw["outcome"],
                content=raw["content"],
                files=tuple(ResultFile(**file) for file in raw["files"]),
            )
        case _:
            return None


def usage_payload(used: Usage) -> dict[str, Any]:
    """What a turn used, as clients read it; `usd` is null if the price of some of it is not known."""
    payload = asdict(used)
    micros = payload.pop("usd_micros")
    return {**payload, "usd": None if micros is None else micros / 1_000_000}


def spent_by_model(records: Iterable[Record]) -> list[Spent]:
    """What each model did for a turn."""
    used: dict[str, Usage] = {}
    for record in records:
        if isinstance(record, Responded | Compressed | Paid) and record.usage.requests:
            model = None if isinstance(record, Compressed) else record.model
            model = SUMMARIES if model is None else model
            used[model] = used.get(model, Usage()) + record.usage
    return [
        Spent(
            model=model,
            requests=each.requests,
            input_tokens=each.input_tokens,
            output_tokens=each.output_tokens,
            cached_tokens=each.cached_tokens,
            usd_micros=each.usd_micros,
        )
        for model, each in used.items()
    ]


def records_of(events: tuple[StoredEvent, ...]) -> tuple[Record, ...]:
    """All records of a turn, in order."""
    return tuple(record for record in map(to_record, events) if record is not None)


def attempt_text(events: tuple[StoredEvent, ...]) -> str:
    """What the model's last attempt had said when its run ended, if its response was not recorded."""
    parts: list[str] = []
    for event in reversed(events):
        match event.kind:
            case "text":
                parts.append(json.loads(event.payload)["text"])
            case "model_response" | "retract":
                break
            case "checkpoint" if json.loads(event.payload)["name"] == "A":
                break
    return "".join(reversed(parts))


def _from_call(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "name": call.name,
        "server": call.server,
        "tool": call.tool,
        "args": None if call.args is None else dict(call.args),
        "raw_args": call.raw_args,
    }


def _to_call(raw: dict[str, Any]) -> ToolCall:
    return ToolCall(**raw)
