"""The shared cases of Discord, read back by the rules of Discord's own client."""

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.discord.render import measure, render
from gateway.chunking import split
from gateway.document import Document, Span, code_block, document, leaves, paragraph, parse, text_document
from tests.cases import GITHUB_TABLES, by_id, commonmark_examples
from tests.cases.markdown_strategies import ANY_TEXT, MARKDOWN
from tests.cases.properties import check_split, content
from tests.simulators.discord.validate import Run, read, visible

pytestmark = pytest.mark.req("DLV-2", "DLV-3", "DLV-4")
CHUNKING = by_id("chunking", "Discord")
MARKDOWN_CASES = by_id("markdown", "Discord")
LIMITS = (2000, 1900, 1800)


def styled(runs: tuple[Run, ...], style: str) -> list[str]:
    return [run.text for run in runs if style in run.styles]


def code_of(messages: list[str], style: str) -> list[str]:
    return [text for message in messages for text in styled(read(message), style)]


def c03a(_source: str, messages: list[str]) -> None:
    lines = [line for text in code_of(messages, "pre py") for line in text.split("\n")]
    assert lines == ["x = 1234567"] * 400
    assert all(message.count("```") == 2 for message in messages)


def c03b(_source: str, messages: list[str]) -> None:
    assert "".join(code_of(messages, "pre")) == "y" * 1991
    assert visible(messages[-1]).endswith("after")
    assert "after" not in "".join(code_of(messages, "pre"))


def c05a(_source: str, messages: list[str]) -> None:
    lines = [line for text in code_of(messages, "pre py") for line in text.split("\n")]
    assert lines == ["total += item * 3  # keep"] * 300
    assert all(message.count("```") in (0, 2) for message in messages)
    assert messages[-1].endswith("That is all.")


def c09b(_source: str, messages: list[str]) -> None:
    assert all(message.count("`") % 2 == 0 for message in messages)
    assert code_of(messages, "code") == ["a_b"] * 500


def c10c(source: str, messages: list[str]) -> None:
    assert "".join(map(visible, messages)) == source
    assert len(messages) <= 3


def c13b(source: str, messages: list[str]) -> None:
    assert len(messages) == 2
    assert "\n\n".join(map(visible, messages)) == source.strip()


def graphemes_whole(source: str, messages: list[str]) -> None:
    assert [one for message in messages for one in regex.findall(r"\X", visible(message))] == regex.findall(
        r"\X", source
    )


def c20b(source: str, messages: list[str]) -> None:
    assert " ".join(map(visible, messages)) == source.strip()
    assert all(message.count("\u2067") == message.count("\u2069") for message in messages)


CHECKS: dict[str, Callable[[str, list[str]], None]] = {
    "C03a": c03a,
    "C03b": c03b,
    "C05a": c05a,
    "C09b": c09b,
    "C10c": c10c,
    "C13b": c13b,
    "C18b": graphemes_whole,
    "C18d": graphemes_whole,
    "C20b": c20b,
}


def test_every_chunking_case_has_its_check() -> None:
    assert set(CHUNKING) == set(CHECKS) | {"C53a", "C53b", "C53c"}


@pytest.mark.parametrize("limit", LIMITS)
@pytest.mark.parametrize("case", CHECKS)
def test_the_chunking_case_holds_at_every_inner_limit(case: str, limit: int) -> None:
    source = CHUNKING[case]["input"]
    messages = [render(piece) for piece in split(parse(source), measure, limit)]
    assert all(0 < len(message) <= limit for message in messages)
    CHECKS[case](source, messages)


def sent(case: str) -> str:
    return render(parse(MARKDOWN_CASES[case]["input"]))


def test_identifiers_stay_and_a_word_is_italic() -> None:
    runs = read(sent("C21c"))
    assert visible(sent("C21c")) == "rename old_name to new_name_v2 today"
    assert styled(runs, "italic") == ["today"]


def test_a_nested_quote_is_a_quote_and_what_follows_is_none() -> None:
    runs = read(sent("C26c"))
    assert "".join(styled(runs, "quote")).split() == ["a", "b"]
    assert "".join(run.text for run in runs if "quote" not in run.styles).split() == ["c"]


def test_addresses_are_sent_as_they_were_written() -> None:
    assert sent("C39a") == MARKDOWN_CASES["C39a"]["equals"]


def test_a_mention_of_a_role_is_shown_as_text() -> None:
    runs = read(sent("C101a"))
    assert "<@&123456789012345678>" in visible(sent("C101a"))
    assert styled(runs, "mention") == ["@everyone", "@here"]  # kept from pinging by the request's policy


@pytest.mark.req("APR-2")
def test_a_fence_inside_a_card_ends_no_block_and_pings_nobody() -> None:
    command = by_id("cards", "Discord")["C72b"]["arguments"]["command"]
    runs = read(render(document(paragraph("shell_run"), code_block(command))))
    assert styled(runs, "pre")[0].replace("\u200b", "") == command
    assert not styled(runs, "mention")


def is_plainly_linked(piece: Document) -> bool:
    """A link to no web address shows that address, so the text is more than the document's."""
    spans = [
        span for leaf in leaves(piece.blocks) for span in getattr(leaf, "spans", ()) if isinstance(span, Span)
    ]
    return all(not span.link or (span.link.startswith("http") and "http" not in span.text) for span in spans)


def check_shown(markdown: str, limit: int) -> None:
    for piece in check_split(parse(markdown), measure, limit):
        runs = read(render(piece))
        shown = "".join("".join(run.text for run in runs if "marker" not in run.styles).split()).replace(
            "\u200b", ""
        )
        # Discord shows the sign of an empty item as text
        has_bare_item = re.search(r"^\s*(-|\d+\.)$", render(piece), re.MULTILINE)
        if is_plainly_linked(piece) and "|" not in markdown and not has_bare_item:
            assert shown.translate({0x2610: None, 0x2611: None}) == content(piece).replace("———", "───────")


@pytest.mark.parametrize("limit", [300, 2000])
def test_the_specification_is_shown_without_loss(limit: int) -> None:
    for example in (*commonmark_examples(), *GITHUB_TABLES):
        check_shown(example, limit)


@settings(max_examples=100, deadline=None)
@given(MARKDOWN, st.integers(200, 700))
def test_any_markdown_is_shown_without_loss(markdown: str, limit: int) -> None:
    for piece in check_split(parse(markdown), measure, limit):
        read(render(piece))


@settings(max_examples=150, deadline=None)
@given(st.text(alphabet="*_`~|[]()<>#-+!\\:. \n1aé@/", min_size=1, max_size=60))
def test_literal_text_is_seen_as_it_is(text: str) -> None:
    shown = render(text_document(f"x {text} x"))
    assert "".join(visible(shown).split()) == "".join(f"x{text}x".split())
    runs = read(shown)
    assert {style for run in runs for style in run.styles} <= {"mention"} or "://" in text


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT)
def test_every_piece_of_any_text_is_accepted(text: str) -> None:
    for piece in split(parse(text), measure, 2000):
        read(render(piece))


def test_no_two_neighbours_of_any_case_would_fit_into_one() -> None:
    for case in CHUNKING.values():
        for left, right in pairwise(split(parse(case["input"]), measure, 2000)):
            assert measure(Document(blocks=(*left.blocks, *right.blocks))) > 1999
