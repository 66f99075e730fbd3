"""How a turn starts: what it took is given back when a step fails, and what it says belongs to what was asked."""

import pytest

from agent.runtime import AgentRuntime
from agent.snapshot import Snapshot
from tests.flow.conftest import Open

pytestmark = pytest.mark.req("EVT-4")


async def test_a_turn_whose_snapshot_fails_gives_its_place_back_and_says_so(
    house_of: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = await house_of(queue={"max_running_per_user": 1, "max_running": 1})
    ann, bob = house.person(), house.person("2", "Bob")
    take = AgentRuntime.snapshot

    async def fail_once(*_given: object) -> Snapshot:
        monkeypatch.setattr(AgentRuntime, "snapshot", take)
        raise RuntimeError("no catalogue")

    monkeypatch.setattr(AgentRuntime, "snapshot", fail_once)
    ann.says("first")
    await ann.gets("Something went wrong inside me")
    ann.says("second")
    bob.says("third")
    await ann.gets("You said: second")
    await bob.gets("You said: third")
    await house.quiet()

    assert house.model.questions[0] == "second"
    assert await house.values("SELECT state FROM turns ORDER BY id") == ["failed", "done", "done"]
    assert await house.values("SELECT active FROM lanes ORDER BY id") == [0, 0]


async def test_message_session_and_memorys_start_are_stored_before_a_turn_begins_and_the_answer_names_its_question(
    house_of: Open,
) -> None:
    house = await house_of()
    ann = house.person()
    asked = house.model.hold("good day")
    ann.says("good day")
    await asked.reached()

    stored = (
        "SELECT COUNT(*) FROM messages m JOIN sessions s ON s.id = m.session_id WHERE m.role = 'question'"
    )
    assert await house.values(stored) == [1]
    assert await house.values("SELECT COUNT(*) FROM memory_baselines") == [1]

    asked.open()
    await ann.gets("You said: good day")
    await house.quiet()
    rows = await house.rows("SELECT id, role, question_id FROM messages ORDER BY id")
    assert [(row["role"], row["question_id"]) for row in rows] == [
        ("question", None),
        ("answer", rows[0]["id"]),
    ]
