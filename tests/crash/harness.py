"""The crash run: users talk, the daemon is killed at random moments and started again, then all is counted.

Every message carries a word of its own, so that its answer can be found in what the platform shows. A message is
lost if neither its answer was shown nor the user told that something may be missing; doubled if its answer was
shown twice.
"""

import asyncio
import random
import re
import sqlite3
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.process import DaemonProcess
from tests.simulators.telegram import TelegramSimulator
from tests.simulators.telegram.records import Message, User

FIRST_USER = 5_000
ANSWER_S = 90.0
FOREVER_S = 3_600.0
MOST_OUTSTANDING = 3

SERVING = "daemon.serving"
MAYBE_LOST = "may not have arrived"
GIVEN_UP = "so I gave it up"
ANSWER = re.compile(r"You said: (w\d+x\d+)\b")
# What the demo says after a tool: it ran, failed, was refused, or nobody knows.
TOOL_ANSWER = re.compile(r"\S*write_note (returned|failed|was )")


@dataclass(slots=True)
class Tally:
    """What was counted on one platform; `sends` are messages that the platform was asked to show."""

    platform: str
    kills: int = 0
    accepted: int = 0
    answered: int = 0
    excused: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    unknown: int = 0
    sends: int = 0
    notes_wanted: int = 0
    notes_twice: list[str] = field(default_factory=list)
    cards_pressed: int = 0

    def row(self) -> str:
        """One line of the table."""
        cells = (
            self.platform,
            self.kills,
            self.accepted,
            self.answered,
            self.excused,
            len(self.lost),
            len(self.doubled),
            f"{self.unknown} of {self.sends}",
            self.cards_pressed,
            f"{len(self.notes_twice)} of {self.notes_wanted}",
        )
        return "| " + " | ".join(str(cell) for cell in cells) + " |"


