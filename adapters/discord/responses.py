"""Answers to presses and called commands, within the three seconds that Discord gives.

https://docs.discord.com/developers/interactions/receiving-and-responding (read 2026). What the store says in
time is the answer; when it takes longer, the interaction is deferred and the answer follows. Only the person
sees it. All of this is best effort: what was decided is decided, answered or not.
"""

import asyncio
from collections.abc import Mapping
from typing import Any

import structlog

from adapters.discord.client import LeanClient
from adapters.discord.payloads import private_body
from adapters.discord.render import MAX_TEXT, render
from gateway.document import text_document
from gateway.errors import SendError
from gateway.messages import PressAnswer

DEFER_AFTER_S = 1.0

MESSAGE, DEFERRED_MESSAGE, DEFERRED_UPDATE = 4, 5, 6

Json = Mapping[str, Any]

_log = structlog.get_logger(__name__)


class Responder:
    """Responds to the interactions of one connection, each in a task of its own."""

    def __init__(
        self, client: LeanClient, group: asyncio.TaskGroup, *, defer_after_s: float = DEFER_AFTER_S
    ) -> None:
        self._client = client
        self._group = group
        self._defer_after_s = defer_after_s

    def answer(self, raw: Json, told: asyncio.Future[PressAnswer | None], called: str) -> None:
        """Answer an interaction as soon as it is known what; `called` is a command's text, "" for a press."""
        self._group.create_task(self._answer(raw, told, called))

    async def _answer(self, raw: Json, told: asyncio.Future[PressAnswer | None], called: str) -> None:
        try:
            await self._respond(raw, told, called)
        except SendError as error:
            _log.debug("discord.interaction_unanswered", interaction=raw["id"], reason=str(error))

    async def _respond(self, raw: Json, told: asyncio.Future[PressAnswer | None], called: str) -> None:
        try:
            answer = await asyncio.wait_for(asyncio.shield(told), self._defer_after_s)
        except TimeoutError:
            await self._defer(raw, called)
            await self._follow_up(raw, _text(await told, called), called)
            return
        text = _text(answer, called)
        body = {"type": MESSAGE, "data": private_body(text)} if text else {"type": DEFERRED_UPDATE}
        await self._callback(raw, body)

    async def _defer(self, raw: Json, called: str) -> None:
        """End the waiting mark on a button; for a command show one, to its caller only."""
        body = {"type": DEFERRED_MESSAGE, "data": private_body("")} if called else {"type": DEFERRED_UPDATE}
        await self._callback(raw, body)

    async def _follow_up(self, raw: Json, text: str, called: str) -> None:
        ids = {"webhook_id": str(raw["application_id"]), "webhook_token": raw["token"]}
        path = "/webhooks/{webhook_id}/{webhook_token}"
        if called:
            await self._client.ask("PATCH", path + "/messages/@original", body=private_body(text), **ids)
        elif text:
            await self._client.ask("POST", path, body=private_body(text), **ids)

    async def _callback(self, raw: Json, body: Json) -> None:
        await self._client.ask(
            "POST",
            "/interactions/{webhook_id}/{webhook_token}/callback",
            body=body,
            webhook_id=str(raw["id"]),
            webhook_token=raw["token"],
        )


def _text(answer: PressAnswer | None, called: str) -> str:
    """What the person reads: the answer; a command without one is repeated, its answer comes as a message."""
    return render(text_document(answer.text if answer else called)).strip()[:MAX_TEXT]
