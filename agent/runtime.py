"""The running agent side of the daemon: providers, tool servers, and the snapshots turns are made with.

One `AgentRuntime` lives as long as the daemon. `run` owns every long-lived task; a broken or slow tool server
or library import never keeps it from starting.
"""

import asyncio
import hashlib
from contextlib import AsyncExitStack
from importlib import import_module

from agent.cooldown import Cooldown
from agent.prompt import stable_head
from agent.providers import table
from agent.settings import AgentSettings
from agent.snapshot import Route, Snapshot
from agent.tasks import task_tools
from agent.tools.builtin import builtin_tools
from agent.tools.registry import Catalogue, Tool, matches
from agent.tools.results import ResultFolder
from agent.validation import check_settings


class AgentRuntime:
    """Agents, ready to chat.

    Args:
        settings: What to build from.

    Raises:
        SettingsError: The settings name a model, provider or tool that does not exist.
    """

    def __init__(self, settings: AgentSettings) -> None:
        check_settings(settings)
        self._settings = settings
        self._results = ResultFolder(settings.state_dir / "results")
        self._builtin = builtin_tools()
        self._routes: dict[str, Route] = {}
        self._is_warm = asyncio.Event()
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Live until `aclose` is called or the task is cancelled.

        Raises:
            SettingsError: A configured provider's package is not installed.
        """
        async with AsyncExitStack() as stack:
            await asyncio.to_thread(self._import)
            for name, profile in self._settings.models.items():
                provider = table.open_provider(profile, demo_delay_s=self._settings.demo_delay_s, stack=stack)
                self._routes[name] = Route(
                    name=name, provider=provider, settings=profile.settings, cooldown=Cooldown()
                )
            self._is_warm.set()
            await self._stopping.wait()

    async def aclose(self) -> None:
        """Let `run` come to its end."""
        self._stopping.set()

    async def ready(self, timeout_s: float) -> bool:
        """Wait until chats can start, at most so long; whether they can."""
        try:
            async with asyncio.timeout(timeout_s):
                await self._is_warm.wait()
        except TimeoutError:
            return False
        return True

    async def snapshot(self, agent: str) -> Snapshot:
        """The agent as it is now, frozen for one turn.

        Raises:
            KeyError: No agent has that name.
        """
        await self._is_warm.wait()
        settings, profile = self._settings, self._settings.agents[agent]
        head = stable_head(agent, profile.instructions)
        catalogue = Catalogue(self._tools_of(agent))
        names = (profile.model, *settings.models[profile.model].fallback)
        fingerprint = hashlib.sha256("\n".join([head, *names, catalogue.fingerprint]).encode()).hexdigest()
        return Snapshot(
            agent=agent,
            head=head,
            routes=tuple(self._routes[name] for name in names),
            tools=catalogue,
            results=self._results,
            budget=settings.budget,
            tool_timeout_s=settings.tools.timeout_s,
            result_limit=settings.tools.result_limit,
            fingerprint=fingerprint[:16],
        )

    def _tools_of(self, agent: str) -> tuple[Tool, ...]:
        patterns = self._settings.agents[agent].tools
        chosen = [tool for tool in self._builtin if matches(patterns, tool.server, tool.tool)]
        return (*chosen, *task_tools(agent, tuple(self._settings.agents)))

    def _import(self) -> None:
        import_module("agent.history")
        table.load(profile.provider for profile in self._settings.models.values())
