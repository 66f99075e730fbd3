"""The tree of keys a settings model accepts, read once from its annotations.

`environment` uses it to find the key a variable names, `strict` to find keys that do not exist and to say
where a misplaced one belongs. It describes names only; values are checked by pydantic.
"""

import types
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Annotated, Any, Union, get_args, get_origin

from pydantic import BaseModel

Path = tuple[str | int, ...]
"""Where a value stands: keys and list positions from the top, e.g. ("telegram", 0, "token")."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """A single value, or one whose inside is not described."""


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list; in text its items are separated by commas."""

    item: "Shape"


@dataclass(frozen=True, slots=True)
class MapOf:
    """A mapping whose keys are the user's own."""

    value: "Shape"


@dataclass(frozen=True, slots=True)
class Keys:
    """A mapping with fixed keys."""

    keys: Mapping[str, "Shape"]


@dataclass(frozen=True, slots=True)
class Accounts:
    """One mapping, or a list of such mappings: a platform's section with one or several accounts."""

    account: Keys


Shape = Leaf | ListOf | MapOf | Keys | Accounts


def shape_of(annotation: Any) -> Shape:
    """The shape of what a field with this annotation takes; `X | None` has the shape of X."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return shape_of(args[0])
    if origin in (Union, types.UnionType):
        inner = [arg for arg in args if arg is not type(None)]
        return shape_of(inner[0]) if len(inner) == 1 else Leaf()
    kind = origin or annotation
    if not isinstance(kind, type):
        return Leaf()
    if issubclass(kind, BaseModel):
        return Keys(
            {field.alias or name: shape_of(field.annotation) for name, field in kind.model_fields.items()}
        )
    if issubclass(kind, Mapping):
        return MapOf(shape_of(args[1]) if len(args) == 2 else Leaf())
    if issubclass(kind, Sequence | AbstractSet) and not issubclass(kind, str | bytes):
        return ListOf(shape_of(args[0]) if args else Leaf())
    return Leaf()


def step(shape: Shape, part: str | int) -> Shape | None:
    """The shape one step below, or None where there is no such key."""
    match shape:
        case Keys(keys):
            return keys.get(part) if isinstance(part, str) else None
        case MapOf(value):
            return value
        case ListOf(item):
            return item
        case Accounts(account):
            return account if isinstance(part, int) else account.keys.get(part)
        case Leaf():
            return None


def key_paths(shape: Shape, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every fixed key below `shape` as a path, parents first; the user's own keys appear as `*`."""
    match shape:
        case Keys(keys) | Accounts(Keys(keys)):
            for key, below in keys.items():
                yield (*above, key)
                yield from key_paths(below, (*above, key))
        case MapOf(value):
            yield from key_paths(value, (*above, "*"))
        case ListOf() | Leaf():
            return


def dotted(path: Path) -> str:
    """A path as people write it: `telegram[0].token`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
