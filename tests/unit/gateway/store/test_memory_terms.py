"""What a search in a memory looks for: words that say something, of any script."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.store.memory import MOST_TERMS, terms

pytestmark = pytest.mark.req("MEM-2")


def test_short_words_are_left_out_and_scripts_without_spaces_are_cut_in_pairs() -> None:
    assert terms("Do I eat MEAT or 42?") == (["meat", "eat", "42"], [])
    assert terms("我喜欢 coffee") == (["coffee"], ["我喜", "喜欢"])
    assert terms("猫") == ([], ["猫"])


@given(st.text())
def test_no_term_can_be_an_operator_or_a_wildcard(words: str) -> None:
    spaced, unspaced = terms(words)
    assert len(spaced) <= MOST_TERMS
    assert len(unspaced) <= MOST_TERMS
    assert all(term.isalnum() for term in (*spaced, *unspaced))
