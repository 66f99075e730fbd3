"""A turn that failed for its provider's reasons is tried again from where it stood, by a button or in words."""

import pytest

from agent.errors import ProviderRefused
from agent.events import Usage
from agent.history import load
from gateway.retrying import BUSY
from gateway.store.turns import StoredEvent
from gateway.turns.translate import records_of
from tests.flow.agents import AGENTS, answers, begin, depth, who
from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.scripted import Gate, calls, says
from tests.unit.agent.scripted import strictly_valid

pytestmark = pytest.mark.req("EVT-5")

FAILED = "The model's provider refused the request."
DOWN = ProviderRefused("503 everywhere")


async def fails(person: Person, text: str, **details: bool) -> None:
    """The model is asked, calls a tool, hears its result, and cannot be reached any more."""
    person.says(text, **details)
    card = await person.gets_card()
    await person.presses("Once", card)
    await person.gets(FAILED)


@pytest.fixture
def script(house: House) -> House:
    house.model.then(calls(("lab__count", {"n": 1})), DOWN, says("counted once"))
    return house


@pytest.mark.req("EVT-3")
async def test_a_retry_goes_on_from_the_last_checkpoint_and_runs_no_finished_tool_again(
    script: House,
) -> None:
    house, ann = script, script.person()
    await fails(ann, "count please")
    told = await ann.presses("Retry")
    await ann.gets("counted once")
    await house.quiet()

    assert told.text == "I try that again."
    assert house.lab.runs == [("count", {"n": 1})]
    assert house.model.asked[-1].lines == [
        ("user", "count please"),
        ("call", "lab__count"),
        ("success", "run 1"),
    ]
    assert next(text for text in ann.sees() if FAILED in text).endswith("I try that again.")
    turns = await house.rows("SELECT id, state, failure, retried_as FROM turns ORDER BY id")
    assert [tuple(turn) for turn in turns] == [(1, "failed", "provider", 2), (2, "done", None, None)]
    kinds = [kind for kind, _ in await house.events(2)]
    assert kinds.count("model_response") == 2
    assert kinds.count("meta") == 1
    assert "retract" not in kinds
    (question, answer) = await house.rows(
        "SELECT id, question_id FROM messages WHERE turn_id = 2 AND role IN ('question', 'answer') ORDER BY id"
    )
    assert answer["question_id"] == question["id"]


async def test_a_retry_works_after_a_restart_and_after_other_turns_and_the_history_holds_the_question_once(
    script: House,
) -> None:
    house, ann = script, script.person()
    await fails(ann, "count please")
    await house.quiet()
    await house.restart()
    house.model._replies.appendleft(says("something else"))
    ann.says("another thing")
    await ann.gets("something else")
    await house.quiet()
    house.clock.pass_by(hours=5)
    await ann.presses("Retry")
    await ann.gets("counted once")
    ann.says("and now")
    await ann.gets("You said: and now")
    await house.quiet()

    assert [line for line in house.model.asked[-1].lines if line[0] in {"user", "model"}] == [
        ("user", "another thing"),
        ("model", "something else"),
        ("user", "count please"),
        ("model", "counted once"),
        ("user", "and now"),
    ]
    assert len(house.lab.runs) == 1


@pytest.mark.req("APR-4")
async def test_it_is_tried_again_once_by_words_or_by_the_button(script: House) -> None:
    house, ann = script, script.person()
    await fails(ann, "count please")
    card = ann.newest_with("Retry")
    ann.says("/retry")
    await ann.gets("counted once")
    answer = await ann.presses("Retry", card)
    ann.says("/retry")
    await ann.gets("There is nothing to try again here.")
    await house.quiet()

    assert answer.alert
    assert len(await house.rows("SELECT id FROM turns")) == 2


@pytest.mark.req("APR-5")
async def test_only_who_asked_or_an_admin_tries_it_again(house_of: Open) -> None:
    house = await house_of(
        access={"allow": {"memory": ["*", "chat:-7"]}, "admins": {"memory": ["9"]}},
        sessions={"group": "shared"},
    )
    ann, bob, ada = house.member("1", "Ann"), house.member("2", "Bob"), house.member("9", "Ada")
    house.model.then(DOWN, says("at last"))
    ann.says("hello", mentions=True)
    card = await ann.gets(FAILED)
    refused = await bob.presses("Retry", card)
    bob.says("/retry")
    await bob.gets("Only who asked, or an admin, may try that again.")
    assert refused.text == "Only the person concerned or an admin may answer this. Nothing was done."

    await ada.presses("Retry", card)
    await ann.gets("at last")
    await house.quiet()
    assert await house.values("SELECT requester FROM turns") == ["memory:1", "memory:1"]


