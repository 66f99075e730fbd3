"""Flat spans as properly nested openings and closings, for dialects that write marks as pairs of signs."""

from collections.abc import Iterator
from typing import Final, Literal, TypeAlias

from gateway.document.model import Mark, Span, Spans

Style: TypeAlias = Mark | Literal["link"]
Step: TypeAlias = tuple[Literal["open", "close", "text"], Style, Span]
"""What to write next. An opening or closing names its style; of a link, the span tells the address."""

_ORDER: Final[tuple[Mark, ...]] = ("spoiler", "strike", "underline", "bold", "italic")


def runs(spans: Spans) -> Iterator[Step]:
    """Yield openings, texts and closings in order; every opening is closed, the last opened first.

    A link is outermost; a style that goes on over its edge is closed and opened again. Spans of code are texts: what
    they are shows in their marks.
    """
    opened: list[tuple[Style, Span]] = []
    for span in spans:
        wanted = _styles(span)
        keep = 0
        while keep < len(opened) and _goes_on(opened[keep], span, wanted):
            keep += 1
        while len(opened) > keep:
            style, first = opened.pop()
            yield "close", style, first
        held = {style for style, _ in opened}
        for style in wanted:
            if style not in held:
                opened.append((style, span))
                yield "open", style, span
        yield "text", "code", span
    while opened:
        style, first = opened.pop()
        yield "close", style, first


def _styles(span: Span) -> tuple[Style, ...]:
    marks: tuple[Style, ...] = tuple(mark for mark in _ORDER if mark in span.marks)
    return ("link", *marks) if span.link else marks


def _goes_on(opened: tuple[Style, Span], span: Span, wanted: tuple[Style, ...]) -> bool:
    style, first = opened
    if style == "link":
        return first.link == span.link
    return style in wanted


def outside_space(spans: Spans) -> Spans:
    """Return the spans with white space at the edges of marked ones moved out of the marks.

    Signs such as `**` only count beside a letter, and nobody sees whether a space is bold.
    """
    moved: list[Span] = []
    for span in spans:
        text = span.text
        core = text.strip()
        if not span.marks or "code" in span.marks or len(core) == len(text):
            moved.append(span)
            continue
        begin = text.index(core) if core else len(text)
        if begin:
            moved.append(Span(text=text[:begin], link=span.link))
        if core:
            moved.append(Span(text=core, marks=span.marks, link=span.link, image=span.image))
            if begin + len(core) < len(text):
                moved.append(Span(text=text[begin + len(core) :], link=span.link))
    return tuple(moved)
