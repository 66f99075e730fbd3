"""Markdown to a document, parsed once: CommonMark with tables, strikethrough, task lists and spoilers.

`prose.prepare` marks what must stay literal, pyromark (pulldown-cmark) reads the blocks and spans, `Builder`
turns its events into the frozen model. `parse_located` also returns where each piece of visible text stands
in the source, which only a growing stream needs.
"""

from bisect import bisect_left
from collections.abc import Iterator
from typing import Any

import pyromark

from gateway.document.build import literal
from gateway.document.builder import Builder
from gateway.document.model import Document
from gateway.document.prose import Prepared, prepare
from gateway.document.source_map import SourceMap

_OPTIONS = (
    pyromark.Options.ENABLE_TABLES | pyromark.Options.ENABLE_STRIKETHROUGH | pyromark.Options.ENABLE_TASKLISTS
)


def parse(markdown: str) -> Document:
    """Return what the Markdown says. Any text is Markdown: nothing is refused."""
    prepared = prepare(literal(markdown))
    builder = Builder(base=prepared.base, has_references="&#" in prepared.text)
    for event in pyromark.events(prepared.text, options=_OPTIONS):
        builder.take(event, -1)
    return builder.finish()


def parse_located(markdown: str) -> tuple[Document, SourceMap]:
    """Return what the Markdown says, and where in the source (code points) its visible text stands.

    About five times the work of `parse`, whose document is the same.
    """
    source = literal(markdown)
    prepared = prepare(source)
    builder = Builder(base=prepared.base, has_references="&#" in prepared.text)
    for event, at in _located_events(prepared):
        builder.take(event, at)
    return builder.finish(), SourceMap(leaves=builder.positions, end=len(source))


def _located_events(prepared: Prepared) -> Iterator[tuple[Any, int]]:
    """Yield the parser's events with offsets in the source instead of in the UTF-8 of the prepared text."""
    data = prepared.text.encode()
    seen_bytes = 0
    seen = 0
    for event, where in pyromark.events_with_range(prepared.text, options=_OPTIONS):
        start = where["start"]
        if start >= seen_bytes:
            seen += len(data[seen_bytes:start].decode())
        else:  # the end of a container looks back to its beginning
            seen -= len(data[start:seen_bytes].decode())
        seen_bytes = start
        yield event, seen - bisect_left(prepared.joiners, seen)
