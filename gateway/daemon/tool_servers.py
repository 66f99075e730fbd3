"""How the tool servers are: said in the gateway's words, and asked without a daemon."""

from dataclasses import replace

from agent.errors import SettingsError
from agent.runtime import AgentRuntime
from agent.tools.mcp import McpState
from gateway.api import PartHealth
from gateway.config import Config
from gateway.daemon.settings import agent_settings, refused_settings


def tool_health(state: McpState) -> PartHealth:
    """A tool server's state as `status` and `doctor` show it."""
    if state.status == "connecting":
        return PartHealth(name=state.name, trouble="connecting")
    return PartHealth(name=state.name, trouble=state.reason, detail=f"{state.tools} ready")


async def look_at_tool_servers(config: Config) -> tuple[PartHealth, ...]:
    """Each configured server, started or reached once and left again.

    Raises:
        ConfigError: the agents' settings name what does not exist.
    """
    settings = replace(agent_settings(config, demo_delay_s=0), demo_server=False)
    try:
        runtime = AgentRuntime(settings)
    except SettingsError as error:
        raise refused_settings(error) from None
    return tuple(tool_health(state) for state in await runtime.look_at_servers())
