"""The parse modes of the simulated Telegram, with the server's own error sentences."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telegram.error import BadRequest
from telegram.helpers import escape_markdown

from tests.simulators.telegram import Entity
from tests.simulators.telegram.html_mode import parse_html
from tests.simulators.telegram.markdown_v2 import parse_markdown_v2

pytestmark = pytest.mark.req("ADP-10")


def plain(result):
    text, entities = result
    return text, [
        (one.type, text[one.offset : one.offset + one.length], *one.extra.values()) for one in entities
    ]


@pytest.mark.parametrize(
    ("source", "text", "entities"),
    [
        (
            "*bold* _italic_ __under__ ~gone~ ||psst||",
            "bold italic under gone psst",
            [
                ("bold", "bold"),
                ("italic", "italic"),
                ("underline", "under"),
                ("strikethrough", "gone"),
                ("spoiler", "psst"),
            ],
        ),
        ("*bold _both_*", "bold both", [("italic", "both"), ("bold", "bold both")]),
        (r"1\. \*not bold\*", "1. *not bold*", []),
        ("`a*b` and `x\\`y`", "a*b and x`y", [("code", "a*b"), ("code", "x`y")]),
        ("```python\nx = 1\n```", "x = 1\n", [("pre", "x = 1\n", "python")]),
        ("```\nplain```", "plain", [("pre", "plain")]),
        (r"[text](https://a.b/\)c)", "text", [("text_link", "text", "https://a.b/)c")]),
        (">quote\n>more\nafter", "quote\nmore\nafter", [("blockquote", "quote\nmore\n")]),
    ],
)
def test_markdown_v2_is_read(source, text, entities):
    assert plain(parse_markdown_v2(source)) == (text, entities)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("one. two", "Character '.' is reserved and must be escaped with the preceding '\\'"),
        ("a > b", "Character '>' is reserved and must be escaped with the preceding '\\'"),
        ("é *bold", "Can't find end of Bold entity at byte offset 3"),
        ("_italic", "Can't find end of Italic entity at byte offset 0"),
        ("```python\nx", "Can't find end of PreCode entity at byte offset 0"),
        ("[a](https://a.b", "Can't find end of a URL at byte offset 4"),
    ],
)
async def test_broken_markdown_v2_is_refused(bot, ada, source, reason):
    with pytest.raises(BadRequest) as caught:
        await bot.send_message(ada.id, source, parse_mode="MarkdownV2")
    assert caught.value.message.lower() == f"can't parse entities: {reason}".lower()


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs", "Cc"])))
def test_escaped_text_is_shown_as_it_is(text):
    assert parse_markdown_v2(escape_markdown(text, version=2)) == (text, [])


@pytest.mark.parametrize(
    ("source", "text", "entities"),
    [
        (
            "<b>bold</b> <i>it</i> &lt;b&gt; &amp; &#128512;",
            "bold it <b> & 😀",
            [("bold", "bold"), ("italic", "it")],
        ),
        (
            '<a href="https://a.b/?x=1&amp;y=2">link</a>',
            "link",
            [("text_link", "link", "https://a.b/?x=1&y=2")],
        ),
        ('<pre><code class="language-py">x</code></pre>', "x", [("pre", "x", "py")]),
        ("<pre>x</pre><code>y</code>", "xy", [("pre", "x"), ("code", "y")]),
        ('<span class="tg-spoiler">psst</span>', "psst", [("spoiler", "psst")]),
        ("<blockquote expandable>long</blockquote>", "long", [("expandable_blockquote", "long")]),
        ("a & b &copy;", "a & b &copy;", []),
        ("<b><i></i></b>x", "x", []),
    ],
)
def test_html_is_read(source, text, entities):
    assert plain(parse_html(source)) == (text, entities)


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("1 <2 3", 'Unsupported start tag "2" at byte offset 2'),
        ("<p>x</p>", 'Unsupported start tag "p" at byte offset 0'),
        ("<b>x", 'Can\'t find end tag corresponding to start tag "b"'),
        ("é<b>x</i>", 'Unmatched end tag at byte offset 6, expected "</b>", found "</i>"'),
        ("x</b>", "Unexpected end tag at byte offset 1"),
        ("<b", "Unclosed start tag at byte offset 0"),
        ("<span>x</span>", 'Tag "span" must have class "tg-spoiler" at byte offset 0'),
    ],
)
async def test_broken_html_is_refused(bot, ada, source, reason):
    with pytest.raises(BadRequest) as caught:
        await bot.send_message(ada.id, source, parse_mode="HTML")
    assert caught.value.message.lower() == f"can't parse entities: {reason}".lower()


async def test_an_unknown_parse_mode_is_refused(bot, ada):
    with pytest.raises(BadRequest, match=r"(?i)unsupported parse_mode"):
        await bot.send_message(ada.id, "x", parse_mode="BBCode")


async def test_the_limit_counts_what_is_shown_not_what_is_sent(telegram_sim, bot, ada):
    await bot.send_message(ada.id, "*" + "x" * 4096 + "*", parse_mode="MarkdownV2")
    [shown] = telegram_sim.replies(ada)
    assert shown.entities == (Entity(type="bold", offset=0, length=4096),)
