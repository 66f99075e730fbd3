"""The diagram of a gateway's sessions (B.4 of the flows this product grew from), walked edge by edge.

message → source → get_or_create → exists? expired? → session id → agent → reply → short, long, with code → send;
beside it: one user's messages are queued, different users run in parallel.
"""

from datetime import timedelta

import pytest

from gateway.document import Code
from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import says


@pytest.mark.req("SRC-1")
async def test_a_platforms_message_becomes_a_turn_of_its_source(house: House) -> None:
    ann = house.member("42", "Ann", chat_id="-7", kind="thread", thread_id="9", chat_name="Gardeners")
    message = ann.says("plum", mentions=True)
    await ann.gets("You said")

    (lane,) = await house.rows("SELECT key, platform, account, chat_id, thread_id FROM lanes")
    assert tuple(lane) == ("memory:bot:thread:-7:9", "memory", "bot", "-7", "9")
    (turn,) = await house.rows("SELECT requester, message_id, state FROM turns")
    assert (turn["requester"], turn["message_id"]) == ("memory:42", message.message_id)


@pytest.mark.req("SES-1")
async def test_the_first_message_of_a_source_makes_a_session(house: House) -> None:
    ann = house.person()
    ann.says("plum")
    await ann.gets("You said: plum")

    assert await house.values("SELECT id FROM sessions") == [1]
    assert await house.values("SELECT session_id FROM lanes") == [1]
    assert [who for who, _ in house.model.asked[0].lines] == ["user"]


@pytest.mark.req("SES-1")
async def test_the_next_message_reuses_the_session_and_its_history(house: House) -> None:
    ann = house.person()
    for word in ("plum", "what did I say"):
        ann.says(word)
        await ann.gets(f"You said: {word}")

    assert await house.values("SELECT session_id FROM turns") == [1, 1]
    assert ("user", "plum") in house.model.asked[1].lines


@pytest.mark.req("SES-1", "SES-2")
async def test_a_message_after_the_idle_limit_begins_a_new_session_and_the_user_is_told_once(
    house_of: Open,
) -> None:
    house = await house_of(sessions={"idle_s": 3600})
    ann = house.person()
    ann.says("plum")
    await ann.gets("You said: plum")
    await house.quiet()
    house.clock.pass_by(minutes=61)

    ann.says("what did I say")
    ann.says("and again")
    await ann.gets("You said: and again")
    await house.quiet()

    sessions = await house.rows("SELECT id, end_reason, title FROM sessions ORDER BY id")
    assert [tuple(row) for row in sessions] == [(1, "expired", "plum"), (2, None, "what did I say")]
    assert ("user", "plum") not in house.model.asked[-1].lines
    assert ann.sees().count("It has been a while, so this is a new conversation.") == 1


@pytest.mark.req("SES-1")
async def test_a_reset_keeps_what_is_remembered_of_a_person_and_the_old_session_stays_readable(
    house: House,
) -> None:
    ann = house.person()
    ann.says("plum")
    await ann.gets("You said: plum")
    await house.quiet()
    (before,) = await house.rows("SELECT * FROM memory_baselines")
    house.clock.pass_by(days=2)
    ann.says("hello again")
    await ann.gets("You said: hello again")

    (after,) = await house.rows("SELECT * FROM memory_baselines")
    assert tuple(after) == tuple(before)
    old = await house.values("SELECT body FROM messages WHERE session_id = 1 ORDER BY id")
    assert [text.split("\n")[0] for text in old] == ["plum", "You said: plum"]


@pytest.mark.req("SES-2")
async def test_time_passed_before_a_restart_counts_as_well(house_of: Open) -> None:
    """C93a."""
    house = await house_of(sessions={"idle_s": 3600})
    ann = house.person()
    ann.says("plum")
    await ann.gets("You said: plum")
    await house.quiet()
    house.clock.pass_by(minutes=50)
    await house.restart()
    house.clock.pass_by(minutes=20)

    ann.says("still there?")
    await ann.gets("You said: still there?")

    assert await house.values("SELECT session_id FROM turns") == [1, 2]


