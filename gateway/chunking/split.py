"""The one splitter: a document, however long, into pieces that each fit one message of the target.

How much a piece counts is the target's own measure, taken of the piece as it will be rendered. Nothing is
measured again and again as a whole: the length of a piece is estimated from the one before, measured,
corrected, and measured again, three or four times a piece, so the work grows with the text.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeAlias

from gateway.chunking.boundaries import Boundaries
from gateway.chunking.flat import Flat, Place, flatten
from gateway.document import Document, Leaf, Paragraph, Table, is_blank, record, records

Measure: TypeAlias = Callable[[Document], int]
"""What a piece counts against the limit, in the platform's unit and after its render; pure. It never falls
when a piece grows by a word, and never counts a visible character as less than one."""

_WIDEST: Final = 8
"""No platform's markup makes more than about this many units of one character of a table."""


def split(document: Document, measure: Measure, limit: int | None) -> tuple[Document, ...]:
    """Return the document in pieces, each of which measures at most `limit` (None: the target has no limit).

    Joined, the pieces show what the document shows; white space at a cut is dropped, but never in code.
    Fences are closed and opened again, table heads repeated, list numbers kept. Cuts lie between blocks,
    rows, lines, sentences or words, in that order of preference; inside a word, link or code span only if it
    fits no piece, and never inside a grapheme that fits. No piece is blank, and no two neighbours would fit
    into one. A blank document has no pieces.
    """
    if limit is None:
        return () if is_blank(document) else (document,)
    cutter = Cutter(document, measure, limit)
    return tuple(stretch.piece for stretch in cutter.cut((0, 0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """What lies between two places of a document, and the piece made of it."""

    begin: Place
    end: Place
    piece: Document


class Cutter:
    """Cuts one document from any place of it on."""

    def __init__(self, document: Document, measure: Measure, limit: int) -> None:
        self._measure = measure
        self._limit = limit
        self.flat: Flat = flatten(document, self._divide)
        self._boundaries = Boundaries(self.flat, self._fits, limit)
        self._units_per_offset = 1.0
        self._recent: dict[tuple[Place, Place], tuple[Document, int]] = {}

    def piece(self, begin: Place, end: Place) -> Document:
        """Return what lies between two places."""
        return self._measured(begin, end)[0]

    def cut(self, begin: Place) -> list[Stretch]:
        """Return the pieces from `begin` to the end of the document."""
        stretches: list[Stretch] = []
        while begin < self.flat.end:
            end = self._next(begin)
            if not is_blank(self.piece(begin, end)):
                if stretches and self._are_one(stretches[-1].begin, end):
                    begin = stretches.pop().begin  # the cut for the sake of a good place was needless
                stretches.append(Stretch(begin=begin, end=end, piece=self.piece(begin, end)))
            self._recent.clear()
            begin = end
        return stretches

    def _next(self, begin: Place) -> Place:
        last = self._reach(begin)
        if self.flat.place(last) == self.flat.end:
            return self.flat.end
        return self.flat.settled(max(self._boundaries.best(begin, last), (begin[0], begin[1] + 1)))

    def _reach(self, begin: Place) -> int:
        """Return the furthest position up to which a piece from `begin` fits."""
        start = self.flat.position(begin)
        fits, too_far = start, self.flat.position(self.flat.end) + 1
        guess = start + int(self._limit / self._units_per_offset)
        for attempt in range(40):
            guess = min(max(guess, fits + 1), too_far - 1)
            units = self._measured(begin, self.flat.place(guess))[1]
            rate = max(units / (guess - start), 0.05)
            if units <= self._limit:
                fits = guess
                self._units_per_offset = rate
                if units == self._limit:
                    break
            else:
                too_far = guess
            if too_far - fits <= 1 or (
                fits > start and self.flat.place(fits) == self.flat.place(too_far - 1)
            ):
                break
            step = int((self._limit - units) / rate)
            guess += max(step, 1) if units <= self._limit else min(step, -1)
            if (attempt >= 4 and not fits < guess < too_far) or attempt >= 6:
                guess = (fits + too_far) // 2
        return fits

    def _fits(self, begin: Place, end: Place) -> bool:
        return self._measured(begin, end)[1] <= self._limit

    def _measured(self, begin: Place, end: Place) -> tuple[Document, int]:
        """Return a piece and what it counts; the last ones are kept, for a cut is often where a guess was."""
        known = self._recent.get((begin, end))
        if known is None:
            piece = self.flat.piece(begin, end)
            known = self._recent[begin, end] = piece, self._measure(piece)
        return known

    def _are_one(self, begin: Place, end: Place) -> bool:
        length = self.flat.position(end) - self.flat.position(begin)
        likely = length * min(self._units_per_offset, 1.0) <= self._limit * 1.3
        return likely and self._fits(begin, end)

    def _divide(self, table: Table) -> tuple[tuple[int, Leaf], ...]:
        """Return the table, or where a row fits no piece, the tables around it and that row as a record."""
        if _size(table) * _WIDEST <= self._limit:
            return ((0, table),)
        if not table.rows:
            fits = self._measure(Document(blocks=(table,))) <= self._limit
            return ((0, table if fits else records(table)[0]),)
        parts: list[tuple[int, Leaf]] = []
        done = 0
        for index, row in enumerate(table.rows):
            alone = Table(head=table.head, rows=(row,), align=table.align)
            if (
                _size(alone) * _WIDEST <= self._limit
                or self._measure(Document(blocks=(alone,))) <= self._limit
            ):
                continue
            if index > done:
                parts.append((done, Table(head=table.head, rows=table.rows[done:index], align=table.align)))
            parts.append((index, Paragraph(spans=record(table.head, row))))
            done = index + 1
        if not parts:
            return ((0, table),)
        if done < len(table.rows):
            parts.append((done, Table(head=table.head, rows=table.rows[done:], align=table.align)))
        return tuple(parts)


def _size(table: Table) -> int:
    return sum(3 + sum(len(span.text) for span in cell) for row in (table.head, *table.rows) for cell in row)
