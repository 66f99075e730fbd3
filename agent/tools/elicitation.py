"""A tool server's form, asked as questions in the chat: one for each field, the answers checked and sent back together.

A form is the protocol's restricted JSON schema (modelcontextprotocol.io, "Elicitation", revisions 2025-06-18 to
2026-07-28): a flat object of texts, numbers, truth values and choices. A skipped field that is required declines the
form; silence, or an answer that stays unusable, cancels it.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from agent.questions import (
    LONGEST_CHOICE,
    LONGEST_QUESTION,
    MOST_CHOICES,
    Question,
    Reply,
    Said,
    Silent,
    Skipped,
)

Value = str | int | float | bool | list[str] | None
Read = Callable[[str], Value]
Action = Literal["accept", "decline", "cancel"]

MOST_FIELDS = 10
_TRIES = 3
_YES_NO = {"Yes": True, "No": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """One field of a form; `read` makes its value of an answer, or raises `ValueError` with what is wrong."""

    name: str
    question: Question
    read: Read
    is_required: bool = True


def fields_of(message: str, schema: Mapping[str, Any], *, server: str) -> tuple[Field, ...]:
    """The questions of a form, in its order; a form without fields is one question: may the server go on?

    Raises:
        ValueError: the form has fields that cannot be asked in a chat.
    """
    properties = schema.get("properties") or {}
    if len(properties) > MOST_FIELDS:
        raise ValueError(f"a form of {len(properties)} fields is too long for a chat")
    if not properties:
        question = Question(text=_cut(message), choices=("OK",), takes_text=False, server=server)
        return (Field(name="", question=question, read=lambda _: None),)
    required = schema.get("required") or ()
    made = [
        _field(name, raw, is_required=name in required, server=server) for name, raw in properties.items()
    ]
    first = replace(made[0].question, text=_cut(f"{message}\n\n{made[0].question.text}"))
    return (replace(made[0], question=first), *made[1:])


async def fill(
    fields: Sequence[Field], ask: Callable[[Question], Awaitable[Reply]]
) -> tuple[Action, dict[str, Value]]:
    """Ask for all fields, one after the other; the values are complete only if the action is `accept`."""
    values: dict[str, Value] = {}
    for field in fields:
        action, value = await _fill_one(field, ask)
        if action == "decline" and not field.is_required:
            continue
        if action != "accept":
            return action, {}
        if field.name:
            values[field.name] = value
    return "accept", values


async def _fill_one(field: Field, ask: Callable[[Question], Awaitable[Reply]]) -> tuple[Action, Value]:
    question = field.question
    for _ in range(_TRIES):
        match await ask(question):
            case Skipped():
                return "decline", None
            case Silent():
                return "cancel", None
            case Said(text=text):
                try:
                    return "accept", field.read(text)
                except ValueError as error:
                    question = replace(field.question, text=_cut(f"{error}\n\n{field.question.text}"))
    return "cancel", None


def _field(name: str, raw: Mapping[str, Any], *, is_required: bool, server: str) -> Field:
    title = str(raw.get("title") or name)
    words = f"{title}: {raw['description']}" if raw.get("description") else title
    if not is_required:
        words += " (may be skipped)"
    kind = raw.get("type")
    options = _options(raw.get("items") or {}) if kind == "array" else _options(raw)
    if kind == "array" and not options:
        raise ValueError(f"the field {name} is a list of anything")
    if kind == "boolean":
        options = _YES_NO
    choices: tuple[str, ...] = ()
    read: Read
    if kind == "array":
        read = _reads_several(options, raw)
    elif options:
        read = _reads_one(options)
        choices = tuple(options) if _fits_buttons(options) else ()
    else:
        read = _READERS.get(str(kind), _reads_text)(raw)
    if options and not choices:
        words += "".join(f"\n- {label}" for label in options)
    question = Question(text=_cut(words), choices=choices, takes_text=not choices, server=server)
    return Field(name=name, question=question, read=read, is_required=is_required)


def _options(raw: Mapping[str, Any]) -> dict[str, Any]:
    """What may be chosen, by the label people read."""
    titled = raw.get("oneOf") or raw.get("anyOf") or ()
    if titled:
        return {str(each.get("title") or each["const"]): each["const"] for each in titled if "const" in each}
    values = raw.get("enum") or ()
    names = raw.get("enumNames") or values
    return {str(name): value for name, value in zip(names, values, strict=False)}


def _fits_buttons(options: Mapping[str, Any]) -> bool:
    return len(options) <= MOST_CHOICES and all(0 < len(label.strip()) <= LONGEST_CHOICE for label in options)


def _reads_one(options: Mapping[str, Any]) -> Read:
    by_name = {label.strip().casefold(): value for label, value in options.items()}

    def read(answer: str) -> Value:
        name = answer.strip().casefold()
        if name not in by_name:
            raise ValueError("Please answer with one of the choices.")
        value: Value = by_name[name]
        return value

    return read


def _reads_several(options: Mapping[str, Any], raw: Mapping[str, Any]) -> Read:
    one = _reads_one(options)
    least, most = raw.get("minItems", 0), raw.get("maxItems", len(options))

    def read(answer: str) -> Value:
        values = list(dict.fromkeys(str(one(part)) for part in re.split(r"[,;\n]", answer) if part.strip()))
        if not least <= len(values) <= most:
            raise ValueError(f"Please choose {least} to {most} of them, with commas between.")
        return values

    return read


def _reads_text(raw: Mapping[str, Any]) -> Read:
    least, most = raw.get("minLength", 0), raw.get("maxLength")

    def read(answer: str) -> Value:
        if len(answer) < least or (most is not None and len(answer) > most):
            upto = "" if most is None else f" to {most}"
            raise ValueError(f"Please answer with {least}{upto} characters.")
        return answer

    return read


def _reads_number(raw: Mapping[str, Any]) -> Read:
    def read(answer: str) -> Value:
        try:
            value = float(answer.strip().replace(",", "."))
        except ValueError:
            raise ValueError("Please answer with a number.") from None
        return _within(value, raw)

    return read


def _reads_whole(raw: Mapping[str, Any]) -> Read:
    def read(answer: str) -> Value:
        if not re.fullmatch(r"\s*[+-]?[0-9]{1,15}\s*", answer):
            raise ValueError("Please answer with a whole number.")
        return _within(int(answer), raw)

    return read


def _within(value: float, raw: Mapping[str, Any]) -> float:
    least, most = raw.get("minimum"), raw.get("maximum")
    # Not `<`: NaN and the infinities are within no bounds, and no JSON.
    if not (value - value == 0 and (least is None or value >= least) and (most is None or value <= most)):
        raise ValueError(f"Please answer with a number{_bounds(least, most)}.")
    return value


def _bounds(least: object, most: object) -> str:
    return f"{'' if least is None else f' from {least}'}{'' if most is None else f' up to {most}'}"


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Read]] = {
    "number": _reads_number,
    "integer": _reads_whole,
    "string": _reads_text,
}


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST_QUESTION else text[: LONGEST_QUESTION - 1] + "…"
