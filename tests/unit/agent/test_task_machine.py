"""The task machine: its table, and what holds after any order of events, crashes included."""

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agent.tasks.machine import TABLE, Event, Happening, Phase, Task, TaskState, advance, asking

pytestmark = pytest.mark.req("TSK-2", "TSK-3")

AGENTS = ("default", "coder", "critic")
START = TaskState(answerer="default")


def after(*happenings: Happening, state: TaskState = START) -> TaskState:
    for happening in happenings:
        state = advance(state, happening)
    return state


def test_the_table_has_a_line_for_each_thing_that_can_happen_and_no_other() -> None:
    can_happen: Mapping[Phase, set[Event]] = {
        "user": {"message"},
        "chat": {"ended", "failed", "stop"},
        "begin": {"accept", "reject", "stop"},
        "end": {"accept", "reject", "later", "stop"},
    }
    assert {(phase, event) for phase, events in can_happen.items() for event in events} == set(TABLE)
    for phase in get_args(Phase):
        for event in set(get_args(Event)) - can_happen[phase]:
            with pytest.raises(KeyError):
                advance(replace(START, phase=phase), Happening(event=event))


def test_a_name_changes_who_answers_until_a_task_moves_it_and_the_end_gives_it_back() -> None:
    state = after(
        Happening(event="message", agent="critic"),
        Happening(event="ended", begins=(("coder", "goal"),)),
        Happening(event="accept"),
    )
    assert (state.answerer, state.phase) == ("coder", "chat")
    assert state.open == (Task(seq=1, agent="coder", goal="goal", upstream="critic", back_to="critic"),)

    ended = after(Happening(event="ended", ends=("done",)), Happening(event="accept"), state=state)
    assert ended == TaskState(answerer="critic", next_seq=3)


def test_who_says_again_that_the_same_task_is_done_replaces_what_they_said() -> None:
    state = after(
        Happening(event="message"),
        Happening(event="ended", begins=(("coder", "goal"),)),
        Happening(event="accept"),
        Happening(event="ended", ends=("half done",)),
        Happening(event="later"),
        Happening(event="message"),
        Happening(event="ended", ends=("done",)),
    )
    assert [end.summary for end in state.ends] == ["done"]


def test_a_chat_that_failed_or_was_stopped_ends_nothing() -> None:
    chatting = after(
        Happening(event="message"),
        Happening(event="ended", begins=(("coder", "goal"), ("critic", "more"))),
        Happening(event="accept"),
    )
    assert after(Happening(event="failed"), state=chatting) == replace(chatting, phase="user")
    assert after(Happening(event="stop"), state=chatting) == replace(chatting, phase="user", begins=())


class Machine(RuleBasedStateMachine):
    """Counts begins and ends beside the machine; every state is one from which a crashed turn goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.state = START
        self.begun = self.ended = 0
        self.asked: list[int] = []

    def happens(self, event: Event, **details: object) -> None:
        if self.state.phase in {"begin", "end"}:
            current = self.state.begin if self.state.phase == "begin" else self.state.end
            assert current is not None
            self.asked.append(current.seq)
        if event == "accept":
            self.begun += self.state.phase == "begin"
            self.ended += self.state.phase == "end"
        if event == "ended":
            self.asked = []
        self.state = advance(self.state, Happening(event=event, **details))  # type: ignore[arg-type]

    @precondition(lambda self: self.state.phase == "user")
    @rule(agent=st.sampled_from([None, *AGENTS]))
    def somebody_writes(self, agent: str | None) -> None:
        self.happens("message", agent=agent)

    @precondition(lambda self: self.state.phase == "chat")
    @rule(
        begins=st.lists(st.tuples(st.sampled_from(AGENTS), st.just("goal")), max_size=3),
        ends=st.lists(st.sampled_from(["one", "two"]), max_size=3),
    )
    def the_chat_ends(self, begins: list[tuple[str, str]], ends: list[str]) -> None:
        self.happens("ended", begins=tuple(begins), ends=tuple(ends))

    @precondition(lambda self: self.state.phase == "chat")
    @rule(event=st.sampled_from(["failed", "stop"]))
    def the_chat_breaks_off(self, event: Event) -> None:
        self.happens(event)

    @precondition(lambda self: self.state.phase == "begin")
    @rule(event=st.sampled_from(["accept", "reject", "stop"]))
    def a_begin_is_answered(self, event: Event) -> None:
        self.happens(event)

    @precondition(lambda self: self.state.phase == "end")
    @rule(event=st.sampled_from(["accept", "reject", "later", "stop"]))
    def an_end_is_answered(self, event: Event) -> None:
        self.happens(event)

    @precondition(lambda self: self.state.phase in {"begin", "end"})
    @rule()
    def the_question_is_lost_and_asked_again(self) -> None:
        assert asking(self.state) == self.state

    @invariant()
    def begins_less_ends_are_the_depth(self) -> None:
        assert self.begun - self.ended == len(self.state.open) >= 0

    @invariant()
    def no_candidate_is_asked_about_twice_after_one_chat(self) -> None:
        assert len(self.asked) == len(set(self.asked))

    @invariant()
    def what_waits_can_end_something(self) -> None:
        assert all(end.depth > 0 for end in self.state.ends)
        assert not self.state.ends or self.state.open

    @invariant()
    def the_innermost_task_is_released_first(self) -> None:
        numbers = [task.seq for task in self.state.open]
        assert numbers == sorted(set(numbers))
        assert self.state.phase != "end" or len(self.state.open) <= self.state.end.depth  # type: ignore[union-attr]


TestMachine = Machine.TestCase
TestMachine.settings = settings(max_examples=25, stateful_step_count=20, deadline=None)
