"""The run gate and the fair order before it."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.store.lanes import Head
from gateway.turn_queue import TurnQueue


class Runner:
    """Stands for `turns`: each run of a lane waits until it is let go, and notes who ran when."""

    def __init__(self, queue: TurnQueue) -> None:
        self.queue = queue
        self.order: list[int] = []
        self.cut: list[tuple[int, str | None]] = []
        self.next: dict[int, Head | None] = {}
        self._gates: dict[int, asyncio.Event] = defaultdict(asyncio.Event)
        self.free = False

    async def drain(self, lane_id: int) -> Head | None:
        self.order.append(lane_id)
        try:
            if not self.free:
                await self._gates[lane_id].wait()
                self._gates[lane_id].clear()
        except asyncio.CancelledError:
            self.cut.append((lane_id, self.queue.why_cut(lane_id)))
            task = asyncio.current_task()
            assert task is not None
            task.uncancel()
            return None
        return self.next.pop(lane_id, None)

    def let_go(self, *lanes: int) -> None:
        for lane_id in lanes:
            self._gates[lane_id].set()

    def let_all_go(self) -> None:
        self.free = True
        self.let_go(*self.order)


def a_head(lane_id: int, user: str = "a", *, resumed: bool = False) -> Head:
    return Head(lane_id=lane_id, requester=user, resumed=resumed)


async def settle() -> None:
    """Let tasks that are ready take their steps."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.fixture
async def group() -> AsyncIterator[asyncio.TaskGroup]:
    async with asyncio.TaskGroup() as tasks:
        yield tasks


def bound(group: asyncio.TaskGroup, **limits: int) -> Runner:
    queue = TurnQueue(**limits)
    runner = Runner(queue)
    queue.bind(group, runner.drain)
    return runner


@pytest.mark.req("QUE-3")
async def test_a_users_running_turns_are_limited_and_anothers_go_on(group: asyncio.TaskGroup) -> None:
    runner = bound(group, per_user=2)
    for lane_id in (1, 2, 3):
        runner.queue.kick(a_head(lane_id))
    runner.queue.kick(a_head(9, "b"))
    await settle()
    assert runner.order == [1, 2, 9]
    assert (runner.queue.running, runner.queue.waiting) == (3, 1)

    runner.let_go(1)
    await settle()
    assert runner.order == [1, 2, 9, 3]
    runner.let_all_go()


@pytest.mark.req("QUE-3")
async def test_no_more_run_in_all_than_the_global_limit(group: asyncio.TaskGroup) -> None:
    runner = bound(group, total=3)
    for lane_id in range(10):
        runner.queue.kick(a_head(lane_id, f"user {lane_id}"))
    await settle()

    assert runner.queue.running == 3
    runner.let_all_go()
    await runner.queue.wait_idle()
    assert runner.order == list(range(10))


@pytest.mark.req("QUE-6")
async def test_a_thousand_lanes_of_one_user_delay_another_by_one_round_at_most(
    group: asyncio.TaskGroup,
) -> None:
    runner = bound(group, per_user=5, total=5)
    for lane_id in range(1_000):
        runner.queue.kick(a_head(lane_id, "hog"))
    await settle()
    runner.queue.kick(a_head(5_000, "other"))
    runner.queue.kick(a_head(5_001, "third"))
    runner.let_go(0)
    await settle()
    runner.let_go(1)
    await settle()

    assert runner.order[5:] == [5_000, 5_001]
    runner.let_all_go()
    await runner.queue.wait_idle()


@pytest.mark.req("QUE-6")
@settings(max_examples=50, deadline=None)
@given(
    kicks=st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), max_size=40),
    per_user=st.integers(1, 3),
    total=st.integers(1, 5),
)
def test_everything_kicked_runs_once_within_the_limits_each_user_in_order(
    kicks: list[tuple[str, bool]], per_user: int, total: int
) -> None:
    async def run() -> None:
        running: dict[str, int] = defaultdict(int)
        started: list[int] = []

        async def drain(lane_id: int) -> Head | None:
            user = kicks[lane_id][0]
            running[user] += 1
            started.append(lane_id)
            assert running[user] <= per_user
            assert sum(running.values()) <= total
            await asyncio.sleep(0)
            running[user] -= 1
            return None

        queue = TurnQueue(per_user=per_user, total=total)
        for lane_id, (user, resumed) in enumerate(kicks):
            queue.kick(a_head(lane_id, user, resumed=resumed))
        async with asyncio.TaskGroup() as tasks:
            queue.bind(tasks, drain)
            await queue.wait_idle()
        assert sorted(started) == list(range(len(kicks)))
        for user in "abc":
            own = [lane for lane in range(len(kicks)) if kicks[lane][0] == user]
            expected = [n for n in own if kicks[n][1]] + [n for n in own if not kicks[n][1]]
            assert [lane for lane in started if kicks[lane][0] == user] == expected
        assert queue._users == {}

    asyncio.run(run())


@pytest.mark.req("QUE-5")
async def test_a_resumed_turn_goes_before_its_users_new_ones_and_never_above_the_limit(
    group: asyncio.TaskGroup,
) -> None:
    runner = bound(group, per_user=1)
    for lane_id in (1, 2):
        runner.queue.kick(a_head(lane_id))
    runner.queue.kick(a_head(3, resumed=True))
    await settle()
    assert runner.order == [1]

    runner.let_go(1)
    await settle()
    assert runner.order == [1, 3]
    runner.let_all_go()
    await runner.queue.wait_idle()
    assert runner.order == [1, 3, 2]


