r"""Documents to Discord's dialect of Markdown.

The dialect is no CommonMark (https://support.discord.com/hc/en-us/articles/210298617, read 2026-10): three
levels of headings, no tables, no rules, quotes that do not nest, fences that nothing can escape inside, `__`
for underline. What would format or mention by accident gets a backslash; a fence inside code gets zero-width
spaces. Masked links and autolinks stand in angle brackets, so no preview is unfolded for them. That nobody is
pinged is the request's business (`allowed_mentions`); here mentions are only kept from looking like one.
"""

import re
from collections.abc import Callable
from typing import Final, assert_never

from gateway.document import (
    BARE_URL,
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
    outside_space,
    records,
    runs,
    text_of,
)
from gateway.document.runs import Step

MAX_TEXT: Final = 2000
COLUMNS: Final = 56
"""What a fixed-width block shows in a usual Discord window without wrapping."""

_SIGNS: Final[dict[Mark, str]] = {"spoiler": "||", "strike": "~~", "underline": "__", "bold": "**"}
_SPECIAL = re.compile(
    rf"(?P<url>{BARE_URL.pattern})|[\\*`]|~~|\|\||__+|(?<!\w)_|_(?!\w)|(?P<bracket>\[)|<(?=[@#:/]|a:|t:|id:|sound:)"
)
_LINE_START = re.compile(r"^(\s*)(#{1,3}(?=\s)|-#(?=\s)|>|[-+](?=\s)|\d+(?=[.)]\s))", re.MULTILINE)
_LANGUAGE = re.compile(r"[A-Za-z0-9_+.#-]+")


def render(document: Document) -> str:
    """Return the `content` to send; "" when the document shows nothing."""
    return _blocks(document.blocks, "\n\n", quoted=False).strip(" \n")


def measure(document: Document) -> int:
    """Return what a piece counts against `MAX_TEXT`: code points of the content with all its signs."""
    return len(render(document))


def _blocks(blocks: tuple[Block, ...], gap: str, *, quoted: bool) -> str:
    shown = ""
    before: Block | None = None
    for block in blocks:
        text = _block(block, quoted=quoted)
        if not text:
            continue
        if before is not None:
            shown += "\n" if isinstance(before, Heading) else gap
        shown += text
        before = block
    return shown


def _block(block: Block, *, quoted: bool) -> str:
    match block:
        case Paragraph():
            return _plain_lines(_inline(block.spans))
        case Heading():
            return _heading(block)
        case Code():
            return _fence(block.text, block.language) if block.text.strip() else ""
        case Rule():
            return "───────"
        case Table():
            aligned = grid(block, COLUMNS)
            return _fence(aligned, "") if aligned else _blocks(records(block), "\n\n", quoted=quoted)
        case Quote():
            inner = _blocks(block.blocks, "\n\n", quoted=True)
            return inner if quoted else "\n".join(f"> {line}" for line in inner.split("\n"))
        case List():
            return _list(block, quoted=quoted)
        case _:
            assert_never(block)


def _heading(heading: Heading) -> str:
    text = _inline(heading.spans).replace("\n", " ").strip()
    if heading.level <= 3:
        return f"{'#' * heading.level} {text}" if text else ""
    return _inline(tuple(_bold(span) for span in heading.spans))


def _bold(span: Span) -> Span:
    return span if "code" in span.marks else Span(text=span.text, marks=span.marks | {"bold"}, link=span.link)


def _fence(text: str, language: str) -> str:
    tag = language if _LANGUAGE.fullmatch(language) else ""
    inert = text.replace("```", "`\u200b`\u200b`")
    if inert.endswith("`"):
        inert += "\u200b"
    return f"```{tag}\n{inert}\n```"


def _list(block: List, *, quoted: bool) -> str:
    shown = []
    for number, item in enumerate(block.items, block.start):
        shown.append(_item(item, f"{number}. " if block.ordered else "- ", loose=block.loose, quoted=quoted))
    return ("\n\n" if block.loose else "\n").join(shown)


