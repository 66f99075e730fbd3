"""Finding a message of ours by its key, after its answer was lost."""

from collections.abc import Mapping
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.content import key_in
from gateway.errors import OutcomeUnknown
from gateway.messages import Receipt, Target

LOOKUP_AGE_S = 86_400.0
"""How far back is looked when it is not known here when a message was first tried: as long as delivery tries."""

_PAGE = 200  # Slack recommends no more than this at a time
_PAGES = 15


async def find_sent(client: AsyncWebClient, target: Target, key: str, oldest_s: float) -> Receipt | None:
    """The message with this key among those since `oldest_s` (Unix time), or None if there is none.

    In a thread the oldest come first, in a channel the newest; either way all are looked at.

    Raises:
        OutcomeUnknown: there are more than can be looked through.
        SlackApiError, aiohttp.ClientError, OSError: as the client does.
    """
    arguments: dict[str, Any] = {
        "channel": target.chat_id,
        "oldest": f"{oldest_s:.6f}",
        "include_all_metadata": True,
        "limit": _PAGE,
    }
    for _ in range(_PAGES):
        if target.thread_id is None:
            page = await client.conversations_history(**arguments)
        else:
            page = await client.conversations_replies(ts=target.thread_id, **arguments)
        found = next((one for one in page["messages"] or () if key_in(one) == key), None)
        if found is not None:
            return Receipt(message_id=found["ts"])
        cursor = _next_cursor(page.data if isinstance(page.data, dict) else {})
        if not cursor:
            return None
        arguments["cursor"] = cursor
    raise OutcomeUnknown(f"not among the first {_PAGE * _PAGES} messages")


def _next_cursor(page: Mapping[str, Any]) -> str:
    return str((page.get("response_metadata") or {}).get("next_cursor") or "")