@pytest.mark.req("SES-2")
async def test_a_session_never_expires_while_a_turn_is_open(house_of: Open) -> None:
    house = await house_of(sessions={"idle_s": 3600})
    ann = house.person()
    slow = house.model.hold("slow")
    ann.says("slow")
    await slow.reached()
    house.clock.pass_by(hours=3)
    ann.says("next")
    await house.platform.wait_received()
    slow.open()
    await ann.gets("You said: next")

    assert await house.values("SELECT session_id FROM turns") == [1, 1]


@pytest.mark.req("SES-2")
async def test_a_reply_over_the_daily_hour_belongs_to_the_old_session_and_the_next_message_to_a_new_one(
    house_of: Open,
) -> None:
    """C90b."""
    house = await house_of(sessions={"reset": "daily", "daily_at": "04:00"})
    now = house.clock()
    house.clock.pass_by(seconds=(now.replace(hour=3, minute=50) + timedelta(days=1) - now).total_seconds())
    ann = house.person()
    slow = house.model.hold("slow")
    ann.says("slow")
    await slow.reached()
    house.clock.pass_by(minutes=20)
    slow.open()
    await ann.gets("You said: slow")
    await house.quiet()

    ann.says("good morning")
    await ann.gets("You said: good morning")

    assert await house.values("SELECT session_id FROM turns") == [1, 2]
    bodies = await house.values("SELECT role FROM messages WHERE session_id = 1 ORDER BY id")
    assert bodies == ["question", "answer"]


@pytest.mark.req("DLV-2")
async def test_a_short_reply_is_one_message(house: House) -> None:
    ann = house.person()
    house.model.then(says("short"))
    ann.says("plum")
    await ann.gets("short")
    await house.quiet()

    assert ann.sees() == ["short"]


@pytest.mark.req("DLV-2", "DLV-6")
async def test_a_long_reply_arrives_in_pieces_that_fit_in_order(house_of: Open) -> None:
    house = await house_of(platform={"limit": 300})
    ann = house.person()
    words = " ".join(f"word{number}" for number in range(200))
    house.model.then(says(words))
    ann.says("hello")
    await ann.gets("word199")
    await house.quiet()

    pieces = ann.sees()
    assert all(len(piece) <= 300 for piece in pieces)
    assert " ".join(pieces) == words
    parts = await house.values("SELECT part FROM outbox ORDER BY id")
    assert parts == [f"r0.{number}" for number in range(len(pieces))]


@pytest.mark.req("DLV-3", "DLV-4")
async def test_code_in_a_reply_stays_code_in_every_piece(house_of: Open) -> None:
    house = await house_of(platform={"limit": 120})
    ann = house.person()
    code = "\n".join(f"    line_{number} = {number}" for number in range(20))
    house.model.then(says(f"Look:\n\n```python\n{code}\n```"))
    ann.says("show me")
    await ann.gets("line_19")
    await house.quiet()

    blocks = [block for shown in house.platform.shown for block in shown.message.body.blocks]
    cut = [block for block in blocks if isinstance(block, Code)]
    assert len(cut) > 1
    assert {block.language for block in cut} == {"python"}
    assert "\n".join(block.text for block in cut) == code


@pytest.mark.req("QUE-1")
async def test_one_users_messages_are_queued(house: House) -> None:
    ann = house.person()
    slow = house.model.hold("one")
    ann.says("one")
    await slow.reached()
    ann.says("two")
    await house.platform.wait_received()
    assert await house.values("SELECT state FROM turns ORDER BY seq") == ["running", "queued"]

    slow.open()
    await ann.gets("You said: two")
    assert house.model.questions == ["one", "two"]


@pytest.mark.req("QUE-1", "SES-1")
async def test_different_users_have_sessions_of_their_own_and_run_in_parallel(house: House) -> None:
    gates = [house.model.hold(f"from {user}") for user in range(3)]
    people = [house.person(str(user)) for user in range(3)]
    for user, person in enumerate(people):
        person.says(f"from {user}")
    for gate in gates:
        await gate.reached()
    assert await house.values("SELECT session_id FROM turns ORDER BY id") == [1, 2, 3]

    for gate in gates:
        gate.open()
    for user, person in enumerate(people):
        await person.gets(f"You said: from {user}")
