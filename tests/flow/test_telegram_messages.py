"""Long texts, albums and edits as Telegram really delivers them: the simulator, through the real client library."""

from collections.abc import AsyncIterator

import pytest

from adapters.telegram.adapter import TelegramAdapter
from adapters.telegram.settings import TelegramSettings
from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import Gate, says
from tests.simulators.faults import Drop, Hold, Refuse
from tests.simulators.telegram import TelegramSimulator


@pytest.fixture
async def telegram() -> AsyncIterator[TelegramSimulator]:
    async with TelegramSimulator() as sim:
        yield sim
    assert not sim.violations
    assert not sim.refusals


async def house_on(telegram: TelegramSimulator, house_of: Open, **settings: object) -> House:
    adapter = TelegramAdapter(TelegramSettings(token=telegram.token, api_base=telegram.url, poll_timeout_s=5))
    values: dict[str, object] = {"access": {"allow": {"telegram": ["*"]}}, **settings}
    return await house_of(others=[adapter], **values)


@pytest.mark.req("QUE-8", "ADP-2")
async def test_a_pasted_text_of_nine_thousand_characters_is_one_turn(
    telegram: TelegramSimulator, house_of: Open
) -> None:
    house = await house_on(telegram, house_of, queue={"gather_s": 30})
    ada = telegram.add_user(name="Ada")
    house.model.then(says("read it all"))
    whole = "ü" * 9_000
    for at in range(0, len(whole), 4_096):
        telegram.say(ada, whole[at : at + 4_096])
    await telegram.wait_for_replies(ada, 1)
    telegram.say(ada, "short")
    await telegram.wait_for_replies(ada, 2)

    assert house.model.questions == [whole, "short"]


@pytest.mark.req("QUE-8", "ADP-2")
async def test_an_album_is_one_turn(telegram: TelegramSimulator, house_of: Open) -> None:
    house = await house_on(telegram, house_of)
    ada = telegram.add_user(name="Ada")
    house.model.then(says("three pictures"))
    for number, caption in enumerate(("what are these", "", "")):
        telegram.say(ada, caption, file=("photo", f"{number}.jpg", b"\xff\xd8"), album="77")
    await telegram.wait_for_replies(ada, 1)
    await house.quiet()

    assert [question.split("\n")[0] for question in house.model.questions] == ["what are these"]
    assert house.model.questions[0].count("(attached, not readable here: image)") == 3
    assert await house.values("SELECT COUNT(*) FROM turns") == [1]


@pytest.mark.req("ADP-7", "ADP-2")
async def test_an_edit_replaces_a_waiting_message_and_leaves_an_answered_one(
    telegram: TelegramSimulator, house_of: Open
) -> None:
    """C86a, C86c."""
    house = await house_on(telegram, house_of)
    ada = telegram.add_user(name="Ada")
    gate = Gate()
    house.model.then(gate)
    first = telegram.say(ada, "slow")
    await gate.reached()
    waiting = telegram.say(ada, "plim")
    telegram.edit(waiting, "plum")
    telegram.say(ada, "pear")
    while await house.values("SELECT COUNT(*) FROM inbox") != [4]:
        await house.database.write(lambda tx: None)
    gate.open()
    await telegram.wait_for_replies(ada, 3)
    telegram.edit(first, "/new")
    telegram.say(ada, "fig")
    await telegram.wait_for_replies(ada, 4)

    assert house.model.questions == ["slow", "plum", "pear", "fig"]
    assert await house.values("SELECT COUNT(*) FROM sessions") == [1]


@pytest.mark.req("QUE-2", "ADP-2")
async def test_two_messages_during_a_turn_are_answered_or_merged_with_a_note(
    telegram: TelegramSimulator, house_of: Open
) -> None:
    """C46a."""
    house = await house_on(telegram, house_of, queue={"mode": "collect"})
    ada = telegram.add_user(name="Ada")
    gate = Gate()
    house.model.then(gate)
    telegram.say(ada, "slow")
    await gate.reached()
    telegram.say(ada, "one")
    telegram.say(ada, "two")
    await telegram.wait_for_replies(ada, 1)
    gate.open()
    replies = await telegram.wait_for_replies(ada, 3)

    assert [reply.text.split("\n")[0] for reply in replies] == [
        "I answer this together with your message before; what else you write until I get to them joins them.",
        "You said: slow",
        "You said: one",
    ]
    assert house.model.questions == ["slow", "one\n\ntwo"]


@pytest.mark.req("ADP-2", "OPS-5")
async def test_after_a_409_and_a_broken_connection_what_was_said_meanwhile_is_answered(
    telegram: TelegramSimulator, house_of: Open
) -> None:
    """C116a."""
    telegram.fail(Refuse(status=409, text="Conflict: terminated by other getUpdates request"), "getUpdates")
    house = await house_on(telegram, house_of)
    health = house.daemon._supervisor.health
    ada = telegram.add_user(name="Ada")
    await telegram.wait_for(lambda: len(telegram.calls("getMe")) == 1)
    telegram.fail(Drop(), "getMe")
    telegram.fail(Hold(), "getMe")
    await telegram.wait_for(lambda: len(telegram.calls("getMe")) == 3)
    telegram.say(ada, "anybody there?")
    state = health["telegram[1]"]
    assert (state.online, "the connection to Telegram broke" in state.trouble) == (False, True)
    telegram.faults.release()
    (reply,) = await telegram.wait_for_replies(ada, 1)

    assert reply.text.startswith("You said: anybody there?")
    assert (state.online, state.trouble) == (True, "")


@pytest.mark.req("ADP-2", "DLV-6")
async def test_an_answer_to_a_message_that_was_deleted_meanwhile_comes_without_the_link(
    telegram: TelegramSimulator, house_of: Open
) -> None:
    """C119a."""
    house = await house_on(telegram, house_of, queue={"gather_s": 0})
    group = telegram.add_supergroup("Friends", [telegram.add_user(name="Ada")])
    gate, lines = Gate(), [f"line {number} of a long answer" for number in range(400)]
    house.model.then(("", gate, "\n\n".join(lines)))
    said = telegram.say(group, f"@{telegram.account.user.username} tell me")
    await gate.reached()
    telegram.people.delete(said)
    gate.open()
    await house.quiet()

    replies = telegram.replies(group)
    assert "\n\n".join(reply.text for reply in replies).split("\n\n") == lines
    assert len(replies) >= 3
    assert [reply.reply_to for reply in replies] == [None] * len(replies)
    asked = telegram.calls("sendMessage")[0].params["reply_parameters"]
    assert asked["message_id"] == said.id  # it was tried
