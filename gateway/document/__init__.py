"""Documents: what a reply says, in frozen blocks and spans, between Markdown and a platform's rendering.

`parse` reads Markdown once, `text_document` and `build` make documents that contain no markup, `to_json` and
`from_json` store them, `plain` shows them. Imports nothing of the gateway, so that every adapter may import
it.
"""

from gateway.document.build import bullets, code_block, document, paragraph, span, text_document
from gateway.document.codec import from_json, to_json
from gateway.document.model import (
    NO_MARKS,
    Align,
    Block,
    Code,
    Document,
    Heading,
    Item,
    Leaf,
    List,
    Mark,
    Marks,
    Paragraph,
    Quote,
    Rule,
    Span,
    Spans,
    Table,
    leaves,
)
from gateway.document.parse import parse, parse_located
from gateway.document.plain import first_words, is_blank, item_marker, plain, text_of
from gateway.document.prose import BARE_URL
from gateway.document.runs import outside_space, runs
from gateway.document.source_map import SourceMap
from gateway.document.tables import grid, record, records

__all__ = [
    "BARE_URL",
    "NO_MARKS",
    "Align",
    "Block",
    "Code",
    "Document",
    "Heading",
    "Item",
    "Leaf",
    "List",
    "Mark",
    "Marks",
    "Paragraph",
    "Quote",
    "Rule",
    "SourceMap",
    "Span",
    "Spans",
    "Table",
    "bullets",
    "code_block",
    "document",
    "first_words",
    "from_json",
    "grid",
    "is_blank",
    "item_marker",
    "leaves",
    "outside_space",
    "paragraph",
    "parse",
    "parse_located",
    "plain",
    "record",
    "records",
    "runs",
    "span",
    "text_document",
    "text_of",
    "to_json",
]
