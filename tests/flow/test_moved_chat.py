"""A group that becomes a supergroup has a new id: its conversations and what is to be sent go with it."""

from typing import Any

import pytest

from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.settings import TelegramSettings
from gateway.errors import TargetGone
from gateway.messages import ChatMoved, OutboundMessage
from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.scripted import Gate, calls, says
from tests.simulators.telegram import TelegramSimulator

pytestmark = pytest.mark.req("ADP-2", "DLV-6")

OPEN = {"allow": {"memory": ["*"]}, "groups": "always"}
OLD, NEW = "-7", "-1007"


def move(house: House) -> None:
    """From now on the platform takes nothing for the old id."""

    def refuse(message: OutboundMessage) -> None:
        if message.target.chat_id == OLD:
            raise TargetGone("the group was upgraded", moved_to=NEW)

    house.platform.refuse = refuse


async def tell(house: House, person: Person) -> None:
    """The platform says by itself that the chat has moved."""
    move(house)
    await house.platform.deliver(ChatMoved(id="moved", source=person.source, moved_to=NEW))


async def test_a_reply_to_the_old_id_goes_to_the_new_one_and_the_session_goes_on_there(
    house_of: Open,
) -> None:
    house = await house_of(access=OPEN)
    ann, there = house.member(), house.member(chat_id=NEW)
    gate = Gate()
    house.model.then(gate)
    ann.says("the word is plum")
    await gate.reached()
    move(house)
    gate.open()
    await there.gets("the word is plum")
    there.says("what is the word")
    await there.gets("what is the word")
    await house.quiet()

    assert [text for who, text in house.model.asked[-1].lines if who == "user"] == [
        "the word is plum",
        "what is the word",
    ]
    assert ann.sees() == []
    assert await house.values("SELECT COUNT(*) FROM lanes") == [1]


async def test_told_of_the_move_the_session_goes_on_and_each_member_keeps_their_own(house_of: Open) -> None:
    house = await house_of(access=OPEN)
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    for person, word in ((ann, "plum"), (bob, "pear")):
        person.says(f"the word is {word}")
        await person.gets(word)
    await tell(house, ann)
    await tell(house, ann)  # a repeat
    there = house.member("2", "Bob", chat_id=NEW)
    there.says("what is the word")
    await there.gets("what is the word")
    await house.quiet()

    assert [text for who, text in house.model.asked[-1].lines if who == "user"] == [
        "the word is pear",
        "what is the word",
    ]


async def test_what_waits_runs_and_what_runs_answers_under_the_new_id_also_after_a_crash(
    house_of: Open,
) -> None:
    house = await house_of(access=OPEN)
    ann, there = house.member(), house.member(chat_id=NEW)
    slow = house.model.hold("slow")
    ann.says("slow")
    await slow.reached()
    ann.says("next")
    await house.platform.wait_received()
    await tell(house, ann)
    await house.crash()
    slow.open()
    await house.start()
    await there.gets("You said: slow")
    await there.gets("You said: next")
    await house.quiet()

    assert ann.sees() == []


async def test_an_open_card_is_shown_anew_where_the_chat_goes_on(house_of: Open) -> None:
    house = await house_of(access=OPEN)
    ann, there = house.member(), house.member(chat_id=NEW)
    house.model.then(calls(("lab__count", {"n": 1}), ("lab__count", {"n": 2})), says("counted"))
    ann.says("count please")
    card = await ann.gets_card()
    await tell(house, ann)
    await ann.presses("Once", card)  # still on the screens of some
    await there.presses("Once", await there.gets_card())
    await there.gets("counted")
    await house.quiet()

    assert len(house.lab.runs) == 2


@pytest.mark.req("ACC-1", "ADP-6")
async def test_a_chat_that_moved_keeps_its_leave_and_its_settings_also_after_a_restart(
    house_of: Open,
) -> None:
    house = await house_of(
        access={"allow": {"memory": [f"chat:{OLD}"]}}, chats={f"memory:{OLD}": {"groups": "always"}}
    )
    ann, there = house.member(), house.member(chat_id=NEW)
    there.says("before the move")
    ann.says("plum")
    await ann.gets("You said: plum")
    await tell(house, ann)
    there.says("pear")
    await there.gets("You said: pear")
    await house.restart()
    there.says("fig")
    await there.gets("You said: fig")
    house.member(chat_id="-1008").says("from a third place")
    await house.quiet()

    assert house.model.questions == ["plum", "pear", "fig"]


@pytest.fixture
async def telegram() -> Any:
    async with TelegramSimulator() as sim:
        yield sim


@pytest.mark.parametrize("when", ["between two messages", "while a turn runs"])
async def test_a_telegram_group_is_upgraded(house_of: Open, telegram: TelegramSimulator, when: str) -> None:
    ada = telegram.add_user(name="Ada")
    group = telegram.add_group("Friends", [ada])
    settings = TelegramSettings(token=telegram.token, api_base=telegram.url, poll_timeout_s=5)
    house = await house_of(
        others=[TelegramAdapter(settings)], access={"allow": {"telegram": ["*"]}, "groups": "always"}
    )
    gate = Gate()
    house.model.then(gate)
    telegram.say(group, "the word is plum", user=ada)
    await gate.reached()
    if when == "while a turn runs":
        moved = telegram.people.migrate(group)
        gate.open()
        await telegram.wait_for_replies(moved, 1)
    else:
        gate.open()
        await telegram.wait_for_replies(group, 1)
        moved = telegram.people.migrate(group)
    telegram.say(moved, "what is the word", user=ada)
    await telegram.wait_for(
        lambda: any("what is the word" in reply.text for reply in telegram.replies(moved))
    )
    await house.quiet()

    assert [text for who, text in house.model.asked[-1].lines if who == "user"] == [
        "the word is plum",
        "what is the word",
    ]
    assert not telegram.violations
