"""What one turn costs: latency, CPU, memory and start, for the bare bot and for Parley, side by side in one run.

Latency is from the moment a message is available to a poll to the moment the answer's sendMessage arrives; the
model answers at once. First words are a message or a draft of one: the demo model types at a reader's pace. The
simulators run in this process, whose CPU is not counted.
"""

import asyncio
import statistics
import tempfile
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Self

from bench.contestants import Contestant, Running, bare, parley, parley_demo
from tests.simulators.model import ModelSimulator
from tests.simulators.telegram import TelegramSimulator
from tests.simulators.telegram.records import User

ONE_CHAT_TURNS = 60
CHATS = 50
TURNS_PER_CHAT = 8
CROWD = 200
SESSIONS = 1_000
WAIT_S = 60.0


@dataclass(slots=True)
class Figures:
    """What was measured of one contestant, one entry per round."""

    start_s: list[float] = field(default_factory=list)
    idle_mb: list[float] = field(default_factory=list)
    one_ms: list[float] = field(default_factory=list)
    fifty_ms: list[float] = field(default_factory=list)
    crowd_ms: list[float] = field(default_factory=list)
    cpu_per_1000_s: list[float] = field(default_factory=list)
    after_sessions_mb: list[float] = field(default_factory=list)
    refused: int = 0


async def measure(rounds: int = 2) -> dict[str, Figures]:
    """Both contestants run side by side and are asked in turn, so that a busy moment meets both; by name."""
    async with ModelSimulator() as model, TelegramSimulator() as low, TelegramSimulator() as high:
        with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
            folder = Path(name)
            figures: dict[str, Figures] = {}
            await _demo_round(folder, figures)
            async with (
                _Course(low, bare(low.url, model.base_url, low.token), folder / "log") as floor,
                _Course(
                    high, parley(high.url, model.base_url, high.token, folder / "state"), folder / "log"
                ) as ours,
            ):
                for course in (floor, ours):
                    found = figures[course.name] = Figures()
                    found.start_s.append(course.start_s)
                    found.idle_mb.append(course.running.rss_mb())
                for _ in range(rounds):
                    await _round((floor, ours), figures)
                for course in (floor, ours):
                    await course.sessions()
                    figures[course.name].after_sessions_mb.append(course.running.rss_mb())
                    figures[course.name].refused = sum(course.sim.refusals.values())
    return figures


async def _round(courses: "tuple[_Course, ...]", figures: dict[str, Figures]) -> None:
    talks = [course.one_chat() for course in courses]
    for _ in range(ONE_CHAT_TURNS):
        for course, talk in zip(courses, talks, strict=True):
            figures[course.name].one_ms.append(await anext(talk))
    for course in courses:
        before = course.running.cpu_s()
        found = figures[course.name]
        found.fifty_ms += await course.many_chats()
        found.cpu_per_1000_s.append((course.running.cpu_s() - before) * 1000 / (CHATS * TURNS_PER_CHAT))
    for course in courses:
        figures[course.name].crowd_ms += await course.many_chats(CROWD, 1)


async def _demo_round(folder: Path, figures: dict[str, Figures]) -> None:
    async with TelegramSimulator() as sim:
        contestant = parley_demo(sim.url, sim.token, folder / "demo-state")
        async with _Course(sim, contestant, folder / "log") as course:
            found = figures.setdefault(contestant.name, Figures())
            found.start_s.append(course.start_s)
            found.idle_mb.append(course.running.rss_mb())


