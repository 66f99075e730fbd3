"""One message as arguments of the Web API (pure): blocks, the text for notifications, the key in its metadata.

Blocks are always sent: `chat.update` takes 4,000 bytes of `text`, but 12,000 characters in blocks, and with
blocks Slack does not mark a message as edited. `text` is then what notifications and screen readers get.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from adapters.slack import mrkdwn, render
from adapters.slack.readable import escape
from adapters.slack.render import MAX_BLOCKS_TEXT
from gateway.document import Document, first_words, plain
from gateway.messages import Button, OutboundMessage

Json = dict[str, Any]

EVENT_TYPE = "parley_message"
"""Under which our metadata stands; visible to every app and member of the workspace, so only a key is in it."""

NOTICE_CHARS = 300

LIMIT = MAX_BLOCKS_TEXT

_FIRST_ELEMENT = 2  # which every message has; what it weighs is in the limit's reserve
_LABEL = 75  # characters of a button's text: https://docs.slack.dev/reference/block-kit/block-elements/button-element
_ROW = 25  # elements of an actions block
_STYLES: Mapping[str, str] = {"good": "primary", "danger": "danger"}


def content(message: OutboundMessage) -> Json:
    """Text, blocks and metadata, as `chat.postMessage` and `chat.update` take them."""
    shown = literal_blocks(message.body) if message.plain else render.render(message.body)
    blocks = [*shown, *button_blocks(message.buttons)]
    return {
        "text": escape(first_words(message.body, NOTICE_CHARS)) or " ",
        "blocks": blocks,
        **metadata(message),
    }


def comment(message: OutboundMessage) -> str:
    """The caption of a file, where no blocks can go; "" if there is none."""
    return escape(plain(message.body)) if message.plain else mrkdwn.render(message.body)


def metadata(message: OutboundMessage) -> Json:
    """What stands beside a message of ours, unseen: its key. An edit without one leaves what stands there."""
    if not message.idem_key:
        return {}
    return {"metadata": {"event_type": EVENT_TYPE, "event_payload": {"key": message.idem_key}}}


def authorship(message: OutboundMessage) -> Json:
    """The name and the picture of who speaks, as `chat.postMessage` and `chat.startStream` take them."""
    author = message.author
    if author is None:
        return {}
    picture = "icon_emoji" if (author.avatar or "").startswith(":") else "icon_url"
    return {"username": author.name, **({picture: author.avatar} if author.avatar else {})}


def measure(body: Document) -> int:
    """How much of `LIMIT` a body takes: at least its visible characters, exactly those of one plain paragraph."""
    return max(render.measure(body) - _FIRST_ELEMENT, 0)


def literal_blocks(body: Document) -> list[Json]:
    """The visible text as it is: rich text knows neither markup nor mentions in what it holds."""
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": plain(body)}]}
    return [{"type": "rich_text", "elements": [section]}]


def button_blocks(rows: Sequence[Sequence[Button]]) -> list[Json]:
    """One row of buttons, one block; a button's token is both its value and its id."""
    return [
        {"type": "actions", "elements": [_button(button) for button in row[:_ROW]]} for row in rows if row
    ]


def key_in(message: Mapping[str, Any]) -> str | None:
    """The key under which a message of ours was sent, None for others."""
    metadata = message.get("metadata") or {}
    if metadata.get("event_type") != EVENT_TYPE:
        return None
    key = (metadata.get("event_payload") or {}).get("key")
    return str(key) if key else None


def _button(button: Button) -> Json:
    label = button.label if len(button.label) <= _LABEL else button.label[: _LABEL - 1] + "…"
    element: Json = {
        "type": "button",
        "text": {"type": "plain_text", "text": label, "emoji": False},
        "action_id": button.token,
        "value": button.token,
    }
    if button.style in _STYLES:
        element["style"] = _STYLES[button.style]
    return element
