"""The terminal on stage, its lines coming through a pipe."""

import asyncio
import io
import os
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from adapters.terminal.adapter import TerminalAdapter
from adapters.terminal.console import PlainConsole
from adapters.terminal.place import HERE
from adapters.terminal.settings import TerminalSettings
from gateway.messages import Target

from .base import WAIT_S, Ability, Place


class AlwaysIdle:
    """The gateway's answers when every message is answered at once."""

    async def watch(self, source: object) -> AsyncIterator[object]:
        return
        yield

    async def is_idle(self, source: object) -> bool:
        return True

    async def wait_idle(self, source: object) -> None:
        return None


class Page(io.StringIO):
    """A written page that tells of each writing."""

    def __init__(self) -> None:
        super().__init__()
        self.change = asyncio.Event()

    def write(self, text: str) -> int:
        self.change.set()
        return super().write(text)


class TerminalStage:
    abilities: frozenset[Ability] = frozenset({"files", "push_back"})

    def __init__(self) -> None:
        self.out = Page()
        self.notes = Page()

    async def __aenter__(self) -> Self:
        read, write = os.pipe()
        self._lines = os.fdopen(read, encoding="utf-8")
        self._typing = os.fdopen(write, "w", encoding="utf-8")
        console = PlainConsole(self._lines, self.out, self.notes)
        self._folder = TemporaryDirectory()
        settings = TerminalSettings(files_dir=Path(self._folder.name) / "files")
        self.adapter = TerminalAdapter(settings, AlwaysIdle(), console=console)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._typing.close()
        self._folder.cleanup()

    def say(self, text: str, place: Place = "dm", *, mention: bool = False, answer: bool = False) -> None:
        self._typing.write(text + "\n")
        self._typing.flush()

    def press(self, label: str) -> None:
        numbers = {name: number for number, name in enumerate(self.buttons(), 1)}
        self.say(str(numbers[label]))

    async def wait_told(self) -> str:
        async with asyncio.timeout(WAIT_S):
            await self.notes.change.wait()
        return self.notes.getvalue().rstrip("\n")

    def target(self, place: Place) -> Target:
        return Target.of(HERE)

    def shown(self, place: Place = "dm") -> list[str]:
        """Lines that number buttons are left out; no test shows a text that looks like one."""
        return [line for line in self.out.getvalue().splitlines() if not line.startswith("1 ")]

    def files(self, place: Place = "dm") -> list[tuple[str, bytes, str]]:
        caption, _, told = self.out.getvalue().rpartition("File: ")
        path = Path(told.strip())
        return [(path.name, path.read_bytes(), caption.strip())] if told else []

    def expect_refusal(self) -> None:
        return None

    def buttons(self) -> list[str]:
        last = self.out.getvalue().splitlines()[-1]
        return [choice.partition(" ")[2] for choice in last.split("  ")] if last.startswith("1 ") else []
