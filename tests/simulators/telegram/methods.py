"""The table of Bot API methods the simulator knows; names are case-insensitive, as on the platform."""

from collections.abc import Callable
from functools import partial
from typing import Any

from . import accounts, editing, sending
from .params import Params
from .world import Account, World

Method = Callable[[World, Account, Params, float], Any]
"""World, bot, parameters, monotonic time of the request → the result, or an awaitable of it.

Raises `ApiError`.
"""

FILE_KINDS = ("document", "photo", "voice", "audio", "video", "animation")

METHODS: dict[str, Method] = {
    "getme": accounts.get_me,
    "getupdates": accounts.get_updates,
    "setwebhook": accounts.set_webhook,
    "deletewebhook": accounts.delete_webhook,
    "getwebhookinfo": accounts.get_webhook_info,
    "setmycommands": accounts.set_my_commands,
    "getmycommands": accounts.get_my_commands,
    "deletemycommands": accounts.delete_my_commands,
    "getfile": accounts.get_file,
    "getchat": accounts.get_chat,
    "getchatmember": accounts.get_chat_member,
    "sendmessage": sending.send_message,
    "sendmessagedraft": sending.send_message_draft,
    "sendchataction": sending.send_chat_action,
    "sendmediagroup": sending.send_media_group,
    "editmessagetext": editing.edit_message_text,
    "editmessagecaption": editing.edit_message_caption,
    "editmessagereplymarkup": editing.edit_message_reply_markup,
    "deletemessage": editing.delete_message,
    "setmessagereaction": editing.set_message_reaction,
    "answercallbackquery": editing.answer_callback_query,
} | {f"send{kind}": partial(sending.send_file, kind) for kind in FILE_KINDS}
