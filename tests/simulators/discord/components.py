"""Rows of buttons as the API accepts them.

https://docs.discord.com/developers/components/reference (read 2026).
"""

from typing import Any

from .errors import invalid_form
from .records import Button, Rows

ROWS, BUTTONS, LABEL, CUSTOM_ID = 5, 5, 80, 100
LINK = 5


def read_components(raw: Any) -> Rows:
    """The rows of a request.

    Raises:
        ApiError: 50035, for too many, too long or doubled ones.
    """
    if not raw:
        return ()
    if not isinstance(raw, list) or len(raw) > ROWS:
        raise invalid_form("components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {ROWS} in length.")
    rows = tuple(_row(row, f"components.{number}") for number, row in enumerate(raw))
    ids = [button.custom_id for row in rows for button in row if button.custom_id]
    if len(set(ids)) < len(ids):
        raise invalid_form(
            "components",
            "COMPONENT_CUSTOM_ID_DUPLICATED",
            "Component custom id cannot be duplicated",
        )
    return rows


def _row(raw: Any, where: str) -> tuple[Button, ...]:
    if not isinstance(raw, dict) or raw.get("type") != 1:
        raise invalid_form(where, "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (1,).')
    buttons = raw.get("components") or []
    if not 1 <= len(buttons) <= BUTTONS:
        raise invalid_form(
            f"{where}.components", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {BUTTONS} in length."
        )
    return tuple(_button(one, f"{where}.components.{place}") for place, one in enumerate(buttons))


def _button(raw: Any, where: str) -> Button:
    if not isinstance(raw, dict) or raw.get("type") != 2:
        raise invalid_form(where, "UNION_TYPE_CHOICES", "Only buttons are known here.")
    style, label = raw.get("style"), str(raw.get("label") or "")
    if style not in {1, 2, 3, 4, LINK}:
        raise invalid_form(f"{where}.style", "BASE_TYPE_CHOICES", "Value must be one of {1, 2, 3, 4, 5, 6}.")
    if len(label) > LABEL:
        raise invalid_form(f"{where}.label", "BASE_TYPE_MAX_LENGTH", f"Must be {LABEL} or fewer in length.")
    if not label and not raw.get("emoji"):
        raise invalid_form(where, "BUTTON_COMPONENT_INVALID", "A button must have a label or emoji")
    custom_id, url = raw.get("custom_id"), raw.get("url")
    if style == LINK:
        if not url or custom_id:
            raise invalid_form(where, "BUTTON_COMPONENT_INVALID_URL", "A url is required")
    elif not custom_id or url:
        raise invalid_form(where, "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED", "A custom id is required")
    if custom_id is not None and not 1 <= len(custom_id) <= CUSTOM_ID:
        raise invalid_form(
            f"{where}.custom_id", "BASE_TYPE_BAD_LENGTH", f"Must be between 1 and {CUSTOM_ID} in length."
        )
    return Button(
        label=label, custom_id=custom_id, style=style, url=url, is_disabled=bool(raw.get("disabled"))
    )
