"""The `telegram` section of the configuration; a list of these is several bots."""

from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator


class TelegramSettings(BaseModel):
    """One bot.

    `token` is what @BotFather gave. `api_base` may name a local Bot API server. `poll_timeout_s` is how long
    Telegram holds an empty poll open; a poll without any answer `poll_margin_s` after that counts as a lost
    connection. `send_timeout_s` bounds the wait for the answer to one request, `queue_timeout_s` the wait for
    one of `connections` to be free.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    token: SecretStr | None = None
    api_base: str = "https://api.telegram.org"
    mode: Literal["polling", "webhook"] = "polling"
    streaming: bool = True
    poll_timeout_s: int = Field(30, ge=1, le=50)  # Telegram cuts longer polls to 50 s
    poll_margin_s: float = Field(10, ge=1, le=60)
    connect_timeout_s: float = Field(5, ge=0.5, le=60)
    send_timeout_s: float = Field(10, ge=1, le=120)
    queue_timeout_s: float = Field(60, ge=1, le=600)
    connections: int = Field(32, ge=1, le=256)

    @property
    def enabled(self) -> bool:
        """Whether there is a token to connect with."""
        return self.token is not None and bool(self.token.get_secret_value())

    @property
    def account(self) -> str:
        """The bot's id: the digits before the token's colon; "" if the token does not look like one."""
        head, colon, _ = (self.token.get_secret_value() if self.token else "").partition(":")
        return head if colon and head.isascii() and head.isdecimal() else ""

    @field_validator("api_base")
    @classmethod
    def _is_http_address(cls, value: str) -> str:
        address = urlsplit(value)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise ValueError("must be an http:// or https:// address")
        return value.rstrip("/")

    @field_validator("mode")
    @classmethod
    def _is_built(cls, value: str) -> str:
        if value == "webhook":
            raise ValueError("webhook is not built yet: use polling")
        return value
