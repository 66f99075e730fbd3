"""What Telegram's clients show of a message, as HTML: the text with its entities, and nothing else."""

from html import escape
from typing import Final

from adapters.telegram.render import MAX_TEXT, Entity, EntityType, render
from gateway.document import Document

LIMIT: Final = MAX_TEXT
"""Of one message, as `render.measure` counts."""

_TAGS: Final[dict[EntityType, tuple[str, str]]] = {
    "bold": ("<b>", "</b>"),
    "italic": ("<i>", "</i>"),
    "underline": ("<u>", "</u>"),
    "strikethrough": ("<s>", "</s>"),
    "spoiler": ('<span class="spoiler">', "</span>"),
    "code": ("<code>", "</code>"),
    "pre": ("<pre>", "</pre>"),
    "blockquote": ("<blockquote>", "</blockquote>"),
    "expandable_blockquote": ('<blockquote class="expandable">', "</blockquote>"),
}


def show(piece: Document) -> str:
    """Return the HTML of the message that a piece becomes."""
    rendered = render(piece)
    data = rendered.text.encode("utf-16-le")
    edges: list[tuple[int, int, str]] = []  # where, in which order there, what
    for order, entity in enumerate(rendered.entities):
        opening, closing = _tags(entity)
        edges += [(entity.offset, order, opening), (entity.offset + entity.length, -order - 1, closing)]
    edges.sort(key=lambda edge: edge[:2])  # at one place first the closings, inner ones before outer ones
    parts, done = [], 0
    for offset, _, tag in edges:
        parts += [escape(data[2 * done : 2 * offset].decode("utf-16-le")), tag]
        done = offset
    parts.append(escape(data[2 * done :].decode("utf-16-le")))
    return _without_gaps("".join(parts))


def _tags(entity: Entity) -> tuple[str, str]:
    if entity.type == "text_link":
        return f'<a href="{escape(entity.url)}">', "</a>"
    return _TAGS[entity.type]


def _without_gaps(html: str) -> str:
    """Drop the line end beside a box: the box has one of its own."""
    for box in ("pre", "blockquote"):
        html = html.replace(f"</{box}>\n", f"</{box}>").replace(f"\n<{box}", f"<{box}")
    return html
