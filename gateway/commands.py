"""What people can tell the gateway itself: `/stop`, `/new`, `/status` and the like.

Commands are control input: they never wait behind the turn they act on, and run inside the transaction that
stores their message. Each returns what to answer.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, assert_never, get_args

from gateway.access import Role
from gateway.chunking import shorten_middle
from gateway.clock import Clock, to_ms, utc_now
from gateway.delivery import Delivery
from gateway.dispatcher import Dispatcher
from gateway.limits import Limits, spent_words
from gateway.messages import InboundMessage, Target
from gateway.past_sessions import PastSessions
from gateway.pause import Pause
from gateway.requests import Actor, Desk
from gateway.requests.faces import face_of
from gateway.requests.granting import granted_words
from gateway.retrying import Retrying
from gateway.session_store import SessionStore
from gateway.store import grants, outbox, restarts, tasks, turns, usage
from gateway.store import requests as request_rows
from gateway.store.audit import AuditLog
from gateway.store.inputs import TurnInputRow
from gateway.store.lanes import Lane
from gateway.store.outbox import dest_of
from gateway.store.tx import Tx
from gateway.turn_queue import TurnQueue

Name = Literal[
    "start",
    "help",
    "new",
    "compact",
    "stop",
    "status",
    "whoami",
    "approve",
    "deny",
    "grants",
    "sessions",
    "again",
    "retry",
    "restart",
    "pause",
    "resume",
]

HELP: dict[Name, str] = {
    "start": "say hello",
    "help": "this list",
    "new": "begin a new conversation; what runs is stopped, what waits is dropped",
    "compact": "make a summary of what was said long ago; the full transcript stays",
    "stop": "stop what runs now (/stop all drops what waits, too)",
    "status": "what runs, what waits, what was used, which tools are there",
    "whoami": "your ids, as an allow-list needs them",
    "approve": "let the tool run that waits for you, once",
    "deny": "do not let it run (/deny REASON tells the agent why)",
    "grants": "what you allowed beforehand (/grants revoke NUMBER takes it back)",
    "sessions": "our conversations here (/sessions NUMBER goes back to one)",
    "again": "show again what may not have arrived",
    "retry": "try again what failed last, from where it stood",
    "restart": "restart me, for admins; what runs goes on afterwards",
    "pause": "start nothing any more, for anybody, for admins; messages are kept",
    "resume": "go on after /pause, for admins",
}

_COMMAND = re.compile(r"/([a-z_]{1,32})(?:\s+(.*))?", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A recognised command with the rest of its line; `name` may be one nobody knows."""

    name: str
    argument: str = ""


def parse_command(text: str) -> Command | None:
    """The command a text is, or None for ordinary words (also for a path such as `/etc/hosts`)."""
    found = _COMMAND.fullmatch(text.strip())
    return Command(name=found[1].lower(), argument=(found[2] or "").strip()) if found else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """A command with all it acts on: who said it, in which role, in which lane (None: nobody spoke there yet)."""

    command: Command
    message: InboundMessage
    role: Role
    lane: Lane | None

    @property
    def target(self) -> Target:
        """Where the answer goes."""
        return Target.of(self.message.source)


