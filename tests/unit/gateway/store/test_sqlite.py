"""The writer that groups commits: order, isolation, durability, and every trouble a disk has."""

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.errors import StateInUse, StoreUnavailable
from gateway.store import sqlite
from gateway.store.sqlite import SqliteStore, open_database
from gateway.store.tx import Tx

SET = "INSERT INTO notes (text) VALUES (:text)"


@pytest.fixture
async def database(tmp_path: Path) -> AsyncIterator[SqliteStore]:
    opened = await open_database(tmp_path / "parley.db")
    await opened.write(lambda tx: tx.run("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT UNIQUE)"))
    yield opened
    await opened.close()


def add(text: str) -> Callable[[Tx], int]:
    return lambda tx: tx.run(SET, text=text)


def broken(text: str, error: Exception) -> Callable[[Tx], None]:
    """A transaction that writes and then fails."""

    def work(tx: Tx) -> None:
        tx.run(SET, text=text)
        raise error

    return work


async def notes(database: SqliteStore) -> list[str]:
    return [
        row["text"] for row in await database.read(lambda tx: tx.rows("SELECT text FROM notes ORDER BY id"))
    ]


class Held:
    """Keeps the writer's thread busy, so that what is written meanwhile becomes one batch."""

    def __init__(self, database: SqliteStore) -> None:
        self._go = threading.Event()
        self._busy = threading.Event()
        self._done = database.write(self._wait)

    def _wait(self, _tx: Tx) -> None:
        self._busy.set()
        assert self._go.wait(10)

    async def busy(self) -> None:
        assert await asyncio.to_thread(self._busy.wait, 10)

    async def release(self) -> None:
        self._go.set()
        await self._done


@pytest.mark.req("OPS-6")
async def test_writes_are_done_in_the_order_they_were_asked_for(database: SqliteStore) -> None:
    await asyncio.gather(*(database.write(add(str(number))) for number in range(1_000)))

    assert await notes(database) == [str(number) for number in range(1_000)]


