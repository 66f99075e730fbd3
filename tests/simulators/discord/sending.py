"""Messages as bots send, change and delete them.

https://docs.discord.com/developers/resources/message (read 2026). A text is stored without the white space
around it; what is cut off so counts as a violation.
"""

from collections.abc import Mapping
from typing import Any

from .components import read_components
from .errors import ApiError, invalid_form, unknown
from .mentions import pings_of
from .records import DM, EPHEMERAL, REPLY, Account, Channel, File, Message
from .world import World

TEXT, NONCE = 2_000, 25
FILES, FILE_LIMIT_BYTES = (
    10,
    10 * 1024 * 1024,
)  # https://docs.discord.com/developers/reference#uploading-files
NONCE_WINDOW_S = 300.0  # "the past few minutes"; the platform does not say how many
_SETTABLE_FLAGS = 4 | 4096  # SUPPRESS_EMBEDS, SUPPRESS_NOTIFICATIONS
EMPTY = (400, 50006, "Cannot send an empty message")

Body = Mapping[str, Any]


def create(
    world: World, account: Account, channel: Channel, body: Body, files: list[File], at_s: float
) -> Message:
    """Send a message, or give the one sent before with the same enforced nonce.

    Raises:
        ApiError: the platform's refusals, in its words.
    """
    check_access(channel, writing=True)
    nonce = body.get("nonce")
    if nonce is not None and len(str(nonce)) > NONCE:
        raise invalid_form("nonce", "BASE_TYPE_MAX_LENGTH", f"Must be {NONCE} or fewer in length.")
    if nonce is not None and body.get("enforce_nonce"):
        before = world.nonces.get((account.user.id, str(nonce)))
        if before is not None and at_s - before.at_s < NONCE_WINDOW_S:
            if before.is_deleted:
                raise unknown("Message")
            return before
    text, rows = read_text(world, body), read_components(body.get("components"))
    if len(files) > FILES or any(file.size_bytes > FILE_LIMIT_BYTES for file in files):
        raise ApiError(413, 40005, "Request entity too large")
    if not (text or files or body.get("embeds") or body.get("sticker_ids")):
        raise ApiError(*EMPTY)
    answered = _reference(channel, body.get("message_reference"))
    channel.is_archived = False
    message = world.post(
        channel,
        account.user,
        at_s,
        text=text,
        rows=rows,
        files=tuple(files),
        reference=answered,
        kind=0 if answered is None else REPLY,
        flags=int(body.get("flags") or 0) & _SETTABLE_FLAGS,
        nonce=nonce,
        pings=pings_of(text, body.get("allowed_mentions"), answered),
    )
    if nonce is not None:
        world.nonces[account.user.id, str(nonce)] = message
    return message


def edit(world: World, account: Account, message: Message, body: Body) -> Message:
    """Change a bot's own message; what the request does not name stays.

    Raises:
        ApiError: the platform's refusals.
    """
    check_access(message.channel, writing=False)
    if message.author.id != account.user.id:
        raise ApiError(403, 50005, "Cannot edit a message authored by another user")
    text = read_text(world, body) if "content" in body else message.text
    rows = read_components(body["components"]) if "components" in body else message.rows
    if not (text or message.files):
        raise ApiError(*EMPTY)
    pings_of(text, body.get("allowed_mentions"), None)
    message.earlier.append(message.text)
    message.text, message.rows, message.edited_at = text, rows, world.ids.now()
    if "flags" in body:
        message.flags = int(body["flags"] or 0) & _SETTABLE_FLAGS
    world.announce("MESSAGE_UPDATE", message)
    return message


def read_text(world: World, body: Body) -> str:
    """The content of a request, as it is shown.

    Raises:
        ApiError: 50035, over 2,000 characters.
    """
    given = body.get("content")
    if given is None:
        return ""
    if not isinstance(given, str):
        raise invalid_form("content", "STRING_TYPE_CONVERT", "Could not interpret as string.")
    text = given.strip()
    if len(text) > TEXT:
        raise invalid_form("content", "BASE_TYPE_MAX_LENGTH", f"Must be {TEXT} or fewer in length.")
    if text != given:
        world.recorder.violations["white space around a text was cut off"] += 1
    return text


def check_access(channel: Channel, *, writing: bool) -> None:
    """Whether a bot may look (and write) here.

    Raises:
        ApiError: 403.
    """
    if channel.is_hidden:
        raise ApiError(403, 50001, "Missing Access")
    if writing and channel.kind == DM and channel.is_blocked:
        raise ApiError(403, 50007, "Cannot send messages to this user")
    if writing and channel.is_mute:
        raise ApiError(403, 50013, "Missing Permissions")


def reads_flags(body: Body) -> bool:
    """Whether a response is for one person only."""
    return bool(int(body.get("flags") or 0) & EPHEMERAL)


def _reference(channel: Channel, raw: Any) -> Message | None:
    if not raw:
        return None
    answered = channel.messages.get(int(raw["message_id"]))
    if answered is not None and not answered.is_deleted:
        return answered
    if raw.get("fail_if_not_exists", True):
        raise invalid_form("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message")
    return None
