"""What the store can carry: ingests a second, a look-up among a million sessions, a start with a thousand open turns.

An ingest is one transaction, as intake makes it for a message: dedupe key, lane and session, turn, transcript line.
Commits are grouped, durable (`synchronous=FULL`) and on the disk of the temporary folder.
"""

import asyncio
import cProfile
import pstats
import random
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from bench.contestants import Contestant, Running, parley_demo
from gateway.clock import utc_now
from gateway.messages import Target
from gateway.session_store import ResetPolicy, SessionStore
from gateway.store import inbox, lanes, messages, pending, schema, turns
from gateway.store.inputs import Part, TurnInputRow
from gateway.store.sqlite import SqliteStore, open_database
from gateway.store.tx import Tx
from tests.simulators.telegram import TelegramSimulator

SESSIONS = 200
INGESTS = 20_000
FEW, MANY = 1_000, 1_000_000
ACTIVE = 1_000
OPEN_TURNS = 1_000
WAIT_S = 120.0

SESSION_STORE = SessionStore(ResetPolicy())


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One figure, with what it is held against."""

    name: str
    value: str
    aim: str


async def measure() -> list[Row]:
    """All of it, one after the other; takes a minute."""
    with tempfile.TemporaryDirectory(prefix="parley-bench-") as name:
        folder = Path(name)
        return [*await _ingests(folder), await _look_ups(folder), *await _restart(folder / "state")]


def table(rows: list[Row]) -> str:
    """As Markdown."""
    return "\n".join(
        ["| store | | aim |", "|---|---|---|", *(f"| {row.name} | {row.value} | {row.aim} |" for row in rows)]
    )


async def profile(folder: Path) -> str:
    """Where an ingest's time goes: the writer's thread alone, without the disk's."""
    store = await _open(folder / "profile.db")
    calls = [_message(number) for number in range(INGESTS // 4)]
    profiler = cProfile.Profile()

    def work(tx: Tx) -> None:
        profiler.enable()
        for call in calls:
            call(tx)
        profiler.disable()

    await store.write(work)
    await store.close()
    stats = pstats.Stats(profiler).sort_stats("tottime")
    total = stats.total_tt  # type: ignore[attr-defined]
    rows = sorted(stats.stats.items(), key=lambda item: -item[1][2])[:14]  # type: ignore[attr-defined]
    lines = [
        f"{spent / total:5.1%} {count:8} {Path(where).name}:{name}"
        for (where, _, name), (_, count, spent, *_) in rows
    ]
    return "\n".join([f"{total / len(calls) * 1e6:.0f} us an ingest, profiled", *lines])


async def _ingests(folder: Path) -> list[Row]:
    return [
        Row(
            name=f"ingests a second, {SESSIONS} sessions at once, synchronous=FULL",
            value=await _rate(folder / "whole.db", _message),
            aim="20,000",
        ),
        Row(
            name="the same with dedupe key and lane alone",
            value=await _rate(folder / "bare.db", _key_and_lane),
            aim="20,000",
        ),
    ]


async def _rate(path: Path, make: Callable[[int], Callable[[Tx], object]]) -> str:
    store = await _open(path)
    began = perf_counter()
    # Each session's next message comes when its last one is durable, as adapters wait.
    spent = await asyncio.gather(*(_talk(store, make, session) for session in range(SESSIONS)))
    took = perf_counter() - began
    await store.close()
    waits = sorted(each for one in spent for each in one)
    p50, p99 = waits[len(waits) // 2], waits[len(waits) * 99 // 100]
    return f"{len(waits) / took:,.0f} (p50 {p50:.1f} ms, p99 {p99:.1f} ms)"


async def _talk(
    store: SqliteStore, make: Callable[[int], Callable[[Tx], object]], session: int
) -> list[float]:
    spent = []
    for number in range(INGESTS // SESSIONS):
        began = perf_counter()
        await store.write(make(number * SESSIONS + session))
        spent.append((perf_counter() - began) * 1000)
    return spent


def _key_and_lane(number: int) -> Callable[[Tx], object]:
    target = Target(platform="bench", account="bot", chat_id=str(number % SESSIONS))

    def work(tx: Tx) -> None:
        inbox.remember(tx, platform="bench", account="bot", key=str(number), became="turn", now_ms=1)
        lanes.lock(tx, target.chat_id, target, 1)

    return work


def _message(number: int) -> Callable[[Tx], object]:
    """The transaction of one message; messages go round all sessions."""
    session_number = number % SESSIONS
    target = Target(platform="bench", account="bot", chat_id=str(session_number))
    who, message_id, now = f"bench:{session_number}", str(number), utc_now()
    now_ms = int(now.timestamp() * 1000)
    given = TurnInputRow(text="").with_parts([Part(message_id=message_id, text="hello there")])

    def work(tx: Tx) -> None:
        inbox.remember(
            tx,
            platform="bench",
            account="bot",
            key=message_id,
            became="turn",
            now_ms=now_ms,
            place=target.chat_id,
            message_id=message_id,
        )
        session = SESSION_STORE.get_or_create(
            tx, key=f"bench:{session_number}", target=target, subject=who, now=now
        )
        turn_id, _ = turns.append(
            tx,
            lane_id=session.lane.id,
            session_id=session.id,
            requester=who,
            agent="default",
            kind="message",
            given=given,
            message_id=message_id,
            now_ms=now_ms,
        )
        line_id = messages.add(
            tx,
            session_id=session.id,
            turn_id=turn_id,
            role="question",
            author=who,
            body="hello there",
            now_ms=now_ms,
        )
        pending.register(tx, target, message_id, turn_id=turn_id, line_id=line_id)

    return work


async def _look_ups(folder: Path) -> Row:
    few, many = [await _look_up_us(folder / f"{count}.db", count) for count in (FEW, MANY)]
    return Row(
        name=f"finding {ACTIVE:,} people's sessions among {MANY:,}, p50 each, beside {FEW:,}",
        value=f"{many:.1f} us, {few:.1f} us: {many / few:.2f} times",
        aim="1.5 times",
    )


async def _look_up_us(path: Path, count: int) -> float:
    store = await _open(path)
    await store.write(lambda tx: _fill(tx, count))
    chance = random.Random(1)
    keys = [f"bench:{chance.randrange(count)}" for _ in range(ACTIVE)]

    def look(tx: Tx) -> list[float]:
        spent = []
        for key in keys:
            began = perf_counter()
            assert lanes.find(tx, key) is not None
            spent.append((perf_counter() - began) * 1e6)
        return spent

    # Both readers, which take turns, have seen these people before, as those of a daemon that serves them have.
    rounds = [await store.read(look) for _ in range(6)]
    found = statistics.median(each for spent in rounds[2:] for each in spent)
    await store.close()
    return found


def _fill(tx: Tx, count: int) -> None:
    numbers = "WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < :count)"
    tx.run(
        "INSERT INTO lanes (id, key, session_id, platform, account, chat_id, updated_at)"
        f" {numbers} SELECT i + 1, 'bench:' || i, i + 1, 'bench', 'bot', i, 0 FROM n",
        count=count,
    )
    tx.run(
        "INSERT INTO sessions (id, lane_id, started_at, last_active_at)"
        f" {numbers} SELECT i + 1, i + 1, 0, 0 FROM n",
        count=count,
    )


async def _restart(state: Path) -> list[Row]:
    state.mkdir()  # noqa: ASYNC240 - nothing else runs yet
    async with TelegramSimulator() as sim:
        people = [sim.add_user(10_000 + number) for number in range(OPEN_TURNS)]
        account = sim.token.partition(":")[0]
        store = await _open(state / "parley.db")
        for person in people:
            await store.write(lambda tx, p=person: _open_turn(tx, account, p.id))  # type: ignore[misc]
        await store.close()
        newcomer = sim.add_user(9_999)
        sim.say(newcomer, "am I answered?")
        began = perf_counter()
        running = await Running.start(_demo(sim, state), state.parent / "log")
        try:
            await sim.wait_for(lambda: sim.calls("sendMessage"), WAIT_S)
            first_s = perf_counter() - began
            await sim.wait_for_replies(newcomer, 1, WAIT_S)
            new_s = perf_counter() - began
            await sim.wait_for(lambda: all(sim.chat(person).bot_messages for person in people), WAIT_S)
            all_s = perf_counter() - began
        finally:
            await running.stop()
    return [
        Row(name=f"start with {OPEN_TURNS:,} open turns: first answer", value=f"{first_s:.1f} s", aim="5 s"),
        Row(name="the same: a newcomer's answer", value=f"{new_s:.1f} s", aim=""),
        Row(name="the same: all answered", value=f"{all_s:.1f} s", aim=""),
    ]


def _demo(sim: TelegramSimulator, state: Path) -> Contestant:
    return parley_demo(sim.url, sim.token, state)


def _open_turn(tx: Tx, account: str, user_id: int) -> Any:
    now = utc_now()
    target = Target(platform="telegram", account=account, chat_id=str(user_id))
    who = f"telegram:{user_id}"
    session = SESSION_STORE.get_or_create(
        tx, key=f"telegram:{account}:dm:{user_id}", target=target, subject=who, now=now
    )
    return turns.append(
        tx,
        lane_id=session.lane.id,
        session_id=session.id,
        requester=who,
        agent="default",
        kind="message",
        given=TurnInputRow(text="hello there"),
        message_id="1",
        now_ms=int(now.timestamp() * 1000),
    )


async def _open(path: Path) -> SqliteStore:
    store = await open_database(path)
    await store.write(lambda tx: schema.migrate(tx, 0))
    return store
