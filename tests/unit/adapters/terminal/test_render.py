"""The terminal's drawing of documents, at a fixed width without colours, and with them."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from adapters.terminal.render import measure, render
from gateway.chunking import split
from gateway.document import parse
from tests.cases import GITHUB_TABLES, commonmark_examples
from tests.cases.markdown_strategies import ANY_TEXT, MARKDOWN

pytestmark = pytest.mark.req("DLV-4")


def drawn(markdown: str, *, width: int = 40, colours: bool = False) -> str:
    console = Console(
        file=io.StringIO(), force_terminal=colours, width=width, highlight=False, legacy_windows=False
    )
    with console.capture() as captured:
        console.print(render(parse(markdown)))
    return "\n".join(line.rstrip() for line in captured.get().split("\n")).rstrip("\n")


def test_blocks_are_drawn_as_people_expect_them() -> None:
    assert drawn("# Plan\n\ntext *it*\n\n1. a\n   - b\n2. c\n\n> q\n\n```py\nx = 1\n```") == (
        "Plan\ntext it\n\n1. a\n   • b\n2. c\n\n▎ q\n\n  x = 1"
    )


def test_a_table_is_a_table() -> None:
    shown = drawn("| a | b |\n|---|--:|\n| c | 1 |")
    assert "│ c │ 1 │" in shown
    assert "|" not in shown


def test_marks_are_colours_and_links_are_links() -> None:
    shown = drawn("**b** [l](https://e.test)", colours=True)
    assert "\x1b[1mb\x1b[0m" in shown
    assert "https://e.test\x1b\\" in shown


def test_a_reply_cannot_write_escape_sequences() -> None:
    assert "\x1b" not in drawn("&#27;[31m [x](&#27;]8;;y) \x1b[2J `\x9b`")


@settings(max_examples=60, deadline=None)
@given(st.one_of(MARKDOWN, ANY_TEXT), st.integers(20, 100))
def test_any_reply_can_be_drawn(markdown: str, width: int) -> None:
    drawn(markdown, width=width)


def test_the_specification_can_be_drawn() -> None:
    for example in (*commonmark_examples()[::5], *GITHUB_TABLES):
        drawn(example)


def test_a_terminal_has_no_limit() -> None:
    assert len(split(parse("word " * 5000), measure, None)) == 1
