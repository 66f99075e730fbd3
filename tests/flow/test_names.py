"""Who speaks, where several agents could: a name of its own where the platform shows one, else above the words."""

import pytest

from agent.errors import StreamCut
from gateway.messages import Author
from tests.flow.conftest import Open
from tests.flow.scripted import Gate, says

pytestmark = pytest.mark.req("AGT-3")

TWO = {
    "agents": {
        "default": {"model": "scripted"},
        "owl": {"model": "scripted", "name": "The *Owl*", "avatar": ":owl:"},
    },
    "chats": {"memory:2": {"agent": "owl"}},
}


async def test_the_only_agent_needs_no_name(house_of: Open) -> None:
    house = await house_of(platform={"shows_authors": True})
    ann = house.person()
    house.model.then(says("hello"))
    ann.says("go")
    shown = await ann.gets("hello")
    assert (shown.text, shown.message.author) == ("hello", None)


async def test_where_the_platform_shows_authors_the_words_stand_alone(house_of: Open) -> None:
    house = await house_of(platform={"shows_authors": True}, **TWO)
    ann, bob = house.person("1"), house.person("2", "Bob")
    for person, author in (
        (ann, Author(name="default")),
        (bob, Author(name="The *Owl*", avatar=":owl:")),
    ):
        house.model.then(says("hello"))
        person.says("go")
        shown = await person.gets("hello")
        assert (shown.text, shown.message.author) == ("hello", author)


async def test_elsewhere_the_name_stands_above_the_words_of_every_form(house_of: Open) -> None:
    house = await house_of(**TWO)
    bob = house.person("2", "Bob")
    house.model.then(says("```\ncode\n```"))
    bob.says("go")
    shown = await bob.gets("code")
    assert (shown.text, shown.message.author) == ("The *Owl*\n\ncode", None)
    assert await house.values("SELECT body FROM messages WHERE role = 'answer'") == ["```\ncode\n```"]


@pytest.mark.req("DLV-5", "EVT-1")
async def test_a_growing_reply_bears_the_name_from_its_first_word_to_its_last(
    house_of: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.delivery.stream.FIRST_LOOK_S", 0.01)
    monkeypatch.setattr("gateway.delivery.stream.FIRST_CHARS", 1)
    house = await house_of(platform={"streaming": True}, **TWO)
    bob = house.person("2", "Bob")
    cut, end = Gate(), Gate()
    house.model.then(("hoo", cut, StreamCut("cut")), ("hello", end, " you"))
    bob.says("go")
    await bob.gets("The *Owl*\n\nhoo")
    cut.open()
    await bob.gets("The *Owl*\n\nhello")
    end.open()
    await bob.gets("The *Owl*\n\nhello you")
    await house.quiet()
    assert bob.sees() == ["The *Owl*\n\nhello you"]
