"""The chat's loop, through its events."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing

import pytest
from pydantic_ai.messages import ModelRequest, SystemPromptPart, ToolReturnPart, UserPromptPart

from agent import notices
from agent.chat import chat
from agent.errors import ContextTooLong, ProviderBusy, ProviderDown, ProviderRefused, StreamCut
from agent.events import (
    ApprovalNeeded,
    ChatEnded,
    Checkpoint,
    Failed,
    Noted,
    Paid,
    Responded,
    Retracted,
    StatusChanged,
    TextDelta,
    ThinkingDelta,
    ToolReturned,
    ToolShown,
    ToolStarted,
    Usage,
)
from agent.ports import ChatState, Denied, TurnInput
from agent.snapshot import Route
from agent.tasks import task_tools
from agent.tools.registry import ToolCallContext, ToolResult
from tests.unit.agent.scripted import (
    ALLOW,
    PENDING,
    Broken,
    Counter,
    Orders,
    ScriptedProvider,
    asks,
    records_in,
    run_chat,
    says,
    snapshot,
    thinks,
    tool,
)

HALF_JSON = '{"path": "a'


def results(events: list[object]) -> list[tuple[str, str]]:
    return [(e.call_id, e.outcome) for e in events if isinstance(e, ToolReturned)]


def told(provider: ScriptedProvider, send: int = -1) -> list[ToolReturnPart]:
    """The tool results the model found in a send's last message."""
    return [part for part in provider.seen[send][-1].parts if isinstance(part, ToolReturnPart)]


@pytest.mark.req("AGT-2", "AGT-5")
async def test_an_answer_without_calls_is_one_send_from_checkpoint_a_to_checkpoint_c():
    provider = ScriptedProvider([says("Good day")])
    events = await run_chat(snapshot(provider))
    (responded,) = [event for event in events if isinstance(event, Responded)]
    assert events == [
        Checkpoint(
            name="A",
            data={"agent": "default", "history": 0, "round": 0, "send": 0, "tools": "all", "empties": 0},
        ),
        StatusChanged(status="thinking"),
        TextDelta(text="Good"),
        TextDelta(text=" day"),
        responded,
        Checkpoint(name="C", data={"outcome": "answered", "sends": 1, "begins": [], "ends": [], "queue": []}),
        StatusChanged(status="done"),
        ChatEnded(usage=Usage(requests=1, usd_micros=None)),
    ]
    assert responded.text == "Good day"


@pytest.mark.req("AGT-11")
async def test_a_send_opens_with_identity_then_context_then_the_question():
    provider = ScriptedProvider([says("hi")])
    await run_chat(snapshot(provider), text="hello")
    system, user = provider.seen[0]
    assert [part.content for part in system.parts if isinstance(part, SystemPromptPart)] == [
        "You are a test.\n\nA test chat."
    ]
    assert [part.content for part in user.parts if isinstance(part, UserPromptPart)] == ["hello"]


@pytest.mark.req("AGT-2")
async def test_the_response_is_recorded_before_its_calls_which_run_one_after_the_other():
    first, second = Counter(), Counter()
    provider = ScriptedProvider([asks(("shop__a", {"n": 1}), ("shop__b", {"n": 2})), says("done")])
    events = await run_chat(snapshot(provider, tool("a", first.run), tool("b", second.run)))
    order = [
        (type(e).__name__, getattr(e, "call_id", ""))
        for e in events
        if isinstance(e, Responded | ToolStarted | ToolReturned)
    ]
    assert order == [
        ("Responded", ""),
        ("ToolStarted", "0.0"),
        ("ToolReturned", "0.0"),
        ("ToolStarted", "0.1"),
        ("ToolReturned", "0.1"),
        ("Responded", ""),
    ]
    assert (first.runs, second.runs) == ([{"n": 1}], [{"n": 2}])
    assert [part.tool_call_id for part in told(provider)] == ["call_7_0_0", "call_7_0_1"]
    assert [e.data["position"] for e in events if isinstance(e, Checkpoint) and e.name == "B"] == [0, 1]


