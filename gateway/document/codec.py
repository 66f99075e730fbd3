"""Documents as JSON text, the form in which outbox rows keep their pieces.

Compact arrays, the block's kind first. `VERSION` changes when an old reader could misread a new document;
rows of a version before are read as long as `from_json` knows them.
"""

import json
from typing import Any, assert_never, cast

from gateway.document.model import (
    NO_MARKS,
    Align,
    Block,
    Code,
    Document,
    Heading,
    Item,
    List,
    Mark,
    Marks,
    Paragraph,
    Quote,
    Rule,
    Span,
    Spans,
    Table,
)

VERSION = 1

_LETTERS: dict[Mark, str] = {
    "bold": "b",
    "italic": "i",
    "underline": "u",
    "strike": "s",
    "spoiler": "h",
    "code": "c",
}
_MARKS: dict[str, Mark] = {letter: mark for mark, letter in _LETTERS.items()}


def to_json(document: Document) -> str:
    """Return the document as one line of JSON; equal documents give equal text."""
    value = [VERSION, [_block(block) for block in document.blocks]]
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def from_json(text: str) -> Document:
    """Return the document that `to_json` wrote.

    Raises:
        ValueError: Not a document, or of a version this release does not know.
    """
    value = json.loads(text)
    if not isinstance(value, list) or len(value) != 2 or value[0] != VERSION:
        raise ValueError("not a stored document of a known version")
    try:
        return Document(blocks=_read_blocks(value[1]))
    except (TypeError, IndexError, KeyError) as error:
        raise ValueError("a stored document is damaged") from error


def _block(block: Block) -> list[Any]:
    match block:
        case Paragraph():
            return ["p", _spans(block.spans)]
        case Heading():
            return ["h", block.level, _spans(block.spans)]
        case Code():
            return ["c", block.text, block.language]
        case Rule():
            return ["r"]
        case Table():
            rows = [[_spans(cell) for cell in row] for row in (block.head, *block.rows)]
            return ["t", rows, list(block.align)]
        case Quote():
            return ["q", [_block(inner) for inner in block.blocks]]
        case List():
            items = [
                [[_block(inner) for inner in item.blocks], item.task, int(item.resumed)]
                for item in block.items
            ]
            return ["l", items, block.start if block.ordered else None, int(block.loose)]
        case _:
            assert_never(block)


def _spans(spans: Spans) -> list[Any]:
    return [_span(span) for span in spans]


def _span(span: Span) -> Any:
    if not span.marks and not span.link:
        return span.text  # by far the most common span is plain text
    letters = "".join(sorted(_LETTERS[mark] for mark in span.marks))
    return [span.text, letters, span.link, 1] if span.image else [span.text, letters, span.link]


def _read_blocks(values: list[Any]) -> tuple[Block, ...]:
    return tuple(_read_block(value) for value in values)


def _read_block(value: list[Any]) -> Block:
    match value[0]:
        case "p":
            return Paragraph(spans=_read_spans(value[1]))
        case "h":
            return Heading(level=value[1], spans=_read_spans(value[2]))
        case "c":
            return Code(text=value[1], language=value[2])
        case "r":
            return Rule()
        case "t":
            head, *rows = (tuple(_read_spans(cell) for cell in row) for row in value[1])
            return Table(head=head, rows=tuple(rows), align=cast("tuple[Align, ...]", tuple(value[2])))
        case "q":
            return Quote(blocks=_read_blocks(value[1]))
        case "l":
            return _read_list(value)
        case kind:
            raise KeyError(kind)


def _read_list(value: list[Any]) -> List:
    items = tuple(
        Item(blocks=_read_blocks(blocks), task=task, resumed=bool(resumed))
        for blocks, task, resumed in value[1]
    )
    ordered = value[2] is not None
    return List(items=items, ordered=ordered, start=value[2] if ordered else 1, loose=bool(value[3]))


def _read_spans(values: list[Any]) -> Spans:
    return tuple(_read_span(value) for value in values)


def _read_span(value: Any) -> Span:
    if isinstance(value, str):
        return Span(text=value)
    text, letters, link, *image = value
    marks: Marks = frozenset(_MARKS[letter] for letter in letters) if letters else NO_MARKS
    return Span(text=text, marks=marks, link=link, image=bool(image))
