"""Documents to Slack's mrkdwn, for where blocks cannot go: section texts, the text of an edit, notifications.

As in https://docs.slack.dev/messaging/formatting-message-text (read 2026-10): `&`, `<` and `>` are escaped,
once, in code as well, which makes every mention and channel inert. Nothing else can be escaped: a sign that
would format by accident is shown as its look-alike, and a style that ends inside a word gets a zero-width
space.
"""

import re
from typing import Final, assert_never

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
    outside_space,
    records,
    runs,
)

MAX_SECTION: Final = 3000
MAX_EDIT: Final = 4000

_SIGNS: Final[dict[Mark, str]] = {"bold": "*", "italic": "_", "strike": "~"}
_ALIKE: Final = {"*": "∗", "_": "ˍ", "~": "∼", "`": "ˋ"}
_PAIR = re.compile(r"(?<![\w*_~`])([*_~`])(?=\S)([^\n]*?)(?<=\S)\1(?![\w*_~`])")
_QUOTE_SIGN = re.compile(r"^(?=&gt;)", re.MULTILINE)
"""Even escaped, `>` at a line's start makes a quote."""
_COLUMNS: Final = 60


def render(document: Document) -> str:
    """Return the mrkdwn text; "" when the document shows nothing."""
    return _blocks(document.blocks, "\n\n", quoted=False).strip(" \n")


def measure(document: Document) -> int:
    """Return what a piece counts against `MAX_SECTION` or `MAX_EDIT`: characters after escaping."""
    return len(render(document))


def escape(text: str) -> str:
    """Return the text with the three characters escaped that Slack's markup begins with."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _blocks(blocks: tuple[Block, ...], gap: str, *, quoted: bool) -> str:
    shown: list[str] = []
    before: Block | None = None
    for block in blocks:
        text = _block(block, quoted=quoted)
        if not text:
            continue
        if before is not None:
            shown.append("\n" if isinstance(before, Heading) else gap)
        shown.append(text)
        before = block
    return "".join(shown)


def _block(block: Block, *, quoted: bool) -> str:
    match block:
        case Paragraph():
            return _QUOTE_SIGN.sub("\u200b", _inline(block.spans))
        case Heading():
            return _inline(tuple(_bold(span) for span in block.spans))
        case Code():
            return _fence(block.text) if block.text.strip() else ""
        case Rule():
            return "───────"
        case Table():
            aligned = grid(block, _COLUMNS)
            return _fence(aligned) if aligned else _blocks(records(block), "\n\n", quoted=quoted)
        case Quote():
            inner = _blocks(block.blocks, "\n\n", quoted=True)
            return inner if quoted else "\n".join(f"> {line}" for line in inner.split("\n"))
        case List():
            return _list(block, quoted=quoted)
        case _:
            assert_never(block)


def _fence(text: str) -> str:
    return "```\n" + escape(text.replace("```", "`\u200b`\u200b`")) + "\n```"


def _list(block: List, *, quoted: bool) -> str:
    shown = [
        _item(block, number, item, quoted=quoted) for number, item in enumerate(block.items, block.start)
    ]
    return ("\n\n" if block.loose else "\n").join(shown)


def _item(block: List, number: int, item: Item, *, quoted: bool) -> str:
    marker = item_marker(block, number, item.task)
    indent = "    "
    body = _blocks(item.blocks, "\n\n" if block.loose else "\n", quoted=quoted)
    lines, in_fence = body.split("\n"), body.startswith("```")
    shown = [(indent if item.resumed else marker) + lines[0]]
    if in_fence:
        shown = [*([] if item.resumed else [marker.rstrip()]), lines[0]]
    for line in lines[1:]:
        is_fence = line.startswith("```")
        shown.append(line if in_fence or is_fence or not line else indent + line)
        in_fence ^= is_fence
    return "\n".join(shown).rstrip(" ")


def _inline(spans: Spans) -> str:
    parts: list[str] = []
    closed = False
    label: list[str] | None = None
    for step, style, span in runs(outside_space(spans)):
        match step, style:
            case "text", _:
                shown = _text(span)
                if label is not None:
                    label.append(span.text)
                    continue
                parts.append("\u200b" + shown if closed and _is_word(span.text[:1]) else shown)
                closed = False
            case "open", "link":
                label = []
            case "close", "link":
                parts.append(_link(span.link, "".join(label or [])))
                label, closed = None, False
            case "open", "bold" | "italic" | "strike" if label is None:
                before = parts[-1][-1:] if parts else ""
                parts.append(("\u200b" if _is_word(before) else "") + _SIGNS[style])
            case "close", "bold" | "italic" | "strike" if label is None:
                parts.append(_SIGNS[style])
                closed = True
            case _:
                pass  # no sign for underlined or hidden text, nor inside a label
    return "".join(parts)


def _text(span: Span) -> str:
    if "code" in span.marks:
        shown = escape(span.text.replace("\n", " ").replace("`", "ˋ"))
        return f"`{shown}`"
    return escape(_PAIR.sub(_look_alike, span.text))


def _look_alike(match: re.Match[str]) -> str:
    sign = _ALIKE[match.group(1)]
    return f"{sign}{match.group(2)}{sign}"


def _link(address: str, label: str) -> str:
    if not address.startswith(("http://", "https://", "mailto:")):
        return escape(label if label == address else f"{label} ({address})")
    target = escape(address.replace("|", "%7C").replace(" ", "%20"))
    if label in (address, address.removeprefix("mailto:")):
        return f"<{target}>" if label == address else f"<{target}|{escape(label)}>"
    return f"<{target}|{escape(label.replace('|', '∣').replace(chr(10), ' '))}>"


def _is_word(character: str) -> bool:
    return character.isalnum()


def _bold(span: Span) -> Span:
    return span if "code" in span.marks else Span(text=span.text, marks=span.marks | {"bold"}, link=span.link)
