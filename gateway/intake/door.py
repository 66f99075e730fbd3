"""The one door in: every update of every adapter is judged in memory and stored in one transaction.

Neighbours: adapters call `receive` (through the `Inbox` the supervisor gives them) and acknowledge to their
platform only when it returns; turns go on to `turn_queue`. Invariants: a redelivered update changes nothing; a
refused one leaves only its key; control input never waits behind a turn.
"""

import asyncio
from collections.abc import Callable
from datetime import timedelta
from typing import assert_never

import structlog

from gateway.access import Access, Role
from gateway.clock import Clock, to_ms, utc_now
from gateway.commands import Command, Commands, Order, parse_command
from gateway.delivery import Delivery
from gateway.errors import StoreUnavailable
from gateway.intake.settings import IntakeSettings
from gateway.messages import (
    ButtonPress,
    InboundMessage,
    MessageDeleted,
    MessageEdited,
    PressAnswer,
    Target,
    Update,
)
from gateway.requests import Actor, Desk
from gateway.session_store import Session, SessionStore
from gateway.source import SessionSource, is_shared, session_key
from gateway.store import inbox, lanes, messages, outbox, strangers, turns
from gateway.store import requests as request_rows
from gateway.store.sqlite import Database
from gateway.store.turns import TurnInputRow
from gateway.store.tx import Tx
from gateway.turn_queue import TurnQueue

log = structlog.get_logger()

PRIVATE = "This bot is private. Its owner can let you in with your user id, {user_id}."
FULL = (
    "{n} messages wait here already; I did not take this one. Send it again later, or /stop all drops them."
)
TOO_OLD = (
    "Your message of {when} came while I was away and is too old to answer now."
    " Send it again if it still matters."
)
EXPIRED = "It has been a while, so this is a new conversation."
BROKEN = "Something went wrong inside me and I could not take this in. Please try it another way."
NO_FILES = "I cannot read files yet; write to me in words."


