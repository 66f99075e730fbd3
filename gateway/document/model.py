r"""What a reply says, apart from how a platform writes it: frozen blocks and spans.

A document is a tree of blocks. Inline text is flat: a span is a run of text with the set of marks that holds
for all of it, so that cutting a paragraph never has to take a tree of emphasis apart. Line breaks, soft or
hard, are "\\n" inside a span's text: people and models who write to a chat mean the line ends they write.

Neighbours: `parse` makes documents from Markdown, `build` from plain values, `codec` stores them;
`gateway.chunking` cuts them; each adapter's `render` turns one into what its platform takes.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

Mark: TypeAlias = Literal["bold", "italic", "underline", "strike", "spoiler", "code"]
Marks: TypeAlias = frozenset[Mark]
Align: TypeAlias = Literal["", "left", "center", "right"]

NO_MARKS: Marks = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    r"""A run of text under one set of marks.

    Attributes:
        text: What the reader sees; may hold "\\n", never "\\r" or a lone surrogate.
        marks: Order-free; "code" means text shown letter by letter.
        link: Address the text leads to, "" for none. Neighbouring spans with one address are one link.
        image: The link leads to a picture and the text is its description.
    """

    text: str
    marks: Marks = NO_MARKS
    link: str = ""
    image: bool = False


Spans: TypeAlias = tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Paragraph:
    """Running text."""

    spans: Spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """A heading; `level` is 1 to 6."""

    level: int
    spans: Spans


@dataclass(frozen=True, slots=True, kw_only=True)
class Code:
    """Lines of code without the last line's end; `language` is the first word after the fence, "" if none."""

    text: str
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A thematic break."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of inline cells; every row is as long as `head`, and so is `align`."""

    head: tuple[Spans, ...]
    rows: tuple[tuple[Spans, ...], ...]
    align: tuple[Align, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Quote:
    """A quotation."""

    blocks: "tuple[Block, ...]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One list item.

    Attributes:
        blocks: May be empty.
        task: None for an ordinary item, else whether the box is ticked.
        resumed: The item began in an earlier piece: it shows neither number nor bullet, only its indentation.
    """

    blocks: "tuple[Block, ...]"
    task: bool | None = None
    resumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class List:
    """A list; `start` is the number of the first item when `ordered`. `loose`: blank lines between items."""

    items: tuple[Item, ...]
    ordered: bool = False
    start: int = 1
    loose: bool = False


Leaf: TypeAlias = Paragraph | Heading | Code | Rule | Table
Block: TypeAlias = Leaf | Quote | List


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A whole reply, or one piece of it."""

    blocks: tuple[Block, ...] = ()


def leaves(blocks: tuple[Block, ...]) -> Iterator[Leaf]:
    """Yield the blocks that hold text themselves, in reading order (an item without blocks is none)."""
    for block in blocks:
        match block:
            case Quote():
                yield from leaves(block.blocks)
            case List():
                for item in block.items:
                    yield from leaves(item.blocks)
            case _:
                yield block