async def test_an_offer_blocks_nothing_and_a_new_conversation_leaves_it_behind(house: House) -> None:
    ann = house.person()
    house.model.then(DOWN, says("fine"))
    ann.says("hello")
    card = await ann.gets(FAILED)
    ann.says("something else")
    await ann.gets("fine")
    ann.says("/new")
    await ann.gets("A new conversation begins")

    told = await ann.presses("Retry", card)
    assert told.text.startswith("That conversation has ended")
    ann.says("/retry")
    await ann.gets("There is nothing to try again here.")


async def test_a_retry_that_fails_can_be_tried_again_and_survives_a_crash(script: House) -> None:
    house, ann = script, script.person()
    house.model._replies.insert(2, DOWN)
    await fails(ann, "count please")
    first = ann.newest_with("Retry")
    await ann.presses("Retry", first)
    await house.platform.wait_until(
        lambda: any("Retry" in each.tokens for each in house.platform.shown if each != first)
    )
    gate = house.model.hold("count please")
    await ann.presses("Retry")
    await gate.reached()
    await house.crash()
    gate.open()
    await house.start()
    await ann.gets("counted once")
    await house.quiet()

    assert len(house.lab.runs) == 1
    assert await house.values("SELECT state FROM turns ORDER BY id") == ["failed", "failed", "done"]


@pytest.mark.req("AGT-7")
async def test_what_was_used_before_the_failure_is_counted_once(script: House) -> None:
    house, ann = script, script.person()
    await fails(ann, "count please")
    await ann.presses("Retry")
    await ann.gets("counted once")
    await house.quiet()

    requests = await house.values("SELECT requests FROM turn_usage ORDER BY turn_id")
    assert requests == [1, 1]
    events = await house.database.read(
        lambda tx: tx.rows("SELECT idx, kind, payload FROM turn_events WHERE turn_id = 2 ORDER BY idx")
    )
    stored = tuple(StoredEvent(idx=e["idx"], kind=e["kind"], payload=e["payload"]) for e in events)
    used = [record.usage for record in records_of(stored) if hasattr(record, "usage")]
    assert used[0] == Usage()


@pytest.mark.req("ACC-3")
async def test_no_retry_when_the_day_is_used_up(house_of: Open) -> None:
    house = await house_of(limits={"tokens_per_day": 0})
    house.settings["limits"] = {}
    await house.restart()
    ann = house.person()
    house.model.then(DOWN, says("at last"))
    ann.says("hello")
    card = await ann.gets(FAILED)
    house.settings["limits"] = {"tokens_per_day": 0}
    await house.restart()
    told = await ann.presses("Retry", card)
    assert "used up (0 tokens)" in told.text
    house.settings["limits"] = {}
    await house.restart()
    ann.says("/retry")
    await ann.gets("at last")


@pytest.mark.req("TSK-2", "AGT-3")
async def test_a_failure_in_a_task_is_tried_again_by_the_tasks_agent_and_the_others_history_stays(
    house_of: Open,
) -> None:
    house = await house_of(agents=AGENTS)
    ann = house.person()
    house.model.then(calls(begin("coder", "write it")), DOWN, says("written"))
    ann.says("build me a thing")
    await answers(ann, "coder", "Accept")
    await ann.gets(FAILED)
    await ann.presses("Retry")
    await ann.gets("written")
    await house.quiet()

    assert who(house) == ["default", "coder", "coder"]
    assert await depth(house) == ["coder"]
    kept = await house.rows(
        "SELECT agent, turn_id, COUNT(*) FROM agent_state GROUP BY agent, turn_id ORDER BY 1, 2"
    )
    assert [tuple(row)[:2] for row in kept] == [("coder", 2), ("default", 1)]  # type: ignore[call-overload]


