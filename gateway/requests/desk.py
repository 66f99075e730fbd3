"""Opens and settles requests; the only place that does.

A press, `/approve`, expiry, `/stop` and a reset all end in one conditional update: the first valid answer wins,
and in the same transaction its turn is made ready, its card is queued to be changed and its lane is kicked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import structlog

from gateway.clock import Clock, to_ms, utc_now
from gateway.delivery import Delivery
from gateway.document import Document, document
from gateway.messages import Button, PressAnswer, Target
from gateway.requests.cards import Prompt, one_line, open_card, reminder, settled_card, whole_call
from gateway.source import SessionSource
from gateway.store import lanes, outbox, turns
from gateway.store import requests as rows
from gateway.store.lanes import Head
from gateway.store.outbox import Draft
from gateway.store.requests import Request, RequestState
from gateway.store.tx import Tx

log = structlog.get_logger()

Choice = Literal["once", "deny", "show"]
_DECISIONS: dict[str, RequestState] = {"once": "approved", "deny": "denied"}
_LABELS = {"once": "Once", "deny": "Deny", "show": "Show all"}
_STYLES: dict[str, Literal["plain", "good", "danger"]] = {"once": "good", "deny": "danger", "show": "plain"}

EXPIRED_REASON = (
    "Nobody answered in time. Silence is not consent: do not try to get the same done another way."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """Who answers: `id` is platform:user, `name` is for people to read."""

    id: str
    name: str
    is_admin: bool = False

    @classmethod
    def of(cls, source: SessionSource, *, is_admin: bool) -> "Actor":
        """The author of a message or press."""
        return cls(id=source.requester, name=source.user_name or source.user_id, is_admin=is_admin)


class Desk:
    """See the module; all methods that take a `tx` belong to the caller's transaction."""

    def __init__(
        self,
        delivery: Delivery,
        *,
        kick: Callable[[Head], None],
        new_token: Callable[[], str],
        timeout_s: float = 1_800,
        approvers: frozenset[str] = frozenset(),
        clock: Clock = utc_now,
    ) -> None:
        self._delivery = delivery
        self._kick = kick
        self._new_token = new_token
        self._timeout_s = timeout_s
        self._approvers = approvers
        self._clock = clock

    def ask(
        self,
        tx: Tx,
        *,
        turn_id: int,
        lane_id: int,
        target: Target,
        requester: str,
        prompt: Prompt,
        args_hash: str,
        card: str,
    ) -> int:
        """Open an approval and show it on the round's card, which is the turn's part `card`; returns its id."""
        now_ms = to_ms(self._clock())
        request_id = rows.open_request(
            tx,
            turn_id=turn_id,
            lane_id=lane_id,
            call_id=prompt.call.call_id,
            kind="approval",
            requester=requester,
            args_hash=args_hash,
            prompt=prompt.to_json(),
            now_ms=now_ms,
            expires_at=now_ms + int(self._timeout_s * 1000),
        )
        shown = outbox.live_card(tx, turn_id, card)
        if shown is not None:
            outbox.point_card(tx, shown, request_id)
        capabilities = self._delivery.capabilities(target)
        made = open_card(
            prompt,
            minutes=round(self._timeout_s / 60),
            measure=capabilities.measure,
            limit=capabilities.limit,
        )
        self._delivery.post(
            tx,
            Draft(
                target=target,
                kind="edit" if shown is not None else "card",
                body=made.body,
                buttons=self._buttons(tx, request_id, offer_all=made.hidden > 0),
                idem_key=self._delivery.draft_key(),
                turn_id=turn_id,
                part=None if shown is not None else f"{card}:{request_id}",
                request_id=request_id,
                edits=shown,
            ),
        )
        return request_id

    def remind(self, tx: Tx, request: Request, target: Target, *, kept: int, reply_to: str | None) -> None:
        """Repeat an open request, with buttons of its own, to somebody who wrote instead of answering."""
        capabilities = self._delivery.capabilities(target)
        prompt = Prompt.from_json(request.prompt)
        self._delivery.post(
            tx,
            Draft(
                target=target,
                kind="card",
                body=reminder(prompt, kept=kept, measure=capabilities.measure, limit=capabilities.limit),
                buttons=self._buttons(tx, request.id, offer_all=False),
                idem_key=self._delivery.draft_key(),
                reply_to=reply_to,
                request_id=request.id,
            ),
        )

    def press(
        self, tx: Tx, token: str, actor: Actor, target: Target, message_id: str | None = None
    ) -> PressAnswer:
        """A press on a button: decides, or changes nothing and says why. `message_id` is what shows it."""
        found = rows.by_token(tx, token)
        if found is None:
            return PressAnswer(text="This button is not known here (any more). Nothing was done.", alert=True)
        request, choice = found
        if message_id is not None:
            outbox.learn_card(tx, request.id, token, message_id, to_ms(self._clock()))
        if choice == "show":
            return self._show_all(tx, request, actor, target)
        return self.decide(tx, request, _DECISIONS[choice], actor)

    def decide(
        self, tx: Tx, request: Request, state: RequestState, actor: Actor, reason: str | None = None
    ) -> PressAnswer:
        """Settle a request as `actor`; the first valid answer wins."""
        if not self._may_answer(request, actor):
            asked = Prompt.from_json(request.prompt).asked
            return PressAnswer(text=f"Only {asked} may answer this. Nothing was done.", alert=True)
        if request.state != "pending":
            return PressAnswer(text=self._already(request), alert=True)
        now_ms = to_ms(self._clock())
        if request.expires_at is not None and request.expires_at <= now_ms:
            self._settle(tx, request, "expired", by="", reason=EXPIRED_REASON)
            return PressAnswer(text="Too late: this request has expired. Nothing was run.", alert=True)
        if not self._settle(tx, request, state, by=actor.name, reason=reason):
            return PressAnswer(text="Somebody else was first. Nothing was done.", alert=True)
        log.info("request.decided", request=request.id, turn=request.turn_id, state=state, by=actor.id)
        return PressAnswer(text="Approved, running it." if state == "approved" else "Denied.")

    def close_turn(self, tx: Tx, turn_id: int, by: str) -> None:
        """Close whatever the turn still asks: a later press runs nothing."""
        for request in rows.pending_of_turn(tx, turn_id):
            self._settle(tx, request, "closed", by=by, reason="the turn was stopped")

    def expire(self, tx: Tx) -> int:
        """Settle all requests nobody answered in time; returns how many."""
        overdue = rows.due(tx, to_ms(self._clock()))
        for request in overdue:
            self._settle(tx, request, "expired", by="", reason=EXPIRED_REASON)
        return len(overdue)

    def show_progress(self, tx: Tx, request: Request, progress: str, target: Target) -> None:
        """Change the cards of an approved request: running, done, failed."""
        self._update_cards(tx, request, target, progress)

    def _settle(self, tx: Tx, request: Request, state: RequestState, *, by: str, reason: str | None) -> bool:
        now_ms = to_ms(self._clock())
        if not rows.decide(tx, request.id, state=state, by=by, reason=reason, now_ms=now_ms):
            return False
        settled = rows.get(tx, request.id)
        assert settled is not None
        progress = "running…" if state == "approved" else ""
        self._update_cards(tx, settled, lanes.get(tx, request.lane_id).target, progress)
        head = turns.unpark(tx, request.turn_id, now_ms)
        if head is not None:
            tx.after_commit(lambda: self._kick(head))
        return True

    def _update_cards(self, tx: Tx, request: Request, target: Target, progress: str) -> None:
        capabilities = self._delivery.capabilities(target)
        at = datetime.fromtimestamp((request.decided_at or 0) / 1000, tz=UTC)
        card = settled_card(
            Prompt.from_json(request.prompt),
            request.state,
            by=request.decided_by or "",
            at=at,
            progress=progress,
            measure=capabilities.measure,
            limit=capabilities.limit,
        )
        for row_id in outbox.cards_of(tx, request.id):
            self._edit(tx, target, row_id, card.body)

    def _edit(self, tx: Tx, target: Target, row_id: int, body: Document) -> None:
        self._delivery.post(
            tx,
            Draft(target=target, kind="edit", body=body, idem_key=self._delivery.draft_key(), edits=row_id),
        )

    def _show_all(self, tx: Tx, request: Request, actor: Actor, target: Target) -> PressAnswer:
        if not self._may_answer(request, actor):
            return PressAnswer(text="Only who may answer this may see it all.", alert=True)
        prompt = Prompt.from_json(request.prompt)
        for piece in self._delivery.cut(target, document(*whole_call(prompt).blocks)):
            self._delivery.post_notice(tx, target, piece)
        return PressAnswer(text=f"All arguments of {prompt.call.tool} follow.")

    def _may_answer(self, request: Request, actor: Actor) -> bool:
        return actor.is_admin or actor.id == request.requester or actor.id in self._approvers

    def _already(self, request: Request) -> str:
        words = {
            "approved": f"already approved by {request.decided_by}",
            "denied": f"already denied by {request.decided_by}",
            "expired": "expired, it was not run",
            "closed": "closed, it was not run",
        }
        return (
            f"This is {words[request.state]}. Nothing was done: {one_line(Prompt.from_json(request.prompt))}"
        )

    def _buttons(self, tx: Tx, request_id: int, *, offer_all: bool) -> tuple[tuple[Button, ...], ...]:
        choices: Sequence[Choice] = ("once", "deny", "show") if offer_all else ("once", "deny")
        made = []
        for choice in choices:
            token = self._new_token()
            rows.add_button(tx, token=token, request_id=request_id, choice=choice)
            made.append(Button(label=_LABELS[choice], token=token, style=_STYLES[choice]))
        return (tuple(made[:2]), *((button,) for button in made[2:]))
