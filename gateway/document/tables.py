"""Tables where there are none: aligned in a fixed-width block when narrow, else row by row as records."""

from typing import Final

from wcwidth import wcswidth

from gateway.document.model import Align, Paragraph, Span, Spans, Table
from gateway.document.plain import text_of

_BAR: Final = " │ "


def grid(table: Table, columns: int) -> str | None:
    """Return the table aligned for a fixed-width font, or None when it is wider than `columns`.

    Wide East Asian characters and emoji count two columns. None also when a cell has a link, which a
    fixed-width block could not lead to. No line is drawn under the head: a row of dashes reads as an unparsed
    table.
    """
    rows = [
        [text_of(cell).replace("\t", " ").split("\n") for cell in row] for row in (table.head, *table.rows)
    ]
    widths = [max(_width(line) for row in rows for line in row[index]) for index in range(len(table.head))]
    if sum(widths) + len(_BAR) * (len(widths) - 1) > columns or _has_link(table):
        return None
    return "\n".join(line for row in rows for line in _lines(row, widths, table.align))


def records(table: Table) -> tuple[Paragraph, ...]:
    """Return a paragraph for each row: a line "**name:** value" for each cell that is not empty."""
    if not table.rows:
        return (Paragraph(spans=_listed(table.head)),)
    shown = (Paragraph(spans=record(table.head, row)) for row in table.rows)
    return tuple(paragraph for paragraph in shown if paragraph.spans)


def record(head: tuple[Spans, ...], row: tuple[Spans, ...]) -> Spans:
    """Return one row as lines "**name:** value", with the formatting of its cells."""
    spans: list[Span] = []
    for name, cell in zip(head, row, strict=True):
        if not cell:
            continue
        if spans:
            spans.append(Span(text="\n"))
        if name:
            spans += [Span(text=part.text, marks=part.marks | {"bold"}, link=part.link) for part in name]
            spans += [Span(text=":", marks=frozenset({"bold"})), Span(text=" ")]
        spans += cell
    return tuple(spans)


def _listed(cells: tuple[Spans, ...]) -> Spans:
    spans: list[Span] = []
    for cell in cells:
        spans += [Span(text=_BAR), *cell] if spans else cell
    return tuple(spans)


def _lines(row: list[list[str]], widths: list[int], align: tuple[Align, ...]) -> list[str]:
    height = max(len(cell) for cell in row)
    lines = []
    for number in range(height):
        cells = [
            _padded(cell[number] if number < len(cell) else "", width, side)
            for cell, width, side in zip(row, widths, align, strict=True)
        ]
        lines.append(_BAR.join(cells).rstrip())
    return lines


def _padded(text: str, width: int, align: Align) -> str:
    room = width - _width(text)
    left = room if align == "right" else room // 2 if align == "center" else 0
    return " " * left + text + " " * (room - left)


def _width(text: str) -> int:
    return len(text) if text.isascii() else max(wcswidth(text), 0) or len(text)


def _has_link(table: Table) -> bool:
    return any(span.link for row in (table.head, *table.rows) for cell in row for span in cell)
