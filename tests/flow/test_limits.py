"""Limits a person meets in a day, and the switch by which an admin stops everything."""

from dataclasses import replace

import pytest
from pydantic_ai.messages import ModelResponse, ThinkingPart
from pydantic_ai.usage import RequestUsage

from agent.errors import ProviderRefused
from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.scripted import calls, says
from tests.flow.test_grants import actions

TOO_MANY = "That is as many messages as you may send me in a day (2); I did not take this one."


async def is_answered(person: Person, text: str) -> None:
    person.says(text, mentions=True)
    await person.gets(f"You said: {text}")


@pytest.mark.req("ACC-3")
async def test_a_person_may_send_so_many_messages_a_day_and_is_told_until_when(house_of: Open) -> None:
    house = await house_of(limits={"messages_per_day": 2})
    ann, bob = house.person("1", "Ann"), house.person("2", "Bob")
    for text in ("first", "second"):
        await is_answered(ann, text)
    ann.says("/status")
    await ann.gets("Nothing is running.")
    await house.quiet()
    await house.restart()
    ann.says("third")
    told = await ann.gets(TOO_MANY)
    assert "From 00:00 UTC (in " in told.text
    elsewhere = house.member("1", "Ann")
    elsewhere.says("and here?", mentions=True)
    await elsewhere.gets(TOO_MANY)
    await is_answered(bob, "hey there")

    house.clock.pass_by(days=1)
    await is_answered(ann, "a new day")
    assert "third" not in house.model.questions
    assert await house.values("SELECT became FROM inbox WHERE became = 'limited'") == ["limited"] * 2


@pytest.mark.req("ACC-3")
async def test_a_chat_with_limits_of_its_own_has_them_for_all_its_members_together(house_of: Open) -> None:
    house = await house_of(
        limits={"messages_per_day": 3}, chats={"memory:-7": {"limits": {"messages_per_day": 2}}}
    )
    here, there, bob = house.person("1"), house.member("1"), house.member("2", "Bob")
    await is_answered(there, "one")
    await is_answered(bob, "two")
    for person in (there, bob):
        person.says("three", mentions=True)
        await person.gets("That is as many messages as this chat may send me in a day (2)")
    await is_answered(here, "four")
    await is_answered(here, "five")
    here.says("six")
    await here.gets("That is as many messages as you may send me in a day (3)")


@pytest.mark.req("ACC-3")
async def test_no_turn_starts_when_the_days_tokens_are_spent(house_of: Open) -> None:
    house = await house_of(limits={"tokens_per_day": 100})
    ann, bob = house.person("1", "Ann"), house.person("2", "Bob")
    dear = replace(says("dear"), usage=RequestUsage(input_tokens=70, output_tokens=40))
    house.model.then(dear)
    ann.says("one")
    await ann.gets("dear")
    ann.says("two")
    told = await ann.gets("Your share of words for today is used up (100 tokens)")
    assert "00:00 UTC" in told.text
    await is_answered(bob, "three")
    await house.quiet()

    assert house.model.questions == ["one", "three"]
    assert await house.values("SELECT tokens FROM usage WHERE subject = 'memory:1'") == [110]
    house.clock.pass_by(days=1)
    await is_answered(ann, "four")


@pytest.mark.req("ACC-3", "CTX-2")
async def test_compact_counts_as_a_message_and_is_refused_like_one(house_of: Open) -> None:
    house = await house_of(limits={"messages_per_day": 2})
    ann = house.person("1", "Ann")
    await is_answered(ann, "first")
    await house.quiet()
    ann.says("/compact")
    await ann.gets("Nothing to shorten yet")
    await house.quiet()
    for text in ("/compact", "third"):
        ann.says(text)
        await ann.gets(TOO_MANY)
    await house.quiet()

    assert sum(TOO_MANY in text for text in ann.sees()) == 2
    assert await house.values("SELECT kind FROM turns ORDER BY id") == ["message", "compact"]
    assert await house.values("SELECT messages FROM usage WHERE subject = 'memory:1'") == [2]


@pytest.mark.req("ACC-3", "EVT-5")
async def test_trying_again_counts_as_a_message_and_is_refused_like_one(house_of: Open) -> None:
    house = await house_of(limits={"messages_per_day": 2})
    ann = house.person("1", "Ann")
    down = ProviderRefused("503 everywhere")
    house.model.then(down, down)
    ann.says("first")
    await ann.gets("The model's provider refused the request.")
    await house.quiet()
    ann.says("/retry")
    await house.until("SELECT 1 FROM turns WHERE id = 2 AND state = 'failed'")
    await house.quiet()
    ann.says("/retry")
    await ann.gets(TOO_MANY)
    await house.quiet()

    assert await house.values("SELECT state FROM turns ORDER BY id") == ["failed", "failed"]
    assert await house.values("SELECT messages FROM usage WHERE subject = 'memory:1'") == [2]
    house.clock.pass_by(days=1)
    ann.says("/retry")
    await ann.gets("You said: first")