@pytest.mark.req("CTX-1")
async def test_after_a_compression_a_retry_begins_at_the_question_and_loses_nothing_of_the_history(
    script: House,
) -> None:
    house, ann = script, script.person()
    await fails(ann, "count please")
    await house.quiet()
    before = await house.values("SELECT message FROM agent_state ORDER BY seq")
    await house.database.write(
        lambda tx: tx.run(
            "UPDATE turn_events SET kind = 'compressed' WHERE turn_id = 1 AND idx ="
            " (SELECT MAX(idx) FROM turn_events WHERE turn_id = 1 AND kind = 'checkpoint')"
        )
    )
    await ann.presses("Retry")
    await ann.gets("counted once")
    await house.quiet()

    assert (await house.values("SELECT message FROM agent_state ORDER BY seq"))[: len(before)] == before
    assert [text for who, text in house.model.asked[-1].lines if who == "user"] == ["count please"] * 2
    assert len(house.lab.runs) == 1


async def long_talk(house: House, person: Person, turns: int) -> None:
    for number in range(turns):
        house.model.then(says(f"answer {number} {'y' * 300}"))
        person.says(f"other {number} {'z' * 300}")
        await person.gets(f"answer {number} ")
    await house.quiet()


async def kept(house: House) -> list[str]:
    """The agent's history; every call in it has its result."""
    rows = await house.values("SELECT message FROM agent_state ORDER BY seq")
    strictly_valid(load(rows), closed=True)
    return rows


@pytest.mark.req("CTX-1")
async def test_a_history_compressed_after_the_failure_loses_nothing_to_a_retry_that_begins_at_the_question(
    house_of: Open,
) -> None:
    house = await house_of(context={"protect_last": 6})
    ann = house.person()
    house.model.then(calls(("lab__count", {"n": 1})), DOWN)
    await fails(ann, "count please")
    await long_talk(house, ann, 8)
    ann.says("/compact")
    await ann.gets("Shortened")
    await house.quiet()
    before = await kept(house)
    house.model.then(says("counted once"))
    told = await ann.presses("Retry")
    await ann.gets("counted once")
    await house.quiet()

    assert told.text == "I try that again."
    assert (await kept(house))[: len(before)] == before
    asked = house.model.asked[-1]
    assert asked.lines[0] == ("user", "count please")
    assert asked.lines[-1] == ("user", "count please")
    assert ("call", "lab__count") in asked.lines
    strictly_valid(asked.messages)


@pytest.mark.req("CTX-1")
async def test_while_the_history_is_compressed_nothing_is_tried_again_and_the_button_stays(
    house_of: Open,
) -> None:
    house = await house_of(context={"protect_last": 6})
    ann = house.person()
    house.model.then(calls(("lab__count", {"n": 1})), DOWN)
    await fails(ann, "count please")
    await long_talk(house, ann, 8)
    before = await kept(house)
    gate = Gate()
    house.model.summaries.append(gate)
    ann.says("/compact")
    await gate.reached()
    card = ann.newest_with("Retry")
    told = await ann.presses("Retry", card)
    ann.says("/retry")
    await ann.gets(BUSY)
    assert (told.text, told.alert) == (BUSY, True)
    assert await kept(house) == before

    gate.open()
    await ann.gets("Shortened")
    await house.quiet()
    assert (await kept(house))[-6:] == before[-6:]
    house.model.then(says("counted once"))
    assert (await ann.presses("Retry", card)).text == "I try that again."
    await ann.gets("counted once")


@pytest.mark.req("CTX-1")
async def test_while_a_turn_waits_for_somebody_nothing_is_tried_again_and_its_history_stays(
    house: House,
) -> None:
    ann = house.person()
    house.model.then(DOWN, calls(("lab__count", {"n": 1})), says("finished"), says("at last"))
    ann.says("hello")
    failed = await ann.gets(FAILED)
    ann.says("count please")
    card = await ann.gets_card()
    await house.quiet()
    before = await kept(house)
    assert (await ann.presses("Retry", failed)).text == BUSY
    assert await kept(house) == before

    await ann.presses("Once", card)
    await ann.gets("finished")
    await house.quiet()
    assert (await kept(house))[: len(before)] == before
    assert (await ann.presses("Retry", failed)).text == "I try that again."
    await ann.gets("at last")
