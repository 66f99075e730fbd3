"""Texts and replies too long to be kind: shown in part, and said to be."""

import regex

from gateway.chunking.split import Measure, split
from gateway.document import Document, Paragraph, Span

_GRAPHEME = regex.compile(r"\X")


def shorten_middle(text: str, keep: int) -> tuple[str, int]:
    """Return at most about `keep` code points of the text, its middle left out, and how many were left out.

    Head and tail both stay visible, the tail a third of what is kept, so that what a long command ends with
    is seen before it is allowed. Where the middle was stands " … N characters hidden … ", which is not
    counted in `keep`. No grapheme is cut. A text of up to `keep` code points comes back whole, with 0.
    """
    if len(text) <= keep:
        return text, 0
    keep = max(keep, 0)
    tail_from = _grapheme_start(text, len(text) - keep // 3)
    head_end = _grapheme_start(text, min(keep - keep // 3, tail_from))
    hidden = tail_from - head_end
    if hidden <= 0:
        return text, 0
    return f"{text[:head_end]} … {hidden} characters hidden … {text[tail_from:]}", hidden


def _grapheme_start(text: str, at: int) -> int:
    """Return the last grapheme boundary not after `at`, looking back at most a few hundred code points.

    Boundaries are found from a line end or space before, where one always is.
    """
    begin = max(at - 256, 0)
    anchor = max(text.rfind(" ", begin, at), text.rfind("\n", begin, at)) + 1
    found = begin = max(anchor, begin)
    for match in _GRAPHEME.finditer(text, begin):
        if match.end() > at:
            break
        found = match.end()
    return found


def opening(document: Document, measure: Measure, limit: int, note: str) -> Document:
    """Return the beginning of a document that is sent whole as a file (DLV-8), with a note after it.

    The result fits one message. `note` says what follows; it is given whole even if little else fits.
    """
    told = Paragraph(spans=(Span(text=note, marks=frozenset({"italic"})),))

    def with_note(piece: Document) -> int:
        return measure(Document(blocks=(*piece.blocks, told)))

    pieces = split(document, with_note, limit)
    return Document(blocks=(*(pieces[0].blocks if pieces else ()), told))
