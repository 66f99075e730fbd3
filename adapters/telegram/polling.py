"""Long polling: the next poll's offset, which confirms updates, moves only when they are stored."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from telegram.error import Conflict, RetryAfter

from adapters.telegram.bot import QuietBot
from adapters.telegram.errors import retry_after_s
from adapters.telegram.reception import Reception

_log = structlog.get_logger(__name__)


async def keep_polling(bot: QuietBot, reception: Reception, *, timeout_s: int, account: str) -> None:
    """Poll for ever.

    Raises:
        TelegramError: a poll failed.
        StoreUnavailable: from the inbox.
    """
    offset: int | None = None
    while True:
        batch = await _poll(bot, offset, timeout_s, account)
        await reception.take(batch)
        # An empty answer has confirmed all there was. Ids may start anew after a quiet week, so a number
        # from before is not kept: as an offset it would confirm, unseen, whatever is below it.
        offset = max((int(raw["update_id"]) + 1 for raw in batch), default=None)


async def _poll(
    bot: QuietBot, offset: int | None, timeout_s: int, account: str
) -> Sequence[Mapping[str, Any]]:
    """The next updates from `offset` on, which confirms those before; none when nothing came in time."""
    try:
        return await bot.poll(offset, timeout_s)
    except RetryAfter as error:
        _log.warning("telegram.poll_limited", account=account, wait_s=retry_after_s(error))
        await asyncio.sleep(retry_after_s(error))
    except Conflict as error:
        if "webhook" not in error.message.casefold():
            raise
        # Of webhook mode, or of another program: what it has not delivered yet comes by poll.
        _log.warning("telegram.webhook_removed", account=account)
        await bot.delete_webhook(drop_pending_updates=False)
    return await bot.poll(offset, timeout_s)
