"""What a task's card says and offers: an agent takes over, or has done its task. Literal texts only, as in `cards`.

Accept and Reject are the same answers as for an approval (`once`, `deny`); only an end has a third, `later`.
"""

import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Literal

from gateway.chunking import shorten_middle
from gateway.document import Block, Document, code_block, document, paragraph, span
from gateway.requests.cards import LEAST_KEPT, Card, Measure, label, reminder_title, visible
from gateway.requests.offers import SHOW, Offer, Row
from gateway.store.requests import RequestState

ACCEPT = Offer(label="Accept", choice="once", style="good")
REJECT = Offer(label="Reject", choice="deny", style="danger")
LATER = Offer(label="Later", choice="later")

_ONE_LINE = 80


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPrompt:
    """What is asked: may `agent` take over with `text` as its goal (begin), is its task done, as `text` sums up (end)?

    `other` is the agent on the other side: who hands the task over, or who gets the summary. `asked` names a person.
    """

    what: Literal["begin", "end"]
    agent: str
    other: str
    text: str
    asked: str

    def to_json(self) -> str:
        """As `requests.prompt` holds it."""
        return json.dumps(asdict(self), ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str) -> "TaskPrompt":
        """Back from the column."""
        return cls(**json.loads(text))


def open_card(prompt: TaskPrompt, minutes: int, *, measure: Measure, limit: int) -> Card:
    """The card of a pending task; what silence means stands on it."""
    silence = (
        f"No answer leaves {label(prompt.other)} in charge."
        if prompt.what == "begin"
        else "No answer asks again another time."
    )
    footer = f"Only {label(prompt.asked)} may answer, within {minutes} min. {silence}"
    return _fitting(prompt, _question(prompt), footer, measure=measure, limit=limit)


def settled_card(
    prompt: TaskPrompt, state: RequestState, *, by: str, at: datetime, measure: Measure, limit: int
) -> Card:
    """The card of a settled task: what was decided, by whom, when."""
    when = at.astimezone(UTC).strftime("%H:%M UTC")
    mark = {"approved": "✅", "denied": "❌", "postponed": "⏳", "expired": "⌛"}.get(state, "⏹")
    how, what_for = _how(state, by), _what_for(prompt, state)
    title = f"{mark} {how[:1].upper()}{how[1:]} at {when}{what_for}"
    return _fitting(prompt, title, "", measure=measure, limit=limit)


def reminder(prompt: TaskPrompt, *, kept: int, measure: Measure, limit: int) -> Document:
    """The request repeated, for somebody who wrote instead of answering."""
    title = f"{reminder_title(kept)} {_question(prompt)}"
    return _fitting(prompt, title, "", measure=measure, limit=limit).body


def whole(prompt: TaskPrompt) -> Document:
    """Goal or summary in full."""
    return document(paragraph(span(_question(prompt), "bold")), code_block(visible(prompt.text)))


def one_line(prompt: TaskPrompt) -> str:
    """The request in a few words."""
    text, _ = shorten_middle(visible(prompt.text).replace("\n", "\\n"), _ONE_LINE)
    return f"{_question(prompt)} {text}"


def first_offers(prompt: TaskPrompt, *, show_all: bool) -> tuple[Row, ...]:
    """The rows of buttons of the open card."""
    answers = (ACCEPT, REJECT) if prompt.what == "begin" else (ACCEPT, REJECT, LATER)
    return (answers, (SHOW,)) if show_all else (answers,)


def told(prompt: TaskPrompt, state: RequestState) -> str:
    """What the person hears whose press settled it."""
    agent, other = label(prompt.agent), label(prompt.other)
    match prompt.what, state:
        case "begin", "approved":
            return f"Accepted: {agent} takes over."
        case "end", "approved":
            return f"Accepted: back to {other}."
        case "begin", _:
            return f"Rejected: {other} stays."
        case "end", "postponed":
            return "Later, then."
        case _:
            return f"Rejected: {agent} goes on with its task."


def ending(prompt: TaskPrompt, state: RequestState, by: str) -> str:
    """How a task's request ended, with who ended it."""
    return _how(state, by) + _what_for(prompt, state)


def _how(state: RequestState, by: str) -> str:
    words = {"approved": "accepted by", "denied": "rejected by", "postponed": "put off by"}
    if state in words:
        return f"{words[state]} {label(by)}"
    return "expired" if state == "expired" else "closed"


def _what_for(prompt: TaskPrompt, state: RequestState) -> str:
    match prompt.what, state:
        case "begin", "expired":
            return ": nobody answered, so it was not begun"
        case "end", "expired":
            return ": nobody answered, so I ask again later"
        case "begin", "closed":
            return ": not begun"
        case "end", "closed":
            return ": the task stays open"
        case _:
            return ""


def _question(prompt: TaskPrompt) -> str:
    agent, other = label(prompt.agent), label(prompt.other)
    if prompt.what == "begin":
        return f"{other} wants to hand a task to {agent}. Shall {agent} take over?"
    return f"{agent}'s task is said to be done. Shall it go back to {other}?"


def _fitting(prompt: TaskPrompt, title: str, footer: str, *, measure: Measure, limit: int) -> Card:
    keep = limit
    while True:
        card = _card(prompt, title, footer, keep)
        if measure(card.body) <= limit or keep <= LEAST_KEPT:
            return card
        keep = max(LEAST_KEPT, keep * 2 // 3)


def _card(prompt: TaskPrompt, title: str, footer: str, keep: int) -> Card:
    shown, hidden = shorten_middle(visible(prompt.text), keep)
    blocks: list[Block] = [paragraph(span(title, "bold")), code_block(shown)]
    if footer:
        blocks.append(paragraph(span(footer, "italic")))
    return Card(body=document(*blocks), hidden=hidden)
