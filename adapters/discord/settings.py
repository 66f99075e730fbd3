"""The `discord` section of the configuration; a list of these is several bots."""

import base64
import binascii
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator


class DiscordSettings(BaseModel):
    """One bot.

    `token` is the bot's, from its page in the developer portal. All accounts of one process must share
    `api_base`, since discord.py knows one; `gateway_url` is asked of the API unless given. With `commands`,
    slash commands are registered at the start; without, those registered before are withdrawn.
    `connect_timeout_s` bounds each step of connecting, `send_timeout_s` the wait for the answer to one request.
    After `silence_s` without an event, although heartbeats are answered, the connection is made anew. Missed
    messages are fetched up to `backfill_messages` per channel (the newest ones; 0: none), for
    `backfill_channels` channels, as old as `backfill_age_s`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    token: SecretStr | None = None
    api_base: str = "https://discord.com/api/v10"
    gateway_url: str | None = None
    streaming: bool = True
    commands: bool = True
    connect_timeout_s: float = Field(30, ge=1, le=300)
    send_timeout_s: float = Field(10, ge=1, le=120)
    silence_s: float = Field(1_800, gt=0)
    backfill_messages: int = Field(200, ge=0, le=1_000)
    backfill_channels: int = Field(100, ge=0, le=1_000)
    backfill_age_s: float = Field(86_400, ge=0)

    @property
    def enabled(self) -> bool:
        """Whether there is a token to connect with."""
        return self.token is not None and bool(self.token.get_secret_value())

    @property
    def account(self) -> str:
        """The bot's user id, which a token begins with in base64; "" if the token does not look like one."""
        head, dot, _ = (self.token.get_secret_value() if self.token else "").strip().partition(".")
        try:
            text = base64.urlsafe_b64decode(head + "=" * (-len(head) % 4)).decode("ascii")
        except (binascii.Error, ValueError):
            return ""
        return text if dot and text.isdecimal() else ""

    @field_validator("api_base")
    @classmethod
    def _is_http_address(cls, value: str) -> str:
        return _address(value, {"http", "https"}).rstrip("/")

    @field_validator("gateway_url")
    @classmethod
    def _is_socket_address(cls, value: str | None) -> str | None:
        return None if value is None else _address(value, {"ws", "wss"})


def _address(value: str, schemes: set[str]) -> str:
    address = urlsplit(value)
    if address.scheme not in schemes or not address.hostname:
        raise ValueError(f"must be an address that begins with {' or '.join(sorted(schemes))}://")
    return value
