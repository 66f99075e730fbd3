"""A question to the person whose turn it is: what a model or a tool server may ask, checked (pure).

The question is somebody else's words: it is bounded here and shown literally by whoever shows it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

LONGEST_QUESTION = 1_500
MOST_CHOICES = 10
LONGEST_CHOICE = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question; `choices` become buttons, in order; `takes_text`: the person's own words are an answer, too.

    `server` is the tool server that asks; empty for the agent itself.
    """

    text: str
    choices: tuple[str, ...] = ()
    takes_text: bool = True
    server: str = ""


QUESTION_SCHEMA: Mapping[str, object] = {
    "type": "object",
    "properties": {
        "question": {
            "type": "string",
            "description": "The question, whole and on its own.",
            "maxLength": LONGEST_QUESTION,
            "examples": ["Which size?"],
        },
        "choices": {
            "type": "array",
            "items": {"type": "string", "maxLength": LONGEST_CHOICE},
            "maxItems": MOST_CHOICES,
            "description": "Short answers to choose from, shown as buttons.",
        },
        "free_text": {
            "type": "boolean",
            "description": "Whether other words than the choices are an answer, too; true if not given.",
        },
    },
    "required": ["question"],
    "additionalProperties": False,
}


def read_question(args: Mapping[str, object]) -> Question:
    """The question a call of `ask_user` asks.

    Raises:
        ValueError: the arguments are no question; the text says why, for the model.
    """
    text, raw = args.get("question"), args.get("choices") or []
    if not isinstance(text, str) or not text.strip():
        raise ValueError("question is needed, a text")
    if len(text) > LONGEST_QUESTION:
        raise ValueError(f"the question is longer than {LONGEST_QUESTION} characters; ask more shortly")
    if not isinstance(raw, list) or not all(isinstance(each, str) and each.strip() for each in raw):
        raise ValueError("choices has to be a list of texts")
    choices = tuple(each.strip() for each in raw)
    if len(choices) > MOST_CHOICES or any(len(each) > LONGEST_CHOICE for each in choices):
        raise ValueError(f"at most {MOST_CHOICES} choices, each of at most {LONGEST_CHOICE} characters")
    if len({each.casefold() for each in choices}) < len(choices):
        raise ValueError("two choices are the same")
    takes_text = args.get("free_text", True)
    if not isinstance(takes_text, bool):
        raise ValueError("free_text has to be true or false")  # noqa: TRY004 - told to the model
    return Question(text=text.strip(), choices=choices, takes_text=takes_text or not choices)


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """The person answered this; a choice by its text."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """The person chose not to answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Silent:
    """Nobody answered in time, or nobody can be asked."""


Reply = Said | Skipped | Silent
