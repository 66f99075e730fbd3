"""Socket Mode: the web sockets of apps, their frames and acknowledgements.

Rules: https://docs.slack.dev/apis/events-api/using-socket-mode (2026). A ticket opens one socket; an app may
have ten; what Slack wants to close it announces with a `disconnect` frame.
"""

import asyncio
import json
from contextlib import suppress
from typing import Any, Literal

from aiohttp import WSMsgType, web

from .deliveries import Delivery
from .world import Account, World

SOCKET_LIMIT = 10
Reason = Literal["warning", "refresh_requested", "link_disabled", "too_many_websockets"]


class Socket:
    """One open socket of an app; frames leave in order."""

    def __init__(
        self, account: Account, response: web.WebSocketResponse, transport: asyncio.Transport | None
    ) -> None:
        self.account, self._response, self._transport = account, response, transport
        self.is_leaving = False
        self._frames: asyncio.Queue[dict[str, Any] | None] = asyncio.Queue()  # None: close
        self.unanswered: dict[str, Delivery] = {}

    def carry(self, delivery: Delivery) -> None:
        """Send an envelope."""
        self.unanswered[delivery.envelope_id] = delivery
        self.send(delivery.frame())

    def send(self, frame: dict[str, Any]) -> None:
        """Send any frame."""
        self._frames.put_nowait(frame)

    async def write(self) -> None:
        """Send what is queued, until it is closed."""
        while (frame := await self._frames.get()) is not None:
            await self._response.send_str(json.dumps(frame))
        await self._response.close()

    def abort(self) -> None:
        """Cut the connection without a closing frame."""
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """Close as the platform does, once everything queued has left."""
        self._frames.put_nowait(None)


class Sockets:
    """All open sockets."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.open: list[Socket] = []
        self.opened = 0
        self.answers_pings = True  # False: sockets opened from now on are alive, but say nothing

    def routes(self) -> list[web.RouteDef]:
        """Where a ticket's address leads."""
        return [web.get("/link/", self.connect)]

    def of(self, account: Account) -> list[Socket]:
        """The sockets of one app, oldest first."""
        return [socket for socket in self.open if socket.account is account]

    async def connect(self, request: web.Request) -> web.StreamResponse:
        """Serve one socket until it closes."""
        account = self._account(request.query.get("ticket", ""))
        if account is None:
            return web.Response(status=408)  # so the platform answers an old ticket
        response = web.WebSocketResponse(autoping=self.answers_pings)
        await response.prepare(request)
        socket = Socket(account, response, request.transport)
        self.open.append(socket)
        self.opened += 1
        if len(self.of(account)) > SOCKET_LIMIT:
            socket.send({"type": "disconnect", "reason": "too_many_websockets"})
        socket.send(self._hello(account))
        account.deliveries.joined(socket)
        self._world.changes.notify()
        writer = asyncio.create_task(socket.write())
        try:
            async for message in response:
                if message.type is WSMsgType.TEXT:
                    self._take(socket, message.data)
        finally:
            writer.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await writer
            self.open.remove(socket)
            account.deliveries.left(socket, list(socket.unanswered.values()))
            self._world.changes.notify()
        return response

    def disconnect(self, account: Account, reason: Reason) -> None:
        """Announce on every socket of an app that it will be closed; new envelopes avoid it from now on."""
        for socket in self.of(account):
            socket.is_leaving = True
            socket.send({"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-sim"}})

    def close_leaving(self, account: Account) -> None:
        """Close the sockets whose closing was announced, as the platform does some seconds later."""
        for socket in [one for one in self.of(account) if one.is_leaving]:
            socket.close()

    def abort(self, account: Account | None = None) -> None:
        """Cut all sockets (of one app), as a lost network does."""
        for socket in list(self.open):
            if account is None or socket.account is account:
                socket.abort()

    def _account(self, ticket: str) -> Account | None:
        for account in self._world.accounts.values():
            if ticket in account.tickets:
                account.tickets.discard(ticket)
                return account
        return None

    def _hello(self, account: Account) -> dict[str, Any]:
        return {
            "type": "hello",
            "num_connections": len(self.of(account)),
            "debug_info": {"host": "applink-sim", "build_number": 1, "approximate_connection_time": 18060},
            "connection_info": {"app_id": account.app_id},
        }

    def _take(self, socket: Socket, data: str) -> None:
        """An acknowledgement: any socket of the app may bring it."""
        try:
            frame = json.loads(data)
            envelope_id = frame["envelope_id"]
        except (ValueError, KeyError, TypeError):
            self._world.recorder.violations["unreadable frame"] += 1
            return
        for one in self.of(socket.account):
            one.unanswered.pop(envelope_id, None)
        if not socket.account.deliveries.acknowledge(envelope_id, frame.get("payload")):
            self._world.recorder.violations["acknowledged twice or too late"] += 1
