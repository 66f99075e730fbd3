"""The chart of agents, calls and tasks, walked edge by edge.

Its nodes are named as in the document the product began with: from the user's message to the agent that answers, its
rounds of sending and of calls that people decide on, and the tasks that follow when its chat has ended.
"""

import pytest

from tests.flow.agents import AGENTS, answers, asked, begin, count, depth, end, stacked, who
from tests.flow.chart import Chart
from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import calls, says

CHART = Chart("""
    U -> FE_SEND
    FE_SEND -> START_NEW_CHAT_MSG
    START_NEW_CHAT_MSG -> BE_DECIDE
    BE_DECIDE -yes-> BE_AT_AGENT
    BE_DECIDE -no-> BE_TASK_AGENT
    BE_AT_AGENT -> UPDATE_CHAT_META
    BE_TASK_AGENT -> UPDATE_CHAT_META
    UPDATE_CHAT_META -> CHAT_BEGIN
    CHAT_BEGIN -> CHAT_SEND
    CHAT_SEND -> STATUS_THINKING
    STATUS_THINKING -> CHAT_RECEIVE
    CHAT_RECEIVE -> ADD_RECEIVE_MSG
    ADD_RECEIVE_MSG -> FCALL_LIST
    FCALL_LIST -> FCWIDGET_LIST
    FCWIDGET_LIST -> FCALL_LOOP
    FCALL_LOOP -> IS_TASK_BEGIN
    IS_TASK_BEGIN -yes-> TASK_NODE
    TASK_NODE -> FCALL_LOOP
    IS_TASK_BEGIN -no-> ADD_TO_WIDGET
    ADD_TO_WIDGET -> FCALL_LOOP
    FCALL_LOOP -all-> ADD_WIDGET_TO_MSG
    ADD_WIDGET_TO_MSG -> UI_APPROVAL
    UI_APPROVAL -> FCWIDGET_DONE
    FCWIDGET_DONE -no-> STATUS_WAIT_MCP
    STATUS_WAIT_MCP -> USER_APPROVE
    USER_APPROVE -> STATUS_MCP_RUNNING
    STATUS_MCP_RUNNING -> FCWIDGET_DONE
    FCWIDGET_DONE -yes-> SEND_LOOP_DECIDE
    SEND_LOOP_DECIDE -yes-> CHAT_END
    SEND_LOOP_DECIDE -no-> CHAT_SEND
    CHAT_END -> TASK_BEGIN_UI
    TASK_BEGIN_UI -no-> TASK_END_UI
    TASK_BEGIN_UI -yes-> BEGIN_DECIDE
    BEGIN_DECIDE -accept-> BE_TASK_AGENT
    BEGIN_DECIDE -reject-> RETURN_USER
    TASK_END_UI -yes-> END_DECIDE
    TASK_END_UI -no-> RETURN_USER
    END_DECIDE -accept-> END_CONSUME
    END_CONSUME -> TASK_END_UI
    END_DECIDE -later-> END_ROTATE
    END_ROTATE -> TASK_END_UI
    END_DECIDE -reject-> RETURN_USER
""")

walks = CHART.walks


@pytest.fixture
async def house(house_of: Open) -> House:
    return await house_of(agents=AGENTS)


def kinds(events: list[tuple[str, dict[str, object]]]) -> list[str]:
    """The events in short: kind, and what of its payload tells it from others of its kind."""
    telling = ("name", "status", "state", "outcome")
    return [
        ":".join([kind, *(str(payload[key]) for key in telling if key in payload)])
        for kind, payload in events
        if kind != "text"
    ]


def test_every_edge_of_the_chart_has_a_test_that_walks_it() -> None:
    assert len(CHART.edges) == 42
    assert CHART.unwalked == []


@walks("U -> FE_SEND", "FE_SEND -> START_NEW_CHAT_MSG", "START_NEW_CHAT_MSG -> BE_DECIDE")
@walks("BE_DECIDE -no-> BE_TASK_AGENT", "BE_TASK_AGENT -> UPDATE_CHAT_META", "UPDATE_CHAT_META -> CHAT_BEGIN")
@walks("CHAT_BEGIN -> CHAT_SEND", "CHAT_SEND -> STATUS_THINKING", "STATUS_THINKING -> CHAT_RECEIVE")
@walks("CHAT_RECEIVE -> ADD_RECEIVE_MSG", "ADD_RECEIVE_MSG -> FCALL_LIST", "FCALL_LIST -> FCWIDGET_LIST")
@walks("SEND_LOOP_DECIDE -yes-> CHAT_END", "CHAT_END -> TASK_BEGIN_UI")
@walks("TASK_BEGIN_UI -no-> TASK_END_UI", "TASK_END_UI -no-> RETURN_USER")
@pytest.mark.req("AGT-2", "AGT-3", "AGT-5", "EVT-3", "TSK-2")
async def test_a_message_to_nobody_goes_to_the_current_agent_and_without_calls_straight_back(
    house: House,
) -> None:
    ann = house.person()
    house.model.then(says("Hello."))
    ann.says("hi")
    await ann.gets("Hello.")
    await house.quiet()

    events = await house.events(1)
    assert who(house) == ["default"]
    assert kinds(events) == [
        "meta",
        "checkpoint:A",
        "status:thinking",
        "model_response",
        "checkpoint:C",
        "status:done",
        "done:answered",
    ]
    assert events[0][1]["agent"] == "default"
    assert await house.values("SELECT COUNT(*) FROM requests") == [0]


