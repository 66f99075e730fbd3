"""The one door in: every update of every adapter is judged in memory and stored in one transaction.

Neighbours: adapters call `receive` (through the `Inbox` the supervisor gives them) and acknowledge to their
platform only when it returns; turns go on to `turn_queue`. Invariants: a redelivered update changes nothing; a
refused one leaves only its key; control input never waits behind a turn.
"""

import asyncio
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import assert_never

import structlog

from gateway.access import Access, Action, Role
from gateway.clock import Clock, to_ms, utc_now
from gateway.commands import Command, Commands, Order, parse_command
from gateway.delivery import Delivery
from gateway.dispatcher import Dispatcher
from gateway.errors import StoreUnavailable
from gateway.intake import changes
from gateway.intake.admission import Admission
from gateway.intake.bots import LoopGuard
from gateway.intake.former import FormerIds
from gateway.intake.settings import IntakeSettings
from gateway.limits import Limits
from gateway.messages import (
    ButtonPress,
    ChatMoved,
    InboundMessage,
    MessageDeleted,
    MessageEdited,
    PressAnswer,
    Target,
    Update,
)
from gateway.pairing import Doorkeeper
from gateway.pause import Pause
from gateway.requests import Actor, Desk
from gateway.session_store import SessionStore
from gateway.source import SessionSource, session_key
from gateway.store import inbox, lanes, outbox, pending
from gateway.store.inputs import Given
from gateway.store.tx import Store, Tx
from gateway.turns.reading import may_be_text
from gateway.turns.wording import cannot_read

log = structlog.get_logger()

TOO_OLD = (
    "Your message of {when} came while I was away and is too old to answer now."
    " Send it again if it still matters."
)
BROKEN = "Something went wrong inside me and I could not take this in. Please try it another way."
NO_VOICE = "I cannot listen to voice messages: there is no transcriber here. Write to me in words."


