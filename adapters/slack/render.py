"""Documents to Slack's rich text: blocks in which nothing is markup and nobody can be mentioned by a text.

Shapes as in https://docs.slack.dev/reference/block-kit/blocks/rich-text-block (read 2026-10): one `rich_text`
block of sections, lists, preformatted texts and quotes. Lists hold inline text only, so code or a quote
inside an item stands after it and the list goes on with its number (`offset`). What lies in a quote and is no
text itself has a border. There is no style for underlined or hidden text: such text is shown plainly.
"""

from collections.abc import Iterator
from typing import Any, Final, assert_never

from gateway.document import (
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
    grid,
    records,
)

Json = dict[str, Any]

MAX_BLOCKS_TEXT: Final = 12_000
"""Characters over all blocks; Slack answers `msg_blocks_too_long` near 13,200 (reported)."""

COLUMNS: Final = 60
_DEEPEST: Final = 8
_STYLES: Final[tuple[tuple[Mark, str], ...]] = (
    ("bold", "bold"),
    ("italic", "italic"),
    ("strike", "strike"),
    ("code", "code"),
)
_LINKABLE: Final = ("http://", "https://", "mailto:", "slack://", "tel:")


def render(document: Document) -> list[Json]:
    """Return the `blocks` to send: one rich text block, or none when the document shows nothing."""
    elements = list(_joined(_elements(document.blocks, border=0)))
    return [{"type": "rich_text", "elements": elements}] if elements else []


def measure(document: Document) -> int:
    """Return what a piece counts against `MAX_BLOCKS_TEXT`: texts, addresses, a little for each element."""
    return sum(_size(element) for block in render(document) for element in block["elements"])


def _size(element: Json) -> int:
    if "elements" in element:
        return 2 + sum(_size(inner) for inner in element["elements"])
    return len(element.get("text", "")) + len(element.get("url", ""))


def _elements(blocks: tuple[Block, ...], *, border: int) -> Iterator[Json]:
    for block in blocks:
        match block:
            case Paragraph():
                yield from _section(_inline(block.spans), border)
            case Heading():
                yield from _section(_inline(tuple(_bold(span) for span in block.spans)), border)
            case Code():
                yield from _preformatted(block.text, border)
            case Rule():
                yield from _section([{"type": "text", "text": "───────"}], border)
            case Table():
                aligned = grid(block, COLUMNS)
                if aligned and aligned.strip():
                    yield from _preformatted(aligned, border)
                else:
                    yield from _elements(records(block), border=border)
            case Quote():
                yield from _elements(block.blocks, border=1)
            case List():
                yield from _list(block, 0, border)
            case _:
                assert_never(block)


def _section(elements: list[Json], border: int) -> Iterator[Json]:
    if elements:
        yield {"type": "rich_text_quote" if border else "rich_text_section", "elements": elements}


def _preformatted(text: str, border: int) -> Iterator[Json]:
    if text.strip():
        yield {
            "type": "rich_text_preformatted",
            "border": border,
            "elements": [{"type": "text", "text": text}],
        }


def _list(block: List, indent: int, border: int) -> Iterator[Json]:
    for number, item in enumerate(block.items, block.start):
        yield from _item(block, number, item, indent, border)


def _item(block: List, number: int, item: Item, indent: int, border: int) -> Iterator[Json]:
    first, rest = _head(item)
    if item.resumed:
        yield from _section(
            [{"type": "text", "text": "    " * (indent + 1)}, *first] if first else [], border
        )
    else:
        box = [] if item.task is None else [{"type": "text", "text": "☑ " if item.task else "☐ "}]
        yield {
            "type": "rich_text_list",
            "style": "ordered" if block.ordered else "bullet",
            "indent": min(indent, _DEEPEST),
            "offset": max(number - 1, 0) if block.ordered else 0,
            "border": border,
            "elements": [
                {"type": "rich_text_section", "elements": [*box, *first] or [{"type": "text", "text": " "}]}
            ],
        }
    for inner in rest:
        yield from (
            _list(inner, indent + 1, border)
            if isinstance(inner, List)
            else _elements((inner,), border=border)
        )


def _head(item: Item) -> tuple[list[Json], tuple[Block, ...]]:
    """Return the inline text an item begins with, its first paragraphs, and the blocks after it."""
    first: list[Json] = []
    for index, block in enumerate(item.blocks):
        if not isinstance(block, Paragraph | Heading):
            return first, item.blocks[index:]
        first += [{"type": "text", "text": "\n"}] if first else []
        first += _inline(block.spans)
    return first, ()


def _joined(elements: Iterator[Json]) -> Iterator[Json]:
    """Yield the elements with neighbours joined: texts by a blank line, items of one list into one list."""
    last: Json | None = None
    for element in elements:
        if last is not None and _is_one(last, element):
            if last["type"] != "rich_text_list":
                last["elements"].append({"type": "text", "text": "\n\n"})
            last["elements"] += element["elements"]
        else:
            if last is not None:
                yield last
            last = element
    if last is not None:
        yield last


def _is_one(last: Json, element: Json) -> bool:
    if last["type"] != element["type"] or last["type"] == "rich_text_preformatted":
        return False
    if last["type"] != "rich_text_list":
        return True
    if any(last[key] != element[key] for key in ("style", "indent", "border")):
        return False
    goes_on: bool = element["offset"] == last["offset"] + len(last["elements"])
    return last["style"] == "bullet" or goes_on


def _inline(spans: Spans) -> list[Json]:
    return [_text(span) for span in spans if span.text]


def _text(span: Span) -> Json:
    style = {name: True for mark, name in _STYLES if mark in span.marks}
    if span.link.startswith(_LINKABLE):
        element: Json = {"type": "link", "url": span.link, "text": span.text}
    else:
        shown = f"{span.text} ({span.link})" if span.link and span.link != span.text else span.text
        element = {"type": "text", "text": shown}
    return element | {"style": style} if style else element


def _bold(span: Span) -> Span:
    return Span(text=span.text, marks=span.marks | {"bold"}, link=span.link, image=span.image)