@pytest.mark.req("APR-1")
async def test_a_call_that_asks_leaves_the_chat_with_the_whole_queue_and_runs_nothing():
    counter = Counter()
    provider = ScriptedProvider([asks(("shop__a", {}), ("shop__b", {}))])
    gate = Orders({"a": [ALLOW], "b": [PENDING]})
    snap = snapshot(provider, tool("a", Counter().run), tool("b", counter.run))
    events = await run_chat(snap, gate)
    last = events[-1]
    assert isinstance(last, ApprovalNeeded)
    assert ([call.ref for call in last.queue], last.current) == (["shop/a", "shop/b"], 1)
    assert events[-3:-1] == [ToolShown(call=last.queue[1], state="waiting"), StatusChanged(status="waiting")]
    assert counter.runs == []
    assert gate.asked == [("0.0", "shop/a", "ask"), ("0.1", "shop/b", "ask")]


@pytest.mark.req("APR-1", "AGT-8")
async def test_a_card_lists_no_call_that_cannot_run():
    provider = ScriptedProvider([asks(("nope", {}), ("shop__a", HALF_JSON), ("shop__a", {}))])
    events = await run_chat(snapshot(provider, tool("a", Counter().run)), Orders({"a": [PENDING]}))
    assert isinstance(events[-1], ApprovalNeeded)
    assert ([call.id for call in events[-1].queue], events[-1].current) == (["0.2"], 0)


@pytest.mark.req("APR-1", "APR-6")
async def test_after_a_decision_the_same_chat_goes_on_behind_what_it_has_done():
    a, b = Counter(), Counter()
    provider = ScriptedProvider([asks(("shop__a", {}), ("shop__b", {})), says("done")])
    snap = snapshot(provider, tool("a", a.run), tool("b", b.run))
    parked = await run_chat(snap, Orders({"b": [PENDING]}))
    events = await run_chat(snap, Orders({"b": [ALLOW]}), records=records_in(parked))
    assert (len(a.runs), len(b.runs)) == (1, 1)
    assert results(events) == [("0.1", "ok")]
    assert isinstance(events[-1], ChatEnded)


@pytest.mark.req("APR-1", "APR-7")
async def test_a_denied_call_does_not_run_and_the_model_hears_why():
    counter = Counter()
    provider = ScriptedProvider([asks(("shop__a", {})), says("I see")])
    gate = Orders({"a": [Denied(reason="nobody answered; silence is not consent")]})
    events = await run_chat(snapshot(provider, tool("a", counter.run)), gate)
    assert counter.runs == []
    assert results(events) == [("0.0", "denied")]
    (part,) = told(provider)
    assert (part.outcome, part.content) == ("denied", "Not run: nobody answered; silence is not consent")
    assert [e.state for e in events if isinstance(e, ToolShown)] == ["queued", "denied"]


@pytest.mark.req("AGT-8")
async def test_half_written_arguments_run_nothing_show_no_card_and_are_told_with_the_tools_name():
    """C142a."""
    counter = Counter()
    provider = ScriptedProvider(
        [asks(("shop__a", HALF_JSON)), asks(("shop__a", '{"path": "a"}')), says("ok")]
    )
    gate = Orders()
    events = await run_chat(snapshot(provider, tool("a", counter.run)), gate)
    assert results(events) == [("0.0", "error"), ("1.0", "ok")]
    (part,) = told(provider, 1)
    assert (
        part.content
        == f"shop__a was not run: its arguments are not a valid JSON object. They were: {HALF_JSON}"
    )
    assert [(e.call.id, e.state) for e in events if isinstance(e, ToolShown)] == [
        ("1.0", "queued"),
        ("1.0", "running"),
        ("1.0", "done"),
    ]
    assert gate.asked == [("1.0", "shop/a", "ask")]
    assert counter.runs == [{"path": "a"}]


@pytest.mark.req("AGT-8")
@pytest.mark.parametrize("name", ["nope", "shop.a b", "", "x" * 200])
async def test_an_unknown_tool_is_an_error_result_and_the_chat_goes_on(name: str):
    provider = ScriptedProvider([asks((name, {})), says("sorry")])
    events = await run_chat(snapshot(provider))
    assert results(events) == [("0.0", "error")]
    assert events[-1] == ChatEnded(usage=Usage(requests=2, usd_micros=None))


@pytest.mark.req("AGT-8")
@pytest.mark.parametrize("blank", ["", " \n ", "\u200b\u200d\ufeff", "\u2060\u3164"])
async def test_an_empty_answer_is_asked_for_once_more(blank: str):
    """C53a-c."""
    provider = ScriptedProvider([says(blank), says("here")])
    events = await run_chat(snapshot(provider))
    assert [e.text for e in events if isinstance(e, Responded)] == ["here"]
    assert [e.data["empties"] for e in events if isinstance(e, Checkpoint) and e.name == "A"] == [0, 1]
    assert sum(isinstance(e, Retracted) for e in events) == 1


