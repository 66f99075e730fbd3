"""A request's parameters: JSON, a form or the query, the token in the header or among them."""

import json
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from .errors import ApiError


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """Typed reading of parameters; everything but a JSON body comes as strings."""

    values: dict[str, Any]
    token: str = ""

    def text(self, name: str, default: str = "") -> str:
        """A string, the default when absent."""
        value = self.values.get(name)
        return default if value is None else str(value)

    def required(self, name: str) -> str:
        """A string that must be there.

        Raises:
            ApiError: `invalid_arguments`, naming it.
        """
        value = self.text(name)
        if not value:
            reason = f"[ERROR] missing required field: {name}"
            raise ApiError("invalid_arguments", response_metadata={"messages": [reason]})
        return value

    def integer(self, name: str, default: int) -> int:
        """An integer; what is not one counts as the default."""
        try:
            return int(self.values.get(name, default))
        except (TypeError, ValueError):
            return default

    def flag(self, name: str, *, default: bool = False) -> bool:
        """A boolean."""
        value = self.values.get(name)
        return default if value is None else str(value).lower() in {"true", "1", "t", "yes"}

    def json(self, name: str, error: str) -> Any:
        """A value given as JSON text or within a JSON body; None when absent.

        Raises:
            ApiError: `error`, if it is no JSON.
        """
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except ValueError:
            raise ApiError(error) from None


async def read_params(request: web.Request) -> Params:
    """Read the parameters of a request of any of the forms.

    Raises:
        ApiError: `invalid_json`.
    """
    values: dict[str, Any] = dict(request.query)
    if request.content_type == "application/json":
        body = await request.read()
        try:
            values |= json.loads(body) if body else {}
        except ValueError:
            raise ApiError("invalid_json") from None
    elif request.method == "POST":
        values |= dict(await request.post())
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    token = token if scheme == "Bearer" else str(values.pop("token", ""))
    return Params(values=values, token=token)
