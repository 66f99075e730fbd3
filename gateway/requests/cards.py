"""What an approval card says: a document made of literal texts, so that nothing a model wrote can become markup.

Short arguments are always shown whole; long ones keep their head and tail, with the number of hidden characters
between, until the card fits its platform. Only where even so they are too many, the last ones are left out, and
counted. Characters that are drawn as nothing or move others are shown as escapes, in names as well.
"""

import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from gateway.chunking import shorten_middle
from gateway.document import Block, Document, bullets, code_block, document, paragraph, plain, span
from gateway.redaction import MASK
from gateway.store.requests import RequestState

Measure = Callable[[Document], int]

LEAST_KEPT = 60
"""Characters of an argument that are shown even on the smallest card, and of a name on any."""

QUEUE_SHOWN = 12
"""Lines a round's queue takes on a card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptCall:
    """One call of the queue as people see it: arguments with secrets masked."""

    call_id: str
    server: str
    tool: str
    args: Mapping[str, object]

    @property
    def ref(self) -> str:
        """`server/tool`."""
        return f"{self.server}/{self.tool}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """What a request's card shows: the round's queue, which call is asked about (0-based), who may answer.

    `note` is a line of ours about it.
    """

    queue: tuple[PromptCall, ...]
    current: int
    asked: str
    note: str = ""

    @property
    def call(self) -> PromptCall:
        """The call in question."""
        return self.queue[self.current]

    def to_json(self) -> str:
        """As `requests.prompt` holds it."""
        return json.dumps(
            {
                "queue": [[c.call_id, c.server, c.tool, dict(c.args)] for c in self.queue],
                "current": self.current,
                "asked": self.asked,
                "note": self.note,
            },
            ensure_ascii=False,
        )

    @classmethod
    def from_json(cls, text: str) -> "Prompt":
        """Back from the column."""
        raw = json.loads(text)
        return cls(
            queue=tuple(PromptCall(call_id=i, server=s, tool=t, args=a) for i, s, t, a in raw["queue"]),
            current=raw["current"],
            asked=raw["asked"],
            note=raw.get("note", ""),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """A card that fits; `hidden` is how many characters of the arguments it does not show."""

    body: Document
    hidden: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """How a card asks: for how long, and how many of the people it needs have approved (their names).

    `sent_on_from` is the place where nobody answered, on a card that was sent on to another chat.
    """

    minutes: int
    needed: int = 1
    approved_by: tuple[str, ...] = ()
    sent_on_from: str | None = None


def open_card(prompt: Prompt, asking: Asking, *, measure: Measure, limit: int) -> Card:
    """The card of a pending request."""
    title = f"Approval needed{_place(prompt)}"
    if asking.needed > 1:
        title += f" · {len(asking.approved_by)} of {asking.needed} approvals"
    if asking.approved_by:
        title += f" ({', '.join(map(_name, asking.approved_by))})"
    if asking.sent_on_from is not None:
        title += f" · asked by {_name(prompt.asked)} in {_name(asking.sent_on_from)}, not answered there"
    return _fitting(prompt, title, _who_may(prompt, asking), measure=measure, limit=limit)


def always_card(prompt: Prompt, asking: Asking, *, measure: Measure, limit: int) -> Card:
    """The second card: the tool is to be always allowed, but for what?"""
    title = f"Always allow {_name(prompt.call.tool)} to {_name(prompt.asked)}, but for what?"
    return _fitting(prompt, title, _who_may(prompt, asking), measure=measure, limit=limit)


def _who_may(prompt: Prompt, asking: Asking) -> str:
    if asking.needed > 1:
        who = f"{asking.needed} different people who may answer must approve"
    elif asking.sent_on_from is not None:
        who = "Only approvers and admins may answer"
    else:
        who = f"Only {_name(prompt.asked)} may answer"
    return f"{who}, within {asking.minutes} min. No answer counts as no."


def settled_card(
    prompt: Prompt,
    state: RequestState,
    *,
    by: str,
    at: datetime,
    progress: str,
    terms: str = "",
    measure: Measure,
    limit: int,
) -> Card:
    """The card of a settled request: what was decided, by whom, when, how the call fares (`progress`).

    `terms` are what was granted beyond the one call, for people.
    """
    when = at.astimezone(UTC).strftime("%H:%M UTC")
    match state:
        case "approved":
            what_for = f" ({_line(terms)})" if terms else ""
            title = f"✅ Approved by {_line(by)} at {when}{what_for}{progress and ' · ' + progress}"
        case "denied":
            title = f"❌ Denied by {_name(by)} at {when}"
        case "expired":
            title = f"⌛ Expired at {when}: nobody answered, so it was not run"
        case _:
            title = f"⏹ Closed at {when}: not run"
    return _fitting(prompt, title, "", measure=measure, limit=limit)


def reminder(prompt: Prompt, *, kept: int, measure: Measure, limit: int) -> Document:
    """The request repeated, for somebody who wrote instead of answering; `kept` is 0 if that was not taken."""
    return _fitting(prompt, reminder_title(kept), "", measure=measure, limit=limit).body


def reminder_title(kept: int) -> str:
    """What somebody is told first who wrote instead of answering."""
    became = f"Your message is kept ({kept} waiting)." if kept else "I did not take your message."
    return f"Answer the open request first. {became}"


def whole_call(prompt: Prompt) -> Document:
    """All arguments of the call in full; may be longer than one message."""
    return document(_tool_line(prompt), code_block(visible(_pretty(prompt.call.args)), "json"))


def one_line(prompt: Prompt) -> str:
    """The call in a few words, for lists and short notices."""
    args = ", ".join(f"{name}={_value(value)}" for name, value in prompt.call.args.items())
    text, _ = shorten_middle(_one_line(args), 80)
    return f"{_name(prompt.call.ref)}({text})"


def _fitting(prompt: Prompt, title: str, footer: str, *, measure: Measure, limit: int) -> Card:
    args = [(_name(name), visible(_value(value))) for name, value in prompt.call.args.items()]
    keep, most = limit, len(args)
    while True:
        card = _card(prompt, title, footer, args, keep=keep, most=most)
        if measure(card.body) <= limit or (keep <= LEAST_KEPT and most == 0):
            return card
        if keep > LEAST_KEPT:
            keep = max(LEAST_KEPT, keep * 2 // 3)
        else:
            most = most * 2 // 3


def _card(
    prompt: Prompt, title: str, footer: str, args: Sequence[tuple[str, str]], *, keep: int, most: int
) -> Card:
    short: list[str] = []
    tall: list[Block] = []
    hidden = sum(len(value) for _, value in args[most:])
    for label, value in args[:most]:
        shown, cut = shorten_middle(value, keep)
        hidden += cut
        # In a block of its own: a line of it must not pass for another argument.
        if len(shown.splitlines()) > 1:
            tall += [paragraph(span(label, "bold")), code_block(shown)]
        else:
            short.append(f"{label}: {shown}")
    blocks: list[Block] = [paragraph(span(title, "bold")), _tool_line(prompt)]
    if prompt.note:
        blocks.append(paragraph(span(prompt.note, "italic")))
    if short:
        blocks.append(code_block("\n".join(short)))
    blocks += tall
    if not args:
        blocks.append(paragraph("no arguments"))
    if hidden or most < len(args):
        blocks.append(paragraph(span(_hidden_line(hidden, len(args) - most), "italic")))
    if any(MASK in value for _, value in args):
        blocks.append(paragraph(span(f"{MASK} stands for a word that looks like a secret.", "italic")))
    if len(prompt.queue) > 1:
        blocks.append(bullets(*_queue_lines(prompt)))
    if footer:
        blocks.append(paragraph(span(footer, "italic")))
    return Card(body=document(*blocks), hidden=hidden)


def _hidden_line(hidden: int, left_out: int) -> str:
    more = f", with {left_out} more arguments" if left_out else ""
    return f"{hidden} characters are hidden above{more}."


def _tool_line(prompt: Prompt) -> Block:
    call = prompt.call
    return paragraph("Tool ", span(_name(call.tool), "code"), " of ", span(_name(call.server), "code"))


def _queue_lines(prompt: Prompt) -> list[str]:
    marks = [
        ("✔ " if n < prompt.current else "▶ " if n == prompt.current else "… ")
        for n in range(len(prompt.queue))
    ]
    lines = [mark + _name(call.ref) for mark, call in zip(marks, prompt.queue, strict=True)]
    if len(lines) <= QUEUE_SHOWN:
        return lines
    # The call in question is always among those that are shown.
    room = QUEUE_SHOWN - 2
    first = max(0, min(prompt.current - 1, len(lines) - room))
    left = len(lines) - first - room
    before = [f"✔ {first} before"] if first else []
    after = [f"… and {left} more"] if left else []
    return [*before, *lines[first : first + room], *after]


def _place(prompt: Prompt) -> str:
    return f" ({prompt.current + 1} of {len(prompt.queue)})" if len(prompt.queue) > 1 else ""


_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"
_KEPT = "\n\t\u200c\u200d"  # the joiners are needed by emoji and by whole scripts


def visible(text: str) -> str:
    """The text with all that could make it read as another one (direction marks, blanks) written as escapes."""
    return "".join(f"\\u{ord(c):04x}" if _is_deceiving(c) else c for c in text)


def _is_deceiving(char: str) -> bool:
    if char.isascii() and char.isprintable():  # nearly all
        return False
    return char not in _KEPT and (
        char in _BLANK_LETTERS
        or char == "\u034f"
        or unicodedata.category(char) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
    )


def _one_line(text: str) -> str:
    return visible(text).replace("\n", "\\n")


def _name(text: str) -> str:
    """A name of a person, tool or argument, as somebody else chose it: on one line and not too long."""
    return shorten_middle(_one_line(text), LEAST_KEPT)[0]


def label(text: str) -> str:
    """Somebody else's words on a button: literal, on one line, short."""
    return _name(text)


def visible_line(text: str) -> str:
    """Somebody else's words inside a line of ours: literal, on one line, of some length."""
    return _line(text)


def _line(text: str) -> str:
    return shorten_middle(_one_line(text), 2 * LEAST_KEPT)[0]


def _value(value: object) -> str:
    return json.dumps(value, ensure_ascii=False) if not isinstance(value, str) else value


def _pretty(args: Mapping[str, object]) -> str:
    return json.dumps(dict(args), ensure_ascii=False, indent=2)


def as_text(body: Document) -> str:
    """A card's visible words, for platforms and logs that have nothing else."""
    return plain(body)
