"""Who runs next: lanes that were kicked, taken round robin over users, within the run gate.

Neighbours: `intake`, `requests` and a start kick; `turns` drains. Lives in memory only: what must run is in the
store, and a start kicks it again. Invariants: one runner per lane; at most `per_user` running turns of one user
and `total` in all; a turn that was resumed goes before its user's new ones; a head that may not run yet takes no
place before its time.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import structlog

from gateway.clock import Clock, to_ms, utc_now
from gateway.store.lanes import LONGEST_WAIT_MS, Head

log = structlog.get_logger()
Drain = Callable[[int], Coroutine[Any, Any, Head | None]]
Cut = Literal["stop", "shutdown", "timeout"]

LONGEST_WAIT_S = LONGEST_WAIT_MS / 1000


@dataclass(slots=True)
class _User:
    """One user's lanes that may run, and how many run."""

    resumed: deque[Head] = field(default_factory=deque)
    fresh: deque[Head] = field(default_factory=deque)
    running: int = 0
    in_ring: bool = False

    @property
    def has_ready(self) -> bool:
        return bool(self.resumed or self.fresh)

    def take(self) -> Head:
        return (self.resumed or self.fresh).popleft()


class TurnQueue:
    """The run gate and the fair order before it."""

    def __init__(self, *, per_user: int = 5, total: int = 200, clock: Clock = utc_now) -> None:
        self._per_user = per_user
        self._total = total
        self._clock = clock
        self._users: dict[str, _User] = {}
        self._ring: deque[str] = deque()  # users with a ready lane and a free place, next one first
        self._queued: set[int] = set()
        self._early: dict[int, asyncio.TimerHandle] = {}
        self._running: dict[int, asyncio.Task[Head | None]] = {}
        self._again: dict[int, Head] = {}
        self._cuts: dict[int, Cut] = {}
        self._group: asyncio.TaskGroup | None = None
        self._drain: Drain | None = None
        self._closing = False
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def running(self) -> int:
        """How many turns run now."""
        return len(self._running)

    @property
    def waiting(self) -> int:
        """How many lanes wait for a place."""
        return len(self._queued) + len(self._early)

    def bind(self, group: asyncio.TaskGroup, drain: Drain) -> None:
        """Set the task group turns run in and what runs one; kicks before that wait."""
        self._group, self._drain = group, drain
        self._fill()

    def kick(self, head: Head) -> None:
        """A lane's head may run: it gets the next free place in its turn. Kicking twice is harmless."""
        if head.lane_id in self._running:
            self._again[head.lane_id] = head
            return
        if head.lane_id in self._queued:
            return
        if (timer := self._early.pop(head.lane_id, None)) is not None:
            timer.cancel()
        wait_s = (head.not_before_ms - to_ms(self._clock())) / 1000
        if wait_s > 0:
            self._wait(head, wait_s)
            return
        self._queued.add(head.lane_id)
        self._idle.clear()
        user = self._users.setdefault(head.requester, _User())
        (user.resumed if head.resumed else user.fresh).append(head)
        self._enter_ring(head.requester, user)
        self._fill()

    def _wait(self, head: Head, wait_s: float) -> None:
        # Whether its time has come the claim decides by the wall clock; if that was put back, it is early again.
        self._idle.clear()
        later = replace(head, not_before_ms=0)
        loop = asyncio.get_running_loop()
        self._early[head.lane_id] = loop.call_later(min(wait_s, LONGEST_WAIT_S), self.kick, later)

    def cut(self, lane_id: int, why: Cut) -> bool:
        """Cancel what runs in this lane; its runner finds the reason with `why_cut`. False if nothing runs."""
        task = self._running.get(lane_id)
        if task is None:
            return False
        self._cuts.setdefault(lane_id, why)
        task.cancel()
        return True

    def why_cut(self, lane_id: int) -> Cut | None:
        """Why the lane's running task was cancelled by `cut`, if it was."""
        return self._cuts.get(lane_id)

    async def close(self, drain_s: float) -> None:
        """Start nothing more; give running turns `drain_s` seconds, then cut them (they go on after a restart)."""
        self._closing = True
        for timer in self._early.values():
            timer.cancel()
        self._early.clear()
        tasks = list(self._running.values())
        if tasks:
            await asyncio.wait(tasks, timeout=drain_s)
        for lane_id in list(self._running):
            self.cut(lane_id, "shutdown")
        if self._running:
            await asyncio.wait(list(self._running.values()), timeout=5)

    async def wait_idle(self) -> None:
        """Wait until nothing runs and nothing waits for a place."""
        await self._idle.wait()

    def _fill(self) -> None:
        if self._group is None or self._closing:
            return
        # Round robin: a user who got a place goes to the end of the ring before getting a second.
        while self._ring and len(self._running) < self._total and not self._closing:
            name = self._ring.popleft()
            user = self._users[name]
            user.in_ring = False
            self._start(name, user, user.take())
            self._enter_ring(name, user)

    def _enter_ring(self, name: str, user: _User) -> None:
        if user.has_ready and user.running < self._per_user and not user.in_ring:
            user.in_ring = True
            self._ring.append(name)

    def _start(self, name: str, user: _User, head: Head) -> None:
        assert self._group is not None
        assert self._drain is not None
        self._queued.discard(head.lane_id)
        run = self._drain(head.lane_id)
        try:
            task = self._group.create_task(run, name=f"lane.{head.lane_id}")
        except RuntimeError:  # the task group is coming down: the turn is found again at the next start
            run.close()
            self._closing = True
            return
        user.running += 1
        self._running[head.lane_id] = task
        # A callback, not a `finally`: a task that is cancelled before its first step runs no line of its own.
        task.add_done_callback(lambda done: self._ended(name, head, done))

    def _ended(self, name: str, head: Head, task: "asyncio.Task[Head | None]") -> None:
        user = self._users[name]
        user.running -= 1
        del self._running[head.lane_id]
        was_cut = self._cuts.pop(head.lane_id, None) is not None
        again = self._again.pop(head.lane_id, None)
        if task.cancelled() and not was_cut:
            self._closing = True  # the task group itself is coming down: it takes no new task
        self._enter_ring(name, user)
        if not user.running and not user.has_ready:
            del self._users[name]
        following = head if task.cancelled() else task.result() if task.exception() is None else None
        if not self._closing:
            heads = [head for head in (following, again) if head]
            if heads:
                self.kick(min(heads, key=lambda head: head.not_before_ms))
            self._fill()
        if not self._running and not self.waiting:
            self._idle.set()
