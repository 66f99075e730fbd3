"""A gateway that is killed at any write of a conversation's way through two agents ends where one that was not does.

A few of the some 45 writes are tried here; all of them were, once, while this was written.
"""

import asyncio
from collections.abc import Callable

import pytest
from pydantic_ai.messages import ModelMessage, ModelResponse

from gateway.store.sqlite import SqliteStore
from tests.flow.agents import AGENTS, begin, end
from tests.flow.conftest import Open
from tests.flow.house import WAIT_S, House, Person
from tests.flow.scripted import Asked, calls, says

pytestmark = pytest.mark.req("EVT-3", "TSK-2", "TSK-3", "TSK-5")


def reply(messages: tuple[ModelMessage, ...]) -> ModelResponse:
    """What the model says goes by what it reads: asked again after a crash, it says the same."""
    question = Asked(messages=messages, tools=()).question
    if question == "please":
        return calls(begin("coder", "the goal"), text="I hand this on.")
    return calls(end("the summary"), text="I did it.") if "the goal" in question else says("fin")


async def _accepts_all(house: House, ann: Person) -> None:
    """Press Accept on whatever asks, until the turn is done."""
    pressed: set[str] = set()
    while await house.values("SELECT state FROM turns") != ["done"]:
        for shown in ann.platform.shown:
            token = shown.tokens.get("Accept")
            if token is not None and token not in pressed:
                # Shielded: a platform delivers a press once more, whether or not anybody still waits for it.
                await asyncio.shield(ann.platform.press(token, ann.source))
                pressed.add(token)
        await house.database.write(lambda tx: None)


@pytest.mark.parametrize("kill_at", [1, 16, 31])
async def test_a_kill_at_any_write_leads_to_the_same_end(
    kill_at: int, house_of: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The platform knows keys: a card whose sending was cut is sent again, and no person has to ask for it.
    house = await house_of(agents=AGENTS, platform={"idempotency": "key", "idempotency_window_s": 3_600})
    monkeypatch.setattr("tests.flow.scripted.respond", lambda messages, tools: reply(tuple(messages)))
    writes, killed, write = 0, asyncio.Event(), SqliteStore.write

    def counted(store: SqliteStore, work: Callable[..., object]) -> object:
        nonlocal writes
        writes += 1
        if writes == kill_at:
            store._queue.clear()
            store._closed = True
            killed.set()
        return write(store, work)

    monkeypatch.setattr(SqliteStore, "write", counted)
    ann = house.person()
    ann.says("please")
    accepting = asyncio.create_task(_accepts_all(house, ann))
    async with asyncio.timeout(WAIT_S):
        await killed.wait()
    accepting.cancel()
    await asyncio.gather(accepting, return_exceptions=True)
    await house.crash()
    await house.start()
    async with asyncio.timeout(WAIT_S):
        await _accepts_all(house, ann)
    await house.quiet()

    assert await house.values("SELECT state FROM tasks") == ["ended"]
    assert await house.values("SELECT state FROM task_ends") == ["accepted"]
    assert await house.values("SELECT answerer FROM sessions") == ["default"]
    kinds = [kind for kind, _ in await house.events(1)]
    assert (kinds.count("task"), kinds.count("done")) == (2, 1)
    # Each agent's history was kept once; the default agent's has the summary at its end.
    kept = "SELECT agent, COUNT(*) FROM agent_state GROUP BY agent ORDER BY agent"
    assert [tuple(row) for row in await house.rows(kept)] == [("coder", 4), ("default", 6)]  # type: ignore[call-overload]
