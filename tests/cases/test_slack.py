"""The shared cases of Slack: what its simulator takes, and what readers see, in blocks and in mrkdwn."""

import html
import re
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.slack import mrkdwn, render
from gateway.chunking import split
from gateway.document import parse, text_document
from tests.cases import GITHUB_TABLES, by_id, commonmark_examples
from tests.cases.markdown_strategies import ANY_TEXT, MARKDOWN
from tests.cases.properties import check_split
from tests.simulators.slack.blocks import check_blocks, pinged_by, visible_blocks
from tests.simulators.slack.markup import pings, visible

pytestmark = pytest.mark.req("DLV-2", "DLV-3", "DLV-4")
CHUNKING = by_id("chunking", "Slack")
MARKDOWN_CASES = by_id("markdown", "Slack")


def texts(source: str, limit: int) -> list[str]:
    messages = [mrkdwn.render(piece) for piece in split(parse(source), mrkdwn.measure, limit)]
    assert all(0 < len(message) <= limit for message in messages)
    assert not any(re.search(r"&(?!(?:amp|lt|gt);)", message) for message in messages)
    return messages


def c05c(_source: str, messages: list[str]) -> None:
    assert all(message.startswith("```\n") and message.endswith("\n```") for message in messages)
    lines = [line for message in messages for line in html.unescape(message)[4:-4].split("\n")]
    assert lines == ["if (a < b && c > d) { run(); }"] * 300


def words_whole(source: str, messages: list[str]) -> None:
    assert " ".join(map(visible, messages)).replace("\u200b", "").split() == source.split()


def c10d(source: str, messages: list[str]) -> None:
    shown = "\n".join(map(visible, messages))
    assert shown.count("&") == 1500
    assert [word for word in re.findall(r"[a-z]+", shown) if word != "word"] == []
    assert shown.count("word") == 600


CHECKS: dict[str, Callable[[str, list[str]], None]] = {"C05c": c05c, "C10d": c10d, "C14a": words_whole}


def test_every_case_has_its_check() -> None:
    assert set(CHUNKING) == set(CHECKS) | {"C53a", "C53b", "C53c"}


@pytest.mark.parametrize("share", [1.0, 0.95, 0.9])
@pytest.mark.parametrize("case", CHECKS)
def test_the_chunking_case_holds_at_every_inner_limit(case: str, share: float) -> None:
    given = CHUNKING[case]
    CHECKS[case](given["input"], texts(given["input"], int(given["limit"] * share)))


@pytest.mark.parametrize("case", sorted(MARKDOWN_CASES))
def test_the_markdown_case_is_sent_as_it_says(case: str) -> None:
    given = MARKDOWN_CASES[case]
    shown = mrkdwn.render(parse(given["input"]))
    allowed = given.get("equals_any", [given["equals"]] if "equals" in given else [shown])
    assert shown in allowed
    assert pings(shown) == ()
    blocks = check_blocks(render.render(parse(given["input"])))
    assert pinged_by(blocks) == ()


SEEN = {
    "C21b": "Set MIN_POOL_SIZE and init in app_main.py",
    "C24c": "Name │ Size\n樱花 │ 10\noak  │ 7",
    "C26b": "Ship it.\nDone.",
    "C29b": "R&D | plan",
    "C32a": "Stage 2: rollout\n\ntext",
    "C33a": "Disk:91%\nFans:3",
    "C33c": "keep a**b**c and 2**3**4 as code and maths",
    "C35a": "• fruit\n    • apple\n        • green\n• veg",
    "C100a": "if a < b && c > d, ping <!channel> or <@U0AAAAAAA>",
    "C100b": "x < y & z",
    "C100c": "<!here> and @channel",
}


@pytest.mark.parametrize("case", sorted(MARKDOWN_CASES))
def test_the_reader_of_blocks_sees_the_text(case: str) -> None:
    blocks = check_blocks(render.render(parse(MARKDOWN_CASES[case]["input"])))
    assert visible_blocks(blocks) == SEEN[case]


def test_lists_are_indented_as_written() -> None:
    assert (
        mrkdwn.render(parse(MARKDOWN_CASES["C35a"]["input"]))
        == "• fruit\n    • apple\n        • green\n• veg"
    )
    (block,) = render.render(parse(MARKDOWN_CASES["C35a"]["input"]))
    assert [element["indent"] for element in block["elements"]] == [0, 1, 2, 0]


def test_a_list_goes_on_with_its_number_after_code() -> None:
    (block,) = render.render(parse("1. a\n   ```\n   x\n   ```\n2. b\n3. c"))
    assert [(one["type"], one.get("offset")) for one in block["elements"]] == [
        ("rich_text_list", 0),
        ("rich_text_preformatted", None),
        ("rich_text_list", 1),
    ]
    assert len(block["elements"][2]["elements"]) == 2


@pytest.mark.parametrize("limit", [400, 12_000])
def test_the_specification_is_taken_whole_in_blocks(limit: int) -> None:
    for example in (*commonmark_examples(), *GITHUB_TABLES):
        for piece in check_split(parse(example), render.measure, limit):
            check_blocks(render.render(piece))
    for example in (*commonmark_examples(), *GITHUB_TABLES):
        for piece in check_split(parse(example), mrkdwn.measure, limit):
            assert pings(mrkdwn.render(piece)) == ()


@settings(max_examples=80, deadline=None)
@given(st.one_of(MARKDOWN, ANY_TEXT), st.integers(250, 900))
def test_any_reply_is_taken_in_blocks_and_pings_nobody(markdown: str, limit: int) -> None:
    for piece in check_split(parse(markdown), render.measure, limit):
        blocks = check_blocks(render.render(piece))
        assert pinged_by(blocks) == ()
        assert pings(mrkdwn.render(piece)) == ()


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="*_`~|<>&#@!\\ \n1aé", max_size=60))
def test_literal_text_is_seen_as_it_is_in_blocks(text: str) -> None:
    blocks = check_blocks(render.render(text_document(f"x{text}x")))
    assert visible_blocks(blocks) == f"x{text}x"


def test_a_megabyte_fits_no_message_but_every_piece_does() -> None:
    for piece in split(parse("words & signs " * 20_000), render.measure, render.MAX_BLOCKS_TEXT):
        check_blocks(render.render(piece))
