"""Kills a process that saves a history, again and again: the store always opens, with the old or the new state."""

import asyncio
import random
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

from tests.crash.store_writer import ROWS
from tests.process import environment

READY_S = 60.0


async def killed_while_saving(folder: Path, kills: int, seed: int) -> list[str]:
    """Kill so often, at random moments; returns what was wrong, a line each."""
    chance, wrong = random.Random(seed), []
    for number in range(kills):
        durable = await _live_and_die(folder, chance.uniform(0.0, 0.05))
        found = _state(folder)
        if found not in {durable, durable + 1}:  # the next may be durable and not yet told
            wrong.append(f"kill {number}: {durable} was durable, the store holds {found}")
    return wrong


async def _live_and_die(folder: Path, after_s: float) -> int:
    """Let it write for a moment after its first commit; returns the last number it said was durable."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.crash.store_writer",
        "save",
        str(folder),
        env=environment(folder, {}),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        first = await asyncio.wait_for(process.stdout.readline(), READY_S)
        await asyncio.sleep(after_s)
    finally:
        process.kill()
    rest = await process.stdout.read()
    await process.wait()
    return (
        int((first + rest).split()[-1]) if (first + rest).endswith(b"\n") else int((first + rest).split()[-2])
    )


def _state(folder: Path) -> int | str:
    """The number that all rows carry; words if they are not one state."""
    with closing(sqlite3.connect(folder / "parley.db")) as database:
        (check,) = database.execute("PRAGMA integrity_check").fetchone()
        rows = database.execute("SELECT message FROM agent_state ORDER BY seq").fetchall()
    numbers = {row[0].split(":")[0] for row in rows}
    if check != "ok" or len(rows) != ROWS or len(numbers) != 1:
        return f"integrity {check}, {len(rows)} rows, numbers {sorted(numbers)}"
    return int(numbers.pop())
