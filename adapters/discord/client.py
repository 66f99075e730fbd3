"""discord.py's client, kept lean: its gateway protocol and its requests, without its model of the platform.

The library turns each event into objects and keeps guilds, channels and members; here events come out as plain
JSON, in order, and nothing is kept. Requests neither sleep nor repeat themselves: delivery does. Two names of
discord.py are set for the whole process (`pointed_at`); that, and the few inner names used below, is why its
version is pinned below 3 and why `tests/unit/adapters/discord` runs them all.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

import aiohttp
import discord
import discord.http
from discord.gateway import DiscordWebSocket, ReconnectWebSocket
from discord.http import Ratelimit, Route
from yarl import URL

from adapters.discord.errors import check, from_transport
from gateway.errors import AccessRefused, ConnectionLost, NotSent, RateLimited, SendError

OnEvent = Callable[[str, Mapping[str, Any], int], None]
"""Called with an event's name, its data and its number in the session."""

BREAKS, BREAKS_WITHIN_S = 5, 60.0
"""More lost connections than this within the time are left to the supervisor, which knows patience."""

_RESUMABLE_CLOSE = 4000
_CLOSE_S = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySession:
    """Where a session can be taken up again: after event `seq`."""

    id: str
    seq: int
    url: str


class SessionRefused(ConnectionLost):
    """Discord does not take the session up again: a new one begins, and nothing is replayed."""


class Bucket(Ratelimit):
    """A rate limit that says how long to wait where the library's would sleep."""

    __slots__ = ()

    def __init__(self, max_ratelimit_timeout: float | None) -> None:
        super().__init__(max_ratelimit_timeout)
        self.limit = self.remaining = 100  # until the first answer states it

    async def acquire(self) -> None:
        """Take one of the requests that are left.

        Raises:
            RateLimited: none is left.
        """
        self._last_request = now = self._loop.time()
        if self.is_expired():
            self.reset()  # type: ignore[no-untyped-call]
        if self.remaining <= 0:
            raise RateLimited(max(0.0, (self.expires or now) - now))
        self.remaining -= 1
        self.outgoing += 1

    async def __aexit__(self, *exc: object) -> None:
        self.outgoing -= 1


