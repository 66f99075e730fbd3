"""Forgets what is old, at the start and then every hour: rows in bounded batches, and files of tool results.

Neighbours: `daemon` runs it; what may go is decided in `store.retention`. Messages, sessions, agents' states and
memory are not its affair: they stay until a person erases them. Requests, grants, the audit log, and who was let in
or refused by a code stay, too: they say who may do what, and why. SQLite keeps the room for new rows; the file does
not shrink.
"""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import structlog

from gateway.clock import Clock, to_ms, utc_now
from gateway.errors import StoreUnavailable
from gateway.store import retention
from gateway.store.tx import Store, Tx

log = structlog.get_logger()

EVERY_S = 3_600.0
BATCH = 500

# Between two batches, so that people's messages never wait behind more than one of them.
PAUSE_S = 0.05

_OF_TURN = re.compile(r"call_(\d+)_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """How many days each kind of thing is kept after it was done with."""

    inbox_days: float = 14
    events_days: float = 30
    outbox_days: float = 30
    dead_letters_days: float = 90
    buttons_days: float = 30
    results_days: float = 30
    told_days: float = 90
    usage_days: float = 400


class Cleaner:
    """See the module; `results` is the folder with files of tool results."""

    def __init__(self, database: Store, kept: Retention, *, results: Path, clock: Clock = utc_now) -> None:
        self._db = database
        self._kept = kept
        self._results = results
        self._clock = clock

    async def run(self) -> None:
        """Clean now and then every hour, until cancelled."""
        while True:
            try:
                removed = await self.clean()
            except (StoreUnavailable, OSError) as error:  # the next hour tries again
                log.error("cleaner.failed", reason=str(error))
            else:
                log.info("cleaner.finished", **removed)
            await asyncio.sleep(EVERY_S)

    async def clean(self) -> Mapping[str, int]:
        """Remove all that is old by now; returns how much of each kind went.

        Raises:
            StoreUnavailable: the database cannot be written.
            OSError: a file cannot be removed.
        """
        kept = self._kept
        return {
            "inbox": await self._rows(retention.forget_inbox, kept.inbox_days),
            "events": await self._rows(self._forget_events, kept.events_days),
            "outbox": await self._rows(retention.forget_sent, kept.outbox_days),
            "dead_letters": await self._rows(retention.forget_dead_letters, kept.dead_letters_days),
            "buttons": await self._rows(retention.forget_buttons, kept.buttons_days),
            "told": await self._rows(retention.forget_told, kept.told_days),
            "usage": await self._rows(retention.forget_usage, kept.usage_days),
            "results": await self._files(kept.results_days),
        }

    async def _rows(self, forget: Callable[[Tx, int, int], int], days: float) -> int:
        before_ms, total = self._before_ms(days), 0
        while removed := await self._db.write(lambda tx: forget(tx, before_ms, BATCH)):
            total += removed
            await asyncio.sleep(PAUSE_S)
        return total

    def _forget_events(self, tx: Tx, before_ms: int, most: int) -> int:
        return retention.forget_events(tx, before_ms, most, to_ms(self._clock()))

    async def _files(self, days: float) -> int:
        open_turns = await self._db.read(retention.open_turn_ids)
        return await asyncio.to_thread(_remove_files, self._results, self._before_ms(days) / 1000, open_turns)

    def _before_ms(self, days: float) -> int:
        return to_ms(self._clock() - timedelta(days=days))


def _remove_files(folder: Path, before_s: float, open_turns: frozenset[int]) -> int:
    if not folder.is_dir():
        return 0
    old = [
        path
        for path in folder.iterdir()
        if path.is_file() and path.stat().st_mtime < before_s and _turn_of(path) not in open_turns
    ]
    for path in old:
        path.unlink(missing_ok=True)
    return len(old)


def _turn_of(path: Path) -> int | None:
    found = _OF_TURN.match(path.name)
    return int(found[1]) if found else None
