"""A request's parameters: the Bot API takes them from the query, a form, a multipart form or a JSON body."""

import json
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from .errors import bad_request


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A file part of a multipart form."""

    name: str
    mime: str
    content: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Params:
    """Typed reading of parameters; everything but JSON bodies comes as strings."""

    values: dict[str, Any]
    uploads: dict[str, Upload] = field(default_factory=dict)

    def text(self, name: str, default: str = "") -> str:
        """A string, the default when absent."""
        value = self.values.get(name)
        return default if value is None else str(value)

    def integer(self, name: str, default: int = 0) -> int:
        """An integer; what is not one counts as the default, as on the server."""
        try:
            return int(self.values.get(name, default))
        except (TypeError, ValueError):
            return default

    def flag(self, name: str) -> bool:
        """A boolean."""
        return str(self.values.get(name, "")).lower() in {"true", "yes", "1"}

    def json(self, name: str) -> Any:
        """A value given as JSON text or, within a JSON body, directly; None when absent."""
        value = self.values.get(name)
        if not isinstance(value, str):
            return value
        if not value:
            return None
        try:
            return json.loads(value)
        except ValueError:
            raise bad_request(f"can't parse {name} JSON object") from None


async def read_params(request: web.Request) -> Params:
    """Read the parameters of a request of any of the four forms."""
    values: dict[str, Any] = dict(request.query)
    uploads: dict[str, Upload] = {}
    if request.content_type == "application/json":
        body = await request.read()
        values |= json.loads(body) if body else {}
    elif request.method == "POST":
        for name, value in (await request.post()).items():
            if isinstance(value, web.FileField):
                content = value.file.read()
                uploads[name] = Upload(name=value.filename, mime=value.content_type, content=content)
            else:
                values[name] = value
    return Params(values=values, uploads=uploads)
