"""Where a piece may end: the best place not after the last one that fits.

Places are graded. A better one is taken although the piece could hold more, as long as the piece is full
enough for its grade; so no paragraph is divided to fill the last lines of a message, and no message goes out
nearly empty.
"""

from collections.abc import Callable
from typing import Final, Literal, TypeAlias

import regex

from gateway.chunking.flat import SPACE, Flat, Place, Strip
from gateway.document import Code, Heading, List, Paragraph

Grade: TypeAlias = Literal["heading", "block", "item", "inner", "poor"]
Fits: TypeAlias = Callable[[Place, Place], bool]

_LEAST_FILL: Final[tuple[tuple[Grade, float], ...]] = (
    ("heading", 0.75),
    ("block", 0.5),
    ("item", 0.6),
    ("inner", 0.7),
)
_LINE_FILL: Final = 0.6
_SENTENCE_FILL: Final = 0.8
_PAUSE_FILL: Final = 0.8
_SENTENCE = regex.compile(r"[.!?…。！？][\"'”’»)」』】]*(?=\s)")
_PAUSES: Final = "。、，；：！？…"
_GRAPHEME = regex.compile(r"\X")
_APART = regex.compile(r"\p{Grapheme_Cluster_Break=Other}{2}")
"""Two characters between which every grapheme ends (Unicode TR 29, rule GB999), so none need be counted before them."""

_LOOK_BACK: Final = 64


