"""The Web API's refusals: status 200 and `{"ok": false, "error": …}`, except for 429 and a server's own trouble."""

from collections.abc import Mapping
from typing import Any


class ApiError(Exception):
    """A refusal by name; `details` go beside it (needed, provided, response_metadata, …)."""

    def __init__(self, error: str, *, status: int = 200, **details: Any) -> None:
        super().__init__(error)
        self.error = error
        self.status = status
        self.details: Mapping[str, Any] = details


def invalid_blocks(*reasons: str) -> ApiError:
    """`invalid_blocks` with its reasons, as Slack lists them."""
    return ApiError(
        "invalid_blocks",
        errors=list(reasons),
        response_metadata={"messages": [f"[ERROR] {reason}" for reason in reasons]},
    )
