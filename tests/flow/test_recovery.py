"""A process ends in the middle of something: what was taken in is answered once, and no tool runs twice."""

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from agent.errors import StreamCut
from gateway.store import turns
from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import Gate, calls, says


@pytest.mark.req("DLV-1")
@pytest.mark.parametrize("ending", ["stop", "crash"])
async def test_an_update_that_comes_again_after_a_restart_changes_nothing(house: House, ending: str) -> None:
    """C49a, C49b."""
    ann = house.person()
    said = ann.says("hello there")
    await ann.gets("You said: hello there")
    await house.quiet()
    await (house.stop() if ending == "stop" else house.crash())
    await house.start()

    house.platform.say("hello there", ann.source, repeat_of=said.id)
    await house.quiet()

    assert len(ann.sees()) == 1
    assert await house.values("SELECT COUNT(*) FROM turns") == [1]


@pytest.mark.req("DLV-1")
async def test_an_update_repeated_at_once_is_one_turn(house: House) -> None:
    ann = house.person()
    said = ann.says("hello there")
    for _ in range(3):
        house.platform.say("hello there", ann.source, repeat_of=said.id)
    await ann.gets("You said: hello there")
    await house.quiet()

    assert house.model.questions == ["hello there"]


@pytest.mark.req("QUE-1", "EVT-3")
async def test_after_a_crash_a_lane_goes_on_in_order(house: House) -> None:
    ann = house.person()
    slow = house.model.hold("one")
    for word in ("one", "two", "three"):
        ann.says(word)
    await slow.reached()
    await house.platform.wait_received()
    await house.crash()
    slow.open()
    await house.start()
    await ann.gets("You said: three")
    await house.quiet()

    assert house.model.questions == ["one", "one", "two", "three"]
    assert [text.split("\n")[0] for text in ann.sees()] == [
        "You said: one",
        "You said: two",
        "You said: three",
    ]


@pytest.mark.req("EVT-3")
@pytest.mark.parametrize("approved", [False, True])
async def test_a_tool_that_ran_into_a_crash_is_not_run_again_and_its_outcome_is_unknown(
    house_of: Open, approved: bool
) -> None:
    """C128a and, with an approval, C128b."""
    house = await house_of(approvals={} if approved else {"allow": ["lab/*"]})
    ann = house.person()
    slow = house.lab.hold("count")
    house.model.then(calls(("lab__count", {"n": 1})), calls(("lab__count", {"n": 1})))
    ann.says("count please")
    if approved:
        await ann.presses("Once", await ann.gets_card())
    await slow.reached()
    await house.crash()
    house.lab.release("count")
    await house.start()

    if approved:  # the model asks again: that needs a person again
        card = await ann.gets_card()
        assert len(house.lab.runs) == 1
        await ann.gets("outcome unknown")
        await ann.presses("Deny", card)
        await ann.gets("was not allowed")
        await house.quiet()
    else:
        await ann.gets("returned: run 2")
    assert house.lab.runs == [("count", {"n": 1})] * (1 if approved else 2)
    unknown = [line for line in house.model.asked[-1].lines if line[0] == "interrupted"]
    assert len(unknown) == 1
    assert "outcome is unknown" in unknown[0][1]


@pytest.mark.req("EVT-3")
async def test_a_tool_that_the_configuration_calls_read_only_runs_again_after_a_crash(house_of: Open) -> None:
    house = await house_of(tools={"read_only": ["lab/look"]})
    ann = house.person()
    slow = house.lab.hold("look")
    ann.says("use look {}")
    await ann.presses("Once", await ann.gets_card())
    await slow.reached()
    await house.crash()
    house.lab.release("look")
    await house.start()
    await ann.gets("returned: run 2")

    assert house.lab.runs == [("look", {}), ("look", {})]
    assert await house.values("SELECT COUNT(*) FROM requests") == [1]


