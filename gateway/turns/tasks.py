"""The task system: who answers a turn, and what follows when an agent's chat has ended.

Between the pure machine (`agent.tasks.machine`), the rows (`gateway.store.tasks`) and the people (`gateway.requests`):
each step is one transaction that stores what became of the tasks, tells it, and asks the next question or ends the
turn. A crash between two steps finds the turn at the one or the other.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from typing import Literal, assert_never

import structlog

from agent.context.folding import KEEPS_ALL, Keeping
from agent.events import Noted
from agent.keeping import noted_history
from agent.tasks.machine import End, Event, Happening, Phase, Task, TaskState, advance, asking
from agent.tasks.mentions import mentioned
from gateway.document import Code, Heading, Paragraph, Rule, Spans, Table, leaves, parse
from gateway.requests import TaskPrompt
from gateway.store import messages, turns
from gateway.store import requests as request_rows
from gateway.store import tasks as rows
from gateway.store.lanes import Head
from gateway.store.requests import Request, RequestState
from gateway.store.tasks import EndRow, Kept, TaskRow
from gateway.store.turns import Claim
from gateway.store.tx import Store, Tx
from gateway.turns.legs import Leg, leg_of
from gateway.turns.narration import Mask, Narration
from gateway.turns.wording import task_goal, task_not_begun, task_not_ended, task_summary

log = structlog.get_logger()

FALLBACK = "default"
"""The agent that is always configured."""

GONE = "There is no agent {agent} here any more."


class Again:
    """The turn goes on at once, with the next leg: claim it anew."""


AGAIN = Again()

_ANSWERS: dict[Literal["begin", "end"], dict[RequestState, Event]] = {
    "begin": {"approved": "accept", "denied": "reject", "postponed": "reject", "expired": "reject"},
    "end": {"approved": "accept", "denied": "reject", "postponed": "later", "expired": "later"},
}
_SAID: dict[Event, str] = {"accept": "accepted", "reject": "rejected", "later": "put off"}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskSystem:
    """See the module. With a single agent there is nobody to hand anything to, and nothing is looked up."""

    database: Store
    agents: Collection[str]
    mask: Mask
    card_mask: Mask

    def has(self, agent: str) -> bool:
        """Whether there is such an agent."""
        return agent in self.agents

    def route(self, tx: Tx, claim: Claim) -> Claim:
        """The claim of a turn that has not begun, for the agent that answers it: spoken to by name, or at work."""
        if len(self.agents) == 1 and claim.agent in self.agents:
            return claim
        kept = rows.load(tx, claim.session_id)
        current = kept.answerer or claim.agent
        agent = mentioned(_spoken(claim.input.text), self.agents) or current
        if agent not in self.agents:
            log.warning("turn.agent_gone", agent=agent)
            agent = claim.agent if claim.agent in self.agents else FALLBACK
        if agent != current:
            rows.set_answerer(tx, claim.session_id, agent)
        return turns.hand_to(tx, claim, agent)

    async def goal(self, claim: Claim, leg: Leg) -> str:
        """What the leg's agent is asked to do, as it reads it."""
        assert leg.task is not None
        number = leg.task
        task = await self.database.read(lambda tx: rows.task(tx, claim.session_id, number))
        if task is None:
            raise LookupError(f"task {number} of session {claim.session_id}")
        return task_goal(task.upstream, task.goal)

    async def chat_ended(self, claim: Claim, narration: Narration, closed: Keeping) -> Head | Again | None:
        """The leg's chat is over: keep its history, collect what it asked for, ask about it or end the turn."""
        if len(self.agents) == 1:
            return await narration.end("done", closed=closed)
        before = await self._state(claim, "chat")
        checkpoint = narration.closing
        assert checkpoint is not None  # a chat that did not fail ends with checkpoint C
        happening = Happening(
            event="ended",
            begins=tuple((call["agent"], call["goal"]) for call in _calls(checkpoint.data.get("begins"))),
            ends=tuple(call["summary"] for call in _calls(checkpoint.data.get("ends"))),
        )
        after = advance(before, happening)
        # What the checkpoint knows of the tasks besides: the stack, and all that waits to be asked about.
        known = {
            "stack": [[task.seq, task.agent] for task in after.open],
            "pending": [task.seq for task in after.begins],
            "candidates": [said.seq for said in after.ends],
        }
        narration.closing = replace(checkpoint, data={**checkpoint.data, **known})
        return await self._follow(claim, narration, before, after, "ended", closed)

    async def answered(self, claim: Claim, narration: Narration, leg: Leg) -> Head | Again | None:
        """A person has answered (or nobody did in time): go on accordingly."""
        asked = leg.asked
        request = await self.database.read(
            lambda tx: None if asked is None else request_rows.of_call(tx, claim.turn_id, asked, "task")
        )
        what = None if asked is None else _asked(asked)
        before = await self._state(claim, what[0] if what is not None else "user")
        event = _event(request, what[0]) if request is not None and what is not None else None
        current = before.begin if before.phase == "begin" else before.end
        if event is None or what is None or current is None or current.seq != what[1]:
            # Nothing was asked, or about something else: ask (again) about what there is.
            return await self._follow(claim, narration, before, asking(before), None, KEEPS_ALL)
        if event == "accept" and isinstance(current, Task) and current.agent not in self.agents:
            await narration.take(Noted(message=GONE.format(agent=current.agent)))
            event = "reject"
        narration.say_task(self._told(before, event))
        return await self._follow(
            claim, narration, before, advance(before, Happening(event=event)), event, KEEPS_ALL
        )

    def stop(self, tx: Tx, claim: Claim, now_ms: int) -> None:
        """The turn was stopped: what it asked for and nobody accepted is dropped, what has begun stays open."""
        if len(self.agents) == 1:
            return
        asked = leg_of(turns.events_of(tx, claim.turn_id)).asked
        phase = _asked(asked)[0] if asked is not None else "chat"
        before = self._load(tx, claim, phase)
        after = advance(before, Happening(event="stop"))
        rows.save(
            tx,
            claim.session_id,
            changed_rows(before, after, "stop"),
            turn_id=claim.turn_id,
            now_ms=now_ms,
        )

    async def _state(self, claim: Claim, phase: Phase) -> TaskState:
        return await self.database.read(lambda tx: self._load(tx, claim, phase))

    def _load(self, tx: Tx, claim: Claim, phase: Phase) -> TaskState:
        return state_of(rows.load(tx, claim.session_id), phase=phase, answerer=claim.agent)

    async def _follow(
        self,
        claim: Claim,
        narration: Narration,
        before: TaskState,
        after: TaskState,
        event: Event | None,
        closed: Keeping,
    ) -> Head | Again | None:
        """Store the step from one state to the next, with what follows from it, in one transaction."""
        notes = _notes(before, event)

        def also(tx: Tx) -> None:
            now_ms = narration.now_ms()
            rows.save(
                tx,
                claim.session_id,
                changed_rows(before, after, event),
                turn_id=claim.turn_id,
                now_ms=now_ms,
            )
            if after.answerer != before.answerer:
                rows.set_answerer(tx, claim.session_id, after.answerer)
            for agent, text in notes:
                turns.add_history(tx, claim, noted_history(text), agent=agent)
            line = _line(before, event)
            if line is not None:
                messages.add(
                    tx,
                    session_id=claim.session_id,
                    turn_id=claim.turn_id,
                    role="notice",
                    author="parley",
                    body=line,
                    now_ms=now_ms,
                )
            if after.phase == "chat":
                turns.hand_to(tx, claim, after.answerer)

        if after.phase == "user":
            return await narration.end("done", closed=closed, also=also)
        if after.phase == "chat":
            await narration.pass_on(also)
            return AGAIN
        await narration.ask_task(
            self._prompt(claim, after), f"{after.phase}:{_current(after).seq}", closed=closed, also=also
        )
        return None

    def _prompt(self, claim: Claim, state: TaskState) -> TaskPrompt:
        asked = claim.input.speaker or claim.requester
        if state.phase == "begin":
            assert state.begin is not None  # the phase says so
            begin = state.begin
            return TaskPrompt(
                what="begin",
                agent=begin.agent,
                other=begin.upstream,
                text=self.card_mask(begin.goal),
                asked=asked,
            )
        assert state.end is not None
        task = state.open[-1]
        return TaskPrompt(
            what="end",
            agent=task.agent,
            other=task.back_to,
            text=self.card_mask(state.end.summary),
            asked=asked,
        )

    def _told(self, before: TaskState, event: Event) -> dict[str, object]:
        """The event that clients see."""
        if before.phase == "begin":
            begin = _current(before)
            assert isinstance(begin, Task)
            return {
                "what": "begin",
                "state": _SAID[event],
                "task": begin.seq,
                "agent": begin.agent,
                "by": begin.upstream,
                "goal": self.mask(begin.goal),
            }
        end, task = _current(before), before.open[-1]
        assert isinstance(end, End)
        return {
            "what": "end",
            "state": _SAID[event],
            "task": task.seq,
            "agent": task.agent,
            "by": end.by,
            "back_to": task.back_to,
            "summary": self.mask(end.summary),
        }


