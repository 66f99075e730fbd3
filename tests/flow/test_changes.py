"""Edited and deleted messages (ADP-7)."""

import pytest

from gateway.messages import MessageDeleted
from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.scripted import Gate, calls, says

pytestmark = pytest.mark.req("ADP-7")


async def busy(house: House, person: Person, text: str = "slow") -> Gate:
    gate = Gate()
    house.model.then(gate)
    person.says(text)
    await gate.reached()
    return gate


async def test_a_waiting_message_is_replaced_in_its_place(house: House) -> None:
    """C86a."""
    ann = house.person()
    gate = await busy(house, ann)
    waiting = ann.says("plim")
    ann.says("pear")
    await house.platform.wait_received()
    await ann.edits(waiting, "plum")
    gate.open()
    await ann.gets("You said: pear")
    await house.quiet()

    assert house.model.questions == ["slow", "plum", "pear"]
    questions = await house.values("SELECT body FROM messages WHERE role = 'question' ORDER BY id")
    assert questions == ["slow", "plum", "pear"]


async def test_an_edit_that_comes_twice_or_after_a_crash_counts_once(house: House) -> None:
    ann = house.person()
    gate = await busy(house, ann)
    waiting = ann.says("plim")
    await house.platform.wait_received()
    await ann.edits(waiting, "plum")
    await house.crash()
    gate.open()
    await house.start()
    await ann.edits(waiting, "plum")
    await ann.gets("You said: plum")
    await house.quiet()

    assert [question for question in house.model.questions if question != "slow"] == ["plum"]


async def test_one_part_of_several_is_replaced_alone(house_of: Open) -> None:
    house = await house_of(queue={"mode": "collect"})
    ann = house.person()
    gate = await busy(house, ann)
    ann.says("one")
    second = ann.says("tow")
    ann.says("three")
    await house.platform.wait_received()
    await ann.edits(second, "two")
    gate.open()
    await ann.gets("You said: one\n\ntwo\n\nthree")


async def test_a_running_turn_is_given_the_newer_text_before_its_next_request(house_of: Open) -> None:
    """C86b."""
    house = await house_of(approvals={"allow": ["lab/*"]})
    ann = house.person()
    slow = house.lab.hold("count")
    house.model.then(calls(("lab__count", {})), says("plums it is"))
    said = ann.says("count plims")
    await slow.reached()
    await ann.edits(said, "count plams", update="1")
    await ann.edits(said, "count plums", update="2")
    slow.open()
    await ann.gets("plums it is")
    await house.quiet()

    assert house.model.asked[-1].lines[-1] == (
        "user",
        "(I have changed my message. It now reads:)\ncount plums",
    )
    assert len(house.model.asked) == 2
    assert ann.sees() == ["plums it is"]


async def test_a_turn_that_asks_no_more_says_that_it_did_not_read_the_change(house: House) -> None:
    """C86b."""
    ann = house.person()
    gate = Gate()
    house.model.then(gate)
    said = ann.says("slow")
    await gate.reached()
    await ann.edits(said, "slower")
    gate.open()
    await ann.gets("You changed your message while I worked on it; I went by how it read before.")
    await house.quiet()

    assert house.model.questions == ["slow"]
    assert ann.sees()[0].startswith("You said: slow")


async def test_a_turn_that_waits_for_a_person_hears_the_change_when_it_goes_on(house: House) -> None:
    ann = house.person()
    house.model.then(calls(("lab__count", {})), says("plums it is"))
    said = ann.says("count plims")
    card = await ann.gets_card()
    await ann.edits(said, "count plums")
    await ann.presses("Once", card)
    await ann.gets("plums it is")

    assert house.model.asked[-1].lines[-1][1].endswith("count plums")


@pytest.mark.parametrize("text", ["plums again", "/stop", "/new"])
async def test_an_answered_message_is_left_alone_whatever_it_becomes(house: House, text: str) -> None:
    """C86c."""
    ann = house.person()
    said = ann.says("plum")
    await ann.gets("You said: plum")
    await house.quiet()
    await ann.edits(said, text)
    await house.quiet()

    assert house.model.questions == ["plum"]
    assert len(ann.sees()) == 1
    assert await house.values("SELECT became FROM inbox ORDER BY rowid") == ["turn", "ignored"]
    assert await house.values("SELECT COUNT(*) FROM sessions") == [1]


async def test_a_command_in_an_edit_of_a_waiting_message_is_no_command_and_no_message(house: House) -> None:
    ann = house.person()
    gate = await busy(house, ann)
    waiting = ann.says("plum")
    await house.platform.wait_received()
    await ann.edits(waiting, "/stop all")
    gate.open()
    await ann.gets("You said: plum")
    await house.quiet()

    assert house.model.questions == ["slow", "plum"]


async def test_an_edit_of_an_unknown_message_starts_nothing(house: House) -> None:
    """C86d."""
    ann = house.member()
    said = ann.says("not to the bot")
    await house.platform.wait_received()
    for number in range(40):
        await ann.edits(said, f"still writing {number}", update=str(number))
    await house.quiet()

    assert house.model.asked == []


