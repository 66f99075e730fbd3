"""What the configuration may say about agents, checked once at start (pure): every name leads somewhere."""

from collections.abc import Collection
from difflib import get_close_matches

from agent.errors import SettingsError
from agent.memory.loading import check_provider
from agent.providers.table import KEYED, MODULES
from agent.settings import AgentSettings
from agent.tools.builtin import BUILTIN_NAMES
from agent.tools.registry import BUILTIN_SERVER, TOOLSETS

DEMO_SERVER = "demo"
"""The name our own tool server has when the runtime switches it on."""

_WILD = frozenset("*?[")


def check_settings(settings: AgentSettings) -> None:
    """Refuse settings that name what does not exist.

    Raises:
        SettingsError: Names the key, the wrong name and the nearest right one.
    """
    if not settings.agents:
        raise SettingsError("agents: at least one agent is needed")
    for name, model in settings.models.items():
        _known(f"models.{name}.provider", model.provider, MODULES)
        for other in model.fallback:
            _known(f"models.{name}.fallback", other, settings.models)
        if model.provider in KEYED and model.api_key is None and model.base_url is None:
            raise SettingsError(f"models.{name}.api_key: {model.provider} needs a key")
        if model.provider != "demo" and not model.model:
            raise SettingsError(f"models.{name}.model: say which of {model.provider}'s models")
    if settings.context.summary_model is not None:
        _known("context.summary_model", settings.context.summary_model, settings.models)
    for name, server in settings.mcp_servers.items():
        if (server.command is None) == (server.url is None):
            raise SettingsError(f"mcpServers.{name}: give either a command or a url")
    check_provider(settings.memory.provider)
    _check_agents(settings)


def _check_agents(settings: AgentSettings) -> None:
    """Every agent's model and tools, and the tools that are off somewhere."""
    for name, agent in settings.agents.items():
        _known(f"agents.{name}.model", agent.model, settings.models)
        for pattern in agent.tools:
            _check_tool_pattern(f"agents.{name}.tools", pattern, settings.mcp_servers)
    for platform, patterns in settings.tools.off.items():
        for pattern in patterns:
            _check_tool_pattern(f"tools.off.{platform}", pattern, settings.mcp_servers)


def _check_tool_pattern(key: str, pattern: str, servers: Collection[str]) -> None:
    """A pattern's server (or built-in tool) has to exist; a server's own tools are known only later."""
    server, slash, tool = pattern.partition("/")
    if _WILD & set(server):
        return
    if not slash:
        _known(key, server, [*BUILTIN_NAMES, *TOOLSETS, *servers, BUILTIN_SERVER, DEMO_SERVER])
    elif server == BUILTIN_SERVER and not _WILD & set(tool):
        _known(key, tool, BUILTIN_NAMES)
    else:
        _known(key, server, [*servers, BUILTIN_SERVER, DEMO_SERVER])


def _known(key: str, name: str, names: Collection[str]) -> None:
    if name in names:
        return
    near = get_close_matches(name, list(names), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"known: {', '.join(sorted(names)) or 'none'}"
    raise SettingsError(f"{key}: there is no {name!r}; {hint}")
