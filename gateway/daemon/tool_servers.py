"""How the tool servers are: said in the gateway's words, and asked without a daemon."""

from dataclasses import replace

from agent.errors import SettingsError
from agent.memory.lifecycle import MemoryState
from agent.memory.loading import check_provider, load_memory
from agent.runtime import AgentRuntime
from agent.tools.mcp import McpState
from gateway.api import PartHealth
from gateway.config import Config
from gateway.daemon.facts import NoFacts
from gateway.daemon.settings import agent_settings, refused_settings
from gateway.redaction import Redactor


def tool_health(state: McpState) -> PartHealth:
    """A tool server's state as `status` and `doctor` show it."""
    if state.status == "connecting":
        return PartHealth(name=state.name, trouble="connecting")
    return PartHealth(name=state.name, trouble=state.reason, detail=f"{state.tools} ready")


def memory_health(state: MemoryState) -> PartHealth:
    """A memory provider's state as `status` and `doctor` show it."""
    trouble = state.trouble or ("" if state.status in {"added", "ready"} else state.status)
    return PartHealth(name=state.name, trouble=trouble, detail=state.status)


def look_at_memory(config: Config) -> tuple[PartHealth, ...]:
    """The configured memory provider, made once and asked whether it could be used.

    Raises:
        ConfigError: there is none of that name.
    """
    settings = agent_settings(config, demo_delay_s=0)
    try:
        check_provider(settings.memory.provider)
    except SettingsError as error:
        raise refused_settings(error) from None
    memory = load_memory(
        settings.memory.provider, settings.memory.settings, NoFacts(), mask=Redactor(config.secrets()).text
    )
    return tuple(memory_health(state) for state in memory.states)


async def look_at_tool_servers(config: Config) -> tuple[PartHealth, ...]:
    """Each configured server, started or reached once and left again.

    Raises:
        ConfigError: the agents' settings name what does not exist.
    """
    settings = replace(agent_settings(config, demo_delay_s=0), demo_server=False)
    try:
        runtime = AgentRuntime(settings, mask=Redactor(config.secrets()).text)
    except SettingsError as error:
        raise refused_settings(error) from None
    return tuple(tool_health(state) for state in await runtime.look_at_servers())
