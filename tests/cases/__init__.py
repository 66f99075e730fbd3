"""The shared cases and the CommonMark examples, as values for `pytest.mark.parametrize`."""

import json
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent


def load(name: str) -> list[dict[str, Any]]:
    """Return the cases of `name`.json, texts put together."""
    return [_whole(case) for case in json.loads((_FOLDER / f"{name}.json").read_text(encoding="utf-8"))]


def by_id(name: str, platform: str) -> dict[str, dict[str, Any]]:
    """Return the cases of a file that name the platform (or all platforms), by id."""
    return {case["id"]: case for case in load(name) if case["platform"] in (platform, "all")}


def commonmark_examples() -> list[str]:
    """Return the Markdown of the specification's 649 examples."""
    examples: list[str] = json.loads((_FOLDER / "commonmark_spec.json").read_text(encoding="utf-8"))
    return examples


GITHUB_TABLES = (
    "| foo | bar |\n| --- | --- |\n| baz | bim |",
    "| abc | defghi |\n:-: | -----------:\nbar | baz",
    "| f\\|oo  |\n| ------ |\n| b `\\|` az |\n| b **\\|** im |",
    "| abc | def |\n| --- | --- |\n| bar | baz |\n> bar",
    "| abc | def |\n| --- | --- |\n| bar | baz |\nbar\n\nbar",
    "| abc | def |\n| --- |\n| bar |",
    "| abc | def |\n| --- | --- |\n| bar |\n| bar | baz | boo |",
    "| abc | def |\n| --- | --- |",
    "~~Hi~~ Hello, ~there~ world!",
    "This ~~has a\n\nnew paragraph~~.",
    "- [ ] foo\n- [x] bar",
    "- [x] foo\n  - [ ] bar\n  - [x] baz\n- [ ] bim",
    "Visit https://example.test/a.b_c_d (or <https://example.test>), www.example.test.",
)
"""Examples of the GitHub Flavored Markdown specification's extensions, with addresses of our own."""


def _whole(value: Any) -> Any:
    if isinstance(value, dict):
        if list(value) == ["concat"]:
            return "".join(text * times for text, times in value["concat"])
        return {key: _whole(inner) for key, inner in value.items()}
    return [_whole(inner) for inner in value] if isinstance(value, list) else value
