"""One Slack app in one workspace: Socket Mode or signed HTTP in, the Web API out.

What comes in is `Reception`'s; here are the connection, sending and the look-up of what was sent. Nothing that
makes a message is repeated by the client library: a lost answer is settled by the key in its metadata.

Accounts are kept apart by the bot's user id, which is another in each workspace; a workspace needs an
installation (and a `slack` section) of its own, and events for other installations of the app are passed over.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import structlog
from slack_sdk.errors import SlackApiError

from adapters.downloads import download, is_at
from adapters.listening import listening
from adapters.slack import checks
from adapters.slack.client import QuietClient
from adapters.slack.content import LIMIT, authorship, content, key_in, measure
from adapters.slack.directory import Cache, Directory
from adapters.slack.errors import CLIENT_ERRORS, already, error_code, send_errors, to_adapter_error
from adapters.slack.files import COMMENT_LIMIT, FILE_LIMIT_BYTES, is_message_of, share, upload
from adapters.slack.line import Line
from adapters.slack.parse import Identity
from adapters.slack.reception import Reception
from adapters.slack.scopes import NEEDED, granted_scopes, missing_scopes
from adapters.slack.sent import LOOKUP_AGE_S, Tries, find_sent
from adapters.slack.settings import SlackSettings, secret
from adapters.slack.sockets import SocketMode
from adapters.slack.streams import IS_STREAMING, Streams
from gateway.adapter import Capabilities, Checkup, Finding, Inbox, Reaction
from gateway.errors import (
    AccessRefused,
    AdapterError,
    MessageRejected,
    OutcomeUnknown,
    StoreUnavailable,
)
from gateway.messages import Attachment, OutboundMessage, Receipt, Target

EDIT_LIMIT = 4_000
"""What `chat.update` takes as text; a growing reply goes on in the next message there."""

EDIT_GAP_S = 1.2
"""`chat.update` is a method of tier 3, some fifty a minute (docs.slack.dev/apis/web-api/rate-limits, 2026)."""

SEND_GAP_S = 1.0
"""`chat.postMessage` takes about one a second in one channel (same page)."""

STATUS_S = 60.0
"""How long a status is left alone; Slack takes it away after two minutes, or with the next message there."""

_REACTIONS: Mapping[Reaction, str] = {"seen": "eyes", "done": "white_check_mark", "failed": "x"}
_MARKS, _MARK_AGE_S = 1_000, 86_400.0  # how many messages' marks are remembered, and how long

_STATUSES = 1_000  # whose time is kept
_UPLOADS = 1_000  # files' ids, by the key of their message
_KEEP_ALIVE_S = 15.0  # shorter than any server's: a request into a closing connection has an unknown outcome
_QUEUE_S = 60.0  # the wait for one of the connections to be free

_log = structlog.get_logger(__name__)


class SlackAdapter:
    """One app; see `gateway.adapter.Adapter`."""

    platform = "slack"

    def __init__(self, settings: SlackSettings, api: object = None) -> None:
        """Nothing is connected before `run` or a request; `api` is not used."""
        del api
        self._settings = settings
        self._client = QuietClient(secret(settings.bot_token), api_base=settings.api_base)
        self._bot = Identity(id="", bot_id="", team="")
        self._users = 0
        self._can_look_up = True
        self._takes_files = True
        self._shows_status = True
        self._streams = Streams(self._client)
        self._shows_authors = False
        self._statuses: Cache[Target, bool] = Cache(_STATUSES)
        self._marks: Cache[str, Reaction] = Cache(_MARKS)
        self._tries = Tries()
        self._uploads: Cache[str, str] = Cache(_UPLOADS)
        self.port: int | None = None  # where HTTP mode listens, while it does

    @property
    def account(self) -> str:
        """The bot's user id; "" before the first connection."""
        return self._bot.id

    @property
    def seat(self) -> str:
        """The installation at its server: Slack hands each event to any one of an app's connections."""
        token = secret(self._settings.bot_token)
        return f"{self._settings.api_base} {token}" if token else ""

    @property
    def capabilities(self) -> Capabilities:
        """Messages in blocks, buttons, threads; an unknown outcome is looked up if the scopes allow it."""
        return Capabilities(
            measure=measure,
            limit=LIMIT,
            edit_limit=EDIT_LIMIT,
            input_limit=EDIT_LIMIT,
            markup="blocks",
            buttons=True,
            threads=True,
            edit_gap_s=EDIT_GAP_S,
            streaming=self._settings.streaming,
            ends_growth=self._settings.streaming,
            shows_authors=self._shows_authors,
            send_gap_s=SEND_GAP_S,
            idempotency="lookup" if self._can_look_up else "none",
            idempotency_window_s=LOOKUP_AGE_S if self._can_look_up else 0.0,
            file_limit_bytes=FILE_LIMIT_BYTES if self._takes_files else 0,
            caption_limit=COMMENT_LIMIT,
        )

    async def run(self, inbox: Inbox) -> None:
        """Serve until cancelled."""
        self._check_settings()
        failure: Exception | None = None
        async with self._connected() as session:
            try:
                await self._introduce()
                async with asyncio.TaskGroup() as tasks:
                    await self._serve(inbox, session, tasks)
            except* (AdapterError, StoreUnavailable) as group:
                failure = _first(group)
            except* CLIENT_ERRORS as group:
                failure = to_adapter_error(_first(group), self._settings.api_base)
        if failure:
            raise failure

    async def send(self, message: OutboundMessage) -> Receipt:
        """Send one message, in its thread if it has one; Slack knows no other answer to a message.

        One that grows is begun as a stream, where Slack has those.
        """
        self._check_length(message)
        async with self._connected():
            with self._tries.trying(message.idem_key):
                receipt = await self._begin_stream(message)
                if receipt is None:
                    receipt = await self._post(message)
        self._statuses.drop(message.target)
        return receipt

    async def send_file(self, message: OutboundMessage) -> Receipt:
        """Upload a file and show it; only the last step shows anything, and its answer names no message."""
        async with self._connected() as session:
            try:
                file_id = await upload(self._client, session, message)
            except MessageRejected as error:
                self._takes_files = "missing_scope" not in str(error)
                raise
            self._uploads.put(message.idem_key, value=file_id, age_s=LOOKUP_AGE_S)
            with self._tries.trying(message.idem_key), send_errors():
                await share(self._client, message, file_id)
        self._statuses.drop(message.target)
        return Receipt(message_id=file_id)

    async def fetch(self, attachment: Attachment, limit_bytes: int) -> bytes:
        """Download a file with the bot's token, which goes to Slack's own addresses only."""
        if not is_at(attachment.ref, self._settings.api_base, ("slack.com",)):
            raise MessageRejected("the file is not kept by Slack")
        with send_errors():
            return await download(
                attachment.ref,
                limit_bytes,
                timeout_s=self._settings.send_timeout_s,
                headers={"Authorization": f"Bearer {secret(self._settings.bot_token)}"},
                unless_type="" if attachment.mime_type == "text/html" else "text/html",  # its login page
            )

    async def edit(self, message_id: str, message: OutboundMessage) -> None:
        """Replace text and buttons; the same twice shows the same.

        A stream is added to as long as it grows and begins alike; else it is ended and then edited.
        """
        self._check_length(message)
        async with self._connected():
            if self._streams.holds(message_id):
                if message.growing and await self._streams.add(message_id, message):
                    return
                await self._streams.end(message_id, message)
            try:
                await self._update(message_id, message)
            except MessageRejected as error:
                if str(error) != IS_STREAMING:
                    raise
                await self._streams.end(message_id, message)  # an earlier process began it
                await self._update(message_id, message)

    async def show_typing(self, target: Target) -> None:
        """Show a status below a thread; Slack has none elsewhere, and takes it away with the answer."""
        if target.thread_id is None or not self._shows_status or self._statuses.get(target):
            return
        self._statuses.put(target, value=True, age_s=STATUS_S)
        async with self._connected():
            try:
                await self._client.assistant_threads_setStatus(
                    channel_id=target.chat_id, thread_ts=target.thread_id, status="is thinking…"
                )
            except CLIENT_ERRORS as error:
                code = error_code(error) if isinstance(error, SlackApiError) else type(error).__name__
                self._shows_status = code != "missing_scope"
                _log.debug("slack.status_failed", account=self.account, reason=code)

    async def react(self, target: Target, message_id: str, reaction: Reaction) -> None:
        """Put a mark on a message, then take the one before it away; an app may have several."""
        channel = target.chat_id
        before = self._marks.get(message_id) or "seen"  # after a restart: what a turn begins with
        async with self._connected():
            with already("already_reacted"), send_errors():
                await self._client.reactions_add(
                    channel=channel, timestamp=message_id, name=_REACTIONS[reaction]
                )
            if before != reaction:
                with already("no_reaction"), send_errors():
                    await self._client.reactions_remove(
                        channel=channel, timestamp=message_id, name=_REACTIONS[before]
                    )
        self._marks.put(message_id, reaction, age_s=_MARK_AGE_S)

    async def find_sent(self, message: OutboundMessage) -> Receipt | None:
        """Look for the message by its key, from its first try on; not if no try can have arrived."""
        key = message.idem_key
        if self._tries.have_failed(key):
            return None
        if not self._can_look_up:
            raise OutcomeUnknown("without the scopes to read history nobody can tell")
        async with self._connected():
            with send_errors():
                try:
                    return await find_sent(
                        self._client, message.target, self._recognise(message), self._tries.oldest_s(key)
                    )
                except SlackApiError as error:
                    if error_code(error) != "missing_scope":
                        raise
                    self._can_look_up = False
        raise OutcomeUnknown("without the scopes to read history nobody can tell")

    def _recognise(self, message: OutboundMessage) -> Callable[[Mapping[str, Any]], bool]:
        """Whether a message of the history is this one: by its key, a file's by the file, since it can have none."""
        if message.file is None:
            return lambda shown: (
                key_in(shown) == message.idem_key
                or (message.growing and self._streams.is_lost_beginning(shown, message, self._bot.id))
            )
        return is_message_of(message.file, self._uploads.get(message.idem_key), self._bot.id)

    async def check(self) -> Checkup:
        """Ask for the bot, its scopes, and, in socket mode, for the address of a socket, which is not opened."""
        settings = self._settings
        date = ""
        async with self._connected():
            try:
                me = await self._client.auth_test()
            except CLIENT_ERRORS as error:
                bot: tuple[Finding, ...] = (
                    checks.bot_refused(str(to_adapter_error(error, settings.api_base))),
                )
            else:
                date = str(me.headers.get("Date", ""))
                granted = granted_scopes(me.headers)
                bot = (checks.known(me["user"], me["team"]), *checks.scope_findings(granted))
            way = await self._check_way_in()
        return Checkup(findings=(*bot, way), server_date=date)

    async def _check_way_in(self) -> Finding:
        settings = self._settings
        if settings.mode == "http":
            address = f"{settings.http_host}:{settings.http_port}{settings.http_path}"
            return checks.signing_secret(is_set=bool(secret(settings.signing_secret)), address=address)
        if not secret(settings.app_token):
            return checks.app_token("missing")
        try:
            await self._client.apps_connections_open(app_token=secret(settings.app_token))
        except CLIENT_ERRORS as error:
            return checks.app_token(str(to_adapter_error(error, settings.api_base)))
        return checks.app_token("")

    async def _begin_stream(self, message: OutboundMessage) -> Receipt | None:
        return (
            await self._streams.begin(message, self._bot.team) if self._streams.may_begin(message) else None
        )

    async def _post(self, message: OutboundMessage) -> Receipt:
        with send_errors():
            sent = await self._client.chat_postMessage(
                channel=message.target.chat_id,
                thread_ts=message.target.thread_id,
                # Slack must not fetch a link that a model wrote: its address could carry what was said.
                unfurl_links=False,
                unfurl_media=False,
                **authorship(message),
                **content(message),
            )
        return Receipt(message_id=str(sent["ts"]))

    async def _update(self, message_id: str, message: OutboundMessage) -> None:
        with send_errors():
            await self._client.chat_update(channel=message.target.chat_id, ts=message_id, **content(message))

    async def _introduce(self) -> None:
        """Ask Slack who the bot is and what it may do."""
        me = await self._client.auth_test()
        self._bot = Identity(id=me["user_id"], bot_id=me["bot_id"] or "", team=me["team_id"])
        granted = granted_scopes(me.headers)
        if granted is None:  # something between us and Slack drops the header
            return
        if NEEDED not in granted:
            raise AccessRefused(
                f"Slack: the app lacks the scope {NEEDED}: add it under OAuth & Permissions and install it again"
            )
        missing = missing_scopes(granted)
        self._can_look_up = not any(scope.endswith(":history") for scope in missing)
        self._shows_status = "assistant:write" not in missing
        self._shows_authors = "chat:write.customize" in granted
        self._takes_files = "files:write" not in missing
        if missing:
            _log.warning("slack.scopes_missing", account=self.account, scopes=sorted(missing))

    async def _serve(self, inbox: Inbox, session: aiohttp.ClientSession, tasks: asyncio.TaskGroup) -> None:
        settings, line = self._settings, Line(inbox)
        reception = Reception(
            self._bot,
            line,
            Directory(self._client, self._bot, timeout_s=settings.lookup_timeout_s),
            tasks,
            client=self._client,
            session=session,
            signing_secret=secret(settings.signing_secret),
            command=settings.command,
        )
        if settings.mode == "http":
            async with listening(
                reception.take_post, host=settings.http_host, port=settings.http_port, path=settings.http_path
            ) as self.port:
                inbox.online()
                await line.run()
            return
        tasks.create_task(line.run())
        sockets = SocketMode(
            self._client,
            session,
            reception.take_envelope,
            app_token=secret(settings.app_token),
            connect_timeout_s=settings.connect_timeout_s,
            ping_interval_s=settings.ping_interval_s,
        )
        await sockets.run(tasks, inbox.online)

    def _check_settings(self) -> None:
        settings = self._settings
        if settings.mode == "socket" and not secret(settings.app_token):
            raise AccessRefused(
                "slack.app_token is missing: make an app-level token (xapp-…) with the scope connections:write"
            )
        if settings.mode == "http" and not secret(settings.signing_secret):
            raise AccessRefused(
                "slack.signing_secret is missing: copy it from Basic Information of the Slack app"
            )

    def _check_length(self, message: OutboundMessage) -> None:
        if measure(message.body) > LIMIT:  # Slack takes some that are longer, and shows them cut
            raise MessageRejected(f"longer than {LIMIT} characters")

    @asynccontextmanager
    async def _connected(self) -> AsyncIterator[aiohttp.ClientSession]:
        """The pool of connections, open as long as anyone is inside."""
        self._users += 1
        if self._client.session is None:
            self._client.session = self._new_session()
        try:
            yield self._client.session
        finally:
            self._users -= 1
            if not self._users:
                session, self._client.session = self._client.session, None
                await session.close()

    def _new_session(self) -> aiohttp.ClientSession:
        settings = self._settings
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=settings.connections, keepalive_timeout=_KEEP_ALIVE_S),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(
                total=None,
                connect=_QUEUE_S + settings.connect_timeout_s,
                sock_connect=settings.connect_timeout_s,
                sock_read=settings.send_timeout_s,
            ),
        )


def _first(group: BaseExceptionGroup[Exception]) -> Exception:
    """The first error of a group, however deep."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    assert isinstance(error, Exception)
    return error
