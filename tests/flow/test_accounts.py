"""Several bots of one platform in one daemon (ADP-5)."""

from datetime import UTC, datetime

import pytest

from adapters.memory.settings import MemorySettings
from tests.flow.conftest import Open
from tests.flow.house import House, Person, Platform
from tests.flow.scripted import calls, says

pytestmark = pytest.mark.req("ADP-5")


async def two_bots(house_of: Open, **settings: object) -> tuple[House, Person, Person]:
    """Ann's direct chats with two bots; her id and the chats' are the same for both, as on Telegram."""
    other = Platform(MemorySettings(account="other"), lambda: datetime.now(UTC))
    house = await house_of(others=[other], **settings)  # type: ignore[arg-type]
    return house, house.person(), Person(platform=other, source=other.source(user_name="Ann"))


async def test_each_bot_answers_its_own_chat_with_a_session_of_its_own(house_of: Open) -> None:
    house, first, second = await two_bots(house_of)
    first.says("the word is plum")
    await first.gets("the word is plum")
    second.says("what is the word")
    await second.gets("what is the word")
    await house.quiet()

    assert house.model.asked[-1].lines == [("user", "what is the word")]
    assert len(first.sees()) == len(second.sees()) == 1


async def test_the_same_update_and_message_ids_of_two_bots_are_two_messages(house_of: Open) -> None:
    house, first, second = await two_bots(house_of)
    said, other = first.says("to the first"), second.says("to the second")
    assert (said.id, said.message_id) == (other.id, other.message_id)
    await first.gets("to the first")
    await second.gets("to the second")
    await house.quiet()

    assert sorted(house.model.questions) == ["to the first", "to the second"]


async def test_a_card_of_one_bot_is_pressed_there_and_its_answer_comes_from_it(house_of: Open) -> None:
    house, first, second = await two_bots(house_of)
    house.model.then(calls(("lab__count", {})), says("counted"))
    second.says("count please")
    card = await second.gets_card()
    await second.presses("Once", card)
    await second.gets("counted")
    await house.quiet()

    assert first.sees() == []


async def test_one_bot_that_loses_its_connection_leaves_the_other_at_work(house_of: Open) -> None:
    house, first, second = await two_bots(house_of)
    second.platform.refuse_account()
    first.says("plum")
    await first.gets("You said: plum")
    assert house.platform.connections == 1


async def test_after_a_crash_each_bot_goes_on_where_it_was(house_of: Open) -> None:
    house, first, second = await two_bots(house_of)
    gates = [house.model.hold("plum"), house.model.hold("pear")]
    first.says("plum")
    second.says("pear")
    for gate in gates:
        await gate.reached()
    await house.crash()
    for gate in gates:
        gate.open()
    await house.start()
    await first.gets("You said: plum")
    await second.gets("You said: pear")
    await house.quiet()

    assert len(first.sees()) == len(second.sees()) == 1
