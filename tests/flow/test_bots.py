"""Other bots, and the bot's own echo, do not keep it talking (ADP-6)."""

import pytest

from gateway.messages import OutboundMessage
from tests.flow.conftest import Open
from tests.flow.house import House, Person

pytestmark = pytest.mark.req("ADP-6")

OPEN = {"allow": {"memory": ["*"]}, "groups": "always", "bots": True}


def answers_everything(house: House, bot: Person) -> None:
    """Another bot that answers each of our messages, at once."""

    async def answer(message: OutboundMessage) -> None:
        bot.says("indeed", from_bot=True)

    house.platform.linger = answer


async def test_two_bots_that_answer_everything_come_to_an_end(house_of: Open) -> None:
    """C102a."""
    house = await house_of(access=OPEN)
    ann, bot = house.member("1", "Ann"), house.member("99", "OtherBot")
    answers_everything(house, bot)
    ann.says("plum")
    await house.platform.wait_until(lambda: len(house.platform.shown) == 21)
    await house.quiet()

    assert len(house.platform.shown) == 21
    became = await house.values("SELECT became FROM inbox ORDER BY rowid")
    assert became == ["turn"] * 21 + ["refused"]


async def test_a_person_is_heard_while_bots_are_not_and_wakes_the_exchange(house_of: Open) -> None:
    house = await house_of(access={**OPEN, "bot_limit": 2})
    ann, bot = house.member("1", "Ann"), house.member("99", "OtherBot")
    for text in ("one", "two", "three"):
        bot.says(text, from_bot=True)
    ann.says("plum")
    await ann.gets("You said: plum")
    bot.says("four", from_bot=True)
    await house.quiet()
    assert sorted(house.model.questions) == ["one", "plum", "two"]

    house.clock.pass_by(seconds=61)
    bot.says("five", from_bot=True)
    await bot.gets("You said: five")


async def test_bots_are_not_heard_unless_they_are_allowed(house_of: Open) -> None:
    house = await house_of(access={**OPEN, "bots": False})
    house.member("99", "OtherBot").says("plum", mentions=True, from_bot=True)
    ann = house.member("1", "Ann")
    ann.says("pear")
    await ann.gets("You said: pear")
    await house.quiet()

    assert house.model.questions == ["pear"]


async def test_the_bots_own_messages_are_never_answered(house_of: Open) -> None:
    """C102b."""
    house = await house_of(access=OPEN)
    me = house.member(house.platform.account, "Parley")
    me.says("You said: plum", mentions=True, from_bot=True)
    me.says("/status", from_bot=True)
    ann = house.member("1", "Ann")
    ann.says("pear")
    await ann.gets("You said: pear")
    await house.quiet()

    assert house.model.questions == ["pear"]
    assert len(house.platform.shown) == 1
