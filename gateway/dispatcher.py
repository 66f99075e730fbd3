"""Who is told that a lane may run: the seam behind which one process or many drain the lanes.

Neighbours: whatever makes a turn claimable (`intake`, `requests`, `pause`, `trust`, `commands`) kicks, in the
transaction that does so; the daemon sweeps. Invariant: a kick is never seen before what it is about, and a kick that
got lost (a crash between commit and wake-up, a database put back from a backup) is made good by the next sweep.
"""

from typing import Protocol

from gateway.store import lanes
from gateway.store.lanes import Head
from gateway.store.tx import Store, Tx
from gateway.turn_queue import TurnQueue


class Dispatcher(Protocol):
    """See the module. One process: `LocalDispatcher`; many will share a queue in their database."""

    def kick(self, tx: Tx, head: Head) -> None:
        """Have a head run once this transaction is durable; never if it is rolled back. Twice is harmless."""
        ...

    async def sweep(self) -> int:
        """Kick every head that may run; returns how many there are.

        Raises:
            StoreUnavailable: the database cannot be read.
        """
        ...


class LocalDispatcher:
    """`Dispatcher` within one process: what was kicked lives in memory, and a start sweeps."""

    def __init__(self, store: Store, queue: TurnQueue) -> None:
        self._store = store
        self._queue = queue

    def kick(self, tx: Tx, head: Head) -> None:
        """As `Dispatcher.kick`."""
        tx.after_commit(lambda: self._queue.kick(head))

    async def sweep(self) -> int:
        """As `Dispatcher.sweep`; oldest first."""
        heads = await self._store.read(lanes.runnable)
        for head in heads:
            self._queue.kick(head)
        return len(heads)
