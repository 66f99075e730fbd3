"""One connection of a Discord bot, from login to its end, with all that goes on beside it."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import structlog

from adapters.commands import SlashCommand
from adapters.discord import inflow, places
from adapters.discord.backfill import Gap, fetch_missed
from adapters.discord.client import LeanClient, SessionRefused
from adapters.discord.commands import to_payload
from adapters.discord.inflow import Event, Inflow, Told
from adapters.discord.memory import Memory
from adapters.discord.parse import command_text, snowflake_of
from adapters.discord.places import Place, parse_channel
from adapters.discord.responses import Responder
from adapters.discord.settings import DiscordSettings
from gateway.adapter import Inbox
from gateway.errors import ConnectionLost, MessageRejected, NotSent, RateLimited, SendError, TargetGone

GUILDS_WITHIN_S = 5.0
FETCHES = 4
"""Channels looked into at once after a gap."""

_COMMAND, _COMPONENT = 2, 3
_ANSWERED = frozenset({_COMMAND, _COMPONENT})  # types of interactions
_EVENTS = ("READY", "RESUMED", *places.EVENTS, *inflow.EVENTS)

Json = Mapping[str, Any]

_log = structlog.get_logger(__name__)


class Connection:
    """See the module. `ask` works from login on, until the end."""

    def __init__(
        self,
        settings: DiscordSettings,
        memory: Memory,
        inbox: Inbox,
        *,
        commands: tuple[SlashCommand, ...],
        clock: Callable[[], datetime],
    ) -> None:
        self._settings = settings
        self._memory = memory
        self._inbox = inbox
        self._commands = commands
        self._clock = clock
        self._client = LeanClient(
            events=_EVENTS,
            on_event=self._take,
            api_base=settings.api_base,
            send_timeout_s=settings.send_timeout_s,
        )
        self._flow = Inflow(memory, inbox, self._find_place)
        self._began = asyncio.Event()
        self._awaited: set[str] = set()  # guilds that READY named and that did not come yet
        self._guilds_came = asyncio.Event()
        self._responder: Responder | None = None
        self._is_open = False
        self._is_resumable = True
        self._asking = 0
        self._idle = asyncio.Event()

    async def run(self) -> None:
        """Stay connected until cancelled; what can be taken up again is left in memory.

        Raises:
            AdapterError, SendError, discord.DiscordException, aiohttp.ClientError, OSError, or a group of them:
                the connection ended.
            StoreUnavailable: what came in could not be stored.
        """
        try:
            await self._serve()
        except asyncio.CancelledError:
            self._is_resumable = False
            raise
        finally:
            await self._end()

    async def ask(self, method: str, path: str, **details: Any) -> Any:
        """One request; see `LeanClient.ask`."""
        if not self._is_open:
            raise NotSent("not connected to Discord")
        self._asking += 1
        try:
            return await self._client.ask(method, path, **details)
        finally:
            self._asking -= 1
            if not self._asking:
                self._idle.set()

    async def _serve(self) -> None:
        client, limit_s = self._client, self._settings.connect_timeout_s
        token = self._settings.token
        assert token is not None
        async with asyncio.timeout(limit_s):
            await client.login(token.get_secret_value())
            url = self._settings.gateway_url or await client.find_gateway()
        self._is_open = True
        is_new = self._memory.session is None
        async with asyncio.TaskGroup() as group:
            self._responder = Responder(client, group)
            group.create_task(self._listen(url))
            async with asyncio.timeout(limit_s):
                await self._began.wait()
            group.create_task(self._watch())
            if not self._memory.has_commands:
                group.create_task(self._register())
            self._inbox.online()
            if is_new:
                await self._catch_up()
            await self._flow.store()

    async def _listen(self, url: str) -> None:
        try:
            await self._client.listen(url, self._memory.session, self._settings.connect_timeout_s)
        except SessionRefused:
            self._is_resumable = False
            raise

    async def _watch(self) -> None:
        """Notice a connection that is alive and tells nothing."""
        client, limit_s = self._client, self._settings.silence_s
        left_s = limit_s
        while left_s > 0:
            await asyncio.sleep(left_s)  # looking once per time span costs nothing, an event per event would
            left_s = client.heard_at_s + limit_s - client.loop.time()
        if not client.is_heard:  # taking this session up did not help: a new one may
            self._is_resumable = False
        raise ConnectionLost(f"no event came for {limit_s:g} s")

    async def _end(self) -> None:
        """Let requests under way finish, then close; a session that Discord keeps is kept in memory, too."""
        self._is_open = False
        if self._asking:
            self._idle.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(self._settings.send_timeout_s):
                    await self._idle.wait()
        session = self._client.session
        if not self._is_resumable:
            self._memory.session = None
        elif session is not None:
            self._memory.session = replace(session, seq=self._memory.stored_seq)
        await self._client.leave(resumable=self._is_resumable)

    def _take(self, event: str, raw: Json, seq: int) -> None:
        """Take an event from the gateway; called in their order, must not wait."""
        told: Told | None = None
        match event:
            case "READY":
                self._memory.stored_seq = seq
                self._awaited = {str(guild["id"]) for guild in raw["guilds"]}
                self._began.set()
            case "RESUMED":
                self._began.set()
            case "MESSAGE_CREATE":
                self._note_echo(raw)
            case "INTERACTION_CREATE" if raw["type"] in _ANSWERED:
                told = asyncio.get_running_loop().create_future()
                self._respond(raw, told)
            case _ if event in places.EVENTS:
                self._note_place(event, raw)
        self._flow.put(Event(name=event, raw=raw if event in inflow.EVENTS else {}, seq=seq, told=told))
        if not self._awaited:
            self._guilds_came.set()

    def _note_echo(self, raw: Json) -> None:
        """Our own message comes back: the proof that it was shown, whatever became of the answer."""
        nonce = raw.get("nonce")
        if nonce and str(raw["author"]["id"]) == self._memory.account:
            self._memory.echoes[str(nonce)] = str(raw["id"])

    def _note_place(self, event: str, raw: Json) -> None:
        try:
            self._memory.places.take(event, raw)
        except (KeyError, TypeError, ValueError) as error:
            _log.warning(
                "discord.event_unreadable", event_name=event, reason=f"{type(error).__name__}: {error}"
            )
        if event == "GUILD_CREATE":
            self._awaited.discard(str(raw.get("id")))

    def _respond(self, raw: Json, told: Told) -> None:
        assert self._responder is not None  # made before the first event
        called = command_text(raw["data"]) if raw["type"] == _COMMAND else ""
        self._responder.answer(raw, told, called)

    async def _catch_up(self) -> None:
        """Fetch what was missed before this session began; events that come meanwhile wait."""
        memory = self._memory
        memory.marks.take(await self._inbox.last_seen())
        with suppress(TimeoutError):
            async with asyncio.timeout(GUILDS_WITHIN_S):
                await self._guilds_came.wait()
        oldest = snowflake_of(self._clock() - timedelta(seconds=self._settings.backfill_age_s))
        gaps = memory.marks.gaps(memory.places, oldest=oldest, limit=self._settings.backfill_channels)
        if gaps and self._settings.backfill_messages:
            turns = asyncio.Semaphore(FETCHES)
            async with asyncio.TaskGroup() as group:
                for gap in gaps:
                    group.create_task(self._fill(gap, turns))
        memory.marks.begin(memory.places)

    async def _fill(self, gap: Gap, turns: asyncio.Semaphore) -> None:
        """Hand on what was missed in one channel."""
        async with turns:
            try:
                place = gap.place or await self._find_place(gap.channel_id)
                if place.last_message_id <= gap.after:
                    return
                missed = await fetch_missed(gap, self._fetch_page, limit=self._settings.backfill_messages)
            except (TargetGone, MessageRejected):
                self._memory.marks.forget(gap.channel_id)
                return
            if missed:
                _log.info("discord.backfilled", channel=gap.channel_id, messages=len(missed))
                await self._flow.receive(missed, place)

    async def _fetch_page(self, channel_id: str, query: Mapping[str, str]) -> list[Any]:
        path = "/channels/{channel_id}/messages"
        page: list[Any] = await self._patiently("GET", path, channel_id=channel_id, query=query)
        return page

    async def _find_place(self, channel_id: str) -> Place:
        """A channel that no event told of.

        Raises:
            SendError: it cannot be had.
        """
        raw = await self._patiently("GET", "/channels/{channel_id}", channel_id=channel_id)
        if raw["type"] in places.DIRECT:
            return parse_channel(raw, self._memory.account)
        return self._memory.places.add(raw)

    async def _patiently(self, method: str, path: str, **details: Any) -> Any:
        """A reading request, that waits out rate limits."""
        while True:
            try:
                return await self._client.ask(method, path, **details)
            except RateLimited as limit:
                await asyncio.sleep(limit.retry_after_s)

    async def _register(self) -> None:
        """Let Discord know the slash commands; without them, they can still be typed."""
        try:
            await self._client.ask(
                "PUT",
                "/applications/{application_id}/commands",
                body=[to_payload(command) for command in self._commands],
                application_id=str(self._client.application_id),
            )
        except SendError as error:
            _log.warning("discord.commands_not_registered", account=self._memory.account, reason=str(error))
        else:
            self._memory.has_commands = True
