"""Documents as stored text: nothing changes on the way, and nothing unknown is guessed at."""

import pytest
from hypothesis import given, settings

from gateway.document import Document, Item, List, Paragraph, Span, code_block, from_json, parse, to_json
from tests.cases import GITHUB_TABLES, commonmark_examples
from tests.cases.markdown_strategies import ANY_TEXT, MARKDOWN


@settings(max_examples=150, deadline=None)
@given(MARKDOWN)
def test_any_markdown_comes_back_as_it_was(markdown: str) -> None:
    stored = to_json(parse(markdown))
    assert from_json(stored) == parse(markdown)
    assert to_json(from_json(stored)) == stored


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT)
def test_any_text_comes_back_as_it_was(text: str) -> None:
    assert from_json(to_json(parse(text))) == parse(text)


def test_the_specification_comes_back_as_it_was() -> None:
    for example in (*commonmark_examples(), *GITHUB_TABLES):
        assert from_json(to_json(parse(example))) == parse(example)


def test_the_stored_form_is_this() -> None:
    item = Item(blocks=(code_block("x", "py"),), task=True, resumed=True)
    words = Paragraph(spans=(Span(text="a"), Span(text="b", marks=frozenset({"italic", "bold"}), link="u")))
    document = Document(blocks=(words, List(items=(item,), ordered=True, start=3)))
    assert to_json(document) == '[1,[["p",["a",["b","bi","u"]]],["l",[[[["c","x","py"]],true,1]],3,0]]]'
    assert from_json(to_json(document)) == document


@pytest.mark.parametrize(
    "text", ["[2,[]]", "{}", '[1,[["z"]]]', '[1,[["p"]]]', "nonsense", '[1,[["p",[[1,"q",""]]]]]']
)
def test_what_is_no_stored_document_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        from_json(text)
