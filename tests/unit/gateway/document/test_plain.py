"""Visible text, literal documents and tables without tables."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from gateway.document import (
    Table,
    bullets,
    code_block,
    document,
    first_words,
    grid,
    is_blank,
    paragraph,
    parse,
    plain,
    records,
    span,
    text_document,
    text_of,
)


def table(markdown: str) -> Table:
    (block,) = parse(markdown).blocks
    assert isinstance(block, Table)
    return block


@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))))
def test_literal_text_is_shown_exactly(text: str) -> None:
    assert plain(text_document(text)) == text


@pytest.mark.req("APR-2")
@given(st.text(alphabet="*_`~|[]()<>#-+!\\ \n&@:a1"))
def test_literal_text_never_becomes_markup(text: str) -> None:
    (block,) = text_document("x" + text).blocks
    assert block == paragraph("x" + text)


def test_lists_keep_numbers_bullets_boxes_and_indentation() -> None:
    assert plain(parse("3. a\n   - b\n   - [x] c\n4. d\n\n> e")) == "3. a\n   • b\n   ☑ c\n4. d\n\ne"


def test_documents_are_built_without_markdown() -> None:
    built = document(
        paragraph("*a* ", span("b", "bold")), code_block("```\nx", "py"), bullets("c", span("d"))
    )
    assert plain(built) == "*a* b\n\n```\nx\n\n• c\n• d"


@pytest.mark.parametrize("text", ["", " \n\t ", "\u200b\u200d\ufeff", "```\n```", "\u2800"])
def test_what_nobody_would_see_is_blank(text: str) -> None:
    assert is_blank(parse(text))


@pytest.mark.parametrize("text", ["x", "---", "| a |\n|---|", "`x`", "- ", "\u200bx"])
def test_what_somebody_would_see_is_not_blank(text: str) -> None:
    assert not is_blank(parse(text))


def test_first_words_are_one_line_with_an_ellipsis() -> None:
    assert first_words(parse("# Title\n\nand *more* text"), 12) == "Title and m…"
    assert first_words(parse("short"), 12) == "short"


def test_a_grid_is_aligned_in_columns_of_a_fixed_width_font() -> None:
    shown = grid(table("| Name | Size |\n|---|--:|\n| 樱花 | 10 |\n| 👩‍🚒 | 7 |\n| oak | 12345 |"), 42)
    assert shown == "Name │  Size\n樱花 │    10\n👩‍🚒   │     7\noak  │ 12345"
    assert {wcswidth(line.split("│")[0]) for line in shown.split("\n")} == {5}


def test_a_wide_table_or_one_with_links_is_shown_as_records() -> None:
    wide = table(f"| Name | Text |\n|---|---|\n| a | {'long ' * 10}|\n| | c |")
    assert grid(wide, 42) is None
    assert [text_of(record.spans) for record in records(wide)] == [
        f"Name: a\nText: {'long ' * 9}long",
        "Text: c",
    ]
    assert grid(table("| a |\n|---|\n| [b](https://e.test) |"), 42) is None