@pytest.mark.req("AGT-8")
async def test_a_model_that_only_thinks_twice_ends_in_a_notice():
    provider = ScriptedProvider([thinks("hm"), thinks("hmm")])
    events = await run_chat(snapshot(provider))
    failed = [event for event in events if isinstance(event, Failed)]
    assert [(f.kind, f.message) for f in failed] == [("empty", notices.EMPTY)]
    assert not any(isinstance(e, Responded) or e == Checkpoint(name="C") for e in events)
    assert isinstance(events[-1], ChatEnded)
    assert [(paid.model, paid.usage.requests) for paid in events if isinstance(paid, Paid)] == [
        ("scripted", 1)
    ] * 2
    assert events[-1].usage.requests == 2


@pytest.mark.req("AGT-8", "EVT-1")
async def test_a_cut_stream_is_taken_back_and_sent_again():
    """C57b: nothing of the cut answer is taken for an answer."""
    provider = ScriptedProvider([Broken(StreamCut("cut"), after=("half ", "an ")), says("whole")])
    events = await run_chat(snapshot(provider))
    assert [e for e in events if isinstance(e, TextDelta | Retracted | Responded)][:4] == [
        TextDelta(text="half "),
        TextDelta(text="an "),
        Retracted(),
        TextDelta(text="whole"),
    ]
    assert [e.text for e in events if isinstance(e, Responded)] == ["whole"]


@pytest.mark.req("AGT-8", "EVT-5")
async def test_a_stream_cut_each_time_fails_with_a_notice_and_can_be_tried_again_later():
    """C57a: and the next message works with a valid history."""
    cut = Broken(StreamCut("cut in the middle of a call"), after=("half",))
    provider = ScriptedProvider([cut, cut, cut, says("at last")])
    snap = snapshot(provider)
    events = await run_chat(snap)
    assert [e.kind for e in events if isinstance(e, Failed)] == ["provider"]
    assert events[-4] == Retracted()
    again = await run_chat(snap, records=records_in(events))
    assert [e.text for e in again if isinstance(e, Responded)] == ["at last"]


@pytest.mark.req("ACC-4")
async def test_a_providers_words_never_reach_the_user_and_keys_never_reach_the_log():
    """C105a: a short reference joins the two."""
    secret = "sk-verysecret123456"
    text = f"POST https://api.example.org/v1?key={secret} failed in /home/me/app.py Traceback"
    provider = ScriptedProvider([Broken(ProviderRefused(text))])
    events = await run_chat(snapshot(provider))
    (failed,) = [event for event in events if isinstance(event, Failed)]
    assert failed.message == notices.provider_failed(ProviderRefused(""), "0badcafe")
    assert "0badcafe" in failed.message
    assert failed.detail.startswith("0badcafe ProviderRefused: POST https://api.example.org")
    assert secret not in failed.detail


async def test_a_conversation_too_long_for_the_model_fails_as_such():
    provider = ScriptedProvider([Broken(ContextTooLong("400"))])
    events = await run_chat(snapshot(provider))
    assert [e.kind for e in events if isinstance(e, Failed)] == ["context"]


@pytest.mark.req("AGT-6")
async def test_at_the_budget_one_last_send_without_tools_ends_the_work_and_says_why():
    counter = Counter()
    endless = [asks(("shop__a", {})) for _ in range(10)]
    provider = ScriptedProvider([*endless, asks(("shop__a", {}), text="so far")])
    events = await run_chat(snapshot(provider, tool("a", counter.run), budget=10))
    assert len(counter.runs) == 10
    assert provider.tools_seen == [("shop__a",)] * 10 + [()]
    assert [e.message for e in events if isinstance(e, Noted)] == [
        "I stopped after 10 steps, the limit for one message. Ask me to go on if you want more."
    ]
    assert results(events)[-1] == ("10.0", "error")
    assert isinstance(events[-1], ChatEnded)


@pytest.mark.req("AGT-6")
async def test_caution_and_warning_stand_before_the_model_and_never_in_the_records():
    provider = ScriptedProvider([asks(("shop__a", {})) for _ in range(10)] + [says("end")])
    events = await run_chat(snapshot(provider, tool("a", Counter().run), budget=10))
    notes = [
        [part.content[:9] for part in sent[-1].parts if isinstance(part, UserPromptPart)]
        for sent in provider.seen
    ]
    assert notes == [["hello"], *[[]] * 6, *[["[Caution:"]] * 2, ["[Warning:"], ["[The step"]]
    assert "[Caution" not in "".join(e.message_json for e in events if isinstance(e, Responded))


