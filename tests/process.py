"""The real daemon as a process of its own, for tests that kill it, stop it or only read what it prints."""

import asyncio
import os
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile
from types import TracebackType
from typing import Self

from tests.nursery import ROOT, nursery

START_S = 60.0
LOOK_S = 0.02
MOST_PRINTED = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def environment(folder: Path, env: Mapping[str, str]) -> dict[str, str]:
    """What a process gets: nothing of the tests' own configuration, and the code beside these tests."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
    return {**kept, "PYTHONPATH": str(ROOT), "PARLEY_STATE_DIR": str(folder / "state"), **env}


async def command(folder: Path, env: Mapping[str, str], *args: str, typed: str = "") -> Ended:
    """Run one command, such as `parley status`, to its end, in the folder of a daemon; `typed` is its input."""
    reading, writing = os.pipe()
    with TemporaryFile() as out, TemporaryFile() as err:
        process = Process.start(args, folder, environment(folder, env), (reading, out.fileno(), err.fileno()))
        os.close(reading)
        with os.fdopen(writing, "wb") as to_process:
            to_process.write(typed.encode())
        try:
            code = await process.wait(START_S)
        finally:
            await process.kill()
        texts = [os.pread(file.fileno(), MOST_PRINTED, 0).decode() for file in (out, err)]
    return Ended(code=code, out=texts[0], err=texts[1])


class Process:
    """A running `parley …`; its parent is the nursery."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.code: int | None = None

    @classmethod
    def start(
        cls, args: Sequence[str], cwd: Path, env: Mapping[str, str], fds: tuple[int, int, int]
    ) -> "Process":
        """See `Nursery.start`."""
        return cls(nursery().start(args, cwd, env, fds))

    async def wait(self, timeout_s: float) -> int:
        """Wait until it has ended; returns the exit code."""
        if self.code is None:
            # Readable when the process has ended: pidfd_open(2).
            ended, watched = asyncio.Event(), os.pidfd_open(self.pid)
            loop = asyncio.get_running_loop()
            loop.add_reader(watched, ended.set)
            try:
                await asyncio.wait_for(ended.wait(), timeout_s)
            finally:
                loop.remove_reader(watched)
                os.close(watched)
            self.code = nursery().code(self.pid)
        return self.code

    async def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        if self.code is None:
            os.kill(self.pid, signal.SIGKILL)
            await self.wait(START_S)


class DaemonProcess:
    """`parley run` in a folder of its own; its log lines go to `log`, a file that all runs append to.

    Use it as an async context manager: whatever happens, no process is left behind.
    """

    def __init__(self, folder: Path, env: Mapping[str, str], *args: str) -> None:
        self.folder = folder
        self.log = folder / "daemon.log"
        self._env = environment(folder, env)
        self._args = args or ("run",)
        self._process: Process | None = None
        self._life_from = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None:
            await self._process.kill()

    @property
    def pid(self) -> int:
        """The running process."""
        assert self._process is not None
        return self._process.pid

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        os.kill(self.pid, number)

    async def start(self, *, stderr: int | None = None) -> None:
        """Start it; returns at once. `stderr`: a descriptor that its log goes to instead."""
        nothing = os.open(os.devnull, os.O_RDONLY)
        with self.log.open("ab") as log:
            self._life_from = log.tell()
            fds = (nothing, log.fileno(), log.fileno() if stderr is None else stderr)
            self._process = Process.start(self._args, self.folder, self._env, fds)
        os.close(nothing)

    async def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        assert self._process is not None
        await self._process.kill()

    async def stop(self, timeout_s: float = 45) -> int:
        """SIGTERM, and wait; returns the exit code."""
        self.signal(signal.SIGTERM)
        return await self.wait(timeout_s)

    async def wait(self, timeout_s: float = START_S) -> int:
        """Wait until it ends by itself; returns the exit code."""
        assert self._process is not None
        return await self._process.wait(timeout_s)

    async def wait_says(self, words: str, times: int = 1) -> None:
        """Wait until its present run has printed these words so many times."""
        before = self.log.read_bytes()[: self._life_from].decode(errors="replace").count(words)
        await self.wait_printed(words, before + times)

    async def wait_printed(self, words: str, times: int = 1, timeout_s: float = START_S) -> None:
        """Wait until the log holds these words so many times; a file tells nobody of its growth, so look often."""
        async with asyncio.timeout(timeout_s):
            while self.printed().count(words) < times:  # noqa: ASYNC110 - nobody sets an event when a file grows
                await asyncio.sleep(LOOK_S)

    def printed(self) -> str:
        """All that it printed so far, in all runs."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""
