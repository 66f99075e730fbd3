"""How much may be used in a day (UTC): messages, asked when one comes in; tokens and money, before a turn starts.

What asks a model like a message (`/compact`, trying a failed turn again) counts as one.

A person has the general limits, over all chats together. A chat with limits of its own has those of all its members
together, besides. A turn that runs is never cut off by this: what it uses is counted when it ends.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, time, timedelta

from gateway.clock import Clock, utc_now
from gateway.messages import Target
from gateway.store import usage
from gateway.store.tx import Tx
from gateway.store.usage import Spent, Used

MESSAGES = (
    "That is as many messages as {who} may send me in a day ({most}); I did not take this one."
    " From {when} on I am here for you again."
)
TOKENS = (
    "{whose} share of words for today is used up ({most} tokens), so I did not begin with this."
    " Please send it again from {when} on."
)
MONEY = (
    "{whose} share of money for today is used up ({most}), so I did not begin with this."
    " Please send it again from {when} on."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DayLimits:
    """Per day; None is unlimited. Money in millionths of a US dollar."""

    messages: int | None = None
    tokens: int | None = None
    usd_micros: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Account:
    """What is counted together: `who` and `whose` are how people are told."""

    subject: str
    limits: DayLimits
    who: str
    whose: str


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
        """What to answer if a person (platform:user), or their chat, may send no more today."""
        for account in self._accounts(person, target):
            most = account.limits.messages
            if most is not None and self._used(tx, account).messages >= most:
                return MESSAGES.format(who=account.who, most=most, when=self._when())
        return None

    def why_no_turn(self, tx: Tx, person: str, target: Target) -> str | None:
        """What to answer if no more turns may start for a person, or in their chat, today."""
        for account in self._accounts(person, target):
            used, limits = self._used(tx, account), account.limits
            if limits.tokens is not None and used.tokens >= limits.tokens:
                return TOKENS.format(whose=account.whose, most=limits.tokens, when=self._when())
            if limits.usd_micros is not None and used.usd_micros >= limits.usd_micros:
                return MONEY.format(whose=account.whose, most=usd(limits.usd_micros), when=self._when())
        return None

    def count_message(self, tx: Tx, person: str, target: Target) -> None:
        """Count a message that was taken."""
        self._count(tx, person, target, Used(messages=1))

    def count_turn(
        self, tx: Tx, person: str, target: Target, spent: Iterable[Spent], *, turn_id: int, now_ms: int
    ) -> None:
        """Count what a turn used, and keep it with the turn."""
        for each in spent:
            usage.spend(tx, turn_id=turn_id, spent=each, now_ms=now_ms)
            used = Used(
                tokens=each.input_tokens + each.output_tokens,
                usd_micros=each.usd_micros or 0,
                unpriced=each.requests if each.usd_micros is None else 0,
            )
            self._count(tx, person, target, used)

    def count_review(self, tx: Tx, person: str, used: Used) -> None:
        """Count what a review in the background used for a person; it belongs to no chat."""
        usage.add(tx, day=self._today(), subject=person, used=used)

    def today(self, tx: Tx, person: str, target: Target) -> list[str]:
        """What was used today, in words: by the person, and in the chat if that has limits of its own."""
        return [self._words(tx, account) for account in self._accounts(person, target)]

    def _words(self, tx: Tx, account: _Account) -> str:
        used, limits = self._used(tx, account), account.limits
        parts = [
            f"{used.messages}{_of(limits.messages)} messages",
            f"{used.tokens}{_of(limits.tokens)} tokens",
            usd(used.usd_micros) + (f" of {usd(limits.usd_micros)}" if limits.usd_micros is not None else ""),
        ]
        if used.unpriced:
            parts.append(f"and {used.unpriced} answers whose price is not known")
        is_limited = any(each is not None for each in (limits.messages, limits.tokens, limits.usd_micros))
        until = f"; counted anew from {self._when()}" if is_limited else ""
        return f"Today {account.who} used {', '.join(parts)}{until}."

    def _count(self, tx: Tx, person: str, target: Target, used: Used) -> None:
        for account in self._accounts(person, target):
            usage.add(tx, day=self._today(), subject=account.subject, used=used)

    def _used(self, tx: Tx, account: _Account) -> Used:
        return usage.of(tx, day=self._today(), subject=account.subject)

    def _accounts(self, person: str, target: Target) -> Iterator[_Account]:
        yield _Account(subject=person, limits=self._general, who="you", whose="Your")
        chat = f"{target.platform}:{target.chat_id}"
        if chat in self._chats:
            limits = self._chats[chat]
            yield _Account(subject=f"chat:{chat}", limits=limits, who="this chat", whose="This chat's")

    def _today(self) -> str:
        return self._clock().date().isoformat()

    def _when(self) -> str:
        return f"00:00 UTC (in {_span(self._clock())})"


def usd(micros: int) -> str:
    """Money for people: to the hundredth of a cent where it is little."""
    return f"${micros / 1_000_000:.2f}" if micros >= 1_000_000 or not micros else f"${micros / 1_000_000:.4f}"


def spent_words(spent: Spent) -> str:
    """What one model did, for people."""
    cached = f" ({spent.cached_tokens} cached)" if spent.cached_tokens else ""
    cost = "price not known" if spent.usd_micros is None else usd(spent.usd_micros)
    requests = "1 request" if spent.requests == 1 else f"{spent.requests} requests"
    return f"{spent.model}: {requests}, {spent.input_tokens} tokens in{cached}, {spent.output_tokens} out, {cost}"


def _of(most: int | None) -> str:
    return "" if most is None else f" of {most}"


def _span(now: datetime) -> str:
    """The time from now to the next midnight, in words."""
    midnight = datetime.combine(now.date() + timedelta(days=1), time(), tzinfo=now.tzinfo)
    minutes = max(1, round((midnight - now).total_seconds() / 60))
    return f"{minutes} min" if minutes < 120 else f"{round(minutes / 60)} h"
