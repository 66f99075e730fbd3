"""What a chat sees of a running turn beside its words: typing, and marks on the message that is answered."""

import asyncio

import pytest

from agent.errors import ProviderRefused
from gateway.errors import RateLimited
from gateway.messages import Target
from tests.flow.conftest import Open
from tests.flow.house import WAIT_S, House, Person
from tests.flow.scripted import Gate, says

pytestmark = pytest.mark.req("DLV-9")

GAP = 0.02


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gateway.delivery.presence.TYPING_AFTER_S", 0.01)
    monkeypatch.setattr("gateway.delivery.stream.FIRST_LOOK_S", 0.01)
    monkeypatch.setattr("gateway.delivery.stream.FIRST_CHARS", 1)


async def typed(person: Person, times: int) -> None:
    """Wait until typing was shown so often in this person's chat."""
    target = Target.of(person.source)
    async with asyncio.timeout(WAIT_S):
        await person.platform.wait_until(lambda: person.platform.typing.count(target) >= times)


async def rests(house: House) -> int:
    """How often typing was shown in all, after a while in which it would have been shown again."""
    bob = house.person("2", "Bob")
    before = len(house.platform.typing)
    slow = house.model.hold("a while")
    bob.says("a while")
    await slow.reached()
    await typed(bob, 3)
    slow.open()
    await bob.gets("You said: a while")
    return len(house.platform.typing) - before - house.platform.typing.count(Target.of(bob.source))


async def test_typing_is_shown_again_and_again_until_the_reply(house_of: Open) -> None:
    house = await house_of(platform={"typing_gap_s": GAP})
    ann = house.person()
    slow = house.model.hold("plum")
    ann.says("plum")
    await slow.reached()
    await typed(ann, 3)
    slow.open()
    await ann.gets("You said: plum")
    await house.quiet()

    assert await rests(house) == 0


@pytest.mark.req("AGT-5")
async def test_typing_rests_while_a_person_is_waited_for_and_goes_on_with_the_tool(house_of: Open) -> None:
    house = await house_of(platform={"typing_gap_s": GAP})
    ann = house.person()
    slow = house.lab.hold("count")
    ann.says("use count {}")
    card = await ann.gets_card()
    await house.until("SELECT 1 FROM turns WHERE state = 'waiting'")
    assert await rests(house) == 0
    before = house.platform.typing.count(Target.of(ann.source))
    await ann.presses("Once", card)
    await slow.reached()
    await typed(ann, before + 2)
    house.lab.release("count")
    await ann.gets("returned: run 1")


async def test_typing_that_fails_delays_and_breaks_nothing(
    house_of: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await house_of(platform={"typing_gap_s": GAP})
    ann = house.person()
    failed = asyncio.Event()

    async def fail(target: Target) -> None:
        failed.set()
        raise RuntimeError("a bug")

    monkeypatch.setattr(house.platform, "show_typing", fail)
    slow = house.model.hold("plum")
    ann.says("plum")
    await slow.reached()
    await asyncio.wait_for(failed.wait(), WAIT_S)
    slow.open()
    await ann.gets("You said: plum")


async def test_no_typing_goes_to_a_chat_that_has_to_wait(house_of: Open) -> None:
    house = await house_of(platform={"typing_gap_s": GAP})
    ann = house.person()
    house.platform.fail(RateLimited(3600))
    ann.says("plum")
    await house.until("SELECT 1 FROM destinations WHERE paused_until > 0")
    await house.until("SELECT 1 FROM turns WHERE state = 'done'")
    before = house.platform.typing.count(Target.of(ann.source))
    slow = house.model.hold("pear")
    ann.says("pear")
    await slow.reached()
    assert await rests(house) == 0
    slow.open()
    assert house.platform.typing.count(Target.of(ann.source)) == before


async def test_while_words_appear_nothing_says_typing(house_of: Open) -> None:
    house = await house_of(platform={"typing_gap_s": GAP, "streaming": True})
    ann = house.person()
    pause = Gate()
    house.model.then(("words", pause, " and more"))
    ann.says("go")
    await ann.gets("words")
    assert await rests(house) == 0
    pause.open()
    await ann.gets("words and more")


@pytest.mark.parametrize(("reply", "end"), [(says("done"), "done"), (ProviderRefused("no"), "failed")])
async def test_a_message_is_marked_as_seen_and_then_with_how_it_ended(
    house_of: Open, reply: object, end: str
) -> None:
    house = await house_of(delivery={"reactions": True})
    ann = house.person()
    house.model.then(reply)
    said = ann.says("go")
    async with asyncio.timeout(WAIT_S):
        await house.platform.wait_until(
            lambda: house.platform.reactions.get(said.message_id) == ["seen", end]
        )


async def test_without_being_asked_for_no_message_is_marked(house: House) -> None:
    ann = house.person()
    ann.says("go")
    await ann.gets("You said: go")
    await house.quiet()

    assert house.platform.reactions == {}
