"""What a request looks like to people, by its kind: the one place that tells kinds apart for cards and words.

A face is made from a request's `prompt`. A new kind of request is a new face here; desk and board stay as they are.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from gateway.document import Document
from gateway.requests import cards, offers, questions, task_cards
from gateway.requests.cards import Asking, Card, Measure, Prompt
from gateway.requests.questions import Question
from gateway.requests.task_cards import TaskPrompt
from gateway.store.requests import RequestKind, RequestState


@dataclass(frozen=True, slots=True, kw_only=True)
class Settling:
    """How a request ended: in which state, by whom, when, how its call fares, what was granted beyond it.

    `answer` is what was answered to a question.
    """

    state: RequestState
    by: str
    at: datetime
    progress: str = ""
    terms: str = ""
    answer: str = ""


class Face(Protocol):
    """One request for people to see; all of it literal text, whoever wrote it."""

    @property
    def asked(self) -> str:
        """The name of the person who is asked."""
        ...

    def open_card(self, asking: Asking, *, measure: Measure, limit: int) -> Card:
        """The card of a pending request."""
        ...

    def settled_card(self, settling: Settling, *, measure: Measure, limit: int) -> Card:
        """The card of a settled one."""
        ...

    def reminder(self, *, kept: int, measure: Measure, limit: int) -> Document:
        """The request repeated, for somebody who wrote instead of answering; `kept` is 0 if that was not taken."""
        ...

    def whole(self) -> Document:
        """All that the card may have had to shorten; may be longer than one message."""
        ...

    def one_line(self) -> str:
        """The request in a few words, for lists and short notices."""
        ...

    def first_offers(self, *, needed: int, show_all: bool) -> tuple[offers.Row, ...]:
        """The rows of buttons of the open card; `show_all`: it had to be shortened."""
        ...

    def told(self, state: RequestState, terms: str) -> str:
        """What the person hears whose press settled it."""
        ...

    def already(self, state: RequestState, by: str) -> str:
        """What somebody hears whose answer comes too late."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalFace:
    """May this tool run?"""

    prompt: Prompt

    @property
    def asked(self) -> str:
        """See `Face`."""
        return self.prompt.asked

    def open_card(self, asking: Asking, *, measure: Measure, limit: int) -> Card:
        """See `Face`."""
        return cards.open_card(self.prompt, asking, measure=measure, limit=limit)

    def settled_card(self, settling: Settling, *, measure: Measure, limit: int) -> Card:
        """See `Face`."""
        return cards.settled_card(
            self.prompt,
            settling.state,
            by=settling.by,
            at=settling.at,
            progress=settling.progress,
            terms=settling.terms,
            measure=measure,
            limit=limit,
        )

    def reminder(self, *, kept: int, measure: Measure, limit: int) -> Document:
        """See `Face`."""
        return cards.reminder(self.prompt, kept=kept, measure=measure, limit=limit)

    def whole(self) -> Document:
        """See `Face`."""
        return cards.whole_call(self.prompt)

    def one_line(self) -> str:
        """See `Face`."""
        return cards.one_line(self.prompt)

    def first_offers(self, *, needed: int, show_all: bool) -> tuple[offers.Row, ...]:
        """See `Face`."""
        return offers.first_offers(needed=needed, show_all=show_all)

    def told(self, state: RequestState, terms: str) -> str:
        """See `Face`."""
        if state != "approved":
            return "Denied."
        return f"Approved {terms}; running it." if terms else "Approved, running it."

    def already(self, state: RequestState, by: str) -> str:
        """See `Face`."""
        ending = {
            "approved": f"already approved by {by}",
            "denied": f"already denied by {by}",
            "expired": "expired, it was not run",
        }.get(state, "closed, it was not run")
        return f"This is {ending}. Nothing was done: {self.one_line()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFace:
    """May this agent take a task over, or has it ended?"""

    prompt: TaskPrompt

    @property
    def asked(self) -> str:
        """See `Face`."""
        return self.prompt.asked

    def open_card(self, asking: Asking, *, measure: Measure, limit: int) -> Card:
        """See `Face`."""
        return task_cards.open_card(self.prompt, asking.minutes, measure=measure, limit=limit)

    def settled_card(self, settling: Settling, *, measure: Measure, limit: int) -> Card:
        """See `Face`."""
        return task_cards.settled_card(
            self.prompt, settling.state, by=settling.by, at=settling.at, measure=measure, limit=limit
        )

    def reminder(self, *, kept: int, measure: Measure, limit: int) -> Document:
        """See `Face`."""
        return task_cards.reminder(self.prompt, kept=kept, measure=measure, limit=limit)

    def whole(self) -> Document:
        """See `Face`."""
        return task_cards.whole(self.prompt)

    def one_line(self) -> str:
        """See `Face`."""
        return task_cards.one_line(self.prompt)

    def first_offers(self, *, needed: int, show_all: bool) -> tuple[offers.Row, ...]:
        """See `Face`."""
        del needed  # one person's word is enough for a task
        return task_cards.first_offers(self.prompt, show_all=show_all)

    def told(self, state: RequestState, terms: str) -> str:
        """See `Face`."""
        del terms  # a task grants nothing
        return task_cards.told(self.prompt, state)

    def already(self, state: RequestState, by: str) -> str:
        """See `Face`."""
        ending = task_cards.ending(self.prompt, state, by)
        return f"This was settled: {ending}. Nothing was done: {self.one_line()}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionFace:
    """What does the person say?"""

    question: Question

    @property
    def asked(self) -> str:
        """See `Face`."""
        return self.question.asked

    def open_card(self, asking: Asking, *, measure: Measure, limit: int) -> Card:
        """See `Face`."""
        return questions.open_card(self.question, asking.minutes, measure=measure, limit=limit)

    def settled_card(self, settling: Settling, *, measure: Measure, limit: int) -> Card:
        """See `Face`."""
        return questions.settled_card(
            self.question,
            settling.state,
            by=settling.by,
            at=settling.at,
            answer=settling.answer,
            measure=measure,
            limit=limit,
        )

    def reminder(self, *, kept: int, measure: Measure, limit: int) -> Document:
        """See `Face`."""
        return questions.reminder(self.question, kept=kept, measure=measure, limit=limit)

    def whole(self) -> Document:
        """See `Face`."""
        return questions.whole(self.question)

    def one_line(self) -> str:
        """See `Face`."""
        return questions.one_line(self.question)

    def first_offers(self, *, needed: int, show_all: bool) -> tuple[offers.Row, ...]:
        """See `Face`."""
        del needed  # one answer is enough
        return questions.first_offers(self.question, show_all=show_all)

    def told(self, state: RequestState, terms: str) -> str:
        """See `Face`."""
        del terms  # an answer grants nothing
        return questions.told(state)

    def already(self, state: RequestState, by: str) -> str:
        """See `Face`."""
        return f"This question was settled: {questions.ending(state, by)}. Nothing was done."


def face_of(kind: RequestKind, prompt: str) -> Face:
    """The face of a request that has one: all kinds but confirmations, whose prompt is their words.

    Raises:
        ValueError, LookupError, TypeError: the prompt is not of that kind.
    """
    if kind == "task":
        return TaskFace(prompt=TaskPrompt.from_json(prompt))
    if kind == "question":
        return QuestionFace(question=Question.from_json(prompt))
    return ApprovalFace(prompt=Prompt.from_json(prompt))
