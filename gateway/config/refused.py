"""What pydantic refused, in words a person can act on, and with the line or variable it came from."""

from collections.abc import Iterator, Sequence

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from gateway.config.layers import Layer, is_list_at, origin_of
from gateway.config.problems import Problem, nearest
from gateway.config.shape import dotted

_KINDS = {
    "bool": ("should be true or false", "write one of the two"),
    "int": ("should be a whole number", "write digits only"),
    "float": ("should be a number", "write digits, without a unit"),
    "string": ("should be a text", "write it in quotes"),
    "tuple": ("should be a list", "write [a, b] or one line with a dash for each"),
    "dict": ("should be a mapping", "write its keys, one a line"),
    "mapping": ("should be a mapping", "write its keys, one a line"),
    "model": ("should be a mapping", "write its keys, one a line"),
}
"""What to say for pydantic's errors `X_type` and `X_parsing`."""


def refused(error: ValidationError, layers: Sequence[Layer]) -> Iterator[Problem]:
    """The problems of a configuration made from `layers` (weak to strong)."""
    for details in error.errors(include_url=False):
        path = details["loc"]
        if len(path) > 1 and path[1] == 0 and not is_list_at(path[:1], layers):
            path = (path[0], *path[2:])  # one account written as a mapping
        what, fix = _in_words(details)
        yield Problem(what=f"{dotted(path)} {what}", where=origin_of(path, layers), fix=fix)


def _in_words(details: ErrorDetails) -> tuple[str, str]:
    # The value itself is never repeated: it may be a secret that landed in the wrong place.
    message = details["msg"]
    match details["type"]:
        case "value_error":
            what, _, fix = message.removeprefix("Value error, ").partition("; ")
            return what, fix or "correct it"
        case "missing":
            return "is missing", "set it"
        case "literal_error":
            choices = details.get("ctx", {}).get("expected", "")
            words = [choice.strip("'") for choice in choices.replace(" or ", ", ").split(", ")]
            meant = nearest(str(details["input"]), words)
            return f"should be one of {choices}", f"did you mean {meant}?" if meant else "choose one of them"
        case kind if kind.endswith(("_type", "_parsing")) and kind.rpartition("_")[0] in _KINDS:
            return _KINDS[kind.rpartition("_")[0]]
        case _:
            return message.replace("Input should", "should", 1), "correct the value"
