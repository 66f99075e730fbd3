"""How a message looks: its text in styled runs, so that a test can ask "is 'end' bold?"."""

from dataclasses import dataclass
from itertools import pairwise

from .records import Draft, Message
from .text import Entity, FormattedText, Units


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A stretch of text with the same styles throughout. `styles` are entity types, sorted."""

    text: str
    styles: tuple[str, ...] = ()
    url: str | None = None
    language: str | None = None


def styled_runs(shown: Message | Draft | FormattedText) -> tuple[Run, ...]:
    """Cut a text where its styles change. The runs joined are the text."""
    units = Units(shown.text)
    spans = [(_at(units, one.offset), _at(units, one.offset + one.length), one) for one in shown.entities]
    cuts = sorted({0, len(shown.text), *(place for begin, end, _ in spans for place in (begin, end))})
    return tuple(
        _run(shown.text[begin:end], [one for first, last, one in spans if first <= begin and end <= last])
        for begin, end in pairwise(cuts)
    )


def styles_of(shown: Message | Draft | FormattedText, words: str) -> frozenset[str]:
    """The styles that cover the whole first occurrence of these words.

    Raises:
        ValueError: The words are not in the text.
    """
    begin = shown.text.index(words)
    end = begin + len(words)
    units = Units(shown.text)
    return frozenset(
        one.type
        for one in shown.entities
        if _at(units, one.offset) <= begin and end <= _at(units, one.offset + one.length)
    )


def _at(units: Units, offset: int) -> int:
    place = units.index(offset)
    assert place is not None, offset
    return place


def _run(text: str, entities: list[Entity]) -> Run:
    extra = {key: value for one in entities for key, value in one.extra.items()}
    return Run(
        text=text,
        styles=tuple(sorted(one.type for one in entities)),
        url=extra.get("url"),
        language=extra.get("language"),
    )
