"""Turns what the agent says into stored events, queued messages and the turn's end: one transaction for each.

The words of a response are queued for delivery in the transaction that stores the response; a request's card in
the one that parks the turn; the turn's end in the one that frees its lane.
"""

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, assert_never

import structlog

from agent.calls import ToolCall
from agent.context.folding import Keeping
from agent.events import (
    AgentEvent,
    ApprovalNeeded,
    ChatEnded,
    Checkpoint,
    Compressed,
    Failed,
    Noted,
    Paid,
    QuestionAsked,
    Record,
    Responded,
    Retracted,
    StatusChanged,
    Steered,
    TextDelta,
    ThinkingDelta,
    ToolReturned,
    ToolShown,
    ToolStarted,
)
from agent.ports import TurnInput
from agent.records import total_usage
from gateway import session_store
from gateway.clock import Clock, to_ms
from gateway.delivery import Delivery, Ending, Place, Stream
from gateway.events import EventHub
from gateway.limits import Limits
from gateway.requests import Desk, Prompt, PromptCall, Question, TaskPrompt
from gateway.retrying import Retrying
from gateway.store import messages, pending, turns
from gateway.store import requests as request_rows
from gateway.store.lanes import Head
from gateway.store.outbox import Draft
from gateway.store.retries import RETRYABLE
from gateway.store.turns import Claim, Ended
from gateway.store.tx import Store, Tx
from gateway.turns.afterwards import Afterwards
from gateway.turns.asking import Asker, write_down
from gateway.turns.handing import Handed, Handing
from gateway.turns.hearing import Ear
from gateway.turns.journal import Also, Journal
from gateway.turns.legs import Leg
from gateway.turns.translate import attempt_text, from_record, records_of, spent_by_model, usage_payload

log = structlog.get_logger()

Mask = Callable[[Any], Any]

CHANGED_SINCE = "The tool has changed since this was approved, so I ask again."

UNHEARD = (
    "You changed your message while I worked on it; I went by how it read before."
    " Send it again if the change matters."
)