@pytest.mark.req("QUE-1")
async def test_a_lane_has_one_runner_and_a_kick_meanwhile_brings_one_more_run(
    group: asyncio.TaskGroup,
) -> None:
    runner = bound(group)
    for _ in range(3):
        runner.queue.kick(a_head(1))
    await settle()
    for _ in range(3):
        runner.queue.kick(a_head(1))
    assert runner.order == [1]

    runner.let_go(1)
    await settle()
    assert runner.order == [1, 1]
    runner.let_go(1)
    await settle()
    assert (runner.order, runner.queue.running, runner.queue.waiting) == ([1, 1], 0, 0)


@pytest.mark.req("QUE-1", "QUE-6")
async def test_the_next_turn_of_a_lane_waits_its_round_like_any_other(group: asyncio.TaskGroup) -> None:
    runner = bound(group, total=1)
    runner.next[1] = a_head(1)
    runner.queue.kick(a_head(1))
    runner.queue.kick(a_head(2, "b"))
    await settle()
    runner.let_all_go()
    await runner.queue.wait_idle()

    assert runner.order == [1, 2, 1]


@pytest.mark.req("AGT-9")
async def test_a_cut_says_why_and_frees_the_place(group: asyncio.TaskGroup) -> None:
    runner = bound(group, per_user=1)
    runner.queue.kick(a_head(1))
    runner.queue.kick(a_head(2))
    await settle()

    assert runner.queue.cut(1, "stop")
    assert not runner.queue.cut(2, "stop")  # it waits: nothing runs there
    await settle()
    assert runner.cut == [(1, "stop")]
    assert runner.order == [1, 2]
    assert runner.queue.why_cut(1) is None
    runner.let_all_go()


@pytest.mark.req("AGT-9", "QUE-3")
async def test_a_lane_cut_before_its_first_step_is_run_again_and_gives_its_place_back(
    group: asyncio.TaskGroup,
) -> None:
    runner = bound(group, per_user=1)
    runner.queue.kick(a_head(1))
    assert runner.queue.cut(1, "stop")
    assert runner.order == []
    await settle()

    assert runner.order == [1]
    assert runner.queue.running == 1
    runner.let_all_go()


@pytest.mark.req("OPS-4")
async def test_closing_starts_nothing_more_waits_and_then_cuts(group: asyncio.TaskGroup) -> None:
    runner = bound(group, per_user=1)
    for lane_id, user in ((1, "a"), (2, "b"), (3, "a")):
        runner.queue.kick(a_head(lane_id, user))
    await settle()
    closing = asyncio.create_task(runner.queue.close(0.05))
    await settle()
    runner.let_go(1)
    await closing

    assert runner.order == [1, 2]
    assert runner.cut == [(2, "shutdown")]
    runner.queue.kick(a_head(4, "c"))
    await settle()
    assert runner.order == [1, 2]


async def test_a_task_group_that_comes_down_is_given_no_new_task() -> None:
    queue = TurnQueue(per_user=1)
    runner = Runner(queue)

    async def live() -> None:
        async with asyncio.TaskGroup() as tasks:
            queue.bind(tasks, never)
            queue.kick(a_head(1))
            queue.kick(a_head(2))
            await asyncio.Event().wait()

    async def never(lane_id: int) -> Head | None:
        runner.order.append(lane_id)
        await asyncio.Event().wait()
        return None

    living = asyncio.create_task(live())
    await settle()
    living.cancel()
    with pytest.raises(asyncio.CancelledError):
        await living

    assert runner.order == [1]
    assert queue.running == 0


def early(lane_id: int, seconds: float) -> Head:
    """A head whose message may still grow for so long."""
    not_before_ms = int((datetime.now(UTC).timestamp() + seconds) * 1000)
    return replace(a_head(lane_id), not_before_ms=not_before_ms)


@pytest.mark.req("QUE-8")
async def test_a_head_before_its_time_takes_no_place_and_runs_when_kicked_again(
    group: asyncio.TaskGroup,
) -> None:
    runner = bound(group, per_user=1, total=1)
    runner.queue.kick(early(1, 1_000))
    runner.queue.kick(a_head(2))
    await settle()
    assert (runner.order, runner.queue.waiting) == ([2], 1)

    runner.let_all_go()
    runner.queue.kick(a_head(1))
    await runner.queue.wait_idle()
    assert runner.order == [2, 1]


@pytest.mark.req("QUE-8")
async def test_a_head_runs_by_itself_when_its_time_has_come(group: asyncio.TaskGroup) -> None:
    runner = bound(group)
    runner.free = True
    runner.queue.kick(early(1, 0.05))
    runner.queue.kick(early(1, 0.1))  # more was said: later
    await runner.queue.wait_idle()

    assert runner.order == [1]


@pytest.mark.req("QUE-8")
async def test_a_runner_that_finds_its_head_too_early_comes_back_for_it(group: asyncio.TaskGroup) -> None:
    runner = bound(group)
    runner.free = True
    runner.next[1] = early(1, 0.05)
    runner.queue.kick(a_head(1))
    await runner.queue.wait_idle()

    assert runner.order == [1, 1]


@pytest.mark.req("QUE-8")
async def test_nothing_starts_by_itself_after_the_gate_is_closed(group: asyncio.TaskGroup) -> None:
    runner = bound(group)
    runner.queue.kick(early(1, 0.01))
    await runner.queue.close(1)

    assert (runner.order, runner.queue.waiting) == ([], 0)
