"""The machine fails around the daemon: a disk, a lock, a clock, a flood. What was accepted is answered, once."""

import asyncio
import sqlite3
from contextlib import closing
from typing import Any

import pytest
from tenacity import Retrying, retry_if_exception, stop_after_attempt

from gateway.clock import utc_now
from gateway.errors import RateLimited, StoreUnavailable
from gateway.messages import Target
from gateway.session_store import ResetPolicy, SessionStore
from gateway.store import turns
from gateway.store.inputs import TurnInputRow
from gateway.store.sqlite import _is_busy, open_database
from gateway.store.tx import Tx
from tests.flow import scripted
from tests.flow.conftest import Open
from tests.flow.house import WAIT_S, House
from tests.flow.scripted import Gate, says

UNSTORED = "I cannot store anything just now, so this has to wait; I go on with it as soon as I can."


@pytest.fixture(autouse=True)
def _quicker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.daemon.life.SWEEP_EVERY_S", 0.1)
    monkeypatch.setattr("gateway.delivery.sender.STORE_RETRY_S", 0.02)


async def _pragma(house: House, text: str) -> int:
    """A PRAGMA on the writer's own connection; returns its value."""

    def run(conn: sqlite3.Connection) -> int:
        row = conn.execute(f"PRAGMA {text}").fetchone()
        return int(row[0]) if row else 0

    return await house.database._writer.hop(run)


async def _fill_disk(house: House) -> None:
    """The database may not take another page: SQLite then says what it says on a full disk."""
    await _pragma(house, f"max_page_count = {await _pragma(house, 'page_count')}")


async def _free_disk(house: House) -> None:
    await _pragma(house, "max_page_count = 1000000")


BIG = "plum " * 20_000
"""Words that need pages of their own."""


@pytest.mark.req("OPS-6", "OPS-9")
async def test_a_full_disk_refuses_new_words_until_there_is_space_and_then_takes_them(house: House) -> None:
    """C125b: what was there before is intact, and it works on."""
    ann = house.person()
    ann.says("before")
    await ann.gets("You said: before")
    await house.quiet()
    await _fill_disk(house)
    reasons: list[str] = []
    refused = asyncio.Event()
    receive = house.daemon._supervisor._intake.receive

    async def noted(*updates):  # type: ignore[no-untyped-def]
        try:
            return await receive(*updates)
        except StoreUnavailable as error:
            reasons.append(str(error))
            refused.set()
            raise

    house.daemon._supervisor._intake.receive = noted  # type: ignore[method-assign]
    ann.says(BIG)
    await asyncio.wait_for(refused.wait(), WAIT_S)
    await _free_disk(house)
    await ann.gets("You said: plum plum")
    ann.says("what did I say")
    await ann.gets("You said: what did I say")
    await house.quiet()

    assert "the disk is full" in reasons[0]
    assert "free some space" in reasons[0]
    assert ("user", "before") in house.model.asked[-1].lines
    assert await house.values("SELECT state FROM turns ORDER BY id") == ["done"] * 3


@pytest.mark.req("OPS-6", "OPS-9", "EVT-3")
@pytest.mark.parametrize("trouble", ["full", "read-only"])
async def test_a_turn_that_cannot_be_stored_says_so_once_and_is_answered_once_when_it_can(
    house: House, trouble: str
) -> None:
    """C125b, at the turn's end."""
    ann = house.person()
    slow, later = house.model.hold("much"), Gate()
    house.model.then(says(BIG), later)
    ann.says("much")
    await slow.reached()
    await house.platform.wait_received()
    await (_fill_disk(house) if trouble == "full" else _pragma(house, "query_only = 1"))
    slow.open()
    await ann.gets(UNSTORED)
    await (_free_disk(house) if trouble == "full" else _pragma(house, "query_only = 0"))
    later.open()
    await ann.gets("You said: much")
    ann.says("next")
    await ann.gets("You said: next")
    await house.quiet()

    assert ann.sees().count(UNSTORED) == 1
    assert sum(text.startswith("You said: much") for text in ann.sees()) == 1
    assert await house.values("SELECT state FROM turns ORDER BY id") == ["done", "done"]