def _current(state: TaskState) -> Task | End:
    """What is asked about in this state."""
    current = state.begin if state.phase == "begin" else state.end
    assert current is not None  # the phase says so
    return current


def _asked(call_id: str) -> tuple[Literal["begin", "end"], int]:
    what, _, number = call_id.partition(":")
    return ("begin" if what == "begin" else "end"), int(number)


def _event(request: Request, what: Literal["begin", "end"]) -> Event | None:
    """What an answer means; None if there is none (closed by a stop, which is handled elsewhere)."""
    return _ANSWERS[what].get(request.state)


def _calls(listed: object) -> list[dict[str, str]]:
    return listed if isinstance(listed, list) else []


def _spoken(text: str) -> list[str]:
    """What a person wrote, without its code."""
    if "@" not in text:
        return []
    pieces: list[str] = []
    for leaf in leaves(parse(text).blocks):
        match leaf:
            case Paragraph(spans=spans) | Heading(spans=spans):
                pieces.append(_without_code(spans))
            case Table(head=head, rows=lines):
                pieces += [_without_code(cell) for line in (head, *lines) for cell in line]
            case Code() | Rule():
                pass
            case _ as never:
                assert_never(never)
    return pieces


def _without_code(spans: Spans) -> str:
    return "".join(" " if "code" in span.marks else span.text for span in spans)


