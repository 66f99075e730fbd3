"""The sections of the configuration, one model each; field names and defaults are the YAML's.

`settings.Config` puts them together with the adapters' own sections. A section is frozen and takes no key
it does not know. What needs a look at two sections at once is in `checks`.
"""

from collections.abc import Mapping
from datetime import time
from ipaddress import ip_address
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

from gateway.config.problems import quoted
from gateway.config.values import (
    AccessEntry,
    ChatRef,
    Count,
    Days,
    Seconds,
    TimeOfDay,
    ToolGlob,
    UserId,
    UserRef,
    ZoneName,
)

QueueMode = Literal["queue", "collect", "steer", "interrupt", "reject"]
GroupMode = Literal["always", "mention", "never"]
Scope = Literal["user", "shared"]
ChatKind = Literal["dm", "group", "channel", "thread"]
CHAT_KINDS: tuple[ChatKind, ...] = get_args(ChatKind)
ResetRule = Literal["idle", "daily", "both", "none"]
LogLevel = Literal["debug", "info", "warning", "error"]
ApprovalRule = Literal["allow", "ask", "deny"]


class Section(BaseModel):
    """Base of all sections: frozen, strict about keys, never quoting its input in an error."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True, populate_by_name=True)


class WebSettings(Section):
    """The console, the HTTP API, health and metrics: one server."""

    enabled: bool = True
    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65_535)] = 8765
    token: SecretStr | None = None
    users: Mapping[str, SecretStr] = Field(default_factory=dict)
    stream_timeout_s: Seconds = 300

    @model_validator(mode="after")
    def _public_needs_token(self) -> Self:
        # A token made at the first start is printed to a terminal only; behind a public address
        # nobody would have chosen it, and the console would be found before it was read.
        if self.enabled and not is_loopback(self.host) and not (self.token and self.token.get_secret_value()):
            raise ValueError(
                f"host {self.host} can be reached from other machines and no token is set; "
                "set web.token (PARLEY_WEB__TOKEN) or web.host: 127.0.0.1"
            )
        return self


def is_loopback(host: str) -> bool:
    """Whether a server bound to `host` can be reached from this machine only."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:  # a host name: what it resolves to may change
        return False


class AgentSettings(Section):
    """One named agent.

    Where there are several, people see who speaks: `name` (else its key), and `avatar`, an address of a picture or
    an `:emoji:`, where the platform shows one.
    """

    name: Annotated[str, Field(min_length=1, max_length=80, pattern=r"^[^\r\n]+$")] | None = None
    avatar: Annotated[str, Field(pattern=r"^(https://\S+|:[a-z0-9_+'-]+:)$")] | None = None
    model: str = "demo"
    instructions: str = "You are a helpful assistant. Answer briefly and say plainly what you do not know."
    tools: tuple[ToolGlob, ...] = ("*",)
    skills: tuple[str, ...] = ()


Usd = Annotated[float, Field(ge=0, le=1_000_000, allow_inf_nan=False)]


class PriceSettings(Section):
    """US dollars per million tokens; null is the price of `input`."""

    input: Usd
    output: Usd
    cached: Usd | None = None  # read from the provider's cache
    cache_write: Usd | None = None


class ModelSettings(Section):
    """One model under the name agents use; `fallback` names other entries, tried in order.

    `settings` go to the model library as they are (temperature, max_tokens, thinking, …).
    """

    provider: Annotated[str, Field(min_length=1)]
    model: str | None = None
    base_url: Annotated[str, Field(pattern=r"^https?://\S+$")] | None = None
    api_key: SecretStr | None = None
    context_window: Annotated[int, Field(ge=1_000, le=100_000_000)] | None = None
    fallback: tuple[str, ...] = ()
    settings: Mapping[str, Any] = Field(default_factory=dict)
    price: PriceSettings | None = None
    first_event_timeout_s: Seconds = 120
    timeout_s: Seconds = 600

    @model_validator(mode="after")
    def _names_a_model(self) -> Self:
        if self.provider != "demo" and not self.model:
            raise ValueError(f"provider {quoted(self.provider)} needs to know which model; set model")
        return self