class Intake:
    """See the module."""

    def __init__(
        self,
        *,
        database: Store,
        access: Access,
        sessions: SessionStore,
        commands: Commands,
        desk: Desk,
        doorkeeper: Doorkeeper,
        delivery: Delivery,
        dispatcher: Dispatcher,
        limits: Limits,
        pause: Pause,
        settings: IntakeSettings,
        clock: Clock = utc_now,
    ) -> None:
        self._db = database
        self._doorkeeper = doorkeeper
        self._access = access
        self._commands = commands
        self._desk = desk
        self._delivery = delivery
        self._dispatcher = dispatcher
        self._settings = settings
        self._clock = clock
        self._guard = LoopGuard(settings.bot_limit)
        self._former = FormerIds()
        self._admission = Admission(
            sessions=sessions,
            commands=commands,
            desk=desk,
            delivery=delivery,
            dispatcher=dispatcher,
            limits=limits,
            pause=pause,
            settings=settings,
            configured=self._configured,
            clock=clock,
        )

    async def load(self) -> None:
        """Learn what earlier runs left to know; before the first update."""
        await self._former.load(self._db)

    async def receive(self, *updates: Update) -> tuple[PressAnswer | None, ...]:
        """Store updates in order, each in a transaction of its own; see `gateway.adapter.Inbox`.

        Raises:
            StoreUnavailable: they were not (all) stored and must not be acknowledged.
        """
        # All are queued before the first await: one commit takes them together, in order.
        queued = [self._db.write(self._planned(update)) for update in updates]
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

    def _planned(self, update: Update) -> Callable[[Tx], PressAnswer | None]:
        try:
            return self._plan(update)
        except Exception as error:  # noqa: BLE001 - an update that cannot even be judged is settled like one that fails
            broken = error

        def fail(_tx: Tx) -> None:
            raise broken

        return fail

    async def last_seen(self, platform: str, account: str) -> Mapping[str, str]:
        """How far each chat of an account has been read; see `gateway.adapter.Inbox`."""
        return await self._db.read(lambda tx: inbox.last_seen(tx, platform, account))

    def _plan(self, update: Update) -> Callable[[Tx], PressAnswer | None]:
        match update:
            case InboundMessage():
                return self._plan_message(update)
            case ButtonPress():
                return self._plan_press(update)
            case MessageEdited():
                return self._plan_edit(update)
            case MessageDeleted():
                return self._take_back(update)
            case ChatMoved():
                return self._move(update)
            case _ as never:
                assert_never(never)

    def _plan_message(self, message: InboundMessage) -> Callable[[Tx], None]:
        source = message.source
        if message.from_bot and not self._hears_bot(source):
            return self._only_remember(message, "refused")
        role = self._role(source, "message")
        if role is None:
            return self._refuse_stranger(message)
        if not message.from_bot:
            self._guard.person_spoke(_chat(source))
        command = parse_command(message.text)
        is_addressed = self._is_addressed(message, is_command=command is not None)
        if command is not None and is_addressed:
            return self._run_command(message, command, role)
        if is_addressed and self._clock() - message.sent_at > timedelta(seconds=self._settings.max_age_s):
            when = message.sent_at.strftime("%H:%M UTC")
            return self._only_answer(message, TOO_OLD.format(when=when), "too_old")
        if not message.text.strip() and message.group_id is None:
            if not (is_addressed and message.attachments):
                return self._only_remember(message, "ignored")
            if any(map(may_be_text, message.attachments)):
                return self._admit(message, is_addressed=is_addressed)
            return self._only_answer(message, _unreadable(message), "refused")
        return self._admit(message, is_addressed=is_addressed)

    def _role(self, source: SessionSource, action: Action) -> Role | None:
        """Who somebody is here; a chat that moved is still the one that was let in."""
        return self._access.authorize(source, action) or self._access.authorize(
            self._former.first(source), action
        )

    def _configured(self, source: SessionSource) -> SessionSource:
        """The source as per-chat settings know its chat."""
        return source if self._settings.names(source) else self._former.first(source)

    def _hears_bot(self, source: SessionSource) -> bool:
        """Whether a bot's message counts at all: never our own, others' if allowed and within the loop guard."""
        if source.user_id == source.account or not self._settings.bots:
            return False
        verdict = self._guard.judge(_chat(source), self._clock())
        if verdict == "silenced":
            log.warning("intake.bots_silenced", platform=source.platform, chat=source.chat_id)
        return verdict == "heard"

    def _is_addressed(self, message: InboundMessage, *, is_command: bool) -> bool:
        source = message.source
        match self._settings.groups_in(self._configured(source)):
            case "always":
                return True
            case "mention":
                return source.kind == "dm" or message.mentions_bot or is_command
            case "never":
                return source.kind == "dm"

    def _admit(self, message: InboundMessage, *, is_addressed: bool) -> Callable[[Tx], None]:
        def work(tx: Tx) -> None:
            # The rest of a split text names nobody: it is looked at, addressed or not.
            if not self._remember(tx, message, "ignored") or self._admission.join(tx, message):
                return
            if not is_addressed or self._admission.take_reason(tx, message):
                return
            if not self._admission.take_answer(tx, message):
                self._admission.admit(tx, message)

        return work

    def _plan_edit(self, edit: MessageEdited) -> Callable[[Tx], None]:
        if self._role(edit.source, "edit") is None:
            return self._only_remember(edit, "refused")

        def work(tx: Tx) -> None:
            if self._remember(tx, edit, "ignored"):
                self._settle(tx, edit, "edit", changes.change(tx, edit))

        return work

    def _take_back(self, deletion: MessageDeleted) -> Callable[[Tx], None]:
        # Nobody is asked for permission: platforms do not say who deleted, and only who was let in has a turn.
        def work(tx: Tx) -> None:
            if self._remember(tx, deletion, "ignored"):
                self._settle(tx, deletion, "deletion", changes.take_back(tx, deletion, self._clock))

        return work

    def _move(self, update: ChatMoved) -> Callable[[Tx], None]:
        def work(tx: Tx) -> None:
            if self._remember(tx, update, "moved"):
                old = Target.of(update.source)
                self._delivery.move_chat(tx, old, update.moved_to)
                tx.after_commit(lambda: self._former.moved(old, update.moved_to))

        return work

    def _run_command(self, message: InboundMessage, command: Command, role: Role) -> Callable[[Tx], None]:
        source = message.source
        key = session_key(source, self._settings.scope_of(source))

        def work(tx: Tx) -> None:
            if not self._remember(tx, message, "command"):
                return
            outbox.mark_back(tx, Target.of(source))
            order = Order(command=command, message=message, role=role, lane=lanes.find(tx, key))
            if order.lane is not None and (head := pending.flush(tx, order.lane.id)) is not None:
                self._dispatcher.kick(tx, head)
            answer = self._commands.run(tx, order)
            quoted = message.message_id if source.kind != "dm" else None
            if answer:
                self._delivery.post_notice(tx, Target.of(source), answer, reply_to=quoted)

        return work

    def _plan_press(self, press: ButtonPress) -> Callable[[Tx], PressAnswer | None]:
        role = self._role(press.source, "press")

        def work(tx: Tx) -> PressAnswer | None:
            actor = Actor.of(press.source, is_admin=role == "admin")
            if not self._remember(tx, press, "press" if role is not None else "refused"):
                return None
            if role is None:
                return self._desk.refuse(tx, press.token, actor)
            return self._desk.press(tx, press.token, actor, Target.of(press.source), press.message_id)

        return work

    def _refuse_stranger(self, message: InboundMessage) -> Callable[[Tx], None]:
        source = message.source

        def work(tx: Tx) -> None:
            if self._remember(tx, message, "refused") and source.kind == "dm":
                self._doorkeeper.greet(tx, source)

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

    def _settle(self, tx: Tx, update: Update, became: str, turn_id: int | None) -> None:
        """Say what became of an update, if it changed a turn."""
        if turn_id is not None:
            inbox.settle(
                tx,
                platform=update.source.platform,
                account=update.source.account,
                key=update.id,
                became=became,
                turn_id=turn_id,
            )

    def _remember(self, tx: Tx, update: Update, became: str) -> bool:
        source: SessionSource = update.source
        return inbox.remember(
            tx,
            platform=source.platform,
            account=source.account,
            key=update.id,
            became=became,
            now_ms=to_ms(self._clock()),
            place=source.thread_id or source.chat_id,
            message_id=update.message_id if isinstance(update, InboundMessage) else None,
        )


def _chat(source: SessionSource) -> tuple[str, ...]:
    return (source.platform, source.account, source.chat_id)


def _unreadable(message: InboundMessage) -> str:
    """The answer to a message that is nothing but files."""
    if all(attachment.kind == "audio" and not attachment.name for attachment in message.attachments):
        return NO_VOICE
    return cannot_read([Given(file=attachment) for attachment in message.attachments])