async def test_another_bots_forty_edits_are_at_most_one_turn(house_of: Open) -> None:
    """C86d."""
    house = await house_of(access={"allow": {"memory": ["*"]}, "groups": "always", "bots": True})
    bot = house.member("99", "OtherBot")
    gate = Gate()
    house.model.then(gate)
    said = bot.says("w", from_bot=True)
    await gate.reached()
    for number in range(40):
        await bot.edits(said, "w" * (number + 2), update=str(number))
    gate.open()
    await bot.gets("You said: w")
    await house.quiet()

    assert house.model.questions == ["w"]
    assert await house.values("SELECT COUNT(*) FROM turns") == [1]


@pytest.mark.req("ACC-1")
async def test_nobody_changes_another_persons_message(house_of: Open) -> None:
    """C97a."""
    house = await house_of(
        sessions={"group": "shared"}, access={"allow": {"memory": ["chat:-7"]}, "groups": "always"}
    )
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    gate = await busy(house, ann)
    waiting = ann.says("plum")
    await house.platform.wait_received()
    await bob.edits(waiting, "pear")
    stranger = house.member("3", "Eve", chat_id="-8")
    await stranger.edits(waiting, "pear", update="eve")
    gate.open()
    await ann.gets("plum")
    await house.quiet()

    assert house.model.questions[-1] == "[Ann#1] plum"


async def test_a_waiting_message_that_is_deleted_is_dropped_and_the_lane_goes_on(house: House) -> None:
    ann = house.person()
    gate = await busy(house, ann)
    waiting = ann.says("plum")
    ann.says("pear")
    await house.platform.wait_received()
    await ann.deletes(waiting)
    gate.open()
    await ann.gets("You said: pear")
    await house.quiet()

    assert house.model.questions == ["slow", "pear"]
    assert await house.values("SELECT state FROM turns ORDER BY id") == ["done", "cancelled", "done"]
    assert await house.values("SELECT body FROM messages WHERE role = 'question'") == ["slow", "pear"]


async def test_of_a_joined_turn_only_the_deleted_message_is_dropped(house_of: Open) -> None:
    house = await house_of(queue={"mode": "collect"})
    ann = house.person()
    gate = await busy(house, ann)
    first = ann.says("one")
    ann.says("two")
    await house.platform.wait_received()
    await ann.deletes(first)
    gate.open()
    await ann.gets("You said: two")
    await house.quiet()

    assert house.model.questions == ["slow", "two"]


async def test_a_late_edit_does_not_bring_a_deleted_message_back(house_of: Open) -> None:
    house = await house_of(queue={"mode": "collect"})
    ann = house.person()
    gate = await busy(house, ann)
    ann.says("one")
    second = ann.says("two")
    await house.platform.wait_received()
    await ann.deletes(second)
    gate.open()
    await ann.gets("You said: one")
    await ann.edits(second, "too")
    await house.quiet()

    assert house.model.questions == ["slow", "one"]
    assert not any("You changed your message" in text for text in ann.sees())


async def test_a_deletion_need_not_say_who_deleted(house: House) -> None:
    """Discord tells the message's id alone."""
    ann = house.person()
    gate = await busy(house, ann)
    waiting = ann.says("plum")
    await house.platform.wait_received()
    nobody = house.platform.source(user_id="", chat_id="1")
    await house.platform.deliver(MessageDeleted(id="gone", message_id=waiting.message_id, source=nobody))
    gate.open()
    await ann.gets("You said: slow")
    await house.quiet()

    assert house.model.questions == ["slow"]


async def test_deleting_the_last_waiting_message_leaves_a_lane_that_takes_the_next(house_of: Open) -> None:
    house = await house_of(platform={"input_limit": 10}, queue={"gather_s": 30})
    ann = house.person()
    gathered = ann.says("0123456789")
    await house.platform.wait_received()
    await ann.deletes(gathered)
    ann.says("pear")
    await ann.gets("You said: pear")
    await house.quiet()

    assert house.model.questions == ["pear"]


async def test_what_runs_is_not_undone_by_a_deletion(house: House) -> None:
    ann = house.person()
    gate = Gate()
    house.model.then(gate)
    said = ann.says("slow")
    await gate.reached()
    await ann.deletes(said)
    gate.open()
    await ann.gets("You said: slow")


async def test_a_steered_message_can_be_changed_until_and_after_it_is_taken_over(house_of: Open) -> None:
    house = await house_of(queue={"mode": "steer"}, approvals={"allow": ["lab/*"]})
    ann = house.person()
    first, second = house.lab.hold("count"), house.lab.hold("look")
    house.model.then(calls(("lab__count", {})), calls(("lab__look", {})), says("done then"))
    ann.says("count please")
    await first.reached()
    steering = ann.says("plims")
    await house.platform.wait_received()
    await ann.edits(steering, "plums", update="1")
    first.open()
    await second.reached()
    await ann.edits(steering, "pears", update="2")
    second.open()
    await ann.gets("done then")
    await house.quiet()

    heard = [text for who, text in house.model.asked[-1].lines if who == "user"]
    assert heard == ["count please", "plums", "(I have changed my message. It now reads:)\npears"]
