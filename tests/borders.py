"""A border that import-linter cannot see: no line of code in `gateway` knows a platform by name.

Comments and docstrings may: the source of a platform's rule belongs beside the code it explains.

    python -m tests.borders
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

PLATFORM = re.compile("telegram|discord|slack", re.IGNORECASE)
GATEWAY = Path(__file__).parent.parent / "gateway"


def platform_names(source: str) -> Iterator[tuple[int, str]]:
    """Each name or text in the code of a module that has a platform's name in it, with its line."""
    tree = ast.parse(source)
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if id(node) in documentation:
            continue
        for value in vars(node).values():
            if isinstance(value, str) and PLATFORM.search(value):
                yield getattr(node, "lineno", 0), value


def main() -> None:
    found = [
        f"{path.relative_to(GATEWAY.parent)}:{line}: the gateway names a platform: {name!r}"
        for path in sorted(GATEWAY.rglob("*.py"))
        for line, name in platform_names(path.read_text("utf-8"))
    ]
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
