"""The values that cross the control socket, to JSON and back; the codec of documents is `gateway.document`'s."""

from datetime import datetime
from typing import Any

from gateway.document import from_json, to_json
from gateway.messages import Button, ButtonPress, InboundMessage, OutboundMessage, PressAnswer, Target, Update
from gateway.source import SessionSource


def message_to_json(message: OutboundMessage) -> dict[str, Any]:
    """A message to show; its target is the terminal itself."""
    return {
        "body": to_json(message.body),
        "key": message.idem_key,
        "buttons": [[[b.label, b.token, b.style] for b in line] for line in message.buttons],
        "plain": message.plain,
    }


def message_from_json(raw: dict[str, Any], target: Target) -> OutboundMessage:
    """Back from `message_to_json`.

    Raises:
        ValueError, LookupError, TypeError: it is none.
    """
    return OutboundMessage(
        target=target,
        body=from_json(raw["body"]),
        idem_key=str(raw["key"]),
        buttons=tuple(
            tuple(Button(label=label, token=token, style=style) for label, token, style in line)
            for line in raw["buttons"]
        ),
        plain=bool(raw["plain"]),
    )


def update_to_json(update: Update) -> dict[str, Any]:
    """What a person at a terminal did: words or a press, without a source, which the daemon knows itself."""
    match update:
        case InboundMessage():
            return {"id": update.id, "text": update.text, "sent_at": update.sent_at.isoformat()}
        case ButtonPress():
            return {"id": update.id, "token": update.token}
        case _:
            raise TypeError(f"a terminal makes no {type(update).__name__}")


def update_from_json(raw: dict[str, Any], source: SessionSource) -> Update:
    """Back from `update_to_json`, as done by `source`.

    Raises:
        ValueError, LookupError, TypeError: it is none.
    """
    number = str(raw["id"])
    if "token" in raw:
        return ButtonPress(id=number, source=source, token=str(raw["token"]))
    sent_at = datetime.fromisoformat(raw["sent_at"])
    if sent_at.tzinfo is None:
        raise ValueError("sent_at has no time zone")
    return InboundMessage(id=number, message_id=number, source=source, text=str(raw["text"]), sent_at=sent_at)


def answer_to_json(answer: PressAnswer | None) -> dict[str, Any] | None:
    """What a presser is told."""
    return None if answer is None else {"text": answer.text, "alert": answer.alert}


def answer_from_json(raw: dict[str, Any] | None) -> PressAnswer | None:
    """Back from `answer_to_json`."""
    return None if raw is None else PressAnswer(text=str(raw["text"]), alert=bool(raw["alert"]))
