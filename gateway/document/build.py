"""Documents made by code: cards, notices, command answers. Text given here is never markup."""

import re

from gateway.document.model import NO_MARKS, Block, Code, Document, Item, List, Mark, Paragraph, Span

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_SEPARATOR = re.compile("[\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def literal(text: str) -> str:
    """Return the text as any platform can take it.

    Line ends become line feeds, control characters and lone surrogates the replacement character.
    """
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = _LONE_SURROGATE.sub("\ufffd", _SEPARATOR.sub("\n", text))
    return _CONTROL.sub("\ufffd", text)


def span(text: str, *marks: Mark, link: str = "") -> Span:
    """Return one run of literal text under the given marks."""
    return Span(text=literal(text), marks=frozenset(marks) if marks else NO_MARKS, link=link)


def paragraph(*parts: Span | str) -> Paragraph:
    """Return a paragraph of literal texts and spans."""
    return Paragraph(spans=tuple(span(part) if isinstance(part, str) else part for part in parts))


def code_block(text: str, language: str = "") -> Code:
    """Return a block of code; no fence inside it can end it."""
    return Code(text=literal(text).removesuffix("\n"), language=language)


def bullets(*items: Span | str | tuple[Block, ...]) -> List:
    """Return a tight bullet list; an item is a text, a span or a tuple of blocks."""
    return List(
        items=tuple(Item(blocks=item if isinstance(item, tuple) else (paragraph(item),)) for item in items),
    )


def document(*blocks: Block) -> Document:
    """Return a document of these blocks."""
    return Document(blocks=blocks)


def text_document(text: str) -> Document:
    """Return a document that shows `text` exactly: nothing in it can become markup; no text, no blocks."""
    shown = literal(text)
    return Document(blocks=(Paragraph(spans=(Span(text=shown),)),)) if shown else Document()