def _item(item: Item, marker: str, *, loose: bool, quoted: bool) -> str:
    box = "" if item.task is None or item.resumed else "☑ " if item.task else "☐ "
    body = _blocks(item.blocks, "\n\n" if loose else "\n", quoted=quoted)
    if body.startswith("```"):
        lead = "" if item.resumed else f"{marker}{box}".rstrip() + "\n"
    else:
        lead = " " * len(marker) if item.resumed else marker + box
    return (lead + _indented(body, " " * len(marker))).rstrip(" ")


def _indented(text: str, indent: str) -> str:
    """Indent all lines after the first, but fences and quotes, which Discord knows at the margin only."""
    lines = text.split("\n")
    in_fence = lines[0].startswith("```")
    shown = lines[:1]
    for line in lines[1:]:
        is_fence = line.startswith("```")
        shown.append(line if in_fence or is_fence or line.startswith("> ") or not line else indent + line)
        in_fence ^= is_fence
    return "\n".join(shown)


def _plain_lines(text: str) -> str:
    r"""Escape what would begin a heading, quote or list at a line's start ("1." becomes "1\.")."""
    return _LINE_START.sub(_escaped_start, text)


def _escaped_start(match: re.Match[str]) -> str:
    space, sign = match.groups()
    return f"{space}{sign}\\" if sign.isdigit() else f"{space}\\{sign}"


def _inline(spans: Spans) -> str:
    parts: list[str] = []
    escaped = _escaped_link if "](" in text_of(spans) else _escaped
    steps = list(runs(outside_space(spans)))
    italics: list[str] = []
    for index, (step, style, span) in enumerate(steps):
        if step == "text":
            parts.append(_text(span, escaped))
        elif style == "link":
            parts.append(_link_edge(span, is_opening=step == "open"))
        elif style == "italic":
            if step == "open":
                italics.append(_italic_sign("".join(parts[-2:])[-1:], steps, index))
                parts.append(italics[-1])
            else:
                parts.append(italics.pop())
        elif style != "code":
            parts.append(_SIGNS[style])
    return "".join(parts)


def _italic_sign(before: str, steps: list[Step], index: int) -> str:
    """`_` does not run into the stars of bold, but holds no other `_` and stands beside no letter."""
    closing = next(place for place in range(index, len(steps)) if steps[place][:2] == ("close", "italic"))
    after = next((span.text[:1] for step, _, span in steps[closing:] if step == "text"), "")
    inside = any("_" in span.text for step, _, span in steps[index:closing] if step == "text")
    return "*" if inside or _is_word(before) or _is_word(after) else "_"


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()


def _text(span: Span, escaped: Callable[[re.Match[str]], str]) -> str:
    if "code" in span.marks:
        return _code(span.text)
    if span.link == span.text and _is_masked(span):
        return span.text
    return _SPECIAL.sub(escaped, span.text)


def _escaped(match: re.Match[str]) -> str:
    return match.group() if match.lastgroup == "bracket" else _escaped_link(match)


def _escaped_link(match: re.Match[str]) -> str:
    """Escape brackets too: somewhere in this text stands what could end a link."""
    found = match.group()
    return found if match.lastgroup == "url" else "".join(f"\\{character}" for character in found)


def _code(text: str) -> str:
    text = text.replace("\n", " ")
    if "`" not in text:
        return f"`{text}`"
    # two backticks may hold single ones; longer runs get a zero-width space, which nobody sees
    text = text.replace("``", "`\u200b`")
    return f"`` {text} ``"


def _is_masked(span: Span) -> bool:
    return span.link.startswith(("http://", "https://", "discord://"))


def _link_edge(span: Span, *, is_opening: bool) -> str:
    if span.link == f"mailto:{span.text}":
        return ""
    if not _is_masked(span):
        return "" if is_opening else f" ({_SPECIAL.sub(_escaped, span.link)})"
    if span.link == span.text:
        return "<" if is_opening else ">"
    address = span.link.replace("<", "%3C").replace(">", "%3E").replace(" ", "%20").replace("\n", "")
    if BARE_URL.match(span.text):  # Discord masks no address with another one
        return "" if is_opening else f" (<{address}>)"
    return "[" if is_opening else f"](<{address}>)"
