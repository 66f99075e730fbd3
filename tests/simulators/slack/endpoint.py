"""The HTTP face.

`/api/<method>`, files, response URLs, with recording and scripted faults around the methods.
"""

from typing import Any

from aiohttp import web

from ..faults import Delay, Drop, FaultScript, Hold, Refuse
from ..recorder import Call
from ..server import cut
from .blocks import check_blocks, visible_blocks
from .errors import ApiError
from .markup import visible
from .methods import METHODS, Method
from .params import Params, read_params
from .records import Ephemeral
from .world import Account, World

RESPONSE_USES = 5
_LOGIN_PAGE = (
    "<!DOCTYPE html><html><head><title>Slack</title></head><body>Sign in to your workspace</body></html>"
)


class _ConnectionCutError(Exception):
    """The script wants the connection cut."""


class Endpoint:
    """Answers apps' requests out of a world."""

    def __init__(self, world: World, faults: FaultScript) -> None:
        self._world, self._faults = world, faults

    def routes(self) -> list[web.RouteDef]:
        """The routes of the Web API server."""
        return [
            web.route("*", "/api/{method}", self.answer),
            web.post("/response/{trigger}", self.respond),
            web.get("/files-pri/{file}/{name}", self.download),
            web.post("/upload/{file}", self.upload),
        ]

    async def answer(self, request: web.Request) -> web.Response:
        """Answer one method call, in the envelope of the Web API."""
        world, name = self._world, request.match_info["method"]
        try:
            params = await read_params(request)
        except ApiError as error:
            return _refusal(error)
        call = world.recorder.begin(name, params.values, self._account_name(params.token))
        world.changes.notify()
        headers: dict[str, str] = {}
        try:
            account = self._account(name, params)
            headers["X-OAuth-Scopes"] = ",".join(sorted(account.scopes))
            result = await self._run(call, name, account, params)
        except _ConnectionCutError:
            world.recorder.finish(call, 0, "connection cut", scripted=True)
            return cut(request)
        except ApiError as error:
            world.recorder.finish(call, error.status, error.error, scripted=call.scripted)
            return _refusal(error)
        finally:
            world.changes.notify()
        world.recorder.finish(call, 200)
        return web.json_response({"ok": True, **result}, headers=headers)

    async def _run(self, call: Call, name: str, account: Account, params: Params) -> dict[str, Any]:
        channel = params.values.get("channel") or params.values.get("channel_id")
        faults = self._faults.take(name, channel, call.account)
        for fault in faults:
            match fault:
                case Delay(applied=False) | Hold(applied=False):
                    await self._faults.pause(fault)
                case Drop(applied=False):
                    raise _ConnectionCutError
                case Refuse():
                    call.scripted = True
                    raise _scripted(fault)
        result = _method(name, account).handler(self._world, account, params, call.received_at_s)
        for fault in faults:
            match fault:
                case Delay() | Hold() if fault.applied:
                    self._world.changes.notify()
                    await self._faults.pause(fault)
                case Drop():
                    raise _ConnectionCutError
        return result

    def _account(self, name: str, params: Params) -> Account:
        if name in METHODS and METHODS[name].by_app_token:
            for account in self._world.accounts.values():
                if account.app_token == params.token:
                    return account
            raise ApiError(
                "not_allowed_token_type" if params.token in self._world.accounts else "invalid_auth"
            )
        return self._world.account(params.token)

    def _account_name(self, token: str) -> str:
        for account in self._world.accounts.values():
            if token in {account.token, account.app_token}:
                return account.user.id
        return ""

    async def respond(self, request: web.Request) -> web.Response:
        """A post to a response_url: at most five; shown to the presser alone unless it says otherwise."""
        world, trigger = self._world, request.match_info["trigger"]
        source = world.presses.get(trigger) or world.commands.get(trigger)
        if source is None:
            return web.Response(status=404, text="expired_url")
        body = await request.json()
        call = world.recorder.begin("response_url", body)
        world.response_uses[trigger] += 1
        if world.response_uses[trigger] > RESPONSE_USES:
            world.recorder.finish(call, 404, "used_url")
            return web.Response(status=404, text="used_url")
        try:
            blocks = check_blocks(body.get("blocks"))
        except ApiError as error:
            world.recorder.finish(call, 400, error.error)
            return _refusal(error)
        source.answers.append(body)
        channel = (
            world.presses[trigger].message.channel
            if trigger in world.presses
            else world.commands[trigger].channel
        )
        if body.get("response_type", "ephemeral") == "ephemeral" and not body.get("replace_original"):
            shown = visible_blocks(blocks) or visible(str(body.get("text", "")))
            channel.ephemerals.append(
                Ephemeral(
                    user=source.user.id,
                    text=shown,
                    thread_ts=body.get("thread_ts"),
                    at_s=world.recorder.clock(),
                )
            )
        world.recorder.finish(call, 200)
        world.changes.notify()
        return web.Response(text="ok")

    async def download(self, request: web.Request) -> web.Response:
        """A file's bytes; without the bot's token a login page with status 200, as on the platform."""
        token = request.headers.get("Authorization", "").removeprefix("Bearer ")
        file = self._world.files.get(request.match_info["file"])
        if token not in self._world.accounts:
            return web.Response(text=_LOGIN_PAGE, content_type="text/html")
        if file is None:
            return web.Response(status=404)
        return web.Response(body=file.content, content_type=file.mime)

    async def upload(self, request: web.Request) -> web.Response:
        """The bytes for an address that `files.getUploadURLExternal` gave."""
        file_id = request.match_info["file"]
        if file_id not in self._world.uploads:
            return web.Response(status=404)
        content = await request.read()
        self._world.uploads[file_id] = (self._world.uploads[file_id][0], content)
        return web.Response(text=f"OK - {len(content)}")


def _method(name: str, account: Account) -> Method:
    method = METHODS.get(name)
    if method is None:
        raise ApiError("unknown_method", req_method=name)
    if method.scope and method.scope not in account.scopes:
        raise ApiError("missing_scope", needed=method.scope, provided=",".join(sorted(account.scopes)))
    return method


def _scripted(fault: Refuse) -> ApiError:
    details = dict(fault.parameters)
    if fault.status == 429:
        wait = 1 if fault.retry_after_s is None else round(fault.retry_after_s)
        return ApiError("ratelimited", status=429, retry_after=wait)
    return ApiError(fault.text or "internal_error", status=fault.status, **details)


def _refusal(error: ApiError) -> web.Response:
    if error.status >= 500:  # from something before the Web API: no JSON
        return web.Response(
            status=error.status, text=f"<html><body>{error.error}</body></html>", content_type="text/html"
        )
    details = dict(error.details)
    headers = {"Retry-After": str(details.pop("retry_after"))} if "retry_after" in details else {}
    return web.json_response(
        {"ok": False, "error": error.error, **details}, status=error.status, headers=headers
    )
