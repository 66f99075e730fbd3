"""The web console's HTML: what the document says, and nothing a reply could smuggle in."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.web.render import render
from gateway.document import parse, plain, text_document
from tests.cases import GITHUB_TABLES, commonmark_examples
from tests.cases.markdown_strategies import ANY_TEXT, MARKDOWN
from tests.cases.properties import content

pytestmark = pytest.mark.req("DLV-4")

LINK = 'rel="noopener noreferrer nofollow"'


class Reader(HTMLParser):
    """Collects the text, the elements and the addresses of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.text: list[str] = []
        self.elements: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.mark.parametrize(
    ("markdown", "page"),
    [
        ("# *a* `b`", "<h1><em>a</em> <code>b</code></h1>"),
        ("a\nb & <i>", "<p>a<br>b &amp; &lt;i&gt;</p>"),
        (
            "[**a** b](https://e.test?x=1&y=2)",
            f'<p><a href="https://e.test?x=1&amp;y=2" {LINK}><strong>a</strong> b</a></p>',
        ),
        (
            "see https://e.test/a_b.",
            f'<p>see <a href="https://e.test/a_b" {LINK}>https://e.test/a_b</a>.</p>',
        ),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("- [x] a\n- [ ] b", '<ul><li class="task">☑ a</li><li class="task">☐ b</li></ul>'),
        ("```py\na < b\n```", '<pre><code class="language-py">a &lt; b</code></pre>'),
        ("> a\n\n---", "<blockquote><p>a</p></blockquote><hr>"),
        ("||a||", '<p><span class="spoiler" tabindex="0">a</span></p>'),
        (
            "| a | b |\n|--:|---|\n| c | d |",
            (
                '<table><thead><tr><th class="right">a</th><th>b</th></tr></thead>'
                '<tbody><tr><td class="right">c</td><td>d</td></tr></tbody></table>'
            ),
        ),
    ],
)
def test_each_construct_has_its_element(markdown: str, page: str) -> None:
    assert render(parse(markdown)) == page


@pytest.mark.parametrize(
    "markdown",
    [
        "[x](javascript:alert(1))",
        "<script>alert(1)</script>",
        "![x](data:text/html,x)",
        '```"><script>\nx\n```',
        '[x](https://e.test/" onclick="x)',
    ],
)
def test_nothing_in_a_reply_runs(markdown: str) -> None:
    page = Reader(render(parse(markdown)))
    assert "script" not in page.elements
    assert {name for name, _ in page.attributes} <= {"href", "rel", "class"}
    assert all((value or "").startswith("https://") for name, value in page.attributes if name == "href")


@settings(max_examples=100, deadline=None)
@given(st.one_of(MARKDOWN, ANY_TEXT))
def test_no_text_is_lost_and_no_element_is_foreign(markdown: str) -> None:
    check(markdown)


def test_no_text_of_the_specification_is_lost() -> None:
    for example in (*commonmark_examples(), *GITHUB_TABLES):
        check(example)


def check(markdown: str) -> None:
    document = parse(markdown)
    page = Reader(render(document))
    assert {name for name, _ in page.attributes} <= {"href", "rel", "class", "start", "tabindex"}
    if "|" not in markdown and "[" not in markdown:
        shown = "".join("".join(page.text).split())
        assert shown == "".join(content(document).replace("———", "").split()) or not shown.isprintable()


@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp")), min_size=1))
def test_literal_text_is_text(text: str) -> None:
    assert "".join(Reader(render(text_document(text))).text) == plain(text_document(text))
