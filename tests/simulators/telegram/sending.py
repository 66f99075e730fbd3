"""The Bot API methods that make messages: sendMessage, files, drafts, chat actions."""

import mimetypes
from dataclasses import replace
from typing import Any

from .entities import read_caption, read_text
from .errors import ApiError, bad_request
from .keyboards import read_keyboard
from .params import Params, Upload
from .payloads import message_payload
from .records import GENERAL_TOPIC, Chat, Draft, Message, StoredFile
from .world import Account, World

_ACTION_LIST = """
typing upload_photo record_video upload_video record_voice upload_voice upload_document choose_sticker
find_location record_video_note upload_video_note
"""
CHAT_ACTIONS = frozenset(_ACTION_LIST.split())
UPLOAD_LIMIT_BYTES = 50 * 1024 * 1024
PHOTO_LIMIT_BYTES = 10 * 1024 * 1024
_IMAGE_HEADS = (b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"BM")


def send_message(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`sendMessage`."""
    shown = read_text(world, params)
    fields = _read_place(world, account, params)
    message = world.post(
        fields.pop("chat"),
        account.user,
        at_s,
        text=shown.text,
        entities=shown.entities,
        link_preview=params.json("link_preview_options"),
        **fields,
    )
    return message_payload(message)


def send_file(kind: str, world: World, account: Account, params: Params, at_s: float) -> Any:
    """`sendDocument`, `sendPhoto`, `sendVoice`, `sendAudio`, `sendVideo`, `sendAnimation`."""
    shown = read_caption(world, params)
    fields = _read_place(world, account, params)
    file = _read_file(world, params, kind, params.text(kind))
    message = world.post(
        fields.pop("chat"),
        account.user,
        at_s,
        text=shown.text,
        entities=shown.entities,
        file=file,
        file_kind=kind,
        **fields,
    )
    return message_payload(message)


def send_media_group(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`sendMediaGroup`: one message for each item, joined by a media_group_id."""
    items = params.json("media")
    if not isinstance(items, list) or not 2 <= len(items) <= 10:
        raise (
            bad_request("media must contain 2-10 items")
            if items
            else bad_request("there are no messages to send")
        )
    parts = []
    for item in items:
        shown = read_caption(world, replace(params, values=item))
        parts.append((shown, _read_file(world, params, item["type"], item["media"]), item["type"]))
    fields = _read_place(world, account, params)
    chat, album = fields.pop("chat"), f"album{next(world.ids)}"
    messages = [
        world.post(
            chat,
            account.user,
            at_s,
            text=shown.text,
            entities=shown.entities,
            file=file,
            file_kind=kind,
            album=album,
            **fields,
        )
        for shown, file, kind in parts
    ]
    return [message_payload(message) for message in messages]


def send_chat_action(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`sendChatAction`."""
    action = params.text("action").lower()
    if action not in CHAT_ACTIONS:
        raise bad_request("wrong parameter action in request")
    chat = world.chat_to_write(account, params.text("chat_id"))
    _read_thread(chat, params, general_is_named=True)
    chat.actions.append(action)
    return True


def send_message_draft(world: World, account: Account, params: Params, at_s: float) -> Any:
    """`sendMessageDraft` (Bot API 9.3).

    Shows a partial reply in a private chat; gone with the next message.
    """
    if not params.integer("draft_id"):
        raise bad_request("draft_id must be non-zero")
    shown = read_text(world, params)
    chat = world.chat_to_write(account, params.text("chat_id"))
    if chat.kind != "private":
        raise bad_request("message drafts can be sent only to private chats")
    draft = Draft(draft_id=params.integer("draft_id"), text=shown.text, entities=shown.entities, at_s=at_s)
    chat.drafts.append(draft)
    return True


def store_file(world: World, kind: str, upload: Upload, claimed_bytes: int | None = None) -> StoredFile:
    """Keep a file under a fresh id."""
    number = next(world.ids)
    suffix = "." + upload.name.rpartition(".")[2] if "." in upload.name else ""
    file = StoredFile(
        file_id=f"BQACAgIAAxkBAAI{number:012d}",
        path=f"{kind}s/file_{number}{suffix}",
        name=upload.name,
        mime=upload.mime or mimetypes.guess_type(upload.name)[0] or "application/octet-stream",
        content=upload.content,
        size_bytes=len(upload.content) if claimed_bytes is None else claimed_bytes,
    )
    world.files[file.file_id] = file
    return file


def _read_file(world: World, params: Params, kind: str, value: str) -> StoredFile:
    """A new upload (under the kind's own name or `attach://NAME`) or the id of a file already known."""
    name = value.removeprefix("attach://") if value.startswith("attach://") else kind
    upload = params.uploads.get(name)
    if upload is None:
        if value in world.files:
            return world.files[value]
        raise bad_request(
            "wrong remote file identifier specified: Wrong string length"
            if value
            else f"there is no {kind} in the request"
        )
    if not upload.content:
        raise bad_request("file must be non-empty")
    if len(upload.content) > UPLOAD_LIMIT_BYTES:
        raise ApiError(413, "Request Entity Too Large")
    if kind == "photo":
        if len(upload.content) > PHOTO_LIMIT_BYTES:
            raise bad_request(
                f"file of size {len(upload.content)} bytes is too big for a photo; "
                f"the maximum size is {PHOTO_LIMIT_BYTES} bytes"
            )
        if not upload.content.startswith(_IMAGE_HEADS):
            raise bad_request("IMAGE_PROCESS_FAILED")
    return store_file(world, kind, upload)


def _read_place(world: World, account: Account, params: Params) -> dict[str, Any]:
    """Where a message goes and what it carries beside its content, as fields of `Message`."""
    keyboard = read_keyboard(params)
    chat = world.chat_to_write(account, params.text("chat_id"))
    thread = _read_thread(chat, params, general_is_named=False)
    reply, quote = _read_reply(chat, params)
    if thread is None and reply is not None:
        thread = reply.thread  # an answer within a topic stays there
    return {
        "chat": chat,
        "thread": thread,
        "reply_to": reply,
        "quote": quote,
        "buttons": keyboard or (),
        "is_silent": params.flag("disable_notification"),
    }


def _read_thread(chat: Chat, params: Params, *, general_is_named: bool) -> int | None:
    """The topic asked for.

    The General topic has the id 1, yet messages to it are refused with that id and must come without one,
    while chat actions need it (known behaviour of the server, tdlib/telegram-bot-api issue 447).
    """
    thread = params.integer("message_thread_id")
    if not thread or (thread == GENERAL_TOPIC and chat.is_forum and general_is_named):
        return None
    if thread not in chat.topics:
        raise bad_request("message thread not found")
    if chat.topics[thread].is_closed:
        raise bad_request("TOPIC_CLOSED")
    return thread


def _read_reply(chat: Chat, params: Params) -> tuple[Message | None, str | None]:
    asked = params.json("reply_parameters") or {}
    target = asked.get("message_id") or params.integer("reply_to_message_id")
    if not target:
        return None, None
    message = chat.messages.get(int(target))
    if message is None or message.is_deleted:
        if asked.get("allow_sending_without_reply") or params.flag("allow_sending_without_reply"):
            return None, None
        raise bad_request("message to be replied not found")
    quote = asked.get("quote")
    if quote and quote not in message.text:
        raise bad_request("QUOTE_TEXT_INVALID")
    return message, quote
