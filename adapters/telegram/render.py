"""Documents to what Telegram takes: plain text, and entities that say where it is formatted.

With entities there is no parse mode: no character needs an escape and no message can be "unparseable". The
rules kept here are those of https://core.telegram.org/bots/api#messageentity (read 2026-10): offsets and
lengths are UTF-16 code units; entities lie inside each other or apart; `pre` and `code` hold nothing and lie
in nothing but a quote; quotes do not nest; at most 100 entities count. Telegram drops white space around a
message, so none is sent.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias, assert_never
from unicodedata import normalize

from gateway.document import (
    Block,
    Code,
    Document,
    Heading,
    Item,
    List,
    Mark,
    Paragraph,
    Quote,
    Rule,
    Span,
    Spans,
    Table,
    grid,
    item_marker,
    records,
)

MAX_TEXT: Final = 4096
MAX_CAPTION: Final = 1024
MAX_ENTITIES: Final = 100
PHONE_COLUMNS: Final = 42
"""What a fixed-width block shows on a usual phone without wrapping."""

_DROPPED = re.compile("[\u2028-\u202e\u0333\u033f\u030a]")
"""Line separators, bidi overrides and three combining marks, which the server takes out (TDLib, clean_input_string)."""

_LONG_QUOTE: Final = 350
_LONG_QUOTE_LINES: Final = 7
_LINKABLE: Final = ("http://", "https://", "tg://", "mailto:", "tel:", "ftp://", "ton://")

EntityType: TypeAlias = Literal[
    "bold",
    "italic",
    "underline",
    "strikethrough",
    "spoiler",
    "code",
    "pre",
    "text_link",
    "blockquote",
    "expandable_blockquote",
]
_KEEPS_SPACE: Final = frozenset({"pre", "code", "text_link"})
"""Entities that Telegram does not shorten for beginning with white space."""

_TYPES: Final[tuple[tuple[Mark, EntityType], ...]] = (
    ("spoiler", "spoiler"),
    ("bold", "bold"),
    ("italic", "italic"),
    ("underline", "underline"),
    ("strike", "strikethrough"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """A formatted stretch.

    `offset` and `length` are in UTF-16 code units; `url` is for text_link, `language` for pre.
    """

    type: EntityType
    offset: int
    length: int
    url: str = ""
    language: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TelegramText:
    """A message's `text` (or caption) and its entities, outer ones first."""

    text: str
    entities: tuple[Entity, ...] = ()


def render(document: Document) -> TelegramText:
    """Return the text and entities to send; the text is "" when the document shows nothing."""
    writer = _Writer()
    writer.blocks(document.blocks, indent="", gap="\n\n")
    return writer.finish()


