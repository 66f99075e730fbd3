"""A minimal Anthropic Messages service on loopback: streams one scripted reply after the other, or refuses."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

Event = tuple[str, dict[str, Any]]


def text_reply(*pieces: str, thinking: str = "", stop: str = "end_turn") -> list[Event]:
    blocks: list[Event] = []
    index = 0
    if thinking:
        blocks += [
            _start(index, {"type": "thinking", "thinking": "", "signature": ""}),
            _delta(index, {"type": "thinking_delta", "thinking": thinking}),
            _delta(index, {"type": "signature_delta", "signature": "c2ln"}),
            _stop(index),
        ]
        index += 1
    blocks.append(_start(index, {"type": "text", "text": ""}))
    blocks += [_delta(index, {"type": "text_delta", "text": piece}) for piece in pieces]
    return [*_opening(), *blocks, _stop(index), *_closing(stop)]


def tool_reply(name: str, *json_pieces: str) -> list[Event]:
    return [
        *_opening(),
        _start(0, {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}}),
        *(_delta(0, {"type": "input_json_delta", "partial_json": piece}) for piece in json_pieces),
        _stop(0),
        *_closing("tool_use"),
    ]


def _opening() -> list[Event]:
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": 11, "output_tokens": 1},
    }
    return [("message_start", {"message": message})]


def _closing(reason: str) -> list[Event]:
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [("message_delta", {"delta": delta, "usage": {"output_tokens": 7}}), ("message_stop", {})]


def _start(index: int, block: dict[str, Any]) -> Event:
    return "content_block_start", {"index": index, "content_block": block}


def _delta(index: int, delta: dict[str, Any]) -> Event:
    return "content_block_delta", {"index": index, "delta": delta}


def _stop(index: int) -> Event:
    return "content_block_stop", {"index": index}


@dataclass
class AnthropicWire:
    """`replies` are used up in order: events to stream, or (status, error type, headers) to refuse with."""

    url: str
    replies: list[list[Event] | tuple[int, str, dict[str, str]]] = field(default_factory=list)
    bodies: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)

    async def messages(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.json())
        self.keys.append(request.headers.get("x-api-key") or request.headers["Authorization"])
        reply = self.replies.pop(0)
        if isinstance(reply, tuple):
            status, kind, headers = reply
            body = {"type": "error", "error": {"type": kind, "message": f"{kind} it is"}}
            return web.json_response(body, status=status, headers=headers)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for name, data in reply:
            payload = json.dumps({"type": name, **data})
            await response.write(f"event: {name}\ndata: {payload}\n\n".encode())
        return response


@asynccontextmanager
async def anthropic_wire() -> AsyncIterator[AnthropicWire]:
    wire = AnthropicWire(url="")
    app = web.Application()
    app.add_routes([web.post("/v1/messages", wire.messages)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    wire.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield wire
    finally:
        await runner.cleanup()
