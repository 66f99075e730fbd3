"""Inline keyboards as the platform accepts them."""

from typing import Any

from .errors import bad_request
from .params import Params
from .records import Button, Keyboard

CALLBACK_DATA_LIMIT_BYTES = 64
BUTTON_LIMIT = 100
_ACTION_LIST = """
callback_data url web_app login_url switch_inline_query switch_inline_query_current_chat
switch_inline_query_chosen_chat copy_text callback_game pay
"""
_ACTIONS = frozenset(_ACTION_LIST.split())


def read_keyboard(params: Params) -> Keyboard | None:
    """The inline keyboard of a request; None without one. Other kinds of markup are accepted and not shown.

    Raises:
        ApiError: 400, in the server's words or with BUTTON_DATA_INVALID for callback data not of 1–64 bytes.
    """
    markup = params.json("reply_markup")
    if not markup:
        return None
    if not isinstance(markup, dict):
        raise bad_request("object expected as reply markup")
    if "inline_keyboard" not in markup:
        return None
    rows = markup["inline_keyboard"]
    if not isinstance(rows, list) or not all(isinstance(row, list) for row in rows):
        raise bad_request('field "inline_keyboard" of the InlineKeyboardMarkup should be an Array of Arrays')
    keyboard = tuple(tuple(_read_button(button) for button in row) for row in rows if row)
    if sum(len(row) for row in keyboard) > BUTTON_LIMIT:
        raise bad_request("REPLY_MARKUP_TOO_LONG")
    return keyboard


def _read_button(button: Any) -> Button:
    if not isinstance(button, dict) or not isinstance(button.get("text"), str):
        raise bad_request('can\'t parse inline keyboard button: Field "text" must be of type String')
    if not button["text"].strip():
        raise bad_request("can't parse inline keyboard button: Inline keyboard button text must be non-empty")
    if not any(action in button for action in _ACTIONS):
        raise bad_request(
            "can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard"
        )
    data = button.get("callback_data")
    if data is not None and not 1 <= len(str(data).encode()) <= CALLBACK_DATA_LIMIT_BYTES:
        raise bad_request("BUTTON_DATA_INVALID")
    url = button.get("url")
    if url is not None and "." not in url and "://" not in url:
        raise bad_request("BUTTON_URL_INVALID")
    return Button(text=button["text"], callback_data=data, url=url, raw=button)
