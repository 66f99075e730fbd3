"""Which test shows which scenario of scenarios.json: a test names the scenarios it shows in its docstring.

python -m tests.cases.scenarios     prints the table
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

TESTS = Path(__file__).parents[1]
KINDS = frozenset({"reconnect", "rate limit", "streaming", "duplicates", "ordering", "sessions"})
"""The kinds of which every scenario is shown."""

_ID = re.compile(r"\bC\d+[a-z]\b")


def scenarios() -> Iterator[tuple[str, str]]:
    """Id and platform of each scenario of these kinds."""
    for case in json.loads((Path(__file__).parent / "scenarios.json").read_text("utf-8")):
        if KINDS & {kind.strip() for kind in case["kind"].split(",")}:
            yield case["id"], case["platform"]


def shown() -> Mapping[str, list[str]]:
    """The tests by the scenarios they name, as `file::test`."""
    found: dict[str, list[str]] = {}
    for file in sorted(TESTS.rglob("test_*.py")):
        source = file.read_text("utf-8")
        if not _ID.search(source):
            continue
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                name = f"{file.relative_to(TESTS.parent)}::{node.name}"
                for each in dict.fromkeys(_ID.findall(ast.get_docstring(node) or "")):
                    found.setdefault(each, []).append(name)
    return found


def main() -> None:
    tests = shown()
    for scenario, platform in scenarios():
        print(f"{scenario:6} {platform:10} {', '.join(tests.get(scenario, ['-']))}")


if __name__ == "__main__":
    main()