@walks("BE_DECIDE -yes-> BE_AT_AGENT", "BE_AT_AGENT -> UPDATE_CHAT_META")
@pytest.mark.req("AGT-3")
async def test_a_name_picks_the_answerer_and_the_task_system_keeps_to_it(house: House) -> None:
    ann = house.person()
    for said, answer in (
        ("@Coder, hello", "one"),
        ("and again", "two"),
        ("`@critic` is code, @nobody is nobody", "three"),
        ("@DEFAULT you", "four"),
    ):
        house.model.then(says(answer))
        ann.says(said)
        await ann.gets(answer)
    await house.quiet()

    assert who(house) == ["coder", "coder", "coder", "default"]
    assert [(await house.events(turn))[0][1]["agent"] for turn in (1, 2, 3, 4)] == who(house)
    # Each has its own history: the last one heard nothing of what was said to the coder.
    assert [asked.lines for asked in house.model.asked][2:] == [
        [
            ("user", "@Coder, hello"),
            ("model", "one"),
            ("user", "and again"),
            ("model", "two"),
            ("user", "`@critic` is code, @nobody is nobody"),
        ],
        [("user", "@DEFAULT you")],
    ]


@walks("FCWIDGET_LIST -> FCALL_LOOP", "FCALL_LOOP -> IS_TASK_BEGIN", "IS_TASK_BEGIN -no-> ADD_TO_WIDGET")
@walks(
    "ADD_TO_WIDGET -> FCALL_LOOP", "FCALL_LOOP -all-> ADD_WIDGET_TO_MSG", "ADD_WIDGET_TO_MSG -> UI_APPROVAL"
)
@walks(
    "UI_APPROVAL -> FCWIDGET_DONE", "FCWIDGET_DONE -no-> STATUS_WAIT_MCP", "STATUS_WAIT_MCP -> USER_APPROVE"
)
@walks("USER_APPROVE -> STATUS_MCP_RUNNING", "STATUS_MCP_RUNNING -> FCWIDGET_DONE")
@walks("FCWIDGET_DONE -yes-> SEND_LOOP_DECIDE", "SEND_LOOP_DECIDE -no-> CHAT_SEND")
@pytest.mark.req("AGT-2", "AGT-5", "APR-1", "EVT-3")
async def test_calls_form_one_queue_and_are_approved_or_denied_one_by_one_before_the_next_send(
    house: House,
) -> None:
    ann = house.person()
    house.model.then(calls(count(1), count(2)), says("all done"))
    ann.says("count")
    await answers(ann, "Approval needed (1 of 2)", "Once")
    await answers(ann, "Approval needed (2 of 2)", "Deny")
    await ann.gets("all done")
    await house.quiet()

    assert house.lab.runs == [("count", {"n": 1})]
    assert kinds(await house.events(1)) == [
        "meta",
        "checkpoint:A",
        "status:thinking",
        "model_response",
        "tool:lab/count:queued",
        "tool:lab/count:queued",
        "tool:lab/count:waiting",
        "status:waiting",
        "request:pending",
        "tool_started",
        "status:running_tool",
        "tool:lab/count:running",
        "tool_result:ok",
        "tool:lab/count:done",
        "checkpoint:B",
        "tool:lab/count:waiting",
        "status:waiting",
        "request:pending",
        "tool_result:denied",
        "tool:lab/count:denied",
        "checkpoint:B",
        "checkpoint:A",
        "status:thinking",
        "model_response",
        "checkpoint:C",
        "status:done",
        "done:answered",
    ]


