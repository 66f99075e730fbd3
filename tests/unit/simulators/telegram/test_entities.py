"""What the simulated Telegram makes of texts and entities, by TDLib's rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from telegram import MessageEntity
from telegram.error import BadRequest

from tests.simulators.telegram import Entity, FormattedText, styled_runs, styles_of, utf16_length
from tests.simulators.telegram.errors import ApiError
from tests.simulators.telegram.nesting import find_violations, in_order
from tests.simulators.telegram.settle import settle
from tests.simulators.telegram.text import Units

pytestmark = pytest.mark.req("ADP-10")


def span(kind, offset, length, **extra):
    return Entity(type=kind, offset=offset, length=length, extra=extra)


def shown(text, *entities):
    return settle(text, list(entities), 4096)


async def test_entities_arrive_as_sent_and_can_be_asked_for_by_words(telegram_sim, bot, ada):
    await bot.send_message(
        ada.id,
        "😀 start and end",
        entities=[MessageEntity("bold", 13, 3), MessageEntity("text_link", 3, 5, url="https://example.org")],
    )
    [message] = telegram_sim.replies(ada)
    assert styles_of(message, "end") == {"bold"}
    assert [(run.text, run.styles, run.url) for run in styled_runs(message)] == [
        ("😀 ", (), None),
        ("start", ("text_link",), "https://example.org"),
        (" and ", (), None),
        ("end", ("bold",), None),
    ]
    assert not telegram_sim.violations


@pytest.mark.parametrize(
    ("offset", "length", "reason"),
    [
        (1, 1, "begins in a middle of a UTF-16 symbol at byte offset 4"),
        (0, 1, "ends in a middle of a UTF-16 symbol at byte offset 4"),
        (0, 5, "ends after the end of the text at UTF-16 offset 5"),
        (9, 1, "begins after the end of the text at UTF-16 offset 9"),
        (-1, 1, "incorrect offset -1"),
        (0, -1, "incorrect length -1"),
    ],
)
async def test_an_entity_outside_the_text_or_within_a_character_is_refused(bot, ada, offset, length, reason):
    with pytest.raises(BadRequest, match=f"(?i){reason}"):
        await bot.send_message(ada.id, "😀ab", entities=[MessageEntity("bold", offset, length)])


def test_trimming_moves_the_entities_along():
    assert shown("  \n one two \n", span("bold", 4, 3), span("italic", 8, 4)) == FormattedText(
        text="one two", entities=(span("bold", 0, 3), span("italic", 4, 3))
    )


def test_what_is_trimmed_ends_at_the_first_entity_that_keeps_its_white_space():
    indented = shown("    x = 1\n", span("pre", 0, 9))
    assert indented == FormattedText(text="    x = 1", entities=(span("pre", 0, 9),))
    assert shown("    x = 1\n", span("bold", 0, 9)) == FormattedText(
        text="x = 1", entities=(span("bold", 0, 5),)
    )


def test_control_characters_become_spaces_and_carriage_returns_vanish():
    assert shown("a\tb\r\nc\u202ed", span("bold", 5, 1)) == FormattedText(
        text="a b\ncd", entities=(span("bold", 4, 1),)
    )


@pytest.mark.parametrize(
    ("entities", "violation"),
    [
        ([span("bold", 0, 5), span("italic", 3, 5)], "italic overlaps bold"),
        ([span("pre", 0, 8), span("bold", 2, 2)], "bold inside pre"),
        ([span("bold", 0, 8), span("code", 2, 2)], "code inside bold"),
        ([span("code", 0, 4), span("text_link", 1, 2, url="https://a.b")], "text_link inside code"),
        (
            [span("text_link", 0, 8, url="https://a.b"), span("text_link", 1, 2, url="https://c.d")],
            "text_link inside text_link",
        ),
        (
            [span("blockquote", 0, 8), span("expandable_blockquote", 1, 2)],
            "expandable_blockquote inside blockquote",
        ),
        ([span("bold", 0, 0)], "empty bold"),
        ([span("bold", 3, 1)], "bold of white space only"),
    ],
)
def test_a_silent_repair_is_a_violation(entities, violation):
    assert shown("one two3", *entities).violations == (violation,)


@pytest.mark.parametrize(
    "entities",
    [
        [span("bold", 0, 8), span("italic", 2, 1), span("underline", 2, 1)],
        [span("text_link", 0, 8, url="https://a.b"), span("bold", 2, 1)],
        [span("bold", 0, 8), span("text_link", 2, 1, url="https://a.b")],
        [span("blockquote", 0, 8), span("pre", 0, 3), span("code", 4, 2), span("bold", 6, 2)],
        [span("bold", 0, 3), span("bold", 4, 4)],
    ],
)
def test_what_may_nest_is_kept_whole(entities):
    assert shown("one two3", *entities) == FormattedText(text="one two3", entities=tuple(in_order(entities)))


def test_overlaps_are_split_and_styles_within_code_dropped_as_the_server_does():
    split = shown("one_two3", span("bold", 0, 5), span("italic", 3, 5))
    assert split.entities == (span("bold", 0, 3), span("italic", 3, 5), span("bold", 3, 2))
    kept = shown("one two3", span("bold", 0, 8), span("pre", 4, 3))
    assert [(run.text, run.styles) for run in styled_runs(kept)] == [
        ("one ", ("bold",)),
        ("two", ("pre",)),
        ("3", ("bold",)),
    ]


def test_beyond_100_entities_styles_go_first():
    text = "ab " * 60
    bold = [span("bold", 3 * place, 1) for place in range(60)]
    code = [span("code", 3 * place + 1, 1) for place in range(60)]
    settled = shown(text, *bold, *code)
    assert settled.violations == ("more than 100 entities",)
    kinds = [entity.type for entity in settled.entities]
    assert (kinds.count("code"), kinds.count("bold")) == (60, 40)


async def test_violations_are_counted_for_the_whole_run(telegram_sim, bot, ada):
    await bot.send_message(
        ada.id, "one two", entities=[MessageEntity("bold", 0, 4), MessageEntity("code", 2, 4)]
    )
    assert telegram_sim.violations == {"code overlaps bold": 1}
    assert not telegram_sim.refusals


async def test_unknown_kinds_are_refused_and_found_ones_ignored(telegram_sim, bot, ada):
    await bot.send_message(ada.id, "/go", entities=[MessageEntity("bot_command", 0, 3)])
    assert telegram_sim.replies(ada)[0].entities == ()
    with pytest.raises(BadRequest, match=r"(?i)unsupported type"):
        await bot.send_message(ada.id, "x", entities=[MessageEntity("sparkling", 0, 1)])


KINDS = ["bold", "italic", "underline", "strikethrough", "spoiler", "code", "pre", "text_link", "blockquote"]


@st.composite
def texts_with_entities(draw):
    text = draw(st.text("ab \n\t\r😀é\u202e", max_size=20))
    places = st.sampled_from(Units(text).starts)
    entities = []
    for kind in draw(st.lists(st.sampled_from(KINDS), max_size=6)):
        begin, end = sorted((draw(places), draw(places)))
        extra = {"url": "https://a.b"} if kind == "text_link" else {}
        entities.append(span(kind, begin, end - begin, **extra))
    return text, entities


@given(texts_with_entities())
def test_what_is_shown_obeys_all_rules_and_stays_when_sent_again(case):
    text, entities = case
    if not text.replace("\u202e", "").strip():
        with pytest.raises(ApiError, match="text must be non-empty"):
            shown(text, *entities)
        return
    settled = shown(text, *entities)
    assert settled.text
    assert find_violations(list(settled.entities)) == []
    for entity in settled.entities:
        assert 0 <= entity.offset < entity.offset + entity.length <= utf16_length(settled.text)
    assert "".join(run.text for run in styled_runs(settled)) == settled.text
    again = shown(settled.text, *settled.entities)
    assert (again.text, again.violations) == (settled.text, ())


@given(texts_with_entities())
def test_plain_characters_keep_their_styles_if_nothing_needs_repair(case):
    text, entities = case
    entities = [entity for entity in entities if entity.length]
    if find_violations(in_order(entities)):
        return
    try:
        settled = shown(text, *entities)
    except ApiError:
        return
    units = Units(text)
    before = [
        (
            character,
            {one.type for one in entities if one.offset <= units.starts[place] < one.offset + one.length},
        )
        for place, character in enumerate(text)
        if not character.isspace() and character != "\u202e"
    ]
    after = [
        (character, set(run.styles))
        for run in styled_runs(settled)
        for character in run.text
        if not character.isspace()
    ]
    assert after == before
