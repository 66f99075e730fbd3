"""The visible text of a document: for notifications, and for a resend when a platform refuses markup."""

import unicodedata
from typing import assert_never

from gateway.document.model import (
    Block,
    Code,
    Document,
    Heading,
    List,
    Paragraph,
    Quote,
    Rule,
    Span,
    Spans,
    Table,
    leaves,
)


def plain(document: Document) -> str:
    """Return what a reader sees without any markup.

    List items keep "1. " or "• " and their indentation, tasks their box, table cells are joined by " | ", a
    rule is "———". Blocks are separated by a blank line, the items of a tight list by a line end.
    """
    return _blocks(document.blocks, "\n\n")


def text_of(spans: Spans) -> str:
    """Return the joined text of inline spans."""
    return spans[0].text if len(spans) == 1 else "".join([span.text for span in spans])


def is_blank(document: Document) -> bool:
    """Tell whether a reader would see nothing at all: white space, zero-width and control characters only."""
    for leaf in leaves(document.blocks):
        match leaf:
            case Paragraph() | Heading():
                shown = text_of(leaf.spans)
            case Code():
                shown = leaf.text
            case _:
                break
        if any(is_visible(character) for character in shown):
            return False
    return not any(is_visible(character) for character in plain(document))


_EMPTY_LETTERS = frozenset("\u030a\u0333\u033f\u115f\u1160\u2800\u3164\uffa0\ufffc")
"""Fillers and lone marks that are letters or symbols to Unicode, but an empty message to Telegram."""


def is_visible(character: str) -> bool:
    """Tell whether a reader would see this character, if only as part of another one."""
    if character.isspace() or character in _EMPTY_LETTERS:
        return False
    return unicodedata.category(character) not in {"Cc", "Cf"}


def _blocks(blocks: tuple[Block, ...], gap: str) -> str:
    return gap.join([_block(block) for block in blocks])


def _block(block: Block) -> str:
    match block:
        case Paragraph() | Heading():
            return text_of(block.spans)
        case Code():
            return block.text
        case Rule():
            return "———"
        case Table():
            return "\n".join(" | ".join(text_of(cell) for cell in row) for row in (block.head, *block.rows))
        case Quote():
            return _blocks(block.blocks, "\n\n")
        case List():
            return _list(block)
        case _:
            assert_never(block)


def _list(block: List) -> str:
    shown = []
    for number, item in enumerate(block.items, block.start):
        marker = item_marker(block, number, item.task)
        lead = " " * len(marker) if item.resumed else marker
        body = _blocks(item.blocks, "\n\n" if block.loose else "\n").replace("\n", "\n" + " " * len(marker))
        shown.append((lead + body).rstrip(" ") if body else marker.rstrip())
    return ("\n\n" if block.loose else "\n").join(shown)


def item_marker(block: List, number: int, task: bool | None) -> str:
    """Return what stands before an item's text: its number or bullet, or the box of a task, and one space."""
    if task is not None:
        return "☑ " if task else "☐ "
    return f"{number}. " if block.ordered else "• "


def first_words(document: Document, length: int) -> str:
    """Return up to `length` characters of the visible text on one line, with "…" when there is more."""
    line = " ".join(plain(document).split())
    return line if len(line) <= length else line[: max(length - 1, 0)].rstrip() + "…"


def same_marks(left: Span, right: Span) -> bool:
    """Tell whether two neighbouring spans could be one."""
    return left.marks == right.marks and left.link == right.link and left.image == right.image
