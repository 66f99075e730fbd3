"""Two processes on one PostgreSQL: what row locks have to make true there, where SQLite has its single writer.

Tried only where PostgreSQL is installed, see `tests/postgres.py`; each node has connections of its own.
"""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.errors import Fenced
from gateway.store import inbox, outbox, requests, schema, turns
from gateway.store.outbox import Claimed
from gateway.store.postgres import open_postgres
from gateway.store.turns import Claim
from gateway.store.tx import Store, Tx
from tests.contract.test_store import DEST, MS, ask, claim, draft, end, events, say
from tests.postgres import Server, find_programs

LANES, MESSAGES = 12, 6

if find_programs() is None:
    pytestmark = pytest.mark.skip(reason="PostgreSQL is not installed")


@pytest.fixture
async def nodes(postgres: Server) -> AsyncIterator[tuple[Store, Store]]:
    dsn = postgres.make_database()
    one, two = await open_postgres(dsn), await open_postgres(dsn)
    await one.write(lambda tx: schema.migrate(tx, MS))
    yield one, two
    await one.close()
    await two.close()


async def test_messages_that_two_nodes_take_at_once_are_turns_once_each_in_order_with_one_kick_a_lane(
    nodes: tuple[Store, Store],
) -> None:
    def take(tx: Tx, key: str, number: int) -> bool | None:
        """Whether the lane is to be kicked; None for a repeat."""
        name = f"{key}:{number}"
        if not inbox.remember(tx, platform="m", account="a", key=name, became="turn", now_ms=MS):
            return None
        return say(tx, name, key=key)[1] is not None

    # Every message reaches both nodes.
    taken = await asyncio.gather(
        *(
            node.write(lambda tx, k=f"lane{lane}", n=number: take(tx, k, n))
            for lane in range(LANES)
            for number in range(MESSAGES)
            for node in nodes
        )
    )

    assert taken.count(None) == LANES * MESSAGES
    assert taken.count(True) == LANES
    rows = await nodes[0].read(lambda tx: tx.rows("SELECT lane_id, seq FROM turns ORDER BY lane_id, seq"))
    lanes: dict[int, list[int]] = {}
    for row in rows:
        lanes.setdefault(row["lane_id"], []).append(row["seq"])
    assert list(lanes.values()) == [list(range(1, MESSAGES + 1))] * LANES


async def test_of_two_nodes_that_claim_a_lane_only_the_last_may_write(nodes: tuple[Store, Store]) -> None:
    one, two = nodes
    await one.write(say)
    first, second = await asyncio.gather(one.write(claim), two.write(claim))
    stale, fresh = sorted((first, second), key=lambda claimed: claimed.fence.epoch)

    with pytest.raises(Fenced):
        await one.write(lambda tx: turns.append_events(tx, stale.fence, events("text"), MS))
    assert await two.write(lambda tx: end(tx, fresh)) is None


async def test_a_message_that_comes_while_its_lane_is_given_up_is_kicked_or_named_as_next(
    nodes: tuple[Store, Store],
) -> None:
    one, two = nodes
    await one.write(say)
    for _ in range(20):
        claimed = await one.write(claim)
        assert isinstance(claimed, Claim)
        following, (_, head) = await asyncio.gather(
            one.write(lambda tx, c=claimed: end(tx, c)), two.write(say)
        )
        assert (following is None) != (head is None)


async def test_of_answers_on_two_nodes_one_wins(nodes: tuple[Store, Store]) -> None:
    one, two = nodes
    await one.write(say)
    request_id = await one.write(lambda tx: ask(tx, claim(tx)))

    def answer(tx: Tx) -> bool:
        return requests.decide(tx, request_id, state="approved", by="A", reason=None, now_ms=MS)

    won = await asyncio.gather(*(node.write(answer) for node in (one, two) for _ in range(4)))
    assert won.count(True) == 1


async def test_places_in_a_chat_that_two_nodes_write_to_are_given_once(nodes: tuple[Store, Store]) -> None:
    await asyncio.gather(
        *(
            node.write(lambda tx, n=f"{at}.{number}": outbox.add(tx, draft(n), MS))
            for at, node in enumerate(nodes)
            for number in range(10)
        )
    )
    shown = []
    while isinstance(taken := await nodes[0].write(lambda tx: outbox.claim(tx, DEST, MS)), Claimed):
        await nodes[0].write(lambda tx, t=taken: outbox.settle(tx, t.id, state="sent", now_ms=MS))
        shown.append(taken.message.idem_key)
    for at in range(2):
        assert [name for name in shown if name.startswith(f"{at}.")] == [f"{at}.{n}" for n in range(10)]
