"""Finding a message of ours by its key, after its answer was lost."""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from time import time
from typing import Any

from slack_sdk.web.async_client import AsyncWebClient

from gateway.errors import MessageRejected, NotSent, OutcomeUnknown, RateLimited, TargetGone
from gateway.messages import Receipt, Target

LOOKUP_AGE_S = 86_400.0
"""How far back is looked when it is not known here when a message was first tried: as long as delivery tries."""

_KEYS = 1_000  # on record
_CLOCK_SKEW_S = 60.0  # between Slack's clock and ours
_PAGE = 200  # Slack recommends no more than this at a time
_PAGES = 15


@dataclass(slots=True)
class _Tries:
    since_s: float
    may_have_arrived: bool = False


class Tries:
    """What this process knows of its own tries: since when, and whether one of them may have arrived."""

    def __init__(self, clock: Callable[[], float] = time) -> None:
        self._clock = clock
        self._kept: OrderedDict[str, _Tries] = OrderedDict()

    @contextmanager
    def trying(self, key: str) -> Iterator[None]:
        """One try: what ends with an error that says so did certainly not arrive, with any other it may have."""
        tries = self._kept.setdefault(key, _Tries(self._clock()))
        while len(self._kept) > _KEYS:
            self._kept.popitem(last=False)
        try:
            yield
        except (RateLimited, NotSent, MessageRejected, TargetGone):
            raise
        except BaseException:
            tries.may_have_arrived = True
            raise
        self._kept.pop(key, None)

    def have_failed(self, key: str) -> bool:
        """Whether there were tries and none of them can have arrived."""
        return key in self._kept and not self._kept[key].may_have_arrived

    def oldest_s(self, key: str) -> float:
        """Unix time from which on a message with this key can stand there."""
        kept = self._kept.get(key)
        return (kept.since_s if kept else self._clock() - LOOKUP_AGE_S) - _CLOCK_SKEW_S


async def find_sent(
    client: AsyncWebClient, target: Target, is_it: Callable[[Mapping[str, Any]], bool], oldest_s: float
) -> Receipt | None:
    """The message among those since `oldest_s` (Unix time) that `is_it`, or None if there is none.

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
        found = next((one for one in page["messages"] or () if is_it(one)), None)
        if found is not None:
            return Receipt(message_id=found["ts"])
        cursor = _next_cursor(page.data if isinstance(page.data, dict) else {})
        if not cursor:
            return None
        arguments["cursor"] = cursor
    raise OutcomeUnknown(f"not among the first {_PAGE * _PAGES} messages")


def _next_cursor(page: Mapping[str, Any]) -> str:
    return str((page.get("response_metadata") or {}).get("next_cursor") or "")
