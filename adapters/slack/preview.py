"""What Slack's clients show of a message, as HTML: its rich text blocks."""

from html import escape
from typing import Final

from adapters.slack.render import MAX_BLOCKS_TEXT, Json, render
from gateway.document import Document

LIMIT: Final = MAX_BLOCKS_TEXT
"""Of one message, as `render.measure` counts."""

_TAGS: Final = {"bold": "b", "italic": "i", "strike": "s", "code": "code"}


def show(piece: Document) -> str:
    """Return the HTML of the message that a piece becomes."""
    return "".join(_element(element) for block in render(piece) for element in block["elements"])


def _element(element: Json) -> str:
    match element["type"]:
        case "rich_text_list":
            tag = "ol" if element["style"] == "ordered" else "ul"
            start = f' start="{element["offset"] + 1}"' if tag == "ol" else ""
            items = "".join(f"<li>{_leaves(item)}</li>" for item in element["elements"])
            return f'<{tag}{start} style="margin-left: {24 * element["indent"]}px">{items}</{tag}>'
        case "rich_text_preformatted":
            return f"<pre>{_leaves(element)}</pre>"
        case "rich_text_quote":
            return f"<blockquote>{_leaves(element)}</blockquote>"
        case _:
            return f"<div>{_leaves(element)}</div>"


def _leaves(element: Json) -> str:
    return "".join(_leaf(leaf) for leaf in element["elements"])


def _leaf(leaf: Json) -> str:
    shown = escape(leaf["text"])
    if leaf["type"] == "link":
        shown = f'<a href="{escape(leaf["url"])}">{shown}</a>'
    for style in leaf.get("style", {}):
        shown = f"<{_TAGS[style]}>{shown}</{_TAGS[style]}>"
    return shown
