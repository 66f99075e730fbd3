"""The preview shows what arrives: all of it, and nothing that runs."""

import importlib
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.preview_page import page
from gateway.chunking import split
from gateway.document import parse
from tests.cases import commonmark_examples
from tests.cases.markdown_strategies import ANY_TEXT, MARKDOWN
from tests.cases.properties import content

ANSWERS = sorted((Path(__file__).parent.parent.parent / "docs" / "rendering").glob("*.md"))
PLATFORMS = ("telegram", "discord", "slack")
ELEMENTS = {"html", "meta", "title", "style", "body", "div", "span", "h1", "h2", "h3", "ol", "ul", "li"} | {
    *("b", "i", "s", "u", "a", "code", "pre", "blockquote"),
}


class Page(HTMLParser):
    """Collects text and elements."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.text = ""
        self.elements: set[str] = set()
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


def shown(markdown: str, platform: str) -> Page:
    render = importlib.import_module(f"adapters.{platform}.render")
    show = importlib.import_module(f"adapters.{platform}.preview").show
    return Page(
        page([show(piece) for piece in split(parse(markdown), render.measure, 2000)], platform=platform)
    )


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.stem)
def test_every_word_of_the_documented_answers_is_in_the_page(answer: Path, platform: str) -> None:
    source = answer.read_text(encoding="utf-8")
    text = "".join(shown(source, platform).text.split()).replace("\u200b", "")
    for line in content(*split(parse(source), len_of_nothing, None)).split("———"):
        assert all(character in text for character in line)
    assert "**" not in text.replace("x**2+y**2", "")
    assert "```" not in text
    assert "|--" not in text


def len_of_nothing(_piece: object) -> int:
    return 0


def test_there_are_twelve_answers() -> None:
    assert len(ANSWERS) == 12


@pytest.mark.parametrize("platform", PLATFORMS)
def test_nothing_runs_in_any_example(platform: str) -> None:
    for example in commonmark_examples():
        assert shown(example, platform).elements <= ELEMENTS


@settings(max_examples=80, deadline=None)
@given(st.one_of(MARKDOWN, ANY_TEXT), st.sampled_from(PLATFORMS))
def test_nothing_runs_in_any_reply(markdown: str, platform: str) -> None:
    assert shown(markdown, platform).elements <= ELEMENTS
