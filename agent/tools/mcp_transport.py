"""The wire to one MCP server: its process (stdio) or its address (streamable HTTP), watched while it lasts.

The MCP library's transports, with what they lack: the end of the connection is noticed when it happens and
not by the next call, and a server's chatter (standard error, or text where only protocol belongs) is caught
instead of ending up on our terminal.
"""

import asyncio
import logging
import os
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

import httpx2
import structlog
from mcp.client._transport import ReadStream, TransportStreams
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from agent.ports import Mask
from agent.settings import McpServer

# The library writes a traceback for each line that is no protocol; `Chatter` counts them and keeps their
# gist.
logging.getLogger("mcp.client.stdio").setLevel(logging.CRITICAL)

_log = structlog.get_logger()

_KEPT_LINES = 20
_LINE_LENGTH = 300
_LOGGED_LINES = 200
_READ_SIZE = 8192


@dataclass(slots=True)
class Chatter:
    """What a server said beside its protocol, masked and bounded; the last line often says why it failed."""

    server: str
    mask: Mask = field(repr=False)
    lines: deque[str] = field(default_factory=lambda: deque(maxlen=_KEPT_LINES))
    heard: int = 0

    def hear(self, line: str) -> None:
        """Keep a line; only the first ones of a connection reach the log."""
        line = self.mask(line.strip())[:_LINE_LENGTH]
        if not line:
            return
        self.lines.append(line)
        self.heard += 1
        if self.heard <= _LOGGED_LINES:
            _log.debug("mcp.server_said", server=self.server, line=line)


@asynccontextmanager
async def open_transport(
    server: McpServer, *, chatter: Chatter, on_closed: Callable[[], None]
) -> AsyncGenerator[TransportStreams, None]:
    """Connect; calls `on_closed` when the other side goes away.

    Raises:
        OSError: The command cannot be started or the address not reached.
    """
    opening = _stdio(server, chatter) if server.url is None else _http(server)
    async with opening as (read, write):
        yield _Watched(read, chatter, on_closed), write


@asynccontextmanager
async def _stdio(server: McpServer, chatter: Chatter) -> AsyncGenerator[TransportStreams, None]:
    assert server.command is not None  # `agent.validation` has seen to it
    parameters = StdioServerParameters(
        command=server.command,
        args=list(server.args),
        env=dict(server.env),
        cwd=server.cwd,
        encoding_error_handler="replace",
    )
    read_end, write_end = os.pipe()
    with os.fdopen(read_end, "rb", buffering=0) as source, os.fdopen(write_end, "w") as sink:
        async with asyncio.TaskGroup() as group:
            pump = group.create_task(_listen(source, chatter))
            try:
                async with stdio_client(parameters, errlog=sink) as streams:
                    yield streams
            finally:
                # A grandchild may hold the pipe open for ever.
                pump.cancel()


async def _listen(source: object, chatter: Chatter) -> None:
    reader = asyncio.StreamReader()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    try:
        rest = ""
        while data := await reader.read(_READ_SIZE):
            *lines, rest = (rest + data.decode("utf-8", "replace")).split("\n")
            rest = rest[-_READ_SIZE:]
            for line in lines:
                chatter.hear(line)
    finally:
        transport.close()


@asynccontextmanager
async def _http(server: McpServer) -> AsyncGenerator[TransportStreams, None]:
    assert server.url is not None
    async with (
        httpx2.AsyncClient(headers=dict(server.headers), timeout=httpx2.Timeout(30, read=300)) as client,
        streamable_http_client(server.url, http_client=client) as streams,
    ):
        yield streams


def _first_words(error: Exception) -> str:
    """What a server wrote where protocol was expected, from the library's error about it."""
    faults = error.errors() if isinstance(error, ValidationError) else []
    return str(faults[0]["input"]) if faults else type(error).__name__


class _Watched:
    """A read stream that reports its end, and every item that is no message."""

    def __init__(
        self,
        stream: ReadStream[SessionMessage | Exception],
        chatter: Chatter,
        on_closed: Callable[[], None],
    ) -> None:
        self._stream = stream
        self._chatter = chatter
        self._on_closed = on_closed

    @property
    def last_context(self) -> object:
        """The sender's context of the last message, where the transport keeps it."""
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        """The next item."""
        return await self.__anext__()

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            item = await self._stream.__anext__()
        except StopAsyncIteration:
            self._on_closed()
            raise
        if isinstance(item, Exception):
            self._chatter.hear(f"not protocol: {_first_words(item)}")
        return item

    async def __aenter__(self) -> Self:
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> bool | None:
        return await self._stream.__aexit__(exc_type, exc_val, exc_tb)