class Boundaries:
    """Finds the ends of pieces in one flat document.

    `fits(begin, end)` measures a piece. It is asked about a stretch only if that has at most `limit` code
    points: no platform counts a visible character as less than one.
    """

    def __init__(self, flat: Flat, fits: Fits, limit: int) -> None:
        self._flat = flat
        self._fits = fits
        self._limit = limit

    def best(self, begin: Place, last: int) -> Place:
        """Return the best end of a piece from `begin` that reaches at most to position `last` of the line.

        Always after `begin`: where not even one character fits, one is taken all the same.
        """
        flat = self._flat
        start = flat.position(begin)
        number, offset = place = flat.place(last)
        floor = begin[1] if number == begin[0] else 0
        graded = self._between(begin, place, start, last - start)
        if graded is not None:
            return graded
        if number > begin[0] and offset == 0:
            return self._without_orphan(begin, number)
        strip = flat.strips[number]
        if strip.rows:
            return number, max(offset, floor + 1)
        if isinstance(strip.leaf, Code):
            return self._in_code(begin, number, floor, offset)
        return self._in_text(begin, number, floor, offset, start + (last - start) * _LINE_FILL, last - start)

    def _between(self, begin: Place, place: Place, start: int, room: int) -> Place | None:
        """Return the last boundary between blocks of the best grade for which the piece is full enough."""
        starts = self._flat.starts
        for wanted, fill in _LEAST_FILL:
            number = place[0]
            while number > begin[0] and starts[number] >= start + room * fill:
                if self._grade(number) == wanted:
                    return number, 0
                number -= 1
        return None

    def _grade(self, number: int) -> Grade:
        """Grade the boundary before leaf `number`."""
        before, after = self._flat.strips[number - 1], self._flat.strips[number]
        if isinstance(before.leaf, Heading):
            return "poor"  # a heading stays with what it heads
        if before.path and after.path and before.path[0].number == after.path[0].number:
            same_item = before.path[0].item == after.path[0].item
            return "item" if isinstance(after.path[0].container, List) and not same_item else "inner"
        if isinstance(after.leaf, Heading):
            return "heading"
        announces = isinstance(before.leaf, Paragraph) and before.text.endswith((":", "："))
        return "inner" if announces and (after.path or not isinstance(after.leaf, Paragraph)) else "block"

    def _without_orphan(self, begin: Place, number: int) -> Place:
        """Return the boundary before leaf `number`, or before the heading that would end the piece."""
        back = number
        while back - 1 > begin[0] and isinstance(self._flat.strips[back - 1].leaf, Heading):
            back -= 1
        return (back, 0) if back > begin[0] else (number, 0)

    def _in_code(self, begin: Place, number: int, floor: int, offset: int) -> Place:
        text = self._flat.strips[number].text
        line = text.rfind("\n", floor, offset + 1)
        if line >= floor and text[floor:line].strip():
            return number, line + 1
        if number > begin[0]:
            end = text.find("\n", 0, self._limit + 1)
            if self._fits_alone(number, 0, end if end >= 0 else len(text)):
                return self._without_orphan(begin, number)
        space = max(text.rfind(" ", floor, offset), text.rfind("\n", floor, offset)) + 1
        if space > floor and text[floor:space].strip():
            return number, space
        return number, _grapheme_end(text, floor, offset)

    def _in_text(
        self, begin: Place, number: int, floor: int, offset: int, line_from: float, room: int
    ) -> Place:
        strip = self._flat.strips[number]
        origin = self._flat.starts[number]
        start = self._flat.position(begin)
        least = max(int(line_from) - origin, floor + 1)
        line = strip.text.rfind("\n", least, offset + 1)
        if line > floor and strip.atom_at(line) is None and strip.text[floor:line].strip():
            return number, line
        sentence = self._sentence(strip, max(int(start + room * _SENTENCE_FILL) - origin, floor + 1), offset)
        if sentence is not None:
            return number, sentence
        word = self._word(strip, floor, offset)
        if word is not None:
            return number, word
        if number > begin[0] and self._fits_alone(number, 0, self._token_end(strip, offset)):
            return self._without_orphan(begin, number)
        return number, self._in_token(number, strip, floor, offset)

    def _sentence(self, strip: Strip, least: int, offset: int) -> int | None:
        found = None
        for match in _SENTENCE.finditer(strip.text, least, offset + 1):
            if strip.atom_at(match.end()) is None:
                found = match.end()
        return found

    def _word(self, strip: Strip, floor: int, offset: int) -> int | None:
        """Return the last white space outside links and code that has something before it."""
        at = offset
        while at > floor:
            at = _last_space(strip.text, floor, at + 1)
            if at <= floor:
                return None
            atom = strip.atom_at(at)
            if atom is None:
                return at if strip.text[floor:at].strip() else None
            at = atom[0]
            if at > floor and strip.text[at - 1] not in SPACE:
                at -= 1
        return None

    def _token_end(self, strip: Strip, offset: int) -> int:
        """Return where the token around `offset` ends, or a place too far away to fit."""
        at, far = offset, offset + self._limit + 1
        while at < min(len(strip.text), far):
            atom = strip.atom_at(at)
            if atom is not None:
                at = atom[1]
            elif strip.text[at] in SPACE:
                return at
            else:
                at += 1
        return min(at, len(strip.text))

    def _in_token(self, number: int, strip: Strip, floor: int, offset: int) -> int:
        """Return where to cut a token that fits no piece: a link of many words, a text without spaces."""
        text = strip.text
        atom = strip.atom_at(offset)
        if atom is not None and atom[0] > floor and self._fits_alone(number, *atom):
            return atom[0]
        space = _last_space(text, floor, offset + 1)
        if space > floor and text[floor:space].strip():
            return space
        least = max(floor + 1, int(offset - (offset - floor) * (1 - _PAUSE_FILL)))
        pause = max(text.rfind(pause, least, offset) for pause in _PAUSES) + 1
        if pause > least and strip.atom_at(pause) is None:
            return _grapheme_end(text, floor, pause)
        return _grapheme_end(text, floor, offset)

    def _fits_alone(self, number: int, begin: int, end: int) -> bool:
        return end - begin <= self._limit and self._fits((number, begin), (number, end))


def _last_space(text: str, begin: int, end: int) -> int:
    return max(text.rfind(space, begin, end) for space in SPACE)


def _grapheme_end(text: str, begin: int, end: int) -> int:
    """Return the last grapheme boundary in (begin, end], or `end` inside a grapheme longer than that.

    `begin` is a boundary. One character is taken when `end` leaves none.
    """
    found = begin
    for at in range(end, max(begin, end - _LOOK_BACK), -1):
        if _APART.match(text, at - 1, at + 1):
            found = at
            break
    for match in _GRAPHEME.finditer(text, found):
        if match.end() > end:
            break
        found = match.end()
    if found > begin:
        return found
    if end > begin:
        return end
    first = _GRAPHEME.match(text, begin)
    return first.end() if first else begin + 1
