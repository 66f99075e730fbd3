"""Control input acts at once on whatever runs: /stop, /new, /status and the rest."""

import pytest

from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import Gate, calls, says


@pytest.mark.req("AGT-9")
async def test_stop_cancels_the_running_send_and_what_is_queued_runs_next(house: House) -> None:
    ann = house.person()
    slow = house.model.hold("slow")
    ann.says("slow")
    await slow.reached()
    ann.says("next")
    ann.says("/stop")
    await ann.gets("Stopped. 1 message waiting runs next (/stop all drops them).")
    await ann.gets("You said: next")
    await house.quiet()

    assert await house.values("SELECT state FROM turns ORDER BY id") == ["cancelled", "done"]
    assert house.model.asked[-1].lines == [
        ("user", "slow"),
        ("model", "the user stopped this"),
        ("user", "next"),
    ]


@pytest.mark.req("AGT-9")
async def test_stop_all_drops_what_is_queued_and_says_how_many(house: House) -> None:
    ann = house.person()
    slow = house.model.hold("slow")
    for word in ("slow", "two", "three"):
        ann.says(word)
    await slow.reached()
    ann.says("/stop all")
    await ann.gets("Stopped. 2 messages that waited are dropped.")
    await house.quiet()
    ann.says("after")
    await ann.gets("You said: after")

    assert house.model.questions == ["slow", "after"]


@pytest.mark.req("AGT-9")
async def test_stop_cancels_a_running_tool_and_the_history_stays_valid(house_of: Open) -> None:
    house = await house_of(approvals={"allow": ["lab/*"]})
    ann = house.person()
    slow = house.lab.hold("count")
    house.model.then(calls(("lab__count", {}), ("lab__look", {})))
    ann.says("count please")
    await slow.reached()
    ann.says("/stop")
    await ann.gets("Stopped.")
    ann.says("next")
    await ann.gets("You said: next")

    assert house.lab.runs == [("count", {})]
    assert [who for who, _ in house.model.asked[-1].lines] == [
        "user",
        "call",
        "call",
        "interrupted",
        "interrupted",
        "model",
        "user",
    ]


@pytest.mark.req("AGT-9")
async def test_stop_while_nothing_runs_says_so(house: House) -> None:
    ann = house.person()
    ann.says("/stop")
    await ann.gets("Nothing is running.")


