"""A bot's gateway sessions: events numbered from 1, kept for replay, sent while a connection is there.

As the platform has it (https://docs.discord.com/developers/events/gateway, read 2026): a session outlives its
connection unless the client closed that with 1000 or 1001; RESUME replays what came after the number it names.
"""

import asyncio
import json
import secrets
import zlib
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from .records import Account

KEPT_EVENTS = 5_000

Json = dict[str, Any]


class Connection:
    """One WebSocket: what is put in goes out in order, compressed as the client asked."""

    def __init__(self, socket: web.WebSocketResponse, *, compress: bool) -> None:
        self.socket = socket
        self._zlib = zlib.compressobj() if compress else None
        self._queue: asyncio.Queue[Json | int] = asyncio.Queue()

    def put(self, frame: Json) -> None:
        """Send a frame after those put before."""
        self._queue.put_nowait(frame)

    def close(self, code: int) -> None:
        """Close with this code after the frames put before."""
        self._queue.put_nowait(code)

    def cut(self) -> None:
        """Lose the connection at once, without a word."""
        if self.socket._req is not None and self.socket._req.transport is not None:
            self.socket._req.transport.abort()

    async def write(self) -> None:
        """Send what is put, until closed."""
        with suppress(ConnectionError, RuntimeError):
            while True:
                frame = await self._queue.get()
                if isinstance(frame, int):
                    await self.socket.close(code=frame)
                    return
                await self._send(json.dumps(frame))

    async def _send(self, text: str) -> None:
        if self._zlib is None:
            await self.socket.send_str(text)
        else:
            data = self._zlib.compress(text.encode()) + self._zlib.flush(zlib.Z_SYNC_FLUSH)
            await self.socket.send_bytes(data)


@dataclass(slots=True, kw_only=True, eq=False)
class Session:
    """What a client is told, and what it asked to be told."""

    account: Account
    intents: int
    id: str = field(default_factory=lambda: secrets.token_hex(16))
    seq: int = 0
    events: deque[Json] = field(default_factory=lambda: deque(maxlen=KEPT_EVENTS))
    connection: Connection | None = None
    is_stalled: bool = False
    resumed_times: int = 0

    def dispatch(self, name: str, data: Json) -> None:
        """Tell of an event; kept until the session ends, since the client may not have had it."""
        self.seq += 1
        frame = {"t": name, "s": self.seq, "op": 0, "d": data}
        self.events.append(frame)
        if self.connection is not None and not self.is_stalled:
            self.connection.put(frame)

    def can_replay_from(self, seq: int) -> bool:
        """Whether every event after `seq` is still there."""
        return seq <= self.seq and (not self.events or self.events[0]["s"] <= seq + 1)

    def resume(self, connection: Connection, seq: int) -> None:
        """Go on over a new connection: what came after `seq`, then RESUMED."""
        self.connection, self.is_stalled = connection, False
        self.resumed_times += 1
        for frame in self.events:
            if frame["s"] > seq:
                connection.put(frame)
        self.dispatch("RESUMED", {"_trace": []})
