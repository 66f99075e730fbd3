"""Messages missed while no session was there: which channels to look into, and the look itself.

A resumed session replays what was missed; after a refused resume, or a restart, nothing is replayed. Then each
channel that moved on since its mark (the newest message known to be stored) is read over REST: the newest
messages first, up to a bound, handed on in order. Stated limits: of edits and deletions meanwhile only the
result is seen; a person's very first direct message is not found, since Discord lists a bot no direct channels.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from adapters.discord.places import Place, Places

PAGE = 100

Json = Mapping[str, Any]
FetchPage = Callable[[str, Mapping[str, str]], Awaitable[list[Any]]]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gap:
    """A channel to look into, and the message after which it is unknown; `place` if the channel is known."""

    channel_id: str
    after: int
    place: Place | None = None


class Marks:
    """Per channel the newest message known to be stored."""

    def __init__(self) -> None:
        self._newest: dict[str, int] = {}

    def take(self, stored: Mapping[str, str]) -> None:
        """Take over marks kept elsewhere."""
        for channel_id, message_id in stored.items():
            if message_id.isdecimal():
                self.passed(channel_id, int(message_id))

    def passed(self, channel_id: str, message_id: int) -> None:
        """This message is stored, or was there before the bot looked."""
        if message_id > self._newest.get(channel_id, 0):
            self._newest[channel_id] = message_id

    def forget(self, channel_id: str) -> None:
        """The channel is gone."""
        self._newest.pop(channel_id, None)

    def begin(self, places: Iterable[Place]) -> None:
        """From here on all messages come as events: what is there now was seen."""
        for place in places:
            self.passed(place.channel_id, place.last_message_id)

    def gaps(self, places: Places, *, oldest: int, limit: int) -> list[Gap]:
        """The channels that moved on, those first where people spoke last; none if nothing was ever stored.

        A channel without a mark is unknown since the newest message of all. Direct channels and archived threads
        tell nothing of themselves when a session begins, and are always looked into.
        """
        if not self._newest:
            return []
        newest = max(self._newest.values())
        gaps = [
            Gap(
                channel_id=place.channel_id,
                after=max(self._newest.get(place.channel_id, newest), oldest),
                place=place,
            )
            for place in places
        ]
        gaps = [gap for gap in gaps if gap.place and gap.place.last_message_id > gap.after]
        gaps += [
            Gap(channel_id=channel_id, after=max(mark, oldest))
            for channel_id, mark in self._newest.items()
            if places.get(channel_id) is None
        ]
        gaps.sort(key=lambda gap: gap.after, reverse=True)
        if len(gaps) > limit:
            _log.warning("discord.backfill_cut", channels=len(gaps), looked_into=limit)
        return gaps[:limit]


async def fetch_missed(gap: Gap, fetch: FetchPage, *, limit: int) -> list[Json]:
    """The messages of a channel after its mark, oldest first; of more than `limit` the newest.

    Args:
        gap: The channel and its mark.
        fetch: Gets a page of a channel's messages, newest first, for a query of `limit` and `before`.
        limit: The most messages to return.

    Raises:
        SendError: as `fetch` does.
    """
    missed: list[Json] = []
    before: str | None = None
    while len(missed) < limit:
        size = min(PAGE, limit - len(missed))
        query = {"limit": str(size)} | ({} if before is None else {"before": before})
        page = await fetch(gap.channel_id, query)
        new = [raw for raw in page if int(raw["id"]) > gap.after]
        missed += new
        if len(new) < size:
            break
        before = str(page[-1]["id"])
    else:
        _log.warning("discord.backfill_cut", channel=gap.channel_id, messages=limit)
    return missed[::-1]
