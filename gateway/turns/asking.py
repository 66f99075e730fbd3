"""Asks a person while a tool runs: the question is a request like any other, but its turn waits in the tool.

Such a question cannot be parked, so its wait is bounded. When its run ends before the answer comes (a stop, a restart,
a crash), it is closed, at the latest when the turn is claimed again: a later press answers nobody.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from agent import questions
from agent.calls import ToolCall
from agent.questions import Reply, Said, Silent, Skipped
from gateway.clock import Clock, to_ms
from gateway.delivery.presence import Presence
from gateway.errors import StoreUnavailable
from gateway.requests import Desk, Question
from gateway.store import messages
from gateway.store import requests as rows
from gateway.store.requests import Request
from gateway.store.turns import Claim
from gateway.store.tx import Store, Tx
from gateway.turns.journal import Journal

LOOK_S = 2.0
GRACE_S = 10.0
"""How much later than its end a question may be settled before its asker gives it up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """One running turn's `agent.ports.Ask`."""

    claim: Claim
    journal: Journal
    database: Store
    desk: Desk
    presence: Presence
    card_mask: Callable[[Any], Any]
    clock: Clock

    async def __call__(self, call: ToolCall, question: questions.Question, wait_s: float) -> Reply:
        """Show the question and wait for the answer, at most so long."""
        settled: asyncio.Future[Request] = asyncio.get_running_loop().create_future()
        opened: list[int] = []
        self.journal.soon(
            "request", {"kind": "question", "call_id": call.id, "position": 1, "of": 1, "state": "pending"}
        )
        try:
            await self.journal.commit(
                lambda tx: opened.append(self._open(tx, call, question, wait_s, settled))
            )
            self.presence.end()
            async with asyncio.timeout(wait_s + GRACE_S):
                return _reply(await self._ended(opened[0], settled))
        except TimeoutError:
            return Silent()
        finally:
            self.presence.begin()
            if not settled.done() or settled.cancelled():
                # Queued here, so it is stored before whatever the end of this run stores.
                closing = self.database.write(lambda tx: self._close(tx, opened))
                closing.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _ended(self, request_id: int, settled: "asyncio.Future[Request]") -> Request:
        """The request once it is settled: told by this desk, or seen in the store if another node's did it."""
        while not settled.done():
            await asyncio.wait([settled], timeout=LOOK_S)
            with suppress(StoreUnavailable):
                request = await self.database.read(lambda tx: rows.get(tx, request_id))
                if request is not None and request.state != "pending":
                    return request
        return settled.result()

    def _close(self, tx: Tx, opened: list[int]) -> None:
        for request_id in opened:
            self.desk.close(tx, request_id)

    def _open(
        self,
        tx: Tx,
        call: ToolCall,
        asked: questions.Question,
        wait_s: float,
        settled: "asyncio.Future[Request]",
    ) -> int:
        claim = self.claim
        question = Question(
            text=self.card_mask(asked.text),
            choices=asked.choices,
            takes_text=asked.takes_text,
            asked=claim.input.speaker or claim.requester,
            by=asked.server,
        )
        write_down(tx, claim, question, to_ms(self.clock()))
        return self.desk.put(
            tx,
            turn_id=claim.turn_id,
            lane_id=claim.fence.lane_id,
            target=claim.target,
            requester=claim.requester,
            question=question,
            call_id=call.id,
            lasts_s=wait_s,
            settled=settled,
        )


def write_down(tx: Tx, claim: Claim, question: Question, now_ms: int) -> None:
    """Write a question into the transcript."""
    messages.add(
        tx,
        session_id=claim.session_id,
        turn_id=claim.turn_id,
        role="answer",
        author=claim.agent,
        body="\n".join([question.text, *(f"- {each}" for each in question.choices)]),
        now_ms=now_ms,
    )


def _reply(request: Request) -> Reply:
    match request.state:
        case "answered":
            return Said(text=request.answer or "")
        case "denied":
            return Skipped()
        case _:
            return Silent()
