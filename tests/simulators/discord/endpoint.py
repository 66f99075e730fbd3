"""The HTTP face: `/api/v10/…` and `/attachments/…`, with recording, limits and scripted faults around.

A scripted refusal with `retry_after_s` is a 429 as the platform's own servers give it; `parameters` may set
`code`, `global` (the whole bot waits) or `via` (False: it comes from the network before them, without JSON).
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from ..faults import Delay, Drop, FaultScript, Hold, Refuse
from ..recorder import Call
from ..server import cut
from .errors import ApiError, not_found
from .limits import Limits
from .methods import ROUTES, Asked, Route
from .records import Account, File
from .world import World

BASE = "/api/v10"
_REASONS = {500: "500: Internal Server Error", 502: "502: Bad Gateway", 503: "503: Service Unavailable"}


class _ConnectionCutError(Exception):
    """The script wants the connection cut."""


class Endpoint:
    """Answers a bot's requests out of a world."""

    def __init__(
        self, world: World, faults: FaultScript, limits: Limits, gateway_url: Callable[[], str]
    ) -> None:
        self._world, self._faults, self._limits = world, faults, limits
        self._gateway_url = gateway_url

    def routes(self) -> list[web.RouteDef]:
        """The routes of the API and of the file server."""
        known = [web.route(route.verb, BASE + route.path, self._serving(route)) for route in ROUTES]
        return [
            *known,
            web.route("*", BASE + "/{rest:.*}", self._unknown),
            web.get("/attachments/{channel}/{file}/{name}", self.download),
        ]

    def _serving(self, route: Route) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def serve(request: web.Request) -> web.Response:
            return await self._answer(route, request)

        return serve

    async def _answer(self, route: Route, request: web.Request) -> web.Response:
        world = self._world
        body, files = await _read(world, request)
        place = request.match_info.get("channel") or request.match_info.get("token", "")
        account = world.accounts.get(request.headers.get("Authorization", "").removeprefix("Bot "))
        params = {
            **request.match_info,
            **request.query,
            **(body if isinstance(body, dict) else {"body": body}),
        }
        call = world.recorder.begin(route.name, params, str(account.user.id) if account else "")
        world.changes.notify()
        headers: dict[str, str] = {"Via": "1.1 google"}
        try:
            wait_s, stated = self._limits.take(route.name, place)
            headers |= stated
            if wait_s is not None:
                raise _limited(wait_s, {})
            result = await self._run(call, route, request, account, body, files)
        except _ConnectionCutError:
            world.recorder.finish(call, 0, "connection cut", scripted=True)
            return cut(request)
        except asyncio.CancelledError:
            world.recorder.finish(call, 0, "client hung up", scripted=True)
            raise
        except ApiError as error:
            world.recorder.finish(call, error.status, error.description, scripted=call.scripted)
            return _refusal(error, headers)
        finally:
            world.changes.notify()
        world.recorder.finish(call, 204 if result is None else 200)
        if result is None:
            return web.Response(status=204, headers=headers)
        return _json(result, headers=headers)

    async def _run(
        self,
        call: Call,
        route: Route,
        request: web.Request,
        account: Account | None,
        body: Any,
        files: list[File],
    ) -> Any:
        faults = self._faults.take(route.name, request.match_info.get("channel"), call.account)
        for fault in faults:
            match fault:
                case Delay(applied=False) | Hold(applied=False):
                    await self._faults.pause(fault)
                case Drop(applied=False):
                    raise _ConnectionCutError
                case Refuse():
                    call.scripted = True
                    raise _scripted(fault)
        if account is None:
            account = self._holder(route, request)
        result = route.method(
            Asked(
                world=self._world,
                account=account,
                path=request.match_info,
                query=request.query,
                body=body,
                files=files,
                at_s=self._world.recorder.clock(),
                gateway_url=self._gateway_url(),
            )
        )
        for fault in faults:
            match fault:
                case Delay() | Hold() if fault.applied:
                    self._world.changes.notify()
                    await self._faults.pause(fault)
                case Drop():
                    raise _ConnectionCutError
        return result

    def _holder(self, route: Route, request: web.Request) -> Account:
        """The account of a request without a bot's token: refused, unless the path has its own."""
        if route.is_open:
            interaction = self._world.interactions.get(request.match_info["token"])
            if interaction is not None:
                return self._world.accounts[interaction.account]
        return self._world.account(request.headers.get("Authorization", ""))

    async def _unknown(self, request: web.Request) -> web.Response:
        call = self._world.recorder.begin(f"{request.method} {request.path}", dict(request.query))
        error = not_found()
        self._world.recorder.finish(call, error.status, error.description)
        return _refusal(error, {})

    async def download(self, request: web.Request) -> web.Response:
        """A file's bytes; the address carries its own permission and needs no token."""
        wanted = int(request.match_info["file"])
        channel = self._world.channels.get(int(request.match_info["channel"]))
        for message in channel.messages.values() if channel else ():
            for file in message.files:
                if file.id == wanted:
                    return web.Response(body=file.content, content_type=file.mime.partition(";")[0])
        return web.Response(status=404)


async def _read(world: World, request: web.Request) -> tuple[Any, list[File]]:
    """The JSON body, alone or as `payload_json` beside files."""
    if not request.content_type.startswith("multipart/"):
        raw = await request.read()
        return (json.loads(raw) if raw else {}), []
    body: Any = {}
    files = []
    for name, value in (await request.post()).items():
        if isinstance(value, web.FileField):
            content = value.file.read()
            files.append(
                File(
                    id=world.ids(),
                    name=value.filename,
                    mime=value.content_type,
                    content=content,
                    size_bytes=len(content),
                )
            )
        elif name == "payload_json":
            body = json.loads(value)  # bytes where the part names a type that is no text
    return body, files


def _scripted(fault: Refuse) -> ApiError:
    if fault.retry_after_s is not None or fault.status == 429:
        return _limited(fault.retry_after_s or 1.0, fault.parameters)
    text = fault.text or _REASONS.get(fault.status, f"{fault.status}: Error")
    return ApiError(fault.status, int(fault.parameters.get("code", 0)), text)


def _limited(wait_s: float, parameters: Any) -> ApiError:
    is_global = bool(parameters.get("global", False))
    extra = {"retry_after": wait_s, "global": is_global}
    if not parameters.get("via", True):
        extra["via"] = False
    return ApiError(429, 0, "You are being rate limited.", **extra)


def _refusal(error: ApiError, headers: dict[str, str]) -> web.Response:
    body = error.body()
    if error.status != 429:
        return _json(body, status=error.status, headers=headers)
    wait_s = body["retry_after"]
    headers = headers | {"Retry-After": str(max(1, round(wait_s))), "X-RateLimit-Scope": "user"}
    if body["global"]:
        headers["X-RateLimit-Global"] = "true"
    if "via" in body:
        headers.pop("Via", None)
        return web.Response(text="error code: 1015", status=429, headers=headers)
    return _json(
        {name: body[name] for name in ("message", "retry_after", "global")}, status=429, headers=headers
    )


def _json(body: Any, *, status: int = 200, headers: dict[str, str]) -> web.Response:
    """An answer whose type is exactly `application/json`, as the platform's; discord.py reads no other."""
    return web.Response(
        body=json.dumps(body).encode(), status=status, headers=headers, content_type="application/json"
    )
