"""The crash run: people on three platforms talk to one daemon, which is killed at random moments and started again.

Every message carries a word of its own, so that its answer can be found in what the platform shows. A message is lost
if neither its answer was shown nor a piece of its own turn is of unknown outcome, of which its author is told (and then
says /again); doubled if its answer was shown twice, the second time without a word that it may be a repeat.
Most lives end by SIGKILL; between them the daemon is also asked to stop (SIGTERM), and frozen and woken (SIGSTOP,
SIGCONT). Everybody says hello before the first kill: a person's very first direct message on Discord, sent while no bot
is there, cannot be found by anybody (`adapters/discord/backfill.py`).
"""

import asyncio
import random
import signal
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.crash.crowds import CROWDS, Crowd
from tests.crash.tally import (
    Seen,
    Talk,
    Tally,
    excused_words,
    lost,
    seen,
    unknown_pieces,
    written_words,
)
from tests.process import DaemonProcess

ANSWER_S = 60.0
LOOK_S = 0.1
PRESS_AGAIN_S = 1.5
MOST_OUTSTANDING = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long and how hard.

    `people`: on each platform. `tools`: the part of messages that ask for a tool (0 to 1), likewise `stops` and
    `freezes` of lives; `unready`: the part of lives that end while the daemon starts. `longest_life_s`: from where
    turns can run to the end, at most.
    """

    kills: int
    people: int = 8
    tools: float = 0.25
    stops: float = 0.05
    freezes: float = 0.05
    unready: float = 0.1
    longest_life_s: float = 5.0
    seed: int = 1


@dataclass(slots=True, kw_only=True)
class Result:
    """What was done, and a tally for each platform."""

    kills: int = 0
    stops: int = 0
    freezes: int = 0
    took_s: float = 0.0
    tallies: list[Tally] = field(default_factory=list)

    @property
    def lives(self) -> str:
        """How the daemon's lives ended, in words."""
        return (
            f"{self.kills} times killed (SIGKILL), {self.stops} times asked to stop (SIGTERM),"
            f" {self.freezes} times frozen and woken (SIGSTOP, SIGCONT), in {self.took_s / 60:.0f} minutes"
        )

    @property
    def wrong(self) -> list[str]:
        """What must not be."""
        return [case for tally in self.tallies for case in tally.wrong]


