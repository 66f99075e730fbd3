"""What a message costs does not depend on how long its chat, or the whole database, has been in use.

Counted in instructions of SQLite's machine, so that the figure is the same on every computer.
"""

import sqlite3
from collections.abc import Callable, Iterator

import pytest

from gateway.clock import from_ms
from gateway.document import text_document
from gateway.messages import Target
from gateway.session_store import ResetPolicy, SessionStore
from gateway.store import lanes, outbox, pending, schema, turns
from gateway.store.inputs import TurnInputRow
from gateway.store.outbox import Claimed, Draft, dest_of
from gateway.store.sqlite import SqliteTx
from gateway.store.turns import Claim
from gateway.store.tx import Tx

HERE = Target(platform="memory", account="bot", chat_id="1")
PAST = 300
NOW_MS = 1_800_000_000_000

pytestmark = pytest.mark.req("QUE-1", "DLV-6")


class Meter:
    """Counts the instructions of a connection."""

    def __init__(self, conn: sqlite3.Connection) -> None:
        self.spent = 0
        conn.set_progress_handler(self._step, 1)

    def _step(self) -> int:
        self.spent += 1
        return 0


@pytest.fixture(scope="module")
def tx() -> Iterator[SqliteTx]:
    conn = sqlite3.connect(":memory:", isolation_level=None)
    conn.row_factory = sqlite3.Row
    tx = SqliteTx(conn)
    schema.migrate(tx, NOW_MS)
    yield tx
    conn.close()


def hear(tx: Tx, number: int) -> int:
    session = SessionStore(ResetPolicy()).get_or_create(
        tx, key="lane", target=HERE, subject="memory:1", now=from_ms(NOW_MS)
    )
    turn_id, _ = turns.append(
        tx,
        lane_id=session.lane.id,
        session_id=session.id,
        requester="memory:1",
        agent="default",
        kind="message",
        given=TurnInputRow(text=str(number)),
        message_id=str(number),
        now_ms=NOW_MS,
    )
    return turn_id


def run(tx: Tx) -> int:
    claimed = turns.claim(tx, 1, "node", NOW_MS)
    assert isinstance(claimed, Claim)
    turns.end(tx, claimed.fence, state="done", error=None, ran_ms=0, now_ms=NOW_MS)
    return claimed.turn_id


def show(tx: Tx, number: int) -> None:
    draft = Draft(
        target=HERE, kind="text", body=text_document("x"), idem_key=str(number), turn_id=number, part="0"
    )
    outbox.add(tx, draft, NOW_MS)
    row = outbox.claim(tx, dest_of(HERE), NOW_MS)
    assert isinstance(row, Claimed)
    outbox.settle(tx, row.id, state="sent", now_ms=NOW_MS, platform_msg_id=str(number))


def live(tx: Tx, number: int) -> None:
    hear(tx, number)
    run(tx)
    show(tx, number)


STEPS: dict[str, Callable[[Tx], object]] = {
    "a message, its turn and its answer": lambda tx: live(tx, PAST + 100),
    "nothing to send": lambda tx: outbox.claim(tx, dest_of(HERE), NOW_MS),
    "is anything to send": lambda tx: outbox.has_open(tx, dest_of(HERE)),
    "open turns of a lane": lambda tx: turns.open_turns(tx, 1),
    "dropping what waits": lambda tx: turns.drop_queued(tx, 1, NOW_MS),
    "places taken": lambda tx: pending.places_taken(tx, "memory:1"),
    "a start: lanes": lanes.runnable,
    "a start: what was being sent": outbox.interrupted,
    "a start: what is to be sent": lambda tx: outbox.open_dests(tx, "memory", "bot"),
}


def test_a_long_past_makes_nothing_dearer(tx: SqliteTx) -> None:
    meter = Meter(tx._conn)

    def costs() -> dict[str, int]:
        found = {}
        for name, step in STEPS.items():
            before = meter.spent
            step(tx)
            found[name] = meter.spent - before
            tx.run("DELETE FROM turns WHERE message_id = :m", m=str(PAST + 100))
            tx.run("DELETE FROM outbox WHERE idem_key = :m", m=str(PAST + 100))
        return found

    live(tx, 0)
    young = costs()
    for number in range(1, PAST):
        live(tx, number)
    old = costs()

    dearer = {name: (young[name], old[name]) for name in STEPS if old[name] > 1.5 * young[name] + 50}
    assert dearer == {}