@pytest.mark.req("OPS-6")
async def test_what_queues_during_a_commit_is_one_batch(
    database: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    run = sqlite._run_batch

    def noting(conn: sqlite3.Connection, batch: list[Any]) -> None:
        sizes.append(len(batch))
        run(conn, batch)

    monkeypatch.setattr(sqlite, "_run_batch", noting)
    held = Held(database)
    await held.busy()
    writes = [database.write(add(str(number))) for number in range(300)]
    await held.release()
    await asyncio.gather(*writes)

    assert sizes == [1, 256, 44]


@pytest.mark.req("OPS-6")
async def test_one_that_fails_takes_back_only_itself(database: SqliteStore) -> None:
    held = Held(database)
    await held.busy()
    results = [
        database.write(add("a")),
        database.write(broken("b", ValueError("no"))),
        database.write(add("a")),  # a repeat: refused by the table
        database.write(add("c")),
    ]
    await held.release()
    done = await asyncio.gather(*results, return_exceptions=True)

    assert await notes(database) == ["a", "c"]
    assert (done[0], done[3]) == (1, 1)
    assert isinstance(done[1], ValueError)
    assert isinstance(done[2], sqlite3.IntegrityError)


@pytest.mark.req("OPS-6")
@settings(max_examples=25, deadline=None)
@given(fates=st.lists(st.booleans(), max_size=40))
def test_of_any_batch_exactly_the_good_ones_stand_in_order(fates: list[bool]) -> None:
    async def run() -> list[str]:
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            opened = await open_database(Path(folder) / "parley.db")
            await opened.write(lambda tx: tx.run("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)"))
            writes = [
                opened.write(add(str(n)) if good else broken(str(n), ValueError()))
                for n, good in enumerate(fates)
            ]
            await asyncio.gather(*writes, return_exceptions=True)
            found = await notes(opened)
            await opened.close()
            return found

    assert asyncio.run(run()) == [str(n) for n, good in enumerate(fates) if good]


@pytest.mark.req("OPS-6")
async def test_a_waiter_that_is_cancelled_does_not_take_its_write_back(database: SqliteStore) -> None:
    held = Held(database)
    await held.busy()

    async def wait() -> None:
        await database.write(add("kept"))

    waiter = asyncio.create_task(wait())
    await asyncio.sleep(0)
    waiter.cancel()
    await held.release()
    await database.write(add("after"))

    assert waiter.cancelled()
    assert await notes(database) == ["kept", "after"]


@pytest.mark.req("OPS-6")
async def test_a_callback_comes_after_the_commit_and_only_then(database: SqliteStore) -> None:
    seen: list[tuple[str, list[str]]] = []
    reader = sqlite3.connect(Path(await _path(database)))

    def note(name: str) -> None:
        seen.append((name, [row[0] for row in reader.execute("SELECT text FROM notes")]))

    def work(tx: Tx, name: str, error: Exception | None = None) -> None:
        tx.run(SET, text=name)
        tx.after_commit(lambda: note(name))
        if error is not None:
            raise error

    good = database.write(lambda tx: work(tx, "good"))
    bad = database.write(lambda tx: work(tx, "bad", ValueError()))
    await asyncio.gather(good, bad, return_exceptions=True)
    reader.close()

    assert seen == [("good", ["good"])]


async def _path(database: SqliteStore) -> str:
    row = await database.read(lambda tx: tx.row("PRAGMA database_list"))
    assert row is not None
    return str(row["file"])


@pytest.mark.req("OPS-6")
async def test_a_callback_that_fails_holds_up_nobody(database: SqliteStore) -> None:
    def work(tx: Tx) -> None:
        tx.after_commit(lambda: int("no number"))
        tx.run(SET, text="a")

    await database.write(work)
    await asyncio.wait_for(database.write(add("b")), 10)
    assert await notes(database) == ["a", "b"]


@pytest.mark.req("OPS-6")
async def test_a_transaction_that_sqlite_took_back_as_a_whole_fails_for_all_in_it(
    database: SqliteStore,
) -> None:
    """As on a full disk; `work` raises an error of its own on top."""

    def lose(tx: Tx) -> None:
        tx.run("ROLLBACK")
        raise ValueError("on top")

    held = Held(database)
    await held.busy()
    writes = [database.write(add("a")), database.write(lose), database.write(add("b"))]
    await held.release()
    done = await asyncio.gather(*writes, return_exceptions=True)

    assert [type(each) for each in done] == [StoreUnavailable] * 3
    assert await notes(database) == []
    await asyncio.wait_for(database.write(add("c")), 10)
    assert await notes(database) == ["c"]


@pytest.mark.req("OPS-6")
async def test_too_many_waiting_writes_are_refused_at_once(
    database: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "MAX_QUEUED", 2)
    held = Held(database)
    await held.busy()
    writes = [database.write(add(str(number))) for number in range(3)]
    with pytest.raises(StoreUnavailable, match="2 writes wait already: the disk is too slow"):
        await writes[2]
    await held.release()
    await asyncio.gather(*writes[:2])

    assert await notes(database) == ["0", "1"]


@pytest.mark.req("OPS-6", "OPS-9")
async def test_a_disk_that_is_full_says_so_loses_nothing_and_works_again(database: SqliteStore) -> None:
    """C125b: SQLite's own page limit stands in for the disk."""
    await database.write(add("before"))
    await database.write(lambda tx: tx.run("PRAGMA max_page_count = 8"))
    with pytest.raises(
        StoreUnavailable, match=r"the disk is full .* free some space; nothing accepted before is lost"
    ):
        await database.write(add("x" * 100_000))
    assert await notes(database) == ["before"]

    await database.write(lambda tx: tx.run("PRAGMA max_page_count = 1000000"))
    await database.write(add("after"))
    assert await notes(database) == ["before", "after"]


@pytest.mark.req("OPS-6")
async def test_a_lock_that_another_process_holds_for_a_while_is_waited_for(database: SqliteStore) -> None:
    await database.write(lambda tx: tx.rows("PRAGMA busy_timeout = 0"))
    other = sqlite3.connect(await _path(database), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    write = database.write(add("patient"))
    _, waiting = await asyncio.wait([write], timeout=0.05)
    assert waiting

    other.execute("COMMIT")
    await asyncio.wait_for(write, 10)
    other.close()
    assert await notes(database) == ["patient"]


@pytest.mark.req("OPS-6")
async def test_a_lock_held_too_long_is_said_to_be_so(
    database: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tenacity import Retrying, retry_if_exception, stop_after_attempt

    few = Retrying(retry=retry_if_exception(sqlite._is_busy), stop=stop_after_attempt(2), reraise=True)
    monkeypatch.setattr(sqlite, "_begin_retries", few)
    await database.write(lambda tx: tx.rows("PRAGMA busy_timeout = 0"))
    other = sqlite3.connect(await _path(database), isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="another process holds the database"):
        await database.write(add("refused"))
    other.close()


@pytest.mark.req("OPS-5", "OPS-6")
async def test_a_second_process_is_refused_while_the_first_lives(database: SqliteStore) -> None:
    folder = Path(await _path(database)).parent
    code = (
        "import asyncio, sys; from pathlib import Path\n"
        "from gateway.store.sqlite import open_database; from gateway.errors import StateInUse\n"
        "try: asyncio.run(open_database(Path(sys.argv[1]) / 'parley.db'))\n"
        "except StateInUse as error: print(error)\n"
    )
    told = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", code, str(folder)], capture_output=True, text=True, timeout=60
    )

    assert told.stdout == (
        f"{folder} is in use by another parley process; stop it, or give this one its own state_dir\n"
    )
    with pytest.raises(StateInUse):
        await open_database(folder / "parley.db")


@pytest.mark.req("OPS-6")
async def test_after_closing_the_next_may_open_and_finds_all(database: SqliteStore) -> None:
    path = Path(await _path(database))
    last = database.write(add("last"))
    await database.close()
    await last
    with pytest.raises(StoreUnavailable, match="closed"):
        await database.write(add("late"))

    again = await open_database(path)
    assert await notes(again) == ["last"]
    await again.close()


@pytest.mark.req("OPS-6")
async def test_it_is_durable_and_reads_beside_the_writer(database: SqliteStore) -> None:
    def pragmas(tx: Tx) -> list[Any]:
        return [tx.row(f"PRAGMA {name}")[0] for name in ("journal_mode", "synchronous")]  # type: ignore[index]

    assert await database.write(pragmas) == ["wal", 2]
    held = Held(database)
    await held.busy()
    assert await asyncio.wait_for(notes(database), 10) == []
    await held.release()
    with pytest.raises(StoreUnavailable, match="read-only"):
        await database.read(add("not here"))


@pytest.mark.req("OPS-6")
@pytest.mark.parametrize(
    ("content", "words"),
    [(b"not a database at all" * 100, "the database file is damaged"), (b"", None)],
)
async def test_a_file_that_is_no_database_is_said_to_be_damaged(
    tmp_path: Path, content: bytes, words: str | None
) -> None:
    path = tmp_path / "parley.db"
    path.write_bytes(content)
    if words is None:
        await (await open_database(path)).close()
        return
    with pytest.raises(StoreUnavailable, match=f"{words}.*restore a backup"):
        await open_database(path)
    path.unlink()
    await (await open_database(path)).close()  # the refusal kept no lock


@pytest.mark.req("OPS-6")
async def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A missing folder stands in for one without the right to write, which root does not notice."""
    with pytest.raises(StoreUnavailable, match=r"state: cannot be written \(No such file or directory\)"):
        await open_database(tmp_path / "state" / "parley.db")


@pytest.mark.req("OPS-6")
@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("database or disk is full", "the disk is full"),
        ("attempt to write a readonly database", "the database is read-only"),
        ("database is locked", "another process holds the database"),
        ("database disk image is malformed", "the database file is damaged"),
        ("file is not a database", "the database file is damaged"),
        ("disk I/O error", "the database failed: disk I/O error"),
    ],
)
def test_each_trouble_says_what_to_do(text: str, told: str) -> None:
    assert sqlite._explain(sqlite3.OperationalError(text)).startswith(told)