@walks("IS_TASK_BEGIN -yes-> TASK_NODE", "TASK_NODE -> FCALL_LOOP")
@walks("TASK_BEGIN_UI -yes-> BEGIN_DECIDE", "BEGIN_DECIDE -accept-> BE_TASK_AGENT")
@pytest.mark.req("AGT-2", "AGT-3", "TSK-1", "TSK-2")
async def test_a_begin_beside_calls_is_no_call_ends_the_chat_and_accepted_lets_the_other_agent_answer(
    house: House,
) -> None:
    ann = house.person()
    house.model.then(calls(count(), begin("coder", "Mend the build.")), says("I am on it."))
    ann.says("please")
    card = await ann.gets_card()
    assert "task_begin" not in card.text
    await ann.presses("Once", card)
    assert await answers(ann, "Shall coder take over?", "Accept") == "Accepted: coder takes over."
    await ann.gets("I am on it.")
    await house.quiet()

    assert who(house) == ["default", "coder"]
    assert house.lab.runs == [("count", {"n": 1})]
    assert house.model.asked[1].lines == [
        (
            "user",
            "(The agent default hands you this task. When it is done, call task_end with a summary.)\nMend the build.",
        )
    ]
    results = [payload for kind, payload in await house.events(1) if kind == "tool_result"]
    assert [(each["call_id"], each["content"]) for each in results] == [
        ("0.1", "Handed to the task system."),
        ("0.0", "run 1"),
    ]
    assert await depth(house) == ["coder"]
    assert [
        {key: payload[key] for key in ("what", "state", "agent", "by", "goal")}
        for kind, payload in await house.events(1)
        if kind == "task"
    ] == [
        {"what": "begin", "state": "accepted", "agent": "coder", "by": "default", "goal": "Mend the build."}
    ]


@walks("BEGIN_DECIDE -reject-> RETURN_USER")
@pytest.mark.req("TSK-2")
async def test_a_rejected_begin_leads_back_to_the_user_and_the_next_is_asked_after_the_next_chat(
    house: House,
) -> None:
    ann = house.person()
    house.model.then(calls(begin("coder"), begin("critic")))
    ann.says("please")
    assert await answers(ann, "Shall coder take over?", "Reject") == "Rejected: default stays."
    await house.quiet()
    assert who(house) == ["default"]
    assert not [text for text in ann.sees() if "critic" in text]

    house.model.then(says("what else"), says("the critic here"))
    ann.says("then?")
    await answers(ann, "Shall critic take over?", "Accept")
    await ann.gets("the critic here")
    await house.quiet()
    assert who(house) == ["default", "default", "critic"]
    assert house.model.asked[1].lines[-3:] == [
        ("user", "(The task for coder was not accepted; you stay in charge.)"),
        ("model", "(noted)"),
        ("user", "then?"),
    ]
    assert await depth(house) == ["critic"]


@walks("TASK_END_UI -yes-> END_DECIDE", "END_DECIDE -accept-> END_CONSUME", "END_CONSUME -> TASK_END_UI")
@pytest.mark.req("TSK-2", "TSK-3")
async def test_three_stacked_tasks_are_released_one_by_one_by_three_accepted_ends(house: House) -> None:
    ann = house.person()
    await stacked(house, ann, "coder", "critic", "tester")
    assert await depth(house) == ["coder", "critic", "tester"]

    house.model.then(calls(end("first"), end("second"), end("third")))
    ann.says("finish")
    for summary, agent, left in (
        ("first", "tester", ["coder", "critic"]),
        ("second", "critic", ["coder"]),
        ("third", "coder", []),
    ):
        card = await asked(ann, summary)
        assert f"{agent}'s task" in card.text
        await ann.presses("Accept", card)
        await house.until(f"SELECT 1 FROM task_ends WHERE summary = '{summary}' AND state = 'accepted'")
        assert await depth(house) == left
    await house.quiet()

    assert await house.values("SELECT state FROM tasks") == ["ended"] * 3
    house.model.then(says("back again"))
    ann.says("and now?")
    await ann.gets("back again")
    assert who(house)[-1] == "default"
    # The summary stands in the history of who had handed the task on, without a send.
    assert house.model.asked[-1].lines[-3:] == [
        ("user", "(The task you handed to coder has ended. Its summary:)\nthird"),
        ("model", "(noted)"),
        ("user", "and now?"),
    ]
    assert len(house.model.asked) == 6


@walks("END_DECIDE -later-> END_ROTATE", "END_ROTATE -> TASK_END_UI")
@pytest.mark.req("TSK-2", "TSK-3")
async def test_an_end_put_off_goes_to_the_end_of_the_queue_and_is_asked_once_a_chat(house: House) -> None:
    ann = house.person()
    await stacked(house, ann, "coder", "critic", "tester")
    house.model.then(calls(end("first"), end("second"), end("third")))
    ann.says("finish")
    assert await answers(ann, "first", "Later") == "Later, then."
    await answers(ann, "second", "Accept")
    await answers(ann, "third", "Later")
    await house.quiet()

    assert await depth(house) == ["coder", "critic"]
    assert await house.values("SELECT state FROM turns WHERE id = 2") == ["done"]
    waiting = "SELECT summary FROM task_ends WHERE state = 'said' ORDER BY place"
    assert await house.values(waiting) == ["first", "third"]

    house.model.then(says("yes?"))
    ann.says("hm")
    await ann.gets("yes?")
    again = await asked(ann, "first")
    assert "critic's task" in again.text
    await ann.presses("Accept", again)
    await answers(ann, "third", "Accept")
    await house.quiet()
    assert await depth(house) == []
    assert who(house)[-1] == "critic"


