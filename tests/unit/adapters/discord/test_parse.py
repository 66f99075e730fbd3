"""Discord's events as the gateway's values."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.discord.parse import (
    Identity,
    command_text,
    moment_of,
    parse_deletion,
    parse_edit,
    parse_interaction,
    parse_message,
    snowflake_of,
)
from adapters.discord.places import Place, Places, direct_place, parse_channel
from gateway.messages import Attachment, ButtonPress, InboundMessage, MessageDeleted, MessageEdited
from gateway.source import SessionSource

pytestmark = pytest.mark.req("SRC-1", "ADP-3")

BOT = Identity(id="7", roles=frozenset({"70"}))
ADA = {"id": "5", "username": "ada", "global_name": "Ada"}
ME = {"id": "7", "username": "parley", "global_name": "Parley", "bot": True}
DM = direct_place("100")
ROOM = Place(kind="group", chat_id="200", name="general")
THREAD = Place(kind="thread", chat_id="200", thread_id="300", name="aside")
SENT = "2026-11-30T12:00:00.250000+00:00"
SENT_AT = datetime(2026, 11, 30, 12, 0, 0, 250_000, UTC)


def raw(content: str = "hello", **details: Any) -> dict[str, Any]:
    return {
        "id": "900",
        "channel_id": "100",
        "author": ADA,
        "content": content,
        "timestamp": SENT,
        "edited_timestamp": None,
        "type": 0,
        "mentions": [],
        "mention_roles": [],
        "attachments": [],
        **details,
    }


def message(place: Place = ROOM, **details: Any) -> InboundMessage:
    parsed = parse_message(raw(**details), place, BOT)
    assert parsed is not None
    return parsed


def test_a_direct_message_whole():
    assert parse_message(raw(), DM, BOT) == InboundMessage(
        id="900",
        message_id="900",
        source=SessionSource(
            platform="discord", account="7", kind="dm", chat_id="100", user_id="5", user_name="Ada"
        ),
        text="hello",
        sent_at=SENT_AT,
    )


@pytest.mark.parametrize(
    ("place", "where"),
    [(ROOM, ("group", "200", None, "general")), (THREAD, ("thread", "200", "300", "aside"))],
)
def test_a_guild_message_names_its_place(place, where):
    source = message(place).source
    assert (source.kind, source.chat_id, source.thread_id, source.chat_name) == where


def test_a_nickname_is_how_a_person_is_called_there():
    assert message(member={"nick": "Countess"}).source.user_name == "Countess"


@pytest.mark.req("ADP-6")
@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("<@7> what time is it", "what time is it"),
        ("<@!7>: what time is it", "what time is it"),
        ("<@&70>, what time is it", "what time is it"),
        ("<@7> /new", "/new"),
        ("<@7>", "@Parley"),
        ("hello <@7>", "hello @Parley"),
        ("<@5> and <@6>", "@Ada and <@6>"),
        ("<@&71> all", "<@&71> all"),
    ],
)
def test_an_address_is_cut_off_and_names_are_readable(said, text):
    assert message(content=said, mentions=[ME, ADA]).text == text


@pytest.mark.req("ADP-6")
@pytest.mark.parametrize(
    ("details", "place", "mentioned"),
    [
        ({}, ROOM, False),
        ({"mentions": [ME]}, ROOM, True),
        ({"mention_roles": ["70"]}, ROOM, True),
        ({"mention_roles": ["71"]}, ROOM, False),
        ({"mention_everyone": True}, ROOM, False),
        ({"referenced_message": {"author": ME}}, ROOM, True),
        ({"referenced_message": {"author": ADA}}, ROOM, False),
        ({"referenced_message": None}, ROOM, False),
        ({}, THREAD, False),
        ({}, Place(kind="thread", chat_id="200", thread_id="300", is_own=True), True),
    ],
)
def test_what_counts_as_speaking_to_the_bot(details, place, mentioned):
    assert message(place, **details).mentions_bot is mentioned


@pytest.mark.parametrize(
    "details",
    [
        {"author": ME},
        {"type": 6},
        {"type": 7},
        {"type": 21},
        {"content": ""},
    ],
)
@pytest.mark.req("ADP-6")
def test_what_is_nobodys_message_is_nothing(details):
    assert parse_message(raw(**details), ROOM, BOT) is None


@pytest.mark.req("ADP-6")
def test_other_bots_and_webhooks_are_known_as_such():
    assert message(author={**ADA, "bot": True}).from_bot
    assert message(webhook_id="8").from_bot
    assert not message().from_bot


def test_a_reply_names_what_it_answers_and_a_forward_answers_nothing():
    assert message(type=19, message_reference={"type": 0, "message_id": "899"}).reply_to == "899"
    forwarded = message(
        content="",
        message_reference={"type": 1, "message_id": "899"},
        message_snapshots=[{"message": {"content": "said elsewhere", "attachments": []}}],
    )
    assert (forwarded.reply_to, forwarded.text) == (None, "said elsewhere")


@pytest.mark.req("ADP-8")
def test_attachments_are_described():
    files = [
        {"filename": "a.png", "content_type": "image/png", "size": 3, "url": "http://f/a"},
        {"filename": "b.ogg", "content_type": "audio/ogg", "size": 4, "url": "http://f/b"},
        {"filename": "c.bin", "size": 5, "url": "http://f/c"},
    ]
    assert message(content="", attachments=files).attachments == (
        Attachment(kind="image", ref="http://f/a", name="a.png", mime_type="image/png", size_bytes=3),
        Attachment(kind="audio", ref="http://f/b", name="b.ogg", mime_type="audio/ogg", size_bytes=4),
        Attachment(kind="file", ref="http://f/c", name="c.bin", size_bytes=5),
    )


@pytest.mark.req("ADP-7")
def test_an_edit_has_a_key_of_its_own_and_a_preview_is_none():
    edited = raw("second thought", edited_timestamp="2026-11-30T12:01:00+00:00")
    parsed = parse_edit(edited, DM, BOT)
    assert parsed == MessageEdited(
        id="900:2026-11-30T12:01:00+00:00",
        message_id="900",
        source=message(DM).source,
        text="second thought",
    )
    assert parse_edit(raw("with a link", embeds=[{}]), DM, BOT) is None
    assert parse_edit({"id": "900", "channel_id": "100", "embeds": [{}]}, DM, BOT) is None


@pytest.mark.req("ADP-6", "ADP-7")
@pytest.mark.parametrize("author", [ME, {**ADA, "bot": True}])
def test_edits_by_bots_are_nothing(author):
    assert parse_edit(raw("x", edited_timestamp=SENT, author=author), ROOM, BOT) is None


@pytest.mark.req("ADP-7")
def test_a_deletion_has_a_key_of_its_own():
    source = message().source
    assert parse_deletion("900", source) == MessageDeleted(id="900:deleted", message_id="900", source=source)


def interaction(kind: int, data: dict[str, Any], **details: Any) -> dict[str, Any]:
    return {
        "id": str(snowflake_of(SENT_AT)),
        "type": kind,
        "token": "t",
        "application_id": "7",
        "channel_id": "300",
        "channel": {"id": "300", "type": 11, "parent_id": "200", "name": "aside"},
        "member": {"user": ADA, "nick": None},
        "data": data,
        **details,
    }


@pytest.mark.req("APR-2")
def test_a_press_brings_token_presser_and_place():
    pressed = interaction(3, {"custom_id": "pl1:x", "component_type": 2})
    assert parse_interaction(pressed, BOT) == ButtonPress(
        id=pressed["id"],
        source=SessionSource(
            platform="discord",
            account="7",
            kind="thread",
            chat_id="200",
            thread_id="300",
            user_id="5",
            user_name="Ada",
            chat_name="aside",
        ),
        token="pl1:x",
    )


def test_a_called_command_is_the_text_a_person_would_type():
    called = interaction(
        2,
        {"name": "deny", "options": [{"name": "argument", "type": 3, "value": "no need"}]},
        channel={"id": "100", "type": 1},
        user=ADA,
    )
    del called["member"]
    parsed = parse_interaction(called, BOT)
    assert isinstance(parsed, InboundMessage)
    assert (parsed.text, parsed.mentions_bot, parsed.source.kind) == ("/deny no need", True, "dm")
    assert parsed.sent_at == SENT_AT
    assert command_text({"name": "help"}) == "/help"


def test_what_was_never_offered_is_nothing():
    assert parse_interaction(interaction(4, {"name": "deny"}), BOT) is None


@given(st.integers(1, 2**40))
def test_a_moment_survives_its_snowflake(milliseconds):
    assert snowflake_of(moment_of(milliseconds << 22)) == milliseconds << 22


@given(st.text(max_size=200).filter(lambda text: "<@" not in text))
def test_any_text_without_mentions_comes_unchanged(text):
    parsed = parse_message(raw(text), DM, BOT)
    assert (parsed.text if parsed else "") == text


@pytest.mark.parametrize(
    ("channel", "place"),
    [
        ({"id": "1", "type": 1, "last_message_id": None}, Place(kind="dm", chat_id="1")),
        (
            {"id": "2", "type": 0, "name": "general", "last_message_id": "9"},
            Place(kind="group", chat_id="2", name="general", last_message_id=9),
        ),
        ({"id": "3", "type": 5, "name": "news"}, Place(kind="group", chat_id="3", name="news")),
        (
            {"id": "4", "type": 11, "parent_id": "2", "name": "mine", "owner_id": "7"},
            Place(kind="thread", chat_id="2", thread_id="4", name="mine", is_own=True),
        ),
        (
            {"id": "5", "type": 12, "parent_id": "2", "name": "theirs", "owner_id": "5"},
            Place(kind="thread", chat_id="2", thread_id="5", name="theirs"),
        ),
    ],
)
def test_a_channel_is_a_place(channel, place):
    assert parse_channel(channel, "7") == place


def test_events_keep_the_places_and_the_bots_own_role():
    places = Places("7")
    places.take(
        "GUILD_CREATE",
        {
            "id": "1",
            "channels": [{"id": "2", "type": 0, "name": "general"}, {"id": "3", "type": 4, "name": "Rooms"}],
            "threads": [{"id": "4", "type": 11, "parent_id": "2", "name": "aside"}],
            "roles": [{"id": "1", "name": "@everyone"}, {"id": "70", "tags": {"bot_id": "7"}}],
        },
    )
    places.take("CHANNEL_UPDATE", {"id": "2", "type": 0, "name": "talk"})
    places.take("THREAD_DELETE", {"id": "4", "type": 11, "parent_id": "2"})
    assert list(places) == [Place(kind="group", chat_id="2", name="talk")]
    assert places.bot_roles == {"70"}
