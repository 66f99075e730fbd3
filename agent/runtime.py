"""The running agent side of the daemon: providers, tool servers, and the snapshots turns are made with.

One `AgentRuntime` lives as long as the daemon. `run` owns every long-lived task; a broken or slow tool
server never keeps it from starting, and the slow imports happen in a thread.
"""

import asyncio
import gc
import hashlib
import sys
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from importlib import import_module

from agent.cooldown import Cooldown
from agent.memory.loading import load_memory
from agent.memory.provider import FactStore
from agent.ports import Mask
from agent.prompt import stable_head
from agent.providers import table
from agent.settings import AgentProfile, AgentSettings, McpServer
from agent.snapshot import Route, Snapshot
from agent.tasks import task_tools
from agent.tools.builtin import builtin_tools
from agent.tools.mcp import McpConnection, McpState
from agent.tools.registry import Catalogue, Effect, Tool, matches
from agent.tools.results import ResultFolder
from agent.tools.skills import find_skills, skill_tools, skills_block
from agent.tools.workspace import workspace_tools
from agent.validation import DEMO_SERVER, check_settings

WORKSPACES = "workspaces"
"""The folder in the state directory that holds a folder for each person."""


class AgentRuntime:
    """Agents, ready to chat.

    Args:
        settings: What to build from.
        facts: Where the built-in memory keeps what it knows; None: nothing is remembered.
        mask: Takes secrets out of what is logged and shown.

    Raises:
        SettingsError: The settings name a model, provider, tool or skill that does not exist.
    """

    def __init__(self, settings: AgentSettings, *, mask: Mask, facts: FactStore | None = None) -> None:
        check_settings(settings)
        self.memory = load_memory(settings.memory.provider, settings.memory.settings, facts, mask=mask)
        self._settings = settings
        self._mask = mask
        self._results = ResultFolder(settings.state_dir / "results")
        self._builtin = builtin_tools()
        self._files = workspace_tools(settings.state_dir / WORKSPACES)
        self._skills = {name: find_skills(name, agent.skills) for name, agent in settings.agents.items()}
        self._routes: dict[str, Route] = {}
        self._snapshots: dict[tuple[str, str], tuple[list[tuple[Tool, ...]], Snapshot]] = {}
        self._connections = tuple(
            McpConnection(
                name,
                server,
                effect_of=self._effect_of,
                results=self._results,
                mask=mask,
                connect_timeout_s=settings.tools.connect_timeout_s,
            )
            for name, server in self._servers().items()
        )
        self._is_warm = asyncio.Event()
        self._are_settled = asyncio.Event()
        self._stopping = asyncio.Event()

    async def run(self) -> None:
        """Live until `aclose` is called or the task is cancelled; then no child process is left.

        Raises:
            SettingsError: A configured provider's package is not installed.
        """
        async with AsyncExitStack() as stack:
            await asyncio.to_thread(_import_for_good, self._import_models)
            for name, profile in self._settings.models.items():
                provider = table.open_provider(profile, demo_delay_s=self._settings.demo_delay_s, stack=stack)
                self._routes[name] = Route(
                    name=name,
                    provider=provider,
                    settings=profile.settings,
                    price=profile.price,
                    cooldown=Cooldown(),
                    context_window=profile.context_window,
                )
            self._is_warm.set()
            await self._run_servers()

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

    async def snapshot(self, agent: str, platform: str = "") -> Snapshot:
        """The agent as it is now, frozen for one turn on a platform.

        Waits for the model library to be loaded and, right after a start, a bounded while for tool servers.

        Raises:
            KeyError: No agent has that name.
        """
        profile = self._settings.agents[agent]
        await self._is_warm.wait()
        await self._are_settled.wait()
        listed = [connection.tools for connection in self._connections]
        kept = self._snapshots.get((agent, platform))
        if kept is not None and all(old is new for old, new in zip(kept[0], listed, strict=True)):
            return kept[1]
        made = self._make_snapshot(agent, profile, platform)
        self._snapshots[agent, platform] = (listed, made)
        return made

    def _make_snapshot(self, agent: str, profile: AgentProfile, platform: str) -> Snapshot:
        settings = self._settings
        skills = self._skills[agent]
        head = stable_head(agent, profile.instructions, [skills_block(skills)])
        catalogue = Catalogue(self._tools_of(agent, platform))
        names = (profile.model, *settings.models[profile.model].fallback)
        fingerprint = hashlib.sha256("\n".join([head, *names, catalogue.fingerprint]).encode()).hexdigest()
        return Snapshot(
            agent=agent,
            head=head,
            routes=tuple(self._routes[name] for name in names),
            tools=catalogue,
            results=self._results,
            memory=self.memory,
            mask=self._mask,
            budget=settings.budget,
            tool_timeout_s=settings.tools.timeout_s,
            result_limit=settings.tools.result_limit,
            answer_wait_s=settings.tools.answer_wait_s,
            context=settings.context,
            summary_routes=self._summary_routes(names),
            fingerprint=fingerprint[:16],
        )

    def _summary_routes(self, names: tuple[str, ...]) -> tuple[Route, ...]:
        """The model that shall write summaries, then the agent's own."""
        own = self._settings.context.summary_model
        return tuple(self._routes[name] for name in dict.fromkeys((*([own] if own else []), *names)))

    def status(self) -> tuple[McpState, ...]:
        """How each tool server is doing, in the configuration's order."""
        return tuple(connection.state for connection in self._connections)

    async def look_at_servers(self) -> tuple[McpState, ...]:
        """Connect to each tool server once, side by side, and leave again; in place of `run`.

        Returns when each has answered or failed, or its connect timeout is over. No model library is imported.
        """
        async with asyncio.TaskGroup() as group:
            group.create_task(self._run_servers())
            for connection in self._connections:
                await connection.settled()
            found = self.status()
            self._stopping.set()
        return found

    async def _run_servers(self) -> None:
        async with asyncio.TaskGroup() as group:
            if self._connections:
                await asyncio.to_thread(_import_for_good, _import_mcp)
            for connection in self._connections:
                group.create_task(connection.run())
            settling = group.create_task(self._settle())
            remembering = group.create_task(self.memory.run())
            await self._stopping.wait()
            settling.cancel()
            remembering.cancel()
            for connection in self._connections:
                connection.stop()

    async def _settle(self) -> None:
        try:
            async with asyncio.timeout(self._settings.tools.first_wait_s):
                for connection in self._connections:
                    await connection.settled()
        except TimeoutError:
            pass  # who is not there yet joins a later snapshot
        finally:
            self._are_settled.set()

    def _servers(self) -> Mapping[str, McpServer]:
        servers = dict(self._settings.mcp_servers)
        if self._settings.demo_server and any(map(self._is_demo, self._settings.agents)):
            arguments = ("-m", "agent.tools.demo_server", str(self._settings.state_dir / "notes"))
            servers.setdefault(DEMO_SERVER, McpServer(command=sys.executable, args=arguments))
        return servers

    def _is_demo(self, agent: str) -> bool:
        return self._settings.models[self._settings.agents[agent].model].provider == "demo"

    def _tools_of(self, agent: str, platform: str) -> tuple[Tool, ...]:
        patterns = self._settings.agents[agent].tools
        off = self._settings.tools.off.get(platform, ())
        of_servers = (
            tool
            for connection in self._connections
            if connection.name in self._settings.mcp_servers or self._is_demo(agent)
            for tool in connection.tools
        )
        chosen = [
            t
            for t in (*self._builtin, *self._files, *self.memory.tools, *of_servers)
            if matches(patterns, t.server, t.tool) and not matches(off, t.server, t.tool)
        ]
        personas = {name: profile.instructions for name, profile in self._settings.agents.items()}
        return (*chosen, *skill_tools(self._skills[agent]), *task_tools(agent, personas))

    def _effect_of(self, server: str, tool: str) -> Effect:
        rules = self._settings.tools
        if matches(rules.read_only, server, tool):
            return "read"
        return "idempotent" if matches(rules.idempotent, server, tool) else "external"

    def _import_models(self) -> None:
        import_module("agent.context.compress")
        table.load(profile.provider for profile in self._settings.models.values())


def _import_mcp() -> None:
    import_module("agent.tools.mcp_transport")
    import_module("agent.tools.mcp_results")


def _import_for_good(load: Callable[[], None]) -> None:
    """Import without the garbage collector, then keep what was imported out of its sight.

    The libraries are half a million objects that live for ever. Measured: imports take a seventh less time, and a
    full collection, 200 ms with all chats standing still, has nothing left to look at.
    """
    gc.disable()
    try:
        load()
    finally:
        gc.enable()
    gc.freeze()
