"""How much a person may use in a day (UTC): messages, asked when one comes in, and tokens, before a turn starts.

A chat with limits of its own has an account of its own for each person; everywhere else what a person uses counts
together. A turn that runs is never cut off by this: tokens are counted when it ends.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from gateway.clock import Clock, utc_now
from gateway.messages import Target
from gateway.store import usage
from gateway.store.tx import Tx

MESSAGES = (
    "That is as many messages as you may send me in a day ({most}); I did not take this one."
    " From {when} on I am here for you again."
)
TOKENS = (
    "Your share of words for today is used up ({most} tokens), so I did not begin with this."
    " Please send it again from {when} on."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayLimits:
    """Per person and day; None is unlimited."""

    messages: int | None = None
    tokens: int | None = None


class Limits:
    """See the module; all methods belong to the caller's transaction."""

    def __init__(
        self, general: DayLimits, chats: Mapping[str, DayLimits] | None = None, *, clock: Clock = utc_now
    ) -> None:
        """`chats` are the limits of chats that have their own, by `platform:chat id`."""
        self._general = general
        self._chats = chats or {}
        self._clock = clock

    def why_no_message(self, tx: Tx, person: str, target: Target) -> str | None:
        """What to answer if a person (platform:user) may send no more today."""
        most = self._limits(target).messages
        if most is None or self._used(tx, person, target).messages < most:
            return None
        return MESSAGES.format(most=most, when=self._when())

    def why_no_turn(self, tx: Tx, person: str, target: Target) -> str | None:
        """What to answer if no more turns may start for a person today."""
        most = self._limits(target).tokens
        if most is None or self._used(tx, person, target).tokens < most:
            return None
        return TOKENS.format(most=most, when=self._when())

    def count(self, tx: Tx, person: str, target: Target, *, messages: int = 0, tokens: int = 0) -> None:
        """Count what was used."""
        usage.add(
            tx,
            day=self._today(),
            subject=person,
            place=self._place(target),
            messages=messages,
            tokens=tokens,
        )

    def _used(self, tx: Tx, person: str, target: Target) -> usage.Used:
        return usage.of(tx, day=self._today(), subject=person, place=self._place(target))

    def _limits(self, target: Target) -> DayLimits:
        return self._chats.get(self._place(target), self._general)

    def _place(self, target: Target) -> str:
        chat = f"{target.platform}:{target.chat_id}"
        return chat if chat in self._chats else ""

    def _today(self) -> str:
        return self._clock().date().isoformat()

    def _when(self) -> str:
        return f"00:00 UTC (in {_span(self._clock())})"


def _span(now: datetime) -> str:
    """The time from now to the next midnight, in words."""
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=now.tzinfo)
    minutes = max(1, round((midnight - now).total_seconds() / 60))
    return f"{minutes} min" if minutes < 120 else f"{round(minutes / 60)} h"
