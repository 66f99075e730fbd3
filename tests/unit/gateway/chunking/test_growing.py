"""A reply that is still being written: cuts stay, and in the end it shows what it would have shown at once."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.telegram.render import measure as telegram
from gateway.chunking import Growth, grow, split
from gateway.document import Code, Document, Table, leaves, parse, plain
from tests.cases.markdown_strategies import ANY_TEXT, MARKDOWN
from tests.cases.properties import content

pytestmark = pytest.mark.req("DLV-3", "DLV-5")


def stream(source: str, steps: list[int], limit: int) -> list[Growth]:
    """Return what is shown after each step, the last for the whole source."""
    grown: list[Growth] = []
    end = 0
    for step in [*steps, len(source)]:
        end = min(end + step, len(source))
        grown.append(grow(source[:end], grown[-1].cuts if grown else (), telegram, limit))
    return grown


def texts(growth: Growth) -> list[str]:
    return [plain(piece) for piece in growth.pieces if piece is not None]


def has_table(document: Document) -> bool:
    return any(isinstance(leaf, Table) for leaf in leaves(document.blocks))


@settings(max_examples=120, deadline=None)
@given(st.one_of(MARKDOWN, ANY_TEXT), st.lists(st.integers(1, 120), max_size=8), st.integers(120, 400))
def test_a_stream_ends_as_the_whole_reply_and_never_moves_a_cut(
    source: str, steps: list[int], limit: int
) -> None:
    grown = stream(source, steps, limit)
    for before, after in pairwise(grown):
        assert after.cuts[: len(before.cuts)] == before.cuts
        assert list(after.cuts) == sorted(after.cuts)
    for growth in grown:
        assert all(telegram(piece) <= limit for piece in growth.pieces if piece is not None)
        assert len(growth.cuts) <= len(growth.pieces) <= len(growth.cuts) + 1 or not growth.pieces
    whole = parse(source)
    pieces = [piece for piece in grown[-1].pieces if piece is not None]
    if not has_table(whole) and len(pieces) == len(grown[-1].pieces):
        assert content(*pieces) == content(*split(whole, telegram, limit))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(["word", "longer words", "end.\n", "🦉"]), max_size=200), st.integers(5, 60))
def test_finished_messages_of_plain_text_never_change(words: list[str], step: int) -> None:
    source = " ".join(words)
    grown = stream(source, [step] * (len(source) // step), 120)
    for before, after in pairwise(grown):
        assert after.pieces[: len(before.cuts)] == before.pieces[: len(before.cuts)]


def test_bold_that_closes_late_formats_the_finished_message_and_leaves_the_cut() -> None:
    source = "**" + "bold words " * 20 + "end** and more"
    before = grow(source[:150], (), telegram, 120)
    after = grow(source, before.cuts, telegram, 120)
    assert texts(before)[0].startswith("**bold words")
    assert texts(after)[0] == texts(before)[0].removeprefix("**")
    assert after.cuts[: len(before.cuts)] == before.cuts


def test_a_fence_goes_on_in_the_next_message_with_its_language() -> None:
    source = "```py\n" + "value = 1\n" * 40
    first = grow(source[:200], (), telegram, 120)
    second = grow(source, first.cuts, telegram, 120)
    assert all(piece is not None and isinstance(piece.blocks[0], Code) for piece in second.pieces)
    assert "\n".join(texts(second)) == ("value = 1\n" * 40).removesuffix("\n")


def test_a_table_whose_head_was_sent_already_goes_on_as_a_table() -> None:
    rows = "".join(f"| row {number} | value |\n" for number in range(30))
    source = "| a | b |\n|---|---|\n" + rows
    grown = stream(source, [60] * 10, 200)
    shown = [leaf for piece in grown[-1].pieces if piece is not None for leaf in leaves(piece.blocks)]
    assert all(isinstance(leaf, Table) for leaf in shown)
    assert sum(len(leaf.rows) for leaf in shown if isinstance(leaf, Table)) == 30


def test_a_source_of_markup_only_shows_nothing_yet() -> None:
    assert grow("```py\n", (), telegram, 120) == Growth(pieces=(), cuts=())
