"""The `slack` section of the configuration; a list of these is several apps."""

from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator


class SlackSettings(BaseModel):
    """One app in one workspace.

    `bot_token` (xoxb-…) is the installation's. In `socket` mode `app_token` (xapp-…, scope connections:write)
    opens the connection; in `http` mode Slack posts to `http_path` on `http_host`:`http_port`, signed with
    `signing_secret`; whatever makes that address public and speaks TLS stands before it. `command` is the slash
    command whose words become ours: `/parley status` is `/status`. `send_timeout_s` bounds the wait for the
    answer to one request, `lookup_timeout_s` how long an incoming message waits for a name: it must be
    acknowledged within 3 s in all. `ping_interval_s` without a sign of life is a lost connection.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    bot_token: SecretStr | None = None
    app_token: SecretStr | None = None
    signing_secret: SecretStr | None = None
    mode: Literal["socket", "http"] = "socket"
    api_base: str = "https://slack.com/api/"
    streaming: bool = True
    http_host: str = "127.0.0.1"
    http_port: int = Field(3000, ge=0, le=65_535)
    http_path: str = Field("/slack/events", pattern="^/")
    command: str = Field("/parley", pattern=r"^/[a-z0-9_-]{1,32}$")
    connect_timeout_s: float = Field(5, ge=0.5, le=60)
    send_timeout_s: float = Field(10, ge=1, le=120)
    lookup_timeout_s: float = Field(1, ge=0.1, le=2)
    ping_interval_s: float = Field(10, ge=1, le=60)
    connections: int = Field(32, ge=1, le=256)

    @property
    def enabled(self) -> bool:
        """Whether there is a token to connect with; what else is missing, the adapter says."""
        return bool(secret(self.bot_token))

    @field_validator("api_base")
    @classmethod
    def _is_http_address(cls, value: str) -> str:
        address = urlsplit(value)
        if address.scheme not in {"http", "https"} or not address.hostname:
            raise ValueError("must be an http:// or https:// address")
        return value.rstrip("/") + "/"


def secret(value: SecretStr | None) -> str:
    """A secret's text, "" if there is none."""
    return value.get_secret_value() if value else ""
