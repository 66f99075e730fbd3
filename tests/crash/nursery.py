"""Daemons that start quickly: a process that has imported everything once, and forks one `parley run` after the other.

A start takes seconds, nearly all of it imports, and a run of hundreds of kills would consist of them. The fork is the
real daemon from its command line on: a process of its own, killed like any other. (Named points and the tests of a
daemon's start use `tests.process.DaemonProcess`, which pays for the imports.)

    python -m tests.crash.nursery     reads {"cwd", "env", "log"} a line; answers with the pid, then the exit code
"""

import asyncio
import ctypes
import gc
import json
import os
import signal
import sys
import threading
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.process import LOOK_S, START_S, environment

MODULES = (
    "gateway.cli",
    "agent.history",
    "agent.providers.demo",
    "agent.tools.mcp_transport",
    "agent.tools.mcp_results",
    "adapters.telegram.adapter",
    "adapters.discord.adapter",
    "adapters.slack.adapter",
)
PR_SET_PDEATHSIG = 1


class Nursery:
    """One daemon at a time, in a folder of its own; each life's log lines are in `log`, all lives' in `all_logs`."""

    def __init__(self, folder: Path, env: Mapping[str, str]) -> None:
        self._folder = folder
        self._env = environment(folder, env)
        self.log = folder / "life.log"
        self.all_logs = folder / "daemon.log"
        self._process: asyncio.subprocess.Process
        self._pid: int | None = None

    async def __aenter__(self) -> Self:
        self._process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tests.crash.nursery",
            env=environment(self._folder, {}),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert await self._answer() == 0
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pid is not None:
            await self.kill()
        assert self._process.stdin is not None
        self._process.stdin.close()
        await self._process.wait()

    async def start(self) -> None:
        """Start a daemon; returns at once."""
        assert self._process.stdin is not None
        self.log.write_bytes(b"")
        order = {"cwd": str(self._folder), "env": self._env, "log": str(self.log)}
        self._process.stdin.write(json.dumps(order).encode() + b"\n")
        self._pid = await self._answer()

    async def printed(self, words: str, times: int = 1) -> None:
        """Wait until this life's log holds these words so often."""
        async with asyncio.timeout(START_S):
            while self.log.read_text(errors="replace").count(words) < times:  # noqa: ASYNC110 - a file tells nobody
                await asyncio.sleep(LOOK_S)

    def signal(self, number: signal.Signals) -> None:
        """Send the daemon a signal."""
        assert self._pid is not None
        os.kill(self._pid, number)

    async def ended(self) -> int:
        """Wait until it has ended; returns the exit code, negative for a signal."""
        code = await self._answer()
        self._pid = None
        with self.all_logs.open("ab") as logs:
            logs.write(self.log.read_bytes())
        return code

    async def kill(self) -> None:
        """SIGKILL, and wait until it is gone."""
        self.signal(signal.SIGKILL)
        await self.ended()

    async def stop(self) -> int:
        """SIGTERM, and wait; returns the exit code."""
        self.signal(signal.SIGTERM)
        return await self.ended()

    async def _answer(self) -> int:
        assert self._process.stdout is not None
        return int(await asyncio.wait_for(self._process.stdout.readline(), START_S))


def serve() -> bool:
    """Fork a daemon for every line; True in the fork, which has to become one, False at the end of the input."""
    _die_with_parent()
    for name in MODULES:
        import_module(name)
    gc.collect()
    gc.freeze()
    assert threading.active_count() == 1, "a fork takes only its own thread along"
    print(0, flush=True)
    # Read by hand: a buffer of lines not yet read would be forked, too.
    while line := os.read(0, 1_000_000):
        if (pid := os.fork()) == 0:
            _become(json.loads(line))
            return True
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)
    return False


def _die_with_parent() -> None:
    """Whoever aborts a run by killing it leaves nothing behind; only Linux can."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _become(order: Mapping[str, object]) -> None:
    _die_with_parent()
    os.chdir(str(order["cwd"]))
    os.environ.clear()
    os.environ.update(order["env"])  # type: ignore[call-overload]
    log = os.open(str(order["log"]), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for new, old in ((nothing, 0), (log, 1), (log, 2)):
        os.dup2(new, old)
    sys.argv = ["parley", "run"]


if __name__ == "__main__":
    if serve():
        from gateway.cli import main

        main()
