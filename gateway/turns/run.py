"""The runner: takes a lane's head, lets its agent chat, and leaves the turn ended, waiting or handed back.

Invariants: every write is fenced; a turn ends in the same transaction that queues its last words and frees its
lane; a waiting turn keeps nothing here. Whatever an agent or adapter breaks ends this one turn, with words to the
user, and never the daemon.
"""

import asyncio
import secrets
from collections.abc import AsyncGenerator, Callable, Collection
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import structlog

from agent.chat import chat
from agent.context.compact import compact
from agent.context.folding import KEEPS_ALL, Keeping, without_compressions
from agent.events import AgentEvent
from agent.keeping import closed_history, compacted_history, is_readable
from agent.memory.lifecycle import Memory
from agent.ports import ChatState, Gate, TurnInput
from agent.snapshot import Snapshot
from gateway import session_store
from gateway.clock import Clock, to_ms, utc_now
from gateway.delivery import Delivery
from gateway.errors import Fenced, StoreUnavailable
from gateway.events import EventHub
from gateway.limits import Limits
from gateway.requests import Desk
from gateway.retrying import Retrying
from gateway.store import lanes, turns
from gateway.store.lanes import Head
from gateway.store.turns import Claim
from gateway.store.tx import Store, Tx
from gateway.turn_queue import Cut
from gateway.turns.afterwards import Afterwards, who_of
from gateway.turns.legs import Leg, leg_of
from gateway.turns.narration import Mask, Narration
from gateway.turns.reading import FileLimits, FileReader
from gateway.turns.tasks import GONE, Again, TaskSystem
from gateway.turns.translate import records_of
from gateway.turns.wording import cannot_read, context_line, for_model, says_nothing

log = structlog.get_logger()

GIVEN_UP = "I tried this {n} times and was interrupted each time, so I gave it up. Please send it again."
TIMED_OUT = "This took longer than {minutes} minutes, so I stopped it."
BROKEN = "Something went wrong inside me and I could not finish this (reference {reference})."
DAMAGED = (
    "I cannot read our conversation so far any more, so a new one begins. Please send your message again."
)
UNSTORED = "I cannot store anything just now, so this has to wait; I go on with it as soon as I can."
LATER = "I am being restarted in the middle of this; I go on with it afterwards."


