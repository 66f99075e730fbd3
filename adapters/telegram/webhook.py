"""Webhook mode: Telegram posts updates here, and posts again what was not answered with a 2xx.

Telegram sends the next update of a chat only after the one before it was taken (webhooks of different chats come
side by side; https://github.com/tdlib/telegram-bot-api, WebhookActor), so posts are stored as they come. The
webhook stays set when the daemon stops: Telegram keeps what comes meanwhile, for a day.
"""

import asyncio
import hashlib
import hmac
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

import structlog
from aiohttp import web
from telegram import WebhookInfo

from adapters.listening import listening
from adapters.telegram.bot import QuietBot
from adapters.telegram.parse import ALLOWED_UPDATES
from adapters.telegram.reception import Reception
from adapters.telegram.settings import TelegramSettings
from gateway.errors import ConnectionLost, StoreUnavailable

SECRET_HEADER = "X-Telegram-Bot-Api-Secret-Token"  # noqa: S105 - the header's name

_log = structlog.get_logger(__name__)


def secret_token(token: str) -> str:
    """What Telegram shows with each post; the same after a restart, and unknown to whoever has not the token."""
    return hmac.new(token.encode(), b"parley: telegram webhook", hashlib.sha256).hexdigest()


class Webhook:
    """One bot's webhook; `listen`, then `keep`."""

    def __init__(self, bot: QuietBot, reception: Reception, settings: TelegramSettings) -> None:
        self._bot, self._reception, self._settings = bot, reception, settings
        self._secret = secret_token(settings.token.get_secret_value() if settings.token else "")
        self._failure: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @asynccontextmanager
    async def listen(self) -> AsyncIterator[int]:
        """Take posts while the context is open; yields the port.

        Raises:
            ConnectionLost: the port cannot be had.
        """
        settings = self._settings
        async with listening(
            self._take,
            host=settings.http_host,
            port=settings.http_port,
            path=settings.http_path,
            admits=self._is_telegram,
        ) as port:
            yield port

    async def keep(self, online: Callable[[], None]) -> None:
        """Set the webhook and see that it stays, until cancelled.

        Raises:
            TelegramError: Telegram refuses it, or does not answer.
            ConnectionLost: somebody else set another one, or removed it.
            StoreUnavailable: what came in could not be stored; it will come again.
        """
        await self._bot.set_webhook(
            url=self._settings.webhook_url or "",
            secret_token=self._secret,
            allowed_updates=ALLOWED_UPDATES,
            drop_pending_updates=False,
        )
        online()
        seen: datetime | None = None
        while True:
            await asyncio.wait([self._failure], timeout=self._settings.webhook_check_s)
            if self._failure.done():
                self._failure.result()
            info = await self._bot.get_webhook_info()
            if info.url != self._settings.webhook_url:
                raise ConnectionLost("another program changed the webhook of this bot: stop that one")
            seen = self._report(info, seen)

    def _is_telegram(self, request: web.Request) -> bool:
        shown = request.headers.get(SECRET_HEADER, "")
        return hmac.compare_digest(shown.encode("utf-8", "surrogateescape"), self._secret.encode())

    async def _take(self, request: web.Request) -> web.Response:
        """Store one update, then answer; 503 brings it again."""
        try:
            raw = json.loads(await request.read())
        except (ValueError, RecursionError):
            raw = None
        if not isinstance(raw, dict):
            return web.Response(status=400)
        try:
            await self._reception.take([raw])
        except StoreUnavailable as error:
            if not self._failure.done():
                self._failure.set_exception(error)
            return web.Response(status=503)
        return web.Response()

    def _report(self, info: WebhookInfo, seen: datetime | None) -> datetime | None:
        """Log what Telegram says went wrong since it was asked last: only Telegram sees the way from outside."""
        if info.last_error_date is not None and info.last_error_date != seen:
            _log.warning(
                "telegram.webhook_failing", reason=info.last_error_message, waiting=info.pending_update_count
            )
        return info.last_error_date
