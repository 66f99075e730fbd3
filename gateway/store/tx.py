"""One transaction, as the modules of this package see it; the same for SQLite and PostgreSQL."""

from collections.abc import Callable
from typing import Any, Protocol


class Row(Protocol):
    """One row; columns by name."""

    def __getitem__(self, column: str, /) -> Any:
        """The column's value."""
        ...


class Tx(Protocol):
    """An open transaction. SQL names its parameters `:name`; values are bound, never pasted."""

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
