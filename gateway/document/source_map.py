"""Where the visible text of a document stands in the Markdown it came from.

A stream only ever appends to its Markdown, so an offset in the source is the one name of a place that later
text cannot move, whatever it does to the formatting before it.
"""

from bisect import bisect_right
from dataclasses import dataclass
from typing import TypeAlias

Positions: TypeAlias = tuple[tuple[int, int], ...]
"""Rising pairs (offset in the leaf's text, offset in the source); between two pairs both advance together."""


_UNASKED: Positions = ((0, -1),)


def begins_at(source: int) -> Positions:
    """Return the positions of a leaf that stands there as it is shown (-1: nobody asks, and none is made)."""
    return ((0, source),) if source >= 0 else _UNASKED


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMap:
    """The places of every leaf's text.

    Attributes:
        leaves: For each leaf block in reading order its positions; for a table, of its body rows by number.
        end: Length of the source in code points.
    """

    leaves: tuple[Positions, ...]
    end: int

    def source_offset(self, leaf: int, offset: int) -> int:
        """Return where in the source stands what is at `offset` in the text of leaf number `leaf`."""
        if leaf >= len(self.leaves):
            return self.end
        positions = self.leaves[leaf]
        at, source = positions[max(bisect_right(positions, offset, key=_first) - 1, 0)]
        return source + max(offset - at, 0)

    def text_offset(self, source: int) -> tuple[int, int]:
        """Return the first (leaf, offset in its text) whose source is not before `source`.

        The offset may be past the leaf's text when only markup stands there.
        """
        leaf = max(bisect_right(self.leaves, source, key=_begins) - 1, 0)
        if leaf >= len(self.leaves) or source <= _begins(self.leaves[leaf]):
            return leaf, 0
        positions = self.leaves[leaf]
        index = bisect_right(positions, source, key=_second) - 1
        at, begin = positions[max(index, 0)]
        return leaf, at + source - begin


def _first(pair: tuple[int, int]) -> int:
    return pair[0]


def _second(pair: tuple[int, int]) -> int:
    return pair[1]


def _begins(positions: Positions) -> int:
    return positions[0][1]
