"""What Discord's answers mean for one message, and for the connection.

Codes: https://docs.discord.com/developers/topics/opcodes-and-status-codes (read 2026).
"""

import json
from typing import Any

import aiohttp
import discord

from gateway.errors import (
    AccessRefused,
    AdapterError,
    ConnectionLost,
    MessageRejected,
    NotSent,
    OutcomeUnknown,
    ParleyError,
    RateLimited,
    SendError,
    TargetGone,
)

UNSTATED_WAIT_S = 5.0
"""For a 429 from the network before Discord, which says nothing; this is a guess."""

_BAD_TOKEN, _NOT_ALLOWED_INTENTS = 4004, 4014
_GONE = frozenset(
    {
        10003,  # unknown channel
        10004,  # unknown guild
        50001,  # missing access
        50007,  # cannot send messages to this user
        50013,  # missing permissions
        50083,  # the thread is archived
        50278,  # no guild in common with this user
    }
)

PORTAL = "https://discord.com/developers/applications"


async def check(response: aiohttp.ClientResponse) -> None:
    """Pass an answer that says yes.

    Raises:
        SendError: the answer says no.
    """
    if response.status < 300:
        return
    text = await response.text()
    try:
        body = json.loads(text)
    except ValueError:
        body = None
    raise to_send_error(response.status, body if isinstance(body, dict) else {}, dict(response.headers))


def to_send_error(status: int, body: dict[str, Any], headers: dict[str, str]) -> SendError:
    """What a refusal says of the message it is about; `body` is {} if it was no JSON object."""
    code, said = body.get("code", 0), str(body.get("message", f"status {status}"))
    reason = f"{said} ({code})" if code else said
    if status == 429:
        return RateLimited(float(body.get("retry_after") or headers.get("Retry-After") or UNSTATED_WAIT_S))
    if status >= 500:
        return OutcomeUnknown(reason)
    if status == 401:
        return NotSent("Discord refuses the token")
    if code in _GONE:
        return TargetGone(reason)
    if status == 403 and not code:
        return NotSent(f"refused before Discord read it: {reason}")
    return MessageRejected(_named(reason, body))


def from_transport(error: Exception) -> SendError:
    """What a request without an answer says: whether Discord can have read it."""
    name = type(error).__name__
    if isinstance(
        error,
        aiohttp.ConnectionTimeoutError
        | aiohttp.ClientConnectorError
        | aiohttp.ClientConnectorCertificateError
        | aiohttp.ClientHttpProxyError
        | aiohttp.InvalidURL,
    ):
        return NotSent(f"no connection to Discord: {name}")
    return OutcomeUnknown(name)


def to_adapter_error(error: Exception, account: str, api_base: str) -> AdapterError:
    """What a failed connection says to the person who runs the bot."""
    match error:
        case AdapterError():
            return error
        case discord.LoginFailure():
            return _bad_token(account, api_base)
        case discord.ConnectionClosed(code=code):
            return _closed(code, account, api_base)
        case discord.HTTPException():
            return ConnectionLost(f"Discord answered {error.status} at {api_base}")
        case ParleyError():
            return ConnectionLost(f"connecting to Discord failed: {error}")
        case _:
            return ConnectionLost(f"the connection to Discord broke: {type(error).__name__}")


def _closed(code: int, account: str, api_base: str) -> AdapterError:
    if code == _BAD_TOKEN:
        return _bad_token(account, api_base)
    if code == _NOT_ALLOWED_INTENTS:
        return AccessRefused(
            f"Discord does not let bot {account} read messages: switch on MESSAGE CONTENT INTENT at {PORTAL}"
            " (your application, Bot, Privileged Gateway Intents)"
        )
    return ConnectionLost(f"Discord closed the connection with {code}")


def _bad_token(account: str, api_base: str) -> AccessRefused:
    also = "" if "//discord.com/" in api_base else f" and discord.api_base ({api_base})"
    return AccessRefused(
        f"Discord refuses the token of bot {account}: check discord.token (reset it at {PORTAL}, Bot){also}"
    )


def _named(reason: str, body: dict[str, Any]) -> str:
    """The reason, with the fields of a form that are wrong."""
    errors = body.get("errors")
    return f"{reason}: {json.dumps(errors)[:300]}" if errors else reason
