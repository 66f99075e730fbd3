"""Conversations of before: listed with their titles, and gone back to by number or button."""

import pytest

from agent.errors import ProviderRefused
from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.scripted import says
from tests.flow.test_grants import choose

pytestmark = pytest.mark.req("SES-3")


async def talk(person: Person, *texts: str) -> None:
    for text in texts:
        person.says(text, mentions=True)
        await person.gets(f"You said: {text}" if person.source.kind == "dm" else text)


async def start_anew(house: House, person: Person) -> None:
    await house.quiet()
    person.says("/new")
    await person.gets("A new conversation begins")
    await house.quiet()
    house.clock.pass_by(hours=2)


@pytest.fixture
async def three(house: House) -> tuple[House, Person]:
    """Two conversations of before, and one that goes on."""
    ann = house.person()
    await talk(ann, "my word is plum")
    await start_anew(house, ann)
    await talk(ann, "my word is pear", "and another line")
    await start_anew(house, ann)
    await talk(ann, "good day")
    await house.quiet()
    return house, ann


async def test_the_list_has_titles_last_activity_and_a_button_for_each_other_one(
    three: tuple[House, Person],
) -> None:
    house, ann = three
    ann.says("/sessions")
    card = await ann.gets("NUMBER goes back")
    assert card.text.splitlines()[:4] == [
        "1. good day (just now, this one)",
        "2. my word is pear (2 h ago)",
        "3. my word is plum (4 h ago)",
        "/sessions NUMBER goes back to one.",
    ]
    assert list(card.tokens) == ["2. my word is pear", "3. my word is plum"]
    await house.quiet()
    await house.restart()

    told = await ann.presses("3. my word is plum", card)
    assert told.text == "We are back in: my word is plum"
    await talk(ann, "what is it")
    await house.quiet()
    said = [text for who, text in house.model.asked[-1].lines if who == "user"]
    assert said == ["my word is plum", "what is it"]
    assert await house.values("SELECT end_reason FROM sessions ORDER BY id") == [None, "reset", "left"]
    assert (await ann.presses("2. my word is pear", card)).alert


async def test_one_goes_back_by_number_and_the_one_left_stays_in_the_list(
    three: tuple[House, Person],
) -> None:
    house, ann = three
    ann.says("/sessions 2")
    await ann.gets("We are back in: my word is pear")
    ann.says("/sessions 1")
    await ann.gets("You are in that conversation already.")
    ann.says("/sessions nine")
    await ann.gets("Write /sessions, or /sessions NUMBER")
    await house.quiet()
    ann.says("/sessions")
    card = await ann.gets("NUMBER goes back")
    assert [line.split(" (")[0] for line in card.text.splitlines()[:3]] == [
        "1. my word is pear",
        "2. good day",
        "3. my word is plum",
    ]


async def test_one_does_not_leave_while_something_is_answered(three: tuple[House, Person]) -> None:
    house, ann = three
    slow = house.model.hold("slow")
    ann.says("slow")
    await slow.reached()
    ann.says("/sessions 2")
    await ann.gets("Something is being answered here")
    slow.open()
    await ann.gets("You said: slow")


@pytest.mark.req("ACC-5")
async def test_a_list_has_only_the_chats_own_conversations_and_its_buttons_are_its_askers(
    house_of: Open,
) -> None:
    house = await house_of(sessions={"group": "shared"})
    ann, bob, alone = house.member("1", "Ann"), house.member("2", "Bob"), house.person("2", "Bob")
    await talk(ann, "for all of us")
    await start_anew(house, ann)
    await talk(ann, "again for all")
    alone.says("/sessions")
    await alone.gets("There is no other conversation here yet.")
    await talk(alone, "only mine")
    await house.quiet()
    ann.says("/sessions")
    card = await ann.gets("NUMBER goes back")
    assert "only mine" not in card.text
    refused = await bob.presses("2. for all of us", card)
    assert refused.text == "Only the person concerned or an admin may answer this. Nothing was done."

    bob.says("/sessions 2")  # the conversation is everybody's
    await bob.gets("We are back in: for all of us")


@pytest.mark.req("APR-3")
async def test_what_was_allowed_for_a_session_does_not_come_back_with_it(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    await choose(ann, "This session")
    await ann.gets("returned: run 1")
    await start_anew(house, ann)
    await talk(ann, "good day")
    await house.quiet()
    ann.says("/sessions 2")
    await ann.gets("We are back in: use count {}")
    ann.says("use count {}")
    await ann.gets_card()

    assert len(house.lab.runs) == 1


@pytest.mark.req("EVT-5")
async def test_a_failure_of_a_conversation_gone_back_to_is_tried_again(house: House) -> None:
    ann = house.person()
    house.model.then(ProviderRefused("down"), says("hi"), says("at last"))
    ann.says("first words")
    card = await ann.gets("reference")
    await start_anew(house, ann)
    ann.says("second words")
    await ann.gets("hi")
    await house.quiet()
    ann.says("/sessions 2")
    await ann.gets("We are back in: first words")
    await ann.presses("Retry", card)
    await ann.gets("at last")


@pytest.mark.req("SES-2")
async def test_each_kind_of_chat_ends_its_conversations_by_its_own_rule(house_of: Open) -> None:
    house = await house_of(
        sessions={
            "reset": "none",
            "kinds": {"group": {"reset": "idle", "idle_s": 60}},
            "platforms": {"memory": {"kinds": {"thread": {"reset": "idle", "idle_s": 7_200}}}},
        }
    )
    places = [house.person(), house.member(), house.member(chat_id="-8", kind="thread", thread_id="5")]
    for person in places:
        await talk(person, "first words")
    await house.quiet()
    house.clock.pass_by(hours=1)
    for person in places:
        await talk(person, "second words")
    await house.quiet()

    ended = await house.rows(
        "SELECT l.chat_id, s.end_reason FROM sessions s JOIN lanes l ON l.id = s.lane_id ORDER BY s.id"
    )
    over = {chat for chat, reason in map(tuple, ended) if reason == "expired"}  # type: ignore[call-overload]
    assert over == {"-7"}
