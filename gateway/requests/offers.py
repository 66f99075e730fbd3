"""What the buttons of a card offer, as the `buttons.choice` column holds it, and what each of them grants. Pure.

The first card offers `once`, `session`, `always` and `deny`. `always` decides nothing yet: the card changes to a
second one, which asks what for. A tool that two people must approve is approved once only.
"""

import json
from dataclasses import dataclass, field
from typing import Literal

from gateway.redaction import MASK
from gateway.requests.cards import Prompt, label
from gateway.requests.grants import Condition, Pattern

HOUR_S = 3_600
ARGUMENTS_OFFERED = 2
LONGEST_VALUE = 32
"""Characters of a value that a button can name."""

Style = Literal["plain", "good", "danger"]
Row = tuple["Offer", ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """A button to be: what people read on it, and what its press means."""

    label: str
    choice: str
    style: Style = "plain"


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """What an approval grants beyond the call itself; `lasts_s` None: until it is revoked."""

    scope: Literal["session", "user"]
    pattern: Pattern = field(default_factory=Pattern)
    lasts_s: float | None = None


ONCE = Offer(label="Once", choice="once", style="good")
DENY = Offer(label="Deny", choice="deny", style="danger")
SHOW = Offer(label="Show all", choice="show")


def first_offers(*, needed: int, show_all: bool) -> tuple[Row, ...]:
    """The rows of buttons of a card that has just been opened; `show_all`: it hides a part of the arguments."""
    last: tuple[Row, ...] = ((SHOW,),) if show_all else ()
    if needed > 1:
        return ((Offer(label="Approve", choice="once", style="good"), DENY), *last)
    session = Offer(label="This session", choice="session")
    return ((ONCE, session), (Offer(label="Always", choice="always"), DENY), *last)


def always_offers(prompt: Prompt) -> tuple[Row, ...]:
    """The rows of the second card: what the tool may always be used for."""
    return (
        (
            Offer(label="Any arguments", choice="always/any"),
            Offer(label="Any, for 1 hour", choice=f"always/any/{HOUR_S}"),
        ),
        (Offer(label="Exactly these arguments", choice="always/exactly"),),
        *((each,) for each in _argument_offers(prompt)),
        (Offer(label="Back", choice="back"), DENY),
    )


def _argument_offers(prompt: Prompt) -> tuple[Offer, ...]:
    made = []
    for name, value in prompt.call.args.items():
        text = json.dumps(value, ensure_ascii=False)
        # What is masked on the card is not known here, and must not be written into a grant either.
        if isinstance(value, str | int | float) and len(text) <= LONGEST_VALUE and MASK not in text:
            made.append(Offer(label=f"Only if {label(name)} is {label(text)}", choice=f"always/where/{name}"))
    # With one argument this would say the same as "exactly these".
    return tuple(made[:ARGUMENTS_OFFERED]) if len(prompt.call.args) > 1 else ()


def terms_of(choice: str, prompt: Prompt, args_hash: str) -> Terms | None:
    """What a choice that approves grants; None: this one call."""
    if choice == "session":
        return Terms(scope="session")
    kind, _, rest = choice.partition("/")
    what, _, detail = rest.partition("/")
    if kind != "always" or not what:
        return None
    match what:
        case "any":
            return Terms(scope="user", lasts_s=float(detail) if detail else None)
        case "where":
            value = prompt.call.args[detail]
            assert isinstance(value, str | int | float)  # only such ones are offered
            condition = Condition(arg=detail, op="equals", values=(value,))
            return Terms(scope="user", pattern=Pattern(conditions=(condition,)))
        case _:
            return Terms(scope="user", pattern=Pattern(args_hash=args_hash))


def words(terms: Terms) -> str:
    """The terms for people, as they stand on the settled card and in lists."""
    what = terms.pattern.words()
    if terms.scope == "session":
        return "for this session" if what == "any arguments" else f"for this session, {what}"
    if terms.lasts_s is not None:
        return f"for {round(terms.lasts_s / 60)} min, {what}"
    return f"always, {what}"