class Intake:
    """See the module."""

    def __init__(
        self,
        *,
        database: Database,
        access: Access,
        sessions: SessionStore,
        commands: Commands,
        desk: Desk,
        delivery: Delivery,
        queue: TurnQueue,
        settings: IntakeSettings,
        clock: Clock = utc_now,
    ) -> None:
        self._db = database
        self._access = access
        self._sessions = sessions
        self._commands = commands
        self._desk = desk
        self._delivery = delivery
        self._queue = queue
        self._settings = settings
        self._clock = clock

    async def receive(self, *updates: Update) -> tuple[PressAnswer | None, ...]:
        """Store updates in order, each in a transaction of its own; see `gateway.adapter.Inbox`.

        Raises:
            StoreUnavailable: they were not (all) stored and must not be acknowledged.
        """
        # All are queued before the first await: one commit takes them together, in order.
        queued = [self._db.write(self._plan(update)) for update in updates]
        results = await asyncio.gather(*queued, return_exceptions=True)
        return tuple(
            [await self._settled(update, result) for update, result in zip(updates, results, strict=True)]
        )

    async def _settled(
        self, update: Update, result: PressAnswer | BaseException | None
    ) -> PressAnswer | None:
        if not isinstance(result, BaseException):
            return result
        if isinstance(result, StoreUnavailable) or not isinstance(result, Exception):
            raise result
        # A bug of ours in this one update: it must neither come again for ever nor vanish in silence.
        log.error("intake.update_broken", update=update.id, exc_info=result)
        if isinstance(update, InboundMessage):
            await self._db.write(self._only_answer(update, BROKEN, "broken"))
        return PressAnswer(text=BROKEN, alert=True) if isinstance(update, ButtonPress) else None

    def _plan(self, update: Update) -> Callable[[Tx], PressAnswer | None]:
        match update:
            case InboundMessage():
                return self._plan_message(update)
            case ButtonPress():
                return self._plan_press(update)
            case MessageEdited() | MessageDeleted():
                # Rule until edits are served (ADP-7): an edit never starts a turn and never runs a command.
                return self._only_remember(update, "ignored")
            case _ as never:
                assert_never(never)

    def _plan_message(self, message: InboundMessage) -> Callable[[Tx], None]:
        source = message.source
        if message.from_bot and not self._settings.bots:
            return self._only_remember(message, "refused")
        role = self._access.authorize(source, "message")
        if role is None:
            return self._refuse_stranger(message)
        command = parse_command(message.text)
        if not self._is_addressed(message, is_command=command is not None):
            return self._only_remember(message, "ignored")
        if command is not None:
            return self._run_command(message, command, role)
        if self._clock() - message.sent_at > timedelta(seconds=self._settings.max_age_s):
            when = message.sent_at.strftime("%H:%M UTC")
            return self._only_answer(message, TOO_OLD.format(when=when), "too_old")
        if not message.text.strip():
            return (
                self._only_answer(message, NO_FILES, "refused")
                if message.attachments
                else self._only_remember(message, "ignored")
            )
        return self._start_turn(message)

    def _is_addressed(self, message: InboundMessage, *, is_command: bool) -> bool:
        source = message.source
        mode = self._settings.chat_groups.get(f"{source.platform}:{source.chat_id}", self._settings.groups)
        match mode:
            case "always":
                return True
            case "mention":
                return source.kind == "dm" or message.mentions_bot or is_command
            case "never":
                return source.kind == "dm"

    def _start_turn(self, message: InboundMessage) -> Callable[[Tx], None]:
        source = message.source
        scope = self._settings.scopes.get(source.platform, self._settings.scope)
        key = session_key(source, scope)
        shared = is_shared(source, scope)

        def work(tx: Tx) -> None:
            if not self._remember(tx, message, "turn"):
                return
            outbox.mark_back(tx, Target.of(source))
            session = self._sessions.get_or_create(
                tx,
                key=key,
                target=Target.of(source),
                subject=source.requester,
                now=self._clock(),
                policy=self._settings.resets.get(source.platform),
            )
            waiting = turns.open_count(tx, session.lane.id)
            if waiting >= self._settings.lane_size:
                self._refuse_full(tx, message, session, waiting)
            else:
                self._append(tx, message, session, waiting, shared=shared)

        return work

    def _append(
        self, tx: Tx, message: InboundMessage, session: Session, waiting: int, *, shared: bool
    ) -> None:
        source, target = message.source, Target.of(message.source)
        now_ms = to_ms(self._clock())
        turn_id, head = turns.append(
            tx,
            lane_id=session.lane.id,
            session_id=session.id,
            requester=source.requester,
            agent=self._settings.chat_agents.get(f"{source.platform}:{source.chat_id}", self._settings.agent),
            kind="message",
            given=TurnInputRow(
                text=message.text,
                speaker=source.user_name,
                shared=shared,
                attachments=tuple(a.name or a.kind for a in message.attachments),
                sent_at_ms=to_ms(message.sent_at),
                quote=source.kind != "dm" or waiting > 0,
            ),
            message_id=message.message_id,
            now_ms=now_ms,
        )
        messages.add(
            tx,
            session_id=session.id,
            turn_id=turn_id,
            role="question",
            author=source.requester,
            body=message.text,
            now_ms=now_ms,
        )
        inbox.settle(
            tx,
            platform=source.platform,
            account=source.account,
            key=message.id,
            became="turn",
            turn_id=turn_id,
        )
        request = request_rows.pending_in(tx, session.lane.id) if waiting else None
        if request is not None:
            self._desk.remind(tx, request, target, kept=waiting, reply_to=message.message_id)
        if session.expired:
            self._delivery.post_notice(tx, target, EXPIRED)
        if head is not None:
            tx.after_commit(lambda: self._queue.kick(head))
        tx.after_commit(lambda: log.info("turn.accepted", turn=turn_id, session=session.id, waiting=waiting))

    def _refuse_full(self, tx: Tx, message: InboundMessage, session: Session, waiting: int) -> None:
        source = message.source
        inbox.settle(tx, platform=source.platform, account=source.account, key=message.id, became="lane_full")
        if source.requester in session.lane.full_told:
            return
        lanes.say_full(tx, session.lane, source.requester)
        self._delivery.post_notice(tx, Target.of(source), FULL.format(n=waiting), reply_to=message.message_id)

    def _run_command(self, message: InboundMessage, command: Command, role: Role) -> Callable[[Tx], None]:
        source = message.source
        key = session_key(source, self._settings.scopes.get(source.platform, self._settings.scope))

        def work(tx: Tx) -> None:
            if not self._remember(tx, message, "command"):
                return
            outbox.mark_back(tx, Target.of(source))
            order = Order(command=command, message=message, role=role, lane=lanes.find(tx, key))
            answer = self._commands.run(tx, order)
            quoted = message.message_id if source.kind != "dm" else None
            self._delivery.post_notice(tx, Target.of(source), answer, reply_to=quoted)

        return work

    def _plan_press(self, press: ButtonPress) -> Callable[[Tx], PressAnswer | None]:
        role = self._access.authorize(press.source, "press")

        def work(tx: Tx) -> PressAnswer | None:
            if role is None:
                self._remember(tx, press, "refused")
                return PressAnswer(text="You may not answer here.", alert=True)
            if not self._remember(tx, press, "press"):
                return None
            actor = Actor.of(press.source, is_admin=role == "admin")
            return self._desk.press(tx, press.token, actor, Target.of(press.source), press.message_id)

        return work

    def _refuse_stranger(self, message: InboundMessage) -> Callable[[Tx], None]:
        source = message.source

        def work(tx: Tx) -> None:
            if not self._remember(tx, message, "refused") or source.kind != "dm":
                return
            if strangers.tell_once(
                tx,
                platform=source.platform,
                account=source.account,
                user_id=source.user_id,
                now_ms=to_ms(self._clock()),
            ):
                self._delivery.post_notice(tx, Target.of(source), PRIVATE.format(user_id=source.user_id))

        return work

    def _only_answer(self, message: InboundMessage, text: str, became: str) -> Callable[[Tx], None]:
        def work(tx: Tx) -> None:
            if self._remember(tx, message, became):
                self._delivery.post_notice(tx, Target.of(message.source), text, reply_to=message.message_id)

        return work

    def _only_remember(self, update: Update, became: str) -> Callable[[Tx], None]:
        def work(tx: Tx) -> None:
            self._remember(tx, update, became)

        return work

    def _remember(self, tx: Tx, update: Update, became: str) -> bool:
        source: SessionSource = update.source
        return inbox.remember(
            tx,
            platform=source.platform,
            account=source.account,
            key=update.id,
            became=became,
            now_ms=to_ms(self._clock()),
        )