class McpServerSettings(Section):
    """One MCP server in the usual form: `command` (a child on stdio) or `url` (streamable HTTP)."""

    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, SecretStr] = Field(default_factory=dict)
    cwd: str | None = None
    url: Annotated[str, Field(pattern=r"^https?://\S+$")] | None = None
    headers: Mapping[str, SecretStr] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _one_way_to_reach_it(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError("a server is reached by exactly one of command and url; set one of them")
        if self.command and self.headers:
            raise ValueError("headers are for servers with a url; use env for a command")
        if self.url and (self.args or self.env or self.cwd):
            raise ValueError("args, env and cwd are for servers with a command; use headers for a url")
        return self


class EscalationSettings(Section):
    """To which chat (`platform:chat id`) a card is sent on when nobody answered for so long; null: to none."""

    after_s: Seconds = 600
    to: ChatRef | None = None


class ApprovalSettings(Section):
    """Who decides about tool calls. deny is stronger than a grant, a grant than allow, allow than ask.

    Calls of `two_person` tools always ask, and two different people must approve each.
    """

    default: ApprovalRule = "ask"
    allow: tuple[ToolGlob, ...] = ()
    deny: tuple[ToolGlob, ...] = ()
    two_person: tuple[ToolGlob, ...] = ()
    timeout_s: Seconds = 1800
    approvers: tuple[UserRef, ...] = ()
    escalate: EscalationSettings = Field(default_factory=EscalationSettings)


class AuditSettings(Section):
    """The audit log; with a key its rows are signed, so that who can write the database cannot rewrite them."""

    key: SecretStr | None = None


class ToolSettings(Section):
    """Bounds of tools, which may run again after a crash (`read_only`, `idempotent`), which are for admins only."""

    read_only: tuple[ToolGlob, ...] = ()
    idempotent: tuple[ToolGlob, ...] = ()
    admin_only: tuple[ToolGlob, ...] = ()
    off: Mapping[str, tuple[ToolGlob, ...]] = Field(default_factory=dict)  # by platform
    timeout_s: Seconds = 300
    connect_timeout_s: Seconds = 10  # of a tool server
    answer_wait_s: Seconds = 240  # of a tool that runs and asks something
    result_limit: Count = 50_000  # characters


class TurnSettings(Section):
    """Bounds of one turn; time spent waiting for a person is not counted."""

    timeout_s: Seconds = 1800
    budget: Count = 40  # sends to the model
    attempts: Count = 3  # without progress


class ShutdownSettings(Section):
    """How long running turns may go on after SIGTERM."""

    drain_s: Annotated[float, Field(ge=0, le=3600, allow_inf_nan=False)] = 30


class ContextSettings(Section):
    """When and how a history is compressed; `compress_at` is a part of the model's window."""

    compress_at: Annotated[float, Field(gt=0, le=1)] = 0.5
    protect_first: Annotated[int, Field(ge=1, le=1000)] = 3
    protect_last: Annotated[int, Field(ge=1, le=1000)] = 20
    summary_model: str | None = None


class MemorySettings(Section):
    """Long-term memory: who keeps it, its own settings, and after how many turns (tool rounds) a review looks."""

    provider: Annotated[str, Field(min_length=1)] = "builtin"
    settings: Mapping[str, Any] = Field(default_factory=dict)
    review_every: Count = 10


class DeliverySettings(Section):
    """What happens to replies that may not have arrived, are too long or too old; marks on people's messages."""

    unknown: Literal["notice", "repeat_marked"] = "notice"
    max_pieces: Count = 10
    max_age_s: Seconds = 86_400
    inbound_max_age_s: Seconds = 3600
    reactions: bool = False


class FileSettings(Section):
    """What is read of files that people send: text files of at most `max_bytes`, of each `max_chars` characters."""

    max_bytes: Count = 1_000_000
    max_chars: Count = 50_000


class RetentionSettings(Section):
    """How many days things are kept after they were done with; what is open is kept however old it is."""

    inbox_days: Days = 14  # keys by which repeated updates are known
    events_days: Days = 30  # of ended turns; their answers stay
    outbox_days: Days = 30  # what was sent
    dead_letters_days: Days = 90  # what could not be sent, or may not have arrived
    buttons_days: Days = 30  # of settled requests
    results_days: Days = 30  # files of tool results
    told_days: Days = 90  # who was told once that the bot is private or paused, and codes nobody used
    usage_days: Days = 400  # what was used by day, turn and model


class LimitSettings(Section):
    """Per day (UTC): of each user or, in `chats`, of a chat's members together; null is unlimited."""

    messages_per_day: Annotated[int, Field(ge=0)] | None = None
    tokens_per_day: Annotated[int, Field(ge=0)] | None = None
    usd_per_day: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None


class ChatSettings(Section):
    """What is different in one chat; null takes the general setting."""

    groups: GroupMode | None = None
    queue: QueueMode | None = None
    agent: str | None = None
    limits: LimitSettings | None = None


class ResetOverrides(Section):
    """What is different in one kind of chat; null takes the general setting."""

    reset: ResetRule | None = None
    idle_s: Seconds | None = None
    daily_at: TimeOfDay | None = None
    timezone: ZoneName | None = None


class SessionOverrides(ResetOverrides):
    """What is different on one platform, and there in one kind of chat; null takes the general setting."""

    group: Scope | None = None
    thread: Scope | None = None
    kinds: Mapping[ChatKind, ResetOverrides] = Field(default_factory=dict)


class SessionSettings(Section):
    """When a session ends, and who shares one in a group or thread."""

    reset: ResetRule = "idle"
    idle_s: Seconds = 86_400
    daily_at: TimeOfDay = time(4, 0)
    timezone: ZoneName = "UTC"
    group: Scope = "user"
    thread: Scope = "shared"
    kinds: Mapping[ChatKind, ResetOverrides] = Field(default_factory=dict)
    platforms: Mapping[str, SessionOverrides] = Field(default_factory=dict)

    def on(self, platform: str) -> "SessionSettings":
        """The settings as they hold on `platform`, overrides applied; those of `kinds` are not."""
        overrides = self.platforms.get(platform)
        if overrides is None:
            return self
        return self.model_copy(update=overrides.model_dump(exclude_none=True, exclude={"kinds"}))

    def at(self, platform: str, kind: ChatKind) -> "SessionSettings":
        """The settings as they hold in one kind of chat on `platform`: what is named more exactly is stronger."""
        on_platform = self.platforms.get(platform, SessionOverrides())
        found = self
        for each in (self.kinds.get(kind), on_platform, on_platform.kinds.get(kind)):
            if each is not None:
                update = each.model_dump(exclude_none=True, exclude={"kinds"})
                found = found.model_copy(update=update)
        return found


class LogSettings(Section):
    """What is logged, on stderr. `libraries` is the level of those that would log every request."""

    level: LogLevel = "info"
    libraries: LogLevel = "warning"
    format: Literal["console", "json"] = "console"


class QueueSettings(Section):
    """Lanes and the run gate. What was accepted before a restart may exceed `lane_size`."""

    mode: QueueMode = "queue"
    lane_size: Count = 50
    gather_s: Annotated[float, Field(ge=0, le=30, allow_inf_nan=False)] = 1.0  # for the rest of a split text
    max_running_per_user: Count = 5
    max_running: Count = 200


class AccessSettings(Section):
    """Who may use the bots; a platform without entries is closed. Keys of both maps are platforms."""

    allow: Mapping[str, tuple[AccessEntry, ...]] = Field(default_factory=dict)
    admins: Mapping[str, tuple[UserId, ...]] = Field(default_factory=dict)
    pairing: bool = True
    groups: GroupMode = "mention"
    bots: bool = False
    bot_limit: Count = 20  # messages of bots in one chat within a minute, or in a row
