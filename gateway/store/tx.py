"""The store's seam: one transaction, and the engine that runs it; the same for SQLite and PostgreSQL.

`sqlite.SqliteStore` and `postgres.PostgresStore` are the engines; `tests/contract/test_store.py` runs over both.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Literal, Protocol, TypeVar

T = TypeVar("T")

Engine = Literal["sqlite", "postgresql"]


class Row(Protocol):
    """One row; columns by name."""

    def __getitem__(self, column: str, /) -> Any:
        """The column's value."""
        ...


class Tx(Protocol):
    """An open transaction. SQL names its parameters `:name`; values are bound, never pasted."""

    @property
    def engine(self) -> Engine:
        """Which engine runs this; only for what the two have no common SQL for (full-text search)."""
        ...

    @property
    def type_words(self) -> Mapping[str, str]:
        """What this engine calls the types of `schema`."""
        ...

    def row(self, sql: str, /, **params: object) -> Row | None:
        """The first row, or None."""
        ...

    def rows(self, sql: str, /, **params: object) -> list[Row]:
        """All rows."""
        ...

    def run(self, sql: str, /, **params: object) -> int:
        """Execute; returns how many rows were changed."""
        ...

    def run_many(self, sql: str, params: list[dict[str, object]], /) -> None:
        """Execute once for each set of parameters."""
        ...

    def after_commit(self, callback: Callable[[], object]) -> None:
        """Call back in the event loop once this transaction is durable; dropped if it is rolled back."""
        ...


Work = Callable[[Tx], T]


class Store(Protocol):
    """An open database. Whoever needs it gets this and knows no engine."""

    def write(self, work: Work[T]) -> "asyncio.Future[T]":
        """Queue one transaction, in call order; the future ends when it is durable, or with its error.

        `work` runs in a thread and must be quick; what it raises rolls back only itself. An engine may run it
        again if another node was in its way, so it has no effect but on `tx`. A waiter that is cancelled does not
        take its write back.

        Raises:
            StoreUnavailable: the database is closed, full, read-only, damaged, away or too far behind.
        """
        ...

    async def read(self, work: Work[T]) -> T:
        """Run queries beside the writer; sees all that was committed before the call.

        Raises:
            StoreUnavailable: the database is closed, damaged or away.
        """
        ...

    def size_bytes(self) -> int:
        """What it takes on disk; 0 if that is another machine's."""
        ...

    async def close(self) -> None:
        """Finish what is queued, then close."""
        ...
