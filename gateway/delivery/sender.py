"""Sends what is in the outbox: one worker per destination that has something to send, none for the others.

A worker claims a row (`sending`, committed), sends it, settles it and claims the next in one transaction. A chat
that must wait holds up no other. What a dead process left in `sending` is settled first, at the start.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal, TypeVar, assert_never

import structlog

from gateway.adapter import Adapter, Capabilities, EditsMessages, LooksUpSent
from gateway.chunking import split
from gateway.clock import Clock, to_ms, utc_now
from gateway.delivery.outcomes import (
    Again,
    Anew,
    Gone,
    Outcome,
    PlainAgain,
    Refused,
    Sent,
    Unknown,
    judge,
)
from gateway.document import Document, parse, plain, text_document
from gateway.errors import OutcomeUnknown, SendError, StoreUnavailable
from gateway.events import Pulse
from gateway.messages import Target
from gateway.store import outbox
from gateway.store.outbox import Claimed, Draft, NotYet, dest_of, target_of
from gateway.store.sqlite import Database, Work
from gateway.store.tx import Tx

log = structlog.get_logger()
T = TypeVar("T")

MAYBE_LOST = "A part of my last answer may not have arrived. /again shows it once more."
PART_REFUSED = "A part of my last answer was refused by the platform and is missing here."

CARD_REFUSED = (
    "A tool waits for your approval, but the platform refused to show its card. /status says which;"
    " /approve runs it once, /deny does not."
)

# Until a disk that is full or away is tried again.
STORE_RETRY_S = 2.0

# Above this size parsing and splitting leave the event loop's thread.
INLINE_CHARS = 20_000

# What is assumed of a platform whose adapter is not configured any more: its messages wait in the outbox.
_UNKNOWN_PLATFORM = Capabilities(measure=lambda piece: len(plain(piece)), limit=2_000, edit_limit=2_000)


@dataclass(slots=True)
class _Worker:
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    task: "asyncio.Task[None] | None" = None


class Delivery:
    """Composes, queues and sends; see the module."""

    def __init__(
        self,
        database: Database,
        *,
        new_key: Callable[[], str],
        max_age_s: float = 86_400,
        clock: Clock = utc_now,
    ) -> None:
        self._db = database
        self._new_key = new_key
        self._max_age_s = max_age_s
        self._clock = clock
        self._adapters: list[Adapter] = []
        self._online: dict[tuple[str, str], Adapter] = {}
        self._workers: dict[str, _Worker] = {}
        self._group: asyncio.TaskGroup | None = None
        self._closing = False
        self.pulse = Pulse()  # beats when a destination has nothing more to send

    def register(self, adapter: Adapter) -> None:
        """Know an adapter and what it can show, before it is connected."""
        self._adapters.append(adapter)

    def bind(self, group: asyncio.TaskGroup) -> None:
        """Set the task group in which workers run."""
        self._group = group

    async def online(self, adapter: Adapter) -> None:
        """The adapter's account is known and can send: start on what waits for it."""
        self._online[adapter.platform, adapter.account] = adapter
        try:
            dests = await self._db.read(lambda tx: outbox.open_dests(tx, adapter.platform, adapter.account))
        except StoreUnavailable as error:  # each of them is woken by its next message all the same
            log.error("delivery.open_not_read", platform=adapter.platform, reason=str(error))
            return
        for dest in dests:
            self.wake(dest)

    def capabilities(self, target: Target) -> Capabilities:
        """What the platform of a target can show."""
        adapter = self._online.get((target.platform, target.account))
        if adapter is None:
            adapter = next((known for known in self._adapters if known.platform == target.platform), None)
        return adapter.capabilities if adapter else _UNKNOWN_PLATFORM

    async def compose(self, target: Target, markdown: str) -> tuple[Document, ...]:
        """A reply's Markdown as pieces that fit the target's limit, in order; nothing visible, no piece."""
        if len(markdown) <= INLINE_CHARS:
            return self._compose(target, markdown)
        return await asyncio.to_thread(self._compose, target, markdown)

    def cut(self, target: Target, body: Document) -> tuple[Document, ...]:
        """A document as pieces that fit the target's limit, in order."""
        capabilities = self.capabilities(target)
        return split(body, capabilities.measure, capabilities.limit)

    def _compose(self, target: Target, markdown: str) -> tuple[Document, ...]:
        return self.cut(target, parse(markdown))

    def post(self, tx: Tx, draft: Draft) -> int | None:
        """Queue a draft in the caller's transaction; it goes out after the commit. None: its part is there already."""
        dest = dest_of(draft.target)
        tx.after_commit(lambda: self.wake(dest))
        return outbox.add(tx, draft, to_ms(self._clock()))

    def post_notice(
        self,
        tx: Tx,
        target: Target,
        body: Document | str,
        *,
        reply_to: str | None = None,
        turn_id: int | None = None,
        part: str | None = None,
    ) -> None:
        """Queue a short message of the gateway itself."""
        self.post(
            tx,
            Draft(
                target=target,
                kind="notice",
                body=text_document(body) if isinstance(body, str) else body,
                idem_key=self._new_key(),
                reply_to=reply_to,
                turn_id=turn_id,
                part=part,
            ),
        )

    def draft_key(self) -> str:
        """A new idempotency key (at most 25 characters, as Discord's nonce takes)."""
        return self._new_key()

    def wake(self, dest: str) -> None:
        """Something for this destination may be ready to go."""
        worker = self._workers.get(dest)
        if worker is not None:
            worker.woken.set()
            return
        target = target_of(dest)
        if self._group is None or self._closing or (target.platform, target.account) not in self._online:
            return
        worker = self._workers[dest] = _Worker()
        worker.task = self._group.create_task(self._work(dest, worker), name="delivery.worker")

    async def recover(self) -> None:
        """Settle what a dead process left in `sending`; call before any worker runs."""
        count = await self._db.write(self._recover)
        if count:
            log.warning("delivery.interrupted_found", rows=count)

    def _recover(self, tx: Tx) -> int:
        now_ms = to_ms(self._clock())
        rows = outbox.interrupted(tx)
        for row_id, dest, kind, turn_id in rows:
            capabilities = self.capabilities(target_of(dest))
            if kind == "edit" or capabilities.idempotency != "none":
                outbox.retry(tx, row_id, at_ms=now_ms, error="interrupted")
            else:
                self._mark_unknown(tx, row_id, dest, kind, turn_id, "interrupted by a crash")
        return len(rows)

    async def close(self, flush_s: float) -> None:
        """Let workers finish what can go out now, at most `flush_s` seconds; then stop."""
        tasks = [worker.task for worker in self._workers.values() if worker.task is not None]
        if tasks:
            await asyncio.wait(tasks, timeout=flush_s)
        self._closing = True
        for worker in self._workers.values():
            worker.woken.set()
        tasks = [worker.task for worker in self._workers.values() if worker.task is not None]
        if tasks:
            _, late = await asyncio.wait(tasks, timeout=2)
            for task in late:
                task.cancel()

    async def _work(self, dest: str, worker: _Worker) -> None:
        try:
            while not self._closing:
                worker.woken.clear()
                item = await self._stored(lambda tx: self._claim(tx, dest))
                while isinstance(item, Claimed):
                    outcome = await self._try(item)
                    item = await self._stored(self._settling(dest, item, outcome))
                if isinstance(item, NotYet):
                    await self._pause(worker, item.at_ms)
                elif not worker.woken.is_set():
                    return
        except StoreUnavailable as error:
            log.error("delivery.stopped", dest=dest, reason=str(error))
        except Exception:
            # A bug ends the sending to this one chat until its next message, never to all others.
            log.exception("delivery.broken", dest=dest)
        finally:
            del self._workers[dest]
            self.pulse.beat()

    async def _stored(self, work: Work[T]) -> T:
        """Write, however long the disk takes: what was shown has to be marked, or nobody would know it was."""
        while True:
            try:
                return await self._db.write(work)
            except StoreUnavailable as error:
                if self._closing:
                    raise
                log.error("delivery.not_stored", reason=str(error))
                await asyncio.sleep(STORE_RETRY_S)

    def _claim(self, tx: Tx, dest: str) -> Claimed | NotYet | None:
        return outbox.claim(tx, dest, self._now_ms(), max_age_ms=int(self._max_age_s * 1000))

    def _settling(
        self, dest: str, item: Claimed, outcome: Outcome
    ) -> Callable[[Tx], Claimed | NotYet | None]:
        def work(tx: Tx) -> Claimed | NotYet | None:
            self._settle(tx, dest, item, outcome)
            return None if self._closing else self._claim(tx, dest)

        return work

    async def _pause(self, worker: _Worker, until_ms: int) -> None:
        wait_s = max(0.0, (until_ms - self._now_ms()) / 1000)
        while wait_s > 0 and not self._closing:
            # Woken or not, the platform's wait stands; only closing ends it early.
            with suppress(TimeoutError):
                await asyncio.wait_for(worker.woken.wait(), min(wait_s, 60))
            worker.woken.clear()
            wait_s = max(0.0, (until_ms - self._now_ms()) / 1000)

    async def _try(self, item: Claimed) -> Outcome:
        adapter = self._online[item.message.target.platform, item.message.target.account]
        try:
            return await self._send(adapter, item)
        except SendError as error:
            return judge(error, item, adapter.capabilities)
        except Exception as error:
            # An adapter's bug: what it did before it broke nobody knows, and others must go on.
            log.exception("delivery.adapter_failed", platform=adapter.platform)
            return judge(OutcomeUnknown(type(error).__name__), item, adapter.capabilities)

    async def _send(self, adapter: Adapter, item: Claimed) -> Outcome:
        if item.edits is not None:
            if not isinstance(adapter, EditsMessages):
                return Refused(error="this platform cannot edit")
            await adapter.edit(item.edits, item.message)
            return Sent(message_id=None)
        if item.attempts > 1 and isinstance(adapter, LooksUpSent):
            found = await adapter.find_sent(item.message)
            if found is not None:
                return Sent(message_id=found.message_id)
        receipt = await adapter.send(item.message)
        return Sent(message_id=receipt.message_id)

    def _settle(self, tx: Tx, dest: str, item: Claimed, outcome: Outcome) -> None:
        now_ms = self._now_ms()
        match outcome:
            case Sent():
                outbox.settle(tx, item.id, state="sent", platform_msg_id=outcome.message_id, now_ms=now_ms)
            case Again():
                self._retry(tx, dest, item, outcome, now_ms)
            case PlainAgain():
                log.warning("delivery.markup_refused", row=item.id, turn=item.turn_id)
                outbox.strip_markup(tx, item.id)
            case Anew():
                outbox.send_anew(tx, item.id)
            case Unknown():
                self._mark_unknown(tx, item.id, dest, item.kind, item.turn_id, outcome.error)
            case Refused():
                log.warning("delivery.refused", row=item.id, turn=item.turn_id, reason=outcome.error)
                outbox.settle(tx, item.id, state="failed", error=outcome.error, now_ms=now_ms)
                self._tell_refused(tx, item)
            case Gone():
                log.warning("delivery.target_gone", dest=dest, reason=outcome.error)
                outbox.settle(tx, item.id, state="failed", error=outcome.error, now_ms=now_ms)
                outbox.mark_gone(tx, dest, outcome.error)
            case _ as never:
                assert_never(never)

    def _tell_refused(self, tx: Tx, item: Claimed) -> None:
        target = item.message.target
        if item.kind == "text":
            self.post_notice(tx, target, PART_REFUSED, turn_id=item.turn_id, part="notice:refused")
        if item.kind == "card":
            self.post_notice(tx, target, CARD_REFUSED)

    def _retry(self, tx: Tx, dest: str, item: Claimed, outcome: Again, now_ms: int) -> None:
        at_ms = now_ms + int(outcome.wait_s * 1000)
        created = tx.row("SELECT created_at FROM outbox WHERE id = :id", id=item.id)
        assert created is not None
        if at_ms - created["created_at"] > self._max_age_s * 1000:
            outbox.settle(tx, item.id, state="failed", error=f"too old: {outcome.error}", now_ms=now_ms)
            return
        log.info(
            "delivery.retry_scheduled", row=item.id, wait_s=round(outcome.wait_s, 2), reason=outcome.error
        )
        outbox.retry(tx, item.id, at_ms=at_ms, error=outcome.error)
        if outcome.whole_chat:
            outbox.pause(tx, dest, at_ms)

    def _mark_unknown(
        self,
        tx: Tx,
        row_id: int,
        dest: str,
        kind: Literal["text", "card", "notice", "edit"],
        turn_id: int | None,
        why: str,
    ) -> None:
        log.warning("delivery.outcome_unknown", row=row_id, turn=turn_id, reason=why)
        outbox.settle(tx, row_id, state="unknown", error=why, now_ms=self._now_ms())
        if kind != "notice":  # a notice about a lost notice would go on for ever
            self.post_notice(tx, target_of(dest), MAYBE_LOST, turn_id=turn_id, part="notice:unknown")

    def _now_ms(self) -> int:
        return to_ms(self._clock())
