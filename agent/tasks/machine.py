"""The task machine: who answers, what was begun, what waits to be asked. Pure; one table of transitions.

    user ──message──▶ chat ──ended──▶ is a begin pending? ──yes──▶ begin ──accept──▶ chat (the other agent's)
     ▲                 │                    │ no                     └─reject──▶ user
     │              failed, stop            ▼
     ├─────────────────┘          is an end to be asked? ──yes──▶ end ──accept, later──▶ (the same question again)
     └──────────────────no──────────────────┘                      └─reject──▶ user

Begun tasks are a stack. Begins are accepted one by one, ends release them one by one: what was begun less what was
ended is the depth, which is never negative. An end that was said before something else was begun waits until that is
released. Whatever has no line in the table cannot happen.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

Phase = Literal["user", "chat", "begin", "end"]
"""Who has the word: the user, an agent, or the user again, asked whether a task begins or has ended."""

Event = Literal["message", "ended", "failed", "accept", "reject", "later", "stop"]
Goal = Literal["user", "chat", "ask"]
"""Where a transition leads; `ask`: to the next question, or to the user if nothing is left to ask."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task that was asked for or has begun; `seq` is its number in the session.

    `agent` works on it, `upstream` asked for it and gets its summary. `back_to` answers again once it has ended:
    whoever had the word when it was accepted.
    """

    seq: int
    agent: str
    goal: str
    upstream: str
    back_to: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """An agent (`by`) said that its task is done; `depth` is how many tasks were open then.

    `put_off`: it was answered with later since the last chat ended, and is not asked again before the next one has.
    """

    seq: int
    by: str
    summary: str
    depth: int
    put_off: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskState:
    """A session's tasks: `open` innermost last, `begins` and `ends` in the order they are asked."""

    answerer: str
    phase: Phase = "user"
    open: tuple[Task, ...] = ()
    begins: tuple[Task, ...] = ()
    ends: tuple[End, ...] = ()
    next_seq: int = 1

    @property
    def begin(self) -> Task | None:
        """The begin to ask about next."""
        return self.begins[0] if self.begins else None

    @property
    def end(self) -> End | None:
        """The end to ask about next: one above which nothing is open, not yet put off; it would end `open[-1]`."""
        depth = len(self.open)
        return next((end for end in self.ends if depth <= end.depth and not end.put_off), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """An event with what it brings.

    Attributes:
        event: What happened.
        agent: With `message`: who was spoken to by name.
        begins: With `ended`: the tasks the chat asked for, as (agent, goal), in order.
        ends: With `ended`: the summaries of the tasks it said are done, in order.
    """

    event: Event
    agent: str | None = None
    begins: tuple[tuple[str, str], ...] = ()
    ends: tuple[str, ...] = ()


Effect = Callable[[TaskState, Happening], TaskState]


def advance(state: TaskState, happening: Happening) -> TaskState:
    """What becomes of the tasks.

    Raises:
        KeyError: this cannot happen in the state's phase.
    """
    effect, goal = TABLE[state.phase, happening.event]
    return _towards(effect(state, happening), goal)


def asking(state: TaskState) -> TaskState:
    """The state with its next question, or with the user if there is none."""
    return _towards(state, "ask")


def _towards(state: TaskState, goal: Goal) -> TaskState:
    if goal != "ask":
        return replace(state, phase=goal)
    if state.begin is not None:
        return replace(state, phase="begin")
    return replace(state, phase="end" if state.end is not None else "user")


def _address(state: TaskState, happening: Happening) -> TaskState:
    return state if happening.agent is None else replace(state, answerer=happening.agent)


def _collect(state: TaskState, happening: Happening) -> TaskState:
    by, depth, seq = state.answerer, len(state.open), state.next_seq
    begins = tuple(
        Task(seq=number, agent=agent, goal=goal, upstream=by)
        for number, (agent, goal) in enumerate(happening.begins, start=seq)
    )
    said = tuple(
        End(seq=number, by=by, summary=summary, depth=depth)
        # Without an open task there is nothing to end.
        for number, summary in enumerate(happening.ends if depth else (), start=seq + len(begins))
    )
    # Who says once more that the same task is done has a better summary, not a second task to end.
    kept = tuple(end for end in state.ends if not (said and end.by == by and end.depth == depth))
    return replace(
        state,
        begins=(*state.begins, *begins),
        ends=tuple(replace(end, put_off=False) for end in (*kept, *said)),
        next_seq=seq + len(begins) + len(said),
    )


def _push(state: TaskState, _: Happening) -> TaskState:
    first, *others = state.begins
    begun = replace(first, back_to=state.answerer)
    return replace(state, answerer=begun.agent, open=(*state.open, begun), begins=tuple(others))


def _pop(state: TaskState, _: Happening) -> TaskState:
    asked, task = state.end, state.open[-1]
    ends = tuple(end for end in state.ends if end is not asked)
    rest = state.open[:-1]
    return replace(state, answerer=task.back_to, open=rest, ends=ends if rest else ())


def _put_off(state: TaskState, _: Happening) -> TaskState:
    asked = state.end
    assert asked is not None  # the phase is `end`
    others = tuple(end for end in state.ends if end is not asked)
    return replace(state, ends=(*others, replace(asked, put_off=True)))


def _drop_begin(state: TaskState, _: Happening) -> TaskState:
    return replace(state, begins=state.begins[1:])


def _drop_end(state: TaskState, _: Happening) -> TaskState:
    asked = state.end
    return replace(state, ends=tuple(end for end in state.ends if end is not asked))


def _forget_begins(state: TaskState, _: Happening) -> TaskState:
    return replace(state, begins=())


def _nothing(state: TaskState, _: Happening) -> TaskState:
    return state


TABLE: Mapping[tuple[Phase, Event], tuple[Effect, Goal]] = {
    ("user", "message"): (_address, "chat"),
    ("chat", "ended"): (_collect, "ask"),
    # Nothing of a chat that failed or was stopped counts: it may be tried again.
    ("chat", "failed"): (_nothing, "user"),
    ("chat", "stop"): (_forget_begins, "user"),
    ("begin", "accept"): (_push, "chat"),
    ("begin", "reject"): (_drop_begin, "user"),
    ("begin", "stop"): (_forget_begins, "user"),
    ("end", "accept"): (_pop, "ask"),
    ("end", "later"): (_put_off, "ask"),
    ("end", "reject"): (_drop_end, "user"),
    # The card is closed, the task stays open: it is asked about again after the next chat.
    ("end", "stop"): (_nothing, "user"),
}
