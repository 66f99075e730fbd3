"""Turns run one at a time in a lane, in order, and in parallel between lanes (QUE-1, QUE-3, QUE-6, QUE-7)."""

import pytest

from tests.flow.conftest import Open
from tests.flow.house import House


@pytest.mark.req("QUE-1", "SRC-1")
async def test_twenty_messages_at_once_are_twenty_turns_in_order_each_knowing_the_replies_before(
    house: House,
) -> None:
    """C44a, C46a."""
    ann = house.person()
    for number in range(20):
        ann.says(f"message {number}")

    await ann.gets("You said: message 19")
    await house.quiet()

    assert house.model.questions == [f"message {number}" for number in range(20)]
    answers = [
        f"You said: message {n}\n\nI am the offline demo model. Say `help` to see what I can do."
        for n in range(20)
    ]
    assert house.model.asked[-1].lines == [
        line for number in range(19) for line in (("user", f"message {number}"), ("model", answers[number]))
    ] + [("user", "message 19")]
    assert [text.split("\n")[0] for text in ann.sees()] == [f"You said: message {n}" for n in range(20)]
    assert await house.values("SELECT state FROM turns ORDER BY id") == ["done"] * 20


@pytest.mark.req("QUE-1")
async def test_another_user_is_answered_while_the_first_ones_turn_runs(house: House) -> None:
    """C44b."""
    ann, bob = house.person("1"), house.person("2", "Bob")
    slow = house.model.hold("slow")
    ann.says("slow")
    await slow.reached()

    bob.says("quick")
    await bob.gets("You said: quick")

    assert ann.sees() == []
    slow.open()
    await ann.gets("You said: slow")


@pytest.mark.req("QUE-1", "SRC-2")
async def test_a_persons_direct_chat_and_group_run_in_parallel_and_share_no_history(house: House) -> None:
    """C44c."""
    alone, grouped = house.person("1"), house.member("1")
    slow = house.model.hold("secret word: plum")
    alone.says("secret word: plum")
    await slow.reached()

    grouped.says("what is the secret word", mentions=True)
    await grouped.gets("You said: what is the secret word")

    assert house.model.asked[-1].lines == [("user", "what is the secret word")]
    slow.open()
    await alone.gets("You said")


@pytest.mark.req("QUE-7")
async def test_the_sender_of_a_full_lane_is_told_once_a_burst_and_nothing_vanishes(house_of: Open) -> None:
    house = await house_of(queue={"lane_size": 3})
    ann = house.person()
    slow = house.model.hold("0")
    for number in range(6):
        ann.says(str(number))
    await slow.reached()
    await ann.gets("3 messages wait here already; I did not take this one.")
    await house.platform.wait_received()

    slow.open()
    await ann.gets("You said: 2")
    await house.quiet()

    assert sum("wait here already" in text for text in ann.sees()) == 1
    assert house.model.questions == ["0", "1", "2"]
    became = await house.values("SELECT became FROM inbox ORDER BY rowid")
    assert became == ["turn", "turn", "turn", "lane_full", "lane_full", "lane_full"]


@pytest.mark.req("QUE-7")
async def test_after_a_full_lane_took_a_message_again_the_next_burst_is_told_again(house_of: Open) -> None:
    house = await house_of(queue={"lane_size": 1})
    ann = house.person()
    for word in ("first", "second"):
        gate = house.model.hold(word)
        ann.says(word)
        await gate.reached()
        ann.says("too much")
        await house.platform.wait_received()
        gate.open()
        await ann.gets(f"You said: {word}")
        await house.quiet()

    assert sum("wait here already" in text for text in ann.sees()) == 2


@pytest.mark.req("QUE-3")
async def test_a_user_has_at_most_so_many_running_turns_over_all_lanes(house_of: Open) -> None:
    house = await house_of(
        queue={"max_running_per_user": 2}, access={"allow": {"memory": ["*"]}, "groups": "always"}
    )
    gates = [house.model.hold(f"g{n}") for n in range(3)]
    chats = [house.member("1", chat_id=f"-{n}") for n in range(3)]
    for number, chat in enumerate(chats):
        chat.says(f"g{number}")
    await gates[0].reached()
    await gates[1].reached()
    await house.platform.wait_received()
    assert (house.daemon._queue.running, house.daemon._queue.waiting) == (2, 1)

    gates[0].open()
    await gates[2].reached()

    assert sorted(house.model.questions) == ["g0", "g1", "g2"]
    for gate in gates:
        gate.open()
    await chats[2].gets("You said: g2")


@pytest.mark.req("QUE-6")
async def test_a_backlog_of_one_user_does_not_delay_another_by_more_than_a_round(house_of: Open) -> None:
    house = await house_of(queue={"max_running": 1}, access={"allow": {"memory": ["*"]}, "groups": "always"})
    first = house.model.hold("lane 0")
    for number in range(100):
        house.member("1", chat_id=f"-{number}").says(f"lane {number}")
    await first.reached()
    bob = house.person("2", "Bob")
    bob.says("hello from Bob")
    await house.platform.wait_received()

    first.open()
    await bob.gets("You said: hello from Bob")

    assert house.model.questions.index("hello from Bob") <= 2
