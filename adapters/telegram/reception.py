"""Takes in what Telegram tells, by poll or by webhook: read, stored in order, presses answered afterwards.

Neighbours: `polling` and `webhook` bring raw updates and confirm them to Telegram only after `take` has returned.
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from telegram.error import TelegramError

from adapters.telegram.bot import QuietBot
from adapters.telegram.parse import Identity, parse_update
from gateway.adapter import Inbox
from gateway.messages import PressAnswer, Update

_ANSWER_LIMIT = 200  # characters of a pressed button's answer

_log = structlog.get_logger(__name__)


class Reception:
    """What comes in during one connection of one bot; `answers` has a task for each answer to a press."""

    def __init__(self, bot: QuietBot, me: Identity, inbox: Inbox, answers: asyncio.TaskGroup) -> None:
        self._bot, self._me, self._inbox, self._answers = bot, me, inbox, answers

    async def take(self, batch: Sequence[Mapping[str, Any]]) -> None:
        """Store updates in their order; when this returns they may be confirmed.

        Raises:
            StoreUnavailable: from the inbox; none of them may be confirmed.
        """
        parsed = [self._parse(raw) for raw in batch]
        updates = [update for update in parsed if update is not None]
        told = iter(await self._inbox.receive(*updates) if updates else ())
        for raw, update in zip(batch, parsed, strict=True):
            answer = next(told) if update is not None else None
            if (query_id := _pressed(raw)) is not None:
                self._answers.create_task(self._answer(query_id, answer))

    def _parse(self, raw: Mapping[str, Any]) -> Update | None:
        try:
            return parse_update(raw, self._me)
        except ValueError as error:
            # Not what the Bot API describes: it is passed over, since it would come again and again.
            _log.warning(
                "telegram.update_unreadable",
                account=self._me.id,
                update_id=raw.get("update_id"),
                reason=str(error),
            )
            return None

    async def _answer(self, query_id: str, answer: PressAnswer | None) -> None:
        """End the waiting mark on a pressed button, with a word to the presser if there is one."""
        try:
            await self._bot.answer_callback_query(
                query_id,
                text=answer.text[:_ANSWER_LIMIT] if answer else None,
                show_alert=answer.alert if answer else None,
            )
        except TelegramError as error:
            _log.debug("telegram.press_unanswered", account=self._me.id, reason=error.message)


def _pressed(raw: Mapping[str, Any]) -> str | None:
    """The id of the press that an update tells of, whether or not the rest of it can be read."""
    query = raw.get("callback_query")
    query_id = query.get("id") if isinstance(query, dict) else None
    return query_id if isinstance(query_id, str) and query_id else None
