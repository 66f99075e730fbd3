"""Which messages are parts of one text (pure)."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.clock import to_ms
from gateway.intake.gathering import gathers, is_rest, joint, may_continue
from gateway.messages import Attachment, InboundMessage
from gateway.source import SessionSource
from gateway.store.inputs import Given, Part, TurnInputRow

pytestmark = pytest.mark.req("QUE-8")

SOURCE = SessionSource(platform="memory", account="bot", kind="dm", chat_id="1", user_id="1")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LIMIT = 40


def said(text: str, **details: object) -> InboundMessage:
    values = {"id": "u", "message_id": "m", "source": SOURCE, "sent_at": NOW, "text": text, **details}
    return InboundMessage(**values)  # type: ignore[arg-type]


def part(text: str, at_ms: int = to_ms(NOW), joined: str = "") -> Part:
    return Part(message_id="m", text=text, sent_at_ms=at_ms, joint=joined)


@pytest.mark.parametrize(
    ("text", "limit", "what"),
    [
        ("a" * 21, LIMIT, "text"),
        ("a" * 20, LIMIT, None),
        ("🦉" * 11, LIMIT, "text"),  # counted as the platforms' clients do, in UTF-16 units
        ("a" * 5_000, None, None),
        ("", LIMIT, None),
    ],
)
def test_a_text_longer_than_half_the_limit_may_go_on(text, limit, what):
    assert gathers(said(text), limit) == what


def test_a_caption_is_no_beginning_of_a_longer_text():
    assert gathers(said("a" * 40, attachments=(Attachment(kind="image", ref="r"),)), LIMIT) is None


def test_an_album_is_known_by_its_id():
    assert gathers(said("", group_id="7"), None) == "album:7" == may_continue(said("x", group_id="7"))


@pytest.mark.parametrize(
    ("details", "what"),
    [
        ({}, "text"),
        ({"reply_to": "9"}, None),
        ({"attachments": (Attachment(kind="file", ref="r"),)}, None),
    ],
)
def test_an_answer_or_a_file_is_no_rest_of_a_text(details, what):
    assert may_continue(said("and so on", **details)) == what


@pytest.mark.parametrize(("later_ms", "is_it"), [(0, True), (5_000, True), (-5_000, True), (5_001, False)])
def test_the_rest_of_a_text_comes_soon(later_ms, is_it):
    parts = [part("long ago", at_ms=0), part("a" * 40)]
    assert is_rest(parts, to_ms(NOW) + later_ms) is is_it


def test_nothing_has_no_rest():
    assert not is_rest([], to_ms(NOW))


@given(
    text=st.text(st.characters(categories=["L"], max_codepoint=0xFFFF), max_size=300),
    limit=st.integers(1, 50),
)
def test_a_text_cut_at_the_limit_is_joined_as_it_was(text, limit):
    parts: list[Part] = []
    for at in range(0, len(text), limit):
        piece = text[at : at + limit]
        parts.append(part(piece, joined=joint(parts, limit)))
    assert TurnInputRow(text="").with_parts(parts).text == text


@given(
    parts=st.lists(
        st.builds(
            Part,
            message_id=st.text(),
            text=st.text(),
            attachments=st.lists(
                st.builds(
                    Given,
                    file=st.builds(Attachment, kind=st.just("file"), ref=st.text(), name=st.text()),
                    text=st.none() | st.text(),
                    fault=st.none() | st.text(),
                ),
                max_size=3,
            ).map(tuple),
            sent_at_ms=st.integers(),
            joint=st.sampled_from(["", "\n", "\n\n"]),
        )
    ),
    speaker=st.text(),
    shared=st.booleans(),
)
def test_an_input_is_stored_and_read_back_whole(parts, speaker, shared):
    bare = TurnInputRow(text="alone" if not parts else "", speaker=speaker, shared=shared, sent_at_ms=5)
    row = bare.with_parts(parts) if parts else bare
    assert TurnInputRow.from_json(row.to_json()) == row
