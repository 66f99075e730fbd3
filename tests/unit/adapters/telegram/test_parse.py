"""Telegram's updates as the gateway's values."""

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.telegram.parse import Identity, parse_update
from gateway.messages import Attachment, ButtonPress, ChatMoved, InboundMessage, MessageEdited
from gateway.source import SessionSource

pytestmark = pytest.mark.req("SRC-1", "ADP-2")

BOT = Identity(id="7", username="ParleyBot")
ADA = {"id": 5, "is_bot": False, "first_name": "Ada", "last_name": "Lovelace"}
DM = {"id": 5, "type": "private", "first_name": "Ada"}
GROUP = {"id": -10, "type": "group", "title": "Friends"}
FORUM = {"id": -1001, "type": "supergroup", "title": "Forum", "is_forum": True}
DATE = 1_790_000_000
SENT_AT = datetime.fromtimestamp(DATE, UTC)


def raw(
    text: str | None = "hello", chat: dict[str, Any] = DM, kind: str = "message", **details: Any
) -> dict[str, Any]:
    body = {"message_id": 3, "from": ADA, "chat": chat, "date": DATE, **details}
    if text is not None:
        body["text"] = text
    return {"update_id": 100, kind: body}


def entity(kind: str, offset: int, length: int, **details: Any) -> dict[str, Any]:
    return {"type": kind, "offset": offset, "length": length, **details}


def message(update: dict[str, Any]) -> InboundMessage:
    parsed = parse_update(update, BOT)
    assert isinstance(parsed, InboundMessage)
    return parsed


def test_a_direct_message_whole():
    assert parse_update(raw(), BOT) == InboundMessage(
        id="100",
        message_id="3",
        source=SessionSource(
            platform="telegram", account="7", kind="dm", chat_id="5", user_id="5", user_name="Ada Lovelace"
        ),
        text="hello",
        sent_at=SENT_AT,
    )


def test_a_group_message_names_the_group():
    source = message(raw(chat=GROUP)).source
    assert (source.kind, source.chat_id, source.user_id, source.chat_name) == ("group", "-10", "5", "Friends")


@pytest.mark.parametrize(
    ("details", "kind", "thread_id"),
    [
        ({"message_thread_id": 8, "is_topic_message": True}, "thread", "8"),
        ({"message_thread_id": 8}, "thread", "1"),
        ({}, "thread", "1"),
    ],
)
def test_in_a_forum_a_topic_is_a_thread_and_all_else_the_general_one(details, kind, thread_id):
    source = message(raw(chat=FORUM, **details)).source
    assert (source.kind, source.thread_id) == (kind, thread_id)


def test_a_thread_id_without_topic_is_a_reply_chain_and_no_thread():
    source = message(raw(chat=GROUP, message_thread_id=8)).source
    assert (source.kind, source.thread_id) == ("group", None)


def test_a_topic_in_a_private_chat_stays_a_direct_chat():
    source = message(raw(message_thread_id=8, is_topic_message=True)).source
    assert (source.kind, source.thread_id) == ("dm", "8")


def test_a_channel_post_is_known_by_the_channel():
    channel = {"id": -1002, "type": "channel", "title": "News"}
    update = {
        "update_id": 1,
        "channel_post": {"message_id": 4, "chat": channel, "sender_chat": channel, "date": DATE, "text": "x"},
    }
    source = message(update).source
    assert (source.kind, source.user_id, source.user_name) == ("channel", "-1002", "News")


def test_an_anonymous_administrator_is_known_by_the_group_and_is_no_bot():
    anonymous = {"id": 1087968824, "is_bot": True, "first_name": "Group", "username": "GroupAnonymousBot"}
    parsed = message(raw(chat=GROUP, **{"from": anonymous, "sender_chat": GROUP}))
    assert (parsed.source.user_id, parsed.source.user_name, parsed.from_bot) == ("-10", "Friends", False)


@pytest.mark.req("QUE-8")
def test_the_pictures_of_an_album_carry_its_id():
    photo = [{"file_id": "f", "width": 90, "height": 90}]
    assert message(raw(None, photo=photo, media_group_id="13")).group_id == "13"
    assert message(raw()).group_id is None