@pytest.mark.req("OPS-6")
@pytest.mark.parametrize("long", [False, True], ids=["shorter than the tries", "longer than the tries"])
async def test_words_that_come_while_another_process_holds_the_database_are_stored_when_it_lets_go(
    house: House, monkeypatch: pytest.MonkeyPatch, long: bool
) -> None:
    ann = house.person()
    ann.says("before")
    await ann.gets("You said: before")
    await house.quiet()
    if long:
        impatient = Retrying(retry=retry_if_exception(_is_busy), stop=stop_after_attempt(1), reraise=True)
        monkeypatch.setattr("gateway.store.sqlite._begin_retries", impatient)
        await _pragma(house, "busy_timeout = 0")
    connections = house.platform.connections
    with closing(sqlite3.connect(house.folder / "state" / "parley.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        ann.says("meanwhile")
        async with asyncio.timeout(WAIT_S):
            # Stuck in its first try, or already refused and connected anew.
            while (  # noqa: ASYNC110 - neither tells anybody
                house.platform.connections <= connections if long else house.database._pump is None
            ):
                await asyncio.sleep(0)
        assert not any("meanwhile" in text for text in ann.sees())
        other.execute("ROLLBACK")
    await ann.gets("You said: meanwhile")
    await house.quiet()
    assert len(ann.sees()) == 2


@pytest.mark.req("OPS-6")
async def test_a_damaged_database_is_said_to_be_damaged_with_what_to_do(house: House) -> None:
    ann = house.person()
    ann.says("plum")
    await ann.gets("You said: plum")
    await house.stop()
    path = house.folder / "state" / "parley.db"
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)  # all but the first page
    path.write_bytes(data)

    with pytest.raises(StoreUnavailable, match=r"damaged .*restore a backup, or move the file aside"):
        await open_database(path)


@pytest.mark.req("OPS-9", "DLV-6")
@pytest.mark.parametrize("ending", ["running", "restart"])
async def test_a_clock_that_is_put_back_an_hour_delays_no_reply(house: House, ending: str) -> None:
    ann = house.person()
    house.platform.fail(RateLimited(3_000 if ending == "restart" else 0.2))
    ann.says("plum")
    await house.until("SELECT 1 FROM outbox WHERE state = 'queued' AND next_at > 0")
    house.clock.pass_by(hours=-1)
    if ending == "restart":
        await house.restart()
    await ann.gets("You said: plum")
    ann.says("pear")
    await ann.gets("You said: pear")
    ann.says("use count {}")
    await ann.presses("Once", await ann.gets_card())
    await ann.gets("returned: run 1")
    await house.quiet()
    assert await house.values("SELECT state FROM turns ORDER BY id") == ["done"] * 3


def _backlog(tx: Tx, users: int, lanes_each: int) -> None:
    """Turns of many people, each in a lane of its own, as a long downtime leaves them."""
    sessions = SessionStore(ResetPolicy())
    for number in range(users * lanes_each):
        user, chat = f"u{number % users}", f"c{number}"
        target = Target(platform="memory", account="bot", chat_id=chat)
        session = sessions.get_or_create(
            tx, key=f"memory:bot:group:{chat}::{user}", target=target, subject=f"memory:{user}", now=utc_now()
        )
        turns.append(
            tx,
            lane_id=session.lane.id,
            session_id=session.id,
            requester=f"memory:{user}",
            agent="default",
            kind="message",
            given=TurnInputRow(text=f"question {number}"),
            message_id=str(number),
            now_ms=0,
        )


@pytest.mark.req("OPS-9", "QUE-3", "QUE-6")
async def test_ten_thousand_queued_messages_at_start_leave_room_for_the_next_one(
    house_of: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await house_of(queue={"max_running": 20})
    await house.stop()
    database = await open_database(house.folder / "state" / "parley.db")
    await database.write(lambda tx: _backlog(tx, users=50, lanes_each=200))
    await database.close()
    tasks: list[int] = []
    respond = scripted.respond

    def counted(messages: Any, tools: Any) -> Any:
        tasks.append(len(asyncio.all_tasks()))
        return respond(messages, tools)

    monkeypatch.setattr("tests.flow.scripted.respond", counted)
    await house.start()
    new = house.person("new", "Newcomer")
    new.says("hello there")
    await house.platform.wait_received()
    ahead = len(house.model.asked)
    await new.gets("You said: hello there")

    # What ran already, one round over the fifty others, and those that started beside it came before, at most.
    assert house.model.questions.index("hello there") <= ahead + 20 + 50 + 20
    assert len(await house.values("SELECT id FROM turns WHERE state = 'queued'")) > 5_000
    # A task a running turn, one a chat that is sent to, and the daemon's own: nothing for what waits.
    assert max(tasks) < 20 * 4 + 100


@pytest.mark.req("QUE-6")
async def test_a_thousand_lanes_of_one_user_delay_anothers_first_message_by_one_round(house_of: Open) -> None:
    house = await house_of(queue={"max_running": 3, "max_running_per_user": 3})
    busy = [house.member("1", "Ann", chat_id=f"-{number}") for number in range(1_000)]
    first = [house.model.hold(f"@bot {number}") for number in range(3)]
    for number, place in enumerate(busy):
        place.says(f"@bot {number}", mentions=True)
    await asyncio.gather(*(gate.reached() for gate in first))
    await house.platform.wait_received()
    bob = house.person("2", "Bob")
    bob.says("me too")
    await house.platform.wait_received()
    assert house.daemon._queue.running == 3
    for gate in first:
        gate.open()
    await bob.gets("You said: me too")

    # The three that ran; then three start, Bob's among them, and ask the model in any order.
    assert house.model.questions.index("me too") < 3 + 3
    assert len(await house.values("SELECT id FROM turns WHERE state = 'queued'")) > 500
