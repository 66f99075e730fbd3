"""A document as one line of places, so that a piece is what lies between two of them.

Every leaf block (paragraph, heading, code, table, rule) lies one after the other on the line; a place is the
number of a leaf and an offset into it: a code point of its text, or a row of its table. `Flat.piece` cuts out
what lies between two places and puts the containers, fences, table heads and numbers around it again.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Final, TypeAlias

from gateway.document import (
    Block,
    Code,
    Document,
    Heading,
    Item,
    Leaf,
    List,
    Paragraph,
    Quote,
    Rule,
    Span,
    Spans,
    Table,
    text_of,
)

Place: TypeAlias = tuple[int, int]
"""(leaf number, offset into it)."""

SPACE: Final = " \n\t\u3000"
"""White space at which text may be cut, and which is dropped there. A no-break space is none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One container around a leaf: which one (by the order of its beginning), and for a list which item.

    `first_leaf` is the number of the first leaf of that quote or item.
    """

    number: int
    container: Quote | List
    item: int
    first_leaf: int


Path: TypeAlias = tuple[Frame, ...]

Part: TypeAlias = tuple[int, int, Leaf]
"""What of a leaf lies in a piece: its number, where it begins, and what is to be seen of it."""


class Strip:
    """One leaf on the line, with its text and its size in offsets.

    Attributes:
        leaf: The block.
        origin: Number of the leaf in the document.
        row: First body row of what was a table, -1 for what never was one.
        path: The containers around it, outermost first.
        text: All visible text of a paragraph, heading or code block; "" for the others.
        size: Offsets it takes on the line, at least 1.
        rows: For a table, where on its part of the line each body row begins.
    """

    __slots__ = ("_atoms", "_ends", "leaf", "origin", "path", "row", "rows", "size", "text")

    def __init__(self, leaf: Leaf, path: Path, origin: int, row: int = -1) -> None:
        self.leaf = leaf
        self.origin = origin
        self.row = row
        self.path = path
        self.text = ""
        self.rows: Sequence[int] = ()
        self._ends: list[int] | None = None  # made where it is cut, which few leaves are
        self._atoms: list[tuple[int, int]] | None = None
        match leaf:
            case Paragraph() | Heading():
                self.text = text_of(leaf.spans)
            case Code():
                self.text = leaf.text
            case Table():
                self.rows = list(
                    accumulate((_row_size(row) for row in leaf.rows), initial=_row_size(leaf.head))
                )
        self.size = max(self.rows[-1] if self.rows else len(self.text), 1)

    @property
    def length(self) -> int:
        """How many offsets can be cut at: code points, or body rows."""
        return len(self.rows) - 1 if self.rows else len(self.text)

    def cut(self, begin: int, end: int) -> Leaf | None:
        """Return the part between two offsets; None when nothing of it would be seen."""
        leaf = self.leaf
        if begin <= 0 and end >= self.length:
            return leaf
        match leaf:
            case Rule():
                return leaf
            case Table():
                rows = leaf.rows[begin:end]
                return Table(head=leaf.head, rows=rows, align=leaf.align) if rows else None
            case Code():
                return self._cut_code(leaf, begin, end)
            case _:
                spans = self.spans(begin, end)
                return replace(leaf, spans=spans) if spans else None

    def _cut_code(self, leaf: Code, begin: int, end: int) -> Code | None:
        # the line end at which a block is cut is what the next message's beginning stands for
        shown = leaf.text[begin:end]
        shown = shown.removesuffix("\n") if end < len(leaf.text) else shown
        return Code(text=shown, language=leaf.language) if end > begin else None

    def spans(self, begin: int, end: int) -> Spans:
        """Return the inline spans between two offsets, without white space at a cut."""
        text = self.text
        if begin > 0 or end < len(text):
            while begin < end and text[begin] in SPACE and begin > 0:
                begin += 1
            while end > begin and text[end - 1] in SPACE and end < len(text):
                end -= 1
        leaf = self.leaf
        if not isinstance(leaf, Paragraph | Heading) or begin >= end:
            return ()
        if self._ends is None:
            self._ends = list(accumulate(len(span.text) for span in leaf.spans))
        parts: list[Span] = []
        for index in range(bisect_right(self._ends, begin), len(leaf.spans)):
            span = leaf.spans[index]
            start = self._ends[index] - len(span.text)
            if start >= end:
                break
            shown = span.text[max(begin - start, 0) : end - start]
            parts.append(span if len(shown) == len(span.text) else replace(span, text=shown))
        return tuple(parts)

    def atom_at(self, offset: int) -> tuple[int, int] | None:
        """Return the link or code span that a cut at this offset would divide."""
        if self._atoms is None:
            self._atoms = list(_atoms(self.leaf))
        index = bisect_right(self._atoms, (offset, 0)) - 1
        if index < 0 or not self._atoms[index][0] < offset < self._atoms[index][1]:
            return None
        return self._atoms[index]


def _atoms(leaf: Leaf) -> Iterator[tuple[int, int]]:
    """Yield the stretches of a text that are not cut when they fit a piece: whole links, and code spans."""
    if not isinstance(leaf, Paragraph | Heading):
        return
    begin = end = 0
    before: Span | None = None
    for span in leaf.spans:
        if before is not None and not (span.link and span.link == before.link):
            if before.link or "code" in before.marks:
                yield begin, end
            begin = end
        end += len(span.text)
        before = span
    if before is not None and (before.link or "code" in before.marks):
        yield begin, end


def _row_size(row: Sequence[Spans]) -> int:
    return sum(len(span.text) for cell in row for span in cell) + 3 * len(row)


class Flat:
    """The whole document on one line.

    `extents` are, by a container's number, its first leaf and the one after its last: a container that lies wholly
    in a piece is put there as it is. One of which a table was divided has none.
    """

    def __init__(self, strips: list[Strip], extents: Mapping[int, tuple[int, int]]) -> None:
        self.strips = strips
        self._extents = extents
        self.starts = list(accumulate((strip.size + 1 for strip in strips), initial=0))

    @property
    def end(self) -> Place:
        """The place after everything."""
        return len(self.strips), 0

    def position(self, place: Place) -> int:
        """Return where on the line a place lies."""
        number, offset = place
        if number >= len(self.strips):
            return self.starts[-1]
        strip = self.strips[number]
        return self.starts[number] + (strip.rows[offset] if strip.rows and offset else offset)

    def settled(self, place: Place) -> Place:
        """Return the place as the beginning of the next leaf if it is the end of one."""
        number, offset = place
        ends = number < len(self.strips) and 0 < offset >= self.strips[number].length
        return (number + 1, 0) if ends else place

    def place(self, position: int) -> Place:
        """Return the last place not after a position on the line."""
        if position >= self.starts[-1]:
            return self.end
        number = bisect_right(self.starts, position) - 1
        strip = self.strips[number]
        offset = position - self.starts[number]
        if strip.rows:
            offset = max(bisect_right(strip.rows, offset) - 1, 0)
        return self.settled((number, offset))

    def piece(self, begin: Place, end: Place) -> Document:
        """Return what lies between two places as a document of its own."""
        parts: list[Part] = []
        for number in range(begin[0], min(end[0] + 1, len(self.strips))):
            strip = self.strips[number]
            start = begin[1] if number == begin[0] else 0
            stop = end[1] if number == end[0] else max(strip.length, 1)
            if start < stop:
                leaf = strip.cut(start, stop)
                if leaf is not None:
                    parts.append((number, start, leaf))
        whole = range(begin[0] + (begin[1] > 0), end[0])
        return Document(blocks=tuple(self._blocks(parts, 0, whole)))

    def _blocks(self, parts: list[Part], depth: int, whole: range) -> Iterator[Block]:
        index = 0
        while index < len(parts):
            path = self.strips[parts[index][0]].path
            if len(path) <= depth:
                yield parts[index][2]
                index += 1
                continue
            end = index + 1
            while end < len(parts) and self._frame_number(parts[end], depth) == path[depth].number:
                end += 1
            yield self._container(parts[index:end], depth, whole)
            index = end

    def _frame_number(self, part: Part, depth: int) -> int:
        path = self.strips[part[0]].path
        return path[depth].number if len(path) > depth else -1

    def _container(self, parts: list[Part], depth: int, whole: range) -> Block:
        frame = self.strips[parts[0][0]].path[depth]
        container = frame.container
        first, end = self._extents.get(frame.number, (-1, -1))
        if whole.start <= first and end <= whole.stop:
            return container
        if isinstance(container, Quote):
            return Quote(blocks=tuple(self._blocks(parts, depth + 1, whole)))
        items: list[Item] = []
        index = 0
        while index < len(parts):
            frame_here = self.strips[parts[index][0]].path[depth]
            end = index + 1
            while end < len(parts) and self.strips[parts[end][0]].path[depth].item == frame_here.item:
                end += 1
            number, start, _ = parts[index]
            item = container.items[frame_here.item]
            items.append(
                Item(
                    blocks=tuple(self._blocks(parts[index:end], depth + 1, whole)),
                    task=item.task,
                    resumed=item.resumed or number > frame_here.first_leaf or start > 0,
                )
            )
            index = end
        return replace(container, items=tuple(items), start=container.start + frame.item)


Divide: TypeAlias = Callable[[Table], tuple[tuple[int, Leaf], ...]]
"""What to lay on the line for a table: leaves, each with the number of its first body row."""


def flatten(document: Document, divide: Divide) -> Flat:
    """Return the document on one line; `divide` says what becomes of tables with rows too long."""
    layer = _Layer(divide)
    layer.lay(document.blocks, ())
    return Flat(layer.strips, layer.extents)


class _Layer:
    """Lays blocks on the line and counts containers and leaves."""

    def __init__(self, divide: Divide) -> None:
        self.strips: list[Strip] = []
        self.extents: dict[int, tuple[int, int]] = {}
        self._divided: set[int] = set()
        self._divide = divide
        self._containers = 0
        self._leaves = 0

    def lay(self, blocks: tuple[Block, ...], path: Path) -> None:
        for block in blocks:
            match block:
                case Quote():
                    number, first = self._open()
                    self.lay(block.blocks, (*path, self._frame(block, number, 0)))
                    self._close(number, first)
                case List():
                    number, first = self._open()
                    for index, item in enumerate(block.items):
                        inner = item.blocks or (Paragraph(spans=()),)
                        self.lay(inner, (*path, self._frame(block, number, index)))
                    self._close(number, first)
                case Table():
                    parts = self._divide(block)
                    if len(parts) > 1 or parts[0][1] is not block:
                        self._divided.update(frame.number for frame in path)
                    self.strips.extend(Strip(leaf, path, self._leaves, row) for row, leaf in parts)
                    self._leaves += 1
                case _:
                    self.strips.append(Strip(block, path, self._leaves))
                    self._leaves += 1

    def _open(self) -> tuple[int, int]:
        """A new container's number and its first leaf."""
        self._containers += 1
        return self._containers, len(self.strips)

    def _close(self, number: int, first: int) -> None:
        if number not in self._divided:
            self.extents[number] = (first, len(self.strips))

    def _frame(self, container: Quote | List, number: int, item: int) -> Frame:
        return Frame(number=number, container=container, item=item, first_leaf=len(self.strips))