class Commands:
    """See the module."""

    def __init__(
        self,
        *,
        sessions: SessionStore,
        desk: Desk,
        delivery: Delivery,
        queue: TurnQueue,
        dispatcher: Dispatcher,
        tools_status: Callable[[], Sequence[str]],
        restart: Callable[[], None],
        audit: AuditLog,
        pause: Pause,
        limits: Limits,
        retrying: Retrying,
        past: PastSessions,
        lane_size: int,
        clock: Clock = utc_now,
    ) -> None:
        self._sessions = sessions
        self._desk = desk
        self._delivery = delivery
        self._queue = queue
        self._dispatcher = dispatcher
        self._tools_status = tools_status
        self._ask_restart = restart
        self._audit = audit
        self._pause = pause
        self._limits = limits
        self._retrying = retrying
        self._past = past
        self._lane_size = lane_size
        self._clock = clock

    def run(self, tx: Tx, order: Order) -> str:  # noqa: C901 - a closed set, one case each
        """Carry an order out; returns the answer, "" if a card is the answer."""
        name = order.command.name
        if name not in get_args(Name):
            return f"I do not know /{name}. /help lists what I know."
        known: Name = name  # type: ignore[assignment]
        match known:
            case "start":
                return "Hello! Write me anything; /help lists the commands."
            case "help":
                return "\n".join(f"/{each} – {what}" for each, what in HELP.items())
            case "whoami":
                return _whoami(order)
            case "new":
                return self._new(tx, order)
            case "compact":
                return self._compact(tx, order)
            case "stop":
                return self._stop(tx, order)
            case "status":
                return self._status(tx, order)
            case "approve":
                return self._decide(tx, order, "approved")
            case "deny":
                return self._decide(tx, order, "denied")
            case "grants":
                return self._grants(tx, order)
            case "sessions":
                actor = Actor.of(order.message.source, is_admin=order.role == "admin")
                lane_id = order.lane.id if order.lane else None
                which = order.command.argument
                return self._past.on_request(tx, lane_id, actor, order.target, which) or ""
            case "again":
                return self._again(tx, order)
            case "retry":
                actor = Actor.of(order.message.source, is_admin=order.role == "admin")
                return self._retrying.on_request(tx, order.lane.id if order.lane else None, actor)
            case "restart":
                return self._restart(tx, order)
            case "pause" | "resume":
                return self._switch(tx, order, known)
            case _ as never:
                assert_never(never)

    def _new(self, tx: Tx, order: Order) -> str:
        if order.lane is None:
            return "This is a new conversation already."
        now_ms = to_ms(self._clock())
        stopped = self.stop_running(tx, order.lane.id, by=_name(order), how="reset")
        dropped = turns.drop_queued(tx, order.lane.id, now_ms)
        self._sessions.reset(tx, order.lane, reason="reset", now_ms=now_ms)
        words = ["A new conversation begins; what I remember of you stays."]
        if stopped:
            words.append("What was running is stopped.")
        if dropped:
            words.append(f"{_messages(dropped)} that waited {'is' if dropped == 1 else 'are'} dropped.")
        return " ".join(words)

    def _compact(self, tx: Tx, order: Order) -> str:
        """A turn of its own in the lane: it asks a model, so it counts as a message and runs beside no other turn."""
        lane, source = order.lane, order.message.source
        agent = (
            turns.agent_in(tx, lane.session_id) if lane is not None and lane.session_id is not None else None
        )
        if lane is None or lane.session_id is None or agent is None:
            return NOTHING_TO_SHORTEN
        if (refusal := self._limits.why_no_message(tx, source.requester, order.target)) is not None:
            return refusal
        if turns.has_open(tx, lane.id, turns.COMPACT):
            return SHORTENING_ALREADY
        waiting = turns.open_count(tx, lane.id)
        if waiting >= self._lane_size:
            return TOO_MUCH_WAITS.format(n=waiting)
        now_ms = to_ms(self._clock())
        _, head = turns.append(
            tx,
            lane_id=lane.id,
            session_id=lane.session_id,
            requester=source.requester,
            agent=agent,
            kind=turns.COMPACT,
            given=TurnInputRow(text="/compact", speaker=source.user_name, sent_at_ms=now_ms),
            message_id=None,
            now_ms=now_ms,
        )
        self._limits.count_message(tx, source.requester, order.target)
        if head is not None:
            self._dispatcher.kick(tx, head)
        return SHORTENING_LATER if waiting else SHORTENING

    def _stop(self, tx: Tx, order: Order) -> str:
        if order.lane is None:
            return "Nothing is running."
        stopped = self.stop_running(tx, order.lane.id, by=_name(order), how="stop")
        drop = order.command.argument.lower() == "all"
        dropped = turns.drop_queued(tx, order.lane.id, to_ms(self._clock())) if drop else 0
        waiting = turns.open_count(tx, order.lane.id) - int(stopped)
        words = ["Stopped." if stopped else "Nothing is running."]
        if dropped:
            words.append(f"{_messages(dropped)} that waited {'is' if dropped == 1 else 'are'} dropped.")
        elif stopped and waiting > 0:
            words.append(
                f"{_messages(waiting)} waiting {'runs' if waiting == 1 else 'run'} next (/stop all drops them)."
            )
        return " ".join(words)

    def stop_running(self, tx: Tx, lane_id: int, *, by: str, how: turns.Stop) -> bool:
        """Stop the lane's turn that runs or waits for a person, and close its cards; False if there is none."""
        open_turns = turns.open_turns(tx, lane_id)
        if not open_turns or open_turns[0][1] == "queued":
            return False
        turn_id, _ = open_turns[0]
        self._desk.close_turn(tx, turn_id, by)
        self._delivery.stand(tx, turn_id)
        head = turns.ask_to_stop(tx, turn_id, how, to_ms(self._clock()))
        tx.after_commit(lambda: self._queue.cut(lane_id, "stop"))
        if head is not None:
            self._dispatcher.kick(tx, head)
        return True

    def _decide(self, tx: Tx, order: Order, state: Literal["approved", "denied"]) -> str:
        request = request_rows.pending_in(tx, order.lane.id) if order.lane else None
        if request is None:
            return "Nothing waits for an answer here."
        if request.kind == "question" and state == "approved":
            question = face_of(request.kind, request.prompt).one_line()
            return f"This is a question; answer it in words or by its buttons: {question}"
        actor = Actor.of(order.message.source, is_admin=order.role == "admin")
        reason = f"{actor.name} denied this: {order.command.argument}" if order.command.argument else None
        return self._desk.decide(tx, request, state, actor, reason if state == "denied" else None).text

    def _grants(self, tx: Tx, order: Order) -> str:
        """Only one's own, for admins too: the operator has `parley grants`."""
        who = order.message.source.requester
        held = grants.live(tx, to_ms(self._clock()), who)
        word, _, number = order.command.argument.partition(" ")
        if not word:
            lines = [f"{grant.id}. {grant.ref}: {granted_words(grant)}" for grant in held]
            return (
                "\n".join([*lines, "/grants revoke NUMBER takes one back."])
                if lines
                else "You granted nothing."
            )
        if word.lower() != "revoke" or not number.strip().isdecimal():
            return "Write /grants, or /grants revoke NUMBER."
        grant = next((grant for grant in held if str(grant.id) == number.strip()), None)
        if grant is None or not self._desk.granting.revoke(tx, grant.id, by=who):
            return f"You have no grant {number.strip()}."
        return f"Revoked: {grant.ref} asks again."

    def _status(self, tx: Tx, order: Order) -> str:
        lines = [self._turns_line(tx, order.lane)]
        if self._pause.is_on:
            lines.insert(0, "I am paused by an admin: nothing starts.")
        request = request_rows.pending_in(tx, order.lane.id) if order.lane else None
        if request is not None:
            lines.append(f"Waits for an answer: {face_of(request.kind, request.prompt).one_line()}")
        lines += self._tasks_lines(tx, order.lane)
        lost = len(outbox.unknown(tx, dest_of(order.target)))
        if lost:
            lines.append(f"{_messages(lost)} of mine may not have arrived; /again shows them.")
        lines += self._limits.today(tx, order.message.source.requester, order.target)
        if order.lane is not None:
            lines += [f"Last answer by {spent_words(each)}." for each in usage.last_turn(tx, order.lane.id)]
        return "\n".join([*lines, *self._tools_status()])

    def _tasks_lines(self, tx: Tx, lane: Lane | None) -> list[str]:
        """Who answers, where that is not as configured, and on which tasks."""
        if lane is None or lane.session_id is None:
            return []
        kept = tasks.load(tx, lane.session_id)
        lines = [f"{kept.answerer} answers here."] if kept.answerer is not None else []
        open_tasks = [
            f"{task.agent} ({shorten_middle(' '.join(task.goal.split()), GOAL_SHOWN)[0]})"
            for task in kept.tasks
            if task.state == "open"
        ]
        return [*lines, f"Open tasks: {', then '.join(open_tasks)}."] if open_tasks else lines

    def _turns_line(self, tx: Tx, lane: Lane | None) -> str:
        states = [state for _, state in turns.open_turns(tx, lane.id)] if lane else []
        if not states:
            return "Nothing is running."
        words = {
            "queued": "waiting for a free place",
            "ready": "about to go on",
            "waiting": "waiting for a person",
        }
        behind = len(states) - 1
        return f"One message is {words.get(states[0], 'being answered')}, {behind} wait behind it."

    def _restart(self, tx: Tx, order: Order) -> str:
        if order.role != "admin":
            return NO_ADMIN
        # The next process tells it, once: a repeat of this update is known, and starts nothing.
        self._audit.write(tx, actor=order.message.source.requester, action="admin.restart", target="gateway")
        restarts.ask(tx, dest_of(order.target), to_ms(self._clock()))
        tx.after_commit(self._ask_restart)
        return RESTARTING

    def _switch(self, tx: Tx, order: Order, how: Literal["pause", "resume"]) -> str:
        by = order.message.source.requester
        if order.role != "admin":
            self._audit.write(tx, actor=by, action="access.refused", target="gateway", by=f"/{how}")
            return FOR_ADMINS
        if how == "pause":
            return PAUSED if self._pause.begin(tx, by) else "I am paused already; /resume ends it."
        return "I go on with what waits." if self._pause.end(tx, by) else "I am not paused."

    def _again(self, tx: Tx, order: Order) -> str:
        lost = outbox.unknown(tx, dest_of(order.target))
        for row_id in lost:
            self._delivery.show_again(tx, row_id)
        return f"{_messages(len(lost))} to show again." if lost else "Nothing is missing, as far as I know."


GOAL_SHOWN = 60
"""Characters of a task's goal in /status."""

NOTHING_TO_SHORTEN = "There is no conversation to shorten yet."
SHORTENING = "I shorten our conversation now."
SHORTENING_LATER = "I shorten our conversation after what runs and waits now."
SHORTENING_ALREADY = "I am to shorten our conversation already; once is enough."
TOO_MUCH_WAITS = "{n} messages run or wait here already, so I did not take this in; please ask again later."
RESTARTING = "I am restarting, and tell you here when I am back."
PAUSED = "Paused: nothing starts any more, here or anywhere, until /resume. What runs now ends by itself or by /stop."
FOR_ADMINS = "Only an admin may do that."
NO_ADMIN = "Only an admin may restart me."


def _name(order: Order) -> str:
    return order.message.source.user_name or order.message.source.user_id


def _whoami(order: Order) -> str:
    source = order.message.source
    lines = [
        f"You are {source.user_name or 'nameless'}, user id {source.user_id} on {source.platform}.",
        f"This chat is chat:{source.chat_id} ({source.kind}), I am account {source.account}.",
        f"Your role is {order.role}.",
    ]
    return "\n".join(lines)


def _messages(count: int) -> str:
    return "1 message" if count == 1 else f"{count} messages"
