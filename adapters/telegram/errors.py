"""What Telegram's refusals mean for one message, and for the connection.

Telegram names most refusals in words only; the words are those of its server
(https://github.com/tdlib/telegram-bot-api) and of reports about it. python-telegram-bot changes their case,
so they are compared without.
"""

from collections.abc import Awaitable
from datetime import timedelta
from typing import TypeVar

from telegram.error import (
    BadRequest,
    ChatMigrated,
    Conflict,
    Forbidden,
    InvalidToken,
    NetworkError,
    RetryAfter,
    TelegramError,
    TimedOut,
)

from adapters.telegram.transport import ConnectError
from gateway.errors import (
    AccessRefused,
    AdapterError,
    ConnectionLost,
    FileTooLarge,
    MessageRejected,
    NotSent,
    OutcomeUnknown,
    RateLimited,
    SendError,
    TargetGone,
)

# A 429 without `retry_after` comes from something before Telegram; this is a guess.
_UNSTATED_WAIT_S = 5.0

Sent = TypeVar("Sent")

TOO_BIG = "larger than 20 MB, the most Telegram lets a bot fetch"
"""https://core.telegram.org/bots/api#getfile (2026); a Bot API server of one's own has no such limit."""

_NOT_OURS = "Telegram refuses the token"

_GONE = (
    "chat not found",
    "user not found",
    "peer_id_invalid",
    "group chat was deactivated",
    "chat was deleted",
    "chat_write_forbidden",
    "have no rights to send",
    "not enough rights to send",
    "need administrator rights in the channel",
)
_MARKUP = ("can't parse", "entity", "entities")


async def sending(request: Awaitable[Sent]) -> Sent:
    """The request's result; what Telegram's library raises is raised as one of the gateway's `SendError`s."""
    try:
        return await request
    except TelegramError as error:
        failure = to_send_error(error)
    raise failure  # outside the handler: the library's own error may carry the token


def to_send_error(error: TelegramError) -> SendError:
    """What a failed request about one message says of that message."""
    text = error.message
    match error:
        case RetryAfter():
            return RateLimited(retry_after_s(error))
        case ChatMigrated():
            return TargetGone(
                f"the group became a supergroup: {error.new_chat_id}", moved_to=str(error.new_chat_id)
            )
        case Forbidden():
            return TargetGone(text)
        case InvalidToken():
            return NotSent(_NOT_OURS)
        case BadRequest() if "file is too big" in text.casefold():
            return FileTooLarge(TOO_BIG)
        case BadRequest():
            return _refused(text)
        case ConnectError():
            return NotSent(f"no connection to Telegram: {text}")
        case NetworkError() if "too many requests" in text.casefold():
            return RateLimited(_UNSTATED_WAIT_S)
        case NetworkError() if "entity too large" in text.casefold():
            return MessageRejected(text)  # 413: a file larger than the server takes
        case _:
            return OutcomeUnknown(text)


def _refused(text: str) -> SendError:
    words = text.casefold()
    if any(phrase in words for phrase in _GONE):
        return TargetGone(text)
    return MessageRejected(text, markup=any(phrase in words for phrase in _MARKUP))


def is_unmodified(error: SendError) -> bool:
    """Whether an edit was refused because the message stands so already."""
    return isinstance(error, MessageRejected) and "message is not modified" in str(error).casefold()


def is_refused_token(error: SendError) -> bool:
    """Whether the token was refused, or the method is not known: the answer is the same."""
    return isinstance(error, NotSent) and str(error) == _NOT_OURS


def retry_after_s(error: RetryAfter) -> float:
    """The wait Telegram asks for; the library gives a number or, if so set, a time span."""
    wait = error.retry_after
    return wait.total_seconds() if isinstance(wait, timedelta) else float(wait)


def to_adapter_error(error: TelegramError, account: str, api_base: str) -> AdapterError:
    """What a failed connection or poll says to the person who runs the bot."""
    match error:
        case InvalidToken():
            return AccessRefused(
                f"Telegram refuses the token of bot {account}: check telegram.token (ask @BotFather for it)"
                + _also(api_base)
            )
        case Conflict():
            return ConnectionLost(
                f"another program polls as bot {account}: stop it, or give each its own bot ({error.message})"
            )
        case ConnectError():
            return ConnectionLost(f"cannot reach Telegram at {api_base}: {error.message}")
        case TimedOut():
            return ConnectionLost(f"Telegram did not answer in time: {error.message}")
        case NetworkError():
            return ConnectionLost(f"the connection to Telegram broke: {error.message}")
        case _:
            return ConnectionLost(f"Telegram answered: {error.message}")


def _also(api_base: str) -> str:
    return "" if "api.telegram.org" in api_base else f" and telegram.api_base ({api_base})"
