"""The splitter's promises, for documents that hypothesis, the specification and the cases write."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.telegram.render import measure as telegram
from gateway.chunking import Measure, split
from gateway.document import Code, Document, Table, code_block, document, leaves, parse, plain, text_document
from tests.cases import GITHUB_TABLES, commonmark_examples
from tests.cases.markdown_strategies import ANY_TEXT, MARKDOWN
from tests.cases.properties import check_split, content
from tests.cases.telegram_view import show

pytestmark = pytest.mark.req("DLV-2", "DLV-3")


def characters(piece: Document) -> int:
    return len(plain(piece))


@settings(max_examples=150, deadline=None)
@given(MARKDOWN, st.integers(120, 700))
def test_pieces_of_any_markdown_keep_every_promise(markdown: str, limit: int) -> None:
    for piece in check_split(parse(markdown), telegram, limit):
        show(piece, 4096)


@settings(max_examples=150, deadline=None)
@given(ANY_TEXT, st.integers(120, 300))
def test_pieces_of_any_text_keep_every_promise(text: str, limit: int) -> None:
    for piece in check_split(parse(text), telegram, limit):
        show(piece, 4096)


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT, st.integers(1, 50))
def test_literal_text_is_shown_whole_at_any_limit(text: str, limit: int) -> None:
    pieces = split(text_document(text), characters, limit)
    assert content(*pieces) == content(text_document(text))


@pytest.mark.parametrize("limit", [200, 500, 4096])
def test_every_example_of_the_specification_is_split_without_loss(limit: int) -> None:
    for example in (*commonmark_examples(), *GITHUB_TABLES):
        for piece in check_split(parse(example), telegram, limit):
            show(piece, 4096)


@pytest.mark.parametrize("limit", [180, 600, 2000])
def test_the_specification_as_one_reply_is_split_without_loss(limit: int) -> None:
    whole = "\n\n".join((*commonmark_examples()[:250], *GITHUB_TABLES))
    for piece in check_split(parse(whole), telegram, limit):
        show(piece, 4096)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(alphabet="ab  \n", max_size=30), max_size=12), st.integers(10, 60))
def test_code_is_kept_letter_by_letter(lines: list[str], limit: int) -> None:
    code = "x" + "\n".join(lines) + "x"
    pieces = split(document(code_block(code, "py")), characters, limit)
    blocks = [leaf for piece in pieces for leaf in leaves(piece.blocks) if isinstance(leaf, Code)]
    assert {block.language for block in blocks} == {"py"}
    rest = code
    for block in blocks:  # a line end may stand at each cut, nothing else
        rest = rest.removeprefix("\n") if not rest.startswith(block.text) else rest
        while not rest.startswith(block.text) and rest[:1].isspace():
            rest = rest[1:]  # pieces of white space only are no messages
        assert rest.startswith(block.text)
        rest = rest.removeprefix(block.text)
    assert not rest.strip()


def test_a_fence_is_cut_at_line_ends_and_keeps_its_indentation() -> None:
    source = "```py\n" + "".join(f"def f{number}():\n    return {number}\n\n" for number in range(30)) + "```"
    pieces = split(parse(source), telegram, 200)
    texts = [leaf.text for piece in pieces for leaf in leaves(piece.blocks) if isinstance(leaf, Code)]
    assert len(texts) == len(pieces) > 1
    assert "\n".join(texts) == source.removeprefix("```py\n").removesuffix("\n```")


def test_a_table_is_cut_between_rows_and_every_part_has_its_head() -> None:
    rows = "".join(f"| row {number} | {'v' * 20} |\n" for number in range(30))
    pieces = split(parse("| a | b |\n|---|---|\n" + rows), telegram, 400)
    tables = [leaf for piece in pieces for leaf in leaves(piece.blocks)]
    assert len(tables) == len(pieces) > 1
    assert all(
        isinstance(table, Table) and [plain_cell(cell) for cell in table.head] == ["a", "b"]
        for table in tables
    )
    assert sum(len(table.rows) for table in tables if isinstance(table, Table)) == 30


def plain_cell(cell: tuple[object, ...]) -> str:
    return "".join(getattr(span, "text", "") for span in cell)


def test_a_row_too_long_for_a_message_becomes_a_record_and_nothing_is_lost() -> None:
    long = "word " * 300
    pieces = split(parse(f"| a | b |\n|---|---|\n| x | y |\n| z | {long}|\n| u | v |"), telegram, 400)
    shown = "\n".join(plain(piece) for piece in pieces)
    assert shown.split().count("word") == 300
    assert [letter for letter in "xyzuv" if letter in shown.split()] == list("xyzuv")


def test_numbers_go_on_in_the_next_piece_and_a_resumed_item_has_none() -> None:
    source = "".join(f"{number}. item {number} {'long words ' * 6}\n" for number in range(3, 9))
    pieces = split(parse(source), telegram, 100)
    assert [plain(piece).split()[0] for piece in pieces] == ["3.", "4.", "5.", "6.", "7.", "8."]
    halves = split(parse("1. " + "many words " * 30), telegram, 200)
    assert [plain(piece)[:3] for piece in halves] == ["1. ", "   "]


def test_a_heading_stays_with_what_it_heads() -> None:
    source = "word " * 30 + "\n\n## Title\n\n" + "text " * 40
    pieces = split(parse(source), telegram, 200)
    assert plain(pieces[1]).startswith("Title\n\ntext")


def test_a_word_longer_than_a_message_is_cut_and_no_other() -> None:
    pieces = split(parse("short " + "x" * 300 + " short"), telegram, 100)
    assert "".join(plain(piece) for piece in pieces).replace(" ", "") == "short" + "x" * 300 + "short"
    assert plain(pieces[-1]).endswith("short")


def test_a_limit_of_none_gives_one_piece() -> None:
    assert len(split(parse("word " * 10_000), telegram, None)) == 1


@settings(max_examples=100, deadline=None)
@given(st.one_of(MARKDOWN, ANY_TEXT), st.integers(1, 60), st.sampled_from([telegram, characters]))
def test_a_limit_too_small_for_anything_still_ends_and_loses_nothing(
    markdown: str, limit: int, measure: Measure
) -> None:
    whole = parse(markdown)
    pieces = split(whole, measure, limit)
    if not any(isinstance(leaf, Table) for leaf in leaves(whole.blocks)):
        assert content(*pieces) == content(whole)


def test_a_table_head_too_long_for_a_message_is_cut_like_text() -> None:
    head = " | ".join(["name of a column"] * 30)
    pieces = split(parse(f"| {head} |\n{'|---' * 30}|\n"), telegram, 200)
    assert all(telegram(piece) <= 200 for piece in pieces)
    assert sum(plain(piece).count("column") for piece in pieces) == 30
