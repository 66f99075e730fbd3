"""A file as the payload of an outbox row holds it: as durable as the row's words, on any node that sends it."""

import base64
from typing import Any

from gateway.messages import OutboundFile


def to_json(file: OutboundFile | None) -> dict[str, str] | None:
    """A file's name, kind and content; text stays readable for whoever looks into the table."""
    if file is None:
        return None
    about = {"name": file.name, "mime_type": file.mime_type}
    if file.mime_type.startswith("text/"):
        try:
            return about | {"text": file.data.decode()}
        except UnicodeDecodeError:
            pass
    return about | {"base64": base64.b64encode(file.data).decode()}


def from_json(raw: dict[str, Any] | None) -> OutboundFile | None:
    """Back from `to_json`.

    Raises:
        ValueError, LookupError, TypeError: it is none.
    """
    if raw is None:
        return None
    data = raw["text"].encode() if "text" in raw else base64.b64decode(raw["base64"], validate=True)
    return OutboundFile(name=str(raw["name"]), mime_type=str(raw["mime_type"]), data=data)
