"""Block Kit: what Slack refuses, what readers see, whom it notifies.

Limits: https://docs.slack.dev/reference/block-kit/blocks (2026); `TOTAL_LIMIT` is no documented one but what
people measured (slackapi/bolt-js issue 2509).
"""

from collections.abc import Callable, Iterator
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from .errors import ApiError, invalid_blocks
from .markup import pings, visible

Block = dict[str, Any]

BLOCK_LIMIT = 50
SECTION_LIMIT = 3_000
MARKDOWN_LIMIT = 12_000  # over all markdown blocks of a message
TOTAL_LIMIT = 13_200
ACTIONS_LIMIT = 25
VALUE_LIMIT = 2_000
LABEL_LIMIT = 75
ID_LIMIT = 255
HEADER_LIMIT = 150
CONTEXT_LIMIT = 10

_LEAVES = ("text", "link", "emoji", "user", "usergroup", "channel", "broadcast", "date", "color")
_STYLES = frozenset(
    {"bold", "italic", "strike", "code", "underline", "highlight", "client_highlight", "unlink"}
)

_MARKDOWN = MarkdownIt("commonmark").enable(["strikethrough", "table"])


def check_blocks(blocks: Any) -> tuple[Block, ...]:
    """The blocks of a request, if Slack would take them.

    Raises:
        ApiError: `invalid_blocks_format`, `invalid_blocks` with reasons, or `msg_blocks_too_long`.
    """
    if blocks is None:
        return ()
    if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
        raise ApiError("invalid_blocks_format")
    reasons = [f"no more than {BLOCK_LIMIT} items allowed [json-pointer:/blocks]"] * (
        len(blocks) > BLOCK_LIMIT
    )
    for place, block in enumerate(blocks):
        check = _CHECKS.get(block.get("type", ""))
        found = check(block) if check else [f"unsupported type: {block.get('type')}"]
        reasons += [f"{reason} [json-pointer:/blocks/{place}]" for reason in found]
    reasons += _check_ids(blocks)
    if sum(len(_markdown(block)) for block in blocks) > MARKDOWN_LIMIT:
        reasons.append(f"must be less than {MARKDOWN_LIMIT + 1} characters in all markdown blocks")
    if reasons:
        raise invalid_blocks(*reasons)
    if sum(len(text) for block in blocks for text in _texts(block)) > TOTAL_LIMIT:
        raise ApiError("msg_blocks_too_long")
    return tuple(blocks)


def visible_blocks(blocks: tuple[Block, ...]) -> str:
    """What a reader sees of the blocks, without buttons."""
    return "\n".join(text for block in blocks if (text := _visible(block)) is not None)


def pinged_by(blocks: tuple[Block, ...]) -> tuple[str, ...]:
    """Whom the blocks notify, as `markup.pings` has it."""
    found: list[str] = []
    for block in blocks:
        if block["type"] == "rich_text":
            found += [_pinged(element) for element in _leaves(block) if _pinged(element)]
        elif block["type"] == "markdown":
            found += pings(block["text"].replace("\\<", ""))
        else:
            found += [name for text in _formatted(block) for name in pings(text)]
    return tuple(dict.fromkeys(found))


def _check_section(block: Block) -> list[str]:
    texts = [block[name] for name in ("text",) if name in block] + list(block.get("fields", ()))
    if not texts:
        return ["missing required field: text"]
    return [reason for text in texts for reason in _check_text(text, SECTION_LIMIT)]


def _check_text(text: Any, limit: int) -> list[str]:
    if not isinstance(text, dict) or text.get("type") not in {"mrkdwn", "plain_text"}:
        return ["text must be an object of type mrkdwn or plain_text"]
    length = len(text.get("text", ""))
    if not 1 <= length <= limit:
        return [f"must be between 1 and {limit} characters, is {length}"]
    return []


