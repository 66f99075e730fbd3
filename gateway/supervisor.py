"""Keeps every adapter running, each alone: a lost connection is made again with backoff, for ever.

Neighbours: `daemon` hands it the adapters; it hands each its `Inbox`. An adapter that the platform refuses is
tried again rarely, since a person must act first; one that returns by itself has finished.
"""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import structlog
from tenacity import wait_random_exponential

from gateway.adapter import Adapter, ServedByOne
from gateway.clock import wait_s
from gateway.delivery import Delivery
from gateway.errors import AccessRefused, AccountInUse, ConnectionLost, StoreUnavailable
from gateway.intake import Intake
from gateway.messages import PressAnswer, Update
from gateway.seats import Seats

log = structlog.get_logger()

RECONNECT = wait_random_exponential(multiplier=1, max=60)
REFUSED_WAIT_S = 300.0
STEADY_S = 60.0

TAKEN = (
    "another parley process on this machine serves this account: stop it, or give each an account of its own"
)


@dataclass(slots=True)
class Health:
    """How an adapter is: `online` while messages flow, else `trouble` says why not."""

    online: bool = False
    trouble: str = "connecting"


class _AdapterInbox:
    """The `Inbox` of one adapter."""

    def __init__(
        self, adapter: Adapter, intake: Intake, delivery: Delivery, health: Health, group: asyncio.TaskGroup
    ) -> None:
        self._adapter = adapter
        self._intake = intake
        self._delivery = delivery
        self._health = health
        self._group = group

    async def receive(self, *updates: Update) -> tuple[PressAnswer | None, ...]:
        """See `gateway.adapter.Inbox`."""
        return await self._intake.receive(*updates)

    async def last_seen(self) -> Mapping[str, str]:
        """See `gateway.adapter.Inbox`."""
        return await self._intake.last_seen(self._adapter.platform, self._adapter.account)

    def online(self) -> None:
        """See `gateway.adapter.Inbox`."""
        self._health.online, self._health.trouble = True, ""
        log.info("adapter.online", platform=self._adapter.platform, account=self._adapter.account)
        self._group.create_task(self._delivery.online(self._adapter))


class Supervisor:
    """See the module; `health` is by adapter, in the order given."""

    def __init__(
        self,
        adapters: Sequence[Adapter],
        *,
        intake: Intake,
        delivery: Delivery,
        finished: Callable[[Adapter], None],
        seats: Seats | None = None,
    ) -> None:
        self._adapters = adapters
        self._intake = intake
        self._delivery = delivery
        self._finished = finished
        self._seats = seats or Seats()
        self._taken: list[Adapter] = []
        self.health: dict[str, Health] = {}

    @contextmanager
    def seated(self) -> Iterator[None]:
        """Have the seats of all adapters; one whose seat another process has is left out of `run`.

        It is not waited for: what its people say belongs to the other process's conversations.

        Raises:
            AccountInUse: none is left.
        """
        self._taken = [adapter for adapter in self._adapters if not self._sits(adapter)]
        for adapter in self._taken:
            log.error("adapter.taken", platform=adapter.platform, account=adapter.account, reason=TAKEN)
        try:
            if self._taken and len(self._taken) == len(self._adapters):
                raise AccountInUse(f"{', '.join(adapter.platform for adapter in self._taken)}: {TAKEN}")
            yield
        finally:
            self._seats.leave()

    def _sits(self, adapter: Adapter) -> bool:
        seat = adapter.seat if isinstance(adapter, ServedByOne) else ""
        return not seat or self._seats.take(f"{adapter.platform} {seat}")

    async def run(self) -> None:
        """Run all adapters until cancelled."""
        async with asyncio.TaskGroup() as group:
            for number, adapter in enumerate(self._adapters):
                health = self.health[f"{adapter.platform}[{number}]"] = Health()
                if adapter in self._taken:
                    health.trouble = TAKEN
                    continue
                inbox = _AdapterInbox(adapter, self._intake, self._delivery, health, group)
                group.create_task(self._keep(adapter, inbox, health), name=f"adapter.{adapter.platform}")

    async def _keep(self, adapter: Adapter, inbox: _AdapterInbox, health: Health) -> None:
        tries = 0
        while True:
            began = asyncio.get_running_loop().time()
            try:
                await adapter.run(inbox)
            except AccessRefused as error:
                pause_s = REFUSED_WAIT_S
                log.error("adapter.refused", platform=adapter.platform, reason=str(error))
                health.trouble = str(error)
            except (ConnectionLost, StoreUnavailable) as error:
                pause_s = wait_s(RECONNECT, tries + 1)
                log.warning(
                    "adapter.lost", platform=adapter.platform, reason=str(error), retry_in_s=round(pause_s, 1)
                )
                health.trouble = str(error)
            except Exception as error:
                # An adapter's bug is its own trouble: it starts anew, the others never notice.
                pause_s = wait_s(RECONNECT, tries + 1)
                log.exception("adapter.broken", platform=adapter.platform)
                health.trouble = type(error).__name__
            else:
                health.online, health.trouble = False, "finished"
                self._finished(adapter)
                return
            health.online = False
            steady = asyncio.get_running_loop().time() - began > STEADY_S
            tries = 0 if steady else tries + 1
            await asyncio.sleep(pause_s)