class LeanClient(discord.Client):
    """One connection and one pool for requests; made for each `run`, since a closed one cannot be used again."""

    def __init__(
        self, *, events: tuple[str, ...], on_event: OnEvent, api_base: str, send_timeout_s: float
    ) -> None:
        # Said once per process otherwise: that voice is not there. It never is.
        discord.VoiceClient.warn_nacl = discord.VoiceClient.warn_dave = False
        super().__init__(
            intents=discord.Intents(guilds=True, messages=True, message_content=True),
            max_messages=None,
            chunk_guilds_at_startup=False,
            member_cache_flags=discord.MemberCacheFlags.none(),
            allowed_mentions=discord.AllowedMentions.none(),
            max_ratelimit_timeout=30,
            proxy=_proxy(api_base),
        )
        self.heard_at_s = 0.0  # loop time of the last event
        self.is_heard = False  # more came than the word that a session is resumed
        self.server_date = ""  # the Date header of the last answer to `ask`
        self._timeout = aiohttp.ClientTimeout(sock_connect=send_timeout_s, sock_read=send_timeout_s)
        self._on_event = on_event
        # The table by which the gateway finds the parser of an event; the library's own make its objects.
        self._connection.parsers = {name: partial(self._take, name) for name in events}

    async def ask(
        self,
        method: str,
        path: str,
        *,
        body: object = None,
        form: Sequence[Mapping[str, Any]] | None = None,
        query: Mapping[str, str] | None = None,
        **ids: str,
    ) -> Any:
        """One request, once; `ids` fill the path's names, `form` stands in for `body` where there are files.

        Returns the answer's JSON, None or "" if there is none.

        Raises:
            SendError: as `errors.to_send_error` and `errors.from_transport` say.
        """
        details: dict[str, Any] = {} if body is None else {"json": body}
        if form is not None:
            details["form"] = form
        if query is not None:
            details["params"] = query
        try:
            return await self.http.request(
                Route(method, path, **ids), timeout=self._timeout, raise_for_status=self._check, **details
            )
        except (aiohttp.ClientError, OSError) as error:  # OSError: TimeoutError among them
            failure: SendError = from_transport(error)
        except RuntimeError:  # aiohttp's, about a pool that was just closed
            failure = NotSent("not connected")
        raise failure

    async def find_gateway(self) -> str:
        """The gateway's address.

        Raises:
            SendError: it cannot be asked.
            ConnectionLost: Discord allows no further session at present.
        """
        told = await self.ask("GET", "/gateway/bot")
        starts = told["session_start_limit"]
        if not starts["remaining"]:
            raise ConnectionLost(
                f"Discord allows this bot no new session for {starts['reset_after'] / 1000:.0f} s"
            )
        return str(told["url"])

    async def listen(self, url: str, session: GatewaySession | None, timeout_s: float) -> None:
        """Hand on events until cancelled; a connection that breaks is made again and its session resumed.

        Raises:
            SessionRefused: Discord does not know the session any more.
            ConnectionLost: connections break too often.
            discord.ConnectionClosed, aiohttp.ClientError, OSError: no connection can be made.
        """
        breaks: deque[float] = deque(maxlen=BREAKS)
        while True:
            try:
                await self._connect(url, session, timeout_s)
                while True:
                    await self.ws.poll_event()
            except ReconnectWebSocket as broken:
                if not broken.resume:
                    raise SessionRefused("Discord does not take the session up again") from None
            session = self.session or session
            now = self.loop.time()
            if session is None:
                raise ConnectionLost("Discord broke the connection off before it began")
            if len(breaks) == BREAKS and now - breaks[0] < BREAKS_WITHIN_S:
                raise ConnectionLost(f"the connection broke more than {BREAKS} times within a minute")
            breaks.append(now)

    @property
    def session(self) -> GatewaySession | None:
        """The present session, after the last event that was handed on."""
        ws = self.ws
        if ws is None or not ws.session_id:
            return None
        return GatewaySession(id=ws.session_id, seq=ws.sequence or 0, url=str(ws.gateway))

    async def leave(self, *, resumable: bool) -> None:
        """Close connection and pool, within a bound; a resumable session is kept by Discord for minutes."""
        try:
            async with asyncio.timeout(_CLOSE_S):
                if resumable and self.ws is not None:
                    await self.ws.close(_RESUMABLE_CLOSE)
                await self.close()
        except TimeoutError:
            await self.http.close()

    def dispatch(self, event: str, /, *args: Any, **kwargs: Any) -> None:
        """Take the library's own word that an event came; nobody listens to its others."""
        del kwargs
        if event == "socket_event_type":
            self.heard_at_s = self.loop.time()
            self.is_heard = self.is_heard or args[0] != "RESUMED"

    async def _check(self, response: aiohttp.ClientResponse) -> None:
        self.server_date = response.headers.get("Date", "")
        await check(response)

    def _take(self, event: str, data: Mapping[str, Any]) -> None:
        self._on_event(event, data, self.ws.sequence or 0)

    async def _connect(self, url: str, session: GatewaySession | None, timeout_s: float) -> None:
        details: dict[str, Any] = (
            {"gateway": URL(url)}
            if session is None
            else {
                "gateway": URL(session.url),
                "resume": True,
                "session": session.id,
                "sequence": session.seq,
            }
        )
        opening = DiscordWebSocket.from_client(self, initial=True, **details)
        self.ws = await asyncio.wait_for(opening, timeout_s)


_pointed: dict[str, int] = {}  # address → how many adapters use it
_OWN = Route.BASE


@contextmanager
def pointed_at(api_base: str) -> Iterator[None]:
    """Let discord.py speak to this address while inside; it knows one per process.

    Raises:
        AccessRefused: another account of this process uses another address.
    """
    if any(other != api_base for other in _pointed):
        raise AccessRefused("all Discord accounts of one daemon must have the same discord.api_base")
    _pointed[api_base] = _pointed.get(api_base, 0) + 1
    Route.BASE = api_base
    discord.http.Ratelimit = Bucket  # type: ignore[misc]
    try:
        yield
    finally:
        _pointed[api_base] -= 1
        if not _pointed[api_base]:
            del _pointed[api_base]
            Route.BASE = _OWN
            discord.http.Ratelimit = Ratelimit  # type: ignore[misc]


def _proxy(address: str) -> str | None:
    """The proxy that the environment names for this address."""
    parts = urlsplit(address)
    if proxy_bypass(parts.hostname or ""):
        return None
    proxies = getproxies()
    return proxies.get(parts.scheme) or proxies.get("all")
