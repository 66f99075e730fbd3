"""A reply that is still being written, cut so that finished messages stay as they are.

A cut is remembered as an offset in the Markdown, which only ever grows at its end. Whatever later text does
to the formatting before it, what stood before the cut in the source belongs to the messages before it.
"""

from bisect import bisect_left
from dataclasses import dataclass
from itertools import pairwise

from gateway.chunking.flat import Place, Strip
from gateway.chunking.split import Cutter, Measure, split
from gateway.document import Document, SourceMap, parse, parse_located


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """A stream so far.

    Attributes:
        pieces: One document a message. The first `len(cuts)` are finished: a longer source has the same ones,
            unless what came later changed their formatting. Such a one may have become blank, and is None when
            with its new formatting it no longer fits: then the message stays as it was shown. The piece after
            them still grows, and is missing as long as it is blank.
        cuts: Where in the source the messages after the first begin; hand them back with the longer source.
    """

    pieces: tuple[Document | None, ...]
    cuts: tuple[int, ...]


def grow(source: str, cuts: tuple[int, ...], measure: Measure, limit: int | None) -> Growth:
    """Return the messages that show the Markdown `source` so far, keeping the cuts made for a shorter one.

    `source` begins with the source the cuts were made for. While nothing has been cut and the whole still
    fits, this costs no more than to parse and measure it.
    """
    if not cuts:
        whole = parse(source)
        if limit is None or measure(whole) <= limit:
            return Growth(pieces=split(whole, measure, None), cuts=())
    document, where = parse_located(source)
    if limit is None:
        return Growth(pieces=split(document, measure, None), cuts=cuts)
    return _Growing(document, where, measure, limit).run(cuts)


class _Growing:
    """One step: old cuts to places in the new document, new cuts to offsets in the source."""

    def __init__(self, document: Document, where: SourceMap, measure: Measure, limit: int) -> None:
        self._cutter = Cutter(document, measure, limit)
        self._strips = self._cutter.flat.strips
        self._where = where
        self._measure = measure
        self._limit = limit

    def run(self, cuts: tuple[int, ...]) -> Growth:
        places: list[Place] = [(0, 0)]
        for cut in cuts:
            places.append(max(self._place(cut), places[-1]))
        finished = [self._within(self._cutter.piece(begin, end)) for begin, end in pairwise(places)]
        stretches = self._cutter.cut(places[-1])
        begins = [self._source(stretch.begin) for stretch in stretches[1:]]
        pieces = (*finished, *(stretch.piece for stretch in stretches))
        return Growth(pieces=pieces, cuts=(*cuts, *begins))

    def _within(self, piece: Document) -> Document | None:
        return piece if self._measure(piece) <= self._limit else None

    def _place(self, cut: int) -> Place:
        """Return the place of the source offset `cut`, or the next one that shows anything."""
        leaf, offset = self._where.text_offset(cut)
        number = bisect_left(self._strips, leaf, key=_origin)
        if number == len(self._strips):
            return number, 0
        strip = self._strips[number]
        if strip.row < 0:
            return (number, offset) if offset < max(strip.length, 1) else (number + 1, 0)
        row = bisect_left(self._where.leaves[leaf], cut, key=_source_of)
        while number < len(self._strips) and self._strips[number].origin == leaf:
            strip = self._strips[number]
            length = strip.length if strip.rows else 1
            if row < strip.row + length:
                return number, max(row - strip.row, 0) if strip.rows else 0
            number += 1
        return number, 0

    def _source(self, place: Place) -> int:
        if place[0] >= len(self._strips):
            return self._where.end
        strip = self._strips[place[0]]
        if strip.row < 0:
            return self._where.source_offset(strip.origin, place[1])
        return self._where.source_offset(strip.origin, strip.row + (place[1] if strip.rows else 0))


def _origin(strip: Strip) -> int:
    return strip.origin


def _source_of(position: tuple[int, int]) -> int:
    return position[1]
