"""What the buttons of a card offer, as the `buttons.choice` column holds it, and what each of them grants. Pure.

The first card offers `once`, `session`, `always` and `deny`. `always` decides nothing yet: the card changes to a
second one, which asks what for. A tool that two people must approve is approved once only.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from gateway.redaction import MASK
from gateway.requests.cards import Prompt, label
from gateway.requests.grants import Condition, Pattern

HOUR_S = 3_600
ARGUMENTS_OFFERED = 2
LONGEST_VALUE = 32
"""Characters of a value that a button can name."""

LONGEST_LABEL = 75
"""Characters that a button shows whole on every platform; Slack takes least (Block Kit reference, button, 2026)."""

MOST_VALUES = 20
"""Values of one argument that a grant may name."""

_PLACE = re.compile(
    r"(?:[a-z][a-z0-9+.-]*://[a-z0-9.\-:\[\]]+/|~?/[^\s/?#;|&$`<>\"'*\\]+/|\./[^\s/?#;|&$`<>\"'*\\]+/)[^\s?#;|&$`<>\"'*\\]*(?=$|[?#])",
    re.IGNORECASE,
)
"""A path with a folder in it, or a URL with its host; both up to a query."""

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
    """What an approval grants beyond the call itself; `lasts_s` None: until it is revoked.

    `replaces` is the number of a grant that this one stands for from now on.
    """

    scope: Literal["session", "user"]
    pattern: Pattern = field(default_factory=Pattern)
    lasts_s: float | None = None
    replaces: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A grant of the same person and tool that holds until it is revoked: its number and what it covers."""

    id: int
    pattern: Pattern


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


def always_offers(prompt: Prompt, held: Sequence[Held] = ()) -> tuple[Row, ...]:
    """The rows of the second card, at most five: what the tool may always be used for.

    `held` is what the person allowed of this tool before: an argument's value can be added to those.
    """
    return (
        (
            Offer(label="Any arguments", choice="always/any"),
            Offer(label="Any, for 1 hour", choice=f"always/any/{HOUR_S}"),
        ),
        (Offer(label="Exactly these arguments", choice="always/exactly"),),
        *_argument_offers(prompt, held),
        (Offer(label="Back", choice="back"), DENY),
    )


def _argument_offers(prompt: Prompt, held: Sequence[Held]) -> list[Row]:
    rows = [_rows_of(name, value, prompt, held) for name, value in prompt.call.args.items()]
    return [row for row in rows if row][:ARGUMENTS_OFFERED]


def _rows_of(name: str, value: object, prompt: Prompt, held: Sequence[Held]) -> Row:
    text = json.dumps(value, ensure_ascii=False)
    # What is masked on the card is not known here, and must not be written into a grant either.
    if not isinstance(value, str | int | float) or MASK in text:
        return ()
    made = []
    # With one argument this would say the same as "exactly these".
    if len(text) <= LONGEST_VALUE and len(prompt.call.args) > 1:
        made.append(Offer(label=f"Only if {label(name)} is {label(text)}", choice=f"always/where/{name}"))
    prefix = prefix_of(value)
    if prefix is not None and len(prefix) <= LONGEST_VALUE:
        quoted = label(json.dumps(prefix, ensure_ascii=False))
        made.append(Offer(label=f"{label(name)} under {quoted}", choice=f"always/under/{name}"))
    if len(text) <= LONGEST_VALUE and _widened(name, value, held) is not None:
        made.append(Offer(label=f"Also if {label(name)} is {label(text)}", choice=f"always/also/{name}"))
    return tuple(offer for offer in made if len(offer.label) <= LONGEST_LABEL)


def prefix_of(value: object) -> str | None:
    """The folder that a path, or the address that a URL is in; None for anything else, and where it would be all.

    Words of a command line are neither: a space or a sign of a shell ends it.
    """
    found = _PLACE.match(value) if isinstance(value, str) else None
    if found is None or ".." in found[0]:
        return None
    return found[0][: found[0].rindex("/") + 1]


def _widened(name: str, value: str | float, held: Sequence[Held]) -> tuple[Held, Condition] | None:
    """What was allowed for other values of this argument, and the condition with this value added."""
    for each in held:
        match each.pattern:
            case Pattern(args_hash=None, conditions=(Condition(arg=arg, op="equals" | "one_of") as before,)):
                if arg == name and len(before.values) < MOST_VALUES:
                    values = (*before.values, value)
                    return each, Condition(arg=name, op="one_of", values=values)
            case _:
                pass
    return None


def terms_of(choice: str, prompt: Prompt, args_hash: str, held: Sequence[Held] = ()) -> Terms | None:
    """What a choice that approves grants; None: this one call. `held` as for `always_offers`."""
    if choice == "session":
        return Terms(scope="session")
    kind, _, rest = choice.partition("/")
    what, _, detail = rest.partition("/")
    if kind != "always" or not what:
        return None
    match what:
        case "any":
            return Terms(scope="user", lasts_s=float(detail) if detail else None)
        case "where" | "under" | "also":
            return _where(what, detail, prompt, held)
        case _:
            return Terms(scope="user", pattern=Pattern(args_hash=args_hash))


def _where(what: Literal["where", "under", "also"], name: str, prompt: Prompt, held: Sequence[Held]) -> Terms:
    value = prompt.call.args[name]
    assert isinstance(value, str | int | float)  # only such ones are offered
    condition = Condition(arg=name, op="equals", values=(value,))
    replaces = None
    if what == "under":
        condition = Condition(arg=name, op="prefix", values=(prefix_of(value),))
    elif what == "also" and (found := _widened(name, value, held)) is not None:
        replaces, condition = found[0].id, found[1]
    return Terms(scope="user", pattern=Pattern(conditions=(condition,)), replaces=replaces)


def words(terms: Terms) -> str:
    """The terms for people, as they stand on the settled card and in lists."""
    what = terms.pattern.words()
    if terms.scope == "session":
        return "for this session" if what == "any arguments" else f"for this session, {what}"
    if terms.lasts_s is not None:
        return f"for {round(terms.lasts_s / 60)} min, {what}"
    return f"always, {what}"
