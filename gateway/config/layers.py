"""Values with where they come from, in layers: built-in, file, credentials, `.env`, environment.

The later layer is the stronger. pydantic-settings merges them; this module answers what it cannot: which
keys a mapping has so far, and where a value that turned out wrong was written.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gateway.config.shape import Path

Values = dict[str, Any]
"""Nested mappings, lists and plain values, as YAML gives them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """All values of one kind of source.

    `origins` says for a path where it was written ("config.yaml:12", "PARLEY_WEB__PORT"); a path that is
    missing takes the origin of the nearest one above it.
    """

    values: Values = field(default_factory=dict)
    origins: dict[Path, str] = field(default_factory=dict)

    def put(self, path: Path, value: Any, origin: str) -> None:
        """Set one value, making the mappings on the way. While a layer is being built only."""
        at: dict[Any, Any] = self.values
        for part in path[:-1]:
            if not isinstance(at.get(part), dict):
                at[part] = {}
            at = at[part]
        below = at.get(path[-1])
        if isinstance(below, dict) and isinstance(value, dict):
            below.update(value)
        else:
            at[path[-1]] = value
        self.origins[path] = origin


def origin_of(path: Path, layers: Sequence[Layer], otherwise: str = "default") -> str:
    """Where the value in force at `path` was written; `layers` from weak to strong."""
    for length in range(len(path), 0, -1):
        for layer in reversed(layers):
            if path[:length] in layer.origins:
                return layer.origins[path[:length]]
    return otherwise


def keys_at(path: Path, layers: Sequence[Layer]) -> list[str]:
    """The keys that the mapping at `path` has in any of the layers, without repeats."""
    return list(
        dict.fromkeys(key for value in _values_at(path, layers) if isinstance(value, dict) for key in value)
    )


def is_list_at(path: Path, layers: Sequence[Layer]) -> bool:
    """Whether any layer holds a list at `path`."""
    return any(isinstance(value, list) for value in _values_at(path, layers))


def _values_at(path: Path, layers: Sequence[Layer]) -> Iterator[Any]:
    for layer in layers:
        value: Any = layer.values
        for part in path:
            value = value.get(part) if isinstance(value, Mapping) else None
        yield value
