"""The API's refusals in the shape OpenAI gives them."""

from typing import Any


class ModelApiError(Exception):
    """A refusal: becomes `{"error": {"message", "type", "param", "code"}}` with this HTTP status."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        param: str | None = None,
        code: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.retry_after_s = status, message, retry_after_s
        self.kind, self.param, self.code = kind, param, code

    def body(self) -> dict[str, Any]:
        """The JSON body."""
        return {"error": {"message": self.message, "type": self.kind, "param": self.param, "code": self.code}}


def invalid(message: str, param: str | None = None, code: str | None = None) -> ModelApiError:
    """400 for a request that breaks a rule."""
    return ModelApiError(400, message, param=param, code=code)
