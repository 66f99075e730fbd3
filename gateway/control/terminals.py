"""Terminals that joined the daemon: each an adapter account of its own while it is there.

The rule: the first terminal is the account it wishes (`local`, as a daemon's own terminal), a second one at the same
time is `local-2`, then `local-3`, and so on; the lowest free name is taken, and a name is free again when its terminal
has left. So a conversation goes on from one terminal to the next, two open at once never hear each other's answers, and
what could not be shown any more waits for the next terminal of that name.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict
from typing import Any, Protocol

from gateway.adapter import Adapter
from gateway.api import Api
from gateway.control.codec import answer_to_json, message_to_json, update_from_json
from gateway.control.wire import Peer, PeerFailed, PeerGone
from gateway.delivery import Delivery
from gateway.errors import MessageRejected, NotSent, OutcomeUnknown, SendError, TargetGone
from gateway.intake import Intake
from gateway.messages import OutboundMessage, Receipt
from gateway.source import SessionSource

SHOW_S = 10.0
"""How long a terminal may take to show a message."""

_ERRORS: dict[str, type[SendError]] = {"MessageRejected": MessageRejected, "TargetGone": TargetGone}


class Link:
    """The way to one terminal, as its adapter in the daemon holds it."""

    def __init__(self, peer: Peer) -> None:
        self._peer = peer

    async def send(self, message: OutboundMessage) -> Receipt:
        """Show a message there; its key makes a repeat harmless.

        Raises:
            SendError: as for `Adapter.send`; a terminal that left showed nothing that anybody can see.
        """
        return Receipt(message_id=str(await self._call("send", message_to_json(message))))

    async def edit(self, message_id: str, message: OutboundMessage) -> None:
        """Change a message there.

        Raises:
            SendError: as for `Adapter.send`.
        """
        await self._call("edit", {"message_id": message_id, **message_to_json(message)})

    async def _call(self, name: str, args: dict[str, Any]) -> Any:
        try:
            return await self._peer.call(name, args, timeout_s=SHOW_S)
        except PeerGone as error:
            raise NotSent(str(error)) from error
        except TimeoutError as error:
            raise OutcomeUnknown("the terminal does not answer") from error
        except PeerFailed as error:
            raise _ERRORS.get(error.kind, OutcomeUnknown)(str(error)) from error


class Terminal(Adapter, Protocol):
    """The adapter of a joined terminal."""

    @property
    def source(self) -> SessionSource:
        """Who sits there."""
        ...


JoinTerminal = Callable[[str, Link], Terminal]
"""Makes the adapter of a terminal that joined as this account."""


class Joined:
    """One terminal that joined, and what it may call."""

    def __init__(
        self, terminal: Terminal, peer: Peer, *, intake: Intake, delivery: Delivery, api: Api
    ) -> None:
        self.terminal = terminal
        self._peer = peer
        self._intake = intake
        self._delivery = delivery
        self._api = api

    async def receive(self, args: dict[str, Any]) -> list[Any]:
        """Store what the person did; returns what a presser is told, as `Inbox.receive` does."""
        updates = [update_from_json(raw, self.terminal.source) for raw in args["updates"]]
        return [answer_to_json(answer) for answer in await self._intake.receive(*updates)]

    async def online(self, _args: dict[str, Any]) -> None:
        """The terminal can show messages from now on."""
        await self._delivery.online(self.terminal)

    async def is_idle(self, _args: dict[str, Any]) -> bool:
        """See `gateway.api`."""
        return await self._api.is_idle(self.terminal.source)

    async def wait_idle(self, _args: dict[str, Any]) -> None:
        """See `gateway.api`."""
        await self._api.wait_idle(self.terminal.source)

    async def watch(self, _args: dict[str, Any]) -> None:
        """Tell the events of the terminal's turns until it leaves or falls too far behind."""
        async for event in self._api.watch(self.terminal.source):
            await self._peer.tell("event", asdict(event))


class Terminals:
    """Gives out accounts."""

    def __init__(self, join: JoinTerminal, *, taken: frozenset[str]) -> None:
        self._join = join
        self._fixed = taken
        self._taken: set[str] = set()

    @property
    def accounts(self) -> list[str]:
        """The accounts of the terminals that are joined now."""
        return sorted(self._taken)

    @asynccontextmanager
    async def joined(self, wish: str, peer: Peer, delivery: Delivery) -> AsyncIterator[Terminal]:
        """A terminal's adapter, known to delivery as long as the terminal is there."""
        account = self._free(wish)
        self._taken.add(account)
        terminal = self._join(account, Link(peer))
        delivery.register(terminal)
        try:
            yield terminal
        finally:
            delivery.unregister(terminal)
            self._taken.discard(account)

    def _free(self, wish: str) -> str:
        taken = self._taken | self._fixed
        names = (wish if number == 1 else f"{wish}-{number}" for number in range(1, len(taken) + 2))
        return next(name for name in names if name not in taken)