@pytest.mark.req("EVT-3")
async def test_a_finished_tool_does_not_run_again(house: House) -> None:
    ann = house.person()
    stuck = Gate()
    house.model.then(calls(("lab__count", {})), stuck, says("all done"))
    ann.says("count please")
    await ann.presses("Once", await ann.gets_card())
    await stuck.reached()
    await house.crash()
    await house.start()
    await ann.gets("all done")

    assert house.lab.runs == [("count", {})]
    assert house.model.asked[-1].lines[-1] == ("success", "run 1")


@pytest.mark.req("EVT-3")
async def test_after_three_attempts_without_progress_the_user_hears_that_it_is_given_up(house: House) -> None:
    ann = house.person()
    for attempt in range(3):
        stuck = house.model.hold("poison")
        if attempt == 0:
            ann.says("poison")
            ann.says("next")
        await stuck.reached()
        await house.until(
            f"SELECT 1 WHERE (SELECT COUNT(*) FROM turn_events WHERE kind = 'checkpoint') > {attempt}"
        )
        await house.crash()
        house.model.hold("poison")
        await house.start()
    await ann.gets("I tried this 3 times and was interrupted each time")
    await ann.gets("You said: next")
    await house.quiet()

    assert house.model.questions == ["poison"] * 3 + ["next"]
    assert await house.values("SELECT state FROM turns ORDER BY seq") == ["failed", "done"]


@pytest.mark.req("EVT-1")
async def test_a_turn_resumed_after_a_crash_first_takes_back_what_the_torn_send_had_said(
    house: House,
) -> None:
    ann = house.person()
    stuck = Gate()
    house.model.then(calls(("lab__count", {}), text="I count"), stuck)
    ann.says("count please")
    await ann.presses("Once", await ann.gets_card())
    await stuck.reached()
    await house.crash()
    await house.start()
    await ann.gets("returned: run 1")
    await house.quiet()

    events = await house.events(1)
    assert _visible_text(events) == "I count" + "`lab__count` returned: run 1"
    assert [kind for kind, _ in events].count("meta") == 1
    assert [payload["outcome"] for kind, payload in events if kind == "done"] == ["answered"]


@pytest.mark.req("EVT-1", "AGT-8")
async def test_a_stream_cut_half_way_is_asked_again_and_nothing_is_doubled(house: House) -> None:
    """C57b."""
    ann = house.person()
    house.model.then(StreamCut("cut"), says("whole"))
    ann.says("hello there")
    await ann.gets("whole")
    await house.quiet()

    assert ann.sees() == ["whole"]
    assert _visible_text(await house.events(1)) == "whole"


@pytest.mark.req("OPS-4", "EVT-3")
async def test_a_turn_that_ends_within_the_drain_time_is_answered_and_what_comes_meanwhile_is_kept(
    house: House,
) -> None:
    """C129a."""
    ann, bob = house.person("1"), house.person("2", "Bob")
    slow = house.model.hold("slow")
    ann.says("slow")
    await slow.reached()
    stopping = asyncio.create_task(house.stop())
    await asyncio.wait_for(house.daemon._stop.wait(), 10)
    bob.says("late")
    await house.platform.wait_received()
    assert bob.sees() == []
    slow.open()
    await stopping
    assert [text.split("\n")[0] for text in ann.sees()] == ["You said: slow"]

    await house.start()
    await bob.gets("You said: late")
    assert house.model.questions == ["slow", "late"]


@pytest.mark.req("OPS-4", "EVT-3")
async def test_a_turn_longer_than_the_drain_time_is_handed_back_says_so_once_and_goes_on_later(
    house_of: Open,
) -> None:
    """C129b."""
    house = await house_of(shutdown={"drain_s": 0})
    ann = house.person()
    for _ in range(2):
        slow = house.model.hold("slow")
        if not house.model.asked:
            ann.says("slow")
        await slow.reached()
        await house.stop()
        assert ann.sees() == ["I am being restarted in the middle of this; I go on with it afterwards."]
        house.model.hold("slow")
        await house.start()
    house.model._held["slow"].open()
    await ann.gets("You said: slow")
    await house.quiet()

    assert len(ann.sees()) == 2
    assert house.model.questions == ["slow"] * 3


