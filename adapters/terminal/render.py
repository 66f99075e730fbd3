"""Documents to what rich draws in a terminal: colours, real tables, links where terminals have them."""

from typing import Final, assert_never

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.rule import Rule as DrawnRule
from rich.syntax import Syntax
from rich.table import Table as DrawnTable
from rich.text import Text

from gateway.document import (
    Align,
    Block,
    Code,
    Document,
    Heading,
    Item,
    List,
    Mark,
    Paragraph,
    Quote,
    Rule,
    Span,
    Spans,
    Table,
    item_marker,
)

_STYLES: Final[dict[Mark, str]] = {
    "bold": "bold",
    "italic": "italic",
    "underline": "underline",
    "strike": "strike",
    "spoiler": "dim",
    "code": "cyan",
}
_JUSTIFY: Final[dict[Align, str]] = {"": "left", "left": "left", "center": "center", "right": "right"}


def render(document: Document) -> RenderableType:
    """Return what `rich.console.Console.print` draws; it wraps to the width of the console it is drawn on."""
    return Group(*_blocks(document.blocks, is_loose=True))


def measure(document: Document) -> int:
    """Return 0: a terminal scrolls, so no piece is too long."""
    del document
    return 0


def _blocks(blocks: tuple[Block, ...], *, is_loose: bool) -> list[RenderableType]:
    drawn: list[RenderableType] = []
    before: Block | None = None
    for block in blocks:
        if before is not None and is_loose and not isinstance(before, Heading):
            drawn.append(Text(""))
        drawn.append(_block(block))
        before = block
    return drawn


def _block(block: Block) -> RenderableType:
    match block:
        case Paragraph():
            return _inline(block.spans)
        case Heading():
            return _inline(block.spans, "bold underline" if block.level == 1 else "bold")
        case Code():
            # the terminal's own colours, so that code is read on light and dark grounds alike
            drawn = Syntax(
                block.text,
                block.language or "text",
                theme="ansi_dark",
                background_color="default",
                word_wrap=True,
            )
            return Padding(drawn, (0, 0, 0, 2))
        case Rule():
            return DrawnRule(style="dim")
        case Table():
            return _table(block)
        case Quote():
            return _beside("▎ ", Group(*_blocks(block.blocks, is_loose=True)), "dim")
        case List():
            return _list(block)
        case _:
            assert_never(block)


def _list(block: List) -> RenderableType:
    drawn: list[RenderableType] = []
    for number, item in enumerate(block.items, block.start):
        if drawn and block.loose:
            drawn.append(Text(""))
        drawn.append(_item(item, item_marker(block, number, item.task), is_loose=block.loose))
    return Group(*drawn)


def _item(item: Item, marker: str, *, is_loose: bool) -> RenderableType:
    shown = " " * len(marker) if item.resumed else marker
    return _beside(shown, Group(*_blocks(item.blocks, is_loose=is_loose)), "")


def _beside(lead: str, body: RenderableType, style: str) -> RenderableType:
    """Draw a mark left of a body; a quote's mark goes down all its lines."""
    if style:
        lines = DrawnTable.grid(padding=0)
        lines.add_column(style=style)
        lines.add_column(style=style)
        lines.add_row(Text(lead), body)
        return lines
    row = DrawnTable.grid(padding=0)
    row.add_column(width=len(lead), no_wrap=True)
    row.add_column()
    row.add_row(Text(lead), body)
    return row


def _table(table: Table) -> RenderableType:
    drawn = DrawnTable(header_style="bold", border_style="dim")
    for head, align in zip(table.head, table.align, strict=True):
        drawn.add_column(_inline(head), justify=_JUSTIFY[align])  # type: ignore[arg-type] # a literal by value
    for row in table.rows:
        drawn.add_row(*(_inline(cell) for cell in row))
    return drawn


def _inline(spans: Spans, style: str = "") -> Text:
    text = Text(style=style)
    for span in spans:
        text.append(span.text, _style(span))
    return text


def _style(span: Span) -> str:
    styles = [_STYLES[mark] for mark in sorted(span.marks)]
    if span.link and not any(character.isspace() for character in span.link):
        styles += ["blue", f"link {span.link}"]
    return " ".join(styles)
