"""Documents to HTML that is safe to put into a page.

Everything is escaped when it is written, and what was written goes through nh3 once more: the page shows what
people and models wrote, and two locks are cheap. Nothing is loaded from elsewhere: a picture is a link to it.
"""

from html import escape
from typing import Final, assert_never

import nh3

from gateway.document import (
    BARE_URL,
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
    runs,
)

_TAGS: Final[dict[Mark, tuple[str, str]]] = {
    "bold": ("<strong>", "</strong>"),
    "italic": ("<em>", "</em>"),
    "underline": ("<u>", "</u>"),
    "strike": ("<s>", "</s>"),
    "spoiler": ('<span class="spoiler" tabindex="0">', "</span>"),
}
_ALLOWED: Final[dict[str, set[str]]] = {
    "a": {"href"},
    "code": {"class"},
    "li": {"class"},
    "ol": {"start"},
    "span": {"class", "tabindex"},
    "td": {"class"},
    "th": {"class"},
}
_ELEMENTS: Final = {
    *(
        "p",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "pre",
        "code",
        "blockquote",
        "ul",
        "ol",
        "li",
        "hr",
        "br",
        "a",
    ),
    *("table", "thead", "tbody", "tr", "td", "th", "strong", "em", "u", "s", "span"),
}
_SCHEMES: Final = {"http", "https", "mailto", "tel"}


def render(document: Document) -> str:
    """Return the HTML of a document, without any element around it; "" when it has no blocks."""
    cleaned: str = nh3.clean(
        "".join(_block(block) for block in document.blocks),
        tags=_ELEMENTS,
        attributes=_ALLOWED,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer nofollow",
    )
    return cleaned


def measure(document: Document) -> int:
    """Return 0: a page scrolls, so no piece is too long."""
    del document
    return 0


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return f"<p>{_inline(block.spans)}</p>"
        case Heading():
            return f"<h{block.level}>{_inline(block.spans)}</h{block.level}>"
        case Code():
            kind = f' class="language-{escape(block.language)}"' if block.language else ""
            return f"<pre><code{kind}>{escape(block.text)}</code></pre>"
        case Rule():
            return "<hr>"
        case Table():
            return _table(block)
        case Quote():
            return f"<blockquote>{''.join(_block(inner) for inner in block.blocks)}</blockquote>"
        case List():
            return _list(block)
        case _:
            assert_never(block)


def _list(block: List) -> str:
    items = "".join(_item(item, is_loose=block.loose) for item in block.items)
    return f'<ol start="{block.start}">{items}</ol>' if block.ordered else f"<ul>{items}</ul>"


def _item(item: Item, *, is_loose: bool) -> str:
    box = "" if item.task is None else "☑ " if item.task else "☐ "
    kind = ' class="task"' if item.task is not None else ' class="resumed"' if item.resumed else ""
    inner = [
        _inline(block.spans) if isinstance(block, Paragraph) and not is_loose else _block(block)
        for block in item.blocks
    ]
    return f"<li{kind}>{box}{''.join(inner)}</li>"


def _table(table: Table) -> str:
    head = "".join(_cell("th", cell, align) for cell, align in zip(table.head, table.align, strict=True))
    rows = (
        "".join(_cell("td", cell, align) for cell, align in zip(row, table.align, strict=True))
        for row in table.rows
    )
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(tag: str, cell: Spans, align: str) -> str:
    kind = f' class="{align}"' if align else ""
    return f"<{tag}{kind}>{_inline(cell)}</{tag}>"


def _inline(spans: Spans) -> str:
    parts: list[str] = []
    in_link = False
    for step, style, span in runs(spans):
        if step == "text":
            parts.append(_text(span, in_link=in_link))
        elif style == "link":
            in_link = step == "open"
            parts.append(f'<a href="{escape(span.link)}">' if in_link else "</a>")
        elif style != "code":
            parts.append(_TAGS[style][step == "close"])
    return "".join(parts)


def _text(span: Span, *, in_link: bool) -> str:
    if "code" in span.marks:
        return f"<code>{escape(span.text)}</code>"
    if in_link:
        return _lines(span.text)
    parts, done = [], 0
    for match in BARE_URL.finditer(span.text):
        address = escape(match.group())
        parts += [_lines(span.text[done : match.start()]), f'<a href="{address}">{address}</a>']
        done = match.end()
    return "".join([*parts, _lines(span.text[done:])])


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")
