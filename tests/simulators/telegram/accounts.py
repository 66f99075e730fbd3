"""The Bot API methods about the bot itself, its updates, commands, chats and files."""

import json
import re
from typing import Any

from .errors import ApiError, bad_request
from .params import Params
from .payloads import chat_payload, file_payload, user_payload
from .updates import UPDATE_LIMIT
from .world import Account, World

POLL_LIMIT_S = 50
DOWNLOAD_LIMIT_BYTES = 20 * 1024 * 1024


async def get_updates(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`getUpdates`."""
    if account.webhook_url:
        raise ApiError(
            409,
            "Conflict: can't use getUpdates method while webhook is active; "
            "use deleteWebhook to delete the webhook first",
        )
    if (allowed := params.json("allowed_updates")) is not None:
        account.updates.set_allowed(allowed)
    limit = params.integer("limit", UPDATE_LIMIT)
    timeout_s = min(max(params.integer("timeout"), 0), POLL_LIMIT_S)
    limit = limit if 1 <= limit <= UPDATE_LIMIT else UPDATE_LIMIT
    updates = await account.updates.poll(params.integer("offset"), limit, timeout_s)
    return [update.body() for update in updates]


def get_me(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`getMe`."""
    return user_payload(account.user) | {
        "can_join_groups": True,
        "can_read_all_group_messages": account.reads_all,
        "supports_inline_queries": False,
    }


def set_webhook(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`setWebhook`; the simulator also takes plain http addresses, as a local Bot API server does."""
    url = params.text("url")
    secret = params.text("secret_token")
    if url and not re.match(r"https?://[^/]+", url):
        raise bad_request("bad webhook: An HTTPS URL must be provided for webhook")
    if secret and not re.fullmatch(r"[A-Za-z0-9_-]{1,256}", secret):
        raise bad_request("secret token contains unallowed characters")
    if (allowed := params.json("allowed_updates")) is not None:
        account.updates.set_allowed(allowed)
    if params.flag("drop_pending_updates"):
        account.updates.pending.clear()
    account.updates.end_poll()
    account.webhook_url, account.webhook_secret, account.webhook_error = url, secret, ""
    if url:
        world.webhook_was_set.set()
    return True


def delete_webhook(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`deleteWebhook`."""
    if params.flag("drop_pending_updates"):
        account.updates.pending.clear()
    account.webhook_url = account.webhook_secret = account.webhook_error = ""
    return True


def get_webhook_info(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`getWebhookInfo`."""
    info = {
        "url": account.webhook_url,
        "has_custom_certificate": False,
        "pending_update_count": len(account.updates.pending),
    }
    if account.updates.allowed is not None:
        info["allowed_updates"] = sorted(account.updates.allowed)
    if account.webhook_error:
        info |= {"last_error_date": world.now(), "last_error_message": account.webhook_error}
    return info


def set_my_commands(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`setMyCommands`.

    Names of 1–32 small letters, digits and underscores, descriptions of 1–256 characters.
    """
    commands = params.json("commands") or []
    if len(commands) > 100:
        raise bad_request("BOT_COMMANDS_TOO_MUCH")
    for command in commands:
        if not re.fullmatch(r"[a-z0-9_]{1,32}", command.get("command", "")):
            raise bad_request("BOT_COMMAND_INVALID")
        if not 1 <= len(command.get("description", "")) <= 256:
            raise bad_request("BOT_COMMAND_DESCRIPTION_INVALID")
    account.commands[_scope(params)] = commands
    return True


def get_my_commands(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`getMyCommands`."""
    return account.commands.get(_scope(params), [])


def delete_my_commands(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`deleteMyCommands`."""
    account.commands.pop(_scope(params), None)
    return True


def get_file(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`getFile`: up to 20 MB."""
    file = world.files.get(params.text("file_id"))
    if file is None:
        raise bad_request("wrong file_id or the file is temporarily unavailable")
    if file.size_bytes > DOWNLOAD_LIMIT_BYTES:
        raise bad_request("file is too big")
    return file_payload(file) | {"file_path": file.path}


def get_chat(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`getChat`: the fields every chat has."""
    chat = world.chat_to_write(account, params.text("chat_id"))
    return chat_payload(chat) | {
        "accent_color_id": 0,
        "max_reaction_count": 11,
        "accepted_gift_types": dict.fromkeys(
            [
                "unlimited_gifts",
                "limited_gifts",
                "unique_gifts",
                "premium_subscription",
                "gifts_from_channels",
            ],
            True,
        ),
    }


def get_chat_member(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`getChatMember`."""
    chat = world.chat_to_write(account, params.text("chat_id"))
    user_id = params.integer("user_id")
    if user_id == account.user.id:
        return {"status": "member", "user": user_payload(account.user)}
    user = world.users.get(user_id)
    if user is None:
        raise bad_request("invalid user_id specified")
    return {"status": "member" if user_id in chat.members else "left", "user": user_payload(user)}


def _scope(params: Params) -> str:
    scope = params.json("scope") or {"type": "default"}
    return json.dumps([scope, params.text("language_code")], sort_keys=True)
