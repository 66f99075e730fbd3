"""The API's refusals: a status, a code of Discord's own, a sentence, and for forms where they are wrong.

Codes: https://docs.discord.com/developers/topics/opcodes-and-status-codes (read 2026).
"""

from collections.abc import Mapping
from typing import Any


class ApiError(Exception):
    """A refusal: becomes `{"code": …, "message": …}`, with `errors` for a form and `extra` beside them."""

    def __init__(self, status: int, code: int, message: str, **extra: Any) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message
        self.extra: Mapping[str, Any] = extra

    @property
    def description(self) -> str:
        """The refusal in one line, as the recorder counts it."""
        return f"{self.status} {self.code} {self.message}"

    def body(self) -> dict[str, Any]:
        """The answer's JSON."""
        return {"code": self.code, "message": self.message} | dict(self.extra)


def invalid_form(field: str, code: str, message: str) -> ApiError:
    """50035, naming one field; a dotted path is nested as Discord nests it."""
    errors: dict[str, Any] = {"_errors": [{"code": code, "message": message}]}
    for part in reversed(field.split(".")):
        errors = {part: errors}
    return ApiError(400, 50035, "Invalid Form Body", errors=errors)


def unauthorized() -> ApiError:
    """A token nobody has."""
    return ApiError(401, 0, "401: Unauthorized")


def not_found() -> ApiError:
    """No such address."""
    return ApiError(404, 0, "404: Not Found")


def unknown(what: str) -> ApiError:
    """Something that is not, or no more, there: Channel, Message, User, Webhook or Interaction."""
    codes = {"Channel": 10003, "Message": 10008, "User": 10013, "Webhook": 10015, "interaction": 10062}
    return ApiError(404, codes[what], f"Unknown {what}")
