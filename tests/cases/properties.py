"""What every split must keep, whatever the document, measure and limit: the checks the property tests share."""

from itertools import pairwise

import regex

from gateway.chunking.flat import SPACE, Place
from gateway.chunking.split import Cutter, Measure
from gateway.document import Block, Code, Document, List, Quote, Rule, Table, is_blank, leaves, text_of
from gateway.document.plain import is_visible


def content(*pieces: Document) -> str:
    """Return the visible characters, without white space, numbers, bullets and heads of tables."""
    found = []
    for piece in pieces:
        for leaf in leaves(piece.blocks):
            match leaf:
                case Rule():
                    found.append("———")
                case Code():
                    found.append(leaf.text)
                case Table():
                    found += [text_of(cell) for row in leaf.rows for cell in row]
                case _:
                    found.append(text_of(leaf.spans))
    return "".join(character for character in "".join(found) if is_visible(character))


def numbers(*pieces: Document) -> list[tuple[bool, int]]:
    """Return (ordered, number) of every list item as it is shown, in order; resumed items show none."""
    return [number for piece in pieces for number in _numbers(piece.blocks)]


def _numbers(blocks: tuple[Block, ...]) -> list[tuple[bool, int]]:
    found: list[tuple[bool, int]] = []
    for block in blocks:
        match block:
            case List():
                for number, item in enumerate(block.items, block.start):
                    found += [] if item.resumed else [(block.ordered, number if block.ordered else 0)]
                    found += _numbers(item.blocks)
            case Quote():
                found += _numbers(block.blocks)
            case _:
                pass
    return found


def check_split(document: Document, measure: Measure, limit: int) -> tuple[Document, ...]:
    """Assert every promise of DLV-3 for one document; return its pieces."""
    cutter = Cutter(document, measure, limit)
    stretches = cutter.cut((0, 0))
    pieces = tuple(stretch.piece for stretch in stretches)
    sizes = [measure(piece) for piece in pieces]
    assert all(0 < size <= limit for size in sizes), sizes
    assert not any(is_blank(piece) for piece in pieces)
    if not any(isinstance(leaf, Table) for leaf in leaves(document.blocks)):
        assert content(*pieces) == content(document)  # a row as a record repeats the names of its cells
    if not is_blank(document):
        assert numbers(*pieces) == numbers(document)
    for left, right in pairwise(stretches):
        assert measure(cutter.piece(left.begin, right.end)) > limit, "two neighbours would fit into one"
        check_cut(cutter, left.begin, left.end, measure, limit)
    return pieces


def check_cut(cutter: Cutter, begin: Place, place: Place, measure: Measure, limit: int) -> None:
    """Assert that a cut divides no word, link, code span or grapheme that a piece of its own could hold."""
    number, offset = place
    if number >= len(cutter.flat.strips) or offset == 0:
        return
    strip = cutter.flat.strips[number]
    if strip.rows:
        return
    text = strip.text
    if isinstance(strip.leaf, Code):
        return
    atom = strip.atom_at(offset)
    if atom is not None:
        assert measure(cutter.piece((number, atom[0]), (number, atom[1]))) > limit, (
            "a link or code span was cut"
        )
        return
    if text[offset - 1] in SPACE or text[offset : offset + 1] in SPACE:
        return
    start, end = offset, offset
    while start > 0 and (text[start - 1] not in SPACE or strip.atom_at(start - 1)):
        start -= 1
    while end < len(text) and (text[end] not in SPACE or strip.atom_at(end)):
        end += 1
    assert measure(cutter.piece((number, start), (number, end))) > limit, f"{text[start:end]!r} was cut"
    first = max(start, begin[1]) if begin[0] == number else start
    ends = {first + match.end() for match in regex.finditer(r"\X", text[first:end])}
    grapheme = next(
        match for match in regex.finditer(r"\X", text[first:end]) if first + match.end() >= offset
    )
    whole = (first + grapheme.start(), first + grapheme.end())
    assert offset in ends or measure(cutter.piece((number, whole[0]), (number, whole[1]))) > limit
