"""MCP over streamable HTTP, against the official SDK's own server (the protocol of 2026)."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Literal

import pytest
import uvicorn
from mcp.server.mcpserver import Context, Elicit, MCPServer, Resolve
from pydantic import BaseModel
from starlette.types import Receive, Scope, Send

from agent.questions import Question, Reply, Said, Skipped
from agent.settings import McpServer
from agent.tools.mcp import McpConnection
from agent.tools.registry import ToolCallContext, ToolResult
from tests.unit.agent.test_mcp import connection, run_of, running, until

pytestmark = pytest.mark.req("TOL-2", "TOL-3")

KEY = "Bearer its-own-key"


class Size(BaseModel):
    size: Literal["S", "M"]


def ask_size() -> Elicit[Size]:
    return Elicit("Which size?", Size)


def web_server(heard: list[str]) -> object:
    server = MCPServer("web", log_level="CRITICAL")

    @server.tool()
    def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    @server.tool()
    async def grow(ctx: Context) -> str:
        """Learn another tool."""
        server.add_tool(lambda: "I am late", name="late")
        await ctx.notify_tools_changed()
        return "grown"

    @server.tool()
    def order(size: Annotated[Size, Resolve(ask_size)]) -> str:
        """Order a shirt."""
        return f"ordered {size.size}"

    app = server.streamable_http_app()

    async def listening(scope: Scope, receive: Receive, send: Send) -> None:
        heard.extend(value.decode() for name, value in scope.get("headers", ()) if name == b"authorization")
        await app(scope, receive, send)

    return listening


@asynccontextmanager
async def served(port: int, heard: list[str]) -> AsyncIterator[None]:
    config = uvicorn.Config(web_server(heard), port=port, log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    async with asyncio.TaskGroup() as group:
        group.create_task(server.serve())
        await until(lambda: server.started)
        yield
        server.should_exit = True


@pytest.fixture
def port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def http_connection(port: int, folder: Path) -> McpConnection:
    url = f"http://127.0.0.1:{port}/mcp"
    return connection(McpServer(url=url, headers={"Authorization": KEY}), folder, name="web")


async def test_a_tool_is_called_over_http_with_the_configured_headers(port: int, tmp_path: Path):
    heard: list[str] = []
    async with served(port, heard), running(one := http_connection(port, tmp_path)):
        assert [tool.name for tool in one.tools] == ["web__add", "web__grow", "web__order"]
        assert await run_of(one, "add")(a=1, b=2) == ToolResult(text="3")
        assert (await run_of(one, "add")(a=1, b="x")).is_error
    assert set(heard) == {KEY}


async def test_changed_tools_are_heard_of_over_the_new_protocol_too(port: int, tmp_path: Path):
    async with served(port, []), running(one := http_connection(port, tmp_path)):
        assert await run_of(one, "grow")() == ToolResult(text="grown")
        await until(lambda: [tool.tool for tool in one.tools] == ["add", "grow", "order", "late"])
        assert (await run_of(one, "late")()).text == "I am late"


async def test_a_server_that_was_away_is_back_for_the_next_call(port: int, tmp_path: Path):
    one = http_connection(port, tmp_path)
    async with asyncio.TaskGroup() as group:
        group.create_task(one.run())
        async with served(port, []):
            await until(lambda: one.state.status == "ready")
            add = run_of(one, "add")
        assert (await add(a=1, b=1)).is_error
        async with served(port, []):
            assert await add(a=1, b=1) == ToolResult(text="2")
            one.stop()


async def test_an_address_nobody_listens_at_is_named_without_its_secrets(port: int, tmp_path: Path):
    async with running(one := http_connection(port, tmp_path)):
        assert one.state.status == "broken"
        assert "ConnectError" in one.state.reason
        result = await one.call("add", {}, ToolCallContext(key="k"))
        assert result == ToolResult(text="The tool server web is not available.", is_error=True)


@pytest.mark.req("TOL-6")
async def test_a_form_of_the_new_protocol_is_asked_in_the_chat_of_its_own_call(port: int, tmp_path: Path):
    asked: list[tuple[str, Question]] = []

    def asks(who: str, reply: Reply) -> ToolCallContext:
        async def ask(question: Question) -> Reply:
            asked.append((who, question))
            return reply

        return ToolCallContext(key=f"call_{who}", ask=ask)

    async with served(port, []), running(one := http_connection(port, tmp_path)):
        # Two calls at once: each form still finds its own person.
        calls = [("ann", Said(text="M")), ("bob", Said(text="S")), ("cid", Skipped())]
        results = await asyncio.gather(*(one.call("order", {}, asks(who, reply)) for who, reply in calls))
    assert [result.text for result in results[:2]] == ["ordered M", "ordered S"]
    assert results[2].is_error
    question = Question(text="Which size?\n\nSize", choices=("S", "M"), takes_text=False, server="web")
    assert sorted(asked, key=lambda each: each[0]) == [(who, question) for who, _ in calls]
