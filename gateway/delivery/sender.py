"""Sends what is in the outbox: one worker per destination that has something to send, none for the others.

A worker claims a row (`sending`, committed), sends it, settles it and claims the next in one transaction; when no
row is due it shows more of a reply that is being written. A chat that must wait holds up no other. What a dead
process left in `sending` is settled first, at the start.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TypeVar

import structlog

from gateway.adapter import Adapter, Capabilities, EditsMessages, FetchesFiles, LooksUpSent, SendsFiles
from gateway.chunking import split
from gateway.clock import Clock, utc_now
from gateway.delivery.enclosing import told_instead
from gateway.delivery.ledger import Ledger
from gateway.delivery.live import Live, Opening, Wait
from gateway.delivery.outcomes import Again, Anew, Gone, Outcome, Refused, Sent, Unknown, judge
from gateway.delivery.pacing import Pauses
from gateway.delivery.platforms import Platforms
from gateway.delivery.presence import Presence
from gateway.delivery.stream import Place, Stream
from gateway.document import Document, text_document
from gateway.errors import MessageRejected, NotSent, OutcomeUnknown, SendError, StoreUnavailable
from gateway.events import Pulse
from gateway.messages import Attachment, Author, OutboundMessage, Target
from gateway.store import outbox, previews
from gateway.store.outbox import Claimed, Draft, NotYet, dest_of, target_of
from gateway.store.tx import Store, Tx, Work

log = structlog.get_logger()
T = TypeVar("T")

# Until a disk that is full or away is tried again.
STORE_RETRY_S = 2.0


@dataclass(slots=True)
class _Worker:
    woken: asyncio.Event = field(default_factory=asyncio.Event)
    handed: Claimed | None = None
    task: "asyncio.Task[None] | None" = None


class Delivery:
    """Composes, queues and sends; see the module."""

    def __init__(
        self,
        database: Store,
        *,
        new_key: Callable[[], str],
        max_age_s: float = 86_400,
        max_pieces: int = 10,
        reactions: bool = False,
        authors: Mapping[str, Author] | None = None,
        clock: Clock = utc_now,
        now_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._db = database
        self._platforms = Platforms()
        self._ledger = Ledger(
            self._platforms,
            new_key=new_key,
            wake=self.wake,
            is_at_rest=self._is_at_rest,
            hand_over=self._hand_over,
            max_age_s=max_age_s,
            clock=clock,
        )
        self._pauses = Pauses()
        self._live = Live(
            self._platforms,
            self._ledger,
            self._pauses,
            write=self._stored,
            nudge=self._nudge,
            now_s=now_s,
            max_pieces=max_pieces,
        )
        self._max_pieces = max_pieces
        self._reactions = reactions
        self._authors = authors or {}
        self._workers: dict[str, _Worker] = {}
        self._group: asyncio.TaskGroup | None = None
        self._closing = False
        self.pulse = Pulse()  # beats when a destination has nothing more to send

    def register(self, adapter: Adapter) -> None:
        """Know an adapter and what it can show, before it is connected."""
        self._platforms.add(adapter)

    def unregister(self, adapter: Adapter) -> None:
        """The adapter is no more; what is for its account waits for the next one."""
        self._platforms.remove(adapter)

    def bind(self, group: asyncio.TaskGroup) -> None:
        """Set the task group in which workers run."""
        self._group = group

    async def online(self, adapter: Adapter) -> None:
        """The adapter's account is known and can send: start on what waits for it."""
        self._platforms.connected(adapter)
        try:
            dests = await self._db.read(lambda tx: outbox.open_dests(tx, adapter.platform, adapter.account))
        except StoreUnavailable as error:  # each of them is woken by its next message all the same
            log.error("delivery.open_not_read", platform=adapter.platform, reason=str(error))
            return
        for dest in (*dests, *self._live.dests):
            self.wake(dest)

    def place(self, chat: str) -> Target | None:
        """A chat named `platform:chat id`; None as long as none of its accounts is connected."""
        return self._platforms.place(chat)

    def capabilities(self, target: Target) -> Capabilities:
        """What the platform of a target can show."""
        return self._platforms.capabilities(target)

    async def fetch(self, target: Target, attachment: Attachment, limit_bytes: int) -> bytes:
        """The bytes of a file that came from there.

        Raises:
            SendError: see `FetchesFiles.fetch`; `NotSent` if the account is not connected.
        """
        adapter = self._platforms.online(target)
        if adapter is None:
            raise NotSent("not connected")
        if not isinstance(adapter, FetchesFiles):
            raise MessageRejected("this platform hands out no files")
        return await adapter.fetch(attachment, limit_bytes)

    def cut(self, target: Target, body: Document) -> tuple[Document, ...]:
        """A document as pieces that fit the target's limit, in order."""
        capabilities = self.capabilities(target)
        return split(body, capabilities.measure, capabilities.limit)

    def author(self, agent: str) -> Author | None:
        """Who speaks, as people see it; None where only one can."""
        return self._authors.get(agent)

    def stream(self, place: Place) -> Stream:
        """A response that begins now."""
        return Stream(
            place,
            self._live,
            self._ledger,
            lambda: self.capabilities(place.target),
            max_pieces=self._max_pieces,
        )

    def presence(self, target: Target, message_id: str | None) -> Presence:
        """What a chat sees of a turn that begins to run, beside its words."""
        return Presence(
            target,
            message_id if self._reactions else None,
            adapter=self._platforms.online(target),
            typing_gap_s=self.capabilities(target).typing_gap_s,
            is_silent=lambda: self._is_silent(dest_of(target)),
            group=self._group,
        )

    def _is_silent(self, dest: str) -> bool:
        """Whether a typing mark is needless or unwelcome: words appear, or the platform asked to wait."""
        paused = self._pauses.until(dest, self._ledger.now_ms()) is not None
        return self._closing or paused or self._live.grows_in(dest)

    def post(self, tx: Tx, draft: Draft) -> int | None:
        """Queue a draft in the caller's transaction; it goes out after the commit. None: its part is there already."""
        return self._ledger.post(tx, draft)

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
        self._ledger.post_notice(tx, target, body, reply_to=reply_to, turn_id=turn_id, part=part)

    def show_again(self, tx: Tx, row_id: int, why: str = outbox.SHOWN_AGAIN) -> int | None:
        """Queue what a row that failed or may not have arrived was to show once more; see `Ledger.show_again`."""
        return self._ledger.show_again(tx, row_id, why)

    def move_chat(self, tx: Tx, old: Target, new_id: str) -> None:
        """A chat goes by another id from now on: conversations and what is to be sent go with it."""
        self._ledger.move_chat(tx, old, new_id)

    def let_stand(self, tx: Tx, turn_id: int) -> None:
        """No more comes of what this turn has shown: it stands as it is."""
        for row in previews.of_turn(tx, turn_id):
            previews.finish(tx, row.id, None, self._ledger.now_ms())

    def stand(self, tx: Tx, turn_id: int) -> None:
        """What a turn has shown so far is a message from now on, and what is queued next stands below it."""
        self._live.stand(tx, turn_id)

    async def say_at_once(self, target: Target, text: str) -> None:
        """Show a short text without a row of the outbox, best effort: for when nothing can be stored."""
        adapter = self._platforms.online(target)
        if adapter is None:
            return
        try:
            await adapter.send(
                OutboundMessage(target=target, body=text_document(text), idem_key=self.draft_key())
            )
        except SendError as error:
            log.warning("delivery.not_said", reason=str(error))

    def draft_key(self) -> str:
        """A new idempotency key (at most 25 characters, as Discord's nonce takes)."""
        return self._ledger.new_key()

    def wake(self, dest: str) -> None:
        """Something for this destination may be ready to go."""
        worker = self._workers.get(dest)
        if worker is not None:
            worker.woken.set()
        elif self._can_work(dest):
            self._start(dest, _Worker())

    def _is_at_rest(self, dest: str) -> bool:
        # Asked in the store's thread: the answer may be old when the row arrives, which `_hand_over` allows for.
        return dest not in self._workers and self._can_work(dest)

    def _hand_over(self, dest: str, item: Claimed) -> None:
        """Send a row that was claimed when it was queued."""
        worker = self._workers.get(dest)
        if worker is not None:  # it began in between, to find nothing: it sends this row first
            worker.handed = item
            worker.woken.set()
        elif self._can_work(dest):
            self._start(dest, _Worker(handed=item))
        else:
            log.warning("delivery.nobody_to_send", row=item.id)
            self._db.write(
                lambda tx: outbox.retry(tx, item.id, at_ms=self._ledger.now_ms(), error="nobody there")
            )

    def _can_work(self, dest: str) -> bool:
        return (
            self._group is not None
            and not self._closing
            and self._platforms.online(target_of(dest)) is not None
        )

    def _start(self, dest: str, worker: _Worker) -> None:
        assert self._group is not None
        self._workers[dest] = worker
        worker.task = self._group.create_task(self._work(dest, worker), name="delivery.worker")

    def _nudge(self, dest: str) -> None:
        if (worker := self._workers.get(dest)) is not None:
            worker.woken.set()

    async def recover(self) -> None:
        """Settle what a dead process left in `sending`; call before any worker runs."""
        count = await self._db.write(self._ledger.recover)
        if count:
            log.warning("delivery.interrupted_found", rows=count)

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
        claim: Opening | None = None
        try:
            while not self._closing and self._platforms.online(target_of(dest)) is not None:
                worker.woken.clear()
                handed, worker.handed = worker.handed, None
                if handed is not None:
                    found = await self._send_rows(dest, handed)
                else:
                    item = await self._stored(claim or (lambda tx: self._ledger.claim(tx, dest)))
                    found, claim = await self._send_rows(dest, item), None
                until_ms = found.at_ms if found else self._pauses.until(dest, self._ledger.now_ms())
                if until_ms is not None:
                    await self._pause(worker, until_ms)
                    continue
                more = await self._live.show_more(dest)
                if isinstance(more, Wait):
                    await _rest(worker, more.seconds)
                elif more is not None:
                    claim = more
                elif not worker.woken.is_set():
                    return
        except StoreUnavailable as error:
            log.error("delivery.stopped", dest=dest, reason=str(error))
        except Exception:
            # A bug ends the sending to this one chat until its next message, never to all others.
            log.exception("delivery.broken", dest=dest)
        finally:
            del self._workers[dest]
            if worker.handed is not None:
                self._hand_over(dest, worker.handed)
            self.pulse.beat()

    async def _send_rows(self, dest: str, item: Claimed | NotYet | None) -> NotYet | None:
        """Send this row and all that are due after it; returns when the next one is, None if there is none."""
        while isinstance(item, Claimed):
            sent = await self._live.newest(item)
            outcome = await self._try(sent)
            item = await self._stored(self._settling(dest, sent, outcome))
            self._note(dest, sent, outcome)
        return item

    def _note(self, dest: str, item: Claimed, outcome: Outcome) -> None:
        """Tell those who keep no rows what became of one."""
        match outcome:
            case Again(whole_chat=True):
                now_ms = self._ledger.now_ms()
                self._pauses.add(dest, now_ms, now_ms + int(outcome.wait_s * 1000))
            case Sent(message_id=str() as message_id) if item.message.growing or outcome.is_old:
                self._live.sent(item, message_id)
            case Unknown() | Refused() | Gone() if item.message.growing:
                self._live.unsent(item, is_unknown=isinstance(outcome, Unknown))
            case Sent() | Refused() | Gone():
                self._live.forget(item.id)
            case _:
                pass

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

    def _settling(
        self, dest: str, item: Claimed, outcome: Outcome
    ) -> Callable[[Tx], Claimed | NotYet | None]:
        def work(tx: Tx) -> Claimed | NotYet | None:
            self._ledger.settle(tx, dest, item, outcome)
            return None if self._closing else self._ledger.claim(tx, dest)

        return work

    async def _pause(self, worker: _Worker, until_ms: int) -> None:
        loop = asyncio.get_running_loop()
        wait_s = (until_ms - self._ledger.now_ms()) / 1000
        ends_s = loop.time() + wait_s  # a clock that is put back meanwhile makes no wait longer
        while wait_s > 0 and not self._closing:
            # Woken or not, the platform's wait stands; only closing ends it early.
            with suppress(TimeoutError):
                await asyncio.wait_for(worker.woken.wait(), min(wait_s, 60))
            worker.woken.clear()
            wait_s = min((until_ms - self._ledger.now_ms()) / 1000, ends_s - loop.time())

    async def _try(self, item: Claimed) -> Outcome:
        adapter = self._platforms.online(item.message.target)
        if adapter is None:  # it left after the row was claimed
            return judge(NotSent("nobody is there to show it"), item, self.capabilities(item.message.target))
        try:
            return await self._send(adapter, item)
        except SendError as error:
            outcome = judge(error, item, adapter.capabilities)
        except Exception as error:
            # An adapter's bug: what it did before it broke nobody knows, and others must go on.
            log.exception("delivery.adapter_failed", platform=adapter.platform)
            return judge(OutcomeUnknown(type(error).__name__), item, adapter.capabilities)
        if isinstance(outcome, Refused) and item.message.file is not None:
            return await self._without_file(item, outcome, adapter.capabilities)
        if isinstance(outcome, Anew) and item.ends_stream:
            rest = await self._live.rest_of(item)
            return Sent(message_id=None) if rest is None else Anew(rest=rest)
        return outcome

    async def _send(self, adapter: Adapter, item: Claimed) -> Outcome:
        if self._live.shows(item):
            return Sent(message_id=None)
        if item.edits is not None:
            if not isinstance(adapter, EditsMessages):
                return Refused(error="this platform cannot edit")
            await adapter.edit(item.edits, item.message)
            return Sent(message_id=None)
        settled = await self._settled(adapter, item)
        if settled is not None:
            return settled
        if item.message.file is None:
            receipt = await adapter.send(item.message)
        elif isinstance(adapter, SendsFiles):
            receipt = await adapter.send_file(item.message)
        else:  # its abilities changed since the row was made
            raise MessageRejected("this platform takes no files")
        return Sent(message_id=receipt.message_id)

    async def _without_file(self, item: Claimed, outcome: Refused, able: Capabilities) -> Outcome:
        """A file that the platform does not take is told of, or where it was an answer, shown all the same."""
        assert item.message.file is not None
        return replace(outcome, instead=await asyncio.to_thread(told_instead, item.message.file, able))

    async def _settled(self, adapter: Adapter, item: Claimed) -> Sent | Unknown | None:
        """Whether an earlier try of unknown outcome has shown the message; None: it may be sent (again)."""
        if item.unsure_since_ms is None:
            return None
        able, age_ms = adapter.capabilities, self._ledger.now_ms() - item.unsure_since_ms
        in_window = 0 <= age_ms < able.idempotency_window_s * 1000  # below 0: the clock was put back
        tried, is_old = item.message, item.tried not in {None, item.message.body}
        if item.tried is not None:
            tried = replace(item.message, body=item.tried, growing=True)
        if able.idempotency == "key" and in_window:  # the platform gives the first one again
            return Sent(message_id=(await adapter.send(tried)).message_id, is_old=True) if is_old else None
        if isinstance(adapter, LooksUpSent) and (in_window or able.idempotency == "key"):
            found = await adapter.find_sent(tried)
            return Sent(message_id=found.message_id, is_old=is_old) if found else None
        return Unknown(error="the platform cannot tell (any more) whether it was shown")


async def _rest(worker: _Worker, seconds: float | None) -> None:
    """Until somebody wakes the worker, at most so long."""
    if seconds == 0 or worker.woken.is_set():
        return
    with suppress(TimeoutError):
        await asyncio.wait_for(worker.woken.wait(), seconds)
