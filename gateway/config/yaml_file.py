"""Reading `config.yaml`: strict YAML with the line of every key.

Plain values follow the core schema of YAML 1.2, not PyYAML's 1.1: there `14:00` is the number 840, `no` is
false and `010` is eight. Repeated keys, which PyYAML takes silently, are problems. `${NAME}` in a value is
replaced; `$${` stands for a literal `${`.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path as FilePath
from typing import Any

import yaml

from gateway.config.layers import Layer
from gateway.config.problems import Problem
from gateway.config.shape import Path, dotted

Lookup = Callable[[str], str | None]
"""The value of an environment variable, or None where it is not set or empty."""

_NAME = re.compile(r"\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{")


_ABSENT = object()
"""Stands for a value that could not be read: it is left out, so that one mistake gives one problem."""


class _CoreLoader(yaml.SafeLoader):
    """SafeLoader with YAML 1.2's idea of what a plain scalar is."""

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 - PyYAML's own class-level table, filled below


for _tag, _pattern, _first in (
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", "-+.0123456789"),
):
    _CoreLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{_tag}", re.compile(rf"(?:{_pattern})$"), list(_first)
    )


@dataclass(slots=True, kw_only=True)
class YamlFile:
    """What a file said. `substituted` maps the name of each variable that was filled in to its value."""

    layer: Layer = field(default_factory=Layer)
    problems: list[Problem] = field(default_factory=list)
    substituted: dict[str, str] = field(default_factory=dict)


def read_yaml(path: FilePath, lookup: Lookup) -> YamlFile:
    """Read a file whose top is a mapping; an empty file is an empty mapping. Never raises for its content."""
    found = YamlFile()
    try:
        root = _compose(path.read_text("utf-8-sig"))
    except OSError as error:
        reason = f"cannot be read ({error.strerror})"
        found.problems.append(Problem(what=reason, where=str(path), fix="check the path and its permissions"))
        return found
    except UnicodeDecodeError:
        found.problems.append(Problem(what="is not UTF-8 text", where=str(path), fix="save it as UTF-8"))
        return found
    except RecursionError:
        found.problems.append(Problem(what="is nested too deeply", where=str(path), fix="write it flatter"))
        return found
    except yaml.YAMLError as error:
        found.problems.append(_syntax(path, error))
        return found
    if root is None:
        return found
    value = _Walk(file=str(path), lookup=lookup, found=found).value(root, ())
    if isinstance(value, dict):
        found.layer.values.update(value)
    elif value is not None and value is not _ABSENT:
        what = "the file does not hold sections"
        found.problems.append(
            Problem(what=what, where=f"{path}:1", fix='write "section:" lines as in config.yaml')
        )
    return found


def _compose(text: str) -> yaml.Node | None:
    loader = _CoreLoader(text)
    try:
        return loader.get_single_node()
    finally:
        loader.dispose()


def _syntax(path: FilePath, error: yaml.YAMLError) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    where = f"{path}:{mark.line + 1}" if mark else str(path)
    what = getattr(error, "problem", None) or "a character that is not allowed"
    return Problem(
        what=f"no valid YAML: {what}", where=where, fix="check indentation, quotes and brackets there"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Walk:
    """One pass over the composed nodes; `open_nodes` notices an alias inside its own anchor."""

    file: str
    lookup: Lookup
    found: YamlFile
    open_nodes: list[yaml.Node] = field(default_factory=list)

    def value(self, node: yaml.Node, path: Path) -> Any:
        self.found.layer.origins.setdefault(path, self._at(node))
        if node in self.open_nodes:
            self._problem(node, f"{dotted(path)} contains itself", "write the value out")
            return _ABSENT
        self.open_nodes.append(node)
        try:
            match node:
                case yaml.MappingNode():
                    return self._mapping(node, path)
                case yaml.SequenceNode():
                    items = [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
                    return [item for item in items if item is not _ABSENT]
                case _:
                    return self._scalar(node, path)
        finally:
            self.open_nodes.pop()

    def _mapping(self, node: yaml.MappingNode, path: Path) -> dict[str, Any]:
        result: dict[str, Any] = {}
        lines: dict[str, int] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                self._problem(
                    key_node, f"a key of {dotted(path) or 'the file'} is no text", "write a plain key"
                )
                continue
            key = str(key_node.value)  # as written: the key 123 of a mapping by id stays text
            line = key_node.start_mark.line + 1
            if key in lines:
                what = f"{dotted((*path, key))} is given twice, first in line {lines[key]}"
                self._problem(key_node, what, "remove one of them")
                continue
            lines[key] = line
            self.found.layer.origins[(*path, key)] = self._at(key_node)
            value = self.value(value_node, (*path, key))
            if value is not _ABSENT:
                result[key] = value
        return result

    def _scalar(self, node: yaml.Node, path: Path) -> Any:
        text = str(node.value)
        match node.tag.removeprefix("tag:yaml.org,2002:"):
            case "str":
                before = len(self.found.problems)
                filled = _NAME.sub(lambda found: self._variable(found, node, path), text)
                return filled if len(self.found.problems) == before else _ABSENT
            case "null":
                return None
            case "bool":
                return text.lower() == "true"
            case "int":
                return int(text)
            case "float":
                return float(text)
            case tag:
                self._problem(node, f"{dotted(path)} has the tag {tag}", "write a plain value without a tag")
                return _ABSENT

    def _variable(self, found: re.Match[str], node: yaml.Node, path: Path) -> str:
        if found[0] == "$${":
            return "${"
        name = found[1]
        if name is None:
            self._problem(
                node, f"{dotted(path)} has a ${{ that names no variable", "write ${NAME}, or $${ for the sign"
            )
            return ""
        value = self.lookup(name)
        if value is None:
            what = f"{dotted(path)} needs the variable {name}, which is not set or empty"
            self._problem(node, what, f"set {name} in the environment or in .env")
            return ""
        self.found.substituted[name] = value
        return value

    def _at(self, node: yaml.Node) -> str:
        return f"{self.file}:{node.start_mark.line + 1}"

    def _problem(self, node: yaml.Node, what: str, fix: str) -> None:
        self.found.problems.append(Problem(what=what, where=self._at(node), fix=fix))
