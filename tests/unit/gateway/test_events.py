"""Who hears of a turn's events while it runs."""

import asyncio

import pytest

from gateway import events
from gateway.events import EventHub, Pulse, TurnEvent


def an_event(idx: int, lane_id: int = 1) -> TurnEvent:
    return TurnEvent(turn_id=1, lane_id=lane_id, idx=idx, kind="text", payload="{}")


@pytest.mark.req("EVT-2")
async def test_every_watcher_of_a_lane_gets_its_events_in_order_and_no_others() -> None:
    hub = EventHub()
    async with hub.watch(1) as one, hub.watch(1) as two, hub.watch(2) as other:
        hub.publish([an_event(0), an_event(1), an_event(0, lane_id=2)])

        assert [await anext(one), await anext(one)] == [an_event(0), an_event(1)]
        assert [await anext(two), await anext(two)] == [an_event(0), an_event(1)]
        assert await anext(other) == an_event(0, lane_id=2)


@pytest.mark.req("EVT-2")
async def test_a_watcher_that_falls_too_far_behind_is_cut_off_and_the_others_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(events, "MAX_BEHIND", 3)
    hub = EventHub()
    async with hub.watch(1) as slow, hub.watch(1) as quick:
        seen = []
        for idx in range(6):
            hub.publish([an_event(idx)])
            seen.append((await anext(quick)).idx)

        assert seen == list(range(6))
        assert [event async for event in slow] == []


async def test_nothing_is_kept_for_those_who_left() -> None:
    hub = EventHub()
    async with hub.watch(1):
        pass
    hub.publish([an_event(0)])

    assert hub._watchers == {}


async def test_a_pulse_wakes_all_who_wait_and_nobody_who_comes_later() -> None:
    pulse = Pulse()
    pulse.beat()
    waiters = [asyncio.create_task(pulse.next()) for _ in range(3)]
    await asyncio.sleep(0)
    assert not any(waiter.done() for waiter in waiters)

    pulse.beat()
    late = asyncio.create_task(pulse.next())
    await asyncio.gather(*waiters)
    assert not late.done()
    late.cancel()
