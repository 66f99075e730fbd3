"""What crosses the control socket comes out as it went in."""

import json
from datetime import UTC

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.control import codec
from gateway.document import parse
from gateway.messages import Button, ButtonPress, InboundMessage, OutboundMessage, PressAnswer, Target
from gateway.source import SessionSource

HERE = SessionSource(platform="terminal", account="local", kind="dm", chat_id="local", user_id="local")
TEXT = st.text(max_size=80)
BUTTONS = st.lists(
    st.lists(st.builds(Button, label=TEXT, token=TEXT, style=st.sampled_from(["plain", "good", "danger"]))),
    max_size=3,
)


@given(markdown=TEXT, key=TEXT, plain=st.booleans(), buttons=BUTTONS)
def test_a_message(markdown: str, key: str, *, plain: bool, buttons: list[list[Button]]) -> None:
    message = OutboundMessage(
        target=Target.of(HERE),
        body=parse(markdown),
        idem_key=key,
        plain=plain,
        buttons=tuple(tuple(line) for line in buttons),
    )
    line = json.dumps(codec.message_to_json(message))
    assert codec.message_from_json(json.loads(line), Target.of(HERE)) == message


@given(number=TEXT, text=TEXT, sent_at=st.datetimes(timezones=st.just(UTC)))
def test_words(number: str, text: str, sent_at) -> None:
    said = InboundMessage(id=number, message_id=number, source=HERE, text=text, sent_at=sent_at)
    line = json.dumps(codec.update_to_json(said))
    assert codec.update_from_json(json.loads(line), HERE) == said


@given(number=TEXT, token=TEXT)
def test_a_press(number: str, token: str) -> None:
    press = ButtonPress(id=number, source=HERE, token=token)
    line = json.dumps(codec.update_to_json(press))
    assert codec.update_from_json(json.loads(line), HERE) == press


@given(answer=st.none() | st.builds(PressAnswer, text=TEXT, alert=st.booleans()))
def test_what_a_presser_is_told(answer: PressAnswer | None) -> None:
    line = json.dumps(codec.answer_to_json(answer))
    assert codec.answer_from_json(json.loads(line)) == answer


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"id": "1"},
        {"id": "1", "text": "a", "sent_at": "soon"},
        {"id": "1", "text": "a", "sent_at": "2026-01-01T00:00:00"},
        {"id": "1", "text": "a", "sent_at": 5},
    ],
)
def test_what_nobody_of_ours_would_send_is_refused(raw: dict[str, object]) -> None:
    with pytest.raises((ValueError, LookupError, TypeError)):
        codec.update_from_json(raw, HERE)