@pytest.mark.req("AGT-9")
async def test_stop_sent_before_a_crash_still_stops_the_turn_after_it(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    await ann.gets_card()
    await house.quiet()
    house.daemon._queue._closing = True  # as if the process ended right after the commit
    ann.says("/stop")
    await house.platform.wait_received()
    await house.crash()
    await house.start()
    await house.quiet()

    assert await house.values("SELECT state FROM turns") == ["cancelled"]
    assert house.lab.runs == []


@pytest.mark.req("SES-3")
async def test_new_stops_what_runs_drops_what_waits_and_begins_an_empty_session(house: House) -> None:
    ann = house.person()
    slow = house.model.hold("slow")
    for word in ("slow", "two", "three"):
        ann.says(word)
    await slow.reached()
    ann.says("/new")
    await ann.gets(
        "A new conversation begins; what I remember of you stays. What was running is stopped."
        " 2 messages that waited are dropped."
    )
    ann.says("plum")
    await ann.gets("You said: plum")
    await house.quiet()

    assert house.model.questions == ["slow", "plum"]
    assert house.model.asked[-1].lines == [("user", "plum")]
    assert await house.values("SELECT end_reason FROM sessions ORDER BY id") == ["reset", None]


@pytest.mark.req("SES-1", "QUE-1")
async def test_after_new_dropped_a_lane_and_a_crash_the_next_message_is_answered_at_once(
    house_of: Open,
) -> None:
    house = await house_of(queue={"max_running": 1})
    ann, bob = house.person("1"), house.person("2", "Bob")
    slow = house.model.hold("slow")
    bob.says("slow")
    await slow.reached()
    ann.says("waits for a place")
    ann.says("/new")
    await ann.gets("1 message that waited is dropped.")
    await house.crash()
    slow.open()
    await house.start()

    ann.says("plum")
    await ann.gets("You said: plum")


@pytest.mark.req("SES-3", "QUE-4")
async def test_a_member_may_reset_a_shared_session_in_which_a_tool_hangs(house_of: Open) -> None:
    """C48a."""
    house = await house_of(
        sessions={"group": "shared"},
        approvals={"allow": ["lab/*"]},
        access={"allow": {"memory": ["chat:-7"]}},
    )
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    slow = house.lab.hold("count")
    house.model.then(calls(("lab__count", {})))
    ann.says("count please", mentions=True)
    await slow.reached()
    bob.says("hello there", mentions=True)
    bob.says("/new")
    await bob.gets("What was running is stopped. 1 message that waited is dropped.")
    bob.says("plum", mentions=True)
    await bob.gets("plum")
    await house.quiet()

    assert await house.values("SELECT state FROM turns ORDER BY id") == ["cancelled", "cancelled", "done"]


@pytest.mark.req("QUE-4", "AGT-5")
async def test_status_tells_what_runs_what_waits_and_what_asks(house: House) -> None:
    ann = house.person()
    ann.says("/status")
    await ann.gets("Nothing is running.")
    ann.says('use count {"n": 1}')
    await ann.gets_card()
    ann.says("next")
    ann.says("/status")
    status = await ann.gets("Waits for an answer: lab/count(n=1)")

    assert status.text.splitlines()[0] == "One message is waiting for a person, 1 wait behind it."
    assert "memory[0]: online" in status.text


async def test_help_lists_every_command_and_whoami_gives_the_ids_an_allow_list_needs(house: House) -> None:
    ann = house.member("42", "Ann", chat_id="-7")
    ann.says("/help")
    listed = await ann.gets("/help – this list")
    ann.says("/whoami")
    told = await ann.gets("user id 42 on memory")
    ann.says("/nonsense")
    await ann.gets("I do not know /nonsense. /help lists what I know.")

    names = [
        "start",
        "help",
        "new",
        "compact",
        "stop",
        "status",
        "whoami",
        "approve",
        "deny",
        "grants",
        "sessions",
        "again",
        "retry",
        "restart",
        "pause",
        "resume",
    ]
    assert [line.split(" ")[0] for line in listed.text.splitlines()] == [f"/{name}" for name in names]
    assert "chat:-7 (group)" in told.text
    assert house.model.asked == []


@pytest.mark.req("AGT-6")
async def test_at_the_budget_the_model_is_sent_to_once_more_without_tools_and_the_user_sees_why(
    house_of: Open,
) -> None:
    house = await house_of(turns={"budget": 2}, approvals={"allow": ["lab/*"]})
    ann = house.person()
    again = calls(("lab__count", {}))
    house.model.then(again, again, says("that is all"))
    ann.says("count for ever")
    await ann.gets("that is all")
    await house.quiet()

    assert [each.tools != () for each in house.model.asked] == [True, True, False]
    assert ann.sees() == [
        "I stopped after 2 steps, the limit for one message. Ask me to go on if you want more.",
        "that is all",
    ]


@pytest.mark.req("AGT-6")
async def test_the_budget_counts_over_approvals_and_restarts(house_of: Open) -> None:
    house = await house_of(turns={"budget": 2})
    ann = house.person()
    again = calls(("lab__count", {}))
    house.model.then(again, again, says("that is all"))
    ann.says("count for ever")
    for _ in range(2):
        card = await ann.gets_card()
        await house.quiet()
        await house.restart()
        await ann.presses("Once", card)
        await ann.gets("· done")
    await ann.gets("that is all")

    assert [each.tools != () for each in house.model.asked] == [True, True, False]


@pytest.mark.req("AGT-8")
@pytest.mark.parametrize("empty", ["", "   ", "\u200b\n"])
async def test_an_empty_answer_is_asked_for_again_and_then_said_to_be_empty(house: House, empty: str) -> None:
    """C53a-c."""
    ann = house.person()
    house.model.then(says(empty), says(empty))
    ann.says("go")
    await ann.gets("The model gave an empty answer, twice.")
    await house.quiet()
    ann.says("plum")
    await ann.gets("You said: plum")
    await house.quiet()

    assert len(ann.sees()) == 2
    assert await house.values("SELECT state FROM turns ORDER BY id") == ["failed", "done"]


@pytest.mark.req("QUE-1", "TOL-1")
async def test_a_turn_over_its_time_ends_with_words_and_the_next_runs(house_of: Open) -> None:
    house = await house_of(turns={"timeout_s": 1})
    ann = house.person()
    house.model.then(Gate())
    ann.says("slow")
    ann.says("next")
    await ann.gets("so I stopped it.")
    await ann.gets("You said: next")