@walks("END_DECIDE -reject-> RETURN_USER")
@pytest.mark.req("TSK-2", "TSK-3")
async def test_a_rejected_end_leads_back_to_the_user_and_the_task_stays_open(house: House) -> None:
    ann = house.person()
    await stacked(house, ann, "coder", "critic", "tester")
    house.model.then(calls(end("first"), end("second")))
    ann.says("finish")
    assert await answers(ann, "first", "Reject") == "Rejected: tester goes on with its task."
    await house.quiet()

    assert await depth(house) == ["coder", "critic", "tester"]
    assert not [text for text in ann.sees() if "second" in text]
    house.model.then(says("I go on"))
    ann.says("go on")
    await answers(ann, "second", "Accept")
    await house.quiet()
    assert who(house)[-1] == "tester"
    assert ("user", "(The end of your task was not accepted; it goes on.)") in house.model.asked[-1].lines
    assert await depth(house) == ["coder", "critic"]


@pytest.mark.req("TSK-2", "TSK-3")
async def test_an_end_said_before_something_else_was_begun_waits_until_that_is_released(house: House) -> None:
    ann = house.person()
    await stacked(house, ann, "coder")
    house.model.then(calls(end("coded"), begin("tester", "Test it.")), says("testing"))
    ann.says("go on")
    await answers(ann, "Shall tester take over?", "Accept")
    await ann.gets("testing")
    await house.quiet()
    assert not [text for text in ann.sees() if "coded" in text]

    house.model.then(calls(end("tested")))
    ann.says("well?")
    await answers(ann, "tested", "Accept")
    await answers(ann, "coded", "Accept")
    await house.quiet()
    assert await depth(house) == []


@pytest.mark.req("TSK-3")
async def test_an_end_without_a_task_ends_nothing_and_asks_nobody(house: House) -> None:
    ann = house.person()
    house.model.then(calls(end("nothing"), text="I am done."), says("still me"))
    ann.says("done?")
    await ann.gets("I am done.")
    ann.says("who?")
    await ann.gets("still me")
    await house.quiet()
    assert who(house) == ["default", "default"]
    assert await house.values("SELECT COUNT(*) FROM requests") == [0]


# Interrupt in every state: each leads back to the user, and the next message is answered.


async def _interrupts(house: House, *, answerer: str) -> None:
    ann = house.person()
    ann.says("/stop")
    await ann.gets("Stopped.")
    await house.quiet()
    house.model.then(says("I hear you."))
    ann.says("hello?")
    await ann.gets("I hear you.")
    await house.quiet()
    assert who(house)[-1] == answerer


@pytest.mark.req("AGT-9", "APR-9", "TSK-5")
@pytest.mark.parametrize("state", ["thinking", "wait MCP", "MCP running", "begin asked", "end asked"])
async def test_an_interrupt_leads_back_to_the_user_from(state: str, house: House) -> None:
    ann = house.person()
    answerer = "default"
    match state:
        case "thinking":
            gate = house.model.hold("work")
            ann.says("work")
            await gate.reached()
        case "wait MCP":
            house.model.then(calls(count()))
            ann.says("work")
            await ann.gets_card()
        case "MCP running":
            gate = house.lab.hold("count")
            house.model.then(calls(count()))
            ann.says("work")
            await ann.gets_card()
            await ann.presses("Once")
            await gate.reached()
        case "begin asked":
            house.model.then(calls(begin("coder"), begin("critic")))
            ann.says("work")
            await ann.gets("Shall coder take over?")
        case _:
            answerer = "coder"
            await stacked(house, ann, "coder")
            house.model.then(calls(end("enough")))
            ann.says("work")
            await ann.gets("enough")
    await _interrupts(house, answerer=answerer)
    requests = await house.values("SELECT state FROM requests ORDER BY id")
    if state == "begin asked":
        assert requests == ["closed"]
        assert await house.values("SELECT state FROM tasks") == ["dropped", "dropped"]
    if state == "end asked":
        # The task stays open, and its end is asked about again after the chat that followed.
        assert requests == ["approved", "closed", "pending"]
        assert await depth(house) == ["coder"]
