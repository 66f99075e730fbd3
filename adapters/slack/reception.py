"""Takes in what Slack sends: checked by slack-bolt, read, stored in order, and only then acknowledged.

Neighbours: `sockets` or `adapters.listening` bring requests, `line` stores. slack-bolt verifies signatures and answers
Slack's challenge; its listeners are not used, since what finds none is never acknowledged, and what raises in
one is acknowledged all the same. Presses are answered here, to the presser alone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import aiohttp
import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.adapter.socket_mode.async_internals import run_async_bolt_app
from slack_bolt.app.async_app import AsyncApp
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError
from slack_sdk.signature import SignatureVerifier
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.content import literal_blocks
from adapters.slack.directory import Directory
from adapters.slack.errors import CLIENT_ERRORS
from adapters.slack.line import Line, Postponed
from adapters.slack.parse import (
    Identity,
    Wanted,
    parse_command,
    parse_event,
    parse_press,
    thread_below,
    wanted_by,
)
from adapters.slack.readable import Names, escape
from gateway.document import text_document
from gateway.messages import PressAnswer, Update

_TAKEN, _NOT_TAKEN = 200, 503
_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError, IndexError)

_log = structlog.get_logger(__name__)


class Reception:
    """What comes in during one connection of one bot."""

    def __init__(
        self,
        bot: Identity,
        line: Line,
        directory: Directory,
        tasks: asyncio.TaskGroup,
        *,
        client: AsyncWebClient,
        session: aiohttp.ClientSession,
        signing_secret: str,
        command: str,
    ) -> None:
        self._bot, self._line, self._directory, self._tasks = bot, line, directory, tasks
        self._client, self._session, self._command = client, session, command
        self._signing_secret = signing_secret
        # Before bolt's authorization: that asks for auth.test once more, which was just done.
        self._app = AsyncApp(
            name="parley",
            client=client,
            signing_secret=signing_secret,
            before_authorize=self._store,
            ignoring_self_events_enabled=False,
        )
        self._app.error(self._bolt_failed)

    async def take_envelope(self, request: SocketModeRequest) -> bool:
        """Take in what a socket brought; whether to acknowledge it."""
        try:
            response: BoltResponse = await run_async_bolt_app(self._app, request)
        except _UNREADABLE as error:  # bolt itself looks into what came, before anything of ours
            self._log_unreadable(request.payload, error)
            return True
        return response.status == _TAKEN

    async def take_post(self, request: web.Request) -> web.Response:
        """Take in what was posted; 401 if its signature is wrong, 400 if it cannot be read.

        The signature is verified before anything looks into the post: slack-bolt parses first, and a body or a time
        stamp that is none raises out of it, whoever sent it.
        """
        if not self._is_signed(await request.read(), request.headers):
            return web.Response(status=401)
        try:
            answer = await self._app.async_dispatch(await to_bolt_request(request))
        except (*_UNREADABLE, RecursionError) as error:
            self._log_unreadable({}, error)
            return web.Response(status=400)
        return await to_aiohttp_response(answer)

    def _is_signed(self, body: bytes, headers: Mapping[str, str]) -> bool:
        stamp, signature = (headers.get(name) for name in ("X-Slack-Request-Timestamp", "X-Slack-Signature"))
        try:
            return SignatureVerifier(self._signing_secret).is_valid(body, stamp, signature)
        except (ValueError, TypeError):  # a stamp that is no number, a signature or body that is no text
            return False

    async def _store(self, body: Mapping[str, Any], next: Callable[[], Awaitable[Any]]) -> Any:  # noqa: A002 - bolt's
        if body.get("type") == "url_verification":
            return await next()
        stored = await self._line.take(self._read(body))
        if stored is None:
            return BoltResponse(status=_NOT_TAKEN)
        if stored.answer is not None:
            self._tasks.create_task(self._tell(body, stored.answer))
        return BoltResponse(status=_TAKEN, body="")

    async def _read(self, body: Mapping[str, Any]) -> Update | None:
        """What came in, as the gateway's value; None for what means nothing to it."""
        try:
            if "event" in body:
                return await self._read_event(body)
            if "actions" in body:
                return parse_press(body, self._bot, await self._name_of(body["user"]["id"]))
            if "command" in body:
                names = await self._name_of(body["user_id"])
                return parse_command(body, self._bot, names, self._command, datetime.now(UTC))
        except _UNREADABLE as error:
            self._log_unreadable(body, error)
        return None

    async def _bolt_failed(self, error: Exception) -> BoltResponse:
        """What bolt's own middleware could not look into is passed over like what our parser could not."""
        if not isinstance(error, _UNREADABLE):
            _log.error("slack.reception_failed", account=self._bot.id, exc_info=error)
            return BoltResponse(status=_NOT_TAKEN)
        self._log_unreadable({}, error)
        return BoltResponse(status=_TAKEN)

    def _log_unreadable(self, body: Mapping[str, Any], error: Exception) -> None:
        """What is not as Slack describes it is passed over, since it would come again and again."""
        reason = f"{type(error).__name__}: {error}"
        _log.warning("slack.update_unreadable", account=self._bot.id, type=body.get("type"), reason=reason)

    async def _read_event(self, body: Mapping[str, Any]) -> Update | None:
        below = thread_below(body, self._bot)
        if below is not None:
            self._directory.remember_thread(*below)
        known = await self._directory.find(wanted_by(body, self._bot))
        if known.own_thread is None:
            raise Postponed
        return parse_event(body, self._bot, known)

    async def _name_of(self, user: str) -> Names:
        """What presses and commands do not say: the name under which the person is known in messages."""
        return (await self._directory.find(Wanted(users=frozenset({user})))).names

    async def _tell(self, press: Mapping[str, Any], answer: PressAnswer) -> None:
        """Show a word to the presser alone; where that is not allowed, by the address the press came with."""
        container = press["container"]
        try:
            await self._client.chat_postEphemeral(
                channel=press["channel"]["id"],
                user=press["user"]["id"],
                thread_ts=container.get("thread_ts"),
                text=escape(answer.text),
                blocks=literal_blocks(text_document(answer.text)),
            )
        except SlackApiError:
            await self._respond(press.get("response_url"), answer.text)
        except CLIENT_ERRORS as error:
            _log.debug("slack.press_unanswered", account=self._bot.id, reason=type(error).__name__)

    async def _respond(self, response_url: str | None, text: str) -> None:
        if not response_url:
            return
        body = {"response_type": "ephemeral", "replace_original": False, "text": escape(text)}
        try:
            async with self._session.post(response_url, json=body, proxy=self._client.proxy) as response:
                if response.status == _TAKEN:
                    return
                reason = str(response.status)
        except (aiohttp.ClientError, OSError) as error:
            reason = type(error).__name__
        _log.debug("slack.press_unanswered", account=self._bot.id, reason=reason)