class CrashRun:
    """One run: `await CrashRun(folder, plan).run()`."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self._folder = folder
        self._plan = plan
        self._random = random.Random(plan.seed)
        self._crowds: tuple[Crowd, ...] = tuple(crowd() for crowd in CROWDS)
        self._people: list[_Person] = []
        self._done = asyncio.Event()
        self._excused: frozenset[str] = frozenset()
        self._looked_at = 0.0
        self.result = Result()

    async def run(self) -> Result:
        """Talk, kill, settle, count."""
        began = asyncio.get_running_loop().time()
        async with AsyncExitStack() as stack:
            env = {"PARLEY_SHUTDOWN__DRAIN_S": "1"}
            for crowd in self._crowds:
                await stack.enter_async_context(crowd.sim)
                env |= crowd.env()
            self._people = [
                _Person(crowd, crowd.add_person(number), f"w{at}{number:03d}", self._random)
                for at, crowd in enumerate(self._crowds, start=1)
                for number in range(self._plan.people)
            ]
            daemon = await stack.enter_async_context(DaemonProcess(self._folder, env))
            await daemon.start()
            await daemon.wait_says("adapter.online", len(self._crowds))
            for person in self._people:
                person.say(0.0)
            await self._settle()
            async with asyncio.TaskGroup() as group:
                talks = [
                    group.create_task(person.talk(self._plan.tools, self._done, self._outstanding))
                    for person in self._people
                ]
                await self._end(daemon)
                while self.result.kills < self._plan.kills:
                    await self._live(daemon)
                self._done.set()
                await asyncio.wait(talks)
                await daemon.start()
                pressing = group.create_task(self._press_on())
                await self._settle()
                pressing.cancel()
            if await daemon.stop() != 0:
                raise AssertionError("the daemon did not end in order: " + daemon.printed()[-2000:])
            self._count()
        self.result.took_s = asyncio.get_running_loop().time() - began
        return self.result

    async def _live(self, daemon: DaemonProcess) -> None:
        plan, chance = self._plan, self._random
        await daemon.start()
        # Most lives should end while the daemon works, a few while it starts.
        if chance.random() >= plan.unready:
            await daemon.wait_says("daemon.serving")
        await asyncio.sleep(chance.uniform(0.0, plan.longest_life_s))
        if chance.random() < plan.freezes:
            daemon.signal(signal.SIGSTOP)
            await asyncio.sleep(chance.uniform(0.1, 1.0))
            daemon.signal(signal.SIGCONT)
            await asyncio.sleep(chance.uniform(0.0, plan.longest_life_s))
            self.result.freezes += 1
        await self._end(daemon)

    async def _end(self, daemon: DaemonProcess) -> None:
        if self._random.random() < self._plan.stops:
            await daemon.stop()
            self.result.stops += 1
        else:
            await daemon.kill()
            self.result.kills += 1

    async def _press_on(self) -> None:
        while True:
            for person in self._people:
                person.press_cards()
                person.ask_again()
            await asyncio.sleep(LOOK_S)

    async def _settle(self) -> None:
        """Wait until every message has what it is owed, or for `ANSWER_S` after the last change."""
        loop = asyncio.get_running_loop()
        left, changed = None, loop.time()
        while left != 0 and loop.time() - changed < ANSWER_S:
            now = sum(map(self._outstanding, self._people))
            if now != left:
                left, changed = now, loop.time()
            await asyncio.sleep(LOOK_S)

    def _outstanding(self, person: "_Person") -> int:
        """How many of a person's messages are owed something yet; what excuses them is looked up once a second."""
        now = asyncio.get_running_loop().time()
        if now - self._looked_at > 1.0:
            self._excused, self._looked_at = excused_words(self._database), now
        return len(lost(person.said, person.seen(), self._excused))

    @property
    def _database(self) -> Path:
        return self._folder / "state" / "parley.db"

    def _count(self) -> None:
        state = self._folder / "state"
        words = written_words(state / "notes")
        excused = excused_words(self._database)
        for crowd in self._crowds:
            tally = Tally(platform=crowd.name)
            for person in (one for one in self._people if one.crowd is crowd):
                tally.add(person.said, person.seen(), excused)
                tally.tools_twice += [word for word in person.said.tools if words[word] > 1]
                open_cards = {token for token, _ in crowd.open_cards(person.person)}
                tally.cards += len(person.pressed)
                tally.dead_cards += sorted(open_cards & person.pressed.keys())
            tally.sends = len(crowd.sim.calls(crowd.send_method))
            tally.unknown = unknown_pieces(self._database, crowd.key)
            self.result.tallies.append(tally)


class _Person:
    """Somebody who talks, waits while answers are outstanding, presses Once on every card, and does as told."""

    def __init__(self, crowd: Crowd, person: Any, name: str, chance: random.Random) -> None:
        self.crowd = crowd
        self.person = person
        self._name = name
        self._random = chance
        self.said = Talk()
        self.pressed: dict[str, float] = {}
        self.asked_again = 0

    async def talk(self, tools: float, done: asyncio.Event, outstanding: "Callable[[_Person], int]") -> None:
        """Until `done`."""
        while not done.is_set():
            if outstanding(self) < MOST_OUTSTANDING:
                self.say(tools)
            self.press_cards()
            self.ask_again()
            await asyncio.sleep(self._random.uniform(0.1, 1.0))

    def say(self, tools: float) -> None:
        """Say the next word."""
        word = f"{self._name}x{len(self.said.plain) + len(self.said.tools)}"
        wants_tool = self._random.random() < tools
        (self.said.tools if wants_tool else self.said.plain).append(word)
        self.crowd.sim.say(self.person, f'use write_note {{"text": "{word}"}}' if wants_tool else word)

    def press_cards(self) -> None:
        """Press what is shown; again after a while if nothing came of it, as people do."""
        now = asyncio.get_running_loop().time()
        for token, message in list(self.crowd.open_cards(self.person)):
            if now - self.pressed.get(token, -PRESS_AGAIN_S) >= PRESS_AGAIN_S:
                self.pressed[token] = now
                self.crowd.sim.press(message, "Once", self.person)

    def ask_again(self) -> None:
        """Say /again, once each time they are told that something may be missing."""
        told = self.seen().told_missing
        if told > self.asked_again:
            self.asked_again = told
            self.crowd.sim.say(self.person, "/again")

    def seen(self) -> Seen:
        """What was shown so far."""
        return seen(self.said, [message.text or "" for message in self.crowd.sim.replies(self.person)])
