"""Socket Mode: one web socket at a time, a successor before the old one closes.

Rules: https://docs.slack.dev/apis/events-api/using-socket-mode (2026). slack_sdk's own client keeps its
connection by itself, for ever and silently: it repeats a used-up ticket without end and closes the old socket
before it opens the new one. Here the supervisor is to know, so only its request and response types are used.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

import aiohttp
import structlog
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.errors import CLIENT_ERRORS
from gateway.errors import AccessRefused, ConnectionLost

UNANSWERED = 500
"""Envelopes being read and stored at once; more wait in the socket, and Slack repeats what takes too long."""

LEAVING_S = 30.0
"""How long an old socket is read after its successor stands; Slack closes it after some ten seconds."""

Take = Callable[[SocketModeRequest], Awaitable[bool]]
"""Handles one envelope; whether it may be acknowledged."""

_log = structlog.get_logger(__name__)


class SocketMode:
    """The connection of one app."""

    def __init__(
        self,
        client: AsyncWebClient,
        session: aiohttp.ClientSession,
        take: Take,
        *,
        app_token: str,
        connect_timeout_s: float,
        ping_interval_s: float,
    ) -> None:
        self._client, self._session, self._take = client, session, take
        self._app_token = app_token
        self._connect_timeout_s, self._ping_interval_s = connect_timeout_s, ping_interval_s
        self._room = asyncio.Semaphore(UNANSWERED)

    async def run(self, tasks: asyncio.TaskGroup, online: Callable[[], None]) -> None:
        """Serve until the connection is lost; `tasks` has a task for each envelope under way.

        Raises:
            ConnectionLost: the socket closed, or its successor could not be opened.
            AccessRefused: Socket Mode was switched off for this app.
        """
        socket = await self._open()
        online()
        try:
            while True:
                reason = await self._serve(socket, tasks)
                if reason == "link_disabled":
                    raise AccessRefused(
                        "Socket Mode is switched off: switch it on in the settings of the Slack app"
                    )
                if reason is None:
                    raise ConnectionLost("Slack closed the socket")
                _log.info("slack.socket_renewed", reason=reason)
                successor = await self._open()
                tasks.create_task(self._drain(socket, tasks))
                socket = successor
        finally:
            await socket.close()

    async def _open(self) -> aiohttp.ClientWebSocketResponse:
        """A socket that has said hello."""
        opened = await self._client.apps_connections_open(app_token=self._app_token)
        try:
            async with asyncio.timeout(self._connect_timeout_s):
                socket = await self._session.ws_connect(
                    opened["url"], heartbeat=self._ping_interval_s, proxy=self._client.proxy, max_msg_size=0
                )
                frame = await socket.receive_json()
        except (*CLIENT_ERRORS, TypeError, ValueError) as error:
            # Not chained: the address within holds the ticket.
            failure = ConnectionLost(f"cannot open a socket to Slack: {type(error).__name__}")
        else:
            if frame.get("type") == "hello":
                return socket
            await socket.close()
            failure = ConnectionLost(
                f"Slack greets with {frame.get('type')} {frame.get('reason', '')}".rstrip()
            )
        raise failure

    async def _serve(self, socket: aiohttp.ClientWebSocketResponse, tasks: asyncio.TaskGroup) -> str | None:
        """Handle envelopes until Slack announces the socket's end: the reason, None if it just closed."""
        async for frame in _frames(socket):
            if frame.get("type") == "disconnect":
                return str(frame.get("reason") or "warning")
            request = SocketModeRequest.from_dict(frame)
            if request is not None:
                await self._room.acquire()
                tasks.create_task(self._answer(socket, request))
        return None

    async def _drain(self, socket: aiohttp.ClientWebSocketResponse, tasks: asyncio.TaskGroup) -> None:
        """Read what an old socket still brings."""
        try:
            async with asyncio.timeout(LEAVING_S):
                while await self._serve(socket, tasks) is not None:
                    pass
        except TimeoutError:
            _log.debug("slack.old_socket_kept_open")
        finally:
            await socket.close()

    async def _answer(self, socket: aiohttp.ClientWebSocketResponse, request: SocketModeRequest) -> None:
        """Acknowledge an envelope once it is stored; on a socket that is gone it will come again."""
        try:
            if await self._take(request):
                with suppress(ConnectionError):
                    await socket.send_json(SocketModeResponse(envelope_id=request.envelope_id).to_dict())
        finally:
            self._room.release()


async def _frames(socket: aiohttp.ClientWebSocketResponse) -> AsyncIterator[dict[str, Any]]:
    """The socket's JSON frames until it closes or breaks (a missing pong among the reasons)."""
    async for message in socket:
        if message.type is aiohttp.WSMsgType.ERROR:
            return
        if message.type is aiohttp.WSMsgType.TEXT and message.data.startswith("{"):
            yield json.loads(message.data)
