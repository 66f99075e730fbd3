"""What a chat that Telegram makes wait (429, `retry_after` 30) costs all the others: their latencies with and without.

Both are measured in turn on one running Parley, so that a busy moment meets both. The limited chat's own answer must
come when its wait is over.
"""

import asyncio
import statistics
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from bench.contestants import Running, parley
from tests.simulators.model import ModelSimulator
from tests.simulators.telegram import TelegramSimulator
from tests.simulators.telegram.records import User

CHATS = 20
TURNS = 10
RETRY_AFTER_S = 30
WAIT_S = 90.0


@dataclass(slots=True)
class Figures:
    """Latencies of the others in ms, and how long the limited chats waited for their answers in s."""

    without_ms: list[float] = field(default_factory=list)
    with_ms: list[float] = field(default_factory=list)
    limited_s: list[float] = field(default_factory=list)


async def measure(rounds: int = 2) -> Figures:
    """Rounds of the others alone and beside a chat that has to wait."""
    figures = Figures()
    async with ModelSimulator() as model, TelegramSimulator() as sim:
        with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
            contestant = parley(sim.url, model.base_url, sim.token, Path(name) / "state")
            running = await Running.start(contestant, Path(name) / "log")
            try:
                await _talk(sim, sim.add_user(), 1)
                waits = []
                for _ in range(rounds):
                    figures.without_ms += await _others(sim)
                    waits.append(await _limited(sim))
                    figures.with_ms += await _others(sim)
                figures.limited_s += await asyncio.gather(*waits)
            finally:
                await running.stop()
    return figures


async def _others(sim: TelegramSimulator) -> list[float]:
    talks = [_talk(sim, sim.add_user(), TURNS) for _ in range(CHATS)]
    return [ms for talk in await asyncio.gather(*talks) for ms in talk]


async def _talk(sim: TelegramSimulator, user: User, turns: int) -> list[float]:
    found = []
    for number in range(turns):
        said = sim.say(user, f"message {number}")
        replies = await sim.wait_for_replies(user, number + 1, WAIT_S)
        found.append((replies[-1].at_s - said.at_s) * 1000)
    return found


async def _limited(sim: TelegramSimulator) -> "asyncio.Task[float]":
    """Let a chat be told to wait; the task ends with its answer."""
    user = sim.add_user()
    before = _told_to_wait(sim)
    sim.flood(user, retry_after_s=RETRY_AFTER_S)
    began = monotonic()
    sim.say(user, "limited")
    await sim.wait_for(lambda: _told_to_wait(sim) > before, WAIT_S)

    async def answered() -> float:
        await sim.wait_for_replies(user, 1, WAIT_S)
        return monotonic() - began

    return asyncio.create_task(answered())


def _told_to_wait(sim: TelegramSimulator) -> int:
    return sum(call.status == 429 for call in sim.calls("sendMessage"))


def table(figures: Figures) -> str:
    """The figures as a Markdown table."""
    rows = [
        ("latency of the others, p50 ms", _p(figures.without_ms, 50), _p(figures.with_ms, 50)),
        ("latency of the others, p99 ms", _p(figures.without_ms, 99), _p(figures.with_ms, 99)),
    ]
    lines = [
        f"| {CHATS} chats beside one with a 429 of {RETRY_AFTER_S} s | without | with |",
        "|---|---|---|",
    ]
    lines += [f"| {name} | {low:.1f} | {high:.1f} |" for name, low, high in rows]
    lines.append(f"| the limited chat's answer came after, s | | {max(figures.limited_s):.1f} |")
    return "\n".join(lines)


def _p(values: list[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]