@pytest.mark.req("OPS-4", "QUE-5")
async def test_a_turn_that_waits_for_a_person_is_not_told_of_a_restart(house_of: Open) -> None:
    house = await house_of(shutdown={"drain_s": 0})
    ann = house.person()
    ann.says("use count {}")
    await ann.gets_card()
    await house.quiet()
    await house.restart()
    await house.quiet()

    assert len(ann.sees()) == 2


def _held_end(monkeypatch: pytest.MonkeyPatch) -> tuple[asyncio.Event, threading.Event]:
    """Stop the writer's thread where a turn ends: (it is there, let it go on)."""
    loop, reached, go = asyncio.get_running_loop(), asyncio.Event(), threading.Event()
    end: Callable[..., Any] = turns.end

    def held(*args: Any, **kwargs: Any) -> Any:
        loop.call_soon_threadsafe(reached.set)
        assert go.wait(10)
        return end(*args, **kwargs)

    monkeypatch.setattr("gateway.store.turns.end", held)
    return reached, go


@pytest.mark.req("AGT-9", "EVT-6")
@pytest.mark.parametrize("why", ["stop", "shutdown"])
async def test_a_turn_that_is_cut_in_its_last_moment_ends_once(
    house: House, monkeypatch: pytest.MonkeyPatch, why: Any
) -> None:
    ann = house.person()
    reached, go = _held_end(monkeypatch)
    ann.says("plum")
    await asyncio.wait_for(reached.wait(), 10)
    monkeypatch.undo()
    assert house.daemon._queue.cut(1, why)
    go.set()
    ann.says("next")
    await ann.gets("You said: next")
    await house.quiet()

    assert [payload["outcome"] for kind, payload in await house.events(1) if kind == "done"] == ["answered"]
    assert await house.values("SELECT state FROM turns ORDER BY id") == ["done", "done"]
    assert [line for line in house.model.asked[-1].lines if line[0] == "user"] == [
        ("user", "plum"),
        ("user", "next"),
    ]
    assert len(ann.sees()) == 2


@pytest.mark.req("EVT-3")
async def test_a_turn_whose_row_cannot_be_read_is_set_aside_and_the_next_one_runs(house: House) -> None:
    """C127a."""
    ann, bob = house.person("1"), house.person("2", "Bob")
    slow = house.model.hold("slow")
    ann.says("slow")
    await slow.reached()
    ann.says("next")
    await house.platform.wait_received()
    await house.database.write(lambda tx: tx.run("UPDATE turns SET input = '{' WHERE id = 1"))
    await house.crash()
    await house.start()

    await ann.gets("Something went wrong inside me")
    await ann.gets("You said: next")
    bob.says("and me")
    await bob.gets("You said: and me")
    await house.quiet()
    assert await house.values("SELECT state FROM turns ORDER BY id") == ["failed", "done", "done"]


@pytest.mark.req("EVT-3", "SES-1")
async def test_a_session_whose_history_cannot_be_read_begins_anew_and_the_bad_data_is_kept(
    house: House,
) -> None:
    """C127a."""
    ann = house.person()
    ann.says("plum")
    await ann.gets("You said: plum")
    await house.quiet()
    await house.database.write(lambda tx: tx.run("UPDATE agent_state SET message = '' WHERE seq = 1"))

    ann.says("what did I say")
    await ann.gets("I cannot read our conversation so far any more, so a new one begins.")
    ann.says("then hello")
    await ann.gets("You said: then hello")
    await house.quiet()

    assert await house.values("SELECT end_reason FROM sessions ORDER BY id") == ["damaged", None]
    assert house.model.asked[-1].lines == [("user", "then hello")]
    assert await house.values("SELECT COUNT(*) FROM agent_state WHERE session_id = 1") == [2]


def _visible_text(events: list[tuple[str, dict[str, Any]]]) -> str:
    """The text a reader has who obeys retractions."""
    texts: dict[int, str] = {}
    for idx, (kind, payload) in enumerate(events):
        if kind == "text":
            texts[idx] = payload["text"]
        elif kind == "retract":
            texts = {at: text for at, text in texts.items() if at < payload["from_idx"]}
    return "".join(texts[at] for at in sorted(texts))
