"""What Slack sends becomes the gateway's values: each rule stated in `adapters.slack.parse`."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.parse import (
    Identity,
    Known,
    Wanted,
    parse_command,
    parse_event,
    parse_press,
    thread_below,
    wanted_by,
)
from adapters.slack.readable import Names
from gateway.messages import Attachment, ButtonPress, InboundMessage, MessageDeleted, MessageEdited
from gateway.source import SessionSource

pytestmark = pytest.mark.req("ADP-4")

BOT = Identity(id="UBOT", bot_id="BBOT", team="T1")
KNOWN = Known(names=Names(users={"U1": "Ada"}, channels={"C1": "general"}), own_thread=False)
OWN = Known(names=KNOWN.names, own_thread=True)
AT = datetime(2024, 5, 1, 12, 0, 0, 200, UTC)
TS = "1714564800.000200"


def event(**fields):
    base = {
        "type": "message",
        "user": "U1",
        "ts": TS,
        "text": "hello",
        "channel": "C1",
        "channel_type": "channel",
    }
    return base | fields


def body(**fields):
    return {"type": "event_callback", "team_id": "T1", "event": event(**fields)}


def source(kind="group", chat_id="C1", thread_id=None, user_id="U1", user_name="Ada"):
    return SessionSource(
        platform="slack",
        account="UBOT",
        kind=kind,
        chat_id=chat_id,
        thread_id=thread_id,
        user_id=user_id,
        user_name=user_name,
        chat_name="general" if chat_id == "C1" else "",
    )


def parsed(known=KNOWN, **fields):
    return parse_event(body(**fields), BOT, known)


def test_a_direct_message_is_read_whole():
    update = parsed(channel="D1", channel_type="im", text="a &lt;b&gt; <@U1>")
    assert update == InboundMessage(
        id=f"T1:D1:{TS}",
        message_id=TS,
        source=source("dm", "D1"),
        text="a <b> @Ada",
        sent_at=AT,
    )


def test_a_thread_of_a_direct_chat_is_a_conversation_of_its_own():
    update = parsed(channel="D1", channel_type="im", thread_ts="1.1")
    assert update.source == source("dm", "D1", "1.1")


@pytest.mark.parametrize("channel_type", ["channel", "group", "mpim"])
def test_every_other_place_is_a_group(channel_type):
    update = parsed(channel_type=channel_type)
    assert (update.source, update.mentions_bot) == (source(), False)


@pytest.mark.req("ADP-6")
def test_a_mention_at_the_top_level_opens_a_thread():
    update = parsed(text="<@UBOT> what time is it")
    assert (update.text, update.mentions_bot) == ("what time is it", True)
    assert update.source == source("thread", thread_id=TS)


@pytest.mark.req("ADP-6")
@pytest.mark.parametrize(
    ("fields", "below"),
    [
        ({"text": "<@UBOT> hi"}, (("C1", TS), True)),
        ({"user": "UBOT"}, (("C1", TS), True)),
        ({}, (("C1", TS), False)),
        ({"thread_ts": "1.1", "text": "<@UBOT> hi"}, None),
        ({"channel": "D1", "channel_type": "im"}, None),
        ({"subtype": "channel_join"}, None),
    ],
)
def test_a_message_at_the_top_level_says_whose_thread_is_below_it(fields, below):
    assert thread_below(body(**fields), BOT) == below


def test_twins_give_one_value():
    twin = body(type="app_mention", text="<@UBOT> hi")
    del twin["event"]["channel_type"]
    assert parse_event(twin, BOT, KNOWN) == parsed(text="<@UBOT> hi")


@pytest.mark.req("ADP-6")
@pytest.mark.parametrize(
    ("fields", "known", "addressed"),
    [
        ({"parent_user_id": "U2"}, KNOWN, False),
        ({"parent_user_id": "UBOT"}, KNOWN, True),
        ({"parent_user_id": "U2"}, OWN, True),
        ({"parent_user_id": "U2", "text": "and <@UBOT>?"}, KNOWN, True),
    ],
)
def test_in_a_thread_the_bot_is_addressed_if_it_is_its_own_or_mentioned(fields, known, addressed):
    update = parsed(known, thread_ts="1.1", **fields)
    assert update.mentions_bot is addressed
    assert update.source == source("thread", thread_id="1.1")
    assert update.reply_to == ("1.1" if fields["parent_user_id"] == "UBOT" else None)


def test_a_root_that_has_replies_is_at_the_top_level():
    assert parsed(thread_ts=TS).source == source()


@pytest.mark.parametrize(
    "fields",
    [
        {"user": "UBOT"},
        {"bot_id": "BBOT"},
        {"subtype": "channel_join"},
        {"subtype": "channel_topic"},
        {"text": ""},
        {"type": "reaction_added"},
    ],
)
def test_what_is_nobodys_message_is_passed_over(fields):
    assert parsed(**fields) is None


def test_another_bots_message_is_marked():
    update = parsed(user=None, bot_id="B9", subtype="bot_message", username="Alerts")
    assert (update.from_bot, update.source.user_id, update.source.user_name) == (True, "B9", "Alerts")
    assert parsed(user="USLACKBOT").from_bot


def test_events_for_other_installations_are_passed_over():
    foreign = body() | {"authorizations": [{"user_id": "UELSE", "team_id": "T2"}]}
    ours = body() | {"team_id": "T2", "authorizations": [{"user_id": "UBOT", "team_id": "T1"}]}
    assert parse_event(foreign, BOT, KNOWN) is None
    assert parse_event(body() | {"team_id": "T2"}, BOT, KNOWN) is None
    assert parse_event(ours, BOT, KNOWN).id == f"T2:C1:{TS}"


def test_files_are_described():
    file = {
        "id": "F1",
        "name": "a.png",
        "mimetype": "image/png",
        "size": 7,
        "url_private": "https://f/a.png",
        "url_private_download": "https://f/download/a.png",
    }
    update = parsed(subtype="file_share", text="", files=[file, {"id": "F2", "mode": "tombstone"}])
    assert update.attachments == (
        Attachment(
            kind="image", ref="https://f/download/a.png", name="a.png", mime_type="image/png", size_bytes=7
        ),
        Attachment(kind="file", ref="F2"),
    )


def test_a_forwarded_message_is_part_of_the_text():
    shared = {"is_share": True, "author_name": "Bob", "text": "a &amp; b"}
    preview = {"from_url": "https://a.b", "text": "not said"}
    assert parsed(text="look", attachments=[shared, preview]).text == "look\n\nBob: a & b"


def change(message=None, before=None, **fields):
    before = event() | (before or {})
    edited = {"edited": {"user": "U1", "ts": "9.9"}, "text": "better"}
    return parsed(
        subtype="message_changed",
        ts="9.9",
        message=before | edited | (message or {}),
        previous_message=before,
        **fields,
    )


@pytest.mark.req("ADP-7")
def test_an_edit_names_the_message_and_its_own_time():
    assert change() == MessageEdited(id=f"T1:C1:{TS}:9.9", message_id=TS, source=source(), text="better")


@pytest.mark.req("ADP-7")
def test_an_edit_stands_where_the_message_stood_when_it_was_said():
    mention = {"text": "<@UBOT> hi"}
    assert change(before=mention).source == source("thread", thread_id=TS)
    assert change(message={"text": "<@UBOT> now"}).source == source()


@pytest.mark.req("ADP-7")
@pytest.mark.parametrize(
    "message",
    [{"text": "hello"}, {"edited": None}, {"user": "UBOT"}, {"text": ""}],
)
def test_a_change_that_is_no_persons_edit_is_passed_over(message):
    assert change(message=message) is None


@pytest.mark.req("ADP-7")
def test_a_deletion_names_the_message():
    update = parsed(subtype="message_deleted", ts="9.9", deleted_ts=TS, previous_message=event())
    assert update == MessageDeleted(id=f"T1:C1:{TS}:deleted", message_id=TS, source=source())
    assert change(message={"subtype": "tombstone"}) == update


def press(**container):
    return {
        "type": "block_actions",
        "trigger_id": "1.2.abc",
        "user": {"id": "U1", "name": "ada"},
        "channel": {"id": "C1", "name": "general"},
        "container": {"type": "message", "message_ts": TS, "channel_id": "C1"} | container,
        "message": {},
        "actions": [{"type": "button", "action_id": "pl1:x", "value": "pl1:x"}],
    }


@pytest.mark.req("APR-2")
def test_a_press_brings_token_place_and_presser():
    place = SessionSource(
        platform="slack",
        account="UBOT",
        kind="thread",
        chat_id="C1",
        thread_id="1.1",
        user_id="U1",
        user_name="ada",
    )
    expected = ButtonPress(id="1.2.abc", source=place, token="pl1:x", message_id=TS)
    assert parse_press(press(thread_ts="1.1"), BOT, Names()) == expected
    assert parse_press(press(thread_ts=TS), BOT, KNOWN.names).source.thread_id is None
    assert parse_press(press(), BOT, KNOWN.names).source.user_name == "Ada"


def test_other_things_one_can_act_on_are_passed_over():
    assert parse_press(press(type="view"), BOT, Names()) is None
    assert parse_press(press() | {"actions": [{"type": "static_select"}]}, BOT, Names()) is None


@pytest.mark.parametrize(
    ("command", "text", "read"),
    [
        ("/parley", "status", "/status"),
        ("/parley", "/stop", "/stop"),
        ("/parley", " again 2 ", "/again 2"),
        ("/parley", "", "/help"),
        ("/new", "", "/new"),
        ("/agent", "a &amp; b", "/agent a & b"),
    ],
)
def test_a_slash_command_becomes_ours(command, text, read):
    form = {
        "command": command,
        "text": text,
        "trigger_id": "1.2.abc",
        "channel_id": "D1",
        "user_id": "U1",
        "user_name": "ada",
    }
    assert parse_command(form, BOT, KNOWN.names, "/parley", AT) == InboundMessage(
        id="1.2.abc",
        message_id="1.2.abc",
        source=source("dm", "D1"),
        text=read,
        sent_at=AT,
        mentions_bot=True,
    )


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        (
            {"text": "<@U2> <#C2>"},
            Wanted(users=frozenset({"U1", "U2"}), channels=frozenset({"C1", "C2"})),
        ),
        ({"channel": "D1", "channel_type": "im", "thread_ts": "1.1"}, Wanted(users=frozenset({"U1"}))),
        (
            {"thread_ts": "1.1"},
            Wanted(users=frozenset({"U1"}), channels=frozenset({"C1"}), threads=(("C1", "1.1"),)),
        ),
        (
            {"thread_ts": "1.1", "text": "<@UBOT>"},
            Wanted(users=frozenset({"U1"}), channels=frozenset({"C1"})),
        ),
        (
            {"thread_ts": "1.1", "parent_user_id": "UBOT"},
            Wanted(users=frozenset({"U1"}), channels=frozenset({"C1"})),
        ),
        ({"user": "UBOT"}, Wanted()),
        ({"subtype": "channel_join"}, Wanted()),
    ],
)
def test_only_what_is_needed_is_looked_up(fields, wanted):
    assert wanted_by(body(**fields), BOT) == wanted


@given(st.text(max_size=12), st.text(max_size=12))
def test_ids_of_different_messages_differ(one, two):
    texts = [f"C{one.encode().hex()}", f"C{two.encode().hex()}"]
    ids = {parsed(channel=channel).id for channel in texts}
    assert len(ids) == len(set(texts))
