"""What becomes of a message that comes while a turn is open, in each of the five queue modes."""

import pytest

from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.scripted import Gate, calls, says

pytestmark = pytest.mark.req("QUE-2")

EVERYBODY = {"allow": {"memory": ["*"]}}


async def busy(house: House, person: Person, text: str = "slow", **details: bool) -> Gate:
    """The person's turn runs and waits in the returned gate; in a shared session the words carry the name."""
    gate = Gate()
    house.model.then(gate)
    person.says(text, **details)
    await gate.reached()
    return gate


def users(house: House, at: int = -1) -> list[str]:
    return [text for who, text in house.model.asked[at].lines if who == "user"]


async def settled(house: House) -> list[tuple[str, str]]:
    """What became of each update, and the state of its turn."""
    rows = await house.rows(
        "SELECT i.became, t.state FROM inbox i LEFT JOIN turns t ON t.id = i.turn_id ORDER BY i.rowid"
    )
    return [(row["became"], row["state"]) for row in rows]


# collect


async def test_what_waits_is_answered_as_one_with_a_note(house_of: Open) -> None:
    """C46a."""
    house = await house_of(queue={"mode": "collect"})
    ann = house.person()
    gate = await busy(house, ann)
    ann.says("one")
    second = ann.says("two")
    ann.says("three")
    note = await ann.gets("I answer this together with your message before")
    gate.open()
    await ann.gets("You said: one\n\ntwo\n\nthree")
    await house.quiet()

    assert users(house) == ["slow", "one\n\ntwo\n\nthree"]
    assert note.message.reply_to == second.message_id
    assert sum("I answer this together" in text for text in ann.sees()) == 1
    assert await settled(house) == [("turn", "done")] * 4
    assert await house.values("SELECT body FROM messages WHERE role = 'question' ORDER BY id") == [
        "slow",
        "one",
        "two",
        "three",
    ]


async def test_in_a_shared_session_only_the_messages_of_who_is_being_answered_are_joined(
    house_of: Open,
) -> None:
    house = await house_of(
        queue={"mode": "collect"}, sessions={"group": "shared"}, access={**EVERYBODY, "groups": "always"}
    )
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    gate = await busy(house, ann)
    for person, text in ((bob, "b1"), (bob, "b2"), (ann, "a1"), (ann, "a2"), (bob, "b3"), (ann, "a3")):
        person.says(text)
    await house.platform.wait_received()
    gate.open()
    await ann.gets("a3")
    await house.quiet()

    assert users(house)[1:] == [
        "[Bob#2] b1",
        "[Bob#2] b2",
        "[Ann#1] a1\n[Ann#1] \n[Ann#1] a2",
        "[Bob#2] b3",
        "[Ann#1] a3",
    ]


async def test_what_was_joined_survives_a_crash_and_a_repeat(house_of: Open) -> None:
    house = await house_of(queue={"mode": "collect"})
    ann = house.person()
    gate = await busy(house, ann)
    ann.says("one")
    second = ann.says("two")
    await house.platform.wait_received()
    await house.crash()
    gate.open()
    await house.start()
    house.platform.say("two", ann.source, repeat_of=second.id)
    await ann.gets("You said: one\n\ntwo")
    await house.quiet()

    assert users(house) == ["slow", "one\n\ntwo"]


async def test_a_joined_turn_takes_no_more_messages_than_a_lane(house_of: Open) -> None:
    house = await house_of(queue={"mode": "collect", "lane_size": 2})
    ann = house.person()
    gate = await busy(house, ann)
    for text in ("one", "two", "three"):
        ann.says(text)
    await ann.gets("messages wait here already")
    gate.open()
    await ann.gets("You said: one\n\ntwo")
    await house.quiet()

    assert [became for became, _ in await settled(house)] == ["turn", "turn", "turn", "lane_full"]


# steer


async def test_the_running_turn_hears_it_before_its_next_request(house_of: Open) -> None:
    house = await house_of(queue={"mode": "steer"}, approvals={"allow": ["lab/*"]})
    ann = house.person()
    slow = house.lab.hold("count")
    house.model.then(calls(("lab__count", {})), says("so be it"))
    ann.says("count please")
    await slow.reached()
    steering = ann.says("count plums")
    ann.says("and pears")
    await house.platform.wait_received()
    slow.open()
    await ann.gets("so be it")
    await house.quiet()

    assert house.model.asked[-1].lines == [
        ("user", "count please"),
        ("call", "lab__count"),
        ("success", "run 1"),
        ("user", "count plums"),
        ("user", "and pears"),
    ]
    assert await settled(house) == [("turn", "done"), ("turn", "merged"), ("turn", "merged")]
    noted = [shown for shown in house.platform.shown if shown.text.startswith("I take this into")]
    assert noted[0].message.reply_to == steering.message_id
    assert [kind for kind, _ in await house.events(1)].count("steered") == 2


