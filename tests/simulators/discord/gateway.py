"""The gateway, version 10: the WebSocket over which bots are told of events.

Opcodes and close codes: https://docs.discord.com/developers/topics/opcodes-and-status-codes (read 2026). Not
built: voice, sharding, presence, the answer to REQUEST_GUILD_MEMBERS, and the closing of connections that send
no heartbeat.
"""

import asyncio
import json
from typing import Any

from aiohttp import WSMsgType, web

from .payloads import guild_payload, user_payload
from .sessions import Connection, Session
from .world import GUILDS, PRIVILEGED, World

CONTENT_FLAG = 1 << 18  # the application's own: the message content intent is on

Json = dict[str, Any]


class Gateway:
    """Serves `/gateway/` and holds what shall go wrong there."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._connections: set[Connection] = set()
        self.heartbeat_interval_s = 41.25
        self.refused_handshakes = 0  # so many next connections are answered 503
        self.refused_resumes = 0  # so many next RESUMEs are answered with an invalid session
        self.identified_times = 0
        self.heartbeats = 0

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._connections)

    async def serve(self, request: web.Request) -> web.StreamResponse:
        """One connection, from HELLO to its end."""
        if self.refused_handshakes:
            self.refused_handshakes -= 1
            return web.Response(status=503)
        socket = web.WebSocketResponse(max_msg_size=4096, autoclose=True)
        await socket.prepare(request)
        connection = Connection(socket, compress=request.query.get("compress") == "zlib-stream")
        connection.put({"op": 10, "d": {"heartbeat_interval": round(self.heartbeat_interval_s * 1000)}})
        self._connections.add(connection)
        writer = asyncio.create_task(connection.write())
        try:
            async for frame in socket:
                if frame.type is WSMsgType.TEXT:
                    self._take(connection, json.loads(frame.data))
        finally:
            self._connections.discard(connection)
            writer.cancel()
            self._forget(connection, socket.close_code)
            self._world.changes.notify()
        return socket

    def interrupt(self) -> None:
        """Cut all connections without a word."""
        for connection in list(self._connections):
            connection.cut()

    def close(self, code: int) -> None:
        """Close all connections with a code."""
        for connection in list(self._connections):
            connection.close(code)

    def ask_to_reconnect(self) -> None:
        """Send opcode 7 on all connections."""
        for connection in list(self._connections):
            connection.put({"op": 7, "d": None})

    def invalidate(self, *, resumable: bool = False) -> None:
        """Send opcode 9 on all connections; unless resumable, their sessions are no more."""
        if not resumable:
            self._world.sessions.clear()
        for connection in list(self._connections):
            connection.put({"op": 9, "d": resumable})

    def stall(self) -> None:
        """Answer heartbeats on the present connections, and tell of nothing, until they are resumed or replaced."""
        for session in self._world.sessions.values():
            session.is_stalled = True

    def _take(self, connection: Connection, frame: Json) -> None:
        match frame["op"]:
            case 1:
                self.heartbeats += 1
                connection.put({"op": 11})
            case 2:
                self._identify(connection, frame["d"])
            case 6:
                self._resume(connection, frame["d"])
            case 3 | 4 | 8:
                pass
            case _:
                connection.close(4001)
        self._world.changes.notify()

    def _identify(self, connection: Connection, asked: Json) -> None:
        account = self._world.accounts.get(asked["token"])
        if account is None:
            connection.close(4004)
            return
        intents = int(asked["intents"])
        if any(intents & bit and name not in account.privileged for name, bit in PRIVILEGED.items()):
            connection.close(4014)
            return
        self.identified_times += 1
        session = Session(account=account, intents=intents, connection=connection)
        self._world.sessions[session.id] = session
        session.dispatch("READY", self._ready(session))
        if intents & GUILDS:
            for guild in self._world.guilds.values():
                session.dispatch("GUILD_CREATE", guild_payload(guild, account.user))

    def _ready(self, session: Session) -> Json:
        account = session.account
        flags = CONTENT_FLAG if "message_content" in account.privileged else 0
        return {
            "v": 10,
            "user": user_payload(account.user) | {"verified": True, "mfa_enabled": False, "email": None},
            "guilds": [{"id": str(guild), "unavailable": True} for guild in self._world.guilds],
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": self.url,
            "application": {"id": str(account.application_id), "flags": flags},
            "private_channels": [],
        }

    def _resume(self, connection: Connection, asked: Json) -> None:
        session = self._world.sessions.get(asked["session_id"] or "")
        refused = self.refused_resumes > 0
        self.refused_resumes -= int(refused)
        if asked["token"] not in self._world.accounts:
            connection.close(4004)
        elif refused or session is None or not session.can_replay_from(asked["seq"] or 0):
            if session is not None:
                del self._world.sessions[session.id]
            connection.put({"op": 9, "d": False})
        else:
            session.resume(connection, asked["seq"] or 0)

    def _forget(self, connection: Connection, code: int | None) -> None:
        for session in list(self._world.sessions.values()):
            if session.connection is connection:
                session.connection = None
                if code in {1000, 1001}:
                    del self._world.sessions[session.id]

    @property
    def url(self) -> str:
        """The address bots connect to."""
        return self._world.base.replace("http", "ws", 1) + "/gateway/"
