"""A configuration made readable: every value with its origin and without its secrets, and the JSON schema."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import time
from typing import Any

from pydantic import BaseModel, SecretStr

from gateway.config.settings import Config, config_type
from gateway.config.shape import Path, dotted
from gateway.redaction import Redactor


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """One value in force: its key as people write it, its text with secrets hidden, where it was written."""

    key: str
    text: str
    origin: str


def shown(config: Config) -> tuple[Shown, ...]:
    """Every value in force, in the order of the sections."""
    redactor = Redactor(config.secrets())
    values = config.model_dump(by_alias=True)
    for platform in config.platforms:
        entries = values[platform]
        if len(entries) == 1 and config.section(platform)[0].place == platform:
            values[platform] = entries[0]
    return tuple(
        Shown(key=dotted(path), text=redactor.text(_text(value)), origin=config.origin(path))
        for path, value in _leaves(values, ())
    )


def describe(config: Config) -> str:
    """The same as lines `key = value  (origin)`, for `parley config show`."""
    return "\n".join(f"{value.key} = {value.text}  ({value.origin})" for value in shown(config))


def summary(config: Config) -> str:
    """One line for `parley config check`: what was read and what would run."""
    file = str(config.file) if config.file else "no file"
    counts = {name: sum(account.platform == name for account in config.accounts) for name in config.platforms}
    bots = ", ".join(f"{name} ({count})" for name, count in counts.items() if count) or "no platform"
    agents = ", ".join(f"{name} with {agent.model}" for name, agent in config.agents.items())
    return f"configuration is right: {file}; {bots}; agents: {agents}"


def config_schema(sections: Mapping[str, type[BaseModel]]) -> dict[str, Any]:
    """The JSON schema of `config.yaml`, for editors. A platform's section is one mapping or a list."""
    schema = config_type(sections).model_json_schema(by_alias=True)
    for name in sections:
        entry = schema["properties"][name]
        items = entry.pop("items")
        entry.pop("type")
        entry["anyOf"] = [items, {"type": "array", "items": items}]
    schema["title"] = "Parley configuration"
    return schema


def _leaves(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    match value:
        case dict() if value:
            for key, inner in value.items():
                yield from _leaves(inner, (*path, key))
        case (dict(), *_):
            for index, inner in enumerate(value):
                yield from _leaves(inner, (*path, index))
        case _:
            yield path, value


def _text(value: Any) -> str:
    match value:
        case SecretStr():
            return "(set, hidden)" if value.get_secret_value() else "null"
        case list() | tuple():
            return f"[{', '.join(_text(item) for item in value)}]"
        case time():
            return json.dumps(value.strftime("%H:%M"))
        case dict():
            return "{}"  # a filled one was taken apart
        case float() if value.is_integer():
            return str(int(value))
        case bool() | int() | float() | None:
            return json.dumps(value)
        case _:
            return json.dumps(str(value), ensure_ascii=False)
