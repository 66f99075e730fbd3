"""The two bots that are measured, as processes against the same simulators."""

import asyncio
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PAGE_KB = os.sysconf("SC_PAGE_SIZE") // 1024
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A bot to start: its name, command line and environment."""

    name: str
    command: tuple[str, ...]
    env: Mapping[str, str]


def bare(api_base: str, model_base: str, token: str) -> Contestant:
    """The floor."""
    return Contestant(
        name="bare bot",
        command=(sys.executable, "-m", "bench.bare_bot"),
        env={"TOKEN": token, "API_BASE": api_base, "MODEL_BASE": model_base},
    )


def parley(api_base: str, model_base: str, token: str, state: Path) -> Contestant:
    """Parley as people run it, with a model at an OpenAI-compatible address."""
    return Contestant(
        name="Parley",
        command=(sys.executable, "-m", "gateway", "run"),
        env={
            "PARLEY_TELEGRAM__TOKEN": token,
            "PARLEY_TELEGRAM__API_BASE": api_base,
            "PARLEY_ACCESS__ALLOW__TELEGRAM": "*",
            "PARLEY_STATE_DIR": str(state),
            "PARLEY_AGENTS__DEFAULT__MODEL": "bench",
            "PARLEY_MODELS__BENCH__PROVIDER": "openai",
            "PARLEY_MODELS__BENCH__MODEL": "bench",
            "PARLEY_MODELS__BENCH__BASE_URL": model_base,
            "PARLEY_MODELS__BENCH__API_KEY": "bench",
        },
    )


def parley_demo(api_base: str, token: str, state: Path) -> Contestant:
    """Parley with the demo model alone: what idle memory is promised for."""
    return Contestant(
        name="Parley, demo",
        command=(sys.executable, "-m", "gateway", "run"),
        env={
            "PARLEY_TELEGRAM__TOKEN": token,
            "PARLEY_TELEGRAM__API_BASE": api_base,
            "PARLEY_ACCESS__ALLOW__TELEGRAM": "*",
            "PARLEY_STATE_DIR": str(state),
        },
    )


class Running:
    """A started contestant, with its cost so far."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    @classmethod
    async def start(cls, contestant: Contestant, log: Path) -> "Running":
        """Start it; its output goes to `log`."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PARLEY_")}
        with log.open("ab") as out:
            process = await asyncio.create_subprocess_exec(
                *contestant.command,
                env={**kept, "PYTHONPATH": str(Path.cwd()), **contestant.env},
                cwd=log.parent,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=out,
                stderr=out,
            )
        return cls(process)

    def rss_mb(self) -> float:
        """Resident memory of the process."""
        fields = Path(f"/proc/{self._process.pid}/statm").read_text().split()
        return int(fields[1]) * PAGE_KB / 1024

    def cpu_s(self) -> float:
        """CPU seconds used so far, user and system, without children."""
        fields = Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICKS

    async def stop(self) -> None:
        """End it in order."""
        if self._process.returncode is not None:
            return
        self._process.terminate()
        try:
            await asyncio.wait_for(self._process.wait(), 30)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
