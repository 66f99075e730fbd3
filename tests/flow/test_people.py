"""Who is let in, who shares a session, and where answers go."""

import pytest

from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import says


@pytest.mark.req("ACC-1")
async def test_a_stranger_is_told_once_that_the_bot_is_private_and_nothing_reaches_the_model(
    house_of: Open,
) -> None:
    house = await house_of(access={"allow": {"memory": ["1"]}, "pairing": False})
    eve = house.person("666", "Eve")
    for text in ("let me in", "hello?", "/status"):
        eve.says(text)
    await eve.gets("This bot is private. Its owner can let you in with your user id, 666.")
    await house.quiet()
    await house.restart()
    eve.says("and now?")
    await house.quiet()

    assert len(eve.sees()) == 1
    assert house.model.asked == []
    assert await house.rows("SELECT * FROM messages") == []
    assert await house.values("SELECT became FROM inbox") == ["refused"] * 4


@pytest.mark.req("ACC-1")
async def test_without_any_allow_list_everybody_is_a_stranger(house_of: Open) -> None:
    house = await house_of(access={})
    ann = house.person()
    ann.says("hello")
    await ann.gets("This bot is private.")

    assert house.model.asked == []


@pytest.mark.req("ACC-1")
async def test_a_listed_person_in_an_unlisted_group_is_ignored_in_silence(house_of: Open) -> None:
    house = await house_of(access={"allow": {"memory": ["1"]}})
    ann = house.member("1", chat_id="-99")
    ann.says("hello", mentions=True)
    ann.says("/status")
    await house.quiet()

    assert house.platform.shown == ()
    assert house.model.asked == []


@pytest.mark.req("ADP-6")
async def test_in_a_group_only_what_is_addressed_to_the_bot_is_answered(house: House) -> None:
    ann = house.member()
    ann.says("has anybody seen my hat")
    ann.says("bot, have you", mentions=True)
    await ann.gets("You said: bot, have you")
    await house.quiet()

    assert house.model.questions == ["bot, have you"]
    assert len(house.platform.shown) == 1


@pytest.mark.req("ADP-6")
async def test_a_chat_may_be_answered_always_or_never(house_of: Open) -> None:
    house = await house_of(chats={"memory:-1": {"groups": "always"}, "memory:-2": {"groups": "never"}})
    always, never = house.member(chat_id="-1"), house.member(chat_id="-2")
    never.says("hello bot", mentions=True)
    never.says("/status")
    always.says("anybody there")
    await always.gets("You said: anybody there")
    await house.quiet()

    assert never.sees() == []


@pytest.mark.req("SRC-3", "SES-1")
async def test_in_a_shared_group_what_one_says_is_known_to_all_with_the_speakers_named(
    house_of: Open,
) -> None:
    """C89a."""
    house = await house_of(sessions={"group": "shared"})
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    house.model.then(says("noted"), says("it is plum"))
    ann.says("the word is plum", mentions=True)
    await ann.gets("noted")
    bob.says("what is the word", mentions=True)
    await bob.gets("it is plum")

    assert house.model.asked[-1].lines == [
        ("user", "[Ann#1] the word is plum"),
        ("model", "noted"),
        ("user", "[Bob#2] what is the word"),
    ]


@pytest.mark.req("SRC-2", "SES-1")
async def test_in_a_group_each_person_has_a_session_by_default(house: House) -> None:
    """C89b."""
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    house.model.then(says("noted"), says("what word?"))
    ann.says("the word is plum", mentions=True)
    await ann.gets("noted")
    bob.says("what is the word", mentions=True)
    await bob.gets("what word?")

    assert house.model.asked[-1].lines == [("user", "what is the word")]


@pytest.mark.req("SRC-2")
async def test_topics_are_kept_apart_and_a_reset_in_one_leaves_the_other(house: House) -> None:
    """C87a."""
    one = house.member("1", kind="thread", thread_id="1")
    two = house.member("1", kind="thread", thread_id="2")
    two.says("the word is pear", mentions=True)
    await two.gets("the word is pear")
    one.says("the word is plum", mentions=True)
    await one.gets("the word is plum")
    one.says("/new")
    await one.gets("A new conversation begins")
    two.says("what is the word", mentions=True)
    await two.gets("what is the word")

    users = [text for who, text in house.model.asked[-1].lines if who == "user"]
    assert users == ["[Ann#1] the word is pear", "[Ann#1] what is the word"]


@pytest.mark.req("SRC-2", "DLV-6")
@pytest.mark.parametrize(
    "place", [{"kind": "group"}, {"kind": "channel"}, {"kind": "thread", "thread_id": "5"}]
)
async def test_an_answer_goes_to_the_chat_and_thread_that_asked_and_to_the_message(
    house: House, place: dict[str, str]
) -> None:
    """C95a."""
    ann = house.member("1", chat_id="-7", **place)
    said = ann.says("plum", mentions=True)
    shown = await ann.gets("plum")

    assert (shown.message.target.chat_id, shown.message.target.thread_id) == ("-7", place.get("thread_id"))
    assert shown.message.reply_to == said.message_id


@pytest.mark.req("QUE-7")
async def test_each_member_of_a_full_shared_lane_is_told_once(house_of: Open) -> None:
    house = await house_of(
        sessions={"group": "shared"}, queue={"lane_size": 1}, access={"allow": {"memory": ["chat:-7"]}}
    )
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    slow = house.model.hold("[Ann#1] slow")
    ann.says("slow", mentions=True)
    await slow.reached()
    theirs = [person.says("more", mentions=True) for person in (ann, bob, ann, bob)]
    await house.platform.wait_received()
    slow.open()
    await ann.gets("slow")
    await house.quiet()

    told = [each.message.reply_to for each in house.platform.shown if "wait here already" in each.text]
    assert told == [theirs[0].message_id, theirs[1].message_id]


@pytest.mark.req("AGT-11")
async def test_the_model_is_told_where_when_and_by_whom(house: House) -> None:
    ann = house.person("1", "Ann")
    said = ann.says("plum")
    await ann.gets("You said: plum")

    when = said.sent_at.strftime("%A, %Y-%m-%d %H:%M UTC")
    assert f"You are in a chat with Ann on memory. It is {when}." in house.model.asked[0].system
