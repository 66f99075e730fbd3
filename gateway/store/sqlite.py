"""SQLite with one writer that groups commits: whatever queued during the last commit is the next batch.

A batch is one hop of the connection's thread and one commit; each request in it has a savepoint of its own, so
one that raises takes back only itself. The commit never waits for company: alone it costs one fsync
(WAL, synchronous=FULL). A waiter that is cancelled does not take its write back. Reads run beside the writer on
connections of their own.
"""

import asyncio
import fcntl
import sqlite3
from collections import deque
from collections.abc import Callable, Mapping
from contextlib import closing
from contextvars import Context
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar, TypeVar

import aiosqlite
import structlog
from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random_exponential

from gateway.errors import StateInUse, StoreUnavailable
from gateway.store.tx import Engine, Row, Tx, Work

log = structlog.get_logger()
T = TypeVar("T")

MAX_BATCH = 256
MAX_QUEUED = 50_000
BUSY_RETRIES = 15
CACHE = "PRAGMA cache_size=-16384"  # KiB a connection, taken only by a database that large


def _is_busy(error: BaseException) -> bool:
    return isinstance(error, sqlite3.OperationalError) and "locked" in str(error)


# Another process (a backup, a curious shell) may hold the write lock for a moment: 15 jittered tries.
_begin_retries = Retrying(
    retry=retry_if_exception(_is_busy),
    stop=stop_after_attempt(BUSY_RETRIES),
    wait=wait_random_exponential(multiplier=0.01, max=0.5),
    reraise=True,
)


class SqliteTx:
    """`Tx` on a sqlite3 connection; used in the connection's own thread only."""

    engine: ClassVar[Engine] = "sqlite"
    type_words: ClassVar[Mapping[str, str]] = {
        "int": "INTEGER",
        "serial": "INTEGER PRIMARY KEY AUTOINCREMENT",
    }

    def __init__(self, conn: sqlite3.Connection) -> None:
        self._conn = conn
        self.callbacks: list[Callable[[], object]] = []

    def row(self, sql: str, /, **params: object) -> Row | None:
        """The first row, or None."""
        found: Row | None = self._conn.execute(sql, params).fetchone()
        return found

    def rows(self, sql: str, /, **params: object) -> list[Row]:
        """All rows."""
        return self._conn.execute(sql, params).fetchall()

    def run(self, sql: str, /, **params: object) -> int:
        """Execute; returns how many rows were changed."""
        return self._conn.execute(sql, params).rowcount

    def run_many(self, sql: str, params: list[dict[str, object]], /) -> None:
        """Execute once for each set of parameters."""
        self._conn.executemany(sql, params)

    def after_commit(self, callback: Callable[[], object]) -> None:
        """Call back in the event loop once this transaction is durable."""
        self.callbacks.append(callback)


@dataclass(slots=True)
class _Request:
    work: Callable[[Tx], Any]
    done: "asyncio.Future[Any]"
    result: Any = None
    error: BaseException | None = None
    callbacks: list[Callable[[], object]] = field(default_factory=list)


