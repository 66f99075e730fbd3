"""Slack's markup in what people write, as a reader sees it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.readable import (
    Names,
    emoji_in,
    escape,
    mentioned_channels,
    mentioned_users,
    readable,
    without_address,
)

pytestmark = pytest.mark.req("ADP-4")

NAMES = Names(users={"U1": "Ada"}, channels={"C1": "general"})


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("a &lt;b&gt; &amp;amp; c", "a <b> &amp; c"),
        ("ask <@U1> or <@U2>", "ask @Ada or @U2"),
        ("ask <@U2|bob>", "ask @bob"),
        ("in <#C1> or <#C1|> or <#C2|random> or <#C3>", "in #general or #general or #random or #C3"),
        ("<!here>, <!channel> and <!everyone>", "@here, @channel and @everyone"),
        ("<!subteam^S1|@devs> <!subteam^S1>", "@devs @S1"),
        ("at <!date^1392734382^{time}|6:39 AM>", "at 6:39 AM"),
        ("<https://a.b/c?d=1&amp;e=2>", "https://a.b/c?d=1&e=2"),
        ("see <https://a.b|the page>", "see the page (https://a.b)"),
        ("<http://a.b|a.b> and <https://a.b/|a.b>", "http://a.b and https://a.b/"),
        ("<mailto:a@b.c|a@b.c> <tel:+1|+1>", "a@b.c +1"),
        ("*bold* _it_ `code` ~no~", "*bold* _it_ `code` ~no~"),
        ("1 < 2 > 3", "1 < 2 > 3"),
        ("", ""),
    ],
)
def test_tokens_are_read(written, shown):
    assert readable(written, NAMES) == shown


@given(st.text())
def test_text_escaped_is_read_as_it_was(text):
    assert readable(escape(text), NAMES) == text


@given(st.text(alphabet="<>&;@#!|UC1ab^ \n"))
def test_no_text_breaks_the_reader(text):
    readable(text, NAMES)


def test_emoji_come_back_as_characters_the_longer_names_first():
    elements = [
        {"type": "text", "text": "hi "},
        {"type": "emoji", "name": "wave", "unicode": "1f44b"},
        {"type": "emoji", "name": "wave", "unicode": "1f44b-1f3fd", "skin_tone": 4},
        {"type": "emoji", "name": "our-own"},
    ]
    inner = {"type": "rich_text_list", "elements": [{"type": "rich_text_section", "elements": elements}]}
    emoji = emoji_in([{"type": "rich_text", "elements": [inner]}])
    assert emoji == {"wave::skin-tone-4": "👋🏽", "wave": "👋"}
    assert readable("hi :wave::skin-tone-4: :wave: :our-own:", NAMES, emoji) == "hi 👋🏽 👋 :our-own:"


@pytest.mark.parametrize(
    ("written", "rest"),
    [
        ("<@B1> what time is it", "what time is it"),
        ("  <@B1|parley>, /stop", "/stop"),
        ("<@B1>: hello <@B1>", "hello <@B1>"),
        ("<@B1>", "<@B1>"),
        ("<@U1> <@B1> hello", "<@U1> <@B1> hello"),
    ],
)
def test_a_leading_mention_of_the_bot_is_cut_off_unless_it_is_all(written, rest):
    assert without_address(written, "B1") == rest


def test_whom_and_what_a_text_names_is_found():
    text = "<@U1> <@W2|bob> <#C1> <#C2|named> <#G3|> &lt;@U9&gt;"
    assert (mentioned_users(text), mentioned_channels(text)) == ({"U1", "W2"}, {"C1", "G3"})
