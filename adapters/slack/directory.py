"""Names and threads as Slack knows them: looked up when first needed, kept in bounded caches.

Events carry ids only. A name that cannot be had in time or without a scope is left out: no message is lost or
late for it. Whether a thread is the bot's own decides what becomes of a message: if Slack does not say now,
that is unknown, not "no".
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Any, Generic, Literal, TypeVar

import structlog
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.errors import CLIENT_ERRORS, error_code, status
from adapters.slack.parse import Identity, Known, Wanted
from adapters.slack.readable import Names

NAMES = 5_000
THREADS = 10_000
NAME_AGE_S = 3_600.0
RETRY_AGE_S = 60.0  # after a look-up that failed

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")

Json = Mapping[str, Any]

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Answer(Generic[Value]):
    """What a look-up found, to be kept for `age_s`."""

    value: Value
    age_s: float = float("inf")


class Cache(Generic[Key, Value]):
    """At most `size` answers, each kept for its own time; the least recently used goes first."""

    def __init__(self, size: int, clock: Callable[[], float] = monotonic) -> None:
        self._size, self._clock = size, clock
        self._kept: OrderedDict[Key, tuple[Value, float]] = OrderedDict()
        self._asked: dict[Key, asyncio.Future[None]] = {}

    def put(self, key: Key, value: Value, age_s: float) -> None:
        """Keep an answer."""
        self._kept[key] = (value, self._clock() + age_s)
        self._kept.move_to_end(key)
        while len(self._kept) > self._size:
            self._kept.popitem(last=False)

    def drop(self, key: Key) -> None:
        """Forget an answer."""
        self._kept.pop(key, None)

    def get(self, key: Key) -> Value | None:
        """The answer kept, if it is not too old."""
        kept = self._kept.get(key)
        if kept is None or kept[1] < self._clock():
            return None
        self._kept.move_to_end(key)
        return kept[0]

    def of(self, keys: Iterable[Key]) -> dict[Key, Value]:
        """The answers kept for these keys that say anything."""
        return {key: value for key in keys if (value := self.get(key))}

    async def fill(self, key: Key, ask: Callable[[Key], Awaitable["Answer[Value] | None"]]) -> None:
        """Have an answer kept, if there is one: ask for it, once for all who want it at the same time."""
        if self.get(key) is not None:
            return
        if key in self._asked:
            await asyncio.shield(self._asked[key])
            return
        done = self._asked[key] = asyncio.get_running_loop().create_future()
        try:
            answer = await ask(key)
            if answer is not None:
                self.put(key, answer.value, answer.age_s)
        finally:
            del self._asked[key]
            done.set_result(None)


class Directory:
    """What people, channels and threads are, for one bot."""

    def __init__(self, client: AsyncWebClient, bot: Identity, *, timeout_s: float) -> None:
        self._client, self._bot, self._timeout_s = client, bot, timeout_s
        self._users: Cache[str, str] = Cache(NAMES)
        self._channels: Cache[str, str] = Cache(NAMES)
        self._threads: Cache[tuple[str, str], bool] = Cache(THREADS)
        self._refused: set[str] = set()

    def remember_thread(self, thread: tuple[str, str], is_own: bool) -> None:
        """Know of a thread (channel, root) whose root was just said: no need to ask."""
        self._threads.put(thread, is_own, float("inf"))

    async def find(self, wanted: Wanted) -> Known:
        """What can be known of it within the time there is."""
        try:
            async with asyncio.timeout(self._timeout_s):
                await asyncio.gather(
                    *[self._users.fill(user, self._user) for user in wanted.users],
                    *[self._channels.fill(channel, self._channel) for channel in wanted.channels],
                    *[self._threads.fill(thread, self._thread) for thread in wanted.threads],
                )
        except TimeoutError:
            _log.debug("slack.lookup_too_slow", account=self._bot.id)
        return Known(
            names=Names(users=self._users.of(wanted.users), channels=self._channels.of(wanted.channels)),
            own_thread=self._threads.get(wanted.threads[0]) if wanted.threads else False,
        )

    async def _user(self, user: str) -> Answer[str]:
        """What a person calls themselves; a bot's id (B…) has no name to look up."""
        if user.startswith("B"):
            return Answer("")
        answer = await self._ask("users.info", user=user)
        if not isinstance(answer, Mapping):
            return Answer("", RETRY_AGE_S)
        found = answer["user"]
        profile = found.get("profile", {})
        names = (
            profile.get("display_name"),
            profile.get("real_name"),
            found.get("real_name"),
            found.get("name"),
        )
        return Answer(next((name for name in names if name), ""), NAME_AGE_S)

    async def _channel(self, channel: str) -> Answer[str]:
        answer = await self._ask("conversations.info", channel=channel)
        if not isinstance(answer, Mapping):
            return Answer("", RETRY_AGE_S)
        return Answer(answer["channel"].get("name") or "", NAME_AGE_S)

    async def _thread(self, thread: tuple[str, str]) -> Answer[bool] | None:
        """Whether the thread's first message is the bot's or mentions it; None: Slack did not say."""
        channel, root_ts = thread
        answer = await self._ask("conversations.replies", channel=channel, ts=root_ts, limit=1)
        match answer:
            case "lost":
                return None
            case "refused":
                return Answer(value=False, age_s=RETRY_AGE_S)
        root: Json = next(iter(answer["messages"]), {})
        return Answer(root.get("user") == self._bot.id or f"<@{self._bot.id}" in (root.get("text") or ""))

    async def _ask(self, method: str, **arguments: Any) -> Json | Literal["refused", "lost"]:
        """An answer of the Web API; a missing scope is told once, and not asked for again."""
        if method in self._refused:
            return "refused"
        try:
            answer = await self._client.api_call(method, http_verb="GET", params=arguments)
        except CLIENT_ERRORS as error:
            code = error_code(error) if isinstance(error, SlackApiError) else type(error).__name__
            _log.debug("slack.lookup_failed", account=self._bot.id, method=method, reason=code)
            if not isinstance(error, SlackApiError) or code in {"", "ratelimited"} or status(error) >= 500:
                return "lost"
            if code == "missing_scope":
                self._refused.add(method)
                scope = error.response["needed"]
                _log.warning("slack.scope_missing", account=self._bot.id, method=method, scope=scope)
            return "refused"
        return answer.data if isinstance(answer.data, dict) else "lost"