async def test_what_the_turn_did_not_take_over_is_the_next_turn(house_of: Open) -> None:
    house = await house_of(queue={"mode": "steer"})
    ann = house.person()
    gate = await busy(house, ann)
    ann.says("more")
    await house.platform.wait_received()
    gate.open()
    await ann.gets("You said: more")
    await house.quiet()

    assert await settled(house) == [("turn", "done"), ("turn", "done")]


@pytest.mark.parametrize("when", ["before it is heard", "after it is heard"])
async def test_a_crash_neither_loses_nor_repeats_what_was_said_to_a_turn(house_of: Open, when: str) -> None:
    house = await house_of(
        queue={"mode": "steer"}, approvals={"allow": ["lab/*"]}, tools={"read_only": ["lab/look"]}
    )
    ann = house.person()
    slow, second = house.lab.hold("look"), Gate()
    house.model.then(calls(("lab__look", {})), second)
    ann.says("look around")
    await slow.reached()
    ann.says("over there")
    await house.platform.wait_received()
    if when == "before it is heard":
        await house.crash()
        house.lab.release("look")
    else:
        house.lab.release("look")
        await second.reached()
        await house.crash()
    second.open()
    await house.start()
    await ann.gets("lab__look returned: run")
    await house.quiet()

    assert users(house) == ["look around", "over there"]
    assert await settled(house) == [("turn", "done"), ("turn", "merged")]
    assert [kind for kind, _ in await house.events(1)].count("steered") == 1


async def test_others_of_a_shared_session_do_not_steer_somebodys_turn(house_of: Open) -> None:
    house = await house_of(
        queue={"mode": "steer"},
        sessions={"group": "shared"},
        approvals={"allow": ["lab/*"]},
        access={**EVERYBODY, "groups": "always"},
    )
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    slow = house.lab.hold("count")
    house.model.then(calls(("lab__count", {})), says("counted"))
    ann.says("count please")
    await slow.reached()
    bob.says("me too")
    ann.says("plums")
    await house.platform.wait_received()
    slow.open()
    await bob.gets("me too")
    await house.quiet()

    assert users(house, 1) == ["[Ann#1] count please", "[Ann#1] plums"]
    assert await settled(house) == [("turn", "done"), ("turn", "done"), ("turn", "merged")]


async def test_while_the_turn_waits_for_a_person_what_is_said_queues(house_of: Open) -> None:
    """C69a."""
    house = await house_of(queue={"mode": "steer"})
    ann = house.person()
    house.model.then(calls(("lab__count", {})), says("counted"))
    ann.says("count please")
    card = await ann.gets_card()
    ann.says("carry on then")
    await ann.gets("Your message is kept (1 waiting)")
    await ann.presses("Once", card)
    await ann.gets("You said: carry on then")
    await house.quiet()

    assert users(house, 1) == ["count please"]
    assert await house.values("SELECT state FROM turns ORDER BY id") == ["done", "done"]


# interrupt


async def test_a_new_message_stops_what_runs_and_is_answered_next(house_of: Open) -> None:
    house = await house_of(queue={"mode": "interrupt"})
    ann = house.person()
    await busy(house, ann)
    ann.says("forget that")
    await ann.gets("I stopped what I was doing; this comes next.")
    await ann.gets("You said: forget that")
    await house.quiet()

    assert await settled(house) == [("turn", "cancelled"), ("turn", "done")]
    assert users(house) == ["slow", "forget that"]


@pytest.mark.req("QUE-4", "APR-9")
async def test_a_new_message_closes_an_open_card_and_a_later_press_runs_nothing(house_of: Open) -> None:
    house = await house_of(queue={"mode": "interrupt"})
    ann = house.person()
    house.model.then(calls(("lab__count", {})))
    ann.says("count please")
    card = await ann.gets_card()
    ann.says("forget that")
    await ann.gets("You said: forget that")
    answer = await ann.presses("Once", card)
    await house.quiet()

    assert "closed" in answer.text
    assert house.lab.runs == []
    assert await house.values("SELECT state FROM turns ORDER BY id") == ["cancelled", "done"]
    assert not any("Answer the open request" in text for text in ann.sees())