@pytest.mark.req("ACC-3", "CTX-2")
async def test_a_lane_holds_one_compact_and_none_when_it_is_full(house_of: Open) -> None:
    house = await house_of(queue={"mode": "steer", "lane_size": 2, "gather_s": 0})
    ann, bob = house.person("1", "Ann"), house.person("2", "Bob")
    house.model.then(calls(("lab__count", {"n": 1})), calls(("lab__count", {"n": 2})))
    for person in (ann, bob):
        person.says("count please")
        await person.gets_card()
    ann.says("/compact")
    await ann.gets("I shorten our conversation after what runs and waits now.")
    ann.says("/compact")
    await ann.gets("I am to shorten our conversation already")
    bob.says("one more")
    await house.until("SELECT 1 FROM turns WHERE state = 'queued' AND requester = 'memory:2'")
    bob.says("/compact")
    await bob.gets("2 messages run or wait here already, so I did not take this in")

    open_kinds = await house.values("SELECT kind FROM turns ORDER BY id")
    assert open_kinds == ["message", "message", "compact", "message"]


@pytest.mark.req("ACC-3", "AGT-7")
async def test_an_empty_answer_is_paid_for_and_counts_once(house_of: Open) -> None:
    house = await house_of(limits={"tokens_per_day": 1_000})
    ann = house.person("1", "Ann")
    silent = ModelResponse(
        parts=[ThinkingPart(content="hm")], usage=RequestUsage(input_tokens=300, output_tokens=100)
    )
    house.model.then(silent, silent, silent, replace(says("at last"), usage=RequestUsage(input_tokens=150)))
    ann.says("think for long")
    await house.until("SELECT 1 FROM turns WHERE state = 'failed'")
    await house.quiet()
    used = "SELECT tokens FROM usage WHERE subject = 'memory:1'"
    assert await house.values(used) == [800]
    assert await house.values("SELECT requests FROM turn_usage WHERE model = 'scripted'") == [2]
    assert (await house.events(1))[-1][1]["usage"]["requests"] == 2

    ann.says("/retry")
    await ann.gets("at last")
    await house.quiet()
    assert await house.values(used) == [800 + 400 + 150]
    ann.says("more")
    await ann.gets("Your share of words for today is used up (1000 tokens)")


@pytest.mark.req("ACC-3", "CTX-2")
async def test_a_summary_that_could_not_be_used_is_paid_for_and_counts(house_of: Open) -> None:
    house = await house_of(context={"protect_last": 2, "protect_first": 1})
    ann = house.person("1", "Ann")
    for text in ("one", "two", "three"):
        await is_answered(ann, f"{text} {'x' * 400}")
        await house.quiet()
    used = "SELECT tokens FROM usage WHERE subject = 'memory:1'"
    (before,) = await house.values(used)
    cut = replace(says("long"), finish_reason="length", usage=RequestUsage(input_tokens=500, output_tokens=7))
    house.model.summaries.append(cut)
    ann.says("/compact")
    await ann.gets("I could not make a summary")
    await house.quiet()

    assert await house.values(used) == [before + 507]
    assert await house.values("SELECT input_tokens FROM turn_usage WHERE model = 'summaries'") == [500]


@pytest.mark.req("ACC-3", "TSK-4")
@pytest.mark.parametrize("kind", ["memory", "skills"])
async def test_what_a_review_used_counts_for_its_person(house_of: Open, kind: str) -> None:
    is_skill = kind == "skills"
    every = 2 if is_skill else 1
    house = await house_of(memory={"review_every": every}, approvals={"allow": ["lab/*"]})
    ann = house.person("1", "Ann")
    once = replace(calls(("lab__count", {})), usage=RequestUsage(input_tokens=1))
    done = replace(says("done"), usage=RequestUsage(input_tokens=1))
    review = replace(says("{}"), usage=RequestUsage(input_tokens=400, output_tokens=20))
    house.model.then(*([once, once] if is_skill else []), done, review)
    ann.says("count twice")
    await ann.gets("done")
    await house.until(f"SELECT 1 FROM review_counts WHERE kind = '{kind}' AND n = 0")

    used = await house.values("SELECT tokens FROM usage WHERE subject = 'memory:1'")
    assert used == [423 if is_skill else 421]


PRICED = {
    "first": {"provider": "scripted", "model": "a", "price": {"input": 2, "output": 10, "cached": 0.2}},
}