class _Course:
    """One contestant, started, with a first answer given."""

    def __init__(self, sim: TelegramSimulator, contestant: Contestant, log: Path) -> None:
        self.sim = sim
        self.name = contestant.name
        self._contestant = contestant
        self._log = log
        self._next_user = 10_000
        self.start_s = 0.0
        self.running: Running

    async def __aenter__(self) -> Self:
        first = self._person()
        self.sim.say(first, "first")
        began = monotonic()
        self.running = await Running.start(self._contestant, self._log)
        try:
            chat = self.sim.chat(first)
            await self.sim.wait_for(lambda: chat.drafts or chat.bot_messages, WAIT_S)
            self.start_s = monotonic() - began
            await self.sim.wait_for_replies(first, 1, WAIT_S)
            await asyncio.sleep(2)
        except BaseException:
            await self.running.stop()
            print(f"{self._contestant.name} did not answer; its last words:", self._log.read_text()[-2000:])
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.running.stop()

    async def one_chat(self) -> AsyncIterator[float]:
        """Latencies in ms of one message after the other in one chat, each sent when it is asked for."""
        user = self._person()
        number = 0
        while True:
            yield await self._turn(user, number)
            number += 1

    async def many_chats(self, chats: int = CHATS, turns: int = TURNS_PER_CHAT) -> list[float]:
        """Latencies in ms of many chats at once, each with one message after the other; none goes unanswered."""
        talks = [self._talk(self._person(), turns) for _ in range(chats)]
        return [ms for talk in await asyncio.gather(*talks) for ms in talk]

    async def sessions(self) -> None:
        """One message from each of many people."""
        people = [self._person() for _ in range(SESSIONS)]
        for group in (people[at : at + 50] for at in range(0, SESSIONS, 50)):
            await asyncio.gather(*[self._talk(user, 1) for user in group])

    async def _talk(self, user: User, turns: int) -> list[float]:
        return [await self._turn(user, number) for number in range(turns)]

    async def _turn(self, user: User, number: int) -> float:
        said = self.sim.say(user, f"message {number}")
        replies = await self.sim.wait_for_replies(user, number + 1, WAIT_S)
        return (replies[-1].at_s - said.at_s) * 1000

    def _person(self) -> User:
        self._next_user += 1
        return self.sim.add_user(self._next_user)


def table(figures: dict[str, Figures]) -> str:
    """The figures as a Markdown table, with Parley's ratio to the floor."""
    floor, ours, demo = figures["bare bot"], figures["Parley"], figures["Parley, demo"]
    rows = [
        ("latency, 1 chat, p50 ms", _p(floor.one_ms, 50), _p(ours.one_ms, 50)),
        ("latency, 1 chat, p99 ms", _p(floor.one_ms, 99), _p(ours.one_ms, 99)),
        ("latency, 50 chats, p50 ms", _p(floor.fifty_ms, 50), _p(ours.fifty_ms, 50)),
        ("latency, 50 chats, p99 ms", _p(floor.fifty_ms, 99), _p(ours.fifty_ms, 99)),
        (f"latency, {CROWD} chats at the same moment, p50 ms", _p(floor.crowd_ms, 50), _p(ours.crowd_ms, 50)),
        (f"latency, {CROWD} chats at the same moment, p99 ms", _p(floor.crowd_ms, 99), _p(ours.crowd_ms, 99)),
        ("CPU s per 1,000 turns", _mid(floor.cpu_per_1000_s), _mid(ours.cpu_per_1000_s)),
        ("idle memory, MB", _mid(floor.idle_mb), _mid(ours.idle_mb)),
        ("memory after 1,000 sessions, MB", _mid(floor.after_sessions_mb), _mid(ours.after_sessions_mb)),
        ("start to first words, s", _mid(floor.start_s), _mid(ours.start_s)),
    ]
    lines = ["| | bare bot | Parley | ratio |", "|---|---|---|---|"]
    lines += [f"| {name} | {low:.1f} | {high:.1f} | {high / low:.2f} |" for name, low, high in rows]
    lines.append(f"| demo model alone: idle memory, MB | | {_mid(demo.idle_mb):.1f} | |")
    lines.append(f"| demo model alone: start to first words, s | | {_mid(demo.start_s):.1f} | |")
    lines.append(f"| requests the simulator refused | {floor.refused} | {ours.refused} | |")
    return "\n".join(lines)


def _p(values: Sequence[float], percent: int) -> float:
    return statistics.quantiles(values, n=100)[percent - 1]


def _mid(values: Sequence[float]) -> float:
    return statistics.median(values)
