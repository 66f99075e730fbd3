"""What sessions at rest cost in memory: one turn each of many people, in one process, with the demo model.

    python -m bench.idle [--sessions 10000]

The platform is the memory adapter, emptied as it goes: what it remembers is not Parley's.
"""

import argparse
import asyncio
import gc
import logging
import os
import tempfile
from pathlib import Path

import structlog

from adapters.memory.adapter import MemoryAdapter
from adapters.memory.settings import MemorySettings
from bench.contestants import PAGE_KB
from gateway.config import load_config
from gateway.daemon.life import Daemon, Plan
from gateway.store import schema
from gateway.store.sqlite import open_database

TOGETHER = 50
WARM = 200  # sessions before the first look: caches and pools are full then


def rss_mb() -> float:
    gc.collect()
    return int(Path(f"/proc/{os.getpid()}/statm").read_text().split()[1]) * PAGE_KB / 1024


async def measure(sessions: int) -> tuple[float, float]:
    """Resident memory before and after so many sessions of one turn."""
    platform = MemoryAdapter(MemorySettings())
    with tempfile.TemporaryDirectory(prefix="parley-idle-") as name:
        folder = Path(name)
        (folder / "config.yaml").write_text(f"state_dir: {folder}\naccess: {{allow: {{memory: ['*']}}}}\n")
        config = load_config(path=folder / "config.yaml", environ={}, sections={}, platforms=["memory"])
        database = await open_database(folder / "parley.db")
        await database.write(lambda tx: schema.migrate(tx, 0))
        plan = Plan(config=config, adapters=[lambda _api: platform], demo_delay_s=0)
        daemon = Daemon(plan, database)
        running = asyncio.create_task(daemon.run())
        await _talk(platform, 0, WARM)
        before = rss_mb()
        await _talk(platform, WARM, WARM + sessions)
        after = rss_mb()
        daemon.stop()
        await running
        await database.close()
    return before, after


async def _talk(platform: MemoryAdapter, first: int, last: int) -> None:
    for start in range(first, last, TOGETHER):
        people = [str(number) for number in range(start, min(start + TOGETHER, last))]
        for person in people:
            platform.say("hello", platform.source(user_id=person, user_name=f"User {person}"))
        async with asyncio.timeout(300):
            await platform.wait_until(lambda wanted=people: len(platform.shown) >= len(wanted))
        platform._shown.clear()  # noqa: SLF001 - its memory is not what is measured


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.idle", description=__doc__)
    parser.add_argument("--sessions", type=int, default=10_000)
    given = parser.parse_args()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    before, after = asyncio.run(measure(given.sessions))
    print(
        f"{given.sessions:,} sessions of one turn: {before:.1f} MB → {after:.1f} MB, {after - before:+.1f} MB"
    )


if __name__ == "__main__":
    main()