@pytest.mark.req("AGT-6")
async def test_the_budget_holds_over_restarts():
    provider = ScriptedProvider([asks(("shop__a", {})), says("last")])
    spent = [Checkpoint(name="A", data={"tools": "all", "empties": 0})] * 9
    snap = snapshot(provider, tool("a", Counter().run), budget=10)
    events = await run_chat(snap, records=spent)
    assert provider.tools_seen == [("shop__a",), ()]
    assert isinstance(events[0], Retracted)


@pytest.mark.req("EVT-3")
async def test_an_external_tool_that_was_running_is_reported_as_unknown_and_never_run_again():
    """C128a."""
    counter = Counter()
    provider = ScriptedProvider([asks(("shop__a", {})), says("I see")])
    snap = snapshot(provider, tool("a", counter.run))
    whole = await run_chat(snap)
    crashed = records_in(whole)[:3]
    assert crashed[-1] == ToolStarted(call_id="0.0", effect="external")
    provider.script = [says("I see")]
    events = await run_chat(snap, records=crashed)
    assert len(counter.runs) == 1
    assert results(events) == [("0.0", "unknown")]
    assert told(provider)[0].outcome == "interrupted"


@pytest.mark.req("EVT-3")
async def test_asked_again_after_an_unknown_outcome_it_needs_a_fresh_approval():
    """C128b."""
    counter = Counter()
    provider = ScriptedProvider([asks(("shop__a", {})), says("x")])
    snap = snapshot(provider, tool("a", counter.run))
    crashed = records_in(await run_chat(snap))[:3]
    provider.script = [asks(("shop__a", {}))]
    gate = Orders({"a": [PENDING]})
    events = await run_chat(snap, gate, records=crashed)
    assert gate.asked == [("1.0", "shop/a", "ask")]
    assert isinstance(events[-1], ApprovalNeeded)
    assert len(counter.runs) == 1


@pytest.mark.req("EVT-3")
@pytest.mark.parametrize("effect", ["read", "idempotent"])
async def test_a_harmless_tool_that_was_running_runs_again_without_a_second_question(effect):
    counter = Counter()
    provider = ScriptedProvider([asks(("shop__a", {})), says("x")])
    snap = snapshot(provider, tool("a", counter.run, effect=effect))
    crashed = records_in(await run_chat(snap))[:3]
    provider.script = [says("done")]
    gate = Orders({"a": [PENDING]})
    events = await run_chat(snap, gate, records=crashed)
    assert len(counter.runs) == 2
    assert gate.asked == []
    assert results(events) == [("0.0", "ok")]


@pytest.mark.req("AGT-4")
async def test_a_tool_that_vanished_while_the_turn_waited_is_an_error_result():
    provider = ScriptedProvider([asks(("shop__a", {})), says("pity")])
    parked = await run_chat(snapshot(provider, tool("a", Counter().run)), Orders({"a": [PENDING]}))
    events = await run_chat(snapshot(provider), records=records_in(parked))
    assert results(events) == [("0.0", "error")]


async def test_a_chat_that_had_ended_ends_again_and_sends_nothing():
    provider = ScriptedProvider([says("hi")])
    whole = await run_chat(snapshot(provider))
    events = await run_chat(snapshot(provider), records=records_in(whole))
    assert events == [StatusChanged(status="done"), whole[-1]]


@pytest.mark.req("AGT-9")
async def test_stopping_cancels_the_running_tool():
    started, cancelled = asyncio.Event(), asyncio.Event()

    async def wait(args: Mapping[str, object], context: ToolCallContext) -> ToolResult:
        started.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise
        raise AssertionError

    provider = ScriptedProvider([asks(("shop__a", {}))])
    task = asyncio.create_task(run_chat(snapshot(provider, tool("a", wait))))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cancelled.is_set()


@pytest.mark.req("AGT-9")
async def test_closing_the_chat_between_two_events_closes_the_providers_stream():
    closed = asyncio.Event()

    class Endless:
        async def send(self, messages, tools, settings):
            try:
                while True:
                    yield TextDelta(text="on and ")
            finally:
                closed.set()

    snap = snapshot(Endless())
    stream = chat(TurnInput(turn_id=1, text="go"), snap, ChatState(), Orders())
    async with aclosing(stream) as events:
        async for event in events:
            if isinstance(event, TextDelta):
                break
    assert closed.is_set()


