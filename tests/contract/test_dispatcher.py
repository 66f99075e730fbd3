"""One suite over every dispatcher and store: what is claimable runs, once, in order, and nothing before its time."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from random import Random

import pytest

from gateway.dispatcher import Dispatcher, LocalDispatcher
from gateway.errors import StoreUnavailable
from gateway.store import requests, turns
from gateway.store.lanes import Head
from gateway.store.turns import Claim
from gateway.store.tx import Store, Tx
from gateway.turn_queue import TurnQueue
from tests.contract.test_store import MS, ask, end, say, store

__all__ = ["store"]  # the fixture

DISPATCHERS: dict[str, Callable[[Store, TurnQueue], Dispatcher]] = {"local": LocalDispatcher}
"""A further dispatcher adds one line here."""


@dataclass
class Node:
    """A process that drains lanes: it claims, notes what it ran, and ends it."""

    store: Store
    dispatcher: Dispatcher
    queue: TurnQueue
    ran: list[int] = field(default_factory=list)
    asks: set[int] = field(default_factory=set)
    errors: list[str] = field(default_factory=list)

    async def drain(self, lane_id: int) -> Head | None:
        claimed = await self.store.write(lambda tx: turns.claim(tx, lane_id, "node", MS))
        if not isinstance(claimed, Claim):
            return claimed
        self.ran.append(claimed.turn_id)
        if claimed.turn_id in self.asks:
            self.asks.remove(claimed.turn_id)
            await self.store.write(lambda tx: ask(tx, claimed))
            return None
        return await self.store.write(lambda tx: end(tx, claimed))

    def hear(self, tx: Tx, key: str = "lane", *, kick: bool = True) -> int:
        turn_id, head = say(tx, key=key)
        if kick and head is not None:
            self.dispatcher.kick(tx, head)
        return turn_id

    async def say(self, key: str = "lane", *, kick: bool = True) -> int:
        return await self.store.write(lambda tx: self.hear(tx, key, kick=kick))


@pytest.fixture(params=DISPATCHERS)
async def node(request: pytest.FixtureRequest, store: Store) -> AsyncIterator[Node]:
    queue = TurnQueue()
    node = Node(store, DISPATCHERS[request.param](store, queue), queue)
    async with asyncio.TaskGroup() as group:
        queue.bind(group, node.drain)
        yield node
        await queue.close(1)


@pytest.mark.req("QUE-1")
async def test_what_is_kicked_runs_and_what_follows_in_its_lane_runs_after_it(node: Node) -> None:
    ids = [await node.say() for _ in range(3)]
    await node.queue.wait_idle()
    assert node.ran == ids


@pytest.mark.req("QUE-1", "OPS-6")
async def test_a_kick_of_a_transaction_that_is_rolled_back_wakes_nobody(node: Node) -> None:
    def work(tx: Tx) -> None:
        node.hear(tx)
        raise ValueError("rolled back")

    with pytest.raises(ValueError, match="rolled back"):
        await node.store.write(work)
    assert (node.queue.running, node.queue.waiting) == (0, 0)
    assert node.ran == []


@pytest.mark.req("QUE-1")
async def test_a_kick_is_not_seen_before_its_turn_is_durable(node: Node) -> None:
    seen: list[int] = []

    def work(tx: Tx) -> None:
        node.hear(tx)
        seen.append(node.queue.running + node.queue.waiting)

    await node.store.write(work)
    await node.queue.wait_idle()
    assert (seen, node.ran) == ([0], [1])


@pytest.mark.req("QUE-1")
async def test_kicking_twice_runs_once(node: Node) -> None:
    turn_id = await node.say(kick=False)
    for _ in range(2):
        head = Head(lane_id=1, requester="memory:1", resumed=False)
        await node.store.write(lambda tx, h=head: node.dispatcher.kick(tx, h))
    await node.queue.wait_idle()
    assert node.ran == [turn_id]


@pytest.mark.req("QUE-1", "EVT-3")
async def test_the_sweep_finds_what_lost_its_kick_and_leaves_what_waits_for_a_person(node: Node) -> None:
    node.asks = {await node.say("asking")}
    await node.queue.wait_idle()
    lost = [await node.say(key, kick=False) for key in ("a", "b", "asking")]

    assert await node.dispatcher.sweep() == 2
    await node.queue.wait_idle()
    assert node.ran == [1, *lost[:2]]

    def decide(tx: Tx) -> None:
        assert requests.decide(tx, 1, state="approved", by="A", reason=None, now_ms=MS)
        head = turns.unpark(tx, 1, MS)
        assert head is not None
        node.dispatcher.kick(tx, head)

    await node.store.write(decide)
    await node.queue.wait_idle()
    assert node.ran == [1, *lost[:2], 1, lost[2]]


@pytest.mark.req("QUE-1", "EVT-3")
@pytest.mark.parametrize("seed", range(3))
async def test_with_kicks_lost_at_random_every_turn_runs_once_in_its_lanes_order(
    node: Node, seed: int
) -> None:
    chance = Random(seed)
    said: dict[str, list[int]] = {}

    async def person(key: str) -> None:
        for _ in range(6):
            said.setdefault(key, []).append(await node.say(key, kick=chance.random() < 0.6))

    await asyncio.gather(*(person(f"lane{number}") for number in range(12)))
    while await node.dispatcher.sweep():
        await node.queue.wait_idle()

    assert sorted(node.ran) == sorted(turn_id for ids in said.values() for turn_id in ids)
    for ids in said.values():
        assert [turn_id for turn_id in node.ran if turn_id in ids] == ids


@pytest.mark.req("OPS-6")
async def test_a_sweep_that_cannot_read_says_so(node: Node) -> None:
    await node.store.close()
    with pytest.raises(StoreUnavailable):
        await node.dispatcher.sweep()
