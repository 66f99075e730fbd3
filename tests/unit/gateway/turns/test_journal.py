"""A turn's events on their way into the store: joined, gapless, in order, and what a failed write leaves."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from gateway.errors import Fenced
from gateway.events import EventHub
from gateway.messages import Target
from gateway.session_store import ResetPolicy, SessionStore
from gateway.store import schema, turns
from gateway.store.sqlite import open_database
from gateway.store.turns import Claim, TurnInputRow
from gateway.store.tx import Store, Tx
from gateway.turns.journal import JOIN_CHARS, Journal

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[Store]:
    opened = await open_database(tmp_path / "parley.db")
    await opened.write(lambda tx: schema.migrate(tx, 0))
    await opened.write(_say)
    yield opened
    await opened.close()


def _say(tx: Tx) -> None:
    target = Target(platform="memory", account="bot", chat_id="1")
    session = SessionStore(ResetPolicy()).get_or_create(
        tx, key="lane", target=target, subject="memory:1", now=NOW
    )
    turns.append(
        tx,
        lane_id=session.lane.id,
        session_id=session.id,
        requester="memory:1",
        agent="default",
        kind="message",
        given=TurnInputRow(text="hello"),
        message_id=None,
        now_ms=0,
    )


async def claimed(database: Store) -> Claim:
    claim = await database.write(lambda tx: turns.claim(tx, 1, "node", 0))
    assert claim is not None
    return claim


async def journal_of(database: Store, hub: EventHub | None = None) -> Journal:
    return Journal(database, hub or EventHub(), await claimed(database), lambda: NOW)


async def stored(database: Store) -> list[tuple[int, str, Any]]:
    events = await database.read(lambda tx: turns.events_of(tx, 1))
    return [(event.idx, event.kind, json.loads(event.payload)) for event in events]


@pytest.mark.req("EVT-1")
async def test_neighbouring_deltas_of_one_kind_are_joined_and_all_else_keeps_its_place(
    database: Store,
) -> None:
    journal = await journal_of(database)
    for kind, text in (("thinking", "a"), ("thinking", "b"), ("text", "c"), ("text", "d")):
        journal.soon(kind, {"text": text})
    journal.soon("status", {"status": "done"})
    journal.soon("text", {"text": "e"})
    await journal.commit()

    assert await stored(database) == [
        (0, "thinking", {"text": "ab"}),
        (1, "text", {"text": "cd"}),
        (2, "status", {"status": "done"}),
        (3, "text", {"text": "e"}),
    ]


@pytest.mark.req("EVT-1")
async def test_a_delta_is_stored_by_itself_once_enough_has_come_together(database: Store) -> None:
    hub = EventHub()
    journal = await journal_of(database, hub)
    async with hub.watch(1) as events:
        journal.soon("text", {"text": "x" * JOIN_CHARS})
        journal.soon("text", {"text": "y"})
        first = await asyncio.wait_for(anext(events), 10)
        second = await asyncio.wait_for(anext(events), 10)  # within JOIN_S, without a commit

    assert (first.idx, first.payload) == (0, json.dumps({"text": "x" * JOIN_CHARS}, separators=(",", ":")))
    assert (second.idx, second.payload) == (1, '{"text":"y"}')


@pytest.mark.req("EVT-1", "EVT-6")
async def test_watchers_hear_of_events_only_once_they_are_stored(database: Store) -> None:
    hub = EventHub()
    journal = await journal_of(database, hub)
    async with hub.watch(1) as events:
        journal.soon("text", {"text": "lost"})
        with pytest.raises(ValueError, match="no"):
            await journal.commit(_refuse)
        journal.soon("error", {"kind": "turn"})
        await journal.commit()
        heard = await asyncio.wait_for(anext(events), 10)

    assert (heard.idx, heard.kind) == (0, "error")


def _refuse(_tx: Tx) -> None:
    raise ValueError("no")


@pytest.mark.req("EVT-1")
async def test_a_write_that_fails_leaves_no_gap(database: Store) -> None:
    journal = await journal_of(database)
    journal.soon("meta", {})
    await journal.commit()
    journal.soon("text", {"text": "lost"})
    with pytest.raises(ValueError, match="no"):
        await journal.commit(_refuse)
    journal.soon("done", {})
    await journal.commit()

    assert [(idx, kind) for idx, kind, _ in await stored(database)] == [(0, "meta"), (1, "done")]


@pytest.mark.req("EVT-1")
async def test_a_write_nobody_waited_for_that_fails_is_raised_once_and_the_last_words_get_through(
    database: Store,
) -> None:
    journal = await journal_of(database)
    journal.soon("text", {"text": "\ud800" + "x" * JOIN_CHARS})  # no database can hold half a character
    await asyncio.gather(database.write(lambda tx: None))
    await asyncio.sleep(0)
    with pytest.raises(RuntimeError, match="were not stored"):
        journal.soon("text", {"text": "more"})
    journal.soon("done", {})
    await journal.commit()

    assert [(idx, kind) for idx, kind, _ in await stored(database)] == [(0, "done")]


@pytest.mark.req("EVT-3")
async def test_who_lost_the_lane_writes_nothing_and_is_told(database: Store) -> None:
    journal = await journal_of(database)
    await claimed(database)
    journal.soon("text", {"text": "late"})

    with pytest.raises(Fenced):
        await journal.commit()
    assert await stored(database) == []


@pytest.mark.req("EVT-1")
async def test_a_retraction_reaches_back_to_the_start_of_the_attempt_also_in_a_later_run(
    database: Store,
) -> None:
    journal = await journal_of(database)
    journal.soon("meta", {})
    journal.soon("checkpoint", {"name": "A"})
    journal.begin_attempt()
    journal.soon("text", {"text": "torn"})
    assert journal.attempt_from == 2
    await journal.commit()

    later = await journal_of(database)
    assert later.attempt_from == 2
    later.soon("retract", {"from_idx": later.attempt_from})
    later.begin_attempt()
    assert later.attempt_from == 4
    await later.commit()
    assert (await journal_of(database)).attempt_from == 4


@pytest.mark.req("EVT-1")
async def test_after_closing_nothing_more_is_written(database: Store) -> None:
    journal = await journal_of(database)
    journal.soon("text", {"text": "late"})
    timer = journal._timer
    journal.close()

    assert timer is not None
    assert timer.cancelled()
    assert await stored(database) == []
