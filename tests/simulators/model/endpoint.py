"""The HTTP face: `/v1/chat/completions`, `/v1/messages`, `/v1/models`, `/v1/audio/transcriptions`."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from itertools import islice
from time import time
from typing import TYPE_CHECKING, Any

from aiohttp import web

from ..faults import Delay, Drop, Fault, Hold, Refuse
from ..recorder import Call
from ..server import cut
from . import messages, wire
from .answers import Answer
from .asked import Asked
from .errors import ModelApiError, invalid
from .history import check_request

if TYPE_CHECKING:
    from .simulator import ModelSimulator

CHAT = "chat.completions"
MODELS = "models"
TRANSCRIPTIONS = "audio.transcriptions"


class _CutError(Exception):
    """The script wants the connection cut."""


class Endpoint:
    """Answers requests as its simulator's script says."""

    def __init__(self, sim: "ModelSimulator") -> None:
        self._sim = sim

    def routes(self) -> list[web.RouteDef]:
        """The routes below `/v1`."""
        return [
            web.post("/v1/chat/completions", self.chat),
            web.post("/v1/messages", self.messages),
            web.get("/v1/models", self.models),
            web.post("/v1/audio/transcriptions", self.transcribe),
        ]

    async def chat(self, request: web.Request) -> web.StreamResponse:
        """Answer a chat completion request, streamed or whole."""
        sim = self._sim
        raw = await request.read()
        body = _parse(raw)
        call = sim.recorder.begin(CHAT, body if isinstance(body, dict) else {"unparsed": body})
        sim.changes.notify()
        status = 200
        try:
            self._authorize(request)
            check_request(body)
            asked = Asked(body=body)
            sim.check_model(asked)
            scripted = sim.next_reply(asked)
            answer = scripted if isinstance(scripted, Answer) else await self._meet(scripted, call, asked)
            return await self._reply(request, call, asked, answer)
        except ModelApiError as error:
            status = error.status
            sim.recorder.finish(call, status, error.message, scripted=call.scripted)
            return _refusal(error)
        except _CutError:
            sim.recorder.finish(call, 0, "connection cut", scripted=True)
            return cut(request)
        except (asyncio.CancelledError, ConnectionError):
            sim.recorder.finish(call, 0, "client hung up", scripted=True)
            raise
        finally:
            sim.changes.notify()

    async def messages(self, request: web.Request) -> web.StreamResponse:
        """Answer a request in Anthropic's wire format; streams only."""
        sim = self._sim
        body = _parse(await request.read())
        call = sim.recorder.begin(CHAT, body if isinstance(body, dict) else {"unparsed": body})
        sim.changes.notify()
        try:
            self._authorize(request)
            messages.check_request(body)
            if not body.get("stream"):
                raise invalid("this simulator only streams")
            asked = Asked(body=messages.to_chat(body))
            sim.check_model(asked)
            scripted = sim.next_reply(asked)
            answer = scripted if isinstance(scripted, Answer) else await self._meet(scripted, call, asked)
            return await self._stream_messages(request, call, asked, wire.with_call_ids(answer, call.number))
        except ModelApiError as error:
            sim.recorder.finish(call, error.status, error.message, scripted=call.scripted)
            return web.json_response(messages.refusal(error), status=error.status, headers=_headers(error))
        except _CutError:
            sim.recorder.finish(call, 0, "connection cut", scripted=True)
            return cut(request)
        except (asyncio.CancelledError, ConnectionError):
            sim.recorder.finish(call, 0, "client hung up", scripted=True)
            raise
        finally:
            sim.changes.notify()

    async def _stream_messages(
        self, request: web.Request, call: Call, asked: Asked, answer: Answer
    ) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        counts = wire.usage(answer, asked)
        envelope = wire.Envelope(id=f"msg_sim{call.number}", model=asked.body["model"], created=int(time()))
        await response.write(messages.opening(envelope, counts))
        async for piece in self._paced(answer, messages.until_cut(answer)):
            await response.write(piece)
        if answer.cut_after is not None:
            return self._cut_stream(request, response, call, answer)
        await response.write(messages.closing(wire.finish_reason(answer), counts))
        self._sim.recorder.finish(call, 200)
        return response

    def _cut_stream(
        self, request: web.Request, response: web.StreamResponse, call: Call, answer: Answer
    ) -> web.StreamResponse:
        self._sim.recorder.finish(call, 0, "stream cut", scripted=True)
        if answer.cut_how == "connection" and request.transport is not None:
            request.transport.close()  # flushes first, so the deltas before the cut do arrive
        return response

    async def _meet(self, fault: Fault, call: Call, asked: Asked) -> Answer:
        """Let a fault happen; what comes after a delay or a hold is the next scripted reply."""
        match fault:
            case Refuse():
                call.scripted = True
                raise _scripted(fault)
            case Drop():
                raise _CutError
            case Delay() | Hold():
                await self._sim.faults.pause(fault)
        scripted = self._sim.next_reply(asked)
        return scripted if isinstance(scripted, Answer) else await self._meet(scripted, call, asked)

    async def _reply(
        self, request: web.Request, call: Call, asked: Asked, answer: Answer
    ) -> web.StreamResponse:
        number = call.number
        answer = wire.with_call_ids(answer, number)
        envelope = wire.Envelope(id=f"chatcmpl-sim{number}", model=asked.body["model"], created=int(time()))
        if answer.first_delay_s:
            await asyncio.sleep(answer.first_delay_s)
        if asked.body.get("stream"):
            return await self._stream(request, call, envelope, asked, answer)
        if answer.hold_after is not None:
            await self._sim.faults.pause(Hold(name=answer.hold))
        if answer.cut_after is not None:
            raise _CutError
        self._sim.recorder.finish(call, 200)
        return web.json_response(wire.whole_body(envelope, answer, wire.usage(answer, asked)))

    async def _stream(
        self, request: web.Request, call: Call, envelope: wire.Envelope, asked: Asked, answer: Answer
    ) -> web.StreamResponse:
        response = web.StreamResponse(
            headers={"Content-Type": "text/event-stream", "Cache-Control": "no-cache"}
        )
        await response.prepare(request)
        counts = wire.usage(answer, asked) if _wants_usage(asked) else None
        await response.write(wire.chunk(envelope, {"role": "assistant", "content": ""}))
        pieces = (
            wire.chunk(envelope, delta, usage_follows=counts is not None)
            for delta in islice(wire.deltas(answer), answer.cut_after)
        )
        async for piece in self._paced(answer, pieces):
            await response.write(piece)
        if answer.cut_after is not None:
            return self._cut_stream(request, response, call, answer)
        tail = wire.chunk(envelope, {}, wire.finish_reason(answer), usage_follows=counts is not None)
        if counts is not None:
            tail += wire.usage_chunk(envelope, counts)
        await response.write(tail + wire.DONE)
        self._sim.recorder.finish(call, 200)
        return response

    async def _paced(self, answer: Answer, pieces: Iterator[bytes]) -> AsyncIterator[bytes]:
        """The deltas at the answer's pace; without one they go out joined, which spares both sides' CPU."""
        if answer.hold_after is not None:
            yield b"".join(islice(pieces, answer.hold_after))
            self._sim.changes.notify()
            await self._sim.faults.pause(Hold(name=answer.hold))
        if not answer.gap_s:
            yield b"".join(pieces)
            return
        for piece in pieces:
            yield piece
            await asyncio.sleep(answer.gap_s)

    async def models(self, request: web.Request) -> web.Response:
        """List the models."""
        call = self._sim.recorder.begin(MODELS, {})
        try:
            self._authorize(request)
        except ModelApiError as error:
            self._sim.recorder.finish(call, error.status, error.message)
            return _refusal(error)
        self._sim.recorder.finish(call, 200)
        names = self._sim.models or ("sim",)
        listed = [{"id": name, "object": "model", "created": 0, "owned_by": "simulator"} for name in names]
        return web.json_response({"object": "list", "data": listed})

    async def transcribe(self, request: web.Request) -> web.Response:
        """Turn speech into the text the simulator was given for it."""
        form = await request.post()
        upload = form.get("file")
        call = self._sim.recorder.begin(TRANSCRIPTIONS, {"model": str(form.get("model", ""))})
        try:
            self._authorize(request)
            if not isinstance(upload, web.FileField):
                raise invalid("Missing required parameter: 'file'.", "file")
        except ModelApiError as error:
            self._sim.recorder.finish(call, error.status, error.message)
            return _refusal(error)
        self._sim.recorder.finish(call, 200)
        self._sim.changes.notify()
        return web.json_response({"text": self._sim.transcript})

    def _authorize(self, request: web.Request) -> None:
        if self._sim.api_key is None:
            return
        given = request.headers.get("x-api-key") or request.headers.get("Authorization", "").removeprefix(
            "Bearer "
        )
        if given != self._sim.api_key:
            raise ModelApiError(
                401, "Incorrect API key provided.", kind="authentication_error", code="invalid_api_key"
            )


def _parse(raw: bytes) -> Any:
    try:
        return json.loads(raw)
    except ValueError:
        return None


def _wants_usage(asked: Asked) -> bool:
    return bool((asked.body.get("stream_options") or {}).get("include_usage"))


def _scripted(fault: Refuse) -> ModelApiError:
    kinds = {401: "authentication_error", 429: "rate_limit_error", 500: "server_error"}
    return ModelApiError(
        fault.status,
        fault.text or f"scripted {fault.status}",
        kind=kinds.get(fault.status, "invalid_request_error"),
        param=fault.parameters.get("param"),
        code=fault.parameters.get("code"),
        retry_after_s=fault.retry_after_s,
    )


def _refusal(error: ModelApiError) -> web.Response:
    return web.json_response(error.body(), status=error.status, headers=_headers(error))


def _headers(error: ModelApiError) -> dict[str, str]:
    return {} if error.retry_after_s is None else {"Retry-After": f"{error.retry_after_s:g}"}