def state_of(kept: Kept, *, phase: Phase, answerer: str) -> TaskState:
    """The machine's state, from the rows and from where the turn stands."""
    return TaskState(
        answerer=answerer,
        phase=phase,
        open=tuple(_task(row) for row in kept.tasks if row.state == "open"),
        begins=tuple(_task(row) for row in kept.tasks if row.state == "asked"),
        ends=tuple(
            End(seq=row.seq, by=row.agent, summary=row.summary, depth=row.depth, put_off=row.put_off)
            for row in kept.ends
        ),
        next_seq=kept.next_seq,
    )


def _task(row: TaskRow) -> Task:
    return Task(seq=row.seq, agent=row.agent, goal=row.goal, upstream=row.upstream, back_to=row.back_to)


def changed_rows(before: TaskState, after: TaskState, event: Event | None) -> Iterable[TaskRow | EndRow]:
    """The rows that are not the same any more."""
    old, new = _rows(before), _rows(after)
    for seq, row in new.items():
        if old.get(seq) != row:
            yield row
    for seq, row in old.items():
        if seq in new:
            continue
        if isinstance(row, TaskRow):
            yield replace(row, state="ended" if row.state == "open" else "dropped")
        else:
            is_accepted = event == "accept" and before.end is not None and before.end.seq == seq
            yield replace(row, state="accepted" if is_accepted else "dropped")


def _rows(state: TaskState) -> dict[int, TaskRow | EndRow]:
    found: dict[int, TaskRow | EndRow] = {}
    for tasks, how in ((state.open, "open"), (state.begins, "asked")):
        for task in tasks:
            found[task.seq] = TaskRow(
                seq=task.seq,
                agent=task.agent,
                goal=task.goal,
                upstream=task.upstream,
                back_to=task.back_to,
                state="open" if how == "open" else "asked",
            )
    for place, end in enumerate(state.ends):
        found[end.seq] = EndRow(
            seq=end.seq,
            agent=end.by,
            summary=end.summary,
            depth=end.depth,
            put_off=end.put_off,
            place=place,
            state="said",
        )
    return found


def _notes(before: TaskState, event: Event | None) -> list[tuple[str, str]]:
    """What agents are told in their histories, without being asked anything: (agent, text)."""
    if before.phase == "begin" and event == "reject":
        begin = _current(before)
        assert isinstance(begin, Task)
        return [(begin.upstream, task_not_begun(begin.agent))]
    if before.phase == "end" and event in {"accept", "reject"}:
        end, task = _current(before), before.open[-1]
        assert isinstance(end, End)
        if event == "accept":
            return [(task.upstream, task_summary(task.agent, end.summary))]
        return [(end.by, task_not_ended())]
    return []


def _line(before: TaskState, event: Event | None) -> str | None:
    """What the transcript says of the step."""
    if event != "accept":
        return None
    if before.phase == "begin":
        begin = _current(before)
        assert isinstance(begin, Task)
        return f"{begin.agent} takes over from {before.answerer}: {begin.goal}"
    end, task = _current(before), before.open[-1]
    assert isinstance(end, End)
    return f"{task.agent} has ended its task, back to {task.back_to}: {end.summary}"
