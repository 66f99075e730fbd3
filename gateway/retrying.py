"""Offers to try a turn again that failed for its provider's or the network's reasons, and does it.

The offer is a confirmation: it blocks no lane, holds after a restart and for a week; `/retry` does the same as its
button, for as long as the turn's steps are kept. Neighbours: `turns` offers, `commands` asks for it by words.
"""

from collections.abc import Callable

import structlog

from gateway.clock import Clock, to_ms, utc_now
from gateway.limits import Limits
from gateway.messages import Target
from gateway.requests import Actor, Desk
from gateway.requests.offers import Offer
from gateway.store import requests as rows
from gateway.store import retries
from gateway.store.lanes import Head
from gateway.store.requests import Request
from gateway.store.retries import FailedTurn
from gateway.store.tx import Tx

log = structlog.get_logger()

TOPIC = "retry"
LASTS_S = 7 * 86_400
RETRY = Offer(label="Retry", choice="once", style="good")

NOTHING = "There is nothing to try again here."
GONE = "This was tried again already."
ENDED = "That conversation has ended; /sessions goes back to it, then /retry tries again."
FORGOTTEN = "That is too long ago: its steps are forgotten. Please send it again."
BUSY = "I am still busy here; try again when that is done."
NOT_YOURS = "Only who asked, or an admin, may try that again."
AGAIN = "I try that again."


class Retrying:
    """See the module; all methods belong to the caller's transaction."""

    def __init__(
        self, desk: Desk, *, limits: Limits, kick: Callable[[Head], None], clock: Clock = utc_now
    ) -> None:
        self._desk = desk
        self._limits = limits
        self._kick = kick
        self._clock = clock
        desk.on_confirmation(TOPIC, self._confirmed, why_wait=self._why_wait)

    def offer(
        self, tx: Tx, *, turn_id: int, requester: str, target: Target, words: str, reply_to: str | None
    ) -> None:
        """Tell of a failure, with a button that tries again."""
        self._desk.confirm(
            tx,
            call_id=_call_id(turn_id),
            words=words,
            offered=((RETRY,),),
            targets=[target],
            lasts_s=LASTS_S,
            requester=requester,
            reply_to=reply_to,
        )

    def on_request(self, tx: Tx, lane_id: int | None, actor: Actor) -> str:
        """What `/retry` does: the lane's last failure again; returns the answer."""
        failed = retries.last_of_lane(tx, lane_id) if lane_id is not None else None
        if failed is None:
            return NOTHING
        if actor.id != failed.requester and not actor.is_admin:
            return NOT_YOURS
        for request in rows.pending_confirmations(tx, _call_id(failed.id)):
            return self._desk.decide(tx, request, "approved", actor).text
        return self._again(tx, failed)

    def _confirmed(self, tx: Tx, request: Request, choice: str, actor: Actor) -> str:
        del choice, actor  # there is one button, and the desk has asked who may press it
        failed = retries.get(tx, int(request.call_id.removeprefix(f"{TOPIC}:")))
        return GONE if failed is None else self._again(tx, failed)

    def _why_wait(self, tx: Tx, request: Request) -> str | None:
        failed = retries.get(tx, int(request.call_id.removeprefix(f"{TOPIC}:")))
        waits = failed is not None and failed.is_current and retries.is_busy(tx, failed.lane_id)
        return BUSY if waits else None

    def _again(self, tx: Tx, failed: FailedTurn) -> str:
        if not failed.is_current:
            return ENDED
        if failed.pruned:
            return FORGOTTEN
        if retries.is_busy(tx, failed.lane_id):
            return BUSY
        for why_not in (self._limits.why_no_message, self._limits.why_no_turn):
            if (refusal := why_not(tx, failed.requester, failed.target)) is not None:
                return refusal
        made = retries.again(tx, failed.id, to_ms(self._clock()))
        if made is None:
            return GONE
        new_id, head = made
        self._limits.count_message(tx, failed.requester, failed.target)
        log.info("turn.tried_again", turn=failed.id, as_turn=new_id)
        if head is not None:
            tx.after_commit(lambda: self._kick(head))
        return AGAIN


def _call_id(turn_id: int) -> str:
    return f"{TOPIC}:{turn_id}"
