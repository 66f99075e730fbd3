"""Documents to standard Markdown, for a message that grows natively: what is written there cannot be taken back.

`settled` leaves out what a further word may turn into something else (an open `**`, half a table's row): only the
end of the last block can, since Markdown is read block by block. Should it be wrong all the same, the adapter goes
over to edits; and a stream's last text is an edit with our own blocks, whatever Slack made of this.
"""

import re
from typing import Final, assert_never

from gateway.document import (
    Block,
    Code,
    Document,
    Heading,
    List,
    Mark,
    Paragraph,
    Quote,
    Rule,
    Span,
    Spans,
    Table,
    item_marker,
    outside_space,
    records,
    runs,
)

_SIGNS: Final[dict[Mark, str]] = {"bold": "**", "italic": "*", "strike": "~~"}
_SPECIAL: Final = re.compile(r"[\\`*~\[\]<>&|]|(?<!\w)_|_(?!\w)")
_OPENING: Final = re.compile(r"^(\s*)(?=[#+=-]|\d+[.)])", re.MULTILINE)
"""What begins a heading, an item or a rule at the start of a line."""
_OPEN_END: Final = 400
"""How far from the end of a block an open sign may still be closed; beyond that it is taken as it stands."""
_STUB: Final = re.compile(r"(^|\n)[ >]*(\d{1,9}[.)]?|[-+•☐☑])? *\Z")
"""A last line that may become an item: of a list, or of one that begins."""
_UNDERLINED: Final = 2
"""Headings of these levels may be a paragraph below which a list begins: its `-` reads as an underline at first."""
_WORDS: Final = ("http://", "https://", "mailto:")


def settled(document: Document) -> str:
    """Return the Markdown that any longer text which begins alike begins with, or falls a little behind."""
    shown = [text for block in document.blocks if (text := _block(block))]
    if not shown:
        return ""
    *whole, _ = shown
    last = _settled(document.blocks[-1], shown[-1])
    return "\n\n".join([*whole, last] if last else whole)


def _settled(block: Block, text: str) -> str:
    match block:
        case Code():
            lines = text.split("\n")[:-1]  # without the fence's end
            if lines[-1].strip("`~ ") == "":  # maybe the beginning of that end
                lines.pop()
            return "\n".join(lines) if len(lines) > 1 else ""
        case Table():
            return text.rpartition("\n")[0]
        case Heading() if block.level <= _UNDERLINED:
            return ""
        case _:
            text = text.partition("```")[0].rstrip() if "```" in text else text
            text = _STUB.sub("", text)
            begin = max(len(text) - _OPEN_END, 0)
            sign = text.find("\\", begin)
            return text if sign < 0 else text[:sign].rstrip("\n")


def _block(block: Block) -> str:
    match block:
        case Paragraph():
            return _OPENING.sub(r"\1\\", _inline(block.spans))
        case Heading():
            return f"{'#' * block.level} {_inline(block.spans)}"
        case Code():
            return _fence(block) if block.text.strip() else ""
        case Rule():
            return "---"
        case Table():
            return _table(block)
        case Quote():
            return "\n".join(f"> {line}".rstrip(" ") for line in _blocks(block.blocks).split("\n"))
        case List():
            return "\n".join(
                _item(item_marker(block, number, item.task), item.blocks)
                for number, item in enumerate(block.items, block.start)
            )
        case _:
            assert_never(block)


def _fence(block: Code) -> str:
    inside = block.text.replace("```", "`\u200b``")
    return f"```{block.language}\n{inside}\n```"


def _blocks(blocks: tuple[Block, ...]) -> str:
    """Blocks inside a list or a quote, where headings are not marked (see `_UNDERLINED`)."""
    shown = (Paragraph(spans=block.spans) if isinstance(block, Heading) else block for block in blocks)
    return "\n\n".join(text for block in shown if (text := _block(block)))


def _item(marker: str, blocks: tuple[Block, ...]) -> str:
    marker = marker.replace("•", "-")
    first, *rest = _blocks(blocks).split("\n")
    return "\n".join([marker + first, *(" " * len(marker) + line if line else "" for line in rest)])


def _table(block: Table) -> str:
    if not block.head:
        return _blocks(records(block))
    rows = [block.head, *block.rows]
    lines = ["| " + " | ".join(_inline(cell).replace("\n", " ") for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(block.head), *lines[1:]])


def _inline(spans: Spans) -> str:
    parts: list[str] = []
    label: list[str] | None = None
    for step, style, span in runs(outside_space(spans)):
        into = parts if label is None else label
        match step, style:
            case "text", _:
                into.append(_text(span))
            case "open", "link":
                label = []
            case "close", "link":
                parts.append(_link(span.link, "".join(label or [])))
                label = None
            case _, "bold" | "italic" | "strike":
                into.append(_SIGNS[style])
            case _:
                pass  # no sign for underlined or hidden text
    return "".join(parts)


def _text(span: Span) -> str:
    if "code" in span.marks:
        return "`" + span.text.replace("`", "ˋ") + "`"
    shown = _SPECIAL.sub(r"\\\g<0>", span.text)
    # Whether Slack takes a backslash before a mention's bracket is not documented: the space keeps it from pinging.
    return re.sub(r"<(?=[!@#])", "<\u200b", shown)


def _link(address: str, label: str) -> str:
    if not address.startswith(_WORDS) or re.search(r"[\s()<>]", address):
        return label
    return address if label == _SPECIAL.sub(r"\\\g<0>", address) else f"[{label}]({address})"