class Snapshots(Protocol):
    """Where turns get their agent from."""

    async def snapshot(self, agent: str, platform: str = "") -> Snapshot:
        """The agent as it is now on a platform, for one whole turn."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnSettings:
    """Bounds of a turn: seconds it may run (waiting not counted), attempts without progress."""

    timeout_s: float = 1_800
    attempts: int = 3


class TurnRunner:
    """See the module; `drain` is what the turn queue calls, `results` the folder with files of tool results."""

    def __init__(
        self,
        *,
        database: Store,
        delivery: Delivery,
        desk: Desk,
        hub: EventHub,
        snapshots: Snapshots,
        gate: Callable[[Claim], Gate],
        limits: Limits,
        retrying: Retrying,
        settings: TurnSettings,
        mask: Mask,
        card_mask: Mask,
        agents: Collection[str],
        why_cut: Callable[[int], Cut | None],
        afterwards: Afterwards | None = None,
        node: str,
        results: Path,
        files: FileLimits,
        clock: Clock = utc_now,
    ) -> None:
        self._results = results
        self._reader = FileReader(database, delivery, files, clock)
        self._db = database
        self._delivery = delivery
        self._desk = desk
        self._hub = hub
        self._snapshots = snapshots
        self._gate = gate
        self._limits = limits
        self._retrying = retrying
        self._settings = settings
        self._mask = mask
        self._card_mask = card_mask
        self._tasks = TaskSystem(database=database, agents=agents, mask=mask, card_mask=card_mask)
        self._node = node
        self._clock = clock
        self._why_cut = why_cut
        self._afterwards = afterwards or Afterwards(memory=Memory())
        self._unstored: set[int] = set()  # lanes that were told that nothing can be stored

    async def drain(self, lane_id: int) -> Head | None:
        """Run the lane's head turn until it ends, waits or is handed back; returns the next head that may run."""
        try:
            while True:
                claim = await self._db.write(lambda tx: self._claim(tx, lane_id))
                if not isinstance(claim, Claim):
                    return claim
                with structlog.contextvars.bound_contextvars(session=claim.session_id, turn=claim.turn_id):
                    following = await self._run(claim)
                self._unstored.discard(lane_id)
                if not isinstance(following, Again):
                    return following
        except Fenced as error:
            log.warning("turn.fenced", lane=lane_id, reason=str(error))
        except StoreUnavailable as error:
            # The turn stays as it is stored; the sweep finds it again once the disk is well.
            log.error("turn.not_stored", lane=lane_id, reason=str(error))
            await self._tell_unstored(lane_id)
        except Exception:
            # What is stored of the turn cannot be read, or its failure not be told: it must not stop the others,
            # nor come back for ever.
            log.exception("turn.set_aside", lane=lane_id)
            with suppress(StoreUnavailable):
                return await self._db.write(lambda tx: self._set_aside(tx, lane_id))
        return None

    async def _tell_unstored(self, lane_id: int) -> None:
        """Say once, as long as the trouble lasts, that nothing can be stored; not by the outbox, which is stored."""
        if lane_id in self._unstored:
            return
        self._unstored.add(lane_id)
        with suppress(StoreUnavailable):
            lane = await self._db.read(lambda tx: lanes.get(tx, lane_id))
            await self._delivery.say_at_once(lane.target, UNSTORED)

    def _set_aside(self, tx: Tx, lane_id: int) -> Head | None:
        notice = BROKEN.format(reference=secrets.token_hex(4))
        turn_id, following = turns.set_aside(tx, lane_id, error=notice, now_ms=self._now_ms())
        if turn_id is not None:
            self._delivery.post_notice(tx, lanes.get(tx, lane_id).target, notice, turn_id=turn_id)
            self._delivery.let_stand(tx, turn_id)
            self._desk.close_turn(tx, turn_id, "the end of the turn")
        return following

    def _claim(self, tx: Tx, lane_id: int) -> Claim | Head | None:
        claim = turns.claim(tx, lane_id, self._node, self._now_ms())
        if not isinstance(claim, Claim):
            return claim
        self._desk.close_left(tx, claim.turn_id)
        return claim if claim.events else self._tasks.route(tx, claim)

    async def _run(self, claim: Claim) -> Head | Again | None:
        leg = leg_of(claim.events)
        narration = Narration(
            claim,
            leg,
            database=self._db,
            delivery=self._delivery,
            desk=self._desk,
            hub=self._hub,
            mask=self._mask,
            card_mask=self._card_mask,
            limits=self._limits,
            results=self._results,
            retrying=self._retrying,
            afterwards=self._afterwards,
            clock=self._clock,
        )
        try:
            return await self._attempt(claim, leg, narration)
        except asyncio.CancelledError:
            why = self._why_cut(claim.fence.lane_id)
            if why is None:
                raise
            # The cut is ours and ends here: what follows are the turn's last, durable words.
            current = asyncio.current_task()
            assert current is not None
            current.uncancel()
            return await self._cut(claim, narration, why)
        except (Fenced, StoreUnavailable):
            raise
        except Exception:
            # A bug must end this one turn, visibly, and not the daemon with everybody else's.
            reference = secrets.token_hex(4)
            log.exception("turn.broken", reference=reference)
            if await asyncio.to_thread(is_readable, claim.history):
                return await narration.end(
                    "failed", closed=KEEPS_ALL, notice=BROKEN.format(reference=reference)
                )
            return await narration.end(
                "failed", closed=KEEPS_ALL, notice=DAMAGED, also=lambda tx: self._begin_anew(tx, claim)
            )
        finally:
            narration.close()

    async def _attempt(self, claim: Claim, leg: Leg, narration: Narration) -> Head | Again | None:
        claim = await self._reader.read(claim)
        narration.given = given = TurnInput(
            turn_id=claim.turn_id,
            text=for_model(claim.input, claim.requester)
            if leg.task is None
            else await self._tasks.goal(claim, leg),
            context=context_line(claim.input, claim.target),
            rounds_before=leg.rounds_before,
            who=who_of(claim),
        )
        if claim.stop is not None:
            return await self._stopped(claim, narration)
        if leg.is_over:
            return await self._tasks.answered(claim, narration, leg)
        if claim.attempt > self._settings.attempts:
            log.error("turn.given_up", attempts=claim.attempt - 1)
            return await narration.end(
                "failed",
                closed=self._closed(claim, narration, "the turn was given up after crashes"),
                notice=GIVEN_UP.format(n=claim.attempt - 1),
            )
        if says_nothing(claim.input):
            return await narration.end(
                "failed", closed=KEEPS_ALL, notice=cannot_read(claim.input.attachments)
            )
        if not claim.events and (refusal := await self._db.read(lambda tx: self._over_limit(tx, claim))):
            log.info("turn.over_limit", requester=claim.requester)
            return await narration.end("failed", closed=KEEPS_ALL, notice=refusal)
        if not self._tasks.has(claim.agent):
            return await narration.end(
                "failed",
                closed=self._closed(claim, narration, "the agent is gone"),
                notice=GONE.format(agent=claim.agent),
            )
        log.info("turn.started", attempt=claim.attempt, agent=claim.agent)
        narration.show_running()
        snapshot = await self._snapshots.snapshot(claim.agent, claim.target.platform)
        narration.begin(snapshot.fingerprint)
        state = ChatState(history=claim.history, records=records_of(leg.events))
        left_s = max(1.0, self._settings.timeout_s - claim.ran_ms / 1000)
        try:
            async with (
                asyncio.timeout(left_s),
                aclosing(self._events(claim, given, snapshot, state, narration)) as events,
            ):
                async for event in events:
                    await narration.take(event)
        except TimeoutError:
            return await narration.end(
                "failed",
                closed=self._closed(claim, narration, "stopped: the turn took too long"),
                notice=TIMED_OUT.format(minutes=round(self._settings.timeout_s / 60)),
            )
        if narration.parked:
            return None
        closed = self._closed(claim, narration, "the turn ended")
        if narration.failed:
            return await narration.end("failed", closed=KEEPS_ALL if narration.did_not_fit else closed)
        if claim.kind == turns.COMPACT:
            return await narration.end("done", closed=closed)
        return await self._tasks.chat_ended(claim, narration, closed)

    def _events(
        self, claim: Claim, given: TurnInput, snapshot: Snapshot, state: ChatState, narration: Narration
    ) -> AsyncGenerator[AgentEvent, None]:
        if claim.kind == turns.COMPACT:
            return compact(given, snapshot, state)
        return chat(given, snapshot, state, self._gate(claim), hear=narration.ear, ask=narration.asker)

    async def _cut(self, claim: Claim, narration: Narration, why: Cut) -> Head | None:
        if why == "shutdown":
            log.info("turn.handed_back")
            await narration.hand_back(LATER)
            return None
        return await self._stopped(claim, narration)

    async def _stopped(self, claim: Claim, narration: Narration) -> Head | None:
        log.info("turn.stopped")
        return await narration.end(
            "cancelled",
            closed=self._closed(claim, narration, "the user stopped this"),
            also=lambda tx: self._tasks.stop(tx, claim, self._now_ms()),
        )

    def _begin_anew(self, tx: Tx, claim: Claim) -> None:
        lane = lanes.get(tx, claim.fence.lane_id)
        if lane.session_id == claim.session_id:
            session_store.reset(tx, lane, reason="damaged", now_ms=self._now_ms())

    def _over_limit(self, tx: Tx, claim: Claim) -> str | None:
        return self._limits.why_no_turn(tx, claim.requester, claim.target)

    def _closed(self, claim: Claim, narration: Narration, closing: str) -> Keeping:
        if narration.is_kept:
            return KEEPS_ALL
        state = ChatState(history=claim.history, records=tuple(narration.records[narration.leg_from :]))
        if claim.kind == turns.COMPACT:
            return compacted_history(state)
        if narration.failed:
            # It may be tried again, from where its history was: what was shortened for it is not kept.
            state = replace(state, records=without_compressions(state.records))
        return closed_history(narration.given, state, closing=closing)

    def _now_ms(self) -> int:
        return to_ms(self._clock())
