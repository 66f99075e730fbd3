"""A question to a person: what it asks, and how its card looks. All of it is somebody else's words, shown literally."""

import json
from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.chunking import shorten_middle
from gateway.document import Block, Document, document, paragraph, span
from gateway.requests.cards import (
    LEAST_KEPT,
    Card,
    Measure,
    label,
    reminder_title,
    visible,
    visible_line,
)
from gateway.requests.offers import SHOW, Offer, Row
from gateway.store.requests import Request, RequestState

ANSWER = "answer/"
"""Begins the `choice` of a button that answers; the choice's number (from 0) follows."""

SKIP = Offer(label="Skip", choice="deny")

NO_ANSWER = "No answer: nobody answered in time. Silence is not consent."
SKIPPED = "The user chose not to answer."
CLOSED = "The question was closed before anybody answered."

_SHORT_LABEL = 12
_ROWS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a card asks: `asked` is the person's name, `by` the tool server that asks (empty: the agent)."""

    text: str
    asked: str
    choices: tuple[str, ...] = ()
    takes_text: bool = True
    by: str = ""

    def to_json(self) -> str:
        """As `requests.prompt` holds it."""
        return json.dumps(
            {
                "text": self.text,
                "asked": self.asked,
                "choices": list(self.choices),
                "takes_text": self.takes_text,
                "by": self.by,
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> "Question":
        """Back from the column."""
        raw = json.loads(text)
        return cls(
            text=raw["text"],
            asked=raw["asked"],
            choices=tuple(raw["choices"]),
            takes_text=raw["takes_text"],
            by=raw["by"],
        )

    def reads(self, words: str) -> str | None:
        """The answer that these words are: a choice by its label, else the words themselves; None if they are none."""
        said = words.strip()
        chosen = next((each for each in self.choices if each.casefold() == said.casefold()), None)
        return chosen or (said if said and self.takes_text else None)


def open_card(question: Question, minutes: int, *, measure: Measure, limit: int) -> Card:
    """The card of an open question."""
    footer = f"{_how(question)}, within {minutes} min. Only {label(question.asked)} may answer."
    return _fitting(question, _title(question), footer, measure=measure, limit=limit)


def settled_card(
    question: Question,
    state: RequestState,
    *,
    by: str,
    at: datetime,
    answer: str,
    measure: Measure,
    limit: int,
) -> Card:
    """The card of a settled question: who answered what, and when."""
    when = at.astimezone(UTC).strftime("%H:%M UTC")
    match state:
        case "answered":
            title = f"✅ Answered by {label(by)} at {when}: {visible_line(answer)}"
        case "denied":
            title = f"➖ Skipped by {label(by)} at {when}"
        case "expired":
            title = f"⌛ Expired at {when}: no answer"
        case _:
            title = f"⏹ Closed at {when} without an answer"
    return _fitting(question, title, "", measure=measure, limit=limit)


def reminder(question: Question, *, kept: int, measure: Measure, limit: int) -> Document:
    """The question repeated, for somebody whose message is no answer."""
    title = f"{reminder_title(kept)} {_title(question)}"
    return _fitting(question, title, f"{_how(question)}.", measure=measure, limit=limit).body


def whole(question: Question) -> Document:
    """The question in full."""
    return document(paragraph(span(_title(question), "bold")), paragraph(visible(question.text)))


def one_line(question: Question) -> str:
    """The question in a few words."""
    return visible_line(question.text)


def first_offers(question: Question, *, show_all: bool) -> tuple[Row, ...]:
    """The rows of buttons: the choices, then one to skip; never more than five rows."""
    made = [Offer(label=label(each), choice=f"{ANSWER}{n}") for n, each in enumerate(question.choices)]
    is_short = all(len(each.label) <= _SHORT_LABEL for each in made)
    wide = 3 if is_short or len(made) > _ROWS else 1
    rows = tuple(tuple(made[at : at + wide]) for at in range(0, len(made), wide))
    return (*rows, (SKIP, SHOW) if show_all else (SKIP,))


def told(state: RequestState) -> str:
    """What the person hears whose press settled it."""
    return "Skipped." if state == "denied" else "Answered."


def ending(state: RequestState, by: str) -> str:
    """How a question ended, with who ended it."""
    words = {
        "answered": f"answered by {label(by)}",
        "denied": f"skipped by {label(by)}",
        "expired": "expired",
    }
    return words.get(state, "closed")


def outcome(request: Request) -> str | None:
    """What became of a question, in words for the model; None while it is open."""
    match request.state:
        case "pending":
            return None
        case "answered":
            answer = request.answer or ""
            if request.decider == request.requester:
                return answer
            return f"(answered by {label(request.decided_by or 'somebody else')}) {answer}"
        case "denied":
            return SKIPPED
        case "expired":
            return NO_ANSWER
        case _:
            return CLOSED


def _title(question: Question) -> str:
    by = f" from {label(question.by)}" if question.by else ""
    return f"Question{by} for {label(question.asked)}"


def _how(question: Question) -> str:
    if not question.choices:
        return "Write the answer"
    return "Choose, or write another answer" if question.takes_text else "Choose one"


def _fitting(question: Question, title: str, footer: str, *, measure: Measure, limit: int) -> Card:
    keep = limit
    while True:
        card = _card(question, title, footer, keep)
        if measure(card.body) <= limit or keep <= LEAST_KEPT:
            return card
        keep = max(LEAST_KEPT, keep * 2 // 3)


def _card(question: Question, title: str, footer: str, keep: int) -> Card:
    shown, hidden = shorten_middle(visible(question.text), keep)
    blocks: list[Block] = [paragraph(span(title, "bold")), paragraph(shown)]
    if footer:
        blocks.append(paragraph(span(footer, "italic")))
    return Card(body=document(*blocks), hidden=hidden)
