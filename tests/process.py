"""The real daemon as a process of its own, for tests that kill it, stop it or only read what it prints."""

import asyncio
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

START_S = 60.0
LOOK_S = 0.02
ROOT = Path(__file__).resolve().parents[1]


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
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "gateway",
        *args,
        cwd=folder,
        env=environment(folder, env),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        out, err = await asyncio.wait_for(process.communicate(typed.encode()), START_S)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode is not None
    return Ended(code=process.returncode, out=out.decode(), err=err.decode())


class DaemonProcess:
    """`parley run` in a folder of its own; its log lines go to `log`, a file that all runs append to.

    Use it as an async context manager: whatever happens, no process is left behind.
    """

    def __init__(self, folder: Path, env: Mapping[str, str], *args: str) -> None:
        self.folder = folder
        self.log = folder / "daemon.log"
        self._env = environment(folder, env)
        self._args = args or ("run",)
        self._process: asyncio.subprocess.Process | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None and self._process.returncode is None:
            await self.kill()

    @property
    def pid(self) -> int:
        """The running process."""
        assert self._process is not None
        return self._process.pid

    def signal(self, number: signal.Signals) -> None:
        """Send it a signal."""
        assert self._process is not None
        self._process.send_signal(number)

    async def start(self, *, stderr: int | None = None) -> None:
        """Start it; returns at once. `stderr`: a descriptor that its log goes to instead."""
        with self.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "gateway",
                *self._args,
                cwd=self.folder,
                env=self._env,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log if stderr is None else stderr,
            )

    async def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        assert self._process is not None
        if self._process.returncode is None:
            self._process.kill()
        await self._process.wait()

    async def stop(self, timeout_s: float = 45) -> int:
        """SIGTERM, and wait; returns the exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return await asyncio.wait_for(self._process.wait(), timeout_s)

    async def wait(self, timeout_s: float = START_S) -> int:
        """Wait until it ends by itself; returns the exit code."""
        assert self._process is not None
        return await asyncio.wait_for(self._process.wait(), timeout_s)

    async def wait_printed(self, words: str, times: int = 1, timeout_s: float = START_S) -> None:
        """Wait until the log holds these words so many times; a file tells nobody of its growth, so look often."""
        async with asyncio.timeout(timeout_s):
            while self.printed().count(words) < times:  # noqa: ASYNC110 - nobody sets an event when a file grows
                await asyncio.sleep(LOOK_S)

    def printed(self) -> str:
        """All that it printed so far, in all runs."""
        return self.log.read_text(errors="replace") if self.log.exists() else ""