class Narration:
    """One run of a turn; `records` (of all its legs) grow as the agent speaks, `parked` and `failed` say how it ended.

    `leg_from` is the first record of the present leg. `closing` is the chat's checkpoint C, stored with what follows
    from it; `is_kept` says that the leg's messages are in the agent's history, or about to be.
    """

    def __init__(
        self,
        claim: Claim,
        leg: Leg,
        *,
        database: Store,
        delivery: Delivery,
        desk: Desk,
        hub: EventHub,
        mask: Mask,
        card_mask: Mask,
        limits: Limits,
        results: Path,
        retrying: Retrying,
        afterwards: Afterwards,
        clock: Clock,
    ) -> None:
        self._limits = limits
        self._retrying = retrying
        self._afterwards = afterwards
        self._claim = claim
        self._db = database
        self._delivery = delivery
        self._desk = desk
        self._mask = mask
        self._card_mask = card_mask
        self._clock = clock
        self._journal = Journal(database, hub, claim, clock)
        # Durations by the monotonic clock: the wall clock may jump, and a turn must not time out by that.
        self._began_s = time.monotonic()
        self._first_word: tuple[int, str] | None = None
        self._failure: Failed | None = None
        self._end: asyncio.Future[None] | None = None
        self._freed: Head | None = None
        self._stream: Stream | None = None
        self._files = Handing(results, delivery.capabilities(claim.target))
        self._presence = delivery.presence(claim.target, claim.message_id)
        self.records: list[Record] = list(records_of(claim.events))
        self._leg = leg
        self.leg_from = len(self.records) - len(records_of(leg.events))
        self.given = TurnInput(turn_id=claim.turn_id, text=claim.input.text)
        self.ear = Ear(claim=claim, journal=self._journal, database=database, delivery=delivery, clock=clock)
        self.asker = Asker(
            claim=claim,
            journal=self._journal,
            database=database,
            desk=desk,
            presence=self._presence,
            card_mask=card_mask,
            clock=clock,
        )
        self.parked = False
        self.closing: Checkpoint | None = None
        self.is_kept = leg.is_over

    @property
    def failed(self) -> bool:
        """Whether the agent said that it failed."""
        return self._failure is not None

    @property
    def did_not_fit(self) -> bool:
        """Whether it failed because the model's window is too small: what it was asked must not be kept then."""
        return self._failure is not None and self._failure.kind == "context"

    def show_running(self) -> None:
        """Let the chat see that an answer is being made."""
        self._presence.begin()
        if not self._claim.events:
            self._presence.mark("seen")

    def begin(self, fingerprint: str) -> None:
        """A leg's first words, once: its ids, the agent's name, the snapshot it begins with."""
        meta = [json.loads(event.payload) for event in self._leg.events if event.kind == "meta"]
        if meta:
            if meta[0]["snapshot"] != fingerprint:
                log.info("turn.snapshot_changed", began_with=meta[0]["snapshot"], goes_on_with=fingerprint)
            return
        self._journal.soon(
            "meta",
            {
                "session_id": self._claim.session_id,
                "turn_id": self._claim.turn_id,
                "agent": self._claim.agent,
                "snapshot": fingerprint,
            },
        )

    async def take(self, event: AgentEvent) -> None:  # noqa: C901 - a closed union, one case each
        """Store one event, at once where the next step must find it stored."""
        if isinstance(event, Record):
            self.records.append(event)
        match event:
            case StatusChanged():
                if self.closing is None:  # else the turn may not be done yet: its end says so
                    self._journal.soon("status", {"status": event.status})
            case ThinkingDelta() | TextDelta():
                self._delta(event)
            case Retracted():
                self._journal.soon("retract", {"from_idx": self._journal.attempt_from})
                self._journal.begin_attempt()
                if self._stream is not None:
                    self._stream.take_back()
            case Checkpoint():
                self._checkpoint(event)
            case Responded():
                await self._responded(event)
            case ToolShown():
                self._journal.soon("tool", self._tool(event.call, event.state))
            case ToolStarted():
                self._journal.soon(*from_record(event))
                await self._journal.commit()
            case ToolReturned():
                await self._returned(event)
            case ApprovalNeeded():
                await self._park(event)
            case QuestionAsked():
                await self._put(event)
            case Noted():
                text = event.message
                await self._journal.commit(lambda tx: self._notice(tx, text))
            case Failed():
                log.warning("turn.failed", kind=event.kind, detail=event.detail)
                self._failure = event
            case Compressed():
                # Stored before anything is sent that relies on it; before that, it has not begun.
                self._journal.soon(*from_record(event))
                await self._journal.commit()
                log.info("context.compressed", before=event.tokens_before, after=event.tokens_after)
            case Paid():
                self._journal.soon(*from_record(event))
            case Steered():
                pass  # stored already, by the ear that took it out of the lane
            case ChatEnded():
                pass  # the turn's end follows; what it used is in the records
            case _ as never:
                assert_never(never)

    async def end(
        self, state: Ended, *, closed: Keeping, notice: str | None = None, also: Also | None = None
    ) -> Head | None:
        """End the turn: events, history, last words and the freed lane in one transaction; returns the next head.

        A turn ends once: whoever calls again (a `/stop` in the very last moment) gets the first end's result.
        `also` is written in the same transaction.
        """
        if self._end is None or _has_failed(self._end):
            self._end = self._submit_end(state, closed, notice, also)
        # Shielded: whoever cancels the turn must not tear its last write off; a queued write commits anyway.
        await asyncio.shield(self._end)
        return self._freed

    def _submit_end(
        self, state: Ended, closed: Keeping, notice: str | None, also: Also | None
    ) -> "asyncio.Future[None]":
        self.is_kept = True
        if state == "done":
            self._close_chat("done")
        outcome = {"done": "answered", "failed": "failed", "cancelled": "stopped"}[state]
        kind, failure = "turn", None
        if notice is None and self._failure is not None:
            kind, notice = self._failure.kind, self._failure.message
            failure = kind
        if notice is not None:
            self._journal.soon("error", {"kind": kind, "message": notice})
        used = total_usage(self.records)
        word_ms, word_kind = self._first_word or (None, None)
        self._journal.soon(
            "done",
            {
                "outcome": outcome,
                "usage": usage_payload(used),
                "first_word_ms": word_ms,
                "first_word_kind": word_kind,
            },
        )

        unsaid = self._unsaid()

        def work(tx: Tx) -> None:
            kept_from = self._keep(tx, closed)
            if unsaid is not None:
                unsaid.post(tx)
            if unsaid is not None or self._claim.events:
                self._delivery.let_stand(tx, self._claim.turn_id)
            self._limits.count_turn(
                tx,
                self._claim.requester,
                self._claim.target,
                spent_by_model(self.records),
                turn_id=self._claim.turn_id,
                now_ms=self.now_ms(),
            )
            if notice is not None:
                self._notice(tx, notice, failure)
            if state != "cancelled" and pending.has_unheard_edit(tx, self._claim.turn_id):
                self._notice(tx, UNHEARD)
            self._desk.close_turn(tx, self._claim.turn_id, "the end of the turn")
            session_store.touch(tx, self._claim.session_id, self.now_ms())
            session_store.give_title(tx, self._claim.session_id, self._claim.input.text)
            if state == "done":
                self._afterwards.count(tx, self._claim, self.records)
            if also is not None:
                also(tx)
            ran_ms = self._ran_ms()
            self._freed = turns.end(
                tx,
                self._claim.fence,
                state=state,
                error=notice,
                failure=failure,
                kept_from=kept_from,
                ran_ms=ran_ms,
                now_ms=self.now_ms(),
            )
            ids = {"session": self._claim.session_id, "turn": self._claim.turn_id}
            tx.after_commit(lambda: log.info("turn.finished", **ids, outcome=outcome, ran_ms=ran_ms))
            tx.after_commit(lambda: self._presence.mark("done" if state == "done" else "failed"))

        return self._journal.submit(work)

    async def ask_task(self, prompt: TaskPrompt, call_id: str, *, closed: Keeping, also: Also) -> None:
        """Keep the leg's messages and wait for a person's word on a task, in one transaction with `also`."""
        self.is_kept = True
        self._close_chat("waiting")
        self._journal.soon("request", {"kind": "task", "call_id": call_id, "state": "pending"})

        def work(tx: Tx) -> None:
            self._keep(tx, closed)
            also(tx)
            self._desk.ask_task(
                tx,
                turn_id=self._claim.turn_id,
                lane_id=self._claim.fence.lane_id,
                target=self._claim.target,
                requester=self._claim.requester,
                prompt=prompt,
                call_id=call_id,
            )
            turns.park(tx, self._claim.fence, ran_ms=self._ran_ms(), now_ms=self.now_ms())

        await self._journal.commit(work)
        self.parked = True

    def _keep(self, tx: Tx, closed: Keeping) -> int:
        """Change and add to the agent's history; returns the place of the first message that was added."""
        turns.replace_history(tx, self._claim, start=closed.start, stop=closed.stop, instead=closed.instead)
        return turns.add_history(tx, self._claim, closed.appended, mixed=closed.start < closed.stop)

    def say_task(self, payload: dict[str, Any]) -> None:
        """What became of a task, stored with the next commit."""
        self._journal.soon("task", payload)

    async def pass_on(self, also: Also) -> None:
        """End the leg: another agent's chat follows in the same turn."""
        await self._journal.commit(also)

    async def hand_back(self, notice: str) -> None:
        """Leave the turn to a later run, which goes on from its last checkpoint; the user is told once."""

        def work(tx: Tx) -> None:
            if turns.hand_back(tx, self._claim.fence, ran_ms=self._ran_ms(), now_ms=self.now_ms()):
                self._delivery.post_notice(
                    tx, self._claim.target, notice, turn_id=self._claim.turn_id, part="notice:restart"
                )

        await self._journal.commit(work)

    def close(self) -> None:
        """Nothing more is written or shown."""
        self._journal.close()
        self._presence.end()
        if self._stream is not None:
            self._stream.close()

    def _delta(self, event: ThinkingDelta | TextDelta) -> None:
        kind = "thinking" if isinstance(event, ThinkingDelta) else "text"
        if self._first_word is None:
            self._first_word = (self._run_ms(), kind)
        self._journal.soon(kind, {"text": event.text})
        if kind == "text":
            if self._stream is None:
                self._stream = self._new_stream(self._rounds)
            self._stream.feed(event.text)

    def _checkpoint(self, event: Checkpoint) -> None:
        if event.name == "C":
            self.closing = event
            return
        self._journal.soon(*from_record(event))
        if event.name == "A":
            # On its way before the model is asked, and in the store long before it answers: waiting would only
            # delay the answer. A crash in between costs a send that is not counted.
            self._journal.begin_attempt()
            self._journal.send_off()
        # B's result is stored already: it rides along.

    def _close_chat(self, status: str) -> None:
        """Checkpoint C, never without what follows from it; `status` is what the turn does now."""
        if self.closing is not None:
            self._journal.soon(*from_record(self.closing))
        self._journal.soon("status", {"status": status})

    async def _responded(self, event: Responded) -> None:
        response, self._stream = self._stream or self._new_stream(self._rounds - 1), None
        ending = await response.complete(event.text)
        self._journal.soon(*from_record(event))
        await self._journal.commit(lambda tx: self._queue_reply(tx, event.text, ending))

    @property
    def _rounds(self) -> int:
        return sum(isinstance(record, Responded) for record in self.records)

    def _new_stream(self, number: int) -> Stream:
        """The turn's response of this number, which names its messages."""
        return self._delivery.stream(
            Place(
                target=self._claim.target,
                turn_id=self._claim.turn_id,
                prefix=f"r{number}",
                reply_to=self._claim.message_id if number == 0 and self._claim.input.quote else None,
                is_resumed=bool(self._claim.events),
                author=self._delivery.author(self._claim.agent),
                reader_id=self._claim.requester.partition(":")[2] or None,
            )
        )

    def _unsaid(self) -> Ending | None:
        """What was shown of a response that does not come any more, by this run or an earlier one."""
        if self._stream is not None:
            return self._stream.abandon()
        text = attempt_text(self._claim.events)
        return self._new_stream(self._rounds).abandon(text) if text else None

    def _queue_reply(self, tx: Tx, text: str, ending: Ending) -> None:
        if ending.is_empty:
            return
        messages.add(
            tx,
            session_id=self._claim.session_id,
            turn_id=self._claim.turn_id,
            role="answer",
            author=self._claim.agent,
            body=text,
            now_ms=self.now_ms(),
        )
        ending.post(tx)

    async def _returned(self, event: ToolReturned) -> None:
        call = self._call(event.call_id)
        files = await self._files.handed(event, self.records) if event.files else ()
        self._journal.soon(*from_record(event))
        # Checkpoint B follows at once and commits this; the card and the transcript ride along here.
        await self._journal.commit(lambda tx: self._tool_ended(tx, event, call, files))

    def _tool_ended(self, tx: Tx, event: ToolReturned, call: ToolCall, files: Sequence[Handed]) -> None:
        for number, handed in enumerate(files):
            self._delivery.post(
                tx,
                Draft(
                    target=self._claim.target,
                    kind="text",
                    body=handed.words,
                    idem_key=self._delivery.draft_key(),
                    turn_id=self._claim.turn_id,
                    part=f"file:{event.call_id}.{number}",
                    file=handed.file,
                ),
            )
        messages.add(
            tx,
            session_id=self._claim.session_id,
            turn_id=self._claim.turn_id,
            role="tool",
            author=call.ref,
            body=event.outcome,
            now_ms=self.now_ms(),
        )
        request = request_rows.of_call(tx, self._claim.turn_id, event.call_id)
        if request is not None and request.state == "approved":
            word = {"ok": "done", "error": "failed", "denied": "not run", "unknown": "outcome unknown"}
            self._desk.show_progress(tx, request, word[event.outcome], self._claim.target)

    async def _park(self, event: ApprovalNeeded) -> None:
        call = event.queue[event.current]
        prompt = Prompt(
            queue=tuple(
                PromptCall(
                    call_id=c.id, server=c.server, tool=c.tool, args=self._card_mask(dict(c.args or {}))
                )
                for c in event.queue
            ),
            current=event.current,
            asked=self._claim.input.speaker or self._claim.requester,
        )
        self._journal.soon(
            "request",
            {
                "kind": "approval",
                "call_id": call.id,
                "position": event.current + 1,
                "of": len(event.queue),
                "state": "pending",
            },
        )
        await self._journal.commit(lambda tx: self._open_request(tx, call, prompt))
        self.parked = True

    def _open_request(self, tx: Tx, call: ToolCall, prompt: Prompt) -> None:
        earlier = request_rows.of_call(tx, self._claim.turn_id, call.id)
        if earlier is not None and earlier.state == "approved":
            prompt = replace(prompt, note=CHANGED_SINCE)
        self._desk.ask(
            tx,
            turn_id=self._claim.turn_id,
            lane_id=self._claim.fence.lane_id,
            target=self._claim.target,
            requester=self._claim.requester,
            prompt=prompt,
            args_hash=call.args_hash,
            tool_hash=call.schema,
            card=f"card:{call.id.split('.')[0]}",
        )
        turns.park(tx, self._claim.fence, ran_ms=self._ran_ms(), now_ms=self.now_ms())

    async def _put(self, event: QuestionAsked) -> None:
        """Ask the turn's question and leave: the answer brings it back."""
        asked = event.question
        question = Question(
            text=self._card_mask(asked.text),
            choices=asked.choices,
            takes_text=asked.takes_text,
            asked=self._claim.input.speaker or self._claim.requester,
            by=asked.server,
        )
        self._journal.soon(
            "request",
            {"kind": "question", "call_id": event.call.id, "position": 1, "of": 1, "state": "pending"},
        )

        def work(tx: Tx) -> None:
            self._desk.put(
                tx,
                turn_id=self._claim.turn_id,
                lane_id=self._claim.fence.lane_id,
                target=self._claim.target,
                requester=self._claim.requester,
                question=question,
                call_id=event.call.id,
            )
            write_down(tx, self._claim, question, self.now_ms())
            turns.park(tx, self._claim.fence, ran_ms=self._ran_ms(), now_ms=self.now_ms())

        await self._journal.commit(work)
        self.parked = True

    def _notice(self, tx: Tx, text: str, failure: str | None = None) -> None:
        reply_to = self._claim.message_id if self._claim.input.quote else None
        if failure in RETRYABLE:
            self._retrying.offer(
                tx,
                turn_id=self._claim.turn_id,
                requester=self._claim.requester,
                target=self._claim.target,
                words=text,
                reply_to=reply_to,
            )
        else:
            self._delivery.post_notice(
                tx, self._claim.target, text, reply_to=reply_to, turn_id=self._claim.turn_id
            )
        messages.add(
            tx,
            session_id=self._claim.session_id,
            turn_id=self._claim.turn_id,
            role="notice",
            author="parley",
            body=text,
            now_ms=self.now_ms(),
        )

    def _tool(self, call: ToolCall, state: str) -> dict[str, Any]:
        args = self._mask(dict(call.args)) if call.args is not None else None
        return {"call_id": call.id, "name": call.ref, "args": args, "state": state}

    def _call(self, call_id: str) -> ToolCall:
        for record in reversed(self.records):
            if isinstance(record, Responded):
                for call in record.calls:
                    if call.id == call_id:
                        return call
        raise LookupError(call_id)

    def _ran_ms(self) -> int:
        return self._claim.ran_ms + self._run_ms()

    def _run_ms(self) -> int:
        return round((time.monotonic() - self._began_s) * 1000)

    def now_ms(self) -> int:
        """The time as the store keeps it."""
        return to_ms(self._clock())


def _has_failed(done: "asyncio.Future[None]") -> bool:
    return done.done() and (done.cancelled() or done.exception() is not None)
