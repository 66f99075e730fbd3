"""Task cards are requests like approvals: who may answer, what silence means, what a crash leaves."""

import pytest

from tests.flow.agents import AGENTS, answers, asked, begin, count, depth, end, stacked, who
from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import calls, says


@pytest.fixture
async def house(house_of: Open) -> House:
    return await house_of(agents=AGENTS, access={"allow": {"memory": ["*"]}, "admins": {"memory": ["9"]}})


@pytest.mark.req("TSK-5", "APR-4", "APR-5")
async def test_only_who_is_asked_or_an_admin_may_answer_and_the_first_answer_wins(house: House) -> None:
    ann, bob = (
        house.member("1", "Ann", thread_id="t", kind="thread"),
        house.member("2", "Bob", thread_id="t", kind="thread"),
    )
    admin = house.member("9", "Ada", thread_id="t", kind="thread")
    house.model.then(calls(begin("coder")), says("here I am"))
    ann.says("please", mentions=True)
    card = await asked(ann, "Shall coder take over?")

    assert (await bob.presses("Accept", card)).text == "Only Ann may answer this. Nothing was done."
    assert await depth(house) == []
    assert (await admin.presses("Accept", card)).text == "Accepted: coder takes over."
    late = await ann.platform.press(card.tokens["Reject"], ann.source)
    assert late is not None
    assert late.text == (
        "This was settled: accepted by Ada. Nothing was done: default wants to hand a task to coder."
        " Shall coder take over? Do it."
    )
    await ann.gets("here I am")
    await house.quiet()
    assert await depth(house) == ["coder"]
    assert await house.values("SELECT actor FROM audit WHERE action = 'request.approved'") == ["memory:9"]


@pytest.mark.req("TSK-5", "QUE-4", "QUE-5")
async def test_a_message_meanwhile_is_kept_and_the_question_repeated_while_nothing_runs(house: House) -> None:
    ann = house.person()
    house.model.then(calls(begin("coder")))
    ann.says("please")
    await asked(ann, "Shall coder take over?")
    await house.quiet()
    assert house.daemon._queue.running == 0

    ann.says("yes")
    reminder = await asked(ann, "Answer the open request first. Your message is kept (1 waiting).")
    assert "Shall coder take over?" in reminder.text
    house.model.then(says("the coder"), says("an answer to yes"))
    await ann.presses("Accept", reminder)
    await ann.gets("an answer to yes")
    await house.quiet()
    assert who(house) == ["default", "coder", "coder"]


@pytest.mark.req("TSK-5", "APR-5")
async def test_commands_answer_a_task_card_as_its_buttons_do(house: House) -> None:
    ann = house.person()
    house.model.then(calls(begin("coder")), says("here"), calls(end("coded")))
    ann.says("please")
    await asked(ann, "Shall coder take over?")
    ann.says("/approve")
    await ann.gets("Accepted: coder takes over.")
    await ann.gets("here")
    ann.says("done?")
    await asked(ann, "coded")
    ann.says("/status")
    await ann.gets("Waits for an answer: coder's task is said to be done. Shall it go back to default? coded")
    ann.says("/deny")
    await ann.gets("Rejected: coder goes on with its task.")
    await house.quiet()
    assert await depth(house) == ["coder"]


@pytest.mark.req("AGT-3", "TSK-2")
async def test_status_says_who_answers_and_on_which_tasks(house: House) -> None:
    ann = house.person()
    await stacked(house, ann, "coder", "critic")
    ann.says("/status")
    told = await ann.gets("Nothing is running.")
    assert told.text.split("\n")[1:3] == [
        "critic answers here.",
        "Open tasks: coder (goal of coder), then critic (goal of critic).",
    ]


@pytest.mark.req("TSK-5", "APR-7")
async def test_silence_rejects_a_begin_and_puts_an_end_off(house: House) -> None:
    ann = house.person()
    await stacked(house, ann, "coder")
    house.model.then(calls(end("coded")))
    ann.says("done?")
    await asked(ann, "coded")
    house.pass_by(ann, seconds=1801)
    await ann.gets("nobody answered, so I ask again later")
    await house.quiet()
    assert await depth(house) == ["coder"]
    assert await house.values("SELECT state FROM task_ends") == ["said"]

    house.model.then(calls(begin("critic")))
    ann.says("next")
    await asked(ann, "Shall critic take over?")
    house.pass_by(ann, seconds=1801)
    # The begin is not begun; the end put off before is not asked about after a begin.
    await ann.gets("nobody answered, so it was not begun")
    await house.quiet()
    assert await depth(house) == ["coder"]
    assert await house.values("SELECT state FROM requests") == ["approved", "expired", "expired"]
    assert await house.values("SELECT state FROM turns") == ["done"] * 3


