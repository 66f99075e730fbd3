"""The control endpoints `POST /sim/<action>`.

The simulator's in-process object, for tests in another process.

The body is a JSON object with the action's arguments, the answer is `{"ok": true, "result": …}`; wrong
arguments give 400, a wait that ran out 408, each with the reason under `error`.
"""

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

Action = Callable[..., Any]


def control_routes(actions: Mapping[str, Action]) -> list[web.RouteDef]:
    """Make the routes that call these actions by name. `GET /sim` lists them with their arguments."""

    async def call(request: web.Request) -> web.Response:
        name = request.match_info["action"]
        if name not in actions:
            return _failed(404, f"no such action; known: {', '.join(sorted(actions))}")
        try:
            arguments = await request.json() if request.can_read_body else {}
            inspect.signature(actions[name]).bind(**arguments)
        except (TypeError, json.JSONDecodeError) as error:
            return _failed(400, f"{name}: {error}")
        try:
            result = actions[name](**arguments)
            if inspect.isawaitable(result):
                result = await result
        except TimeoutError as error:
            return _failed(408, str(error))
        except (LookupError, ValueError, TypeError) as error:
            return _failed(400, f"{type(error).__name__}: {error}")
        return web.json_response({"ok": True, "result": result})

    async def describe(_request: web.Request) -> web.Response:
        return web.json_response({name: str(inspect.signature(action)) for name, action in actions.items()})

    return [web.post("/sim/{action}", call), web.get("/sim", describe)]


def _failed(status: int, reason: str) -> web.Response:
    return web.json_response({"ok": False, "error": reason}, status=status)
