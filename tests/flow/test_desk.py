"""More than one person at a card: two must approve, cards are sent on, a denial gets its reason."""

import pytest

from tests.flow.conftest import Open
from tests.flow.house import House
from tests.flow.scripted import calls, says
from tests.flow.test_grants import actions

COUNT = ("count", {})


@pytest.mark.req("APR-5")
async def test_a_tool_for_two_people_runs_when_two_different_ones_approved(house_of: Open) -> None:
    house = await house_of(
        approvals={"two_person": ["lab/*"], "allow": ["lab/*"], "approvers": ["memory:2"]},
    )
    ann, bob, cid = (house.member(str(n), name) for n, name in enumerate(("Ann", "Bob", "Cid"), 1))
    ann.says("use count {}", mentions=True)
    card = await ann.gets_card()
    assert list(card.tokens) == ["Approve", "Deny"]
    assert "0 of 2 approvals" in card.text

    refused = await cid.presses("Approve", card)
    first = await ann.presses("Approve", card)
    half = await ann.gets("1 of 2 approvals (Ann)")
    twice = await ann.presses("Approve", half)
    await house.quiet()
    assert house.lab.runs == []
    second = await bob.presses("Approve", card)  # the button from before is the same card's
    await ann.gets("returned: run 1")
    await ann.gets("Approved by Ann and Bob")
    await house.quiet()

    assert [refused.alert, first.text, twice.text, second.text] == [
        True,
        "Counted: 1 of 2. Another person must approve it, too.",
        "You have approved this already; somebody else must, too. Nothing was done.",
        "Approved, running it.",
    ]
    assert house.lab.runs == [COUNT]
    assert await actions(house) == ["request.refused", "request.approval_counted", "request.approved"]


@pytest.mark.req("APR-5", "APR-6")
async def test_the_first_of_two_approvals_survives_a_restart_and_one_denial_is_enough(house_of: Open) -> None:
    house = await house_of(approvals={"two_person": ["lab/*"], "approvers": ["memory:2"]})
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    ann.says("use count {}", mentions=True)
    await ann.presses("Approve", await ann.gets_card())
    await ann.gets("1 of 2 approvals")
    await house.quiet()
    await house.restart()
    await bob.presses("Deny", await ann.gets("1 of 2 approvals"))
    await ann.gets("was not allowed")

    assert house.lab.runs == []


@pytest.mark.req("APR-5", "ACC-1")
async def test_a_card_nobody_answers_is_sent_on_where_a_named_approver_settles_it(house_of: Open) -> None:
    house = await house_of(
        access={"allow": {"memory": ["1"]}},
        approvals={"approvers": ["memory:2"], "escalate": {"after_s": 300, "to": "memory:-50"}},
    )
    ann, bob = house.person("1", "Ann"), house.member("2", "Bob", chat_id="-50")
    eve = house.member("3", "Eve", chat_id="-50")
    ann.says("use count {}")
    card = await ann.gets_card()
    await house.quiet()
    assert bob.sees() == []
    house.clock.pass_by(minutes=6)
    sent_on = await bob.gets("asked by Ann in memory:1, not answered there")
    await house.quiet()
    assert len(bob.sees()) == 1

    assert (await eve.presses("Once", sent_on)).alert
    bob.says("a named approver is no user by that")
    await bob.presses("Once", sent_on)
    await ann.gets("returned: run 1")
    await ann.gets("Approved by Bob")
    assert "Approved by Bob" in (await bob.gets("Approved by Bob")).text
    late = await ann.presses("Deny", card)
    await house.quiet()

    assert late.alert
    assert house.lab.runs == [COUNT]
    assert house.model.questions == ["use count {}"] * 2
    assert await actions(house) == ["request.sent_on", "access.refused", "request.approved"]


@pytest.mark.req("APR-7")
async def test_a_reply_to_the_card_one_denied_gives_the_open_turn_the_reason(house: House) -> None:
    ann = house.person()
    house.model.then(calls(("lab__count", {"n": 1}), ("lab__count", {"n": 2})), says("I see"))
    ann.says("two please")
    card = await ann.gets("(1 of 2)")
    await ann.presses("Deny", card)
    await ann.gets("(2 of 2)")
    ann.says("far too expensive", reply_to=card.message_id)
    await ann.gets("I pass your reason on.")
    await house.quiet()
    assert await house.values("SELECT state FROM requests ORDER BY id") == ["denied", "pending"]

    await ann.presses("Once", await ann.gets("(2 of 2)"))
    await ann.gets("I see")
    await house.quiet()

    assert house.model.asked[-1].lines[-1] == (
        "user",
        "(The reason given for denying the tool call: far too expensive)",
    )
    assert await house.values("SELECT reason FROM requests ORDER BY id") == [
        "Ann denied this: far too expensive",
        None,
    ]
    assert house.model.questions[0] == "two please"
    assert await house.values("SELECT COUNT(*) FROM turns") == [1]
    assert await actions(house) == ["request.denied", "request.reason", "request.approved"]


@pytest.mark.req("APR-7")
async def test_a_reply_after_the_turn_or_by_somebody_else_is_a_message_like_any_other(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    card = await ann.gets_card()
    await ann.presses("Deny", card)
    await ann.gets("was not allowed")
    await house.quiet()
    ann.says("because I say so", reply_to=card.message_id)
    await ann.gets("You said: because I say so")
    await house.quiet()

    assert await house.values("SELECT reason FROM requests") == [None]
    assert await house.values("SELECT COUNT(*) FROM turns") == [2]


@pytest.mark.req("APR-4")
async def test_a_reply_to_an_open_card_decides_nothing(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    card = await ann.gets_card()
    ann.says("yes, do it", reply_to=card.message_id)
    await ann.gets("Answer the open request first.")
    await house.quiet()

    assert await house.values("SELECT state FROM requests") == ["pending"]
    assert house.lab.runs == []
