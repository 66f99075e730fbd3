"""The daemon's side of the control socket: answers questions, carries out orders, lets terminals join.

Bounded: connections, the length of a line, how long a greeting, an idle connection and a write may take. A connection
that breaks a rule is ended and is nobody else's trouble; a socket that cannot be made is logged and the daemon serves
without it.
"""

import asyncio
import atexit
import os
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import structlog

from gateway.api import Api
from gateway.control import address
from gateway.control.terminals import Joined, Terminals
from gateway.control.wire import MAX_LINE, Handler, Peer, PeerFailed, PeerGone
from gateway.delivery import Delivery
from gateway.errors import ParleyError
from gateway.intake import Intake

log = structlog.get_logger()

MAX_CONNECTIONS = 32
GREETING_S = 10.0
IDLE_S = 60.0


class NotHere(ParleyError):
    """What was asked for does not exist, or cannot be done now."""


class Operations(Protocol):
    """What the operator may have done."""

    async def retry(self, row_id: int) -> str:
        """Send a dead letter again; what came of it, in words."""
        ...

    async def drop(self, row_id: int) -> str:
        """Forget a dead letter; what came of it, in words."""
        ...


class ControlServer:
    """See the module; `terminals` is None where no terminal may join."""

    def __init__(
        self,
        path: Path,
        *,
        api: Api,
        intake: Intake,
        delivery: Delivery,
        operations: Operations,
        terminals: Terminals | None,
        more: Mapping[str, Handler] | None = None,
    ) -> None:
        """`more` are further questions and orders by name."""
        self._more = more or {}
        self._path = path
        self._api = api
        self._intake = intake
        self._delivery = delivery
        self._operations = operations
        self._terminals = terminals
        self._connections = 0
        self._ours: tuple[int, int] | None = None

    async def run(self) -> None:
        """Serve until cancelled; the socket is there only meanwhile."""
        try:
            listening = address.bind(self._path)
        except OSError as error:
            log.error("control.unavailable", path=str(self._path), reason=str(error))
            return
        self._ours = address.identity(self._path)
        atexit.register(self.remove_socket)
        try:
            async with asyncio.TaskGroup() as group:
                server = await asyncio.start_unix_server(
                    lambda reader, writer: self._accept(group, reader, writer),
                    sock=listening,
                    limit=MAX_LINE,
                )
                try:
                    await asyncio.get_running_loop().create_future()
                finally:
                    server.close()  # not waited for: the connections end with their tasks
        finally:
            self.remove_socket()
            atexit.unregister(self.remove_socket)

    def remove_socket(self) -> None:
        """Take the socket away, if it is there and ours; also the last thing a process does that ends at once."""
        address.remove(self._path, self._ours)

    def _accept(
        self, group: asyncio.TaskGroup, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        group.create_task(self._serve(reader, writer), name="control.connection")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        handlers: dict[str, Handler] = {}
        peer = Peer(reader, writer, handlers=handlers, notes={})
        if self._connections >= MAX_CONNECTIONS:
            await peer.refuse(f"{MAX_CONNECTIONS} programs are connected already")
            return
        self._connections += 1
        try:
            async with AsyncExitStack() as stack:
                handlers.update(self._handlers(peer, handlers, stack))
                async with asyncio.timeout(GREETING_S):
                    await peer.greet(pid=os.getpid())
                peer.idle_s = IDLE_S
                await peer.run()
        except (PeerGone, PeerFailed, TimeoutError) as error:
            log.info("control.refused", reason=str(error) or "no greeting came in time")
        except Exception:
            # A bug ends this one connection, never the daemon with everybody's turns.
            log.exception("control.broken")
        finally:
            self._connections -= 1
            peer.close()

    def _handlers(
        self, peer: Peer, handlers: dict[str, Handler], stack: AsyncExitStack
    ) -> dict[str, Handler]:
        async def events(args: dict[str, Any]) -> Any:
            page = await self._api.events(int(args["turn_id"]), int(args.get("from", 0)))
            if page is None:
                raise NotHere(f"there is no turn {args['turn_id']}")
            return asdict(page)

        async def updates(args: dict[str, Any]) -> Any:
            return [asdict(view) for view in await self._api.updates(str(args["key"]))]

        async def join(args: dict[str, Any]) -> Any:
            if self._terminals is None or "receive" in handlers:
                raise NotHere("no terminal can join here")
            terminal = await stack.enter_async_context(
                self._terminals.joined(str(args["wish"]), peer, self._delivery)
            )
            joined = Joined(terminal, peer, intake=self._intake, delivery=self._delivery, api=self._api)
            handlers.update(
                receive=joined.receive,
                online=joined.online,
                is_idle=joined.is_idle,
                wait_idle=joined.wait_idle,
                watch=joined.watch,
            )
            peer.idle_s = None
            log.info("control.terminal_joined", account=terminal.account)
            return {"account": terminal.account}

        async def status(_args: dict[str, Any]) -> Any:
            terminals = self._terminals.accounts if self._terminals is not None else []
            return {**asdict(await self._api.status()), "terminals": terminals}

        return {
            "status": status,
            "turns": _listed(self._api.turns),
            "outbox": _listed(self._api.outbox),
            "requests": _listed(self._api.requests),
            "sessions": _listed(self._api.sessions),
            "events": events,
            "updates": updates,
            "retry": lambda args: self._operations.retry(int(args["id"])),
            "drop": lambda args: self._operations.drop(int(args["id"])),
            "join": join,
            **self._more,
        }


def _listed(question: Callable[[], Awaitable[Any]]) -> Handler:
    async def answer(_args: dict[str, Any]) -> Any:
        return [asdict(view) for view in await question()]

    return answer
