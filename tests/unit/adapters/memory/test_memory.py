"""The memory platform, where it is more than the contract asks."""

import asyncio

import pytest

from adapters.memory.adapter import MemoryAdapter
from adapters.memory.settings import MemorySettings
from gateway.document import text_document
from gateway.errors import MessageRejected, OutcomeUnknown
from gateway.messages import OutboundMessage, Target
from tests.contract.stages.base import RecordingInbox, Running
from tests.flow.house import Clock

pytestmark = pytest.mark.req("ADP-1")


def message(adapter: MemoryAdapter, text: str, key: str = "k") -> OutboundMessage:
    return OutboundMessage(target=Target.of(adapter.source()), body=text_document(text), idem_key=key)


async def test_with_a_key_a_repeated_send_shows_nothing_twice():
    clock = Clock()
    settings = MemorySettings(idempotency="key", idempotency_window_s=60)
    adapter = MemoryAdapter(settings, now=clock)
    adapter.fail(OutcomeUnknown("lost"), shown=True)
    with pytest.raises(OutcomeUnknown):
        await adapter.send(message(adapter, "once"))
    receipt = await adapter.send(message(adapter, "once"))
    assert [shown.message_id for shown in adapter.shown] == [receipt.message_id]
    clock.pass_by(seconds=61)
    await adapter.send(message(adapter, "once"))
    assert len(adapter.shown) == 2


async def test_look_up_finds_what_was_shown_and_nothing_else():
    adapter = MemoryAdapter(MemorySettings(idempotency="lookup"))
    receipt = await adapter.send(message(adapter, "here", "a"))
    assert await adapter.find_sent(message(adapter, "here", "a")) == receipt
    assert await adapter.find_sent(message(adapter, "here", "b")) is None


async def test_an_edit_of_an_unknown_message_is_rejected():
    adapter = MemoryAdapter()
    with pytest.raises(MessageRejected):
        await adapter.edit("77", message(adapter, "x"))


async def test_waiting_wakes_when_enough_is_shown():
    adapter = MemoryAdapter()
    waiting = asyncio.create_task(adapter.wait_shown(2))
    await adapter.send(message(adapter, "a", "1"))
    await asyncio.sleep(0)
    assert not waiting.done()
    await adapter.send(message(adapter, "b", "2"))
    assert [shown.text for shown in await waiting] == ["a", "b"]


async def test_the_same_id_can_be_said_twice_as_a_redelivery_would():
    adapter, inbox = MemoryAdapter(), RecordingInbox()
    first = adapter.say("again")
    adapter.say("again", repeat_of=first.id)
    running = Running(adapter, inbox)
    await running.start()
    await adapter.wait_received()
    await running.stop()
    assert [message.id for message in inbox.messages] == [first.id, first.id]
