"""Telegram: text and entities, as its own rules have them."""

import pytest

from adapters.telegram.render import Entity, TelegramText, measure, render, units
from gateway.chunking import split
from gateway.document import Document, parse, text_document
from tests.cases.telegram_view import Shown, show

pytestmark = pytest.mark.req("DLV-2", "DLV-4")


def seen(markdown: str) -> Shown:
    return show(parse(markdown), 4096)


def test_offsets_are_utf_16_units() -> None:
    assert render(parse("🦉 **b🦉** `c`")) == TelegramText(
        text="🦉 b🦉 c",
        entities=(Entity(type="bold", offset=3, length=3), Entity(type="code", offset=7, length=1)),
    )


def test_every_construct_has_its_entity() -> None:
    shown = seen(
        "# Head `x`\n\n*i* **b** <u>u</u> ~~s~~ ||h|| [l](https://e.test) ![pic](https://e.test/p.png)\n\n"
        "> quote\n\n---\n\n```py\n\tcode\n```"
    )
    assert shown.text == "Head x\ni b u s h l pic\n\nquote\n\n───────\n\n    code"
    assert [(entity.type, shown.styled(entity.type)[0]) for entity in shown.entities] == [
        ("bold", "Head "),
        ("code", "x"),
        ("italic", "i"),
        ("bold", "Head "),
        ("underline", "u"),
        ("strikethrough", "s"),
        ("spoiler", "h"),
        ("text_link", "l"),
        ("text_link", "l"),
        ("blockquote", "quote"),
        ("pre", "    code"),
    ]
    assert shown.styled("link https://e.test/p.png") == ["pic"]
    assert shown.styled("pre py") == ["    code"]


def test_overlapping_marks_are_closed_and_opened_again() -> None:
    shown = seen("**a *b*** *c*")
    assert shown.styled("bold") == ["a b"]
    assert shown.styled("italic") == ["b", "c"]
    mixed = seen("*a **b***~~**c**~~")
    assert mixed.text == "a bc"


def test_code_in_bold_or_in_a_link_breaks_no_rule() -> None:
    assert seen("**a `b` c**").styled("bold") == ["a ", " c"]
    assert seen("[`x` y](https://e.test)").styled("text_link") == ["x y"]


def test_a_link_that_leads_nowhere_outside_shows_its_address() -> None:
    assert seen("[main](src/main.py)").text == "main (src/main.py)"


def test_a_bare_address_is_left_for_telegram_to_find() -> None:
    assert seen("<https://e.test/a_b> and <me@e.test>").entities == ()


def test_a_long_quote_can_be_folded() -> None:
    assert seen("> " + "words " * 80).entities[0].type == "expandable_blockquote"
    assert seen("> short").entities[0].type == "blockquote"


def test_quotes_do_not_nest_but_their_text_is_indented() -> None:
    shown = seen("> a\n> > b\n> > c\n\nd")
    assert shown.text == "a\n\n  b\n  c\n\nd"
    assert shown.styled("blockquote") == ["a\n\n  b\n  c"]


def test_code_and_quotes_in_lists_stand_on_lines_of_their_own() -> None:
    shown = seen("1. ```\n   x\n   ```\n2. a\n\n   > q\n\n   after")
    assert shown.text == "1.\nx\n\n2. a\n\nq\n\n   after"
    assert shown.styled("pre") == ["x"]
    assert shown.styled("blockquote") == ["q"]


def test_lists_nest_with_tasks_and_numbers() -> None:
    assert seen("9. a\n10. b\n    - c\n      more\n      - [ ] d\n11. e").text == (
        "9. a\n10. b\n    • c\n      more\n      ☐ d\n11. e"
    )


def test_a_wide_table_becomes_records_with_bold_names() -> None:
    shown = seen(f"| Name | Text |\n|---|---|\n| a | {'long ' * 10}|\n| b | [c](https://e.test) |")
    assert shown.text == f"Name: a\nText: {'long ' * 9}long\n\nName: b\nText: c"
    assert shown.styled("bold") == ["Name:", "Text:", "Name:", "Text:"]


def test_code_that_begins_a_quote_keeps_its_indentation() -> None:
    shown = seen("> ```\n>   foo\n> ```")
    assert shown.text == "\u00a0\u00a0foo"
    assert [entity.type for entity in shown.entities] == ["blockquote", "pre"]


def test_white_space_around_a_message_is_not_sent() -> None:
    assert render(text_document(" \n a \n ")) == TelegramText(text="a")
    assert render(Document()) == TelegramText(text="")


def test_a_message_of_more_than_a_hundred_entities_counts_as_too_long() -> None:
    assert measure(parse("**a** " * 100)) == 4096
    assert measure(parse("**a** " * 101)) > 4096
    pieces = split(parse("**a** " * 250), measure, 4096)
    assert [len(render(piece).entities) for piece in pieces] == [100, 100, 50]


def test_units_of_a_text_are_those_of_its_utf_16() -> None:
    assert (units("abc"), units("é"), units("🦉"), units("👨‍👩‍👧‍👦")) == (3, 1, 2, 11)


def test_what_telegram_drops_is_not_counted() -> None:
    shown = seen("a\u202eb\u0333 **A\u030a**")
    assert (shown.text, shown.styled("bold")) == ("ab Å", ["Å"])


def test_a_caption_is_cut_at_its_own_limit() -> None:
    for piece in split(parse("word " * 600), measure, 1024):
        assert units(render(piece).text) <= 1024
