"""The Bot API's refusals, as the server words them."""

from collections.abc import Mapping
from typing import Any


class ApiError(Exception):
    """A refusal: becomes `{"ok": false, "error_code": status, "description": …, "parameters": …}`."""

    def __init__(self, status: int, description: str, **parameters: Any) -> None:
        super().__init__(description)
        self.status = status
        self.description = description
        self.parameters: Mapping[str, Any] = parameters


def bad_request(reason: str, **parameters: Any) -> ApiError:
    """400. The server's own sentences begin with a small letter; codes of the data centre are in capitals."""
    return ApiError(400, f"Bad Request: {reason}", **parameters)


def forbidden(reason: str) -> ApiError:
    """403."""
    return ApiError(403, f"Forbidden: {reason}")