def _check_actions(block: Block) -> list[str]:
    elements = block.get("elements")
    if not isinstance(elements, list) or not 1 <= len(elements) <= ACTIONS_LIMIT:
        return [f"elements must be 1 to {ACTIONS_LIMIT}"]
    ids = [element.get("action_id") for element in elements if element.get("action_id")]
    twice = [f"action_id {one!r} appears twice" for one in sorted({one for one in ids if ids.count(one) > 1})]
    return twice + [reason for element in elements for reason in _check_button(element)]


def _check_button(element: Block) -> list[str]:
    if element.get("type") != "button":
        return [f"the simulator knows no {element.get('type')} element"]
    reasons = _check_text(element.get("text"), LABEL_LIMIT)
    if isinstance(element.get("text"), dict) and element["text"].get("type") != "plain_text":
        reasons.append("a button's text must be plain_text")
    if len(element.get("value", "")) > VALUE_LIMIT:
        reasons.append(f"value must be at most {VALUE_LIMIT} characters")
    if len(element.get("action_id", "")) > ID_LIMIT:
        reasons.append(f"action_id must be at most {ID_LIMIT} characters")
    if element.get("style", "primary") not in {"primary", "danger"}:
        reasons.append(f"unknown style {element['style']!r}")
    return reasons


def _check_markdown(block: Block) -> list[str]:
    return [] if isinstance(block.get("text"), str) and block["text"] else ["missing required field: text"]


def _check_rich_text(block: Block) -> list[str]:
    elements = block.get("elements")
    if not isinstance(elements, list) or not elements:
        return ["missing required field: elements"]
    return [reason for element in elements for reason in _check_rich(element)]


def _check_rich(element: Block) -> list[str]:
    kind, inner = element.get("type"), element.get("elements")
    if not isinstance(inner, list):
        return ["missing required field: elements"]
    match kind:
        case "rich_text_list":
            known = element.get("style") in {"bullet", "ordered"} and 0 <= element.get("indent", 0) <= 8
            sections = all(one.get("type") == "rich_text_section" for one in inner)
            reasons = [] if known and sections and inner else ["invalid rich_text_list"]
            return reasons + [reason for one in inner for reason in _check_rich(one)]
        case "rich_text_section" | "rich_text_quote":
            return [reason for leaf in inner for reason in _check_leaf(leaf, _LEAVES)]
        case "rich_text_preformatted":
            return [reason for leaf in inner for reason in _check_leaf(leaf, ("text", "link"))]
        case _:
            return [f"unknown element {kind!r}"]


def _check_leaf(leaf: Block, known: tuple[str, ...]) -> list[str]:
    if leaf.get("type") not in known:
        return [f"unknown element {leaf.get('type')!r}"]
    reasons = []
    if leaf["type"] == "text" and not leaf.get("text"):
        reasons.append("text must be more than 0 characters")
    if leaf["type"] == "link" and not leaf.get("url"):
        reasons.append("missing required field: url")
    styles = leaf.get("style", {})
    if not isinstance(styles, dict) or not set(styles) <= _STYLES:
        reasons.append(f"unknown style {styles!r}")
    return reasons


def _check_context(block: Block) -> list[str]:
    elements = block.get("elements", [])
    if not 1 <= len(elements) <= CONTEXT_LIMIT:
        return [f"elements must be 1 to {CONTEXT_LIMIT}"]
    return [
        reason for one in elements if one.get("type") != "image" for reason in _check_text(one, SECTION_LIMIT)
    ]


_CHECKS: dict[str, Callable[[Block], list[str]]] = {
    "section": _check_section,
    "actions": _check_actions,
    "markdown": _check_markdown,
    "rich_text": _check_rich_text,
    "context": _check_context,
    "header": lambda block: _check_text(block.get("text"), HEADER_LIMIT),
    "divider": lambda block: [],
    "image": lambda block: [] if block.get("alt_text") else ["missing required field: alt_text"],
}


def _check_ids(blocks: list[Block]) -> list[str]:
    ids = [block["block_id"] for block in blocks if block.get("block_id")]
    return [
        f"block_id {one!r} appears twice" for one in sorted({one for one in ids if ids.count(one) > 1})
    ] + [f"block_id must be at most {ID_LIMIT} characters" for one in ids if len(one) > ID_LIMIT]


