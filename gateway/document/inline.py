"""Raw spans to finished ones: stand-ins become characters, neighbours one, spoilers are found.

Spoilers (`||x||`), `<u>x</u>` and `<br>` are no Markdown: the parser leaves them in the text, whatever marks
lie around them. Marks being flat, finding them here is a walk over the spans of one block.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from typing import Final, TypeAlias

from gateway.document.model import Mark, Marks, Span, Spans
from gateway.document.prose import restore
from gateway.document.source_map import Positions, begins_at

RawSpan: TypeAlias = tuple[str, Marks, str, bool, int]
"""Text with stand-ins, marks, link, whether the link is a picture, offset in the source (-1: unknown)."""

_OPENS: Final[dict[str, tuple[str, Mark]]] = {"u>": ("/u>", "underline"), "ins>": ("/ins>", "underline")}
_BARS: Final = "||"


class Inline:
    """Finishes the spans of blocks whose stand-ins begin at code point `base` (0: there are none)."""

    def __init__(self, base: int) -> None:
        self._base = base
        less = re.escape(chr(base + ord("<"))) if base else "(?!)"
        self._token = re.compile(rf"\|\|(?!\|)|{less}(?:br ?/?|/?u|/?ins)>")

    def spans(self, raw: list[RawSpan], leaf_at: int) -> tuple[Spans, Positions]:
        """Return the finished spans, and where their text stands in the source."""
        if len(raw) == 1 and not self._has_token(raw[0][0]):
            return self._only(raw[0], leaf_at)
        if any(self._has_token(span[0]) for span in raw):
            raw = self._paired(raw)
        spans: list[Span] = []
        positions: list[tuple[int, int]] = []
        offset = 0
        for (marks, link, image), run in groupby(raw, key=_format):
            parts = []
            for text, _, _, _, at in run:
                shown = restore(text, self._base) if self._base and "code" not in marks else text
                if at >= 0 and shown:
                    positions.append((offset, at))
                offset += len(shown)
                parts.append(shown)
            joined = parts[0] if len(parts) == 1 else "".join(parts)
            if joined:
                spans.append(Span(text=joined, marks=marks, link=link, image=image))
        return tuple(spans), tuple(positions) or begins_at(leaf_at)

    def _only(self, raw: RawSpan, leaf_at: int) -> tuple[Spans, Positions]:
        """What most leaves and table cells are: one span."""
        text, marks, link, image, at = raw
        shown = restore(text, self._base) if self._base and "code" not in marks else text
        if not shown:
            return (), begins_at(leaf_at)
        return (Span(text=shown, marks=marks, link=link, image=image),), begins_at(at if at >= 0 else leaf_at)

    def _has_token(self, text: str) -> bool:
        return _BARS in text or (self._base != 0 and ">" in text and self._token.search(text) is not None)

    def _paired(self, raw: list[RawSpan]) -> list[RawSpan]:
        """Return the spans without the tokens that have a partner, and what lies between those marked."""
        pieces = list(self._pieces(raw))
        added: dict[int, tuple[int, Mark]] = {}  # where a mark begins: where it ends, and which
        waiting: dict[str, tuple[int, Mark]] = {}  # the token that would close: where it was opened
        for index, (_piece, token) in enumerate(pieces):
            if token in waiting and (token != _BARS or _can_close(pieces, index)):
                begin, mark = waiting.pop(token)
                added[begin] = (index, mark)
            elif token in _OPENS:
                close, mark = _OPENS[token]
                waiting[close] = (index, mark)
            elif token == _BARS and _can_open(pieces, index):
                waiting[_BARS] = (index, "spoiler")
        return list(_with_marks(pieces, added))

    def _pieces(self, raw: list[RawSpan]) -> Iterator[tuple[RawSpan, str]]:
        """Yield the spans divided at tokens, each with the token it is ("" for ordinary text, "br")."""
        for span in raw:
            text, marks, link, image, at = span
            if "code" in marks:
                yield span, ""
                continue
            done = 0
            for match in self._token.finditer(text):
                if match.start() > done:
                    yield (text[done : match.start()], marks, link, image, _later(at, done)), ""
                found = match.group()
                token = found if found == _BARS else found[1:]
                if token.startswith("br"):
                    yield ("\n", marks, link, image, _later(at, match.start())), ""
                else:
                    yield (found, marks, link, image, _later(at, match.start())), token
                done = match.end()
            if done < len(text):
                yield (text[done:], marks, link, image, _later(at, done)), ""


def _format(span: RawSpan) -> tuple[Marks, str, bool]:
    return span[1], span[2], span[3]


def _later(at: int, by: int) -> int:
    return at + by if at >= 0 else at


def _can_open(pieces: list[tuple[RawSpan, str]], index: int) -> bool:
    """A bar pair opens before something that is no space, unless it stands between letters (`a||b`)."""
    after = pieces[index + 1][0][0][:1] if index + 1 < len(pieces) else " "
    return not after.isspace() and not (_is_word(_before(pieces, index)) and _is_word(after))


def _can_close(pieces: list[tuple[RawSpan, str]], index: int) -> bool:
    before = _before(pieces, index)
    after = pieces[index + 1][0][0][:1] if index + 1 < len(pieces) else " "
    return (
        not before.isspace() and pieces[index - 1][1] != _BARS and not (_is_word(before) and _is_word(after))
    )


def _before(pieces: list[tuple[RawSpan, str]], index: int) -> str:
    return pieces[index - 1][0][0][-1:] if index else " "


def _is_word(character: str) -> bool:
    return character.isascii() and character.isalnum()


def _with_marks(pieces: list[tuple[RawSpan, str]], added: dict[int, tuple[int, Mark]]) -> Iterator[RawSpan]:
    ends: dict[int, Mark] = dict(added.values())
    active: list[Mark] = []
    for index, (span, _) in enumerate(pieces):
        if index in added:
            active.append(added[index][1])
        elif index in ends:
            active.remove(ends[index])
        elif active:
            yield (span[0], span[1].union(active), *span[2:])
        else:
            yield span
