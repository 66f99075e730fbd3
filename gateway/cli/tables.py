"""Lists for a person: a table on a terminal, tab-separated lines without any control sequence elsewhere."""

import sys
from collections.abc import Iterable, Sequence
from datetime import timedelta

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gateway.clock import from_ms, utc_now

_TEXTS = frozenset({"text", "why", "question", "found", "what to do"})
"""Columns that go on in the next line where they are long; the others are cut."""

_STYLES = {"ok": "green", "warning": "yellow", "failed": "bold red"}


def show_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, empty: str) -> None:
    """Print rows under their columns; `empty` if there are none."""
    cells = [[_one_line(str(cell)) for cell in row] for row in rows]
    if not cells:
        typer.echo(empty)
    elif sys.stdout.isatty():
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            is_text = column in _TEXTS
            table.add_column(column, overflow="fold" if is_text else "ellipsis", no_wrap=not is_text)
        for row in cells:
            # As Text: what people wrote is no markup.
            table.add_row(
                *(
                    Text(cell, style=_STYLES.get(cell, "")) if column == "state" else Text(cell)
                    for column, cell in zip(columns, row, strict=True)
                )
            )
        Console().print(table)
    else:
        for row in [list(columns), *cells]:
            typer.echo("\t".join(row))


def age(then_ms: int | None) -> str:
    """How long ago, roughly: `12 s`, `3 min`, `5 h`, `2 d`."""
    if then_ms is None:
        return ""
    seconds = max(timedelta(), utc_now() - from_ms(then_ms)).total_seconds()
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit}"
    return f"{int(seconds)} s"


def size(count: int) -> str:
    """Bytes, roughly: `4.2 MB`."""
    return f"{count / 1_000_000:.1f} MB" if count >= 100_000 else f"{count / 1_000:.1f} kB"


def _one_line(text: str) -> str:
    return "".join(character if character.isprintable() else " " for character in text)