async def test_an_interruption_survives_a_crash(house_of: Open) -> None:
    house = await house_of(queue={"mode": "interrupt"})
    ann = house.person()
    house.model.then(calls(("lab__count", {})))
    ann.says("count please")
    await ann.gets_card()
    ann.says("forget that")
    await house.platform.wait_received()
    await house.crash()
    await house.start()
    await ann.gets("You said: forget that")
    await house.quiet()

    assert await house.values("SELECT state FROM turns ORDER BY id") == ["cancelled", "done"]


# reject


async def test_during_a_turn_nothing_is_taken_and_each_sender_is_told(house_of: Open) -> None:
    house = await house_of(queue={"mode": "reject"})
    ann = house.person()
    gate = await busy(house, ann)
    refused = [ann.says("more"), ann.says("and more")]
    await house.platform.wait_received()
    gate.open()
    await ann.gets("You said: slow")
    ann.says("now")
    await ann.gets("You said: now")
    await house.quiet()

    told = [shown.message.reply_to for shown in house.platform.shown if "I am busy here" in shown.text]
    assert told == [message.message_id for message in refused]
    assert [became for became, _ in await settled(house)] == ["turn", "busy", "busy", "turn"]
    assert users(house) == ["slow", "now"]


@pytest.mark.req("QUE-4")
async def test_with_a_request_open_a_message_is_refused_and_the_request_repeated(house_of: Open) -> None:
    house = await house_of(queue={"mode": "reject"})
    ann = house.person()
    house.model.then(calls(("lab__count", {})), says("counted"))
    ann.says("count please")
    await ann.gets_card()
    ann.says("yes")
    reminder = await ann.gets("Answer the open request first. I did not take your message.")
    await ann.presses("Once", reminder)
    await ann.gets("counted")
    await house.quiet()

    assert await house.values("SELECT state FROM turns") == ["done"]


@pytest.mark.req("QUE-3")
async def test_without_a_free_place_a_message_is_refused_with_a_clear_word(house_of: Open) -> None:
    house = await house_of(
        queue={"mode": "reject", "max_running_per_user": 1, "max_running": 2},
        access={**EVERYBODY, "groups": "always"},
    )
    one, two = house.member("1", chat_id="-1"), house.member("1", chat_id="-2")
    bob, eve = house.member("2", "Bob", chat_id="-3"), house.member("3", "Eve", chat_id="-4")
    first = await busy(house, one)
    two.says("me too")
    await two.gets("I am working on 1 other things for you and did not take this message.")
    second = await busy(house, bob)
    eve.says("and me")
    await eve.gets("I am working on as much as I can and did not take this message.")
    first.open()
    second.open()
    await house.quiet()

    two.says("me too")
    await two.gets("You said: me too")


# queue, and what differs by chat


@pytest.mark.req("QUE-4")
@pytest.mark.parametrize("mode", ["queue", "collect"])
async def test_with_a_request_open_messages_are_kept_and_neither_approve_nor_deny(
    house_of: Open, mode: str
) -> None:
    """C69a, C69b."""
    house = await house_of(queue={"mode": mode})
    ann = house.person()
    house.model.then(calls(("lab__count", {})), says("counted"))
    ann.says("count please")
    card = await ann.gets_card()
    ann.says("yes")
    await ann.gets("Answer the open request first. Your message is kept (1 waiting).")
    ann.says("carry on then")
    await house.platform.wait_received()
    assert house.lab.runs == []
    await ann.presses("Deny", card)
    await ann.gets("carry on then")
    await house.quiet()

    expected = ["yes\n\ncarry on then"] if mode == "collect" else ["yes", "carry on then"]
    assert users(house) == ["count please", *expected]
    assert house.lab.runs == []


async def test_each_chat_may_have_its_own_mode(house_of: Open) -> None:
    house = await house_of(chats={"memory:-1": {"queue": "reject"}}, access={**EVERYBODY, "groups": "always"})
    there, here = house.member("1", chat_id="-1"), house.member("1", chat_id="-2")
    gates = [await busy(house, there), await busy(house, here)]
    there.says("more")
    here.says("more")
    await there.gets("I am busy here")
    for gate in gates:
        gate.open()
    await here.gets("You said: more")
    await house.quiet()

    assert [became for became, _ in await settled(house)] == ["turn", "turn", "busy", "turn"]
