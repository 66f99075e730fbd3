"""A process that writes to a store until it is killed: `python -m tests.crash.store_writer save|migrate FOLDER [N]`.

`save` writes a history of rows that all carry one number, and the next number, for ever; it prints each number once it
is durable. `migrate` brings an empty database to this release's schema and kills itself at the Nth statement.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from gateway.store import schema
from gateway.store.sqlite import open_database
from gateway.store.tx import Row, Tx

ROWS = 40


async def save(folder: Path) -> None:
    database = await open_database(folder / "parley.db")
    await database.write(lambda tx: schema.migrate(tx, 0))
    number = 0
    while True:
        number += 1
        await database.write(lambda tx, number=number: _save(tx, number))  # type: ignore[misc]
        print(number, flush=True)


def _save(tx: Tx, number: int) -> None:
    tx.run("DELETE FROM agent_state")
    tx.run(
        "INSERT OR IGNORE INTO lanes (id, key, platform, account, chat_id, updated_at) VALUES (1, '', '', '', '', 0)"
    )
    tx.run("INSERT OR IGNORE INTO sessions (id, lane_id, started_at, last_active_at) VALUES (1, 1, 0, 0)")
    tx.run_many(
        "INSERT INTO agent_state (session_id, agent, seq, turn_id, message) VALUES (1, 'a', :seq, 1, :message)",
        [{"seq": seq, "message": f"{number}:" + "x" * 500} for seq in range(ROWS)],
    )


class _Mortal:
    """A transaction that kills its process at one statement."""

    def __init__(self, tx: Tx, left: int) -> None:
        self._tx = tx
        self._left = left

    def run(self, sql: str, /, **params: object) -> int:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return self._tx.run(sql, **params)

    def row(self, sql: str, /, **params: object) -> Row | None:
        return self._tx.row(sql, **params)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tx, name)


async def migrate(folder: Path, statements: int) -> None:
    database = await open_database(folder / "parley.db")
    await database.write(lambda tx: schema.migrate(_Mortal(tx, statements), 0))  # type: ignore[arg-type]
    await database.close()


if __name__ == "__main__":
    if sys.argv[1] == "save":
        asyncio.run(save(Path(sys.argv[2])))
    else:
        asyncio.run(migrate(Path(sys.argv[2]), int(sys.argv[3])))