def test_a_group_that_becomes_a_supergroup_names_its_new_id():
    moved = parse_update(raw(None, chat=GROUP, migrate_to_chat_id=-1003), BOT)
    assert isinstance(moved, ChatMoved)
    assert (moved.id, moved.source.chat_id, moved.moved_to) == ("100", "-10", "-1003")


def test_another_bot_is_marked():
    assert message(raw(chat=GROUP, **{"from": {"id": 9, "is_bot": True, "first_name": "B"}})).from_bot


@pytest.mark.parametrize(
    ("text", "entities", "expected", "mentions"),
    [
        ("@ParleyBot what time", [entity("mention", 0, 10)], "what time", True),
        ("@parleybot, what time", [entity("mention", 0, 10)], "what time", True),
        ("ask @ParleyBot about it", [entity("mention", 4, 10)], "ask @ParleyBot about it", True),
        ("@ParleyBot", [entity("mention", 0, 10)], "@ParleyBot", True),
        ("@ParleyBot ", [entity("mention", 0, 10)], "@ParleyBot ", True),
        ("@Other what time", [entity("mention", 0, 6)], "@Other what time", False),
        ("Parley, what time", [entity("text_mention", 0, 6, user={"id": 7})], "what time", True),
        ("Ada, what time", [entity("text_mention", 0, 3, user={"id": 5})], "Ada, what time", False),
        ("👋 @ParleyBot hi", [entity("mention", 3, 10)], "👋 @ParleyBot hi", True),
        ("@ParleyBot /stop", [entity("mention", 0, 10), entity("bot_command", 11, 5)], "/stop", True),
        ("/help@ParleyBot me", [entity("bot_command", 0, 15)], "/help me", True),
        ("/HELP@parleybot", [entity("bot_command", 0, 15)], "/HELP", True),
        ("/help", [entity("bot_command", 0, 5)], "/help", False),
        ("@ParleyBot said so, without entity", [], "@ParleyBot said so, without entity", False),
    ],
)
def test_an_address_is_noticed_and_cut_off(text, entities, expected, mentions):
    parsed = message(raw(text, GROUP, entities=entities))
    assert (parsed.text, parsed.mentions_bot) == (expected, mentions)


def test_a_command_for_another_bot_is_not_ours():
    assert parse_update(raw("/help@OtherBot", GROUP, entities=[entity("bot_command", 0, 14)]), BOT) is None


def test_an_answer_to_the_bot_mentions_it_and_one_to_a_person_does_not():
    to_bot = message(raw(chat=GROUP, reply_to_message={"message_id": 2, "from": {"id": 7}}))
    to_ada = message(raw(chat=GROUP, reply_to_message={"message_id": 2, "from": {"id": 5}}))
    assert (to_bot.mentions_bot, to_bot.reply_to) == (True, "2")
    assert (to_ada.mentions_bot, to_ada.reply_to) == (False, "2")


@pytest.mark.parametrize(("opener", "own"), [(7, True), (5, False)])
def test_a_message_in_a_topic_answers_nobody_and_the_bots_own_topic_counts_as_a_mention(opener, own):
    root = {"message_id": 8, "from": {"id": opener}, "forum_topic_created": {"name": "T"}}
    parsed = message(raw(chat=FORUM, message_thread_id=8, is_topic_message=True, reply_to_message=root))
    assert (parsed.reply_to, parsed.mentions_bot) == (None, own)


def test_an_edit_names_the_message():
    update = raw("better", kind="edited_message", edit_date=DATE + 9)
    assert parse_update(update, BOT) == MessageEdited(
        id="100", message_id="3", source=message(raw()).source, text="better"
    )


def test_a_press_is_the_pressers_in_the_cards_place():
    card = {"message_id": 9, "from": {"id": 7}, "chat": FORUM, "date": DATE, "text": "May I?"}
    card |= {"message_thread_id": 8, "is_topic_message": True}
    query = {"id": "42", "from": ADA, "message": card, "data": "pl1:abc", "chat_instance": "x"}
    assert parse_update({"update_id": 101, "callback_query": query}, BOT) == ButtonPress(
        id="101",
        source=SessionSource(
            platform="telegram",
            account="7",
            kind="thread",
            chat_id="-1001",
            thread_id="8",
            user_id="5",
            user_name="Ada Lovelace",
            chat_name="Forum",
        ),
        token="pl1:abc",
        message_id="9",
    )