@pytest.mark.req("TSK-5", "APR-9")
async def test_a_new_conversation_closes_the_card_and_knows_no_tasks(house: House) -> None:
    ann = house.person()
    await stacked(house, ann, "coder")
    house.model.then(calls(begin("critic")))
    ann.says("next")
    card = await asked(ann, "Shall critic take over?")
    ann.says("/new")
    await ann.gets("A new conversation begins")
    await house.quiet()
    late = await ann.platform.press(card.tokens["Accept"], ann.source)
    assert late is not None
    assert late.text.startswith("This was settled: closed: not begun. Nothing was done")

    house.model.then(says("fresh"))
    ann.says("hello")
    await ann.gets("fresh")
    await house.quiet()
    assert who(house)[-1] == "default"


@pytest.mark.req("EVT-3", "TSK-2", "TSK-3", "APR-6")
async def test_a_crash_at_every_point_of_the_way_leads_along_the_same_path(house: House) -> None:
    """Killed at A, at B, at C (a begin asked, a leg begun, an end asked) and just after each answer."""
    ann = house.person()
    gate = house.model.hold("please")
    ann.says("please")
    await gate.reached()
    await house.crash()  # at A of the first leg
    gate.open()
    house.model.then(calls(count(), begin("coder", "goal one")))
    await house.start()

    await ann.gets_card()
    await ann.presses("Once")
    card = await asked(ann, "Shall coder take over?")
    await house.crash()  # at C: the chat is over, the begin is asked
    await house.start()
    assert await depth(house) == []

    goal = "(The agent default hands you this task. When it is done, call task_end with a summary.)\ngoal one"
    gate = house.model.hold(goal)
    await ann.presses("Accept", card)
    await gate.reached()
    await house.crash()  # at A of the second leg
    gate.open()
    tool = house.lab.hold("count")
    house.model.then(calls(count(2), end("coded")))
    await house.start()
    await ann.gets_card()
    await ann.presses("Once", (await ann.gets("Approval needed")))
    await tool.reached()
    await house.crash()  # before B: the tool's outcome is unknown
    house.lab.release("count")
    house.model.then(says("anyhow"))
    await house.start()

    card = await asked(ann, "coded")
    await house.crash()  # at C of the second leg
    await house.start()
    await ann.presses("Accept", card)
    await house.quiet()

    assert await depth(house) == []
    assert house.lab.runs == [("count", {"n": 1}), ("count", {"n": 2})]
    assert who(house) == ["default", "default", "coder", "coder", "coder"]
    assert await house.values("SELECT state FROM turns") == ["done"]
    assert [payload["state"] for kind, payload in await house.events(1) if kind == "task"] == ["accepted"] * 2
    # Every history was kept once: the next questions are asked with it.
    house.model.then(says("I am the default"), says("I am the coder"))
    ann.says("and?")
    await ann.gets("I am the default")
    ann.says("@coder and you?")
    await ann.gets("I am the coder")
    await house.quiet()
    default, coder = house.model.asked[-2].lines, house.model.asked[-1].lines
    assert [text for who, text in default if who == "user"] == [
        "please",
        "(The task you handed to coder has ended. Its summary:)\ncoded",
        "and?",
    ]
    assert [text for who, text in coder if who == "user"] == [goal, "@coder and you?"]


@pytest.mark.req("TSK-3", "AGT-3")
async def test_an_agent_that_is_gone_after_a_restart_takes_nothing_over(house: House) -> None:
    ann = house.person()
    house.model.then(calls(begin("coder")), says("I stayed"))
    ann.says("@critic please")
    card = await asked(ann, "Shall coder take over?")
    await house.stop()
    house.settings["agents"] = {name: AGENTS[name] for name in ("default", "tester")}
    await house.start()
    await ann.presses("Accept", card)
    await ann.gets("There is no agent coder here any more.")
    await house.quiet()
    assert await depth(house) == []
    ann.says("who is here?")
    await ann.gets("I stayed")
    await house.quiet()
    assert who(house) == ["critic", "default"]


@pytest.mark.req("AGT-2", "AGT-6")
async def test_call_ids_are_unique_over_the_legs_of_a_turn(house: House) -> None:
    ann = house.person()
    house.model.then(calls(count(), begin("coder")), calls(count(2)), says("both counted"))
    ann.says("please")
    await ann.gets_card()
    await ann.presses("Once")
    await answers(ann, "Shall coder take over?", "Accept")
    await answers(ann, "Approval needed", "Once")
    await ann.gets("both counted")
    await house.quiet()
    assert await house.values("SELECT call_id FROM requests ORDER BY id") == ["0.0", "begin:1", "1.0"]
    assert [n["n"] for _, n in house.lab.runs] == [1, 2]