class _HopConnection(aiosqlite.Connection):
    """An aiosqlite connection that runs a whole function in one hop of its thread."""

    async def hop(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` with the raw connection in its thread."""
        result: T = await self._execute(work, self._conn)  # type: ignore[no-untyped-call]
        return result


class SqliteStore:
    """`Store` on one file: `write` for transactions, `read` for queries. Made by `open_database`."""

    def __init__(
        self, path: Path, writer: _HopConnection, readers: list[_HopConnection], lock: IO[str] | None
    ) -> None:
        self._path = path
        self._writer = writer
        self._readers = readers
        self._next_reader = 0
        self._lock = lock
        self._queue: deque[_Request] = deque()
        self._pump: asyncio.Task[None] | None = None
        self._closed = False

    def write(self, work: Work[T]) -> "asyncio.Future[T]":
        """Queue one transaction, in call order; the future ends when it is durable, or with its error.

        `work` runs in the writer's thread and must be quick; what it raises rolls back only itself.

        Raises:
            StoreUnavailable: the database is closed, full, read-only, damaged or too far behind.
        """
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        if self._closed:
            done.set_exception(StoreUnavailable("the database is closed"))
            return done
        if len(self._queue) >= MAX_QUEUED:
            done.set_exception(StoreUnavailable(f"{MAX_QUEUED} writes wait already: the disk is too slow"))
            return done
        self._queue.append(_Request(work=work, done=done))
        if self._pump is None:
            # A context of its own: it calls back for everybody, and what it starts must not carry the log's
            # session and turn of whoever happened to come first.
            self._pump = asyncio.create_task(self._run_pump(), name="store.pump", context=Context())
        return done

    async def read(self, work: Work[T]) -> T:
        """Run queries on a read-only connection; sees all that was committed before the call."""
        if self._closed:
            raise StoreUnavailable("the database is closed")
        reader = self._readers[self._next_reader]
        self._next_reader = (self._next_reader + 1) % len(self._readers)
        try:
            return await reader.hop(lambda conn: work(SqliteTx(conn)))
        except sqlite3.DatabaseError as error:
            raise StoreUnavailable(_explain(error)) from error

    def size_bytes(self) -> int:
        """The database on disk, with its write-ahead log."""
        files = (self._path, self._path.with_name(self._path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    async def close(self) -> None:
        """Finish what is queued, then close and give the process lock back."""
        self._closed = True
        if self._pump is not None:
            await asyncio.shield(self._pump)
        for connection in (*self._readers, self._writer):
            await connection.close()
        if self._lock is not None:
            self._lock.close()

    async def _run_pump(self) -> None:
        while self._queue:
            batch = [self._queue.popleft() for _ in range(min(MAX_BATCH, len(self._queue)))]
            try:
                await self._writer.hop(lambda conn, batch=batch: _run_batch(conn, batch))  # type: ignore[misc]
            except (sqlite3.Error, StoreUnavailable) as error:
                log.warning("store.batch_failed", size=len(batch), reason=str(error))
                failure = error if isinstance(error, StoreUnavailable) else StoreUnavailable(_explain(error))
                for request in batch:
                    request.error = failure
                    request.callbacks = []
            for request in batch:
                _settle(request)
        self._pump = None


def _settle(request: _Request) -> None:
    for callback in request.callbacks:
        try:
            callback()
        except Exception:
            # What is committed stands; a listener's bug must not stop the pump for everybody else.
            log.exception("store.callback_failed")
    if request.done.done():  # the waiter was cancelled; its write stands all the same
        return
    if request.error is not None:
        request.done.set_exception(request.error)
    else:
        request.done.set_result(request.result)


def _run_batch(conn: sqlite3.Connection, batch: list[_Request]) -> None:
    _begin_retries(conn.execute, "BEGIN IMMEDIATE")
    try:
        for request in batch:
            _run_one(conn, request)
        conn.execute("COMMIT")
    except BaseException:
        if conn.in_transaction:
            conn.execute("ROLLBACK")
        raise


def _run_one(conn: sqlite3.Connection, request: _Request) -> None:
    tx = SqliteTx(conn)
    conn.execute("SAVEPOINT one")
    try:
        request.result = request.work(tx)
    except Exception as error:
        if not conn.in_transaction:  # SQLite itself rolled all back (disk full, damaged file)
            raise StoreUnavailable(_explain(error)) from error
        conn.execute("ROLLBACK TO one")
        request.error = StoreUnavailable(_explain(error)) if _is_disk_trouble(error) else error
    else:
        request.callbacks = tx.callbacks
    conn.execute("RELEASE one")


def _is_disk_trouble(error: BaseException) -> bool:
    return isinstance(error, sqlite3.DatabaseError) and not isinstance(
        error, sqlite3.IntegrityError | sqlite3.ProgrammingError
    )


def _explain(error: BaseException) -> str:
    text = str(error)
    if "full" in text:
        return f"the disk is full ({text}): free some space; nothing accepted before is lost"
    if "readonly" in text or "read-only" in text:
        return f"the database is read-only ({text}): check the owner and mount of the state directory"
    if "locked" in text:
        return f"another process holds the database ({text}): close it and try again"
    if "malformed" in text or "not a database" in text:
        return (
            f"the database file is damaged ({text}): restore a backup, or move the file aside to start anew"
        )
    return f"the database failed: {text}"


async def open_database(path: Path, *, readers: int = 2) -> SqliteStore:
    """Open (or create) the database file; the folder must exist. The schema is `schema.migrate`'s affair.

    Raises:
        StateInUse: another process has it open.
        StoreUnavailable: it cannot be opened or written.
    """
    lock = _take_lock(path.with_suffix(".lock"))
    opened: list[_HopConnection] = []
    try:
        writer = await _connect(path, ("PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL"))
        opened.append(writer)
        opened += [await _connect(path, ("PRAGMA query_only=1",)) for _ in range(readers)]
    except (sqlite3.Error, OSError) as error:
        for connection in opened:
            await connection.close()
        lock.close()
        raise StoreUnavailable(f"{path}: {_explain(error)}") from error
    return SqliteStore(path, writer, opened[1:], lock)


def is_served(path: Path) -> bool:
    """Whether a process has this database open to write, as its lock says."""
    try:
        lock = path.with_suffix(".lock").open("rb")
    except OSError:
        return False
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


def look(path: Path, work: Work[T]) -> T:
    """Run queries on a database that no daemon serves now, changing nothing; blocks.

    Raises:
        StoreUnavailable: there is none, or it cannot be read.
    """
    if not path.exists():
        raise StoreUnavailable(f"there is no database at {path}")
    try:
        with closing(sqlite3.connect(path, isolation_level=None, timeout=1.0)) as conn:
            conn.row_factory = sqlite3.Row
            conn.execute("PRAGMA query_only=1")
            return work(SqliteTx(conn))
    except sqlite3.Error as error:
        raise StoreUnavailable(f"{path}: {_explain(error)}") from error


async def _connect(path: Path, pragmas: tuple[str, ...]) -> _HopConnection:
    def connector() -> sqlite3.Connection:
        conn = sqlite3.connect(path, isolation_level=None, timeout=1.0, cached_statements=512)
        conn.row_factory = sqlite3.Row
        for pragma in (*pragmas, "PRAGMA busy_timeout=1000", "PRAGMA temp_store=MEMORY", CACHE):
            conn.execute(pragma)
        return conn

    connection = _HopConnection(connector, iter_chunk_size=64)
    # A daemon thread: one that hangs in a dead disk must not keep the process from ending.
    connection._thread.daemon = True  # noqa: SLF001
    try:
        await connection
    except sqlite3.Error:
        # Its thread was told to end and is not waited for: it would speak to a loop that is closed by then.
        await asyncio.to_thread(connection._thread.join, 1.0)  # noqa: SLF001
        raise
    return connection


def _take_lock(path: Path) -> IO[str]:
    try:
        lock = path.open("a")
    except OSError as error:
        raise StoreUnavailable(f"{path.parent}: cannot be written ({error.strerror})") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise StateInUse(
            f"{path.parent} is in use by another parley process; stop it, or give this one its own state_dir"
        ) from error
    return lock