@pytest.mark.req("ACC-3", "AGT-7")
async def test_no_turn_starts_when_the_days_money_is_spent_and_the_status_says_what_was_used(
    house_of: Open,
) -> None:
    house = await house_of(
        models=PRICED, agents={"default": {"model": "first"}}, limits={"usd_per_day": 0.001}
    )
    ann, bob = house.person("1", "Ann"), house.person("2", "Bob")
    used = RequestUsage(input_tokens=400, cache_read_tokens=100, output_tokens=50)
    house.model.then(replace(calls(("lab__count", {})), usage=used), replace(says("counted"), usage=used))
    ann.says("one")
    await ann.presses("Once", await ann.gets_card())
    await ann.gets("counted")
    await house.quiet()
    ann.says("/status")
    told = await ann.gets("Last answer by")
    ann.says("two")
    await ann.gets("Your share of money for today is used up ($0.0010)")
    await is_answered(bob, "three")
    await house.quiet()

    assert "Today you used 1 messages, 900 tokens, $0.0022 of $0.0010; counted anew from 00:00" in told.text
    assert "Last answer by first: 2 requests, 800 tokens in (200 cached), 100 out, $0.0022." in told.text
    done = dict((await house.events(1))[-1][1])
    assert done["usage"] == {
        "requests": 2,
        "input_tokens": 800,
        "output_tokens": 100,
        "cached_tokens": 200,
        "written_tokens": 0,
        "usd": 0.00224,
    }
    (spent,) = [each for each in (await house.daemon.api.status()).spent if each.model == "first"]
    assert spent.requests == 3
    house.clock.pass_by(days=1)
    await is_answered(ann, "four")


@pytest.mark.req("AGT-7")
async def test_a_price_that_is_not_known_is_said_to_be_so(house_of: Open) -> None:
    house = await house_of()
    ann = house.person()
    await is_answered(ann, "one")
    await house.quiet()
    ann.says("/status")
    told = await ann.gets("Last answer by scripted")

    assert "price not known" in told.text
    assert "and 1 answers whose price is not known" in told.text
    assert (await house.events(1))[-1][1]["usage"]["usd"] is None
    assert (await house.daemon.api.status()).spent[0].usd_micros is None


@pytest.fixture
async def guarded(house_of: Open) -> House:
    return await house_of(access={"allow": {"memory": ["*"]}, "admins": {"memory": ["9"]}})


@pytest.mark.req("ACC-2", "APR-8")
async def test_paused_nothing_starts_for_anybody_until_resumed_not_even_after_a_restart(
    guarded: House,
) -> None:
    house = guarded
    ann, ada = house.person("1", "Ann"), house.person("9", "Ada")
    ada.says("/pause")
    await ada.gets("Paused: nothing starts any more")
    ann.says("one")
    ann.says("two")
    await ann.gets("I am paused by an admin. Your message is kept")
    ann.says("/status")
    await ann.gets("I am paused by an admin: nothing starts.")
    await house.restart()
    ann.says("three")
    await house.platform.wait_received()
    await house.until("SELECT 1 FROM turns WHERE seq = 3")
    assert house.model.asked == []

    ada.says("/pause")
    await ada.gets("I am paused already")
    ada.says("/resume")
    await ada.gets("I go on with what waits.")
    await ann.gets("You said: three")
    await house.quiet()

    assert house.model.questions == ["one", "two", "three"]
    assert sum("Your message is kept" in text for text in ann.sees()) == 1
    assert await actions(house) == ["admin.paused", "admin.resumed"]


@pytest.mark.req("ACC-2")
async def test_a_waiting_turn_goes_on_only_when_the_pause_ends(guarded: House) -> None:
    house = guarded
    ann, ada = house.person("1", "Ann"), house.person("9", "Ada")
    ann.says("use count {}")
    card = await ann.gets_card()
    ada.says("/pause")
    await ada.gets("Paused")
    await ann.presses("Once", card)
    await house.database.write(lambda tx: None)
    assert house.lab.runs == []
    ada.says("/resume")
    await ann.gets("returned: run 1")


@pytest.mark.req("ACC-2", "APR-8")
async def test_pause_and_resume_are_for_admins(guarded: House) -> None:
    house = guarded
    ann = house.person("1", "Ann")
    for command in ("/pause", "/resume"):
        ann.says(command)
    await ann.gets("Only an admin may do that.")
    await is_answered(ann, "still here")

    assert await actions(house) == ["access.refused"] * 2


@pytest.mark.req("ACC-2")
async def test_a_tool_for_admins_is_denied_to_others_with_the_reason(house_of: Open) -> None:
    house = await house_of(
        access={"allow": {"memory": ["*"]}, "admins": {"memory": ["9"]}}, tools={"admin_only": ["lab/count"]}
    )
    ann, ada = house.person("1", "Ann"), house.person("9", "Ada")
    ann.says("use count {}")
    await ann.gets("Only admins may use this tool")
    ada.says("use count {}")
    await ada.presses("Once", await ada.gets_card())
    await ada.gets("returned: run 1")

    assert len(house.lab.runs) == 1
