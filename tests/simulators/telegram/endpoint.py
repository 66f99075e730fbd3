"""The HTTP face.

`/bot<token>/<method>` and `/file/bot<token>/<path>`, with recording and scripted faults around.
"""

import asyncio
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
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


DOWNLOAD = "downloadFile"


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

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer one method call, in the envelope of the Bot API."""
        name, params = request.match_info["method"], await read_params(request)
        call = self._begin(request, name, params.values)

        async def run() -> web.StreamResponse:
            account = self._world.account(request.match_info["token"])
            if self.flood is not None:
                self.flood.spend(name, params.text("chat_id"))
            async with self._faulty(call):
                result = await self._apply(call, account, params)
            return web.json_response({"ok": True, "result": result})

        return await self._guard(request, call, run)

    async def download(self, request: web.Request) -> web.StreamResponse:
        """A file's bytes, for the path `getFile` gave; recorded and faulty as the method `downloadFile`."""
        path = request.match_info["path"]
        call = self._begin(request, DOWNLOAD, {"path": path})

        async def run() -> web.StreamResponse:
            self._world.account(request.match_info["token"])
            async with self._faulty(call):
                file = next((one for one in self._world.files.values() if one.path == path), None)
            if file is None:
                raise ApiError(404, "Not Found")
            return web.Response(body=file.content, content_type=file.mime)

        return await self._guard(request, call, run)

    def _begin(self, request: web.Request, name: str, values: Mapping[str, Any]) -> Call:
        call = self._world.recorder.begin(name, values, request.match_info["token"].partition(":")[0])
        self._world.changes.notify()
        return call

    async def _guard(
        self, request: web.Request, call: Call, run: Callable[[], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Run a request and record how it ended."""
        recorder = self._world.recorder
        try:
            response = await run()
        except _ConnectionCutError:
            recorder.finish(call, 0, "connection cut", scripted=True)
            return cut(request)
        except asyncio.CancelledError:
            recorder.finish(call, 0, "client hung up", scripted=True)
            raise
        except ApiError as error:
            recorder.finish(call, error.status, error.description, scripted=call.scripted)
            return _refusal(error)
        finally:
            self._world.changes.notify()
        recorder.finish(call, 200)
        return response

    async def _apply(self, call: Call, account: Account, params: Params) -> Any:
        method = METHODS.get(call.method.lower())
        if method is None:
            raise ApiError(404, "Not Found: method not found")
        result = method(self._world, account, params, call.received_at_s)
        return await result if inspect.isawaitable(result) else result

    @asynccontextmanager
    async def _faulty(self, call: Call) -> AsyncIterator[None]:
        """Let the scripted faults happen before and after what is done within."""
        faults = self._faults.take(call.method, call.params.get("chat_id"), call.account)
        for fault in faults:
            match fault:
                case Delay(applied=False) | Hold(applied=False):
                    await self._faults.pause(fault)
                case Drop(applied=False):
                    raise _ConnectionCutError
                case Refuse():
                    call.scripted = True
                    raise _scripted(fault)
        yield
        for fault in faults:
            match fault:
                case Delay(applied=True) | Hold(applied=True):
                    self._world.changes.notify()
                    await self._faults.pause(fault)
                case Drop():
                    raise _ConnectionCutError


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