def test_a_press_on_a_card_too_old_to_be_shown_is_still_one():
    gone = {"message_id": 9, "chat": DM, "date": 0}
    query = {"id": "42", "from": ADA, "message": gone, "data": "pl1:abc"}
    parsed = parse_update({"update_id": 101, "callback_query": query}, BOT)
    assert isinstance(parsed, ButtonPress)
    assert (parsed.token, parsed.source.chat_id) == ("pl1:abc", "5")


@pytest.mark.parametrize(
    ("details", "expected"),
    [
        (
            {
                "photo": [
                    {"file_id": "small", "width": 90, "height": 60, "file_size": 10},
                    {"file_id": "large", "width": 900, "height": 600, "file_size": 999},
                ]
            },
            Attachment(kind="image", ref="large", mime_type="image/jpeg", size_bytes=999),
        ),
        (
            {
                "document": {
                    "file_id": "d",
                    "file_name": "a.pdf",
                    "mime_type": "application/pdf",
                    "file_size": 3,
                }
            },
            Attachment(kind="file", ref="d", name="a.pdf", mime_type="application/pdf", size_bytes=3),
        ),
        (
            {"document": {"file_id": "d", "file_name": "a.png", "mime_type": "image/png"}},
            Attachment(kind="image", ref="d", name="a.png", mime_type="image/png"),
        ),
        (
            {"voice": {"file_id": "v", "duration": 3}},
            Attachment(kind="audio", ref="v", mime_type="audio/ogg"),
        ),
        (
            {"animation": {"file_id": "g"}, "document": {"file_id": "g"}},
            Attachment(kind="video", ref="g", mime_type="video/mp4"),
        ),
    ],
)
def test_a_file_is_described_and_its_caption_is_the_text(details, expected):
    parsed = message(raw(None, caption="look", **details))
    assert (parsed.text, parsed.attachments) == ("look", (expected,))


def test_a_mention_in_a_caption_counts():
    parsed = message(
        raw(
            None,
            GROUP,
            caption="@ParleyBot look",
            caption_entities=[entity("mention", 0, 10)],
            voice={"file_id": "v"},
        )
    )
    assert (parsed.text, parsed.mentions_bot) == ("look", True)


@pytest.mark.parametrize(
    "update",
    [
        raw(None, new_chat_members=[ADA]),
        raw(None, sticker={"file_id": "s", "emoji": "👍"}),
        raw(None, chat=GROUP, migrate_from_chat_id=-1003),
        raw(chat=GROUP, is_automatic_forward=True),
        raw(None, kind="edited_message", location={"latitude": 1, "longitude": 2}),
        {"update_id": 1, "my_chat_member": {"chat": DM}},
        {"update_id": 1, "something_new": {}},
        {"update_id": 1, "callback_query": {"id": "4", "from": ADA, "game_short_name": "g"}},
        {"update_id": 1, "callback_query": {"id": "4", "from": ADA, "inline_message_id": "i", "data": "d"}},
    ],
)
def test_what_is_nobodys_message_is_nothing(update):
    assert parse_update(update, BOT) is None


@pytest.mark.parametrize(
    "update", [{}, {"update_id": 1, "message": None}, {"update_id": "x"}, raw(date=10**30), raw(date=10**15)]
)
def test_what_the_bot_api_does_not_describe_is_a_value_error(update):
    with pytest.raises(ValueError):
        parse_update(update, BOT)


names = st.sampled_from(["ParleyBot", "parleybot", "Other_Bot"])
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)


@given(texts, names, texts)
def test_wherever_a_mention_stands_it_is_found_by_utf_16_offsets(before: str, name: str, after: str):
    offset = len(before.encode("utf-16-le")) // 2
    text = f"{before}@{name}{after}"
    parsed = message(raw(text, GROUP, entities=[entity("mention", offset, len(name) + 1)]))
    assert parsed.mentions_bot == (name.casefold() == "parleybot")
    assert parsed.text in text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(
    [
        "from",
        "chat",
        "date",
        "text",
        "caption",
        "entities",
        "photo",
        "document",
        "reply_to_message",
        "sender_chat",
    ]
)


@given(fields, json_values)
def test_any_damage_to_a_message_is_parsed_or_is_a_value_error(name: str, value: Any):
    update = raw()
    update["message"][name] = value
    try:
        parse_update(update, BOT)
    except ValueError:
        return
