"""What comes in is stored in the order it came, and acknowledged only then."""

import asyncio

import pytest

from adapters.slack.line import Line, Postponed, Stored
from gateway.errors import StoreUnavailable
from gateway.messages import ButtonPress, PressAnswer
from gateway.source import SessionSource

pytestmark = pytest.mark.req("DLV-1")

SOURCE = SessionSource(platform="slack", account="U0", kind="dm", chat_id="D1", user_id="U1")


def update(number):
    return ButtonPress(id=str(number), source=SOURCE, token=f"t{number}")


class Inbox:
    def __init__(self):
        self.batches = []
        self.failure = None

    async def receive(self, *updates):
        if self.failure:
            raise self.failure
        self.batches.append([int(update.id) for update in updates])
        return tuple(PressAnswer(text=update.id) for update in updates)

    def online(self):
        raise AssertionError


async def read(result, when=None):
    if when is not None:
        await when.wait()
    if isinstance(result, Exception):
        raise result
    return result


async def test_whoever_is_read_late_keeps_its_place():
    inbox, late = Inbox(), asyncio.Event()
    line = Line(inbox)
    async with asyncio.TaskGroup() as tasks:
        run = tasks.create_task(line.run())
        takes = [
            tasks.create_task(line.take(read(update(number), late if number == 1 else None)))
            for number in range(4)
        ]
        await takes[0]
        late.set()
        answers = [await take for take in takes]
        run.cancel()
    assert [number for batch in inbox.batches for number in batch] == [0, 1, 2, 3]
    assert answers == [Stored(PressAnswer(text=str(number))) for number in range(4)]


async def test_what_means_nothing_is_acknowledged_in_its_turn():
    inbox = Inbox()
    line = Line(inbox)
    async with asyncio.TaskGroup() as tasks:
        run = tasks.create_task(line.run())
        assert await line.take(read(None)) == Stored()
        run.cancel()
    assert inbox.batches == []


async def test_what_cannot_be_read_now_is_not_acknowledged_and_holds_nobody_up():
    inbox = Inbox()
    line = Line(inbox)
    async with asyncio.TaskGroup() as tasks:
        run = tasks.create_task(line.run())
        assert await line.take(read(Postponed())) is None
        assert await line.take(read(update(1))) == Stored(PressAnswer(text="1"))
        run.cancel()
    assert inbox.batches == [[1]]


async def test_what_could_not_be_stored_is_not_acknowledged_nor_what_comes_after():
    inbox, late = Inbox(), asyncio.Event()
    inbox.failure = StoreUnavailable("the disk is full")
    line = Line(inbox)
    takes = [
        asyncio.create_task(line.take(read(update(0)))),
        asyncio.create_task(line.take(read(update(1), late))),
    ]
    with pytest.raises(StoreUnavailable):
        await line.run()
    late.set()
    assert [await take for take in takes] == [None, None]
    assert await line.take(read(update(2))) is None
