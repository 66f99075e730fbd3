"""One Discord bot: the gateway's events in, messages out.

Events are stored first and confirmed after: a session is taken up again after the last event that was stored,
and Discord replays the rest. Where it refuses that, and after a restart, missed messages are fetched
(`backfill`). A press or a called command is answered within three seconds, whatever the store does.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import aiohttp
import discord
import structlog

from adapters.commands import COMMANDS, SlashCommand
from adapters.discord.checks import content_intent, known, refused, registered
from adapters.discord.client import LeanClient, pointed_at
from adapters.discord.connection import Connection
from adapters.discord.errors import from_transport, to_adapter_error
from adapters.discord.memory import REMEMBERED, Memory, Recent
from adapters.discord.payloads import content_of, create_body, edit_body, file_form, nonce_of, tokens_in
from adapters.discord.render import MAX_TEXT, measure
from adapters.discord.settings import DiscordSettings
from adapters.downloads import download, is_at
from gateway.adapter import Capabilities, Checkup, Inbox, Reaction
from gateway.errors import AccessRefused, MessageRejected, NotSent, ParleyError, SendError, StoreUnavailable
from gateway.messages import Attachment, OutboundMessage, Receipt, Target

EDIT_GAP_S = 1.2
"""Five edits in five seconds of one channel pass; the limit is not documented, its headers state it (2026)."""

TYPING_GAP_S = 9.0  # the mark stands for ten seconds

FILE_LIMIT_BYTES = 10 * 1024 * 1024
"""Where the server is not boosted: https://docs.discord.com/developers/reference#uploading-files (2026)."""

NONCE_WINDOW_S = 120.0
"""Discord knows a nonce for "the past few minutes"; two are taken for sure."""

_REACTIONS: Mapping[Reaction, str] = {"seen": "👀", "done": "✅", "failed": "❌"}
_NOT_A_BOT = "discord.token is no bot's token (find it in the developer portal under Bot)"
_LOOKED_AT = 20  # messages of a channel, in search of one of ours

_log = structlog.get_logger(__name__)


