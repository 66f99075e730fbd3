"""One MCP server: connected, watched, reconnected, called.

`McpConnection.run` is the server's one owner task: it enters and leaves the client in the same task, as the
library demands. Calls come from any task. Nothing a server does (missing program, silence, noise, death)
reaches beyond its own connection.
"""

import asyncio
import random
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import structlog

from agent.ports import Mask
from agent.settings import McpServer
from agent.tools.mcp_forms import Forms
from agent.tools.names import model_name
from agent.tools.registry import Effect, Tool, ToolCallContext, ToolResult
from agent.tools.results import ResultFolder

if TYPE_CHECKING:
    import mcp_types
    from mcp.client.client import Client

    from agent.tools.mcp_transport import Chatter

_log = structlog.get_logger()

_FIRST_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 60.0
_STABLE_AFTER_S = 10.0
_GIVEN_UP_AFTER = 3
_PAGES = 50
_REASON_LENGTH = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class McpState:
    """How a server is doing, for `/status` and `doctor`; `reason` is masked and empty while all is well."""

    name: str
    status: Literal["connecting", "ready", "broken"]
    reason: str = ""
    tools: int = 0


class McpConnection:
    """A server of the `mcpServers` map.

    Args:
        name: Its name there.
        server: How to reach it.
        effect_of: `(server, tool)` → what a second run of the tool would do, from configuration alone.
        results: Where files go.
        connect_timeout_s: Bound of start, handshake and tool list together.
    """

    def __init__(
        self,
        name: str,
        server: McpServer,
        *,
        effect_of: Callable[[str, str], Effect],
        results: ResultFolder,
        mask: Mask,
        connect_timeout_s: float,
    ) -> None:
        self.name = name
        self._server = server
        self._effect_of = effect_of
        self._results = results
        self._connect_timeout_s = connect_timeout_s
        self._mask = mask
        self._forms = Forms(name)
        self._client: Client | None = None
        self._failures = 0
        self._is_legacy = False
        self._state = McpState(name=name, status="connecting")
        self._changed = asyncio.Event()
        self._needed = asyncio.Event()
        self._owner: asyncio.Task[object] | None = None
        self._settled = asyncio.Event()
        self._stopping = asyncio.Event()
        self._is_lost = False
        self._is_stale = False
        self.tools: tuple[Tool, ...] = ()

    @property
    def state(self) -> McpState:
        """How it is doing now."""
        return self._state

    async def run(self) -> None:
        """Keep the connection until `stop`; never raises for anything the server does."""
        loop = asyncio.get_running_loop()
        self._owner = asyncio.current_task()
        while not self._stopping.is_set():
            started_at = loop.time()
            reason = await self._live()
            if self._stopping.is_set():
                break
            if self._state.status == "ready" and loop.time() - started_at > _STABLE_AFTER_S:
                self._state = McpState(name=self.name, status="connecting", reason=reason)
                continue
            self._failures += 1
            self._broke(reason)
            pause_s = min(_LONGEST_PAUSE_S, _FIRST_PAUSE_S * 2 ** (self._failures - 1))
            await self._nudged(pause_s * random.uniform(0.8, 1.2))  # noqa: S311 - spreads load only

    def stop(self) -> None:
        """Let `run` end: the connection is closed, the child and its group are gone when it returns."""
        self._stopping.set()
        self._changed.set()
        if self._client is None and self._owner is not None:
            self._owner.cancel()  # in the middle of connecting or waiting: nothing there is worth the time

    async def settled(self) -> None:
        """Wait until the first attempt to connect has ended, well or not."""
        await self._settled.wait()

    async def call(self, tool: str, args: Mapping[str, object], context: ToolCallContext) -> ToolResult:
        """Call a tool; cancelling reaches the server. What goes wrong is a result, not an exception."""
        from mcp.shared.exceptions import MCPError
        from mcp_types import CONNECTION_CLOSED

        from agent.tools.mcp_results import to_tool_result

        client = await self._usable()
        if client is None:
            return ToolResult(text=f"The tool server {self.name} is not available.", is_error=True)
        try:
            async with self._forms.during(context.ask):
                result = await client.call_tool(tool, dict(args))
        except MCPError as error:
            if error.code != CONNECTION_CLOSED:
                return ToolResult(text=f"The tool server refused the call: {error}", is_error=True)
            self._lose()
            text = f"The tool server {self.name} went away during the call; its outcome is unknown."
            return ToolResult(text=text, is_error=True, lost=True)
        except (
            RuntimeError,
            ValueError,
        ) as error:  # a result that breaks the protocol or the tool's own schema
            return ToolResult(text=f"The tool server gave an invalid result: {error}", is_error=True)
        return await asyncio.to_thread(to_tool_result, result, folder=self._results, key=context.key)

    async def _usable(self) -> "Client | None":
        """The client, connecting anew if need be, for at most the connect timeout."""
        if self._failures >= _GIVEN_UP_AFTER:
            # The breaker: a server that keeps failing is tried at its own pace, not with every call.
            return self._client
        if self._client is None:
            self._settled.clear()
            self._needed.set()
            try:
                async with asyncio.timeout(self._connect_timeout_s):
                    await self._settled.wait()
            except TimeoutError:
                return None
        return self._client

    async def _live(self) -> str:
        """One connection from start to end; returns why it ended."""
        from agent.tools.mcp_transport import Chatter

        chatter = Chatter(self.name, self._mask)
        self._is_lost = self._is_stale = False
        self._changed.clear()
        self._needed.clear()
        self._forms.connected_anew()
        try:
            async with AsyncExitStack() as stack:
                try:
                    async with asyncio.timeout(self._connect_timeout_s):
                        client = await stack.enter_async_context(self._open(chatter))
                        tools = await self._list(client)
                except TimeoutError:
                    # A server of the old protocol may ignore the new one's first question for good.
                    self._is_legacy = not self._is_legacy
                    raise
                self._became_ready(client, tools)
                await self._serve(client)
        except TimeoutError:
            return f"no answer within {self._connect_timeout_s:g} s"
        except Exception as error:  # noqa: BLE001 - whatever a foreign server causes ends here
            return self._reason(error, chatter)
        finally:
            self._client = None
        return self._reason(None, chatter)

    def _open(self, chatter: "Chatter") -> "Client":
        from mcp.client.client import Client
        from mcp_types import Implementation

        from agent.tools.mcp_transport import open_transport

        return Client(
            open_transport(self._server, chatter=chatter, on_closed=self._lose),
            mode="legacy" if self._is_legacy else "auto",
            client_info=Implementation(name="parley", version="1"),
            message_handler=self._on_message,
            elicitation_callback=self._forms.answer,
            cache=None,
        )

    async def _serve(self, client: "Client") -> None:
        async with asyncio.TaskGroup() as group:
            listener = group.create_task(self._listen(client))
            while True:
                await self._changed.wait()
                self._changed.clear()
                if self._stopping.is_set() or self._is_lost:
                    break
                if self._is_stale:
                    self._is_stale = False
                    async with asyncio.timeout(self._connect_timeout_s):
                        self._became_ready(client, await self._list(client))
            listener.cancel()

    async def _listen(self, client: "Client") -> None:
        """Hear of changed tools from a server of the new protocol; one of the old tells `_on_message`."""
        from mcp.client.subscriptions import ListenNotSupportedError, SubscriptionLost
        from mcp.shared.exceptions import MCPError

        try:
            async with client.listen(tools_list_changed=True) as changes:
                self._list_again()  # what changed before the server listened to us is not repeated
                async for _ in changes:
                    self._list_again()
        except (ListenNotSupportedError, SubscriptionLost, MCPError, TimeoutError) as error:
            _log.debug("mcp.not_listening", server=self.name, reason=self._mask(str(error)))

    async def _list(self, client: "Client") -> tuple[Tool, ...]:
        listed: list[mcp_types.Tool] = []
        cursor: str | None = None
        for _ in range(_PAGES):
            page = await client.list_tools(cursor=cursor)
            listed.extend(page.tools)
            cursor = page.next_cursor
            if cursor is None:
                break
        tools: dict[str, Tool] = {}
        for item in listed:
            tool = self._to_tool(item)
            if tools.setdefault(tool.name, tool) is not tool:
                _log.warning("mcp.tool_left_out", server=self.name, tool=item.name, reason="listed twice")
        return tuple(tools.values())

    def _to_tool(self, item: "mcp_types.Tool") -> Tool:
        async def run(args: Mapping[str, object], context: ToolCallContext) -> ToolResult:
            return await self.call(item.name, args, context)

        return Tool(
            name=model_name(self.name, item.name),
            server=self.name,
            tool=item.name,
            description=item.description or "",
            parameters={"properties": {}, **item.input_schema, "type": "object"},
            run=run,
            default_policy="ask",
            effect=self._effect_of(self.name, item.name),
        )

    async def _on_message(self, message: object) -> None:
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._list_again()

    def _list_again(self) -> None:
        self._is_stale = True
        self._changed.set()

    def _became_ready(self, client: "Client", tools: tuple[Tool, ...]) -> None:
        self._client, self._failures = client, 0
        is_news = self._state.status != "ready" or tools != self.tools
        if tools != self.tools:  # an equal list keeps its identity, and with it the snapshots made from it
            self.tools = tools
        self._state = McpState(name=self.name, status="ready", tools=len(tools))
        self._settled.set()
        if is_news:
            _log.info("mcp.ready", server=self.name, tools=len(tools))

    def _broke(self, reason: str) -> None:
        if self._failures >= _GIVEN_UP_AFTER:
            # Kept until then: a server that restarts should not change the catalogue twice.
            self.tools = ()
        is_news = reason != self._state.reason
        self._state = McpState(name=self.name, status="broken", reason=reason, tools=len(self.tools))
        if not self._needed.is_set() or self._failures >= _GIVEN_UP_AFTER:
            self._settled.set()  # else a call waits, and the attempt it asked for is still to come
        log = _log.warning if is_news else _log.debug
        log("mcp.broken", server=self.name, reason=reason, failures=self._failures)

    def _lose(self) -> None:
        self._is_lost = True
        self._client = None
        self._changed.set()

    async def _nudged(self, pause_s: float) -> None:
        """Wait for the pause's end, or for a call that needs the server now."""
        try:
            async with asyncio.timeout(pause_s):
                await self._needed.wait()
        except TimeoutError:
            return

    def _reason(self, error: BaseException | None, chatter: "Chatter") -> str:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        match error:
            case None:
                text = "the connection was closed"
            case FileNotFoundError():
                text = f"the program {self._server.command!r} was not found"
            case _:
                text = f"{type(error).__name__}: {error}"
        if chatter.lines:
            text += f"; it last said: {chatter.lines[-1]}"
        return self._mask(text)[:_REASON_LENGTH]
