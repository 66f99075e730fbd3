"""What a person allows beforehand: for a session, always, for certain arguments; what that covers and what not."""

import json
from typing import Any

import pytest

from gateway.audit import verify
from gateway.store import audit as audit_rows
from tests.flow.conftest import Open
from tests.flow.house import House, Person
from tests.flow.scripted import calls, says

pytestmark = pytest.mark.req("APR-2", "APR-3")

COUNT = ("count", {})
SECOND = ["Any arguments", "Any, for 1 hour", "Exactly these arguments"]


async def choose(person: Person, *labels: str) -> str:
    """Press these one after the other on the open card, each as soon as it is offered; what the last press tells."""
    told = ""
    for label in labels:
        await person.platform.wait_until(
            lambda label=label: any(label in each.tokens for each in person.platform.shown)  # type: ignore[misc]
        )
        told = (await person.presses(label)).text
    return told


async def actions(house: House) -> list[str]:
    """The audit log's actions, in order; the chain holds, always."""
    rows, faults = await house.database.read(
        lambda tx: (
            list(audit_rows.rows(tx)),
            verify(audit_rows.rows(tx), audit_rows.head_of(tx)),
        )
    )
    assert faults == []
    return [row.action for row in rows]


async def test_this_session_covers_the_sessions_later_calls_and_ends_with_it(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    told = await choose(ann, "This session")
    await ann.gets("returned: run 1")
    ann.says('use count {"other": 1}')
    await ann.gets("returned: run 2")
    assert told == "Approved for this session; running it."
    assert "Approved by Ann" in house.platform.shown[1].text
    assert "(for this session)" in house.platform.shown[1].text

    ann.says("/new")
    await ann.gets("A new conversation begins")
    ann.says("use count {}")
    await ann.gets_card()
    await house.quiet()

    assert len(house.lab.runs) == 2
    assert await actions(house) == ["request.approved", "grant.given", "grant.used"]


async def test_always_asks_what_for_and_decides_nothing_before_that(house: House) -> None:
    ann = house.person()
    ann.says('use count {"path": "/srv/a", "n": 1}')
    card = await ann.gets_card()
    told = await ann.presses("Always", card)
    second = await ann.gets("Always allow count to Ann, but for what?")

    assert told.text == "Choose what for."
    assert second.message_id == card.message_id
    where = ['Only if path is "/srv/a"', 'path under "/srv/"', "Only if n is 1"]
    assert list(second.tokens) == [*SECOND, *where, "Back", "Deny"]
    assert "path: /srv/a" in second.text
    assert await house.values("SELECT state FROM requests") == ["pending"]
    assert await house.rows("SELECT * FROM grants") == []

    assert (await ann.presses("Back", second)).text == "Nothing is decided yet."
    again = await ann.gets("Approval needed")
    await ann.presses("Deny", again)
    await ann.gets("was not allowed")
    assert house.lab.runs == []
    assert await house.rows("SELECT * FROM grants") == []


@pytest.mark.parametrize(
    ("label", "covered", "asks"),
    [
        ("Any arguments", [{}, {"n": 2}], []),
        (
            "Exactly these arguments",
            [{"path": "/a", "n": 1, "file": "/srv/docs/a.txt"}],
            [{"path": "/a", "n": 1}, {"n": 1}, {}],
        ),
        ('Only if path is "/a"', [{"path": "/a", "n": 2}, {"path": "/a"}], [{"path": "/ab"}, {"n": 1}]),
        ("Only if n is 1", [{"n": 1}], [{"n": True}, {"n": "1"}, {"n": 1.5}]),
    ],
)
async def test_an_always_covers_what_was_chosen_and_nothing_else(
    house: House, label: str, covered: list[dict[str, Any]], asks: list[dict[str, Any]]
) -> None:
    ann = house.person()
    ann.says('use count {"path": "/a", "n": 1, "file": "/srv/docs/a.txt"}')
    await choose(ann, "Always", label)
    await ann.gets("returned: run 1")
    for args in covered:
        ann.says(f"use count {json.dumps(args)}")
        await ann.gets(f"returned: run {len(house.lab.runs) + 1}")
    await house.quiet()
    runs = list(house.lab.runs)
    assert [args for _, args in runs[1:]] == covered

    for args in asks:
        ann.says(f"use count {json.dumps(args)}")
        await ann.presses("Deny", await ann.gets_card())
        await house.quiet()
    assert house.lab.runs == runs


async def test_a_folder_is_allowed_with_all_below_it_and_nothing_beside(house: House) -> None:
    ann = house.person()
    ann.says('use count {"path": "/srv/docs/a.txt"}')
    await choose(ann, "Always", 'path under "/srv/docs/"')
    await ann.gets('(always, only where path starts with "/srv/docs/")')
    await ann.gets("returned: run 1")
    ann.says('use count {"path": "/srv/docs/deep/b.txt", "n": 1}')
    await ann.gets("returned: run 2")
    for path in ("/srv/docs/../etc", "/srv/other", "/srv/docs/%2e%2e/x", ""):
        ann.says(f"use count {json.dumps({'path': path})}")
        await ann.presses("Deny", await ann.gets_card())
        await house.quiet()
    assert len(house.lab.runs) == 2


async def test_a_value_is_added_to_those_allowed_before_and_makes_one_grant_of_them(house: House) -> None:
    ann = house.person()
    for word, button in (("a", "Only if"), ("b", "Also if"), ("c", "Also if")):
        ann.says(f'use count {{"word": "{word}", "n": 1}}')
        await choose(ann, "Always", f'{button} word is "{word}"')
        await house.quiet()
    ann.says("/grants")
    listed = await ann.gets("takes one back")
    assert listed.text.splitlines()[0] == '3. lab/count: always, only where word is one of "a", "b", "c"'
    assert len(listed.text.splitlines()) == 2
    for word in "abc":
        ann.says(f'use count {{"word": "{word}", "n": 2}}')
        await house.quiet()
    assert len(house.lab.runs) == 6
    ann.says('use count {"word": "d"}')
    await ann.presses("Deny", await ann.gets_card())
    assert [each for each in await actions(house) if each != "grant.used"] == [
        "request.approved",
        "grant.given",
        "request.approved",
        "grant.revoked",
        "grant.given",
        "request.approved",
        "grant.revoked",
        "grant.given",
        "request.denied",
    ]


async def test_a_grant_covers_no_other_tool_person_or_chat_of_others(house_of: Open) -> None:
    house = await house_of(sessions={"group": "shared"})
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    house.model.then(calls(("lab__count", {})), says("one"), calls(("lab__count", {})), says("two"))
    ann.says("go", mentions=True)
    await choose(ann, "This session")
    await ann.gets("one")

    bob.says("go", mentions=True)  # the same session, another person's turn
    card = await bob.gets_card()
    assert "Only Bob may answer" in card.text
    await bob.presses("Deny", card)
    await bob.gets("two")
    house.model.then(calls(("lab__look", {})), says("three"))
    ann.says("look", mentions=True)
    await ann.presses("Deny", await ann.gets_card())
    await ann.gets("three")

    assert house.lab.runs == [COUNT]


async def test_a_time_boxed_grant_ends_by_itself(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    await choose(ann, "Always", "Any, for 1 hour")
    await ann.gets("returned: run 1")
    await ann.gets("for 60 min, any arguments")
    house.clock.pass_by(minutes=59)
    ann.says("use count {}")
    await ann.gets("returned: run 2")
    house.clock.pass_by(minutes=2)
    ann.says("use count {}")
    await ann.gets_card()

    assert len(house.lab.runs) == 2


async def test_a_revoked_grant_asks_again_and_only_ones_own_can_be_listed_and_revoked(house: House) -> None:
    ann, bob = house.person("1", "Ann"), house.person("2", "Bob")
    ann.says("use count {}")
    await choose(ann, "Always", "Any arguments")
    await ann.gets("returned: run 1")
    bob.says("/grants")
    await bob.gets("You granted nothing.")
    bob.says("/grants revoke 1")
    await bob.gets("You have no grant 1.")
    ann.says("/grants")
    await ann.gets("1. lab/count: always, any arguments\n/grants revoke NUMBER takes one back.")
    ann.says("/grants drop 1")
    await ann.gets("Write /grants, or /grants revoke NUMBER.")

    ann.says("/grants revoke 1")
    await ann.gets("Revoked: lab/count asks again.")
    ann.says("use count {}")
    await ann.gets_card()
    await house.quiet()

    assert house.lab.runs == [COUNT]
    assert await actions(house) == ["request.approved", "grant.given", "grant.revoked"]


async def test_a_grant_is_looked_up_when_the_call_is_handled_not_when_the_round_began(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    await choose(ann, "Always", "Any arguments")
    await ann.gets("returned: run 1")
    house.model.then(calls(("lab__count", {"n": 1}), ("lab__count", {"n": 2})), says("both"))
    slow = house.lab.hold("count")
    ann.says("two please")
    await slow.reached()
    ann.says("/grants revoke 1")
    await ann.gets("Revoked")
    house.lab.release("count")

    card = await ann.gets("(2 of 2)")
    assert house.lab.runs == [COUNT, ("count", {"n": 1})]
    await ann.presses("Deny", card)
    await ann.gets("both")


async def test_a_denied_tool_stays_denied_whatever_was_granted(house_of: Open) -> None:
    house = await house_of()
    ann = house.person()
    ann.says("use count {}")
    await choose(ann, "Always", "Any arguments")
    await ann.gets("returned: run 1")
    await house.stop()
    house.settings["approvals"] = {"deny": ["lab/*"]}
    await house.start()
    ann.says("use count {}")
    await ann.gets("The configuration does not allow this tool.")

    assert house.lab.runs == [COUNT]


async def test_the_rest_of_a_round_is_covered_by_what_was_granted_on_its_first_card(house: House) -> None:
    ann = house.person()
    house.model.then(calls(*[("lab__count", {"n": n}) for n in range(3)]), says("all done"))
    ann.says("three please")
    await ann.gets("(1 of 3)")
    await choose(ann, "This session")
    await ann.gets("all done")

    assert len(house.lab.runs) == 3


@pytest.mark.req("ACC-4")
async def test_a_masked_argument_is_never_offered_for_a_grant_nor_kept_in_one(house: House) -> None:
    ann = house.person()
    secret = "sk-demo0000000000000000000000000000000000"
    house.model.then(calls(("lab__count", {"token": secret, "n": 1})), says("done"))
    ann.says("go")
    await ann.presses("Always", await ann.gets_card())
    second = await ann.gets("but for what?")
    assert [label for label in second.tokens if label.startswith("Only if")] == ["Only if n is 1"]
    await ann.presses("Exactly these arguments", second)
    await ann.gets("done")
    await house.quiet()

    for table in ("grants", "requests", "buttons", "audit"):
        rows = await house.rows(f"SELECT * FROM {table}")
        assert rows
        assert not [row for row in rows if secret in str(tuple(row))]  # type: ignore[call-overload]


@pytest.mark.req("APR-4", "APR-5")
async def test_another_persons_press_on_always_or_on_what_for_changes_nothing(house: House) -> None:
    ann, bob = house.member("1", "Ann"), house.member("2", "Bob")
    ann.says("use count {}", mentions=True)
    card = await ann.gets_card()
    assert (await bob.presses("Always", card)).alert
    assert (await bob.presses("This session", card)).alert
    await ann.presses("Always", card)
    second = await ann.gets("but for what?")
    assert (await bob.presses("Any arguments", second)).alert
    assert (await bob.presses("Back", second)).alert
    await house.quiet()

    assert await house.values("SELECT state FROM requests") == ["pending"]
    assert await house.rows("SELECT * FROM grants") == []
    assert await actions(house) == ["request.refused"] * 4


@pytest.mark.req("APR-7")
async def test_a_press_on_what_for_after_expiry_grants_nothing(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    await ann.presses("Always", await ann.gets_card())
    second = await ann.gets("but for what?")
    house.clock.pass_by(minutes=31)
    await ann.gets("Expired at")
    told = await ann.presses("Any arguments", second)

    assert told.alert
    assert await house.rows("SELECT * FROM grants") == []
    assert house.lab.runs == []


async def test_what_for_survives_a_restart(house: House) -> None:
    ann = house.person()
    ann.says("use count {}")
    await ann.presses("Always", await ann.gets_card())
    second = await ann.gets("but for what?")
    await house.quiet()
    await house.restart()
    await ann.presses("Any arguments", second)
    await ann.gets("returned: run 1")
    ann.says("use count {}")
    await ann.gets("returned: run 2")