def measure(document: Document) -> int:
    """Return what a piece counts against `MAX_TEXT` or `MAX_CAPTION`: UTF-16 code units of its rendered text.

    A piece that is all formatting counts by its entities, 100 of them as a full message, so that the one
    splitter keeps both limits.
    """
    rendered = render(document)
    return max(units(rendered.text), -(-len(rendered.entities) * MAX_TEXT // MAX_ENTITIES))


def units(text: str) -> int:
    """Return the length in UTF-16 code units."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le")) // 2


_Kind: TypeAlias = tuple[EntityType, str]
_kinds: dict[tuple[frozenset[Mark], str], tuple[_Kind, ...]] = {}


def _kinds_of(span: Span) -> tuple[_Kind, ...]:
    """Return the entities that cover a span. A link cannot hold code, nor code anything."""
    link = span.link if span.link != span.text and span.link.startswith(_LINKABLE) else ""
    if link == f"mailto:{span.text}":
        link = ""  # Telegram finds bare addresses by itself
    kinds = _kinds.get((span.marks, ""))
    if kinds is None:
        kinds = tuple((type_, "") for mark, type_ in _TYPES if mark in span.marks)
        if "code" in span.marks:
            kinds = (("code", ""),)
        _kinds[span.marks, ""] = kinds
    if not link:
        return kinds
    return (("text_link", link), *(kind for kind in kinds if kind[0] != "code"))


class _Writer:
    """Collects text and entities; one writer makes one message."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._length = 0
        self._entities: list[Entity] = []
        self._quoted = False

    def finish(self) -> TelegramText:
        text = "".join(self._parts)
        entities = self._entities[::-1]  # what was closed last lies outside
        entities.sort(key=_outer_first)
        kept = text.rstrip(" \n")
        begins = min((entity.offset for entity in entities if entity.type in _KEEPS_SPACE), default=len(text))
        lead = min(len(kept) - len(kept.lstrip(" \n")), begins)
        if lead == 0 and len(kept) == len(text):
            return TelegramText(text=text, entities=tuple(entities))
        end = units(kept)
        shown = [_clipped(entity, lead, end) for entity in entities]
        return TelegramText(
            text=kept[lead:], entities=tuple(entity for entity in shown if entity is not None)
        )

    def blocks(self, blocks: tuple[Block, ...], *, indent: str, gap: str) -> None:
        before: Block | None = None
        for block in blocks:
            if isinstance(block, Code) and not block.text.strip():
                continue  # an entity of nothing is refused
            if before is not None:
                self._write("\n" if isinstance(before, Heading) else gap)
                self._write("" if _is_set_apart(block) else indent)
            self._block(block, indent)
            before = block

    def _block(self, block: Block, indent: str) -> None:
        match block:
            case Paragraph():
                self._spans(block.spans, indent)
            case Heading():
                self._spans(tuple(_bold(span) for span in block.spans), indent)
            case Code():
                self._pre(block.text, block.language)
            case Rule():
                self._write("───────")
            case Table():
                self._table(block, indent)
            case Quote():
                self._quote(block, indent)
            case List():
                self._list(block, indent)
            case _:
                assert_never(block)

    def _table(self, table: Table, indent: str) -> None:
        aligned = grid(table, PHONE_COLUMNS)
        if aligned is not None and aligned.strip():
            self._pre(aligned, "")
        else:
            self.blocks(records(table), indent=indent, gap="\n\n")

    def _quote(self, quote: Quote, indent: str) -> None:
        if self._quoted:
            self._write("  ")
            self.blocks(quote.blocks, indent=indent + "  ", gap="\n")
            return
        begin, first = self._length, len(self._parts)
        self._quoted = True
        self.blocks(quote.blocks, indent="", gap="\n\n")
        self._quoted = False
        if (
            len(self._parts) > first
        ):  # Telegram shortens a quote that begins with spaces, and then drops it or the code
            shown = self._parts[first].lstrip(" ")
            self._parts[first] = "\u00a0" * (len(self._parts[first]) - len(shown)) + shown
        lines = sum(part.count("\n") for part in self._parts[first:]) + 1
        long = self._length - begin > _LONG_QUOTE or lines > _LONG_QUOTE_LINES
        self._entity("expandable_blockquote" if long else "blockquote", begin)

    def _list(self, block: List, indent: str) -> None:
        for index, item in enumerate(block.items):
            if index:
                self._write(("\n\n" if block.loose else "\n") + indent)
            self._item(item, item_marker(block, block.start + index, item.task), indent, loose=block.loose)

    def _item(self, item: Item, marker: str, indent: str, *, loose: bool) -> None:
        deeper = indent + " " * len(marker)
        apart = bool(item.blocks) and _is_set_apart(item.blocks[0])
        if item.resumed:
            self._write("" if apart else " " * len(marker))
        else:
            self._write(marker.rstrip() + "\n" if apart else marker)
        self.blocks(item.blocks, indent=deeper, gap="\n\n" if loose else "\n")

    def _pre(self, text: str, language: str) -> None:
        begin = self._length
        text = _kept(text).expandtabs(4)
        self._write(text.lstrip("\n") if self._quoted else text)
        self._entity("pre", begin, language=language)

    def _spans(self, spans: Spans, indent: str) -> None:
        """Write inline text. Marks that end in another order than they began are closed and opened again."""
        opened: list[tuple[_Kind, int, int]] = []
        for span in spans:
            kinds = _kinds_of(span)
            if opened:
                keep = 0
                while keep < len(opened) and opened[keep][0] in kinds:
                    keep += 1
                self._close(opened, keep)
            for kind in kinds:
                if all(kind != other for other, _, _ in opened):
                    opened.append((kind, self._length, len(self._parts)))
            text = _kept(span.text).replace("\t", " ")  # as Telegram does, after counting
            if span.link and not span.link.startswith(_LINKABLE) and span.link != text:
                text = f"{text} ({span.link})"  # Telegram drops links that lead nowhere outside
            self._write(text.replace("\n", "\n" + indent) if indent else text)
        self._close(opened, 0)

    def _close(self, opened: list[tuple[_Kind, int, int]], keep: int) -> None:
        while len(opened) > keep:
            (type_, url), begin, part = opened.pop()
            # a style of white space only is dropped by Telegram; a code span of one space is shown
            if type_ in _KEEPS_SPACE or any(not text.isspace() for text in self._parts[part:]):
                self._entity(type_, begin, url=url)

    def _write(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length += units(text)

    def _entity(self, type_: EntityType, begin: int, *, url: str = "", language: str = "") -> None:
        if self._length > begin:
            length = self._length - begin
            self._entities.append(Entity(type=type_, offset=begin, length=length, url=url, language=language))


def _kept(text: str) -> str:
    """Return what Telegram keeps of a text, so that offsets are those of what is shown."""
    if text.isascii():
        return text
    if "\u030a" in text:
        text = normalize("NFC", text)  # the ring of a decomposed letter would be dropped
    return _DROPPED.sub("", text)


def _is_set_apart(block: Block) -> bool:
    """Tell whether Telegram shows a block as a box of its own, which takes no indentation."""
    return isinstance(block, Code | Quote)


def _bold(span: Span) -> Span:
    if "code" in span.marks or "bold" in span.marks:
        return span
    return Span(text=span.text, marks=span.marks | {"bold"}, link=span.link, image=span.image)


def _outer_first(entity: Entity) -> tuple[int, int]:
    return entity.offset, -entity.length


def _clipped(entity: Entity, lead: int, end: int) -> Entity | None:
    begin = max(entity.offset, lead)
    length = min(entity.offset + entity.length, end) - begin
    if length <= 0:
        return None
    return Entity(
        type=entity.type, offset=begin - lead, length=length, url=entity.url, language=entity.language
    )
