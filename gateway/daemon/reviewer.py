"""Reviews in the background: what people said is looked through for facts, what agents did for skills worth keeping.

One review at a time, after turns that are stored; shutdown cancels it. What it found and how far it read are stored
together, so one that was cut off is made again and nothing is read twice. What it used counts for the person (for a
skill: for who spoke last in the session), but it asks no limit. A proposed skill is a file that nobody loads until a
person has looked at it.
"""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import structlog

from agent.errors import AgentError
from agent.events import Usage
from agent.reviews import SkillDraft, find_facts, find_skill
from agent.runtime import AgentRuntime
from gateway.clock import Clock, to_ms, utc_now
from gateway.errors import StoreUnavailable
from gateway.limits import Limits
from gateway.store import memory, messages, reviews, turns
from gateway.store.reviews import Due, Kind
from gateway.store.tx import Store, Tx
from gateway.store.usage import Used

log = structlog.get_logger()

KNOWN_TOLD = 50
LINES_TOLD = 60
REST_S = 600.0
"""How long a review that failed is let rest."""

REVIEW_S = 120.0
DRAFTS = "skill-drafts"


@dataclass(slots=True, kw_only=True)
class Reviewer:
    """See the module; `mask` is the redactor's: a fact with a secret in it is not kept."""

    database: Store
    runtime: AgentRuntime
    every: int
    drafts: Path
    mask: Callable[[Any], Any]
    limits: Limits
    keeps_facts: bool = True
    clock: Clock = utc_now
    _due: asyncio.Event = field(default_factory=asyncio.Event)
    _resting: dict[tuple[Kind, str], float] = field(default_factory=dict)

    def wake(self) -> None:
        """Something may be due."""
        self._due.set()

    async def run(self) -> None:
        """Review whatever is due, until cancelled."""
        self._due.set()  # what an earlier run left
        while True:
            await self._due.wait()
            self._due.clear()
            try:
                for review in await self.database.read(self._find_due):
                    await self._review(review)
            except StoreUnavailable as error:
                log.warning("review.not_stored", reason=str(error))

    def _find_due(self, tx: Tx) -> list[Due]:
        kinds: tuple[Kind, ...] = ("memory", "skills") if self.keeps_facts else ("skills",)
        now_s = time.monotonic()
        return [
            review
            for kind in kinds
            for review in reviews.due(tx, kind, self.every)
            if self._resting.get((review.kind, review.subject), 0.0) <= now_s
        ]

    async def _review(self, review: Due) -> None:
        key = (review.kind, review.subject)
        try:
            async with asyncio.timeout(REVIEW_S):
                found = await (self._facts(review) if review.kind == "memory" else self._skill(review))
        except (AgentError, TimeoutError, KeyError, OSError) as error:
            # KeyError: the agent is not configured any more.
            self._resting[key] = time.monotonic() + REST_S
            log.warning("review.failed", kind=review.kind, reason=type(error).__name__)
            return
        self._resting.pop(key, None)
        log.info("review.finished", kind=review.kind, found=found)

    async def _facts(self, review: Due) -> int:
        said, known = await self.database.read(
            lambda tx: (
                reviews.said_since(tx, review.subject),
                memory.newest(tx, review.subject, KNOWN_TOLD),
            )
        )
        found: tuple[str, ...] = ()
        used = Usage()
        if said.lines:
            snapshot = await self.runtime.snapshot(review.agent)
            found, used = await find_facts(snapshot, said.lines, [fact.text for fact in known])
        now_ms = to_ms(self.clock())

        def store(tx: Tx) -> int:
            kept = [fact for fact in found if self.mask(fact) == fact]
            added = sum(
                memory.add(tx, review.subject, fact, source=memory.REVIEW, now_ms=now_ms) for fact in kept
            )
            self._count(tx, review.subject, used)
            reviews.read_to(tx, review.subject, said.upto)
            reviews.done(tx, review)
            return added

        return await self.database.write(store)

    async def _skill(self, review: Due) -> int:
        session_id = int(review.subject.partition(":")[0])
        lines = await self.database.read(lambda tx: messages.transcript(tx, session_id))
        told = [f"{line.role} ({line.author}): {line.body}" for line in lines[-LINES_TOLD:]]
        draft, used = await find_skill(await self.runtime.snapshot(review.agent), told)
        if draft is not None:
            await asyncio.to_thread(self._propose, review.agent, draft)

        def store(tx: Tx) -> None:
            person = turns.last_requester(tx, session_id)
            if person is not None:
                self._count(tx, person, used)
            reviews.done(tx, review)

        await self.database.write(store)
        return int(draft is not None)

    def _count(self, tx: Tx, person: str, used: Usage) -> None:
        unpriced = used.requests if used.usd_micros is None else 0
        tokens = used.input_tokens + used.output_tokens
        self.limits.count_review(
            tx, person, Used(tokens=tokens, usd_micros=used.usd_micros or 0, unpriced=unpriced)
        )

    def _propose(self, agent: str, draft: SkillDraft) -> None:
        folder = self.drafts / agent / draft.name
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        (folder / "SKILL.md").write_text(self.mask(draft.text), "utf-8")
