"""What becomes of an addressed message: it joins, queues, merges, steers, interrupts or is refused.

Everything happens in the transaction that stores the message. Stated rules, by the chat's queue mode, for a message
that comes while a turn is open in its lane:
- `queue`: it waits its turn.
- `collect`: it joins the lane's last turn if that still waits and both are of the person whose turn is open; one
  note says so. Others' messages queue.
- `steer`: it waits in the lane, and the open turn takes it over before its next request to the model, if both are
  of the same person and the turn waits for nobody; one that is not taken over runs as its own turn, and what the
  person says after that waits behind it.
- `interrupt`: what runs is stopped and its cards are closed, by whichever member; the message runs next, behind
  what waited before it.
- `reject`: it is refused with a word, also when the run gate has no place for it.
A request that is open is repeated, with what became of the message, in all modes but `interrupt`, which closes it.
Before all this, the rest of a split text and the pictures of an album join what they belong to (`gathering`).
"""

from collections.abc import Callable
from dataclasses import dataclass

import structlog

from gateway.clock import Clock, to_ms
from gateway.commands import Commands
from gateway.delivery import Delivery
from gateway.dispatcher import Dispatcher
from gateway.intake import gathering
from gateway.intake.settings import IntakeSettings, QueueMode
from gateway.limits import Limits
from gateway.messages import InboundMessage, Target
from gateway.pause import PAUSED, Pause
from gateway.requests import Actor, Desk
from gateway.session_store import Session, SessionStore
from gateway.source import SessionSource, is_shared, session_key
from gateway.store import inbox, lanes, messages, outbox, pending, turns
from gateway.store import requests as request_rows
from gateway.store.inputs import Given, Part, TurnInputRow
from gateway.store.lanes import Head
from gateway.store.pending import Standing
from gateway.store.tx import Tx

log = structlog.get_logger()

FULL = (
    "{n} messages wait here already; I did not take this one. Send it again later, or /stop all drops them."
)
BUSY = "I am busy here and did not take this message. Send it again when I am done; /stop ends what runs."
NO_PLACE = "I am working on {n} other things for you and did not take this message. Send it again later."
ALL_TAKEN = "I am working on as much as I can and did not take this message. Send it again later."
MERGED = (
    "I answer this together with your message before; what else you write until I get to them joins them."
)
INTERRUPTED = "I stopped what I was doing; this comes next."
REASON_TAKEN = "I pass your reason on."
EXPIRED = "It has been a while, so this is a new conversation."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Arrival:
    """A message and what it finds in its lane: the open head, the last open turn, how many are open."""

    message: InboundMessage
    session: Session
    mode: QueueMode
    head: Standing | None
    last: Standing | None
    waiting: int

    @property
    def is_of_head(self) -> bool:
        """Whether the open turn is the sender's own."""
        return self.head is not None and self.head.requester == self.message.source.requester


