"""The `telegram` section of the configuration; a list of these is several bots."""

from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationInfo, field_validator


class TelegramSettings(BaseModel):
    """One bot.

    `token` is what @BotFather gave. `api_base` may name a local Bot API server. With
    `commands` people are shown a menu of them; without, one that was shown is withdrawn. `poll_timeout_s` is how long
    Telegram holds an empty poll open; a poll without any answer `poll_margin_s` after that counts as a lost
    connection. `send_timeout_s` bounds the wait for the answer to one request, `queue_timeout_s` the wait for
    one of `connections` to be free.

    In `webhook` mode Telegram posts to `webhook_url`, the public address of `http_path` on
    `http_host`:`http_port`; whatever makes it public and speaks TLS stands before it (Telegram takes the ports
    443, 80, 88 and 8443). Every `webhook_check_s` Telegram is asked whether it still does.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    token: SecretStr | None = None
    api_base: str = "https://api.telegram.org"
    mode: Literal["polling", "webhook"] = "polling"
    streaming: bool = True
    commands: bool = True
    poll_timeout_s: int = Field(30, ge=1, le=50)  # Telegram cuts longer polls to 50 s
    poll_margin_s: float = Field(10, ge=1, le=60)
    connect_timeout_s: float = Field(5, ge=0.5, le=60)
    send_timeout_s: float = Field(10, ge=1, le=120)
    queue_timeout_s: float = Field(60, ge=1, le=600)
    connections: int = Field(32, ge=1, le=256)
    http_host: str = "127.0.0.1"
    http_port: int = Field(8443, ge=0, le=65_535)
    http_path: str = Field("/telegram", pattern="^/")
    webhook_check_s: float = Field(60, gt=0, le=3_600)
    webhook_url: str | None = Field(None, validate_default=True)

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

    @field_validator("webhook_url")
    @classmethod
    def _is_given_where_needed(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value is None:
            if info.data.get("mode") == "webhook":
                raise ValueError("is missing in mode webhook; write the public https:// address of http_path")
            return None
        address = urlsplit(value)
        # A local Bot API server takes plain http as well (--local; Bot API, "Using a Local Bot API Server").
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise ValueError("must be an https:// address")
        return value
