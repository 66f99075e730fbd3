"""What the gateway wants shown, as the bodies of Discord's requests (pure).

https://docs.discord.com/developers/resources/message#create-message (10, read 2026). Nobody is ever notified:
`allowed_mentions` is empty in every body, whatever the text says.
"""

import hashlib
import json
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from typing import Any

from adapters.discord.render import render
from gateway.document import Document, plain, text_document
from gateway.messages import Button, OutboundMessage

NONCE_LIMIT = 25
LABEL_LIMIT = 80
ROW_LIMIT = 5

EPHEMERAL = 64
_SUPPRESS_EMBEDS = 4
_NOBODY = {"parse": [], "replied_user": False}
_STYLES = {"plain": 2, "good": 3, "danger": 4}

Body = dict[str, Any]


def content_of(message: OutboundMessage) -> str:
    """The text to send; Discord cuts off white space around it, so none is sent."""
    body: Document = text_document(plain(message.body)) if message.plain else message.body
    return render(body).strip()


def create_body(message: OutboundMessage) -> Body:
    """The body that sends a message, once for each `idem_key` within minutes."""
    body = edit_body(message) | {"nonce": nonce_of(message.idem_key), "enforce_nonce": True}
    if message.reply_to is not None:
        body["message_reference"] = {"message_id": message.reply_to, "fail_if_not_exists": False}
    return body


def file_form(message: OutboundMessage) -> list[dict[str, Any]]:
    """The form that sends a message with its file; `payload_json` stands where else the body does."""
    assert message.file is not None
    body = create_body(message) | {"attachments": [{"id": 0, "filename": message.file.name}]}
    return [
        {"name": "payload_json", "value": json.dumps(body), "content_type": "application/json"},
        {
            "name": "files[0]",
            "value": message.file.data,
            "filename": message.file.name,
            "content_type": message.file.mime_type or "application/octet-stream",
        },
    ]


def edit_body(message: OutboundMessage) -> Body:
    """The body that replaces a message's text and buttons."""
    body: Body = {
        "content": content_of(message),
        "components": _rows(message.buttons),
        "allowed_mentions": _NOBODY,
    }
    # A card is read for what it says; an address in a tool's arguments is not to be fetched and shown.
    return body | {"flags": _SUPPRESS_EMBEDS} if message.buttons else body


def nonce_of(idem_key: str) -> str:
    """The key as a nonce, of which Discord takes 25 characters."""
    if len(idem_key) <= NONCE_LIMIT:
        return idem_key
    return urlsafe_b64encode(hashlib.blake2b(idem_key.encode(), digest_size=18).digest()).decode()


def private_body(text: str) -> Body:
    """A message that only the person sees who pressed or called."""
    return {"content": text, "flags": EPHEMERAL, "allowed_mentions": _NOBODY}


def tokens_in(components: Sequence[Any]) -> tuple[str, ...]:
    """The ids of all buttons in the rows of a message, in order."""
    return tuple(str(button.get("custom_id")) for row in components for button in row.get("components") or ())


def _rows(buttons: Sequence[Sequence[Button]]) -> list[Body]:
    """Rows of at most five buttons; a longer one goes on in the next."""
    rows = [row[at : at + ROW_LIMIT] for row in buttons for at in range(0, len(row), ROW_LIMIT)]
    return [{"type": 1, "components": [_button(button) for button in row]} for row in rows]


def _button(button: Button) -> Body:
    return {
        "type": 2,
        "style": _STYLES[button.style],
        "label": button.label[:LABEL_LIMIT],
        "custom_id": button.token,
    }
