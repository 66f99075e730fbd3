"""What pydantic-settings lets pass: unknown keys are named, texts become lists and mappings.

Runs over each layer before they are merged, so that a problem points at the line or variable it came from.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from gateway.config.layers import Layer, origin_of
from gateway.config.problems import Problem, nearest
from gateway.config.shape import Accounts, Keys, ListOf, MapOf, Path, Shape, dotted, key_paths, step

Report = Callable[[Path, str, str], None]
"""Takes a problem: where it is, what is wrong, what to do."""


def settle(layer: Layer, root: Keys) -> list[Problem]:
    """Bring a layer's values into the form of `root`, in place; unknown keys leave it and are reported.

    A section that is there but empty (a header whose keys are all commented out) counts as not given.
    """
    problems: list[Problem] = []

    def report(path: Path, what: str, fix: str) -> None:
        problems.append(Problem(what=what, where=origin_of(path, [layer]), fix=fix))

    settled = _Settling(root=root, report=report).value(layer.values, root, ())
    layer.values.clear()
    layer.values.update(settled)
    return problems


def from_text(text: str, shape: Shape) -> Any:
    """A value written as one line of text: JSON for mappings, JSON or commas for lists, `null` for none.

    Raises:
        ValueError: the text is no JSON where JSON was needed; it reads "what is wrong; what to do".
    """
    if text == "null":
        return None
    match shape:
        case ListOf():
            if text.lstrip().startswith("["):
                return _json(
                    text, "begins like a JSON list and is none; write JSON, or items with commas between"
                )
            return [item.strip() for item in text.split(",") if item.strip()]
        case Keys() | MapOf() | Accounts():
            return _json(text, 'is a mapping; write JSON, like {"key": "value"}, or each key on its own')
        case _:
            return text


def _json(text: str, otherwise: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_without_repeats)
    except json.JSONDecodeError:
        raise ValueError(otherwise) from None


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("has a key twice; remove one of them")
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Settling:
    root: Keys
    report: Report

    def value(self, value: Any, shape: Shape, path: Path) -> Any:
        if isinstance(value, str):
            try:
                value = (
                    from_text(value, shape) if isinstance(shape, ListOf | Keys | MapOf | Accounts) else value
                )
            except ValueError as error:
                what, _, fix = str(error).partition("; ")
                self.report(path, f"{dotted(path)} {what}", fix)
                return {}
        match value:
            case dict():
                return self._mapping(value, shape, path)
            case list() if isinstance(shape, ListOf | Accounts):
                below = (step(shape, index) for index in range(len(value)))
                return [
                    self.value(item, inner, (*path, index)) if inner else item
                    for index, (item, inner) in enumerate(zip(value, below, strict=True))
                ]
            case _:
                return value

    def _mapping(self, value: dict[str, Any], shape: Shape, path: Path) -> dict[str, Any]:
        if not isinstance(shape, Keys | MapOf | Accounts):
            return value
        result: dict[str, Any] = {}
        for key, inner in value.items():
            below = step(shape, key)
            if below is None:
                what, fix = unknown_key(self.root, path, key, shape)
                self.report((*path, key), what, fix)
            elif inner is not None:
                result[key] = self.value(inner, below, (*path, key))
            elif isinstance(shape, MapOf):
                result[key] = {} if isinstance(below, Keys | MapOf) else None
            elif not isinstance(below, Keys | MapOf | Accounts):
                result[key] = None
        return result


def unknown_key(root: Keys, path: Path, key: str, shape: Shape) -> tuple[str, str]:
    """What to say about a key that does not exist at `path`: the problem, and the key that was meant."""
    here = list(fixed_keys(shape))
    elsewhere = [
        found for found in key_paths(root) if found[-1].casefold() == key.casefold() and found[:-1] != path
    ]
    meant = nearest(key, here)
    hints = []
    if meant:
        hints.append(f"did you mean {dotted((*path, meant))}?")
    if elsewhere and (meant is None or len(elsewhere) == 1):
        hints.append(f"{key} belongs in {_places(elsewhere)}")
    if not hints:
        hints.append(f"known here: {', '.join(here)}" if here else "remove it")
    return f"{dotted((*path, key))} is no known key", " ".join(hints)


def fixed_keys(shape: Shape) -> Sequence[str]:
    """The keys a section has, or none where the keys are the user's own."""
    match shape:
        case Keys(keys) | Accounts(Keys(keys)):
            return list(keys)
        case _:
            return []


def _places(paths: Sequence[tuple[str, ...]]) -> str:
    names = [dotted(path[:-1]) or "the top level" for path in paths]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