class DiscordAdapter:
    """One bot; see `gateway.adapter.Adapter`."""

    platform = "discord"

    def __init__(
        self,
        settings: DiscordSettings,
        api: object = None,
        *,
        commands: tuple[SlashCommand, ...] = COMMANDS,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """Nothing is connected before `run`; `api` is not used."""
        del api
        self._settings = settings
        self._commands = commands if settings.commands else ()
        self._clock = clock
        self._memory = Memory(settings.account)
        self._connection: Connection | None = None
        self._marks: Recent[Reaction] = Recent(REMEMBERED)

    @property
    def account(self) -> str:
        """The bot's user id, from its token."""
        return self._settings.account

    @property
    def seat(self) -> str:
        """The bot at its server: Discord tells every connection of it everything, so that two would answer twice."""
        token = self._settings.token.get_secret_value() if self._settings.token else ""
        return f"{self._settings.api_base} {token}" if token else ""

    @property
    def capabilities(self) -> Capabilities:
        """Messages of 2000 characters in Discord's Markdown, buttons and threads; a nonce settles what is unknown."""
        return Capabilities(
            measure=measure,
            limit=MAX_TEXT,
            edit_limit=MAX_TEXT,
            input_limit=MAX_TEXT,
            markup="dialect",
            buttons=True,
            threads=True,
            edit_gap_s=EDIT_GAP_S,
            streaming=self._settings.streaming,
            typing_gap_s=TYPING_GAP_S,
            idempotency="key",
            idempotency_window_s=NONCE_WINDOW_S,
            file_limit_bytes=FILE_LIMIT_BYTES,
            caption_limit=MAX_TEXT,
        )

    async def run(self, inbox: Inbox) -> None:
        """Stay connected until cancelled or until the connection cannot be resumed."""
        if not self.account:
            raise AccessRefused(_NOT_A_BOT)
        failure: Exception | None = None
        try:
            with pointed_at(self._settings.api_base):
                await self._connect(inbox)
        except* (ParleyError, discord.DiscordException, aiohttp.ClientError, OSError) as failed:
            failure = self._told(failed)
        if failure is not None:
            raise failure  # as itself, not inside a group

    async def send(self, message: OutboundMessage) -> Receipt:
        """Send one message; the same key within minutes gives the first one again."""
        sent = await self._ask(
            "POST", "/channels/{channel_id}/messages", message.target, body=create_body(message)
        )
        return Receipt(message_id=str(sent["id"]))

    async def send_file(self, message: OutboundMessage) -> Receipt:
        """Send a file with its caption; the same key within minutes gives the first message again."""
        sent = await self._ask(
            "POST", "/channels/{channel_id}/messages", message.target, form=file_form(message)
        )
        return Receipt(message_id=str(sent["id"]))

    async def fetch(self, attachment: Attachment, limit_bytes: int) -> bytes:
        """Download a file; its address carries its own permission, for about a day."""
        if not is_at(attachment.ref, self._settings.api_base, ("discordapp.com", "discordapp.net")):
            raise MessageRejected("the file is not kept by Discord")
        try:
            return await download(attachment.ref, limit_bytes, timeout_s=self._settings.send_timeout_s)
        except (aiohttp.ClientError, OSError) as error:  # OSError: TimeoutError among them
            failure = from_transport(error)
        raise failure

    async def edit(self, message_id: str, message: OutboundMessage) -> None:
        """Replace text and buttons."""
        await self._ask(
            "PATCH",
            "/channels/{channel_id}/messages/{message_id}",
            message.target,
            body=edit_body(message),
            message_id=message_id,
        )

    async def show_typing(self, target: Target) -> None:
        """Show "typing…" for ten seconds."""
        try:
            await self._ask("POST", "/channels/{channel_id}/typing", target)
        except SendError as error:
            _log.debug("discord.typing_failed", account=self.account, reason=str(error))

    async def react(self, target: Target, message_id: str, reaction: Reaction) -> None:
        """Put a mark on a message, then take the one before it away; a bot may have several."""
        before = self._marks.get(message_id) or "seen"  # after a restart: what a turn begins with
        await self._mark("PUT", target, message_id, reaction)
        if before != reaction:
            await self._mark("DELETE", target, message_id, before)
        self._marks[message_id] = reaction

    async def _mark(self, method: str, target: Target, message_id: str, reaction: Reaction) -> None:
        path = "/channels/{channel_id}/messages/{message_id}/reactions/{emoji}/@me"
        await self._ask(method, path, target, message_id=message_id, emoji=_REACTIONS[reaction])

    async def find_sent(self, message: OutboundMessage) -> Receipt | None:
        """The message of this key, if it was shown.

        Known for certain when it came back as an event. Else a look in the channel: a nonce is not kept with a
        message, so the bot's newest one counts if it reads the same; one goes out at a time in each channel.
        """
        echoed = self._memory.echoes.get(nonce_of(message.idem_key))
        if echoed is not None:
            return Receipt(message_id=echoed)
        history = await self._ask(
            "GET",
            "/channels/{channel_id}/messages",
            message.target,
            query={"limit": str(_LOOKED_AT)},
        )
        newest = next((raw for raw in history if raw["author"]["id"] == self.account), None)
        wanted = tuple(button.token for row in message.buttons for button in row)
        files = [len(message.file.data)] if message.file is not None else []  # Discord may change a name
        if (
            newest is None
            or newest["content"] != content_of(message)
            or tokens_in(newest["components"]) != wanted
            or [file["size"] for file in newest["attachments"]] != files
        ):
            return None
        return Receipt(message_id=str(newest["id"]))

    async def check(self) -> Checkup:
        """Ask for the bot, its application and its commands; no session begins."""
        if not self.account:
            return Checkup(findings=(refused(AccessRefused(_NOT_A_BOT)),))
        client = LeanClient(
            events=(),
            on_event=lambda *_: None,
            api_base=self._settings.api_base,
            send_timeout_s=self._settings.send_timeout_s,
        )
        with pointed_at(self._settings.api_base):
            try:
                return await self._examine(client)
            except (ParleyError, discord.DiscordException, aiohttp.ClientError, OSError) as error:
                refusal = to_adapter_error(error, self.account, self._settings.api_base)
                return Checkup(findings=(refused(refusal),), server_date=client.server_date)
            finally:
                await client.leave(resumable=False)

    async def _examine(self, client: LeanClient) -> Checkup:
        token = self._settings.token
        assert token is not None
        async with asyncio.timeout(self._settings.connect_timeout_s):
            await client.login(token.get_secret_value())
        assert client.user is not None
        assert client.application is not None
        commands = await client.ask(
            "GET", "/applications/{application_id}/commands", application_id=str(client.application.id)
        )
        found = (
            known(client.user.name, self.account),
            content_intent(client.application.flags),
            registered(self._commands, commands),
        )
        return Checkup(findings=found, server_date=client.server_date)

    async def _connect(self, inbox: Inbox) -> None:
        self._connection = Connection(
            self._settings, self._memory, inbox, commands=self._commands, clock=self._clock
        )
        try:
            await self._connection.run()
        finally:
            self._connection = None

    def _told(self, failed: BaseExceptionGroup[Exception]) -> ParleyError:
        """What ended the connection, for the supervisor: of several reasons the one a person must act upon."""
        reasons = [
            reason
            if isinstance(reason, StoreUnavailable)
            else to_adapter_error(reason, self.account, self._settings.api_base)
            for reason in _leaves(failed)
        ]
        return next((reason for reason in reasons if isinstance(reason, AccessRefused)), reasons[0])

    async def _ask(self, method: str, path: str, target: Target, **details: Any) -> Any:
        if self._connection is None:
            raise NotSent("not connected to Discord")
        channel_id = target.thread_id or target.chat_id
        return await self._connection.ask(method, path, channel_id=channel_id, **details)


def _leaves(failed: BaseExceptionGroup[Exception]) -> list[Exception]:
    leaves: list[Exception] = []
    for error in failed.exceptions:
        leaves += _leaves(error) if isinstance(error, BaseExceptionGroup) else [error]
    return leaves
