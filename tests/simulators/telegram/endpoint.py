"""The HTTP face.

`/bot<token>/<method>` and `/file/bot<token>/<path>`, with recording and scripted faults around.
"""

import asyncio
import inspect
from typing import Any

from aiohttp import web

from ..faults import Delay, Drop, FaultScript, Hold, Refuse
from ..recorder import Call
from ..server import cut
from .errors import ApiError
from .flood import FloodLimit
from .methods import METHODS
from .params import Params, read_params
from .world import Account, World

_REASONS = {
    400: "Bad Request",
    401: "Unauthorized",
    403: "Forbidden",
    404: "Not Found",
    409: "Conflict",
    429: "Too Many Requests",
    500: "Internal Server Error",
    502: "Bad Gateway",
}


class _ConnectionCutError(Exception):
    """The script wants the connection cut."""


class Endpoint:
    """Answers a bot's requests out of a world."""

    def __init__(self, world: World, faults: FaultScript) -> None:
        self._world, self._faults = world, faults
        self.flood: FloodLimit | None = None

    def routes(self) -> list[web.RouteDef]:
        """The routes of the Bot API server."""
        return [
            web.route("*", "/bot{token}/{method}", self.answer),
            web.get("/file/bot{token}/{path:.+}", self.download),
        ]

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one method call, in the envelope of the Bot API."""
        world = self._world
        name, token = request.match_info["method"], request.match_info["token"]
        params = await read_params(request)
        call = world.recorder.begin(name, params.values, token.partition(":")[0])
        world.changes.notify()
        try:
            result = await self._run(call, name, world.account(token), params)
        except _ConnectionCutError:
            world.recorder.finish(call, 0, "connection cut", scripted=True)
            return cut(request)
        except asyncio.CancelledError:
            world.recorder.finish(call, 0, "client hung up", scripted=True)
            raise
        except ApiError as error:
            world.recorder.finish(call, error.status, error.description, scripted=call.scripted)
            return _refusal(error)
        finally:
            world.changes.notify()
        world.recorder.finish(call, 200)
        return web.json_response({"ok": True, "result": result})

    async def _run(self, call: Call, name: str, account: Account, params: Params) -> Any:
        method = METHODS.get(name.lower())
        if method is None:
            raise ApiError(404, "Not Found: method not found")
        if self.flood is not None:
            self.flood.spend(name, params.text("chat_id"))
        faults = self._faults.take(name, params.values.get("chat_id"), call.account)
        for fault in faults:
            match fault:
                case Delay(applied=False) | Hold(applied=False):
                    await self._faults.pause(fault)
                case Drop(applied=False):
                    raise _ConnectionCutError
                case Refuse():
                    call.scripted = True
                    raise _scripted(fault)
        result = method(self._world, account, params, call.received_at_s)
        if inspect.isawaitable(result):
            result = await result
        for fault in faults:
            match fault:
                case Delay() | Hold() if fault.applied:
                    self._world.changes.notify()
                    await self._faults.pause(fault)
                case Drop():
                    raise _ConnectionCutError
        return result

    async def download(self, request: web.Request) -> web.Response:
        """A file's bytes, for the path `getFile` gave."""
        try:
            self._world.account(request.match_info["token"])
        except ApiError as error:
            return _refusal(error)
        for file in self._world.files.values():
            if file.path == request.match_info["path"]:
                return web.Response(body=file.content, content_type=file.mime)
        return _refusal(ApiError(404, "Not Found"))


def _scripted(fault: Refuse) -> ApiError:
    parameters = dict(fault.parameters)
    text = fault.text
    if fault.retry_after_s is not None:
        parameters["retry_after"] = round(fault.retry_after_s)
        text = text or f"retry after {parameters['retry_after']}"
    reason = _REASONS.get(fault.status, "Error")
    description = text if text.startswith(reason) else f"{reason}: {text}" if text else reason
    return ApiError(fault.status, description, **parameters)


def _refusal(error: ApiError) -> web.Response:
    body: dict[str, Any] = {"ok": False, "error_code": error.status, "description": error.description}
    headers = {}
    if error.parameters:
        body["parameters"] = dict(error.parameters)
        if "retry_after" in error.parameters:
            headers["Retry-After"] = str(error.parameters["retry_after"])
    return web.json_response(body, status=error.status, headers=headers)
