"""Long arguments shortened in the middle, and the beginning of a reply that goes out as a file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.telegram.render import measure, render
from gateway.chunking import opening, shorten_middle
from gateway.document import code_block, document, paragraph, parse, plain
from tests.cases import by_id
from tests.cases.telegram_view import show

CARDS = by_id("cards", "Telegram")


@given(st.text(max_size=200), st.integers(0, 100))
def test_what_is_hidden_is_counted_and_the_rest_is_shown(text: str, keep: int) -> None:
    shown, hidden = shorten_middle(text, keep)
    if not hidden:
        assert shown == text
        return
    head, tail = shown.split(f" … {hidden} characters hidden … ", 1)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + hidden + len(tail) == len(text)


@pytest.mark.req("APR-2")
@pytest.mark.parametrize("case", ["C74a", "C74b", "C76a", "C76b"])
def test_a_card_with_a_long_argument_fits_and_shows_its_end(case: str) -> None:
    given = CARDS[case]
    parts = [paragraph(given["tool"])]
    for name, value in given["arguments"].items():
        shown, _ = shorten_middle(str(value), 1500)
        parts += [paragraph(name), code_block(shown)]
    seen = show(document(*parts), 4096)
    for value in given["arguments"].values():
        text = str(value)
        assert text[-40:].strip() in seen.text
        assert len(text) <= 1500 or "characters hidden" in seen.text


@pytest.mark.req("APR-2")
def test_nothing_in_a_card_becomes_markup() -> None:
    command = CARDS["C72a"]["arguments"]["command"]
    rendered = render(document(code_block(command)))
    assert rendered.text == command
    assert [entity.type for entity in rendered.entities] == ["pre"]


def test_no_family_is_torn_apart() -> None:
    family = "👨‍👩‍👧‍👦"
    shown, hidden = shorten_middle(family * 30, 50)
    head, tail = shown.split(f" … {hidden} characters hidden … ")
    assert set(head.split(family)) == {""}
    assert set(tail.split(family)) == {""}


@pytest.mark.req("DLV-8")
def test_the_beginning_of_a_long_reply_fits_with_its_note() -> None:
    reply = parse("# Title\n\n" + "word " * 60_000)
    shown = opening(reply, measure, 4096, "The whole reply is in the file below.")
    assert measure(shown) <= 4096
    assert plain(shown).startswith("Title\n\nword word")
    assert plain(shown).endswith("word\n\nThe whole reply is in the file below.")
    assert measure(shown) > 4000
