"""What Slack's refusals mean for one message, and for the connection.

Slack names refusals by a word (https://docs.slack.dev/reference/methods/chat.postMessage, 2026); what is not
named below refuses the message itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from gateway.errors import (
    AccessRefused,
    AdapterError,
    ConnectionLost,
    MessageRejected,
    NotSent,
    OutcomeUnknown,
    RateLimited,
    SendError,
    TargetGone,
)

CLIENT_ERRORS = (SlackApiError, aiohttp.ClientError, OSError)  # OSError: TimeoutError among them
"""All that a request of the client raises for reasons outside this program."""

# A 429 without Retry-After comes from something before Slack; this is a guess.
_UNSTATED_WAIT_S = 5.0

_GONE = frozenset(
    {
        "cannot_reply_to_message",
        "channel_not_found",
        "invalid_thread_ts",
        "is_archived",
        "messages_tab_disabled",
        "not_in_channel",
        "restricted_action",
        "restricted_action_non_threadable_channel",
        "restricted_action_read_only_channel",
        "thread_not_found",
        "user_disabled",
        "user_not_found",
    }
)
_MARKUP = frozenset({"invalid_blocks", "invalid_blocks_format", "msg_blocks_too_long"})
_ACCESS = frozenset(
    {
        "access_denied",
        "account_inactive",
        "ekm_access_denied",
        "forbidden_team",
        "invalid_auth",
        "missing_scope",
        "no_permission",
        "not_allowed_token_type",
        "not_authed",
        "org_login_required",
        "team_access_not_granted",
        "token_expired",
        "token_revoked",
        "two_factor_setup_required",
    }
)
# Slack's own trouble: "some aspect of the operation may have succeeded", says its documentation.
_UNKNOWN = frozenset({"fatal_error", "internal_error", "request_timeout", "service_unavailable"})


@contextmanager
def send_errors() -> Iterator[None]:
    """Raise what Slack's library raises as one of the gateway's `SendError`s."""
    try:
        yield
    except CLIENT_ERRORS as error:
        failure = to_send_error(error)
    else:
        return
    raise failure  # outside the handler: a response carries the request, the token included


@contextmanager
def already(code: str) -> Iterator[None]:
    """Pass over this one refusal: it says that what was asked for is so already."""
    try:
        yield
    except MessageRejected as error:
        if str(error) != code:
            raise


def to_send_error(error: Exception) -> SendError:
    """What a failed request about one message says of that message."""
    if not isinstance(error, SlackApiError):
        name = type(error).__name__
        return NotSent(f"no connection to Slack: {name}") if _is_unsent(error) else OutcomeUnknown(name)
    code = error_code(error)
    if code == "ratelimited" or status(error) == 429:
        return RateLimited(retry_after_s(error))
    if not code or status(error) >= 500 or code in _UNKNOWN:
        return OutcomeUnknown(f"Slack answered {status(error)} {code}".rstrip())
    if code in _ACCESS:
        return NotSent(told_access(error))
    if code in _GONE:
        return TargetGone(code)
    return MessageRejected(_with_reasons(error), markup=code in _MARKUP)


def to_adapter_error(error: Exception, api_base: str) -> AdapterError:
    """What a failed connection says to the person who runs the bot."""
    if not isinstance(error, SlackApiError):
        return ConnectionLost(f"cannot reach Slack at {api_base}: {type(error).__name__}")
    code = error_code(error)
    if code in _ACCESS:
        also = "" if "slack.com" in api_base else f" (slack.api_base is {api_base})"
        return AccessRefused(told_access(error) + also)
    return ConnectionLost(f"Slack answered: {code or status(error)}")


def told_access(error: SlackApiError) -> str:
    """Why the tokens do not do, and what to change."""
    code, needed = error_code(error), _field(error, "needed")
    match code:
        case "missing_scope":
            return (
                f"Slack: the app lacks the scope {needed or 'it needs'}: add it under OAuth & Permissions"
                " and install the app again"
            )
        case "not_allowed_token_type":
            return "Slack refuses this kind of token: bot_token begins with xoxb-, app_token with xapp-"
        case _:
            return f"Slack refuses the token ({code}): check slack.bot_token and slack.app_token"


def error_code(error: SlackApiError) -> str:
    """Slack's word for the refusal, "" if the answer was not Slack's."""
    return _field(error, "error")


def status(error: SlackApiError) -> int:
    """The HTTP status of the answer."""
    response = error.response
    return int(response.status_code if isinstance(response, AsyncSlackResponse) else response.status)


def retry_after_s(error: SlackApiError) -> float:
    """The wait Slack asks for."""
    try:
        return float(error.response.headers["Retry-After"])
    except (KeyError, ValueError):
        return _UNSTATED_WAIT_S


def _field(error: SlackApiError, name: str) -> str:
    # A body that is no JSON at all leaves aiohttp's response here instead of the library's own.
    response = error.response
    if not isinstance(response, AsyncSlackResponse) or not isinstance(response.data, dict):
        return ""
    return str(response.data.get(name) or "")


def _with_reasons(error: SlackApiError) -> str:
    """The word and the reasons beside it, which name places in blocks but quote no text."""
    details = error.response.data.get("response_metadata") or {}
    reasons = [str(reason) for reason in details.get("messages") or ()][:3]
    return ": ".join([error_code(error), *reasons])


def _is_unsent(error: Exception) -> bool:
    """Whether no connection was made: Slack never saw the request."""
    return isinstance(
        error,
        aiohttp.ConnectionTimeoutError
        | aiohttp.ClientConnectorError
        | aiohttp.ClientConnectorCertificateError
        | aiohttp.ClientHttpProxyError
        | aiohttp.InvalidURL,
    )