HEADER = (
    "| platform | kills | accepted | answered | told it may be missing | lost | doubled | unknown pieces"
    " | cards pressed | tools run twice |\n|---|---|---|---|---|---|---|---|---|---|"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How long and how hard: `tools` is the part of messages that ask for a tool (0 to 1)."""

    kills: int
    users: int = 20
    tools: float = 0.25
    seed: int = 1
    longest_life_s: float = 2.5


class TelegramCrash:
    """One crash run against the Telegram simulator."""

    def __init__(self, folder: Path, plan: Plan) -> None:
        self._folder = folder
        self._plan = plan
        self._random = random.Random(plan.seed)
        self._sim = TelegramSimulator()
        self._people: list[User] = []
        self._words: dict[str, User] = {}
        self._tool_words: set[str] = set()
        self._pressed: set[tuple[int, str]] = set()
        self.tally = Tally("Telegram")

    async def run(self) -> Tally:
        """Talk, kill, settle, count."""
        async with self._sim, DaemonProcess(self._folder, self._env()) as daemon:
            self._people = [
                self._sim.add_user(FIRST_USER + n, name=f"User {n}") for n in range(self._plan.users)
            ]
            done = asyncio.Event()
            async with asyncio.TaskGroup() as group:
                for user in self._people:
                    group.create_task(self._talk(user, done))
                pressing = group.create_task(self._press_cards())
                for _ in range(self._plan.kills):
                    await self._live_and_die(daemon)
                done.set()
                self._sim.changes.notify()
                await daemon.start()
                await self._settle()
                pressing.cancel()
            await daemon.stop()
        self._count()
        return self.tally

    def _env(self) -> Mapping[str, str]:
        return {
            "PARLEY_TELEGRAM__TOKEN": self._sim.token,
            "PARLEY_TELEGRAM__API_BASE": self._sim.url,
            "PARLEY_ACCESS__ALLOW__TELEGRAM": "*",
        }

    async def _live_and_die(self, daemon: DaemonProcess) -> None:
        served = daemon.printed().count(SERVING)
        await daemon.start()
        # Most kills should hit a daemon that works; a few also one that is starting.
        if self._random.random() < 0.9:
            await daemon.wait_printed(SERVING, served + 1)
        await asyncio.sleep(self._random.uniform(0.0, self._plan.longest_life_s))
        await daemon.kill()
        self.tally.kills += 1

    async def _talk(self, user: User, done: asyncio.Event) -> None:
        number = 0
        while not done.is_set():
            word = f"w{user.id}x{number}"
            number += 1
            self._words[word] = user
            if self._random.random() < self._plan.tools:
                self._tool_words.add(word)
                self._sim.say(user, f'use write_note {{"text": "{word}"}}')
            else:
                self._sim.say(user, word)
            await self._pause(user, done)

    async def _pause(self, user: User, done: asyncio.Event) -> None:
        """Think for a moment, and wait while the last answers are outstanding, as people do."""
        with suppress(TimeoutError):
            await asyncio.wait_for(done.wait(), self._random.uniform(0.1, 1.5))
        await self._sim.wait_for(
            lambda: done.is_set() or len(self._missing(user)) < MOST_OUTSTANDING, FOREVER_S
        )

    async def _press_cards(self) -> None:
        """Press Once on every card that shows buttons, once per button."""
        while True:
            calls = len(self._sim.recorder.calls)
            for user in self._people:
                for message in self._sim.replies(user):
                    self._press(message, user)
            await self._sim.wait_for(lambda calls=calls: len(self._sim.recorder.calls) > calls, FOREVER_S)

    def _press(self, message: Message, user: User) -> None:
        for line in message.buttons or ():
            for button in line:
                if button.text == "Once" and (message.id, button.callback_data) not in self._pressed:
                    self._pressed.add((message.id, button.callback_data))
                    self._sim.press(message, "Once", user)
                    self.tally.cards_pressed += 1

    async def _settle(self) -> None:
        """Wait until every message has what it is owed, as the platform shows it."""
        try:
            await self._sim.wait_for(lambda: not any(self._missing(user) for user in self._people), ANSWER_S)
        except TimeoutError:
            return  # the count says what is missing

    def _plain(self, user: User) -> list[str]:
        return [
            word for word, author in self._words.items() if author is user and word not in self._tool_words
        ]

    def _tools(self, user: User) -> list[str]:
        return [word for word, author in self._words.items() if author is user and word in self._tool_words]

    def _missing(self, user: User) -> list[str]:
        """Messages of a user that are neither answered nor excused."""
        texts = [message.text or "" for message in self._sim.replies(user)]
        answers = Counter(found[1] for text in texts if (found := ANSWER.match(text)))
        missing = [word for word in self._plain(user) if not answers[word]]
        missing += self._tools(user)[sum(bool(TOOL_ANSWER.match(text)) for text in texts) :]
        # One notice speaks of one turn, so it excuses one message.
        return missing[sum(MAYBE_LOST in text or GIVEN_UP in text for text in texts) :]

    def _count(self) -> None:
        tally = self.tally
        tally.accepted = len(self._words)
        for user in self._people:
            texts = [message.text or "" for message in self._sim.replies(user)]
            answers = Counter(found[1] for text in texts if (found := ANSWER.match(text)))
            plain, tools = self._plain(user), self._tools(user)
            told_of_tools = sum(bool(TOOL_ANSWER.match(text)) for text in texts)
            tally.doubled += [word for word in plain if answers[word] > 1]
            tally.doubled += [f"tools of {user.id}"] * max(0, told_of_tools - len(tools))
            tally.lost += self._missing(user)
            answered = sum(answers[word] > 0 for word in plain) + min(told_of_tools, len(tools))
            tally.answered += answered
        tally.excused = tally.accepted - tally.answered - len(tally.lost)
        tally.sends = len(self._sim.calls("sendMessage"))
        with sqlite3.connect(self._folder / "state" / "parley.db") as database:
            (tally.unknown,) = database.execute(
                "SELECT COUNT(*) FROM outbox WHERE state = 'unknown' OR error = 'unknown, sent again'"
            ).fetchone()
        self._count_notes()

    def _count_notes(self) -> None:
        self.tally.notes_wanted = len(self._tool_words)
        text = "".join(path.read_text() for path in (self._folder / "state" / "notes").glob("*"))
        written = Counter(re.findall(r"w\d+x\d+", text))
        self.tally.notes_twice = [word for word, times in written.items() if times > 1]
