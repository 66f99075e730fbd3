"""Opens and settles requests; the only place that does.

A press, `/approve`, expiry, `/stop` and a reset all end in one conditional update: the first valid answer wins,
and in the same transaction the audit log is written, its turn is made ready, its cards are queued to be changed and
its lane is kicked. `states` says what an answer does, `offers` what a button means, `cards` how it looks.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Literal, assert_never

import structlog

from gateway.clock import Clock, to_ms, utc_now
from gateway.delivery import Delivery
from gateway.messages import PressAnswer, Target
from gateway.requests import offers
from gateway.requests.board import Board, place_words
from gateway.requests.cards import Prompt
from gateway.requests.faces import face_of
from gateway.requests.granting import Granting
from gateway.requests.offers import Held, Terms
from gateway.requests.questions import ANSWER, Question
from gateway.requests.states import Actor, Counted, Refused, Settled, Standing, answered, may_answer
from gateway.requests.task_cards import TaskPrompt
from gateway.store import cards, lanes, outbox, pending, turns
from gateway.store import requests as rows
from gateway.store.audit import SYSTEM, AuditLog
from gateway.store.lanes import Head
from gateway.store.requests import Request, RequestState
from gateway.store.tx import Tx

log = structlog.get_logger()

EXPIRED_REASON = (
    "Nobody answered in time. Silence is not consent: do not try to get the same done another way."
)

_CLOCKS_DIFFER_MS = 2_000  # a platform's clock and ours; Telegram's dates are whole seconds, rounded down

Decided = Literal["approved", "denied", "postponed", "answered"]
_ANSWERS: Mapping[Decided, Literal["approve", "deny", "postpone", "answer"]] = {
    "approved": "approve",
    "denied": "deny",
    "postponed": "postpone",
    "answered": "answer",
}

Confirm = Callable[[Tx, Request, str, Actor], str]
"""Carries out what somebody chose (`deny`: refused); returns what to tell them and the card."""

WhyWait = Callable[[Tx, Request], str | None]
"""Why a choice cannot be carried out yet: that is told, and the button stays. None: it can."""


class Desk:
    """See the module; all methods that take a `tx` belong to the caller's transaction."""

    def __init__(
        self,
        delivery: Delivery,
        *,
        kick: Callable[[Tx, Head], None],
        new_token: Callable[[], str],
        audit: AuditLog,
        timeout_s: float = 1_800,
        approvers: frozenset[str] = frozenset(),
        needed: Callable[[str], int] = lambda _: 1,
        escalate_after_s: float | None = None,
        escalate_to: Callable[[], Target | None] = lambda: None,
        clock: Clock = utc_now,
    ) -> None:
        """`needed` is how many people must approve a call of `server/tool`.

        `escalate_to` is the chat a card is sent on to when nobody answered for `escalate_after_s`.
        """
        self._board = Board(delivery, new_token=new_token)
        self.granting = Granting(audit, clock=clock)
        self._kick = kick
        self._audit = audit
        self._timeout_s = timeout_s
        self._approvers = approvers
        self._needed = needed
        self._escalate_after_s = escalate_after_s
        self._escalate_to = escalate_to
        self._clock = clock
        self._confirms: dict[str, Confirm] = {}
        self._why_wait: dict[str, WhyWait] = {}
        self._waiting: dict[int, asyncio.Future[Request]] = {}

    def on_confirmation(self, topic: str, confirm: Confirm, *, why_wait: WhyWait = lambda *_: None) -> None:
        """Who carries out confirmations of a topic (`call_id` before its first colon), and when not yet."""
        self._confirms[topic] = confirm
        self._why_wait[topic] = why_wait

    def put(
        self,
        tx: Tx,
        *,
        turn_id: int,
        lane_id: int,
        target: Target,
        requester: str,
        question: Question,
        call_id: str,
        lasts_s: float | None = None,
        settled: "asyncio.Future[Request] | None" = None,
    ) -> int:
        """Ask a question on a card of its own; returns the request's id.

        `lasts_s` None: as long as an approval. `settled` hears how it ended, if that is in this process's life.
        """
        now_ms = self._now_ms()
        lasts_s = self._timeout_s if lasts_s is None else lasts_s
        request_id = rows.open_request(
            tx,
            turn_id=turn_id,
            lane_id=lane_id,
            call_id=call_id,
            kind="question",
            requester=requester,
            args_hash="",
            prompt=question.to_json(),
            now_ms=now_ms,
            expires_at=now_ms + int(lasts_s * 1000),
        )
        self._board.open(tx, _existing(tx, request_id), target, f"question:{request_id}")
        if settled is not None:
            tx.after_commit(lambda: self._waiting.update({request_id: settled}))
        return request_id

    def close(self, tx: Tx, request_id: int) -> None:
        """Nobody waits for this answer any more."""
        self._waiting.pop(request_id, None)
        request = rows.get(tx, request_id)
        if request is not None:
            self._settle(tx, request, "closed", actor=None, reason="the turn was stopped")

    def close_left(self, tx: Tx, turn_id: int) -> None:
        """Close the questions that a dead run of this turn asked while a tool ran: nobody hears the answer."""
        for request in rows.pending_of_turn(tx, turn_id):
            if request.kind == "question":
                self.close(tx, request.id)

    def take_words(
        self, tx: Tx, lane_id: int, actor: Actor, words: str, *, sent_at: datetime
    ) -> Request | None:
        """Take a message of the person asked as the answer to the lane's open question; None if it is none.

        What was written before the question was asked answers something else, however late it comes.
        """
        request = rows.pending_in(tx, lane_id)
        if request is None or request.kind != "question" or request.requester != actor.id:
            return None
        if to_ms(sent_at) < request.created_at - _CLOCKS_DIFFER_MS:
            return None
        answer = Question.from_json(request.prompt).reads(words)
        if answer is None or (request.expires_at or 0) <= self._now_ms():
            return None
        return request if self._settle(tx, request, "answered", actor=actor, answer=answer) else None

    def ask_task(
        self,
        tx: Tx,
        *,
        turn_id: int,
        lane_id: int,
        target: Target,
        requester: str,
        prompt: TaskPrompt,
        call_id: str,
    ) -> int:
        """Ask whether a task begins or has ended, on a card of its own; returns the request's id."""
        now_ms = self._now_ms()
        request_id = rows.open_request(
            tx,
            turn_id=turn_id,
            lane_id=lane_id,
            call_id=call_id,
            kind="task",
            requester=requester,
            args_hash="",
            prompt=prompt.to_json(),
            now_ms=now_ms,
            expires_at=now_ms + int(self._timeout_s * 1000),
        )
        self._board.open(tx, _existing(tx, request_id), target, f"card:{call_id}")
        return request_id

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
        tool_hash: str = "",
    ) -> int:
        """Open an approval and show it on the round's card, which is the turn's part `card`; returns its id."""
        now_ms = self._now_ms()
        request_id = rows.open_request(
            tx,
            turn_id=turn_id,
            lane_id=lane_id,
            call_id=prompt.call.call_id,
            kind="approval",
            requester=requester,
            args_hash=args_hash,
            tool_hash=tool_hash,
            prompt=prompt.to_json(),
            now_ms=now_ms,
            expires_at=now_ms + int(self._timeout_s * 1000),
            needed=self._needed(prompt.call.ref),
        )
        self._board.open(tx, _existing(tx, request_id), target, card)
        return request_id

    def confirm(
        self,
        tx: Tx,
        *,
        call_id: str,
        words: str,
        offered: tuple[offers.Row, ...],
        targets: Sequence[Target],
        lasts_s: float,
        requester: str = "",
        reply_to: str | None = None,
    ) -> int:
        """Ask in these chats for something that blocks no lane; returns the request's id.

        `requester` (platform:user) may answer it, and admins.
        """
        now_ms = self._now_ms()
        request_id = rows.open_request(
            tx,
            turn_id=None,
            lane_id=None,
            call_id=call_id,
            kind="confirmation",
            requester=requester,
            args_hash="",
            prompt=words,
            now_ms=now_ms,
            expires_at=now_ms + int(lasts_s * 1000),
        )
        for target in targets:
            self._board.post_confirmation(tx, request_id, target, words, offered, reply_to)
        return request_id

    def withdraw(self, tx: Tx, call_id: str) -> None:
        """What was to be confirmed was settled by other means: close its cards."""
        for request in rows.pending_confirmations(tx, call_id):
            self._settle(tx, request, "closed", actor=None, reason="This was settled otherwise.")

    def remind(self, tx: Tx, request: Request, target: Target, *, kept: int, reply_to: str | None) -> None:
        """Repeat an open request, with buttons of its own, to somebody who wrote instead of answering."""
        self._board.repeat(tx, request, target, kept=kept, reply_to=reply_to)

    def press(
        self, tx: Tx, token: str, actor: Actor, target: Target, message_id: str | None = None
    ) -> PressAnswer:
        """A press on a button: decides, or changes nothing and says why. `message_id` is what shows it."""
        found = rows.by_token(tx, token)
        if found is None:
            return PressAnswer(text="This button is not known here (any more). Nothing was done.", alert=True)
        request, choice = found
        if message_id is not None:
            outbox.learn_card(tx, request.id, token, message_id, self._now_ms())
        match choice:
            case "show":
                return self._show_all(tx, request, actor, target)
            case "always" | "back":
                return self._turn_card(tx, request, choice, token, actor)
            case "deny":
                return self.decide(tx, request, "denied", actor)
            case "later":
                return self.decide(tx, request, "postponed", actor)
            case _ if choice.startswith(ANSWER):
                chosen = Question.from_json(request.prompt).choices[int(choice.removeprefix(ANSWER))]
                return self.decide(tx, request, "answered", actor, answer=chosen)
            case _:
                return self.decide(tx, request, "approved", actor, choice=choice)

    def refuse(self, tx: Tx, token: str, actor: Actor) -> PressAnswer:
        """A press by somebody who may do nothing here; one on a button that exists is written down."""
        found = rows.by_token(tx, token)
        if found is not None:
            self._audit.write(
                tx, actor=actor.id, action="access.refused", target=f"request:{found[0].id}", by="press"
            )
        return PressAnswer(text="You may not answer here.", alert=True)

    def decide(
        self,
        tx: Tx,
        request: Request,
        state: Decided,
        actor: Actor,
        reason: str | None = None,
        *,
        choice: str = "once",
        answer: str | None = None,
    ) -> PressAnswer:
        """Answer a request as `actor`; the first valid answer wins.

        `choice` is the button that approves, `answer` what is answered to a question.
        """
        outcome = answered(
            self._standing(tx, request),
            _ANSWERS[state],
            actor,
            approvers=self._approvers,
            now_ms=self._now_ms(),
        )
        match outcome:
            case Refused():
                return self._refused(tx, request, outcome, actor)
            case Counted():
                return self._counted(tx, request, outcome, actor)
            case Settled(state="expired"):
                self._settle(tx, request, "expired", actor=None, reason=EXPIRED_REASON)
                return PressAnswer(text="Too late: this request has expired. Nothing was done.", alert=True)
            case Settled() if (why := self._not_yet(tx, request)) is not None:
                return PressAnswer(text=why, alert=True)
            case Settled():
                terms = self._terms(tx, request, choice) if state == "approved" else None
                if not self._settle(
                    tx,
                    request,
                    state,
                    actor=actor,
                    reason=reason,
                    terms=terms,
                    answer=answer,
                    choice=choice if state == "approved" else "deny",
                ):
                    return PressAnswer(text="Somebody else was first. Nothing was done.", alert=True)
                if request.kind == "confirmation":
                    return PressAnswer(text=(_existing(tx, request.id).reason or "Done."))
                granted = offers.words(terms) if terms is not None else ""
                return PressAnswer(text=face_of(request.kind, request.prompt).told(state, granted))
            case _ as never:
                assert_never(never)

    def close_turn(self, tx: Tx, turn_id: int, by: str) -> None:
        """Close whatever the turn still asks: a later press runs nothing."""
        for request in rows.pending_of_turn(tx, turn_id):
            self._settle(tx, request, "closed", actor=None, by=by, reason="the turn was stopped")

    def expire(self, tx: Tx) -> int:
        """Settle all requests nobody answered in time; returns how many."""
        overdue = rows.due(tx, self._now_ms())
        for request in overdue:
            self._settle(tx, request, "expired", actor=None, reason=EXPIRED_REASON)
        return len(overdue)

    def escalate(self, tx: Tx) -> int:
        """Send cards that nobody answered on to the chat configured for that; returns how many."""
        target = self._escalate_to() if self._escalate_after_s is not None else None
        if target is None or self._escalate_after_s is None:
            return 0
        overdue = rows.to_escalate(tx, self._now_ms() - int(self._escalate_after_s * 1000))
        for request in overdue:
            rows.mark_escalated(tx, request.id, self._now_ms())
            place = self._place(tx, request)
            if place == target:
                continue
            self._board.send_on(tx, request, target, place)
            self._audit.write(
                tx,
                actor=SYSTEM,
                action="request.sent_on",
                target=f"request:{request.id}",
                to=place_words(target),
            )
        return len(overdue)

    def add_reason(self, tx: Tx, actor: Actor, target: Target, message_id: str, words: str) -> Request | None:
        """A person replies to the card of what they denied: keep the words as the reason.

        Stated rule: only a call that was denied by this very person, without a reason yet, and in a turn that is
        still open takes one; the turn hears it before its next request to the model. In all other cases this returns
        None, and the reply is a message like any other. Typing alone decides nothing.
        """
        on_card = cards.request_on(tx, target, message_id)
        shown = rows.get(tx, on_card) if on_card is not None else None
        if shown is None or shown.turn_id is None:
            return None
        denied = rows.denied_by(tx, shown.turn_id, actor.id)
        if denied is None or not pending.say_newer(tx, shown.turn_id, f"{pending.REASON}{denied.id}", words):
            return None
        rows.set_reason(tx, denied.id, f"{actor.name} denied this: {words}")
        self._audit.write(
            tx, actor=actor.id, action="request.reason", target=f"request:{denied.id}", reason=words
        )
        return denied

    def show_progress(self, tx: Tx, request: Request, progress: str, target: Target) -> None:
        """Change the cards of an approved request: running, done, failed."""
        del target  # each card stands where it stands
        self._board.settle(tx, request, progress)

    def _standing(self, tx: Tx, request: Request) -> Standing:
        return Standing(
            kind=request.kind,
            state=request.state,
            requester=request.requester,
            expires_at=request.expires_at,
            needed=request.needed,
            approvals=frozenset(rows.votes(tx, request.id)) if request.needed > 1 else frozenset(),
        )

    def _refused(self, tx: Tx, request: Request, refusal: Refused, actor: Actor) -> PressAnswer:
        match refusal.why:
            case "not_theirs":
                self._audit.write(
                    tx,
                    actor=actor.id,
                    action="request.refused",
                    target=f"request:{request.id}",
                    why="not theirs",
                )
                return PressAnswer(
                    text=f"{self._who_may(request)} may answer this. Nothing was done.", alert=True
                )
            case "approved_before":
                return PressAnswer(
                    text="You have approved this already; somebody else must, too. Nothing was done.",
                    alert=True,
                )
            case "settled":
                return PressAnswer(text=_already(request), alert=True)
            case _ as never:
                assert_never(never)

    def _who_may(self, request: Request) -> str:
        if request.kind == "confirmation":
            return "Only the person concerned or an admin" if request.requester else "Only admins"
        return f"Only {face_of(request.kind, request.prompt).asked}"

    def _counted(self, tx: Tx, request: Request, outcome: Counted, actor: Actor) -> PressAnswer:
        rows.add_vote(tx, request.id, voter=actor.id, name=actor.name, now_ms=self._now_ms())
        self._audit.write(
            tx,
            actor=actor.id,
            action="request.approval_counted",
            target=f"request:{request.id}",
            have=outcome.have,
        )
        log.info("request.approval_counted", request=request.id, turn=request.turn_id, by=actor.id)
        self._board.ask_again(tx, request)
        return PressAnswer(
            text=f"Counted: {outcome.have} of {outcome.needed}. Another person must approve it, too."
        )

    def _held(self, tx: Tx, request: Request) -> list[Held]:
        call = Prompt.from_json(request.prompt).call
        return self.granting.held(tx, subject=request.requester, server=call.server, tool=call.tool)

    def _terms(self, tx: Tx, request: Request, choice: str) -> Terms | None:
        if request.needed > 1 or request.kind != "approval":
            return None
        held = self._held(tx, request)
        return offers.terms_of(choice, Prompt.from_json(request.prompt), request.args_hash, held)

    def _settle(
        self,
        tx: Tx,
        request: Request,
        state: RequestState,
        *,
        actor: Actor | None,
        reason: str | None = None,
        by: str = "",
        terms: Terms | None = None,
        answer: str | None = None,
        choice: str = "deny",
    ) -> bool:
        now_ms = self._now_ms()
        names = self._names(tx, request)
        if actor is not None:
            by = " and ".join((*names, actor.name)) if state == "approved" else actor.name
        decider = actor.id if actor else None
        if not rows.decide(
            tx,
            request.id,
            state=state,
            by=by,
            decider=decider,
            reason=reason,
            answer=answer,
            now_ms=now_ms,
        ):
            return False
        self._write_down(tx, request, state, actor)
        if terms is not None and actor is not None:
            self._give(tx, request, terms, actor)
        if request.kind == "confirmation":
            self._carry_out(tx, request, choice, actor)
        self._board.settle(tx, _existing(tx, request.id), "running…" if state == "approved" else "")
        head = turns.unpark(tx, request.turn_id, now_ms) if request.turn_id is not None else None
        if head is not None:
            self._kick(tx, head)
        ended = _existing(tx, request.id)
        tx.after_commit(lambda: self._tell(ended))
        return True

    def _tell(self, ended: Request) -> None:
        waiting = self._waiting.pop(ended.id, None)
        if waiting is not None and not waiting.done():
            waiting.set_result(ended)

    def _write_down(self, tx: Tx, request: Request, state: RequestState, actor: Actor | None) -> None:
        about: dict[str, object] = {
            "kind": request.kind,
            "turn": request.turn_id,
            "requester": request.requester,
        }
        if request.kind == "approval":
            call = Prompt.from_json(request.prompt).call
            about |= {"tool": call.ref, "args": dict(call.args), "args_hash": request.args_hash}
        if request.kind == "task":
            task = TaskPrompt.from_json(request.prompt)
            about |= {"task": task.what, "agent": task.agent, "other": task.other}
        by = actor.id if actor else SYSTEM
        self._audit.write(tx, actor=by, action=f"request.{state}", target=f"request:{request.id}", **about)
        log.info("request.decided", request=request.id, turn=request.turn_id, state=state, by=by)

    def _give(self, tx: Tx, request: Request, terms: Terms, actor: Actor) -> None:
        assert request.turn_id is not None
        call = Prompt.from_json(request.prompt).call
        if terms.replaces is not None:
            self.granting.revoke(tx, terms.replaces, by=actor.id)
        self.granting.give(
            tx,
            subject=request.requester,
            session_id=turns.session_of(tx, request.turn_id) if terms.scope == "session" else None,
            server=call.server,
            tool=call.tool,
            pattern=terms.pattern,
            lasts_s=terms.lasts_s,
            by=actor.id,
            request_id=request.id,
        )

    def _not_yet(self, tx: Tx, request: Request) -> str | None:
        if request.kind != "confirmation":
            return None
        return self._why_wait[request.call_id.partition(":")[0]](tx, request)

    def _carry_out(self, tx: Tx, request: Request, choice: str, actor: Actor | None) -> None:
        if actor is None:
            return
        confirm = self._confirms[request.call_id.partition(":")[0]]
        rows.set_reason(tx, request.id, confirm(tx, request, choice, actor))

    def _turn_card(
        self, tx: Tx, request: Request, choice: Literal["always", "back"], token: str, actor: Actor
    ) -> PressAnswer:
        """Between the first card and the one that asks what for: neither decides anything."""
        if not may_answer(self._standing(tx, request), actor, self._approvers):
            return self._refused(tx, request, Refused(why="not_theirs"), actor)
        if request.state != "pending" or (request.expires_at or 0) <= self._now_ms():
            return self.decide(tx, request, "denied", actor)  # too late: says so, and expires it if need be
        to_second = choice == "always" and request.needed == 1
        turned = (
            self._board.ask_what_for(tx, request, token, self._held(tx, request))
            if to_second
            else self._board.ask_again(tx, request, token)
        )
        if not turned:
            return PressAnswer(text="This card is too old for that. Nothing was done.", alert=True)
        return PressAnswer(text="Choose what for." if to_second else "Nothing is decided yet.")

    def _show_all(self, tx: Tx, request: Request, actor: Actor, target: Target) -> PressAnswer:
        if not may_answer(self._standing(tx, request), actor, self._approvers):
            return PressAnswer(text="Only who may answer this may see it all.", alert=True)
        self._board.show_all(tx, face_of(request.kind, request.prompt), target)
        return PressAnswer(text="All of it follows.")

    def _names(self, tx: Tx, request: Request) -> tuple[str, ...]:
        return tuple(rows.votes(tx, request.id).values()) if request.needed > 1 else ()

    def _place(self, tx: Tx, request: Request) -> Target:
        assert request.lane_id is not None
        return lanes.get(tx, request.lane_id).target

    def _now_ms(self) -> int:
        return to_ms(self._clock())


def _existing(tx: Tx, request_id: int) -> Request:
    request = rows.get(tx, request_id)
    assert request is not None
    return request


def _already(request: Request) -> str:
    by = request.decided_by or ""
    if request.kind == "confirmation":
        ending = {
            "approved": f"already approved by {by}",
            "denied": f"already denied by {by}",
            "expired": "expired, it was not run",
        }.get(request.state, "closed, it was not run")
        return f"This is {ending}. Nothing was done."
    return face_of(request.kind, request.prompt).already(request.state, by)