class Admission:
    """See the module; `configured` gives a source the chat id by which the settings know it."""

    def __init__(
        self,
        *,
        sessions: SessionStore,
        commands: Commands,
        desk: Desk,
        delivery: Delivery,
        dispatcher: Dispatcher,
        limits: Limits,
        pause: Pause,
        settings: IntakeSettings,
        configured: Callable[[SessionSource], SessionSource],
        clock: Clock,
    ) -> None:
        self._sessions = sessions
        self._commands = commands
        self._desk = desk
        self._delivery = delivery
        self._dispatcher = dispatcher
        self._limits = limits
        self._pause = pause
        self._settings = settings
        self._configured = configured
        self._clock = clock

    def join(self, tx: Tx, message: InboundMessage) -> bool:
        """Add a message, addressed or not, to what its sender has begun to say; False if it is no part of that."""
        what = gathering.may_continue(message)
        lane = lanes.find(tx, self._key(message)) if what is not None else None
        if what is None or lane is None:
            return False
        turn = pending.gathering(tx, lane.id, message.source.requester, what)
        if turn is None or len(turn.input.parts) >= gathering.MOST_PARTS:
            return False
        if what == gathering.TEXT and not gathering.is_rest(turn.input.parts, to_ms(message.sent_at)):
            return False
        joint = gathering.joint(turn.input.parts, self._limit(message)) if what == gathering.TEXT else "\n\n"
        self._extend(tx, message, turn, joint)
        return True

    def take_reason(self, tx: Tx, message: InboundMessage) -> bool:
        """Give a reply to the card of a call that its author denied to the turn, as the reason; False if it is none."""
        if message.reply_to is None:
            return False
        target = Target.of(message.source)
        actor = Actor.of(message.source, is_admin=False)
        denied = self._desk.add_reason(tx, actor, target, message.reply_to, message.text)
        if denied is None:
            return False
        self._settle(tx, message, "reason", denied.turn_id)
        self._delivery.post_notice(tx, target, REASON_TAKEN, reply_to=message.message_id)
        return True

    def take_answer(self, tx: Tx, message: InboundMessage) -> bool:
        """Take a message as the answer to the question its author was asked, if there is one; False if not.

        One with a file is none: an answer is words, and the file would be lost. It is kept as any other message.
        """
        lane = lanes.find(tx, self._key(message))
        if lane is None or message.attachments or not message.text.strip():
            return False
        actor = Actor.of(message.source, is_admin=False)
        request = self._desk.take_words(tx, lane.id, actor, message.text, sent_at=message.sent_at)
        if request is None or request.turn_id is None:
            return False
        self._note(tx, message, request.turn_id, turns.session_of(tx, request.turn_id))
        self._limits.count_message(tx, message.source.requester, Target.of(message.source))
        return True

    def admit(self, tx: Tx, message: InboundMessage) -> None:
        """Take an addressed message that is no part of another, or refuse it with a word."""
        source = message.source
        outbox.mark_back(tx, Target.of(source))
        if (refusal := self._limits.why_no_message(tx, source.requester, Target.of(source))) is not None:
            self._settle(tx, message, "limited", None)
            self._delivery.post_notice(tx, Target.of(source), refusal, reply_to=message.message_id)
            return
        session = self._sessions.get_or_create(
            tx,
            key=self._key(message),
            target=Target.of(source),
            subject=source.requester,
            now=self._clock(),
            policy=self._settings.reset_of(source),
        )
        arrival = _Arrival(
            message=message,
            session=session,
            mode=self._settings.queue_in(self._configured(source)),
            head=pending.head(tx, session.lane.id),
            last=pending.last(tx, session.lane.id),
            waiting=turns.open_count(tx, session.lane.id),
        )
        if arrival.mode == "reject" and (refusal := self._refusal(tx, arrival)) is not None:
            self._refuse(tx, arrival, refusal)
        elif (into := _merges_into(arrival)) is not None:
            self._merge(tx, arrival, into)
        elif arrival.waiting >= self._settings.lane_size:
            self._refuse_full(tx, arrival)
        else:
            if arrival.mode == "interrupt":
                self._interrupt(tx, arrival)
            self._append(tx, arrival)

    def _refusal(self, tx: Tx, arrival: _Arrival) -> str | None:
        """Why a message is not taken in `reject` mode, if so."""
        if arrival.head is not None:
            return BUSY
        own, everybody = pending.places_taken(tx, arrival.message.source.requester)
        if own >= self._settings.max_running_per_user:
            return NO_PLACE.format(n=own)
        return ALL_TAKEN if everybody >= self._settings.max_running else None

    def _refuse(self, tx: Tx, arrival: _Arrival, refusal: str) -> None:
        message = arrival.message
        self._settle(tx, message, "busy", None)
        if not self._remind(tx, arrival, kept=0):
            self._delivery.post_notice(tx, Target.of(message.source), refusal, reply_to=message.message_id)

    def _refuse_full(self, tx: Tx, arrival: _Arrival) -> None:
        message, lane = arrival.message, arrival.session.lane
        self._settle(tx, message, "lane_full", None)
        if message.source.requester in lane.full_told:
            return
        lanes.say_full(tx, lane, message.source.requester)
        self._delivery.post_notice(
            tx, Target.of(message.source), FULL.format(n=arrival.waiting), reply_to=message.message_id
        )

    def _merge(self, tx: Tx, arrival: _Arrival, into: Standing) -> None:
        message = arrival.message
        if len(into.input.parts) >= self._settings.lane_size:
            self._refuse_full(tx, arrival)
            return
        self._extend(tx, message, into, "\n\n")
        self._limits.count_message(tx, message.source.requester, Target.of(message.source))
        if not self._remind(tx, arrival, kept=arrival.waiting - 1):
            self._delivery.post_notice(
                tx,
                Target.of(message.source),
                MERGED,
                reply_to=message.message_id,
                turn_id=into.id,
                part="notice:merged",
            )

    def _interrupt(self, tx: Tx, arrival: _Arrival) -> None:
        source = arrival.message.source
        if self._commands.stop_running(
            tx, arrival.session.lane.id, by=source.user_name or source.user_id, how="stop"
        ):
            self._delivery.post_notice(
                tx, Target.of(source), INTERRUPTED, reply_to=arrival.message.message_id
            )

    def _append(self, tx: Tx, arrival: _Arrival) -> None:
        message, session = arrival.message, arrival.session
        source, target = message.source, Target.of(message.source)
        gathers, not_before_ms = self._gathering(message)
        takes_over = arrival.head is not None and arrival.head.state != "waiting"
        given = TurnInputRow(
            text="",
            speaker=source.user_name,
            shared=is_shared(source, self._settings.scope_of(source)),
            sent_at_ms=to_ms(message.sent_at),
            quote=source.kind != "dm" or arrival.waiting > 0,
        )
        turn_id, head = turns.append(
            tx,
            lane_id=session.lane.id,
            session_id=session.id,
            requester=source.requester,
            agent=self._settings.agent_in(self._configured(source)),
            kind="message",
            given=given.with_parts([_part(message, "\n\n")]),
            message_id=message.message_id,
            now_ms=to_ms(self._clock()),
            gathers=gathers,
            not_before_ms=not_before_ms,
            steers=arrival.mode == "steer" and takes_over and arrival.is_of_head,
        )
        self._note(tx, message, turn_id, session.id)
        self._limits.count_message(tx, source.requester, target)
        if self._pause.is_news_to(tx, f"{session.lane.id} {source.requester}"):
            self._delivery.post_notice(tx, target, PAUSED, reply_to=message.message_id)
        if arrival.mode != "interrupt":
            self._remind(tx, arrival, kept=arrival.waiting)
        if session.expired:
            self._delivery.post_notice(tx, target, EXPIRED)
        self._kick(tx, head)
        tx.after_commit(
            lambda: log.info("turn.accepted", turn=turn_id, session=session.id, waiting=arrival.waiting)
        )

    def _extend(self, tx: Tx, message: InboundMessage, turn: Standing, joint: str) -> None:
        """Add a message to a waiting turn; it runs once nothing more is expected."""
        gathers, not_before_ms = self._gathering(message)
        given = turn.input.with_parts([*turn.input.parts, _part(message, joint)])
        pending.rewrite(tx, turn.id, given, gathers=gathers, not_before_ms=not_before_ms)
        self._note(tx, message, turn.id, turn.session_id)
        head = lanes.head_of(tx, turn.lane_id)
        self._kick(tx, head if head is not None and not head.resumed else None)
        tx.after_commit(lambda: log.info("turn.grown", turn=turn.id, session=turn.session_id))

    def _note(self, tx: Tx, message: InboundMessage, turn_id: int, session_id: int) -> None:
        """Write the message into the transcript, know it by its id, and say what became of it."""
        line_id = messages.add(
            tx,
            session_id=session_id,
            turn_id=turn_id,
            role="question",
            author=message.source.requester,
            body=message.text,
            now_ms=to_ms(self._clock()),
        )
        pending.register(tx, Target.of(message.source), message.message_id, turn_id=turn_id, line_id=line_id)
        self._settle(tx, message, "turn", turn_id)

    def _remind(self, tx: Tx, arrival: _Arrival, *, kept: int) -> bool:
        """Repeat the request that the lane waits for, if any; `kept`: how many messages wait behind it."""
        request = request_rows.pending_in(tx, arrival.session.lane.id) if arrival.head is not None else None
        if request is None:
            return False
        message = arrival.message
        self._desk.remind(tx, request, Target.of(message.source), kept=kept, reply_to=message.message_id)
        return True

    def _gathering(self, message: InboundMessage) -> tuple[str | None, int | None]:
        """What more may come after a message, and until when it is waited for (UTC ms)."""
        gathers = gathering.gathers(message, self._limit(message))
        if gathers is None or not self._settings.gather_s:
            return None, None
        return gathers, to_ms(self._clock()) + int(self._settings.gather_s * 1000)

    def _limit(self, message: InboundMessage) -> int | None:
        return self._delivery.capabilities(Target.of(message.source)).input_limit

    def _key(self, message: InboundMessage) -> str:
        return session_key(message.source, self._settings.scope_of(message.source))

    def _kick(self, tx: Tx, head: Head | None) -> None:
        if head is not None:
            self._dispatcher.kick(tx, head)

    def _settle(self, tx: Tx, message: InboundMessage, became: str, turn_id: int | None) -> None:
        source = message.source
        inbox.settle(
            tx,
            platform=source.platform,
            account=source.account,
            key=message.id,
            became=became,
            turn_id=turn_id,
        )


def _merges_into(arrival: _Arrival) -> Standing | None:
    """The waiting turn that takes this message in, in `collect` mode."""
    last = arrival.last
    if arrival.mode != "collect" or last is None or not arrival.is_of_head:
        return None
    is_theirs = last.state == "queued" and last.requester == arrival.message.source.requester
    return last if is_theirs and last.input.parts else None  # a command's turn has no words to add to


def _part(message: InboundMessage, joint: str) -> Part:
    return Part(
        message_id=message.message_id,
        text=message.text,
        attachments=tuple(Given(file=attachment) for attachment in message.attachments),
        sent_at_ms=to_ms(message.sent_at),
        joint=joint,
    )
