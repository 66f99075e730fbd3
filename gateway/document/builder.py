"""The parser's events to frozen blocks. Used by `parse` alone; one builder makes one document.

Nesting deeper than `MAX_DEPTH` containers is shown at that depth: no reader follows it further, and nothing
behind this border has to fear a document as deep as a hostile reply can make it.
"""

from typing import Any, Final

from gateway.document.build import literal
from gateway.document.inline import Inline, RawSpan
from gateway.document.model import (
    NO_MARKS,
    Align,
    Block,
    Code,
    Document,
    Heading,
    Item,
    List,
    Mark,
    Marks,
    Paragraph,
    Quote,
    Rule,
    Spans,
    Table,
)
from gateway.document.prose import restore
from gateway.document.source_map import Positions, begins_at

MAX_DEPTH: Final = 12

_MARKS: dict[str, Mark] = {"Emphasis": "italic", "Strong": "bold", "Strikethrough": "strike"}
_ALIGN: dict[str, Align] = {"None": "", "Left": "left", "Center": "center", "Right": "right"}
_joined_marks: dict[tuple[Marks, Mark], Marks] = {}


class Builder:
    """Takes events in order and keeps what is open: containers, the leaf being written, marks and links."""

    def __init__(self, *, base: int, has_references: bool) -> None:
        """`has_references`: the source has numeric references (`&#27;`), which may stand for any character."""
        self._base = base
        self._has_references = has_references
        self._inline = Inline(base)
        self._blocks: list[Block] = []  # of the innermost open container
        self._outer: list[tuple[Any, ...]] = []
        self._depth = 0
        self._raw: list[RawSpan] = []
        self._open_leaf = False
        self._implicit = False
        self._leaf_at = -1
        self._marks: list[Marks] = [NO_MARKS]
        self._links: list[str] = []
        self._images: list[tuple[str, int]] = []
        self._code: list[tuple[str, int]] | None = None
        self._language = ""
        self._rows: list[tuple[Spans, ...]] = []
        self._cells: list[Spans] = []
        self._row_positions: list[tuple[int, int]] = []
        self._align: tuple[Align, ...] = ()
        self._positions: list[Positions] = []

    @property
    def positions(self) -> tuple[Positions, ...]:
        """Where each leaf's text stands in the source, in reading order."""
        return tuple(self._positions)

    def finish(self) -> Document:
        """Return the document."""
        self._end_implicit()
        return Document(blocks=tuple(self._blocks))

    def take(self, event: Any, at: int) -> None:
        """Take the next event, whose source begins at `at` (-1: nobody asks)."""
        if isinstance(event, str):
            if event == "Rule":
                self._end_implicit()
                self._add(Rule(), ((0, at),))
            else:
                self._text("\n", at)
            return
        ((kind, value),) = event.items()
        match kind:
            case "Text":
                self._text(value, at)
            case "Code":
                self._inline_code(value, at)
            case "Start":
                self._start(value, at)
            case "End":
                self._end(value)
            case "TaskListMarker":
                self._outer[-1][1]["task"] = value
            case _:  # raw HTML cannot come: every "<" that could begin it has a stand-in
                self._text(value, at)

    def _text(self, text: str, at: int) -> None:
        if self._has_references:
            text = literal(text)
        if self._code is not None:
            self._code.append((text, at))
            return
        self._ensure_leaf(at)
        link, image = self._link()
        self._raw.append((text, self._marks[-1], link, image, at))

    def _inline_code(self, text: str, at: int) -> None:
        self._ensure_leaf(at)
        link, image = self._link()
        shown = restore(text, self._base, code=not self._align)  # in a table "\\|" is "|" even in code
        self._raw.append((shown, _with(self._marks[-1], "code"), link, image, at))

    def _begin_leaf(self, at: int) -> None:
        self._end_implicit()
        self._open_leaf = True
        self._leaf_at = at

    def _ensure_leaf(self, at: int) -> None:
        if not self._open_leaf:  # the text of a tight item stands in no paragraph
            self._open_leaf = self._implicit = True
            self._leaf_at = at

    def _link(self) -> tuple[str, bool]:
        if self._links:
            return self._links[-1], False
        return (self._images[-1][0], True) if self._images else ("", False)

    def _start(self, value: Any, at: int) -> None:
        if isinstance(value, str):
            self._start_plain(value, at)
            return
        ((kind, data),) = value.items()
        match kind:
            case "Link" | "Image":
                self._start_link(kind, data, at)
            case "Heading":
                self._begin_leaf(at)
            case "CodeBlock":
                self._begin_leaf(at)
                self._open_leaf = False
                info = "" if data == "Indented" else restore(data["Fenced"], self._base).strip()
                self._language = info.split(maxsplit=1)[0] if info else ""
                self._code = []
            case "Table":
                self._begin_leaf(at)
                self._open_leaf = False
                self._align = tuple(_ALIGN[name] for name in data)
                self._rows, self._row_positions = [], []
            case _:
                self._end_implicit()
                self._push(kind, {"start": data, "loose": False}, at)

    def _start_plain(self, kind: str, at: int) -> None:
        match kind:
            case "Emphasis" | "Strong" | "Strikethrough":
                self._ensure_leaf(at)
                self._marks.append(_with(self._marks[-1], _MARKS[kind]))
            case "Paragraph" | "HtmlBlock" | "TableCell":
                self._begin_leaf(at)
                if kind == "Paragraph":
                    self._loosen()
            case "Item":
                self._push("Item", {"task": None}, at)
            case "TableHead":
                self._cells = []
            case "TableRow":
                self._cells = []
                if at >= 0:
                    self._row_positions.append((len(self._row_positions), at))
            case _:
                raise AssertionError(f"the parser began a {kind}, which no option asked for")

    def _start_link(self, kind: str, data: dict[str, Any], at: int) -> None:
        self._ensure_leaf(at)
        address = literal(restore(data["dest_url"], self._base))
        if kind == "Link":
            if data["link_type"] == "Email":
                address = f"mailto:{address}"
            self._links.append(address)
        self._images.append((address, len(self._raw)))

    def _end(self, value: Any) -> None:
        kind = value if isinstance(value, str) else next(iter(value))
        match kind:
            case "Emphasis" | "Strong" | "Strikethrough":
                self._marks.pop()
            case "Link" | "Image":
                self._end_link(image=kind == "Image")
            case "Paragraph" | "HtmlBlock":
                self._end_paragraph()
            case "Heading":
                spans, positions = self._take_spans()
                if not _is_empty(spans):
                    self._add(Heading(level=int(value["Heading"][1]), spans=spans), positions)
            case "TableCell":
                self._cells.append(self._take_spans()[0])
            case "TableHead" | "TableRow":
                self._rows.append(tuple(self._cells))
            case "Table":
                rows = tuple(self._rows[1:])
                table = Table(head=self._rows[0], rows=rows, align=self._align)
                self._add(table, tuple(self._row_positions) or begins_at(self._leaf_at))
                self._rows, self._align = [], ()
            case "CodeBlock":
                self._end_code()
            case _:
                self._end_implicit()
                self._pop()

    def _end_link(self, *, image: bool) -> None:
        address, begin = self._images.pop()
        if not image:
            self._links.pop()
        if len(self._raw) == begin:  # a link or picture without words shows its address
            link, inside_image = self._link()
            shown = address.rsplit("/", 1)[-1] if image else address
            self._raw.append(
                (shown or "image", self._marks[-1], link or address, inside_image or (image and not link), -1)
            )

    def _end_paragraph(self) -> None:
        spans, positions = self._take_spans()
        if not _is_empty(spans):
            self._add(Paragraph(spans=spans), positions)

    def _end_implicit(self) -> None:
        if self._implicit:
            self._end_paragraph()

    def _take_spans(self) -> tuple[Spans, Positions]:
        raw, self._raw = self._raw, []
        self._open_leaf = self._implicit = False
        return self._inline.spans(raw, self._leaf_at)

    def _end_code(self) -> None:
        lines = self._code or []
        self._code = None
        shown = restore("".join([text for text, _ in lines]), self._base, code=True)
        positions, offset = [], 0
        if self._leaf_at >= 0:
            for text, at in lines:
                positions.append((offset, at))
                offset += len(text)
        block = Code(text=shown.removesuffix("\n"), language=self._language)
        self._add(block, tuple(positions) or begins_at(self._leaf_at))

    def _add(self, block: Block, positions: Positions) -> None:
        self._blocks.append(block)
        self._positions.append(positions)

    def _loosen(self) -> None:
        if len(self._outer) > 1 and self._outer[-1][0] == "Item":
            self._outer[-2][1]["loose"] = True

    def _push(self, kind: str, data: dict[str, Any], at: int) -> None:
        self._outer.append((kind, data, self._blocks, at))
        self._depth += kind != "Item"
        if self._depth <= MAX_DEPTH:
            self._blocks = []

    def _pop(self) -> None:
        kind, data, outer, at = self._outer.pop()
        deep = self._depth > MAX_DEPTH
        self._depth -= kind != "Item"
        if deep:
            return
        inner, self._blocks = tuple(self._blocks), outer
        match kind:
            case "Item":
                if not inner:  # an empty item is still seen, so it has its place among the leaves
                    inner = (Paragraph(spans=()),)
                    self._positions.append(begins_at(at))
                outer.append(Item(blocks=inner, task=data["task"]))
            case "List":
                start = data["start"]
                items: Any = inner
                listed = List(
                    items=items,
                    ordered=start is not None,
                    start=1 if start is None else start,
                    loose=data["loose"] and len(items) > 1,
                )
                self._blocks.append(listed)
            case _:
                if inner:
                    self._blocks.append(Quote(blocks=inner))


def _is_empty(spans: Spans) -> bool:
    return all(span.text.isspace() and "code" not in span.marks for span in spans)


def _with(marks: Marks, mark: Mark) -> Marks:
    key = (marks, mark)
    joined = _joined_marks.get(key)
    if joined is None:
        joined = _joined_marks[key] = marks | {mark}
    return joined
