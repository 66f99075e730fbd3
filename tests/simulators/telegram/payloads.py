"""The Bot API's JSON for our records. Pure."""

from typing import Any

from .records import Button, Chat, Message, Press, StoredFile, User


def user_payload(user: User) -> dict[str, Any]:
    """`User`."""
    payload: dict[str, Any] = {"id": user.id, "is_bot": user.is_bot, "first_name": user.first_name}
    if user.username:
        payload["username"] = user.username
    if not user.is_bot:
        payload["language_code"] = user.language_code
    return payload


def chat_payload(chat: Chat) -> dict[str, Any]:
    """`Chat`."""
    payload: dict[str, Any] = {"id": chat.id, "type": chat.kind}
    if chat.kind == "private":
        payload["first_name"] = chat.title
    else:
        payload["title"] = chat.title
    if chat.username:
        payload["username"] = chat.username
    if chat.is_forum:
        payload["is_forum"] = True
    return payload


def button_payload(button: Button) -> dict[str, Any]:
    """`InlineKeyboardButton`."""
    return dict(button.raw)


def file_payload(file: StoredFile) -> dict[str, Any]:
    """What all kinds of files have in common."""
    return {"file_id": file.file_id, "file_unique_id": f"u{file.file_id[-12:]}", "file_size": file.size_bytes}


def message_payload(message: Message, *, with_reply: bool = True) -> dict[str, Any]:
    """`Message`. As on the platform, the message replied to comes without its own reply."""
    payload: dict[str, Any] = {
        "message_id": message.id,
        "from": user_payload(message.sender),
        "chat": chat_payload(message.chat),
        "date": message.date,
    }
    payload |= _place_payload(message, with_reply)
    payload |= _content_payload(message)
    if message.edited_at is not None:
        payload["edit_date"] = message.edited_at
    if message.album:
        payload["media_group_id"] = message.album
    if message.buttons:
        rows = [[button_payload(button) for button in row] for row in message.buttons]
        payload["reply_markup"] = {"inline_keyboard": rows}
    return payload | message.service


def _place_payload(message: Message, with_reply: bool) -> dict[str, Any]:
    """Thread and reply.

    Two habits of the platform that catch gateways: in a topic every message without a reply of its own
    "replies" to the service message that opened the topic; in a supergroup without topics a reply carries a
    `message_thread_id` (the thread's first message), but no `is_topic_message`.
    """
    chat, reply = message.chat, message.reply_to
    payload: dict[str, Any] = {}
    if message.thread is not None:
        payload |= {"message_thread_id": message.thread, "is_topic_message": True}
        if reply is None:
            reply = chat.messages.get(message.thread)
    elif reply is not None and chat.kind == "supergroup":
        payload["message_thread_id"] = message.root
    if with_reply and reply is not None and not reply.is_deleted and reply is not message:
        payload["reply_to_message"] = message_payload(reply, with_reply=False)
        if message.quote:
            payload["quote"] = {"text": message.quote, "position": 0}
    return payload


def _content_payload(message: Message) -> dict[str, Any]:
    entities = [entity.payload() for entity in message.entities]
    if message.file is None:
        payload: dict[str, Any] = {"text": message.text} if message.text else {}
        return payload | ({"entities": entities} if entities else {})
    payload = media_payload(message.file_kind or "document", message.file)
    if message.text:
        payload["caption"] = message.text
    if entities:
        payload["caption_entities"] = entities
    return payload


def media_payload(kind: str, file: StoredFile) -> dict[str, Any]:
    """The field of a message that carries a file of this kind."""
    common = file_payload(file)
    match kind:
        case "photo":
            return {"photo": [common | {"width": 90, "height": 90}]}
        case "voice":
            return {"voice": common | {"duration": 1, "mime_type": file.mime}}
        case "audio":
            return {"audio": common | {"duration": 1, "mime_type": file.mime, "file_name": file.name}}
        case "video" | "animation":
            size = {"width": 90, "height": 90, "duration": 1}
            return {kind: common | size | {"mime_type": file.mime, "file_name": file.name}}
        case _:
            return {"document": common | {"mime_type": file.mime, "file_name": file.name}}


def press_payload(press: Press) -> dict[str, Any]:
    """`CallbackQuery`; of a deleted message only its place is known (`InaccessibleMessage`)."""
    message = press.message
    gone = {"chat": chat_payload(message.chat), "message_id": message.id, "date": 0}
    return {
        "id": press.id,
        "from": user_payload(press.user),
        "message": gone if message.is_deleted else message_payload(message),
        "chat_instance": str(message.chat.id),
        "data": press.data,
    }