async def test_a_tool_that_gives_no_result_in_time_has_an_unknown_outcome():
    async def never(args: Mapping[str, object], context: ToolCallContext) -> ToolResult:
        await asyncio.Event().wait()
        raise AssertionError

    provider = ScriptedProvider([asks(("shop__a", {})), says("ok")])
    events = await run_chat(snapshot(provider, tool("a", never), tool_timeout_s=0.01))
    assert results(events) == [("0.0", "unknown")]


@pytest.mark.parametrize(("effect", "runs", "outcome"), [("read", 2, "ok"), ("external", 1, "unknown")])
async def test_a_call_lost_with_its_server_is_repeated_only_if_that_does_no_harm(effect, runs, outcome):
    counter = Counter(lost=True)
    provider = ScriptedProvider([asks(("shop__a", {})), says("ok")])
    events = await run_chat(snapshot(provider, tool("a", counter.run, effect=effect)))
    assert len(counter.runs) == runs
    assert results(events) == [("0.0", outcome)]


async def test_whatever_a_tool_raises_is_a_failed_call_without_its_words():
    counter = Counter(answer=RuntimeError("password=hunter2 in /etc/x"))
    provider = ScriptedProvider([asks(("shop__a", {})), says("ok")])
    events = await run_chat(snapshot(provider, tool("a", counter.run)))
    assert results(events) == [("0.0", "error")]
    assert told(provider)[0].content == "shop__a failed inside (RuntimeError)."


@pytest.mark.req("TSK-1", "AGT-2")
async def test_task_calls_get_their_result_at_once_and_end_the_chat_after_the_queue():
    counter = Counter()
    begin = ("task_begin", {"agent": "coder", "goal": "write it"})
    provider = ScriptedProvider([asks(("shop__a", {}), begin)])
    gate = Orders()
    snap = snapshot(provider, tool("a", counter.run), *task_tools("default", {"default": "", "coder": ""}))
    events = await run_chat(snap, gate)
    assert [e for e in events if isinstance(e, ToolReturned)] == [
        ToolReturned(call_id="0.1", outcome="ok", content=notices.HANDED_OVER),
        ToolReturned(call_id="0.0", outcome="ok", content="counted"),
    ]
    assert gate.asked == [("0.0", "shop/a", "ask")]
    (last,) = [e for e in events if isinstance(e, Checkpoint) and e.name == "C"]
    assert last.data["begins"] == [{"agent": "coder", "goal": "write it"}]
    assert last.data["queue"] == [["0.0", "ok"]]


@pytest.mark.req("TSK-1")
async def test_a_round_of_nothing_but_a_task_end_ends_the_chat():
    provider = ScriptedProvider([asks(("task_end", {"summary": "all done"}))])
    events = await run_chat(snapshot(provider, *task_tools("default", {"default": "", "coder": ""})))
    (last,) = [e for e in events if isinstance(e, Checkpoint) and e.name == "C"]
    assert last.data["ends"] == [{"summary": "all done"}]


@pytest.mark.req("AGT-2")
async def test_a_task_end_beside_a_call_does_not_end_the_chat():
    provider = ScriptedProvider([asks(("task_end", {"summary": "s"}), ("shop__a", {})), says("more")])
    snap = snapshot(provider, tool("a", Counter().run), *task_tools("default", {"default": "", "coder": ""}))
    events = await run_chat(snap)
    assert [e.text for e in events if isinstance(e, Responded)] == ["", "more"]


@pytest.mark.req("AGT-8", "TSK-1")
async def test_a_task_for_nobody_is_an_error_and_the_model_goes_on():
    provider = ScriptedProvider([asks(("task_begin", {"agent": "nobody", "goal": "g"})), says("sorry")])
    events = await run_chat(snapshot(provider, *task_tools("default", {"default": "", "coder": ""})))
    assert results(events) == [("0.0", "error")]
    assert [e.text for e in events if isinstance(e, Responded)] == ["", "sorry"]