def _markdown(block: Block) -> str:
    return str(block.get("text", "")) if block.get("type") == "markdown" else ""


def _texts(block: Block) -> Iterator[str]:
    """Every text within a block, however deep."""
    for value in block.values():
        if isinstance(value, str):
            yield value if value != block.get("type") else ""
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, dict):
                yield from _texts(inner)


def _formatted(block: Block) -> list[str]:
    """The mrkdwn texts of a section or context."""
    texts = [block.get("text"), *block.get("fields", ()), *block.get("elements", ())]
    return [one["text"] for one in texts if isinstance(one, dict) and one.get("type") == "mrkdwn"]


def _visible(block: Block) -> str | None:
    match block["type"]:
        case "actions":
            return None
        case "markdown":
            return visible_markdown(block["text"])
        case "rich_text":
            return "\n".join(_rich(element) for element in block["elements"])
        case "divider":
            return "———"
        case "image":
            return str(block["alt_text"])
        case "context":
            return " ".join(_text(element) for element in block["elements"])
        case _:
            return "\n".join(_text(one) for one in [block.get("text"), *block.get("fields", ())] if one)


def _text(element: Block) -> str:
    if element["type"] == "mrkdwn":
        return visible(element["text"])
    return str(element.get("text") or element.get("alt_text", ""))


def _rich(element: Block) -> str:
    if element["type"] == "rich_text_list":
        first = element.get("offset", 0) + 1
        return "\n".join(
            "    " * element.get("indent", 0)
            + (f"{number}. " if element["style"] == "ordered" else "• ")
            + _rich(item)
            for number, item in enumerate(element["elements"], first)
        )
    return "".join(_rich_leaf(leaf) for leaf in element["elements"])


def _rich_leaf(leaf: Block) -> str:
    match leaf["type"]:
        case "text":
            return str(leaf["text"])
        case "link":
            return str(leaf.get("text") or leaf["url"])
        case "emoji":
            return f":{leaf['name']}:"
        case _:
            return "@" + _pinged(leaf)


def _leaves(block: Block) -> Iterator[Block]:
    for element in block.get("elements", ()):
        if element.get("type", "").startswith("rich_text"):
            yield from _leaves(element)
        else:
            yield element


def _pinged(leaf: Block) -> str:
    match leaf["type"]:
        case "user":
            return str(leaf["user_id"])
        case "usergroup":
            return str(leaf["usergroup_id"])
        case "broadcast":
            return str(leaf["range"])
        case _:
            return ""


def visible_markdown(text: str) -> str:
    """What a reader sees of a `markdown` block: blocks apart by a blank line, items with a bullet."""
    return _block_text(SyntaxTreeNode(_MARKDOWN.parse(text)), "\n\n")


def _block_text(node: SyntaxTreeNode, gap: str) -> str:
    match node.type:
        case "inline":
            return "".join(_inline_text(child) for child in node.children)
        case "fence" | "code_block":
            return node.content.removesuffix("\n")
        case "hr":
            return "———"
        case "tr":
            return " | ".join(_block_text(cell, "") for cell in node.children)
        case "table" | "thead" | "tbody":
            return "\n".join(_block_text(row, "\n") for row in node.children)
        case "bullet_list" | "ordered_list":
            return "\n".join(_item(node, place) for place in range(len(node.children)))
        case "html_block":
            return node.content.rstrip("\n")
        case _:
            return gap.join(_block_text(child, gap) for child in node.children)


def _item(node: SyntaxTreeNode, place: int) -> str:
    start = int(node.attrs.get("start", 1))
    marker = f"{start + place}. " if node.type == "ordered_list" else "• "
    return marker + _block_text(node.children[place], "\n").replace("\n", "\n" + " " * len(marker))


def _inline_text(node: SyntaxTreeNode) -> str:
    if node.type in {"softbreak", "hardbreak"}:
        return "\n"
    if node.children:
        return "".join(_inline_text(child) for child in node.children)
    return node.content
