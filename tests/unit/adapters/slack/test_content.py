"""A message as arguments of the Web API."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.content import LIMIT, content, key_in
from gateway.document import parse, text_document
from gateway.messages import Button, OutboundMessage, Target
from tests.simulators.slack.blocks import check_blocks, pinged_by
from tests.simulators.slack.markup import pings

pytestmark = pytest.mark.req("ADP-4")

TARGET = Target(platform="slack", account="U0", chat_id="C1")


def message(body, **details):
    body = text_document(body) if isinstance(body, str) else body
    return OutboundMessage(target=TARGET, body=body, idem_key="k1", **details)


def test_the_key_goes_with_the_message_and_is_found_again():
    sent = content(message("hello"))
    assert key_in(sent) == "k1"
    assert key_in({"metadata": {"event_type": "other", "event_payload": {"key": "k1"}}}) is None
    assert key_in({}) is None


def test_buttons_keep_their_rows_and_their_styles():
    rows = (
        (Button(label="Once", token="t1", style="good"), Button(label="x" * 90, token="t2")),
        (Button(label="Deny", token="t3", style="danger"),),
    )
    *_, first, second = content(message("may I?", buttons=rows))["blocks"]
    assert [one["value"] for one in first["elements"]] == ["t1", "t2"]
    assert first["elements"][1]["text"]["text"] == "x" * 74 + "…"
    assert [one.get("style") for one in (*first["elements"], *second["elements"])] == [
        "primary",
        None,
        "danger",
    ]


def test_after_a_refusal_nothing_is_formatted():
    (block,) = content(message(parse("a **b**"), plain=True))["blocks"]
    assert block["elements"][0]["elements"] == [{"type": "text", "text": "a b"}]


def test_what_notifications_show_is_short_and_escaped():
    assert content(message("<!channel> " + "y" * 500))["text"].startswith("&lt;!channel&gt; y")
    assert len(content(message("y" * 500))["text"]) == 300


@given(st.text(max_size=200), st.booleans())
def test_whatever_is_said_slack_takes_it_and_nobody_is_notified(text, plain_only):
    text = "<!channel> <@U1> @here " + text
    sent = content(message(parse(text), plain=plain_only))
    assert pinged_by(check_blocks(sent["blocks"])) == ()
    assert pings(sent["text"]) == ()


def test_a_body_as_long_as_the_limit_is_taken_with_its_buttons():
    rows = tuple((Button(label="x" * 75, token="pl1:" + "y" * 22),) for _ in range(5))
    check_blocks(content(message("x" * LIMIT, buttons=rows))["blocks"])