@pytest.mark.req("AGT-7")
async def test_after_the_retries_the_next_model_answers_and_the_user_is_told_once():
    down = Broken(ProviderDown("503"), after=("par",))
    own = ScriptedProvider([down, down, down])
    other = ScriptedProvider([asks(("shop__a", {})), says("from the other")])
    routes = (Route(name="gpt", provider=own), Route(name="spare", provider=other))
    snap = snapshot(own, tool("a", Counter().run), routes=routes)
    events = await run_chat(snap)
    assert [e.message for e in events if isinstance(e, Noted)] == [
        "The model gpt could not be reached; this is from spare."
    ]
    assert sum(isinstance(e, Retracted) for e in events) == 3
    # The second send does not knock at the failing model again: it cools down.
    assert own.script == []


@pytest.mark.req("AGT-7", "ACC-4")
@pytest.mark.parametrize(
    ("failure", "words"),
    [
        (ProviderBusy("429 for key sk-secret"), "is busy (its provider limits how much may be asked)"),
        (
            ProviderRefused("401: bad key sk-secret"),
            "was refused by its provider (the key, the quota or the model's name; the log says more)",
        ),
        (ContextTooLong("too long: sk-secret"), "cannot read a conversation this long"),
        (StreamCut("cut sk-secret"), "broke off half-way, several times"),
        (ProviderDown("https://host/sk-secret"), "could not be reached"),
        (None, "failed a short while ago and is left alone for now"),
    ],
)
def test_a_fallback_says_why_it_had_to_answer_in_plain_words(failure, words):
    assert notices.fallback_answered("gpt", "demo", failure) == f"The model gpt {words}; this is from demo."


@pytest.mark.req("AGT-7")
async def test_a_model_that_cools_down_is_said_to_have_failed_before():
    own = ScriptedProvider([Broken(ProviderRefused("401"))])
    other = ScriptedProvider([says("one"), says("two")])
    snap = snapshot(own, routes=(Route(name="gpt", provider=own), Route(name="spare", provider=other)))
    said = [[event.message for event in await run_chat(snap) if isinstance(event, Noted)] for _ in range(2)]
    assert ["was refused" in said[0][0], "failed a short while ago" in said[1][0]] == [True, True]


@pytest.mark.req("AGT-7")
async def test_a_busy_provider_is_given_the_time_it_asks_for():
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    provider = ScriptedProvider([Broken(ProviderBusy("429", retry_after_s=12.5)), says("hi")])
    stream = chat(TurnInput(turn_id=1, text="x"), snapshot(provider), ChatState(), Orders(), sleep=sleep)
    events = [event async for event in stream]
    assert slept == [12.5]
    assert isinstance(events[-2], StatusChanged)


@pytest.mark.parametrize(
    ("finish", "notice"), [("length", notices.CUT_BY_LENGTH), ("content_filter", notices.FILTERED)]
)
async def test_an_answer_the_provider_cut_short_is_said_to_be_so(finish: str, notice: str):
    events = await run_chat(snapshot(ScriptedProvider([says("and then", finish=finish)])))
    assert [e.message for e in events if isinstance(e, Noted)] == [notice]


async def test_what_was_streamed_is_always_the_text_that_is_recorded():
    """A provider whose response differs from its deltas, with a half character in both."""

    class Odd:
        async def send(self, messages, tools, settings):
            yield ThinkingDelta(text="hm \ud83d")
            yield TextDelta(text="wrong")
            yield says("right \ud83d", "and more")

    events = await run_chat(snapshot(Odd()))
    shown = ""
    for event in events:
        match event:
            case Retracted():
                shown = ""
            case TextDelta(text=text):
                shown += text
    (responded,) = [event for event in events if isinstance(event, Responded)]
    assert shown == responded.text == "right \ufffd\n\nand more"


async def test_earlier_turns_come_before_the_question():
    first = ScriptedProvider([asks(("shop__a", {})), says("one")])
    snap = snapshot(first, tool("a", Counter().run))
    from agent.keeping import closed_history

    given = TurnInput(turn_id=1, text="first")
    records = records_in(await run_chat(snap, text="first", turn_id=1))
    history = closed_history(given, ChatState(records=records), closing="over").appended
    second = ScriptedProvider([says("two")])
    await run_chat(snapshot(second), text="second", turn_id=2, history=history)
    kinds = [type(message).__name__ for message in second.seen[0]]
    assert kinds == [
        "ModelRequest",
        "ModelRequest",
        "ModelResponse",
        "ModelRequest",
        "ModelResponse",
        "ModelRequest",
    ]
    assert isinstance(second.seen[0][-1], ModelRequest)
