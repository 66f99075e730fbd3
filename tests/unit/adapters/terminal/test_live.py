"""What is shown of a running turn."""

import re
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from adapters.terminal.console import growing
from adapters.terminal.live import Live
from adapters.terminal.text import printable

SGR = re.compile(r"\x1b\[[0-9;]*m")
"""Colours and weights."""

pytestmark = pytest.mark.req("ADP-9")


@dataclass(frozen=True)
class Event:
    turn_id: int
    idx: int
    kind: str
    payload: dict[str, Any] = field(default_factory=dict)


def shown(*events: Event, columns: int = 80, rows: int = 20) -> str:
    live = Live()
    for event in events:
        live = live.after(event)
    return SGR.sub("", live.tail(growing(live.recent(), columns), columns=columns, rows=rows))


def test_text_grows_and_ends_the_status():
    assert (
        shown(
            Event(1, 0, "status", {"status": "thinking"}),
            Event(1, 1, "text", {"text": "Hel"}),
            Event(1, 2, "text", {"text": "lo"}),
        )
        == "Hello"
    )


def test_a_tool_is_named_below_the_text():
    events = (
        Event(1, 0, "text", {"text": "Let me look."}),
        Event(1, 1, "tool", {"call_id": "c", "name": "dice/roll", "args": {}, "state": "running"}),
    )
    assert shown(*events) == "Let me look.\ndice/roll: running"


def test_a_retract_takes_back_the_text_from_there_on():
    assert (
        shown(
            Event(1, 0, "text", {"text": "a"}),
            Event(1, 1, "text", {"text": "b"}),
            Event(1, 2, "text", {"text": "c"}),
            Event(1, 3, "retract", {"from_idx": 1}),
            Event(1, 4, "text", {"text": "B"}),
        )
        == "aB"
    )


def test_another_turn_starts_anew():
    assert shown(Event(1, 0, "text", {"text": "old"}), Event(2, 0, "text", {"text": "new"})) == "new"


def test_at_the_end_nothing_is_left():
    assert shown(Event(1, 0, "text", {"text": "answer"}), Event(1, 1, "done", {"outcome": "answered"})) == ""


def test_only_the_last_lines_are_shown():
    assert shown(Event(1, 0, "text", {"text": "1\n2\n3\n4"}), rows=2) == "3\n4"


def test_kinds_unknown_here_change_nothing():
    assert shown(Event(1, 0, "text", {"text": "a"}), Event(1, 1, "task", {}), Event(1, 2, "news", {})) == "a"


def test_markdown_is_drawn_as_it_will_be_in_the_end():
    live = Live().after(
        Event(1, 0, "text", {"text": "It **grows**, [see](https://example.org).\n\n```py\nx = 1"})
    )
    tail = live.tail(growing(live.recent(), 80), columns=80, rows=20)
    assert "\x1b[1mgrows\x1b[0m" in tail
    assert "example.org" not in tail  # the line editor knows no hyperlinks
    assert [line.rstrip() for line in SGR.sub("", tail).split("\n")] == ["It grows, see.", "", "  x = 1"]


def test_of_a_long_answer_the_end_is_drawn_also_inside_of_code():
    text = "words\n\n" * 2_000 + "```\n" + "line **1**\n\n" * 2_000
    live = Live().after(Event(1, 0, "text", {"text": text}))
    assert len(live.recent()) < 6_100
    lines = [line.strip() for line in SGR.sub("", growing(live.recent(), 80)).split("\n")]
    assert set(lines) == {"line **1**", ""}


@given(st.lists(st.text(max_size=40), max_size=8), st.integers(20, 30), st.integers(1, 6))
def test_it_always_fits_and_holds_no_control_character(texts: list[str], columns: int, rows: int):
    tail = shown(
        *(Event(1, idx, "text", {"text": text}) for idx, text in enumerate(texts)), columns=columns, rows=rows
    )
    assert len(tail.split("\n")) <= rows
    assert printable(tail) == tail


@given(st.text("ab *_`-#>\n", max_size=200), st.integers(20, 40))
def test_no_line_is_wider_than_the_terminal(text: str, columns: int):
    tail = shown(Event(1, 0, "text", {"text": text}), columns=columns, rows=100)
    assert all(wcswidth(line) <= columns for line in tail.split("\n"))


@given(st.text())
def test_printable_text_cannot_move_the_cursor(text: str):
    assert not {char for char in printable(text) if char < " " or "\x7f" <= char <= "\x9f"} - {"\n", "\t"}
    assert printable(printable(text)) == printable(text)


def test_an_escape_sequence_is_shown_as_text():
    assert printable("\x1b[31mred\x1b]0;title\x07\r\nnext\tcell") == "�[31mred�]0;title�\nnext\tcell"
