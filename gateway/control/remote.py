"""The gateway as a joined terminal sees it: its inbox and api, over a connection that is made again when it breaks.

What a person said is sent again after a lost connection, under the same id, so that it counts once; what the daemon
shows again, under the same key, is shown once.
"""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from gateway.adapter import Adapter, EditsMessages
from gateway.api import WatchedEvent
from gateway.control.client import DaemonRefused, NoDaemon, connect
from gateway.control.codec import answer_from_json, message_from_json, update_to_json
from gateway.control.wire import Peer, PeerFailed, PeerGone
from gateway.errors import ConnectionLost, ParleyError, StoreUnavailable
from gateway.messages import PressAnswer, Target, Update
from gateway.source import SessionSource

GONE_S = 30.0
"""How long a daemon that went away is waited for: a restart takes seconds."""

RETRY_S = 0.5
_REMEMBERED = 200
RunnableT = TypeVar("RunnableT", bound=Adapter)


class RemoteGateway:
    """See the module; `Inbox` and `Api` of one terminal. `say` tells the person about lost connections."""

    def __init__(self, path: Path, wish: str, *, say: Callable[[str], None]) -> None:
        self._path = path
        self._wish = wish
        self._say = say
        self._peer: Peer | None = None
        self._there = asyncio.Event()
        self._is_online = False
        self._watching = False
        self._shown: OrderedDict[str, str] = OrderedDict()
        self._events: asyncio.Queue[WatchedEvent] = asyncio.Queue()
        self._adapter: Adapter | None = None
        self._reading: asyncio.Task[None] | None = None
        self._group: asyncio.TaskGroup | None = None

    async def run(self, make: Callable[[str, "RemoteGateway"], RunnableT]) -> RunnableT:
        """Join, and let the adapter that `make` makes for the account run to its end; returns it.

        Raises:
            NoDaemon: there is none.
            DaemonRefused: it does not let this terminal in.
            ConnectionLost: it went away and did not come back.
        """
        try:
            async with asyncio.TaskGroup() as group:
                self._group = group
                account = await self._join()
                adapter = make(account, self)
                self._adapter = adapter
                keeping = group.create_task(self._keep())
                await adapter.run(self)
                keeping.cancel()
                self._peer_now().close()
        except BaseExceptionGroup as errors:
            ours, others = errors.split(ParleyError)
            if ours is None or others is not None:
                raise
            raise _first(ours) from None
        return adapter

    async def _join(self) -> str:
        peer = await connect(
            self._path, handlers={"send": self._send, "edit": self._edit}, notes={"event": self._event}
        )
        assert self._group is not None
        self._reading = self._group.create_task(peer.run())
        try:
            joined = await peer.call("join", {"wish": self._wish}, timeout_s=RETRY_S * 20)
        except (PeerGone, TimeoutError) as error:
            raise NoDaemon("the daemon went away") from error
        except PeerFailed as error:
            raise DaemonRefused(str(error)) from error
        self._wish = str(joined["account"])
        self._peer = peer
        self._there.set()
        return self._wish

    async def _keep(self) -> None:
        """Join again whenever the connection is lost.

        Raises:
            ConnectionLost: the daemon did not come back in time.
        """
        while True:
            assert self._reading is not None
            await asyncio.wait([self._reading])
            self._there.clear()
            self._say(f"The daemon is gone; waiting up to {GONE_S:.0f} s for it to come back …")
            await self._rejoin()
            self._say("It is back.")

    async def _rejoin(self) -> None:
        try:
            async with asyncio.timeout(GONE_S):
                while not await self._is_back():  # noqa: ASYNC110 - a missing socket tells nobody
                    await asyncio.sleep(RETRY_S)
        except TimeoutError:
            raise ConnectionLost("The daemon did not come back; start it again with `parley run`.") from None

    async def _is_back(self) -> bool:
        try:
            await self._join()
            if self._is_online:
                await self._peer_now().call("online", {})
        except (NoDaemon, PeerGone, PeerFailed):
            return False
        if self._watching:
            assert self._group is not None
            self._group.create_task(self._call_once("watch"))
        return True

    # Inbox

    async def receive(self, *updates: Update) -> tuple[PressAnswer | None, ...]:
        """See `gateway.adapter.Inbox`.

        Raises:
            StoreUnavailable: the daemon could not store it.
        """
        answers = await self._call("receive", {"updates": [update_to_json(update) for update in updates]})
        return tuple(answer_from_json(answer) for answer in answers)

    async def last_seen(self) -> Mapping[str, str]:
        """See `gateway.adapter.Inbox`; a terminal has nothing to fetch."""
        return {}

    def online(self) -> None:
        """See `gateway.adapter.Inbox`."""
        self._is_online = True
        assert self._group is not None
        self._group.create_task(self._call_once("online"))

    # Api

    async def watch(self, source: SessionSource) -> AsyncIterator[WatchedEvent]:
        """See `gateway.api.Api.watch`; after a lost connection it goes on with what happens then."""
        del source  # the daemon knows who sits here
        self._watching = True
        assert self._group is not None
        self._group.create_task(self._call_once("watch"))
        while True:
            yield await self._events.get()

    async def is_idle(self, source: SessionSource) -> bool:
        """See `gateway.api.Api.is_idle`."""
        del source
        return bool(await self._call("is_idle", {}))

    async def wait_idle(self, source: SessionSource) -> None:
        """See `gateway.api.Api.wait_idle`."""
        del source
        await self._call("wait_idle", {})

    # What the daemon asks

    async def _send(self, raw: dict[str, Any]) -> str:
        message = message_from_json(raw, self._target())
        shown = self._shown.get(message.idem_key)
        if shown is None:
            receipt = await self._shower().send(message)
            shown = self._shown[message.idem_key] = receipt.message_id
            if len(self._shown) > _REMEMBERED:
                self._shown.popitem(last=False)
        return shown

    async def _edit(self, raw: dict[str, Any]) -> None:
        adapter = self._shower()
        assert isinstance(adapter, EditsMessages)
        await adapter.edit(str(raw["message_id"]), message_from_json(raw, self._target()))

    def _event(self, raw: dict[str, Any]) -> None:
        self._events.put_nowait(
            WatchedEvent(
                turn_id=int(raw["turn_id"]),
                idx=int(raw["idx"]),
                kind=str(raw["kind"]),
                payload=raw["payload"],
            )
        )

    def _target(self) -> Target:
        adapter = self._shower()
        return Target(platform=adapter.platform, account=self._wish, chat_id=self._wish)

    def _shower(self) -> Adapter:
        assert self._adapter is not None  # the daemon sends to a terminal that is online only
        return self._adapter

    def _peer_now(self) -> Peer:
        assert self._peer is not None
        return self._peer

    async def _call(self, name: str, args: dict[str, Any]) -> Any:
        """Ask, and ask again on the next connection if this one ends before the answer."""
        while True:
            await self._there.wait()
            peer = self._peer_now()
            try:
                return await peer.call(name, args)
            except PeerGone:
                if peer is self._peer:
                    self._there.clear()
            except PeerFailed as error:
                if error.kind == StoreUnavailable.__name__:
                    raise StoreUnavailable(str(error)) from error
                raise ConnectionLost(str(error)) from error

    async def _call_once(self, name: str) -> None:
        try:
            await self._peer_now().call(name, {})
        except (PeerGone, PeerFailed):
            return  # the next connection asks again


def _first(errors: BaseException) -> BaseException:
    return _first(errors.exceptions[0]) if isinstance(errors, BaseExceptionGroup) else errors
