"""What the agents are made of, as plain values: the gateway reads its configuration and hands these over.

Validation of types and unknown keys happens where the configuration is read; what only the agent can know
(a model's name, a tool's name) is checked by `agent.runtime` when it starts.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agent.prices import Price


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentProfile:
    """One named agent: its persona and what it may use.

    `tools` are globs over `server/tool`, a server's name (all its tools), a toolset's or a built-in tool's name.
    `skills` are folders that hold a `SKILL.md`.
    """

    model: str = "demo"
    instructions: str = ""
    tools: tuple[str, ...] = ("*",)
    skills: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """One named model: which provider to ask, how, and who answers in its place when it fails.

    `settings` go to the model library as they are (`temperature`, `max_tokens`, `thinking`, …).
    `context_window` is in tokens. `first_event_timeout_s` bounds the wait for a stream's first event,
    `timeout_s` the whole of one request. Without a `price` nobody knows what its answers cost.
    """

    provider: str
    model: str = ""
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    context_window: int | None = None
    fallback: tuple[str, ...] = ()
    settings: Mapping[str, object] = field(default_factory=dict)
    price: Price | None = None
    first_event_timeout_s: float = 120.0
    timeout_s: float = 600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """One entry of the usual `mcpServers` map: a command to start (stdio) or an address (streamable HTTP).

    `env` comes on top of the few variables the MCP library passes on; nothing else of our environment reaches
    the child. Values of `env` and `headers` are secrets: whoever hands out the mask (`agent.ports.Mask`) has to
    know of them.
    """

    command: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    cwd: str | None = None
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRules:
    """Bounds of tool calls, and which tools may run again after a crash.

    `read_only` and `idempotent` are globs over `server/tool`; a server's own annotations never count here.
    `result_limit` is in characters, what exceeds it goes to a file. `connect_timeout_s` bounds one attempt to
    reach a tool server, `first_wait_s` how long the first turns after a start wait for servers to come up,
    `answer_wait_s` how long a tool that runs waits for a person's answer. `off` are patterns as in
    `AgentProfile.tools`, by platform: what no agent has there.
    """

    read_only: tuple[str, ...] = ()
    idempotent: tuple[str, ...] = ()
    timeout_s: float = 300.0
    result_limit: int = 50_000
    connect_timeout_s: float = 10.0
    first_wait_s: float = 5.0
    answer_wait_s: float = 240.0
    off: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRules:
    """When and how a conversation is made shorter.

    `compress_at` is a part of the model's window; a model without a known window is compressed when its provider
    refuses a request as too long. `protect_first` (system prompt included) and `protect_last` are messages.
    `summary_model` names the model that writes summaries; None: the agent's own.
    """

    compress_at: float = 0.5
    protect_first: int = 3
    protect_last: int = 20
    summary_model: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRules:
    """Who remembers (`builtin`, `none`, or a package's name), and that provider's own settings."""

    provider: str = "builtin"
    settings: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """Everything an `AgentRuntime` is built from.

    `state_dir` gets the folders `results` (what was too long for a model, files of tools) and `notes` (the
    demo server's). `demo_delay_s` is the demo model's pause between words. `demo_server` switches our own
    small
    MCP server on for agents whose model is the demo.
    """

    agents: Mapping[str, AgentProfile]
    models: Mapping[str, ModelProfile]
    state_dir: Path
    mcp_servers: Mapping[str, McpServer] = field(default_factory=dict)
    tools: ToolRules = field(default_factory=ToolRules)
    context: ContextRules = field(default_factory=ContextRules)
    memory: MemoryRules = field(default_factory=MemoryRules)
    budget: int = 40
    demo_delay_s: float = 0.02
    demo_server: bool = True
